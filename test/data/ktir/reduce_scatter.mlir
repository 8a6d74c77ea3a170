// A group sums its blocks; each tile gets a quarter of the rows.
#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
module {
func.func @reduce_scatter(%x: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %vx = ktdp.construct_memory_view %x, sizes: [8, 8, 32], strides: [256, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x8x32xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 2, 32], strides: [64, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x2x32xf32>
  %a3_t = ktdp.construct_access_tile %vx[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 7 >= 0, d2 >= 0, -d2 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<8x8x32xf32> -> !ktdp.access_tile<1x8x32xindex>
  %a3 = ktdp.load %a3_t : <1x8x32xindex> -> tensor<1x8x32xf32>
  %a = tensor.collapse_shape %a3 [[0, 1], [2]] : tensor<1x8x32xf32> into tensor<8x32xf32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> !ktdp.tile_future<(tensor<8x32xf32>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %a : tensor<8x32xf32>
  }
  %r2 = ktdp.inter_tile_reduce_scatter(%f) consumer_tiles_per_group = #quad, scatter_dimensions = [0], identity(%zero : tensor<8x32xf32>)
      : <(tensor<8x32xf32>), groups = #two> -> tensor<2x32xf32> {
  ^bb0(%l: tensor<8x32xf32>, %k: tensor<8x32xf32>):
    %s = arith.addf %l, %k : tensor<8x32xf32>
    ktdp.yield_reduced %s : tensor<8x32xf32>
  }
  %r = tensor.expand_shape %r2 [[0, 1], [2]] output_shape [1, 2, 32] : tensor<2x32xf32> into tensor<1x2x32xf32>
  %r_o = ktdp.construct_access_tile %vo[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 1 >= 0, d2 >= 0, -d2 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<8x2x32xf32> -> !ktdp.access_tile<1x2x32xindex>
  ktdp.store %r, %r_o : tensor<1x2x32xf32>, <1x2x32xindex>
  return
}
}
