// A view's coordinate set says what may be accessed, also where the memory goes on.

// RUN: not spyre-run %s -o 8@int32 2>&1 | FileCheck %s

// CHECK: ktdp.store: compute tile 0: coordinates [6] are not owned by the view of sizes [8]

#six = affine_set<(d0) : (d0 >= 0, -d0 + 5 >= 0)>
#all = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>
#same = affine_map<(d0) -> (d0)>
func.func @kernel(%o: index) attributes {grid = [1]} {
  %v = ktdp.construct_memory_view %o, sizes: [8], strides: [1]
      {coordinate_set = #six, memory_space = #ktdp.memory_space<global>} : memref<8xi32>
  %one = arith.constant dense<1> : tensor<8xi32>
  %t = ktdp.construct_access_tile %v[0] {access_tile_set = #all, access_tile_order = #same}
      : memref<8xi32> -> !ktdp.access_tile<8xindex>
  ktdp.store %one, %t : tensor<8xi32>, <8xindex>
  return
}
