// RUN: spyre-opt %s -canonicalize -cse | FileCheck %s

#rows = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#both = affine_set<(d0, d1)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + s1 - 1 >= 0)>
#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-DAG: #[[$LEFT:.*]] = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + s0 - 1 >= 0)>

// Constant sizes, strides and subscripts become numbers.
// CHECK-LABEL: func.func @constants
func.func @constants(%a: index, %n: index) -> (!ktdp.access_tile<2x64xindex>, !ktdp.access_tile<2x64xindex>) {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[V:.*]] = ktdp.construct_memory_view %arg0, sizes: [64, 64], strides: [64, %arg1] {{.*}} : memref<64x64xf16>
  %v = ktdp.construct_memory_view %a, sizes: [%c64, 64], strides: [%c64, %n]
      {coordinate_set = #rows, memory_space = #ktdp.memory_space<global>} : memref<?x64xf16>
  // CHECK: ktdp.construct_access_tile %[[V]][%arg1 * 2 + 4, 0] {{.*}} : memref<64x64xf16>
  %t = ktdp.construct_access_tile %v[%c4 + %n + %n, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<?x64xf16> -> !ktdp.access_tile<2x64xindex>
  // The symbols that are left are numbered anew.
  // CHECK: ktdp.construct_memory_view %arg0, sizes: [64, %arg1], strides: [64, 1] {coordinate_set = #[[$LEFT]], {{.*}} : memref<64x?xf16>
  %w = ktdp.construct_memory_view %a, sizes: [%c64, %n], strides: [64, 1]
      {coordinate_set = #both, memory_space = #ktdp.memory_space<global>} : memref<?x?xf16>
  %u = ktdp.construct_access_tile %w[0, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<?x?xf16> -> !ktdp.access_tile<2x64xindex>
  return %t, %u : !ktdp.access_tile<2x64xindex>, !ktdp.access_tile<2x64xindex>
}

// negative: a size stays where others hold the type, and where a tile would not fit.
// CHECK-LABEL: func.func @sizes
func.func @sizes(%a: index) -> (memref<?x64xf16>, !ktdp.access_tile<2x64xindex>) {
  %c1 = arith.constant 1 : index
  // CHECK: memref<?x64xf16>
  %v = ktdp.construct_memory_view %a, sizes: [%c1, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<?x64xf16>
  // CHECK: memref<?x64xf16>
  %w = ktdp.construct_memory_view %a, sizes: [%c1, 64], strides: [65, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<?x64xf16>
  %t = ktdp.construct_access_tile %w[0, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<?x64xf16> -> !ktdp.access_tile<2x64xindex>
  return %v, %t : memref<?x64xf16>, !ktdp.access_tile<2x64xindex>
}

// What is known of a launch-time number is a constant, the number is not.
// CHECK-LABEL: func.func @facts
func.func @facts(%m: !ktdp.runtime_arg<i32, granularity=4, upperbound=1024>) -> (index, index, i32) {
  // CHECK-DAG: %[[G:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[U:.*]] = arith.constant 1024 : index
  // CHECK-DAG: %[[V:.*]] = ktdp.runtime_arg_extract value
  %g = ktdp.runtime_arg_extract granularity from %m : <i32, granularity=4, upperbound=1024> -> index
  %u = ktdp.runtime_arg_extract upperbound from %m : <i32, granularity=4, upperbound=1024> -> index
  %v = ktdp.runtime_arg_extract value from %m : <i32, granularity=4, upperbound=1024> -> i32
  // CHECK: return %[[G]], %[[U]], %[[V]]
  return %g, %u, %v : index, index, i32
}

// Index views are read where the tile is made: the tile stays behind the store.
// CHECK-LABEL: func.func @order
func.func @order(%x: memref<64x64xf16>, %i: memref<2xi32>, %s: !ktdp.access_tile<2xindex>, %d: tensor<2xi32>) -> (tensor<2x64xf16>, tensor<2x64xf16>) {
  // CHECK: ktdp.construct_indirect_access_tile
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b) %x[ind(%i[%a]), (%b)]
      {variables_space_set = #box, variables_space_order = #same} : memref<64x64xf16>, memref<2xi32> -> <2x64xindex>
  // CHECK: ktdp.store
  ktdp.store %d, %s : tensor<2xi32>, <2xindex>
  // CHECK: ktdp.construct_indirect_access_tile
  %t1 = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b) %x[ind(%i[%a]), (%b)]
      {variables_space_set = #box, variables_space_order = #same} : memref<64x64xf16>, memref<2xi32> -> <2x64xindex>
  %0 = ktdp.load %t : <2x64xindex> -> tensor<2x64xf16>
  %1 = ktdp.load %t1 : <2x64xindex> -> tensor<2x64xf16>
  return %0, %1 : tensor<2x64xf16>, tensor<2x64xf16>
}

#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>

// negative: two productions are not one, and a delivery without a reader stays.
// CHECK-LABEL: func.func @productions
func.func @productions(%x: tensor<4xf16>) attributes {grid = [4]} {
  // CHECK-COUNT-2: ktdp.inter_tile_produce
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  %g = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<4xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<4xf16>
  }
  // CHECK-COUNT-2: ktdp.inter_tile_gather
  %a = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<4xf16>), groups = #one> -> tensor<16xf16>
  %b = ktdp.inter_tile_gather(%g) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<4xf16>), groups = #one> -> tensor<16xf16>
  return
}
