// Rows of a table of 1000 words, by 64-bit token numbers.
module {
func.func @embedding(%x: index, %i: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [1000, 96], strides: [96, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<1000x96xf16>
  %vi = ktdp.construct_memory_view %i, sizes: [2, 10], strides: [10, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x10xi64>
  %vo = ktdp.construct_memory_view %o, sizes: [2, 10, 96], strides: [960, 96, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x10x96xf16>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%b, %s, %d)
      %vx[ind(%vi[%id, %s]), (%d)]
      {variables_space_set = affine_set<(d0, d1, d2) : (d0 == 0, d1 >= 0, -d1 + 9 >= 0, d2 >= 0, -d2 + 95 >= 0)>, variables_space_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<1000x96xf16>, memref<2x10xi64> -> !ktdp.access_tile<1x10x96xindex>
  %a = ktdp.load %t : <1x10x96xindex> -> tensor<1x10x96xf16>
  %a_o = ktdp.construct_access_tile %vo[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 9 >= 0, d2 >= 0, -d2 + 95 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<2x10x96xf16> -> !ktdp.access_tile<1x10x96xindex>
  ktdp.store %a, %a_o : tensor<1x10x96xf16>, <1x10x96xindex>
  return
}
}
