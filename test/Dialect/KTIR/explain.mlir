// RUN: spyre-translate --explain %s | FileCheck %s --strict-whitespace

#row = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#turn = affine_map<(d0, d1) -> (d1, d0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#pairs = affine_set<(i)[g] : (i - g * 2 >= 0, -i + g * 2 + 1 >= 0)>
#other = affine_set<(p)[c, g] : (p + c - g * 4 - 1 == 0)>
#one = affine_set<(g) : (g == 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
module attributes {ktdp.address_unit = "bytes", spyre.f16 = "dl16"} {

// CHECK:kernel @work: 4 compute tiles; addresses in bytes; f16 in memory is DL16
// CHECK-NEXT:  argument 0: the address of a pool of 4.0 KiB
// CHECK-NEXT:  argument 1: an address
// CHECK-NEXT:  argument 2: a launch-time number, i32, a multiple of 4, at most 1024; not used
func.func @work(%pool: index, %x: index, %n: !ktdp.runtime_arg<i32, granularity=4, upperbound=1024>) attributes {grid = [4], ktdp.pool_bytes = 4096} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %id = ktdp.get_compute_tile_id : index
  %v = ktdp.construct_memory_view %x, sizes: [64, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<64x64xf16>
  %l = ktdp.construct_memory_view %c128, sizes: [8, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<ct_local>} : memref<8x64xf16>
  %zero = arith.constant dense<0.0> : tensor<8x64xf16>
  // CHECK-NEXT:  for i0 from 0 below 2 by 1:
  scf.for %i = %c0 to %c2 step %c1 {
    // CHECK-NEXT:    reads f16 8x64 at [tile * 16 + i0 * 8, 0] of f16 64x64 in device memory at argument 1
    %t = ktdp.construct_access_tile %v[%id * 16 + %i * 8, 0] {access_tile_set = #row, access_tile_order = #same} : memref<64x64xf16> -> <8x64xindex>
    %a = ktdp.load %t : <8x64xindex> -> tensor<8x64xf16>
    // CHECK-NEXT:    computes spyreop.exp over 8x64, giving f16 8x64
    %e = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x64xf16>) outs(%a : tensor<8x64xf16>) {
    ^bb0(%p: f16, %q: f16):
      %y = spyreop.exp %p : f16
      linalg.yield %y : f16
    } -> tensor<8x64xf16>
    // CHECK-NEXT:    writes f16 8x64 at [0, 0] of f16 8x64 in its own LX at 128
    %u = ktdp.construct_access_tile %l[0, 0] {access_tile_set = #row, access_tile_order = #same} : memref<8x64xf16> -> <8x64xindex>
    ktdp.store %e, %u : tensor<8x64xf16>, <8x64xindex>
  }
  // CHECK-NEXT:  offers to other tiles f16 8x64
  // CHECK-NEXT:  receives f16 8x64: the fold of all by arith.addf
  // CHECK-NEXT:    group 0: tiles 0..3 to tiles 0..3
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> <(tensor<8x64xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %zero : tensor<8x64xf16>
  }
  %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #all, identity(%zero : tensor<8x64xf16>) : <(tensor<8x64xf16>), groups = #one> -> tensor<8x64xf16> {
  ^bb0(%p: tensor<8x64xf16>, %q: tensor<8x64xf16>):
    %y = arith.addf %p, %q : tensor<8x64xf16>
    ktdp.yield_reduced %y : tensor<8x64xf16>
  }
  // CHECK-NEXT:  offers to other tiles f16 8x64
  // CHECK-NEXT:  receives f16 8x64: its share along dim 0 of each, side by side along dim 0
  // CHECK-NEXT:    group 0: tiles 0..1 to tiles 0..1
  // CHECK-NEXT:      tile 0 from tile 1
  // CHECK-NEXT:      tile 1 from tile 0
  // CHECK-NEXT:    group 1: tiles 2..3 to tiles 2..3
  // CHECK-NEXT:      tile 2 from tile 3
  // CHECK-NEXT:      tile 3 from tile 2
  %g = ktdp.inter_tile_produce producer_tiles_per_group = #pairs -> <(tensor<8x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %r : tensor<8x64xf16>
  }
  %s = ktdp.inter_tile_all_to_all(%g) consumer_tiles_per_group = #pairs, split_dimensions = [0], concat_dimensions = [0],
      producer_dependency_per_consumer = #other : <(tensor<8x64xf16>), groups = #two> -> tensor<8x64xf16>
  // CHECK-NEXT:  on tiles 0..1:
  // CHECK-NEXT:    writes f16 8x64 at [tile * 8, 0] of f16 64x64 in device memory at argument 1
  // CHECK-NEXT:  on tiles 2..3:
  // CHECK-NEXT:    writes f16 8x64 at [tile * 8, 0] of f16 64x64 in device memory at argument 1
  %low = arith.cmpi ult, %id, %c2 : index
  %w = ktdp.construct_access_tile %v[%id * 8, 0] {access_tile_set = #row, access_tile_order = #same} : memref<64x64xf16> -> <8x64xindex>
  scf.if %low {
    ktdp.store %r, %w : tensor<8x64xf16>, <8x64xindex>
  } else {
    ktdp.store %s, %w : tensor<8x64xf16>, <8x64xindex>
  }
  // CHECK-NEXT:  in all: reads 8.0 KiB and writes 4.0 KiB of device memory, reads and writes 8.0 KiB of LX, gives 8.0 KiB to other tiles
  return
}

// CHECK-NEXT:kernel @indirect: 4 compute tiles, a grid of 2 x 2; addresses in bytes; f16 in memory is DL16
// CHECK-NEXT:  argument 0: an address
// CHECK-NEXT:  argument 1: an address
// CHECK-NEXT:  argument 2: a number, index
func.func @indirect(%x: index, %i: index, %n: index) attributes {grid = [2, 2]} {
  %id:2 = ktdp.get_compute_tile_id : index, index
  %v = ktdp.construct_memory_view %x, sizes: [100, 64], strides: [1, 100] {memory_space = #ktdp.memory_space<global>} : memref<100x64xf16>
  %j = ktdp.construct_memory_view %i, sizes: [32], strides: [1] {memory_space = #ktdp.memory_space<ct_local, ct_id = 2>} : memref<32xi32>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b) %v[ind(%j[%id#1 * 8 + %a]), (%b)]
      {variables_space_set = #row, variables_space_order = #turn} : memref<100x64xf16>, memref<32xi32> -> <64x8xindex>
  // CHECK-NEXT:  for i0 from 0 below argument 2 by 1:
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    // CHECK-NEXT:    reads f16 64x8 with dims in the order 1, 0 at [index 0[tile[1] * 8 + v0], v1] of f16 100x64 in device memory at argument 0, strides 1, 100; index 0 is i32 32 in the LX of tile 2 at argument 1
    %y = ktdp.load %t : <64x8xindex> -> tensor<64x8xf16>
  }
  // CHECK-NEXT:  in all: reads at least 0 bytes and writes 0 bytes of device memory
  return
}
}
