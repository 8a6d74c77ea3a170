// A kernel whose arguments say themselves what they are.

// RUN: split-file %s %t
// RUN: %python -c "import numpy as np; np.savez('%t.in.npz', in0=np.arange(32, dtype=np.float32))"
// RUN: spyre-run %t/good.mlir --inputs %t.in.npz --outputs %t.npz --check
// RUN: %python -c "import numpy as np; x = np.load('%t.npz'); assert (x['out0'] == np.arange(32) * 3 - 0.5).all(), x['out0']"
// RUN: not spyre-run %t/type.mlir 2>&1 | FileCheck %t/type.mlir
// RUN: not spyre-run %t/value.mlir 2>&1 | FileCheck %t/value.mlir

//--- good.mlir
#all = affine_set<(d0) : (d0 >= 0, -d0 + 31 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @scale(%x: index {ktdp.input = tensor<32xf32>}, %n: i32 {ktdp.value = 3 : i32},
                 %b: f32 {ktdp.value = 0.5 : f32}, %o: index {ktdp.output = tensor<32xf32>}) {
  %vx = ktdp.construct_memory_view %x, sizes: [32], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<32xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [32], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<32xf32>
  %tx = ktdp.construct_access_tile %vx[0] {access_tile_set = #all, access_tile_order = #same} : memref<32xf32> -> !ktdp.access_tile<32xindex>
  %to = ktdp.construct_access_tile %vo[0] {access_tile_set = #all, access_tile_order = #same} : memref<32xf32> -> !ktdp.access_tile<32xindex>
  %a = ktdp.load %tx : <32xindex> -> tensor<32xf32>
  %f = arith.sitofp %n : i32 to f32
  %s = tensor.splat %f : tensor<32xf32>
  %t = tensor.splat %b : tensor<32xf32>
  %m = arith.mulf %a, %s : tensor<32xf32>
  %r = arith.subf %m, %t : tensor<32xf32>
  ktdp.store %r, %to : tensor<32xf32>, <32xindex>
  return
}
//--- type.mlir
// CHECK: argument 0: its array must be described by a tensor type with sizes, such as tensor<96x64xf16>
func.func @kernel(%x: index {ktdp.input = tensor<?xf32>}) {
  %id = ktdp.get_compute_tile_id : index
  return
}
//--- value.mlir
// CHECK: argument 0: 'ktdp.value' must be a number
func.func @kernel(%x: index {ktdp.value = "three"}) {
  %id = ktdp.get_compute_tile_id : index
  return
}
