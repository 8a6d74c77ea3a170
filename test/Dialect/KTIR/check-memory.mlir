// RUN: spyre-opt %s -split-input-file -verify-diagnostics -ktir-check-legality

// Index views, and direct subscripts beside them.
#vs = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @ktir5(%x: memref<100x64xf16>, %i: memref<8xi32>) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  // negative: what the index view holds is not known.
  %0 = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b) %x[ind(%i[%id * 4 + %a]), (%b)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<100x64xf16>, memref<8xi32> -> <4x64xindex>
  // expected-error @+1 {{KTIR-5: compute tile 1 accesses places 5..8 of dim 0, the view has 0..7}}
  %1 = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b) %x[ind(%i[%id * 5 + %a]), (%b)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<100x64xf16>, memref<8xi32> -> <4x64xindex>
  // expected-error @+1 {{KTIR-5: compute tile 0 accesses places 1..64 of dim 1, the view has 0..63}}
  %2 = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b) %x[ind(%i[%a]), (%b + 1)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<100x64xf16>, memref<8xi32> -> <4x64xindex>
  return
}

// -----

// Symbols and sizes that are known; loops from tile to tile; index arithmetic in i32.
#rows = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @ktir5_symbols(%a: index) attributes {grid = [4]} {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : i32
  %id = ktdp.get_compute_tile_id : index
  // expected-note @+1 {{the view is made here}}
  %v = ktdp.construct_memory_view %a, sizes: [%c8], strides: [1]
      {coordinate_set = #rows, memory_space = #ktdp.memory_space<global>} : memref<?xf16>
  // negative
  %t0 = ktdp.construct_access_tile %v[4] symbols(%c4) {access_tile_set = #rows, access_tile_order = #same} : memref<?xf16> -> <?xindex>
  // expected-error @+1 {{KTIR-5: compute tile 0 accesses places 5..8 of dim 0, the view has 0..7}}
  %t1 = ktdp.construct_access_tile %v[5] symbols(%c4) {access_tile_set = #rows, access_tile_order = #same} : memref<?xf16> -> <?xindex>
  %id32 = arith.index_cast %id : index to i32
  %by3 = arith.muli %id32, %c3 : i32
  %at = arith.index_cast %by3 : i32 to index
  // expected-note @+1 {{the view is made here}}
  %w = ktdp.construct_memory_view %a, sizes: [8], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<8xf16>
  // expected-error @+1 {{KTIR-5: compute tile 2 accesses places 6..9 of dim 0, the view has 0..7}}
  %t2 = ktdp.construct_access_tile %w[%at] symbols(%c4) {access_tile_set = #rows, access_tile_order = #same} : memref<8xf16> -> <?xindex>
  return
}

// -----

// negative: parts side by side, in different memories.
#top = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#bottom = affine_set<(d0, d1) : (d0 - 32 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#row = affine_set<(d0, d1) : (d0 == 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @parts(%x: index) {
  %a = ktdp.construct_memory_view %x, sizes: [32, 64], strides: [64, 1] {coordinate_set = #top, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  %b = ktdp.construct_memory_view %x, sizes: [32, 64], strides: [1, 32] {coordinate_set = #bottom, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  %v = ktdp.construct_distributed_memory_view (%a, %b : memref<32x64xf16>, memref<32x64xf16>) : memref<64x64xf16>
  %t = ktdp.construct_access_tile %v[63, 0] {access_tile_set = #row, access_tile_order = #same} : memref<64x64xf16> -> <1x64xindex>
  // The part by itself is accessed in its own coordinates.
  %u = ktdp.construct_access_tile %b[0, 0] {access_tile_set = #row, access_tile_order = #same} : memref<32x64xf16> -> <1x64xindex>
  return
}

// -----

#top = affine_set<(d0) : (d0 >= 0, -d0 + 31 >= 0)>
#middle = affine_set<(d0) : (d0 - 31 >= 0, -d0 + 62 >= 0)>
#bottom = affine_set<(d0) : (d0 - 32 >= 0, -d0 + 63 >= 0)>
#odd = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0, d0 mod 2 - 1 == 0)>
#even = affine_set<(d0) : (d0 >= 0, -d0 + 62 >= 0, d0 mod 2 == 0)>
func.func @ktir7(%x: index) {
  // expected-note @+1 {{one is made here}}
  %a = ktdp.construct_memory_view %x, sizes: [32], strides: [1] {coordinate_set = #top, memory_space = #ktdp.memory_space<global>} : memref<32xf16>
  // expected-note @+1 {{the other is made here}}
  %b = ktdp.construct_memory_view %x, sizes: [32], strides: [1] {coordinate_set = #middle, memory_space = #ktdp.memory_space<global>} : memref<32xf16>
  // expected-error @+1 {{KTIR-7: parts 0 and 1 own coordinates in common}}
  %v = ktdp.construct_distributed_memory_view (%a, %b : memref<32xf16>, memref<32xf16>) : memref<63xf16>
  %c = ktdp.construct_memory_view %x, sizes: [32], strides: [1] {coordinate_set = #bottom, memory_space = #ktdp.memory_space<global>} : memref<32xf16>
  // expected-error @+1 {{KTIR-7: the parts span 64 places along dim 0, the view has 65}}
  %w = ktdp.construct_distributed_memory_view (%a, %c : memref<32xf16>, memref<32xf16>) : memref<65xf16>
  %d = ktdp.construct_memory_view %x, sizes: [16], strides: [1] {coordinate_set = #bottom, memory_space = #ktdp.memory_space<global>} : memref<16xf16>
  // expected-error @+1 {{KTIR-7: part 1 owns 32 places of dim 0, its view has 16}}
  %y = ktdp.construct_distributed_memory_view (%a, %d : memref<32xf16>, memref<16xf16>) : memref<64xf16>
  // negative: boxes that meet, sets that do not.
  %e = ktdp.construct_memory_view %x, sizes: [64], strides: [1] {coordinate_set = #odd, memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %f = ktdp.construct_memory_view %x, sizes: [63], strides: [1] {coordinate_set = #even, memory_space = #ktdp.memory_space<global>} : memref<63xf16>
  %z = ktdp.construct_distributed_memory_view (%e, %f : memref<64xf16>, memref<63xf16>) : memref<64xf16>
  return
}

// -----

module attributes {ktdp.address_unit = "bytes"} {
func.func @ktir8() {
  %c1 = arith.constant 1 : index
  %minus = arith.constant -2 : index
  %last = arith.constant 2097024 : index
  // negative: the last stick of LX.
  %v = ktdp.construct_memory_view %last, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<ct_local>} : memref<64xf16>
  // expected-error @+1 {{KTIR-8: the view ends at byte 2097154 of an LX of 2097152}}
  %w = ktdp.construct_memory_view %last, sizes: [65], strides: [1] {memory_space = #ktdp.memory_space<ct_local>} : memref<65xf16>
  // negative: device memory is larger.
  %u = ktdp.construct_memory_view %last, sizes: [65], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<65xf16>
  // expected-error @+1 {{KTIR-8: the address 1 is no multiple of the 2 bytes of an element}}
  %x = ktdp.construct_memory_view %c1, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  // expected-error @+1 {{KTIR-8: the address is -2}}
  %y = ktdp.construct_memory_view %minus, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  return
}
}

// -----

// Elements, where the module does not say otherwise.
func.func @ktir8_elements() {
  %c1 = arith.constant 1 : index
  %beyond = arith.constant 1048576 : index
  // negative
  %v = ktdp.construct_memory_view %c1, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  // expected-error @+1 {{KTIR-8: the view ends at byte 2097280 of an LX of 2097152}}
  %w = ktdp.construct_memory_view %beyond, sizes: [64], strides: [1] {memory_space = #ktdp.memory_space<ct_local>} : memref<64xf16>
  return
}

// -----

// negative: two thirds of LX, one after the other; what is written into counts once.
#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 10922 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @one_by_one(%a: index) {
  %v = ktdp.construct_memory_view %a, sizes: [10923, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<10923x64xf16>
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #same} : memref<10923x64xf16> -> <10923x64xindex>
  %x = ktdp.load %t : <10923x64xindex> -> tensor<10923x64xf16>
  %r = linalg.exp ins(%x : tensor<10923x64xf16>) outs(%x : tensor<10923x64xf16>) -> tensor<10923x64xf16>
  ktdp.store %r, %t : tensor<10923x64xf16>, <10923x64xindex>
  %y = ktdp.load %t : <10923x64xindex> -> tensor<10923x64xf16>
  ktdp.store %y, %t : tensor<10923x64xf16>, <10923x64xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 10922 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @ktir9(%a: index) {
  %v = ktdp.construct_memory_view %a, sizes: [10923, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<10923x64xf16>
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #same} : memref<10923x64xf16> -> <10923x64xindex>
  %x = ktdp.load %t : <10923x64xindex> -> tensor<10923x64xf16>
  // expected-error @+1 {{KTIR-9: here a compute tile holds 2796288 bytes of tensors and views; its LX has 2097152}}
  %y = ktdp.load %t : <10923x64xindex> -> tensor<10923x64xf16>
  ktdp.store %x, %t : tensor<10923x64xf16>, <10923x64xindex>
  ktdp.store %y, %t : tensor<10923x64xf16>, <10923x64xindex>
  return
}

// -----

// A view of LX that is used later takes its place meanwhile.
#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 10922 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @ktir9_view(%a: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %v = ktdp.construct_memory_view %a, sizes: [10923, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<global>} : memref<10923x64xf16>
  %l = ktdp.construct_memory_view %c0, sizes: [10923, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<ct_local>} : memref<10923x64xf16>
  // negative: another view of the same place takes nothing more.
  %k = ktdp.construct_memory_view %c0, sizes: [10923, 64], strides: [64, 1] {memory_space = #ktdp.memory_space<ct_local>} : memref<10923x64xf16>
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #same} : memref<10923x64xf16> -> <10923x64xindex>
  %u = ktdp.construct_access_tile %l[0, 0] {access_tile_set = #box, access_tile_order = #same} : memref<10923x64xf16> -> <10923x64xindex>
  scf.for %i = %c0 to %c9 step %c1 {
    // expected-error @+1 {{KTIR-9: here a compute tile holds 2796288 bytes of tensors and views; its LX has 2097152}}
    %x = ktdp.load %t : <10923x64xindex> -> tensor<10923x64xf16>
    ktdp.store %x, %u : tensor<10923x64xf16>, <10923x64xindex>
  }
  return
}
