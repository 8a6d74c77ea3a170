// RUN: spyre-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: index, %b: index) {
  // expected-error @+1 {{has 2 addresses for 1 symbol ids}}
  sdscbundle.sdsc_execute (%a, %b) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1]}
  return
}

// -----

func.func @f(%a: index) {
  // expected-error @+1 {{has the symbol id 4; ids are negative}}
  sdscbundle.sdsc_execute (%a) {sdsc_filename="sdsc_0.json", "symbol_ids"=[4]}
  return
}

// -----

func.func @f(%a: index, %b: index) {
  // expected-error @+1 {{has the symbol id -4 twice}}
  sdscbundle.sdsc_execute (%a, %b) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-4, -4]}
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{names the file "../sdsc_0.json", which is not directly inside the bundle directory}}
  sdscbundle.sdsc_execute () {sdsc_filename="../sdsc_0.json"}
  return
}

// -----

func.func @f(%a: !sdscbundle.input_arg<i32>) {
  // expected-error @+1 {{extracts 'index' from '!sdscbundle.input_arg<i32>'}}
  %0 = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<i32> -> index
  return
}

// -----

// expected-error @+1 {{unknown role "weight"}}
func.func @f() attributes {sdscbundle.arguments = [#sdscbundle.argument<weight, shape = [], dtype = "float16", device_size = [], stride_map = [], device_dtype = "SEN169_FP16">]} {
  return
}

// -----

// expected-error @+1 {{value belongs to constants, and only to them}}
func.func @f() attributes {sdscbundle.arguments = [#sdscbundle.argument<constant, shape = [], dtype = "float16", device_size = [], stride_map = [], device_dtype = "SEN169_FP16">]} {
  return
}

// -----

// expected-error @+1 {{unknown key 'size'}}
func.func @f() attributes {sdscbundle.arguments = [#sdscbundle.argument<input, size = [4]>]} {
  return
}

// -----

// expected-error @+1 {{'sdscbundle.pool_bytes' must be a number of bytes}}
func.func @f() attributes {sdscbundle.pool_bytes = "big"} {
  return
}

// -----

// expected-error @+1 {{has no attribute 'sdscbundle.colour' of this kind}}
func.func @f() attributes {sdscbundle.colour = 3 : i64} {
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{allocates 15032385537 bytes; one allocation has 1 to 15032385536 (14 GiB), larger buffers one of their own each}}
  %pool = sdscbundle.device_mem_allocate 15032385537 bytes : index
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{allocates 0 bytes}}
  %pool = sdscbundle.device_mem_allocate 0 bytes : index
  return
}

// -----

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{stands in the bundle's function itself, not in a loop}}
    %pool = sdscbundle.device_mem_allocate 128 bytes : index
  }
  return
}

// -----

// expected-error @+1 {{a size has a granularity of at least 1, which divides its max_value; found granularity 64, max_value 100}}
func.func @f(%n: !sdscbundle.input_arg<index, granularity = 64, max_value = 100>) {
  return
}
