// Each tile takes the row of its mirror image in the group: routing by a dependency set.
#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
#mirror = affine_set<(p)[c, g] : (p + c - g * 8 - 3 == 0)>
module {
func.func @consume_mirror(%x: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [8, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  %a = ktdp.load %a_t : <1x64xindex> -> tensor<1x64xf16>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> !ktdp.tile_future<(tensor<1x64xf16>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %a : tensor<1x64xf16>
  }
  %r = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #quad, producer_dependency_per_consumer = #mirror
      : <(tensor<1x64xf16>), groups = #two> -> tensor<1x64xf16>
  %r_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %r, %r_o : tensor<1x64xf16>, <1x64xindex>
  return
}
}
