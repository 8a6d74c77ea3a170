// RUN: spyre-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{tile element type must be 'index'}}
func.func private @element(!ktdp.access_tile<2x64xf16>)

// -----

// expected-error @+1 {{unknown memory space 'hbm'; there are global and ct_local}}
func.func private @space() attributes {a = #ktdp.memory_space<hbm>}

// -----

// expected-error @+1 {{only ct_local memory belongs to a compute tile}}
func.func private @global_id() attributes {a = #ktdp.memory_space<global, ct_id = 1>}

// -----

// expected-error @+1 {{a compute tile's number cannot be negative}}
func.func private @negative_id() attributes {a = #ktdp.memory_space<ct_local, ct_id = -2>}

// -----

// expected-error @+1 {{memory space 'L0' has no counterpart among global (HBM) and ct_local (LX)}}
func.func private @old_space() attributes {a = #ktdp.spyre_memory_space<L0>}

// -----

// expected-error @+1 {{'ktdp.address_unit' must be "bytes" or "elements"}}
module attributes {ktdp.address_unit = "sticks"} {}

// -----

// expected-error @+1 {{has no attribute 'ktdp.speed'}}
module attributes {ktdp.speed = 3} {}

// -----

// expected-error @+1 {{'ktdp.pool_bytes' must be a number of bytes on a function}}
func.func private @pool() attributes {ktdp.pool_bytes = "many"}

// -----

func.func @coordinates() attributes {grid = [4, 8]} {
  // expected-error @+1 {{has 1 results, the function's grid has 2 dims and 8 compute tiles along dim 1}}
  %id = ktdp.get_compute_tile_id : index
  return
}

// -----

func.func @no_such_dim() attributes {grid = [4]} {
  // expected-error @+1 {{has 2 results, the function's grid has 1 dims}}
  %id:2 = ktdp.get_compute_tile_id : index, index
  return
}

// -----

func.func @too_many() {
  // expected-error @+1 {{has 4 results; a grid has one to three dims}}
  %id:4 = ktdp.get_compute_tile_id : index, index, index, index
  return
}

// -----

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
func.func @rank(%a: index) {
  // expected-error @+1 {{has 1 sizes for a view of rank 2}}
  %v = ktdp.construct_memory_view %a, sizes: [32], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  return
}

// -----

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
func.func @sizes(%a: index) {
  // expected-error @+1 {{sizes are not the shape of 'memref<32x64xf16>'}}
  %v = ktdp.construct_memory_view %a, sizes: [31, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  return
}

// -----

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
func.func @negative(%a: index) {
  // expected-error @+1 {{strides cannot be negative, but there is -64}}
  %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [-64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  return
}

// -----

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
func.func @layout(%a: index) {
  // expected-error @+1 {{the memref type has neither layout nor memory space}}
  %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16, strided<[128, 1]>>
  return
}

// -----

#all = affine_set<(d0) : (d0 >= 0, -d0 + 31 >= 0)>
func.func @set(%a: index) {
  // expected-error @+1 {{coordinate_set has 1 dims for a view of rank 2}}
  %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  return
}

// -----

#all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
func.func @symbols(%a: index, %n: index) {
  // expected-error @+1 {{coordinate_set has 0 symbols for 1 dynamic sizes}}
  %v = ktdp.construct_memory_view %a, sizes: [%n, 64], strides: [64, 1]
      {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<?x64xf16>
  return
}

// -----

func.func @kind(%a: index) {
  // expected-error @+2 {{attribute 'coordinate_set' failed to satisfy constraint: IntegerSet attribute}}
  %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {coordinate_set = 3, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @subscripts(%v: memref<32x64xf16>) {
  // expected-error @+1 {{has 1 subscripts for a base of rank 2}}
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

#box = affine_set<(d0) : (d0 >= 0, -d0 + 1 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @set_dims(%v: memref<32x64xf16>) {
  // expected-error @+1 {{access_tile_set has 1 dims for a base of rank 2}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#sum = affine_map<(d0, d1) -> (d0 + d1, d1)>
func.func @order(%v: memref<32x64xf16>) {
  // expected-error @+1 {{access_tile_order is no permutation of 2 dims}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #sum}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
func.func @turned(%v: memref<32x64xf16>) {
  // expected-error @+1 {{dim 0 of the tile has size 2, its set 64 places}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #turned}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 32 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @large(%v: memref<32x64xf16>) {
  // expected-error @+1 {{access_tile_set has 33 places along dim 0, the base has 32}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <33x64xindex>
  return
}

// -----

#rows = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @tile_symbols(%v: memref<32x64xf16>) {
  // expected-error @+1 {{access_tile_set has 1 symbols, 0 are given}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #rows, access_tile_order = #same}
      : memref<32x64xf16> -> <?x64xindex>
  return
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @tile_kind(%v: memref<32x64xf16>) {
  // expected-error @+1 {{attribute 'access_tile_set' failed to satisfy constraint: IntegerSet attribute}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = 3, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @product(%v: memref<32x64xf16>, %i: index) {
  // expected-error @+1 {{a subscript multiplies by numbers only}}
  %t = ktdp.construct_access_tile %v[%i * %i, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @division(%v: memref<32x64xf16>, %i: index) {
  // expected-error @+1 {{a subscript divides by positive numbers only}}
  %t = ktdp.construct_access_tile %v[%i mod 0, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

func.func @load(%t: !ktdp.access_tile<2x64xindex>) {
  // expected-error @+1 {{'tensor<64x2xf16>' has not the shape of '!ktdp.access_tile<2x64xindex>'}}
  %x = ktdp.load %t : <2x64xindex> -> tensor<64x2xf16>
  return
}

// -----

func.func @store(%t: !ktdp.access_tile<2x64xindex>, %x: tensor<2x32xf16>) {
  // expected-error @+1 {{'tensor<2x32xf16>' has not the shape of '!ktdp.access_tile<2x64xindex>'}}
  ktdp.store %x, %t : tensor<2x32xf16>, <2x64xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @written(%v: memref<32x64xf16>) {
  // expected-error @+1 {{base_map is written as subscripts}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #same, base_map = #same}
      : memref<32x64xf16> -> <2x64xindex>
  return
}

// -----

#box = affine_set<(d0) : (d0 mod 0 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @modulo(%v: memref<64xf16>) {
  // expected-error @+1 {{access_tile_set multiplies unknowns, or divides by what is no positive number}}
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <?xindex>
  return
}

// -----

#rows = affine_set<(d0)[s0] : (d0 * s0 >= 0)>
func.func @semi_affine(%a: index, %n: index) {
  // expected-error @+1 {{coordinate_set multiplies unknowns, or divides by what is no positive number}}
  %v = ktdp.construct_memory_view %a, sizes: [%n], strides: [1]
      {coordinate_set = #rows, memory_space = #ktdp.memory_space<global>} : memref<?xf16>
  return
}

// -----

#box = affine_set<(d0) : (d0 == 0)>
#same = affine_map<(d0) -> (d0)>
func.func @nested(%v: memref<64xf16>) {
  // expected-error @+1 {{a number of a subscript has more than 63 bits}}
  %t = ktdp.construct_access_tile %v[9223372036854775808] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <1xindex>
  return
}

// -----

// One report of an error in a subscript, not a second one about the rest.
#box = affine_set<(d0) : (d0 == 0)>
#same = affine_map<(d0) -> (d0)>
func.func @once(%v: memref<64xf16>) {
  // expected-error @+1 {{expected SSA operand}}
  %t = ktdp.construct_access_tile %v[fast] {access_tile_set = #box, access_tile_order = #same} : memref<64xf16> -> <1xindex>
  return
}

// -----

func.func @gaps(%w: memref<8x8xf16>) {
  // expected-error @+1 {{has a tile of 16 places, access_tile_set has 10}}
  %t = ktdp.construct_access_tile %w[0, 0] {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, d0 - d1 >= 0)>,
      access_tile_order = affine_map<(d0, d1) -> (d0, d1)>} : memref<8x8xf16> -> <4x4xindex>
  return
}

// -----

// Bounds are found where dims depend on each other.
func.func @triangle(%w: memref<3x8xf16>) {
  // expected-error @+1 {{access_tile_set has 4 places along dim 0, the base has 3}}
  %t = ktdp.construct_access_tile %w[0, 0] {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, d1 - d0 >= 0, -d1 + 3 >= 0)>,
      access_tile_order = affine_map<(d0, d1) -> (d0, d1)>} : memref<3x8xf16> -> <2x5xindex>
  return
}

// -----

func.func @space_in_type(%a: index) {
  // expected-error @+1 {{the memref type has neither layout nor memory space}}
  %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x64xf16, 1>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @tile_rank(%v: memref<32x64xf16>) {
  // expected-error @+1 {{makes a tile of rank 1 of a set of 2 dims}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = #same}
      : memref<32x64xf16> -> <128xindex>
  return
}

// -----

#box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
func.func @order_kind(%v: memref<32x64xf16>) {
  // expected-error @+1 {{attribute 'access_tile_order' failed to satisfy constraint: AffineMap attribute}}
  %t = ktdp.construct_access_tile %v[0, 0] {access_tile_set = #box, access_tile_order = 3}
      : memref<32x64xf16> -> <2x64xindex>
  return
}
