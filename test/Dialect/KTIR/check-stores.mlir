// RUN: spyre-opt %s -split-input-file -verify-diagnostics -ktir-check-legality

// negative: every tile has places of its own: by its number, by striding loops, by the
// address, in its own LX, in rows of another pitch; and what a branch leaves to one tile.
#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#row = affine_set<(d0, d1) : (d0 == 0, d1 >= 0, -d1 + 63 >= 0)>
#half = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 31 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @own(%a: index, %b: index, %c: index, %o: index, %x: tensor<2x64xf16>, %r: tensor<1x64xf16>, %h: tensor<8x32xf16>) attributes {grid = [4]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %id = ktdp.get_compute_tile_id : index
  %v = ktdp.construct_memory_view %a, sizes: [8, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %t = ktdp.construct_access_tile %v[%id * 2, 0] {access_tile_set = #box, access_tile_order = #same} : memref<8x64xf16> -> <2x64xindex>
  ktdp.store %x, %t : tensor<2x64xf16>, <2x64xindex>
  %vb = ktdp.construct_memory_view %b, sizes: [8, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  scf.for %i = %id to %c8 step %c4 {
    %t1 = ktdp.construct_access_tile %vb[%i, 0] {access_tile_set = #row, access_tile_order = #same} : memref<8x64xf16> -> <1x64xindex>
    ktdp.store %r, %t1 : tensor<1x64xf16>, <1x64xindex>
  }
  %l = ktdp.construct_memory_view %c0, sizes: [2, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<ct_local>} : memref<2x64xf16>
  %tl = ktdp.construct_access_tile %l[0, 0] {access_tile_set = #box, access_tile_order = #same} : memref<2x64xf16> -> <2x64xindex>
  ktdp.store %x, %tl : tensor<2x64xf16>, <2x64xindex>
  %by = arith.muli %id, %c128 : index
  %at = arith.addi %o, %by : index
  %w = ktdp.construct_memory_view %at, sizes: [2, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<2x64xf16>
  %tw = ktdp.construct_access_tile %w[0, 0] {access_tile_set = #box, access_tile_order = #same} : memref<2x64xf16> -> <2x64xindex>
  ktdp.store %x, %tw : tensor<2x64xf16>, <2x64xindex>
  %low = arith.cmpi ult, %id, %c2 : index
  scf.if %low {
    %u = ktdp.construct_memory_view %c, sizes: [8, 128], strides: [128, 1] {memory_space = #ktdp.memory_space<global>} : memref<8x128xf32>
    %tu = ktdp.construct_access_tile %u[0, %id * 32 + 64] {access_tile_set = #half, access_tile_order = #same} : memref<8x128xf32> -> <8x32xindex>
    %hh = arith.extf %h : tensor<8x32xf16> to tensor<8x32xf32>
    ktdp.store %hh, %tu : tensor<8x32xf32>, <8x32xindex>
  }
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @ktir10(%a: index, %x: tensor<2x64xf16>) attributes {grid = [4]} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %id = ktdp.get_compute_tile_id : index
  %v = ktdp.construct_memory_view %a, sizes: [8, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %t = ktdp.construct_access_tile %v[%id, 0] {access_tile_set = #box, access_tile_order = #same} : memref<8x64xf16> -> <2x64xindex>
  // expected-error @+1 {{KTIR-10: compute tiles 0 and 1 store to one place, and nothing orders them}}
  ktdp.store %x, %t : tensor<2x64xf16>, <2x64xindex>
  // The LX of tile 3, from all.
  %l = ktdp.construct_memory_view %c0, sizes: [2, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<ct_local, ct_id = 3>} : memref<2x64xf16>
  %tl = ktdp.construct_access_tile %l[0, 0] {access_tile_set = #box, access_tile_order = #same} : memref<2x64xf16> -> <2x64xindex>
  %y = ktdp.load %t : <2x64xindex> -> tensor<2x64xf16>
  // expected-error @+1 {{KTIR-10: compute tiles 0 and 1 store to one place, and nothing orders them}}
  ktdp.store %y, %tl : tensor<2x64xf16>, <2x64xindex>
  return
}

// -----

// Two stores, two views of one argument, one of them behind an offset.
#box = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @ktir10_views(%a: index, %x: tensor<64xf16>) attributes {grid = [2]} {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %id = ktdp.get_compute_tile_id : index
  %second = arith.cmpi eq, %id, %c1 : index
  scf.if %second {
    %at = arith.addi %a, %c32 : index
    %v = ktdp.construct_memory_view %at, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
    %t = ktdp.construct_access_tile %v[0] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <64xindex>
    // expected-error @+1 {{KTIR-10: compute tiles 0 and 1 store to one place, and nothing orders them}}
    ktdp.store %x, %t : tensor<64xf16>, <64xindex>
  } else {
    %v = ktdp.construct_memory_view %a, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
    %t = ktdp.construct_access_tile %v[0] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <64xindex>
    // expected-note @+1 {{the other store is here}}
    ktdp.store %x, %t : tensor<64xf16>, <64xindex>
  }
  return
}

// -----

// negative: one store before a delivery, the other behind it.
#box = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
#same = affine_map<(d0) -> (d0)>
#first = affine_set<(i)[g] : (i == 0)>
#all = affine_set<(i)[g] : (i >= 0, -i + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
func.func @ordered(%a: index, %x: tensor<64xf16>) attributes {grid = [2]} {
  %c0 = arith.constant 0 : index
  %id = ktdp.get_compute_tile_id : index
  %v = ktdp.construct_memory_view %a, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <64xindex>
  %isFirst = arith.cmpi eq, %id, %c0 : index
  scf.if %isFirst {
    ktdp.store %x, %t : tensor<64xf16>, <64xindex>
  }
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #first -> <(tensor<64xf16>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %x : tensor<64xf16>
  }
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all : <(tensor<64xf16>), groups = #one> -> tensor<64xf16>
  scf.if %isFirst {
  } else {
    ktdp.store %r, %t : tensor<64xf16>, <64xindex>
  }
  return
}

// -----

// negative: all tiles do the same, in a loop too. What follows from a tile's number is not the same.
#box = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @replicated(%a: index, %b: index, %c: index) attributes {grid = [2]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %id = ktdp.get_compute_tile_id : index
  %v = ktdp.construct_memory_view %a, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %w = ktdp.construct_memory_view %b, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %u = ktdp.construct_memory_view %c, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <64xindex>
  %s = ktdp.construct_access_tile %w[0] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <64xindex>
  %z = ktdp.construct_access_tile %u[0] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <64xindex>
  %x = ktdp.load %t : <64xindex> -> tensor<64xf16>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%k = %x) -> tensor<64xf16> {
    %n = arith.addf %k, %k : tensor<64xf16>
    ktdp.store %n, %s : tensor<64xf16>, <64xindex>
    scf.yield %n : tensor<64xf16>
  }
  %f = scf.for %i = %c0 to %c2 step %c1 iter_args(%k = %y) -> tensor<64xf16> {
    // expected-error @+1 {{KTIR-10: compute tiles 0 and 1 store to one place, and nothing orders them}}
    ktdp.store %k, %z : tensor<64xf16>, <64xindex>
    %j = arith.index_cast %id : index to i16
    %g = arith.sitofp %j : i16 to f16
    %m = tensor.splat %g : tensor<64xf16>
    scf.yield %m : tensor<64xf16>
  }
  return
}
