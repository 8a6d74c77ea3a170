// The dims of a window are turned in a cycle of three by the order of its points, in a
// direct tile and in an indirect one.
module {
func.func @order_cycle(%x: index, %o: index, %p: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [3, 4, 5], strides: [20, 5, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<3x4x5xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [5, 3, 4], strides: [12, 4, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<5x3x4xf16>
  %vp = ktdp.construct_memory_view %p, sizes: [5, 3, 4], strides: [12, 4, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<5x3x4xf16>
  %t = ktdp.construct_access_tile %vx[0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 2 >= 0, d1 >= 0, -d1 + 3 >= 0, d2 >= 0, -d2 + 4 >= 0)>, access_tile_order = affine_map<(a, b, c) -> (c, a, b)>}
      : memref<3x4x5xf16> -> !ktdp.access_tile<5x3x4xindex>
  %a = ktdp.load %t : <5x3x4xindex> -> tensor<5x3x4xf16>
  %a_o = ktdp.construct_access_tile %vo[0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 4 >= 0, d1 >= 0, -d1 + 2 >= 0, d2 >= 0, -d2 + 3 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<5x3x4xf16> -> !ktdp.access_tile<5x3x4xindex>
  ktdp.store %a, %a_o : tensor<5x3x4xf16>, <5x3x4xindex>
  %u = ktdp.construct_indirect_access_tile intermediate_variables(%i, %j, %k)
      %vx[(%i), (%j), (%k)]
      {variables_space_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 2 >= 0, d1 >= 0, -d1 + 3 >= 0, d2 >= 0, -d2 + 4 >= 0)>, variables_space_order = affine_map<(a, b, c) -> (c, a, b)>}
      : memref<3x4x5xf16> -> !ktdp.access_tile<5x3x4xindex>
  %b = ktdp.load %u : <5x3x4xindex> -> tensor<5x3x4xf16>
  %b_o = ktdp.construct_access_tile %vp[0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 4 >= 0, d1 >= 0, -d1 + 2 >= 0, d2 >= 0, -d2 + 3 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<5x3x4xf16> -> !ktdp.access_tile<5x3x4xindex>
  ktdp.store %b, %b_o : tensor<5x3x4xf16>, <5x3x4xindex>
  return
}
}
