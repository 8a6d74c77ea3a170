// The sdscbundle dialect prints as the reference writes it and round-trips.
// RUN: spyre-opt %s | FileCheck %s
// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --emit-bytecode | spyre-opt | FileCheck %s

// CHECK: #[[$MAP:.*]] = affine_map<(d0)[s0] -> (d0 * 16384 + s0)>
#map_0 = affine_map<(d0)[s0] -> (s0 + 16384*d0)>
module {
  // CHECK: func.func @sdsc_bundle(%[[POOL:.*]]: !sdscbundle.input_arg<index>, %[[ARG:.*]]: !sdscbundle.input_arg<index>)
  // CHECK-SAME: sdscbundle.arguments = [#sdscbundle.argument<input_output, array = "in0", result = "out0", shape = [4, 64], dtype = "float16", stride = [1, 4], device_size = [1, 4, 64], stride_map = [64, 64, 1], device_dtype = "SEN169_FP16", element_arrangement = "dl16_to_fp32", tail = "zero", view = [256]>, #sdscbundle.argument<constant, shape = [], dtype = "float16", device_size = [1, 64], stride_map = [-1, -1], device_dtype = "SEN169_FP16", value = 2.500000e-01>]
  // CHECK-SAME: sdscbundle.pool_bytes = 4096 : i64
  func.func @sdsc_bundle(%pool_base_addr: !sdscbundle.input_arg<index>, %arg_0_base_addr: !sdscbundle.input_arg<index>)
      attributes {sdscbundle.has_pool, sdscbundle.pool_bytes = 4096 : i64, sdscbundle.arguments = [
        #sdscbundle.argument<input_output, array = "in0", result = "out0", shape = [4, 64], dtype = "float16", stride = [1, 4], device_size = [1, 4, 64], stride_map = [64, 64, 1], device_dtype = "SEN169_FP16", element_arrangement = "dl16_to_fp32", tail = "zero", view = [256]>,
        #sdscbundle.argument<constant, shape = [], dtype = "float16", device_size = [1, 64], stride_map = [-1, -1], device_dtype = "SEN169_FP16", value = 0.25>]} {
    // CHECK: %[[P:.*]] = sdscbundle.input_arg_extract value from %[[POOL]] : !sdscbundle.input_arg<index> -> index
    %pool = sdscbundle.input_arg_extract value from %pool_base_addr : !sdscbundle.input_arg<index> -> index
    %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %loop_bound_0 = arith.constant 4 : index
    scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
      // CHECK: %[[A:.*]] = affine.apply #[[$MAP]]
      %addr_0 = affine.apply #map_0(%i_0)[%arg_0]
      // CHECK: sdscbundle.sdsc_execute (%[[A]], %[[P]]) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
      sdscbundle.sdsc_execute (%addr_0, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
      // CHECK: sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", "symbol_ids"=[]}
      sdscbundle.sdsc_execute () {sdsc_filename = "sdsc_1.json", symbol_ids = []}
    }
    // CHECK: sdscbundle.sdsc_execute () {sdsc_filename="sdsc_2.json"}
    sdscbundle.sdsc_execute () {sdsc_filename="sdsc_2.json"}
    return
  }
}

// A pool that the body makes, and the size of a symbolic dim.
// CHECK: func.func @made(%[[A:.*]]: !sdscbundle.input_arg<index>, %[[N:.*]]: !sdscbundle.input_arg<index, granularity = 64, max_value = 4096>)
func.func @made(%arg_0_base_addr: !sdscbundle.input_arg<index>, %n: !sdscbundle.input_arg<index, granularity = 64, max_value = 4096>) {
  // CHECK: %[[P:.*]] = sdscbundle.device_mem_allocate 262144 bytes : index
  %pool = sdscbundle.device_mem_allocate 262144 bytes : index
  %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
  // CHECK: %[[S:.*]] = sdscbundle.input_arg_extract value from %[[N]] : !sdscbundle.input_arg<index, granularity = 64, max_value = 4096> -> index
  %size = sdscbundle.input_arg_extract value from %n : !sdscbundle.input_arg<index, granularity = 64, max_value = 4096> -> index
  // CHECK: sdscbundle.sdsc_execute (%{{.*}}, %[[P]], %[[S]]) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3]}
  sdscbundle.sdsc_execute (%arg_0, %pool, %size) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3]}
  return
}
