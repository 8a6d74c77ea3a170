// RUN: spyre-opt %s -split-input-file -verify-diagnostics

// Distributed views, indirect tiles and runtime arguments.

func.func @empty() {
  // expected-error @+1 {{has no parts}}
  %v = "ktdp.construct_distributed_memory_view"() : () -> memref<4xf16>
  return
}

// -----

func.func @part_rank(%a: memref<4xf16>) {
  // expected-error @+1 {{part 0 is 'memref<4xf16>', which is not of the rank and element type of 'memref<4x4xf16>'}}
  %v = ktdp.construct_distributed_memory_view (%a : memref<4xf16>) : memref<4x4xf16>
  return
}

// -----

func.func @part_type(%a: memref<4xf16>, %b: memref<4xf32>) {
  // expected-error @+1 {{part 1 is 'memref<4xf32>', which is not of the rank and element type of 'memref<8xf16>'}}
  %v = ktdp.construct_distributed_memory_view (%a, %b : memref<4xf16>, memref<4xf32>) : memref<8xf16>
  return
}

// -----

func.func @part_size(%a: memref<9xf16>) {
  // expected-error @+1 {{part 0 has 9 places along dim 0, the view has 8}}
  %v = ktdp.construct_distributed_memory_view (%a : memref<9xf16>) : memref<8xf16>
  return
}

// -----

func.func @layout(%a: memref<4xf16>) {
  // expected-error @+1 {{the memref type has neither layout nor memory space; they are the parts'}}
  %v = ktdp.construct_distributed_memory_view (%a : memref<4xf16>) : memref<4xf16, 1>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @float_index(%x: memref<64xf16>, %i: memref<8xf16>) {
  // expected-error @+1 {{the index view of subscript 0 holds 'f16', which is no integer}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[ind(%i[%a])]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16>, memref<8xf16> -> <8xindex>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @view_rank(%x: memref<64xf16>, %i: memref<8x8xi32>) {
  // expected-error @+1 {{subscript 0 has 1 expressions, 2 are needed}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[ind(%i[%a])]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16>, memref<8x8xi32> -> <8xindex>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @subscripts(%x: memref<64x64xf16>) {
  // expected-error @+1 {{has 1 subscripts and 1 kinds for a base of rank 2}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64x64xf16> -> <8xindex>
  return
}

// -----

#vs = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 == 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @variables(%x: memref<64xf16>) {
  // expected-error @+1 {{variables_space_set has 2 dims for 1 variables}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16> -> <8x1xindex>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#twice = affine_map<(d0) -> (d0 * 2)>
func.func @order(%x: memref<64xf16>) {
  // expected-error @+1 {{variables_space_order is no permutation of 1 dims}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a)]
      {variables_space_set = #vs, variables_space_order = #twice} : memref<64xf16> -> <8xindex>
  return
}

// -----

#vs = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @symbols(%x: memref<64xf16>) {
  // expected-error @+1 {{variables_space_set has 1 symbols, 0 are given}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16> -> <?xindex>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @shape(%x: memref<64xf16>) {
  // expected-error @+1 {{dim 0 of the tile has size 4, its set 8 places}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16> -> <4xindex>
  return
}

// -----

#same = affine_map<(d0) -> (d0)>
func.func @kind(%x: memref<64xf16>) {
  // expected-error @+2 {{attribute 'variables_space_set' failed to satisfy constraint: IntegerSet attribute}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a)]
      {variables_space_set = 3, variables_space_order = #same} : memref<64xf16> -> <8xindex>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @types(%x: memref<64xf16>, %i: memref<8xi32>) {
  // expected-error @+2 {{there are 1 types for a base and 1 index views}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[ind(%i[%a])]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16> -> <8xindex>
  return
}

// -----

#vs = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 == 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @named_twice(%x: memref<64xf16>) {
  // expected-error @+1 {{a variable is named twice}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a, %a) %x[(%a)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16> -> <8x1xindex>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @product(%x: memref<64xf16>, %n: index) {
  // expected-error @+1 {{a subscript multiplies by numbers only}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a * %n)]
      {variables_space_set = #vs, variables_space_order = #same} : memref<64xf16> -> <8xindex>
  return
}

// -----

#vs = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @written(%x: memref<64xf16>) {
  // expected-error @+1 {{per_dim_subscript_kinds is written as subscripts}}
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%a) %x[(%a)]
      {variables_space_set = #vs, variables_space_order = #same, per_dim_subscript_kinds = [true]} : memref<64xf16> -> <8xindex>
  return
}

// -----

// expected-error @+1 {{a runtime argument is an index, an integer or a float}}
func.func private @underlying(!ktdp.runtime_arg<tensor<4xf16>>)

// -----

// expected-error @+1 {{the granularity must be positive}}
func.func private @granularity(!ktdp.runtime_arg<i32, granularity=0>)

// -----

// expected-error @+1 {{'upperbound' is given twice}}
func.func private @twice(!ktdp.runtime_arg<i32, upperbound=3, upperbound=4>)

// -----

// expected-error @+1 {{a runtime argument has no 'size'; there are granularity and upperbound}}
func.func private @fact(!ktdp.runtime_arg<i32, size=3>)

// -----

func.func @extract(%n: !ktdp.runtime_arg<i32>) {
  // expected-error @+2 {{the argument's type has no upperbound}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = ktdp.runtime_arg_extract upperbound from %n : <i32> -> index
  return
}

// -----

func.func @extract_type(%n: !ktdp.runtime_arg<i32>) {
  // expected-error @+2 {{inferred type(s) 'i32' are incompatible with return type(s) of operation 'index'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = ktdp.runtime_arg_extract value from %n : <i32> -> index
  return
}
