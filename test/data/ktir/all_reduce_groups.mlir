// Four groups of four compute tiles sum among themselves.
#producers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#consumers = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#groups = affine_set<(g) : (g >= 0, -g + 3 >= 0)>
module {
func.func @all_reduce_groups(%x: index, %o: index) attributes {grid = [16]} {
  %id = ktdp.get_compute_tile_id : index
  %z = arith.constant dense<0.0> : tensor<1x64xf32>
  %vx = ktdp.construct_memory_view %x, sizes: [16, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x64xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [16, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x64xf32>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x64xf32> -> !ktdp.access_tile<1x64xindex>
  %a = ktdp.load %a_t : <1x64xindex> -> tensor<1x64xf32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #producers -> !ktdp.tile_future<(tensor<1x64xf32>), groups = #groups> {
  ^bb0(%gid: index):
    ktdp.yield_partial %a : tensor<1x64xf32>
  }
  %s = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #consumers, identity(%z : tensor<1x64xf32>)
      : <(tensor<1x64xf32>), groups = #groups> -> tensor<1x64xf32> {
  ^bb0(%l: tensor<1x64xf32>, %r: tensor<1x64xf32>):
    %both = arith.addf %l, %r : tensor<1x64xf32>
    ktdp.yield_reduced %both : tensor<1x64xf32>
  }
  %s_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x64xf32> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %s, %s_o : tensor<1x64xf32>, <1x64xindex>
  return
}
}
