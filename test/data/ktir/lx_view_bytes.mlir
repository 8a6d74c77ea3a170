// The same in byte addresses, with the older spelling of memory spaces and of the grid.
module attributes {ktdp.address_unit = "bytes"} {
func.func @lx_view_bytes(%x: index, %o: index) attributes {grid = [4 : index]} {
  %id = ktdp.get_compute_tile_id : index
  %at = arith.constant 256 : index
  %vx = ktdp.construct_memory_view %x, sizes: [4, 64], strides: [64, 1]
      {memory_space = #ktdp.spyre_memory_space<HBM>} : memref<4x64xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [4, 64], strides: [64, 1]
      {memory_space = #ktdp.spyre_memory_space<HBM>} : memref<4x64xf32>
  %vl = ktdp.construct_memory_view %at, sizes: [1, 64], strides: [64, 1]
      {memory_space = #ktdp.spyre_memory_space<LX>} : memref<1x64xf32>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf32> -> !ktdp.access_tile<1x64xindex>
  %a = ktdp.load %a_t : <1x64xindex> -> tensor<1x64xf32>
  %a_o = ktdp.construct_access_tile %vl[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<1x64xf32> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %a, %a_o : tensor<1x64xf32>, <1x64xindex>
  %b_t = ktdp.construct_access_tile %vl[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<1x64xf32> -> !ktdp.access_tile<1x64xindex>
  %b = ktdp.load %b_t : <1x64xindex> -> tensor<1x64xf32>
  %s = arith.addf %b, %b : tensor<1x64xf32>
  %s_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf32> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %s, %s_o : tensor<1x64xf32>, <1x64xindex>
  return
}
}
