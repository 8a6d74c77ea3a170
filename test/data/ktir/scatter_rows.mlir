// One tile of each group loads a matrix; each of the group gets a quarter of its rows.
#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
#head = affine_set<(i)[g] : (i - g * 4 == 0)>
module {
func.func @scatter_rows(%x: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [2, 16, 64], strides: [1024, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x16x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 4, 64], strides: [256, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x4x64xf16>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #head -> !ktdp.tile_future<(tensor<16x64xf16>), groups = #two> {
  ^bb0(%gid: index):
  %a3_t = ktdp.construct_access_tile %vx[%gid, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 15 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<2x16x64xf16> -> !ktdp.access_tile<1x16x64xindex>
  %a3 = ktdp.load %a3_t : <1x16x64xindex> -> tensor<1x16x64xf16>
    %a = tensor.collapse_shape %a3 [[0, 1], [2]] : tensor<1x16x64xf16> into tensor<16x64xf16>
    ktdp.yield_partial %a : tensor<16x64xf16>
  }
  %r2 = ktdp.inter_tile_scatter(%f) consumer_tiles_per_group = #quad, scatter_dimensions = [0]
      : <(tensor<16x64xf16>), groups = #two> -> tensor<4x64xf16>
  %r = tensor.expand_shape %r2 [[0, 1], [2]] output_shape [1, 4, 64] : tensor<4x64xf16> into tensor<1x4x64xf16>
  %r_o = ktdp.construct_access_tile %vo[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 3 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<8x4x64xf16> -> !ktdp.access_tile<1x4x64xindex>
  ktdp.store %r, %r_o : tensor<1x4x64xf16>, <1x4x64xindex>
  return
}
}
