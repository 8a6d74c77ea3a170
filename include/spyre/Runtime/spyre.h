/*===- spyre.h - The runtime's C interface ------------------------*- C -*-===*\
|*
|* Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* Devices, buffers, bundles, launches and streams for callers in any language.
|* Handles are opaque; every function that can fail returns a status, and
|* spyre_last_error() of the calling thread says why. Nothing throws.
|* Arrays cross as dense row-major memory with a dtype name of PyTorch and a shape.
|*
\*===----------------------------------------------------------------------===*/

#ifndef SPYRE_RUNTIME_SPYRE_H
#define SPYRE_RUNTIME_SPYRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function changes; functions are only ever added within one. */
#define SPYRE_API_VERSION 1
uint32_t spyre_api_version(void);
/* The version of the project, which tools and find_package(Spyre) have, too: "0.1.0". */
const char *spyre_version(void);

typedef enum { SPYRE_OK = 0, SPYRE_ERROR = 1 } spyre_status;

/* Why the last call of this thread failed; empty if it did not. */
const char *spyre_last_error(void);

typedef struct spyre_device spyre_device;
typedef struct spyre_buffer spyre_buffer;
typedef struct spyre_bundle spyre_bundle;
typedef struct spyre_stream spyre_stream;

typedef struct {
  const char *name;     /* device description: variant or file; NULL: the card */
  int checked;          /* report accesses that a program must not make */
  uint32_t num_threads; /* 0: one a processor */
  uint64_t seed;        /* of what undefined lanes hold */
} spyre_device_options;

/* An emulated device. NULL options: defaults. */
spyre_status spyre_device_create(const spyre_device_options *options, spyre_device **device);
void spyre_device_destroy(spyre_device *device);

typedef struct {
  uint64_t launches; /* descriptors executed */
  uint64_t read_bytes;
  uint64_t written_bytes;
  uint64_t peak_lx_bytes;
  uint64_t used_bytes; /* device memory allocated now */
  uint64_t reports;    /* of checked mode */
} spyre_counters;
spyre_status spyre_device_counters(spyre_device *device, spyre_counters *counters);
/* What the cost model says that all launches took, in nanoseconds. */
double spyre_device_modelled_ns(spyre_device *device);

/* The i-th report of checked mode, NULL past the last one kept. Valid until the
 * device runs again. */
const char *spyre_device_report(spyre_device *device, uint64_t i);

/* The same in parts. */
typedef struct {
  const char *kind;   /* "out-of-bounds", ...: docs/developer/emulator.md has the list */
  const char *op;     /* "sdsc_3.json (exp)"; "copy-out of out0" */
  const char *tensor; /* the operand, "Tensor1", or the array of a copy */
  int core;           /* -1: the host */
  int64_t address;    /* bytes, in device memory or in the core's scratchpad */
  const char *message;
} spyre_report;
/* An error past the last one kept. The texts are valid until the device runs again. */
spyre_status spyre_device_get_report(spyre_device *device, uint64_t i, spyre_report *report);
/* How many reports are kept (100 unless told); all are counted. */
spyre_status spyre_device_keep_reports(spyre_device *device, uint64_t count);

/* Device memory. Destroying a device leaves its buffers unusable, not freed. */
spyre_status spyre_buffer_create(spyre_device *device, uint64_t size_in_bytes, const char *name,
                                 spyre_buffer **buffer);
void spyre_buffer_destroy(spyre_buffer *buffer);

/* A bundle directory with plan.json and launch_spec.json. spec_file: another
 * launch spec (a binding), or NULL. */
spyre_status spyre_bundle_load(const char *directory, const char *spec_file, spyre_bundle **bundle);
void spyre_bundle_destroy(spyre_bundle *bundle);
size_t spyre_bundle_num_arguments(const spyre_bundle *bundle);
/* Bytes of device memory that argument k needs; 0 if there is no such argument. */
uint64_t spyre_bundle_argument_size(const spyre_bundle *bundle, size_t k);

/* What argument k is. The texts and the shape belong to the bundle. */
typedef struct {
  const char *role;  /* "input", "output", "input_output", "constant" */
  const char *array; /* "in0", "out1"; empty for constants */
  const char *dtype;
  const int64_t *shape;
  size_t rank;
} spyre_argument;
spyre_status spyre_bundle_argument(const spyre_bundle *bundle, size_t k, spyre_argument *argument);

/* A dense row-major host array. */
typedef struct {
  const char *dtype; /* "float16", "int64", ... */
  const int64_t *shape;
  size_t rank;
  void *data;
  size_t size_in_bytes;
} spyre_array;

/* Copies between an array and a buffer in the layout of the bundle's argument k. */
spyre_status spyre_copy_in(spyre_bundle *bundle, size_t k, const spyre_array *array,
                           spyre_buffer *buffer);
spyre_status spyre_copy_out(spyre_bundle *bundle, size_t k, spyre_buffer *buffer,
                            const spyre_array *array);

/* Runs the bundle with a buffer an argument; NULL for constant arguments. */
spyre_status spyre_launch(spyre_device *device, spyre_bundle *bundle, spyre_buffer *const *buffers,
                          size_t num_buffers);

/* A whole run: allocates, copies in, launches, copies out and frees. An array an
 * argument; data may be NULL where the argument is a constant. An argument that is
 * input and output is replaced by its result. */
spyre_status spyre_run(spyre_device *device, spyre_bundle *bundle, const spyre_array *arrays,
                       size_t num_arrays);

/* A program directory (program.json): bundles, transfers and calls of the host. */
typedef struct spyre_program spyre_program;
spyre_status spyre_program_load(const char *directory, spyre_program **program);
void spyre_program_destroy(spyre_program *program);
size_t spyre_program_num_arguments(const spyre_program *program);
size_t spyre_program_num_results(const spyre_program *program);
/* What argument or result i is; the role is "input" or "output". */
spyre_status spyre_program_argument(const spyre_program *program, size_t i,
                                    spyre_argument *argument);
spyre_status spyre_program_result(const spyre_program *program, size_t i, spyre_argument *result);

/* Operations of PyTorch that a program leaves to the host are computed by the runtime's own
 * table, or by the caller's functions: the C callback table. */
typedef struct spyre_host_value spyre_host_value; /* an operand of a call */
typedef enum {
  SPYRE_HOST_NONE = 0,
  SPYRE_HOST_BOOL = 1,
  SPYRE_HOST_INT = 2,
  SPYRE_HOST_FLOAT = 3,
  SPYRE_HOST_TEXT = 4,
  SPYRE_HOST_ARRAY = 5,  /* a tensor */
  SPYRE_HOST_NUMBER = 6, /* an array of rank 0 that the operation takes as a number */
  SPYRE_HOST_LIST = 7
} spyre_host_kind;
spyre_host_kind spyre_host_value_kind(const spyre_host_value *value);
int spyre_host_value_bool(const spyre_host_value *value);
int64_t spyre_host_value_int(const spyre_host_value *value);
double spyre_host_value_float(const spyre_host_value *value);
const char *spyre_host_value_text(const spyre_host_value *value);
/* Elements of a list; 0 and NULL for everything else. */
size_t spyre_host_value_size(const spyre_host_value *value);
const spyre_host_value *spyre_host_value_item(const spyre_host_value *value, size_t i);
/* The array of SPYRE_HOST_ARRAY and SPYRE_HOST_NUMBER; its data must not be written. */
spyre_status spyre_host_value_array(const spyre_host_value *value, spyre_array *array);

/* Where a result goes: number `result` of what the operation returns and, if item is not
 * -1, that element of the list that it is. array.data is to be filled. */
typedef struct {
  spyre_array array;
  int64_t result;
  int64_t item;
} spyre_host_output;

typedef struct {
  const char *function; /* "aten.max.dim" */
  const spyre_host_value *const *arguments;
  size_t num_arguments;
  const spyre_host_output *outputs;
  size_t num_outputs;
} spyre_host_call;

typedef struct {
  /* Not 0 if `call` can be asked for the operation. */
  int (*knows)(void *user, const char *function);
  /* Fills the outputs, or writes a message of at most `capacity` bytes and returns
   * SPYRE_ERROR. */
  spyre_status (*call)(void *user, const spyre_host_call *call, char *message, size_t capacity);
  void *user;
} spyre_host_functions;

/* One run: an array an argument, an array a result, which is filled. NULL functions: the
 * runtime's own. A function of `functions` may use the device (buffers, launches, other
 * programs) on the thread that it is called on; other threads wait for the run to end. It
 * must not destroy the device or the program. */
spyre_status spyre_program_run(spyre_device *device, spyre_program *program,
                               const spyre_host_functions *functions, const spyre_array *arguments,
                               size_t num_arguments, const spyre_array *results,
                               size_t num_results);

/* An array of a run with numbers that the device cannot tell or hold
 * (docs/developer/numerics.md, "Numbers that are counted"): a caller who has another way to
 * compute the program may take it, or warn. */
typedef struct {
  const char *where; /* "argument", "constant", "result"; "host call": what one made; "crossing":
                        what one reads */
  const char *array; /* "in0"; of a host call: the call; of what crosses: empty */
  int64_t nans;
  int64_t infinities; /* of what the device made: infinities or NaNs, it has one code for both */
  int64_t too_small;
  int64_t too_large;
  int64_t largest;            /* of the array's type, which stands for "very large" */
  int64_t first_nan;          /* element in row-major order; -1: none */
  int64_t first_out_of_range; /* the same */
} spyre_numbers;
/* Entry i of what the program's last run found; an error past the last one. Valid until it runs
 * again. */
spyre_status spyre_program_numbers(const spyre_program *program, size_t i, spyre_numbers *numbers);

/* Work in order, beside the caller. What a queued launch uses must stay alive until
 * spyre_stream_synchronize, which also returns the first error. */
spyre_status spyre_stream_create(spyre_device *device, spyre_stream **stream);
void spyre_stream_destroy(spyre_stream *stream);
spyre_status spyre_stream_launch(spyre_stream *stream, spyre_bundle *bundle,
                                 spyre_buffer *const *buffers, size_t num_buffers);
spyre_status spyre_stream_synchronize(spyre_stream *stream);

#ifdef __cplusplus
}
#endif

#endif /* SPYRE_RUNTIME_SPYRE_H */
