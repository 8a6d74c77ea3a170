// What a view in the scratchpad holds is not touched by values that are computed meanwhile.
module {
func.func @lx_view(%x: index, %y: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %at = arith.constant 0 : index
  %vx = ktdp.construct_memory_view %x, sizes: [4, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x64xf16>
  %vy = ktdp.construct_memory_view %y, sizes: [4, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [4, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x64xf16>
  %vl = ktdp.construct_memory_view %at, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<ct_local>} : memref<64xf16>
  %a2_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf16> -> !ktdp.access_tile<1x64xindex>
  %a2 = ktdp.load %a2_t : <1x64xindex> -> tensor<1x64xf16>
  %a = tensor.collapse_shape %a2 [[0, 1]] : tensor<1x64xf16> into tensor<64xf16>
  %a_o = ktdp.construct_access_tile %vl[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  ktdp.store %a, %a_o : tensor<64xf16>, <64xindex>
  %b2_t = ktdp.construct_access_tile %vy[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf16> -> !ktdp.access_tile<1x64xindex>
  %b2 = ktdp.load %b2_t : <1x64xindex> -> tensor<1x64xf16>
  %b = tensor.collapse_shape %b2 [[0, 1]] : tensor<1x64xf16> into tensor<64xf16>
  %c_t = ktdp.construct_access_tile %vl[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %c = ktdp.load %c_t : <64xindex> -> tensor<64xf16>
  %s = arith.subf %c, %b : tensor<64xf16>
  %r = tensor.expand_shape %s [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %r_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %r, %r_o : tensor<1x64xf16>, <1x64xindex>
  return
}
}
