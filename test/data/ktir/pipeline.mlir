// Four tiles in a chain: in each of three rounds a tile adds its own row to what it gets
// from the one before, through a dependency within one group.
#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
#before = affine_set<(p)[c] : ((c + 3) mod 4 - p == 0)>
module {
func.func @pipeline(%x: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %vx = ktdp.construct_memory_view %x, sizes: [4, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x32xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [4, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x32xf32>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x32xf32> -> !ktdp.access_tile<1x32xindex>
  %a = ktdp.load %a_t : <1x32xindex> -> tensor<1x32xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %a) -> (tensor<1x32xf32>) {
    %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<1x32xf32>), groups = #one> {
    ^bb0(%gid: index):
      ktdp.yield_partial %y : tensor<1x32xf32>
    }
    %g = ktdp.inter_tile_consume(%f) consumer_tiles_per_group = #all, producer_dependency_per_consumer = #before
        : <(tensor<1x32xf32>), groups = #one> -> tensor<1x32xf32>
    %s = arith.addf %g, %a : tensor<1x32xf32>
    scf.yield %s : tensor<1x32xf32>
  }
  %r_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x32xf32> -> !ktdp.access_tile<1x32xindex>
  ktdp.store %r, %r_o : tensor<1x32xf32>, <1x32xindex>
  return
}
}
