// RUN: spyre-opt %s -split-input-file -verify-diagnostics -ktir-check-legality

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
// negative: guarded by the tile's number, in the last iteration, all is in bounds.
func.func @legal(%a: index) attributes {grid = [8]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %id = ktdp.get_compute_tile_id : index
  %v = ktdp.construct_memory_view %a, sizes: [8, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %few = arith.cmpi ult, %id, %c4 : index
  scf.if %few {
    %t = ktdp.construct_access_tile %v[%id * 2, 0] {access_tile_set = #box, access_tile_order = #same}
        : memref<8x64xf16> -> <2x64xindex>
    %x = ktdp.load %t : <2x64xindex> -> tensor<2x64xf16>
  }
  %r = arith.remui %id, %c4 : index
  %q = arith.divui %id, %c4 : index
  scf.for %i = %c0 to %c4 step %c2 {
    %t = ktdp.construct_access_tile %v[%q * 4 + %i, 0] {access_tile_set = #box, access_tile_order = #same}
        : memref<8x64xf16> -> <2x64xindex>
    %t1 = ktdp.construct_access_tile %v[%r + %i, 0] {access_tile_set = #box, access_tile_order = #same}
        : memref<8x64xf16> -> <2x64xindex>
  }
  return
}

// -----

// All violations of one module.
#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#half = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
// expected-error @+1 {{KTIR-4: 'spyre.f16' must be "dl16" or "ieee"}}
module attributes {spyre.f16 = "bf16"} {
func.func @illegal(%a: index) attributes {grid = [2, 2]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %id:2 = ktdp.get_compute_tile_id : index, index
  // expected-note @+1 {{the view is made here}}
  %v = ktdp.construct_memory_view %a, sizes: [8, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  // expected-error @+2 {{KTIR-6: there is no compute tile 4; the grid has 4}}
  // expected-note @+1 {{the view is made here}}
  %w = ktdp.construct_memory_view %a, sizes: [8, 64], strides: [64, 1]
      {coordinate_set = #half, memory_space = #ktdp.memory_space<ct_local, ct_id = 4>} : memref<8x64xf16>
  // expected-error @+1 {{KTIR-5: compute tile 3 accesses places 7..8 of dim 0, the view has 0..7}}
  %t = ktdp.construct_access_tile %v[%id#0 * 3 + %id#1 * 4, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<8x64xf16> -> <2x64xindex>
  // expected-error @+1 {{KTIR-3: moves 'f32', the tile's base holds 'f16'}}
  %x = ktdp.load %t : <2x64xindex> -> tensor<2x64xf32>
  // Outside of what the view owns.
  // expected-error @+1 {{KTIR-5: compute tile 0 accesses places 3..4 of dim 0, the view has 0..3}}
  %t1 = ktdp.construct_access_tile %w[3, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<8x64xf16> -> <2x64xindex>
  scf.for %i = %c0 to %c10 step %c2 {
    // expected-error @+1 {{KTIR-5: compute tile 0 accesses places 0..9 of dim 0, the view has 0..7}}
    %t2 = ktdp.construct_access_tile %v[%i, 0] {access_tile_set = #box, access_tile_order = #same}
        : memref<8x64xf16> -> <2x64xindex>
  }
  // expected-error @+1 {{KTIR-1: 'affine.apply' has no place in a kernel}}
  %y = affine.apply affine_map<(d0) -> (d0 + 1)>(%c2)
  return
}
}

// -----

// expected-error @+1 {{KTIR-2: 'grid' must be an array of one to three positive numbers}}
func.func @grid() attributes {grid = [0]} {
  %id = ktdp.get_compute_tile_id : index
  return
}

// -----

// expected-error @+1 {{KTIR-2: the grid has more than 4096 compute tiles}}
func.func @large_grid() attributes {grid = [4096, 4096]} {
  %id:2 = ktdp.get_compute_tile_id : index, index
  return
}
