// Functions and bodies that have no program.

// RUN: split-file %s %t
// RUN: not spyre-run %t/grid.mlir 2>&1 | FileCheck %t/grid.mlir
// RUN: not spyre-run %t/large.mlir 2>&1 | FileCheck %t/large.mlir
// RUN: not spyre-run %t/results.mlir 2>&1 | FileCheck %t/results.mlir
// RUN: not spyre-run %t/blocks.mlir 2>&1 | FileCheck %t/blocks.mlir
// RUN: not spyre-run %t/bodies.mlir 2>&1 | FileCheck %t/bodies.mlir
// RUN: not spyre-run %t/calls.mlir 2>&1 | FileCheck %t/calls.mlir
// RUN: not spyre-run %t/exchange.mlir --bind %t/exchange.json 2>&1 | FileCheck %t/exchange.mlir

//--- grid.mlir
// CHECK: 'grid' must be an array of one to three positive numbers
func.func @kernel() attributes {grid = [0]} {
  %v = ktdp.get_compute_tile_id : index
  return
}

//--- large.mlir
// CHECK: the grid has more than 4096 compute tiles
func.func @kernel() attributes {grid = [64, 65]} {
  %v:2 = ktdp.get_compute_tile_id : index, index
  return
}

//--- results.mlir
// CHECK: a kernel has no results
func.func @kernel() -> index {
  %v = ktdp.get_compute_tile_id : index
  return %v : index
}

//--- blocks.mlir
// CHECK: a kernel has one block
func.func @kernel() {
  %v = ktdp.get_compute_tile_id : index
  "cf.br"()[^next] : () -> ()
^next:
  return
}

//--- bodies.mlir
#id = affine_map<(n) -> (n)>
func.func @kernel() {
  %v = ktdp.get_compute_tile_id : index
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32):
    // CHECK: bodies.mlir:[[#@LINE+1]]:10: arith.constant: a constant that is no number in scalar code
    %t = arith.constant dense<2.0> : tensor<2xf32>
    // CHECK: bodies.mlir:[[#@LINE+1]]:10: tensor.splat: is not supported in scalar code
    %s = tensor.splat %a : tensor<2xf32>
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return
}

//--- calls.mlir
func.func @kernel() {
  %v = ktdp.get_compute_tile_id : index
  func.call @other() : () -> ()
  // CHECK-DAG: calls.mlir:[[#@LINE+1]]:3: func.call: calls what is no function of one block
  func.call @outside() : () -> ()
  return
}
func.func private @other() {
  // CHECK-DAG: calls.mlir:[[#@LINE+1]]:3: func.call: calls itself
  func.call @other() : () -> ()
  return
}
func.func private @outside()

//--- exchange.json
{"arrays": [], "arguments": [0, 0]}

//--- exchange.mlir
#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
#self = affine_set<(p)[c] : (p - c - 1 == 0)>
func.func @kernel(%x: tensor<4xf32>, %flag: i1) attributes {grid = [8]} {
  // CHECK: exchange.mlir:[[#@LINE+1]]:8: ktdp.inter_tile_produce: compute tile 0 produces in two groups
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<4xf32>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf32>
  }
  // CHECK: exchange.mlir:[[#@LINE+1]]:8: ktdp.inter_tile_gather: compute tile 0 consumes in two groups
  %r = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<4xf32>), groups = #two> -> tensor<16xf32>
  %g = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<4xf32>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf32>
  }
  // CHECK: exchange.mlir:[[#@LINE+1]]:8: ktdp.inter_tile_consume: compute tile 0 has 4 producers; it takes from one
  %s = ktdp.inter_tile_consume(%g) consumer_tiles_per_group = #all : <(tensor<4xf32>), groups = #one> -> tensor<4xf32>
  %h = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<4xf32>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf32>
  }
  // CHECK: exchange.mlir:[[#@LINE+1]]:8: ktdp.inter_tile_consume: compute tile 3 depends on tile 4, which does not produce in group 0
  %t = ktdp.inter_tile_consume(%h) consumer_tiles_per_group = #all, producer_dependency_per_consumer = #self : <(tensor<4xf32>), groups = #one> -> tensor<4xf32>
  %k = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<4xf32>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf32>
  }
  scf.if %flag {
    // CHECK: exchange.mlir:[[#@LINE+1]]:10: ktdp.inter_tile_gather: stands in another block than what produces for it
    %u = ktdp.inter_tile_gather(%k) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<4xf32>), groups = #one> -> tensor<16xf32>
  }
  return
}
