// Each of eight tiles sums what the tiles of its half have, within one group.
#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#one = affine_set<(g) : (g == 0)>
#same_half = affine_set<(p)[c] : (p floordiv 4 - c floordiv 4 == 0)>
module {
func.func @reduce_dependency(%x: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %zero = arith.constant dense<0.0> : tensor<1x32xf32>
  %vx = ktdp.construct_memory_view %x, sizes: [8, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x32xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x32xf32>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x32xf32> -> !ktdp.access_tile<1x32xindex>
  %a = ktdp.load %a_t : <1x32xindex> -> tensor<1x32xf32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<1x32xf32>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %a : tensor<1x32xf32>
  }
  %r = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #all, producer_dependency_per_consumer = #same_half, identity(%zero : tensor<1x32xf32>)
      : <(tensor<1x32xf32>), groups = #one> -> tensor<1x32xf32> {
  ^bb0(%l: tensor<1x32xf32>, %k: tensor<1x32xf32>):
    %s = arith.addf %l, %k : tensor<1x32xf32>
    ktdp.yield_reduced %s : tensor<1x32xf32>
  }
  %r_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x32xf32> -> !ktdp.access_tile<1x32xindex>
  ktdp.store %r, %r_o : tensor<1x32xf32>, <1x32xindex>
  return
}
}
