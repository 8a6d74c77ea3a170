// Mistakes that only show while a kernel runs, with place and tile.

// RUN: split-file %s %t
// RUN: not spyre-run %t/division.mlir 2>&1 | FileCheck %t/division.mlir
// RUN: not spyre-run %t/step.mlir 2>&1 | FileCheck %t/step.mlir
// RUN: not spyre-run %t/shapes.mlir 2>&1 | FileCheck %t/shapes.mlir
// RUN: not spyre-run %t/memory.mlir 2>&1 | FileCheck %t/memory.mlir
// RUN: not spyre-run %t/local.mlir 2>&1 | FileCheck %t/local.mlir
// RUN: not spyre-run %t/huge.mlir 2>&1 | FileCheck %t/huge.mlir

//--- division.mlir
// CHECK: division.mlir:6:8: arith.divui: compute tile 2: division by zero
func.func @kernel() attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %c2 = arith.constant 2 : index
  %left = arith.subi %c2, %id : index
  %r = arith.divui %c2, %left : index
  return
}

//--- step.mlir
// CHECK: scf.for: compute tile 0: the step is 0; it must be positive
func.func @kernel() attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %c2 = arith.constant 2 : index
  scf.for %i = %id to %c2 step %id {
  }
  return
}

//--- shapes.mlir
// CHECK: arith.addf: compute tile 1: operands have the shapes [1] and [2]
func.func @kernel() attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %c1 = arith.constant 1 : index
  %n = arith.addi %id, %c1 : index
  %x = arith.constant 1.0 : f32
  %a = tensor.splat %x[%c1] : tensor<?xf32>
  %b = tensor.splat %x[%n] : tensor<?xf32>
  %s = arith.addf %a, %b : tensor<?xf32>
  return
}

//--- memory.mlir
// CHECK: ktdp.load: compute tile 0: bytes 4096..4351 are outside of device memory, which has 0
#all = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
func.func @kernel() {
  %a = arith.constant 1024 : index
  %v = ktdp.construct_memory_view %a, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf32>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #all, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf32> -> !ktdp.access_tile<64xindex>
  %x = ktdp.load %t : <64xindex> -> tensor<64xf32>
  return
}

//--- local.mlir
// CHECK: ktdp.store: compute tile 1: bytes 2097152..2097407 are outside of the LX of compute tile 1, which has 2097152
#all = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
func.func @kernel() attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %half = arith.constant 524288 : index
  %a = arith.muli %id, %half : index
  %v = ktdp.construct_memory_view %a, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<ct_local>} : memref<64xf32>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #all, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf32> -> !ktdp.access_tile<64xindex>
  %x = arith.constant dense<1.0> : tensor<64xf32>
  ktdp.store %x, %t : tensor<64xf32>, <64xindex>
  return
}

//--- huge.mlir
// CHECK: tensor.empty: compute tile 0: a tensor cannot have the sizes [4611686018427387904]
func.func @kernel() {
  %id = ktdp.get_compute_tile_id : index
  %n = arith.constant 4611686018427387904 : index
  %a = tensor.empty(%n) : tensor<?xf32>
  return
}
