// The unary intrinsics of spyreop.
#same = affine_map<(d0) -> (d0)>
module {
func.func @intrinsics(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %a = ktdp.load %a_t : <64xindex> -> tensor<64xf16>
  %e = tensor.empty() : tensor<64xf16>
  %y0 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.exp %x0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z0 = tensor.expand_shape %y0 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z0_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z0, %z0_o : tensor<1x64xf16>, <1x64xindex>
  %y1 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.sqrt %x0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z1 = tensor.expand_shape %y1 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z1_o = ktdp.construct_access_tile %vo[1, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z1, %z1_o : tensor<1x64xf16>, <1x64xindex>
  %y2 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.rsqrt %x0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z2 = tensor.expand_shape %y2 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z2_o = ktdp.construct_access_tile %vo[2, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z2, %z2_o : tensor<1x64xf16>, <1x64xindex>
  %y3 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.reciprocal %x0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z3 = tensor.expand_shape %y3 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z3_o = ktdp.construct_access_tile %vo[3, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z3, %z3_o : tensor<1x64xf16>, <1x64xindex>
  %y4 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.sigmoid %x0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z4 = tensor.expand_shape %y4 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z4_o = ktdp.construct_access_tile %vo[4, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z4, %z4_o : tensor<1x64xf16>, <1x64xindex>
  %y5 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.silu %x0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z5 = tensor.expand_shape %y5 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z5_o = ktdp.construct_access_tile %vo[5, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z5, %z5_o : tensor<1x64xf16>, <1x64xindex>
  %y6 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.gelu %x0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z6 = tensor.expand_shape %y6 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z6_o = ktdp.construct_access_tile %vo[6, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z6, %z6_o : tensor<1x64xf16>, <1x64xindex>
  %y7 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16):
    %v = spyreop.softplus %x0 beta 2.0 threshold 3.0 : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  %z7 = tensor.expand_shape %y7 [[0, 1]] output_shape [1, 64] : tensor<64xf16> into tensor<1x64xf16>
  %z7_o = ktdp.construct_access_tile %vo[7, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %z7, %z7_o : tensor<1x64xf16>, <1x64xindex>
  return
}
}
