// The first tile of each group loads a row; all of the group get it. The load stands in the
// producer's region.
#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
#head = affine_set<(i)[g] : (i - g * 4 == 0)>
module {
func.func @consume_broadcast(%x: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %four = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %vx = ktdp.construct_memory_view %x, sizes: [2, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #head -> !ktdp.tile_future<(tensor<1x64xf16>), groups = #two> {
  ^bb0(%gid: index):
  %a_t = ktdp.construct_access_tile %vx[%gid, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<2x64xf16> -> !ktdp.access_tile<1x64xindex>
  %a = ktdp.load %a_t : <1x64xindex> -> tensor<1x64xf16>
    ktdp.yield_partial %a : tensor<1x64xf16>
  }
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #quad : <(tensor<1x64xf16>), groups = #two> -> tensor<1x64xf16>
  %r_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %r, %r_o : tensor<1x64xf16>, <1x64xindex>
  return
}
}
