/*===- run_bundle.c - A bundle on the emulator, from C -----------------------===*\
|*
|* Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* run_bundle DIRECTORY [BINDING]
|* Loads a bundle directory (plan.json and its descriptors; launch_spec.json or the
|* binding), runs it in checked mode on arrays of zeros and prints every report and
|* the counters. All that it needs is spyre.h and the runtime library; LLVM and MLIR
|* are not in the process.
|*
\*===----------------------------------------------------------------------===*/

#include "spyre/Runtime/spyre.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "run_bundle: %s: %s\n", what, spyre_last_error());
  return 1;
}

static size_t get_width(const char *dtype) {
  if (strcmp(dtype, "float64") == 0 || strcmp(dtype, "int64") == 0)
    return 8;
  if (strcmp(dtype, "float32") == 0 || strcmp(dtype, "int32") == 0)
    return 4;
  if (strcmp(dtype, "float16") == 0 || strcmp(dtype, "bfloat16") == 0 ||
      strcmp(dtype, "int16") == 0)
    return 2;
  return 1;
}

/* An array of zeros for each argument; NULL if there is no memory. */
static spyre_array *make_arrays(const spyre_bundle *bundle, size_t count) {
  spyre_array *arrays = calloc(count ? count : 1, sizeof *arrays);
  size_t k, d;
  for (k = 0; arrays && k < count; ++k) {
    spyre_argument argument;
    if (spyre_bundle_argument(bundle, k, &argument) != SPYRE_OK)
      return NULL;
    arrays[k].dtype = argument.dtype;
    arrays[k].shape = argument.shape;
    arrays[k].rank = argument.rank;
    arrays[k].size_in_bytes = get_width(argument.dtype);
    for (d = 0; d < argument.rank; ++d)
      arrays[k].size_in_bytes *= (size_t)argument.shape[d];
    arrays[k].data = calloc(arrays[k].size_in_bytes ? arrays[k].size_in_bytes : 1, 1);
    if (!arrays[k].data)
      return NULL;
    printf("argument %lu: %s %s, %s\n", (unsigned long)k, argument.role, argument.array,
           argument.dtype);
  }
  return arrays;
}

int main(int argc, char **argv) {
  spyre_device_options options = {NULL, 1, 1, 0};
  spyre_device *device = NULL;
  spyre_bundle *bundle = NULL;
  spyre_counters counters;
  spyre_report report;
  spyre_array *arrays;
  size_t count, k;
  uint64_t i;

  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: run_bundle DIRECTORY [BINDING]\n");
    return 2;
  }
  if (spyre_device_create(&options, &device) != SPYRE_OK)
    return fail("device");
  if (spyre_bundle_load(argv[1], argc == 3 ? argv[2] : NULL, &bundle) != SPYRE_OK)
    return fail("bundle");
  count = spyre_bundle_num_arguments(bundle);
  arrays = make_arrays(bundle, count);
  if (!arrays)
    return fail("arrays");
  if (spyre_run(device, bundle, arrays, count) != SPYRE_OK)
    return fail("run");
  for (i = 0; spyre_device_get_report(device, i, &report) == SPYRE_OK; ++i)
    printf("report: %s|%s|%s|%d|%lld|%s\n", report.kind, report.op, report.tensor, report.core,
           (long long)report.address, report.message);
  if (spyre_device_counters(device, &counters) != SPYRE_OK)
    return fail("counters");
  printf("%llu launches, %llu bytes read, %llu written, %llu reports, %.0f ns on the device\n",
         (unsigned long long)counters.launches, (unsigned long long)counters.read_bytes,
         (unsigned long long)counters.written_bytes, (unsigned long long)counters.reports,
         spyre_device_modelled_ns(device));
  for (k = 0; k < count; ++k)
    free(arrays[k].data);
  free(arrays);
  spyre_bundle_destroy(bundle);
  spyre_device_destroy(device);
  return counters.reports ? 3 : 0;
}
