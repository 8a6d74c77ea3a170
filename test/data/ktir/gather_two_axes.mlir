// Four tiles of a group put their blocks side by side in two rows of two.
#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
module {
func.func @gather_two_axes(%x: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [8, 8, 16], strides: [128, 16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x8x16xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 16, 32], strides: [512, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16x32xf16>
  %a3_t = ktdp.construct_access_tile %vx[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 7 >= 0, d2 >= 0, -d2 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<8x8x16xf16> -> !ktdp.access_tile<1x8x16xindex>
  %a3 = ktdp.load %a3_t : <1x8x16xindex> -> tensor<1x8x16xf16>
  %a = tensor.collapse_shape %a3 [[0, 1], [2]] : tensor<1x8x16xf16> into tensor<8x16xf16>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> !ktdp.tile_future<(tensor<8x16xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %a : tensor<8x16xf16>
  }
  %r2 = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #quad, gather_dimensions = [0, 1]
      : <(tensor<8x16xf16>), groups = #two> -> tensor<16x32xf16>
  %r = tensor.expand_shape %r2 [[0, 1], [2]] output_shape [1, 16, 32] : tensor<16x32xf16> into tensor<1x16x32xf16>
  %r_o = ktdp.construct_access_tile %vo[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 15 >= 0, d2 >= 0, -d2 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<8x16x32xf16> -> !ktdp.access_tile<1x16x32xindex>
  ktdp.store %r, %r_o : tensor<1x16x32xf16>, <1x16x32xindex>
  return
}
}
