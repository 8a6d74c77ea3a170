// RUN: spyre-opt %s | FileCheck %s
// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --verify-roundtrip -o /dev/null

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#rows = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK: module attributes {ktdp.address_unit = "bytes", spyre.f16 = "dl16"}
module attributes {ktdp.address_unit = "bytes", spyre.f16 = "dl16"} {

// CHECK-LABEL: func.func @kernel
// CHECK-SAME: attributes {grid = [4, 2]}
func.func @kernel(%a: index, %n: index) attributes {grid = [4, 2]} {
  // CHECK: %[[ID:.*]]:2 = ktdp.get_compute_tile_id : index, index
  %id:2 = ktdp.get_compute_tile_id : index, index
  // CHECK: %[[V:.*]] = ktdp.construct_memory_view %arg0, sizes: [32, 64], strides: [64, 1] {coordinate_set = #{{.*}}, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  // Dynamic sizes and strides; the symbol is the dynamic size.
  // CHECK: ktdp.construct_memory_view %arg0, sizes: [%arg1, 64], strides: [64, %arg1] {{.*}} : memref<?x64xf16>
  %w = ktdp.construct_memory_view %a, sizes: [%n, 64], strides: [64, %n]
      {coordinate_set = #rows, memory_space = #ktdp.memory_space<ct_local>} : memref<?x64xf16>
  // CHECK: memory_space = #ktdp.memory_space<ct_local, ct_id = 7>
  %l = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<ct_local, ct_id = 7>} : memref<32x64xf16>
  // The older spelling of memory spaces is printed as the newer.
  // CHECK: memory_space = #ktdp.memory_space<global>
  %o0 = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.spyre_memory_space<HBM>} : memref<32x64xf16>
  // CHECK: memory_space = #ktdp.memory_space<ct_local, ct_id = 3>
  %o1 = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.spyre_memory_space<LX, core = 3>} : memref<32x64xf16>

  // Subscripts know results by number.
  // CHECK: ktdp.construct_access_tile %[[V]][%[[ID]]#0 * 8 + %[[ID]]#1 * 2, 0] {{.*}} -> !ktdp.access_tile<2x64xindex>
  %t = ktdp.construct_access_tile %v[%id#0 * 8 + %id#1 * 2, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> !ktdp.access_tile<2x64xindex>
  // CHECK: ktdp.construct_access_tile %[[V]][%[[ID]]#1 + 1, %arg1 floordiv 2 - 3]
  %t1 = ktdp.construct_access_tile %v[%id#1 + 1, %n floordiv 2 - 3] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  // CHECK: ktdp.construct_access_tile %[[V]][(%arg1 + %[[ID]]#0) * 4, %arg1 mod 8 floordiv 4]
  %t2 = ktdp.construct_access_tile %v[(%n + %id#0) * 4, %n mod 8 floordiv 4] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  // CHECK: ktdp.construct_access_tile %{{.*}}[0, 0] symbols(%arg1) {{.*}} -> !ktdp.access_tile<?x64xindex>
  %t3 = ktdp.construct_access_tile %w[0, 0] symbols(%n) {access_tile_set = #rows, access_tile_order = #same}
      : memref<?x64xf16> -> !ktdp.access_tile<?x64xindex>
  // The tile's shape is the set's box in its order.
  // CHECK: -> !ktdp.access_tile<64x2xindex>
  %t4 = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #turned}
      : memref<32x64xf16> -> !ktdp.access_tile<64x2xindex>

  // CHECK: %[[X:.*]] = ktdp.load %{{.*}} : <2x64xindex> -> tensor<2x64xf16>
  %x = ktdp.load %t : <2x64xindex> -> tensor<2x64xf16>
  // CHECK: ktdp.store %[[X]], %{{.*}} : tensor<2x64xf16>, <2x64xindex>
  ktdp.store %x, %t1 : tensor<2x64xf16>, !ktdp.access_tile<2x64xindex>
  return
}

// No coordinate set: the whole box. Parts of one view. Launch-time numbers.
// CHECK-LABEL: func.func @views
func.func @views(%a: index, %m: !ktdp.runtime_arg<index, upperbound=1024, granularity=4>, %k: !ktdp.runtime_arg<f32>) {
  // CHECK: %[[N:.*]] = ktdp.runtime_arg_extract value from %arg1 : <index, granularity=4, upperbound=1024> -> index
  %n = ktdp.runtime_arg_extract value from %m : <index, granularity=4, upperbound=1024> -> index
  // CHECK: ktdp.runtime_arg_extract upperbound from %arg1 : <index, granularity=4, upperbound=1024> -> index
  %u = ktdp.runtime_arg_extract upperbound from %m : !ktdp.runtime_arg<index, granularity=4, upperbound=1024> -> index
  // CHECK: ktdp.runtime_arg_extract value from %arg2 : <f32> -> f32
  %f = ktdp.runtime_arg_extract value from %k : <f32> -> f32
  // CHECK: %[[A:.*]] = ktdp.construct_memory_view %arg0, sizes: [32, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  // CHECK: %[[B:.*]] = ktdp.construct_memory_view %arg0, sizes: [%[[N]], 64]
  %w = ktdp.construct_memory_view %a, sizes: [%n, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<ct_local, ct_id = 1>} : memref<?x64xf16>
  // CHECK: ktdp.construct_distributed_memory_view(%[[A]], %[[B]] : memref<32x64xf16>, memref<?x64xf16>) : memref<64x64xf16>
  %d = ktdp.construct_distributed_memory_view (%v, %w : memref<32x64xf16>, memref<?x64xf16>) : memref<64x64xf16>
  return
}

// The last dims of a grid may be left out where they are 1; signs and large numbers.
// CHECK-LABEL: func.func @one_id
func.func @one_id(%v: memref<32x64xf16>, %n: index) attributes {grid = [32, 1]} {
  %id = ktdp.get_compute_tile_id : index
  // CHECK: ktdp.construct_access_tile %arg0[%arg1 * -1, %arg1 - 5]
  %t = ktdp.construct_access_tile %v[-%n, %n + -5] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  // CHECK: ktdp.construct_access_tile %arg0[-9223372036854775807, %arg1 * -1 + 5]
  %t1 = ktdp.construct_access_tile %v[-9223372036854775807, - -5 - (%n)] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// Sets with gaps: the tile has as many places as the set has points.
// CHECK-LABEL: func.func @gaps
func.func @gaps(%v: memref<32xf16>, %w: memref<8x8xf16>) {
  // CHECK: -> !ktdp.access_tile<4xindex>
  %t = ktdp.construct_access_tile %v[1] {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 6 >= 0, d0 mod 2 == 0)>,
      access_tile_order = affine_map<(d0) -> (d0)>} : memref<32xf16> -> <4xindex>
  // CHECK: -> !ktdp.access_tile<2x5xindex>
  %t1 = ktdp.construct_access_tile %w[0, 0] {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, d0 - d1 >= 0)>,
      access_tile_order = #same} : memref<8x8xf16> -> <2x5xindex>
  return
}

// Other grids; a rank-0 tile.
// CHECK-LABEL: func.func @other
// CHECK-SAME: grid = [1 : index]
func.func @other(%tile: !ktdp.access_tile<index>) attributes {grid = [1 : index]} {
  %id = ktdp.get_compute_tile_id : index
  // CHECK: ktdp.load %arg0 : <index> -> tensor<f16>
  %x = ktdp.load %tile : <index> -> tensor<f16>
  return
}

}
