// Each tile puts a row in its scratchpad; after a gather that serves as a barrier it reads
// its neighbour's.
#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#one = affine_set<(g) : (g == 0)>
module {
func.func @lx_neighbour(%x: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %at = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %vl = ktdp.construct_memory_view %at, sizes: [1, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<ct_local>} : memref<1x64xf16>
  %vx = ktdp.construct_memory_view %x, sizes: [4, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [4, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x64xf16>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf16> -> !ktdp.access_tile<1x64xindex>
  %a = ktdp.load %a_t : <1x64xindex> -> tensor<1x64xf16>
  %a_o = ktdp.construct_access_tile %vl[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<1x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %a, %a_o : tensor<1x64xf16>, <1x64xindex>
  %tok = arith.constant dense<0.0> : tensor<1xf32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<1xf32>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %tok : tensor<1xf32>
  }
  %done = ktdp.inter_tile_gather(%f) consumer_tiles_per_group = #all, gather_dimensions = [0] : <(tensor<1xf32>), groups = #one> -> tensor<4xf32>
  %r0 = ktdp.construct_memory_view %at, sizes: [1, 64], strides: [64, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 0 >= 0, -d0 + 0 >= 0, d1 - 0 >= 0, -d1 + 63 >= 0)>, memory_space = #ktdp.memory_space<ct_local, ct_id = 0>} : memref<1x64xf16>
  %r1 = ktdp.construct_memory_view %at, sizes: [1, 64], strides: [64, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 1 >= 0, -d0 + 1 >= 0, d1 - 0 >= 0, -d1 + 63 >= 0)>, memory_space = #ktdp.memory_space<ct_local, ct_id = 1>} : memref<1x64xf16>
  %r2 = ktdp.construct_memory_view %at, sizes: [1, 64], strides: [64, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 2 >= 0, -d0 + 2 >= 0, d1 - 0 >= 0, -d1 + 63 >= 0)>, memory_space = #ktdp.memory_space<ct_local, ct_id = 2>} : memref<1x64xf16>
  %r3 = ktdp.construct_memory_view %at, sizes: [1, 64], strides: [64, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 3 >= 0, -d0 + 3 >= 0, d1 - 0 >= 0, -d1 + 63 >= 0)>, memory_space = #ktdp.memory_space<ct_local, ct_id = 3>} : memref<1x64xf16>
  %v = ktdp.construct_distributed_memory_view (%r0, %r1, %r2, %r3 : memref<1x64xf16>, memref<1x64xf16>, memref<1x64xf16>, memref<1x64xf16>) : memref<4x64xf16>
  %next = arith.addi %id, %one : index
  %right = arith.remui %next, %four : index
  %b_t = ktdp.construct_access_tile %v[%right, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf16> -> !ktdp.access_tile<1x64xindex>
  %b = ktdp.load %b_t : <1x64xindex> -> tensor<1x64xf16>
  %b_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %b, %b_o : tensor<1x64xf16>, <1x64xindex>
  return
}
}
