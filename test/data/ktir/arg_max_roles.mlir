// A fold of two roles: the largest value and the tile that has it.
#all = affine_set<(i)[g] : (i >= 0, -i + 7 >= 0)>
#one = affine_set<(g) : (g == 0)>
module {
func.func @arg_max_roles(%x: index, %o: index, %p: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %low = arith.constant dense<-1.0e30> : tensor<1x16xf32>
  %none = arith.constant dense<-1> : tensor<1x16xi32>
  %vx = ktdp.construct_memory_view %x, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xf32>
  %vp = ktdp.construct_memory_view %p, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xi32>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x16xf32> -> !ktdp.access_tile<1x16xindex>
  %a = ktdp.load %a_t : <1x16xindex> -> tensor<1x16xf32>
  %n = arith.index_cast %id : index to i32
  %who = tensor.splat %n : tensor<1x16xi32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<1x16xf32>, tensor<1x16xi32>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %a, %who : tensor<1x16xf32>, tensor<1x16xi32>
  }
  %r:2 = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #all, identity(%low, %none : tensor<1x16xf32>, tensor<1x16xi32>)
      : <(tensor<1x16xf32>, tensor<1x16xi32>), groups = #one> -> tensor<1x16xf32>, tensor<1x16xi32> {
  ^bb0(%v0: tensor<1x16xf32>, %i0: tensor<1x16xi32>, %v1: tensor<1x16xf32>, %i1: tensor<1x16xi32>):
    %isMore = arith.cmpf ogt, %v1, %v0 : tensor<1x16xf32>
    %v = arith.select %isMore, %v1, %v0 : tensor<1x16xi1>, tensor<1x16xf32>
    %i = arith.select %isMore, %i1, %i0 : tensor<1x16xi1>, tensor<1x16xi32>
    ktdp.yield_reduced %v, %i : tensor<1x16xf32>, tensor<1x16xi32>
  }
  %to = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x16xf32> -> !ktdp.access_tile<1x16xindex>
  ktdp.store %r#0, %to : tensor<1x16xf32>, <1x16xindex>
  %tp = ktdp.construct_access_tile %vp[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x16xi32> -> !ktdp.access_tile<1x16xindex>
  ktdp.store %r#1, %tp : tensor<1x16xi32>, <1x16xindex>
  return
}
}
