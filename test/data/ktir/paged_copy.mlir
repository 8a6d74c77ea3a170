// A tensor [2, 4, 32, 16] is assembled from pages of eight tokens.
module {
func.func @paged_copy(%x: index, %i: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [12, 4, 8, 16], strides: [512, 128, 16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<12x4x8x16xf16>
  %vi = ktdp.construct_memory_view %i, sizes: [2, 4], strides: [4, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x4xi32>
  %vo = ktdp.construct_memory_view %o, sizes: [2, 4, 32, 16], strides: [2048, 512, 16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x4x32x16xf16>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%h, %t, %d)
      %vx[ind(%vi[%id, %t floordiv 8]), (%h), (%t mod 8), (%d)]
      {variables_space_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 31 >= 0, d2 >= 0, -d2 + 15 >= 0)>, variables_space_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<12x4x8x16xf16>, memref<2x4xi32> -> !ktdp.access_tile<4x32x16xindex>
  %a3 = ktdp.load %t : <4x32x16xindex> -> tensor<4x32x16xf16>
  %a = tensor.expand_shape %a3 [[0, 1], [2], [3]] output_shape [1, 4, 32, 16] : tensor<4x32x16xf16> into tensor<1x4x32x16xf16>
  %a_o = ktdp.construct_access_tile %vo[%id, 0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2, d3) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 3 >= 0, d2 >= 0, -d2 + 31 >= 0, d3 >= 0, -d3 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>}
      : memref<2x4x32x16xf16> -> !ktdp.access_tile<1x4x32x16xindex>
  ktdp.store %a, %a_o : tensor<1x4x32x16xf16>, <1x4x32x16xindex>
  return
}
}
