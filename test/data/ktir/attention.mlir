// Attention of 32 queries over 32 keys with heads of 64, one head on each of two compute
// tiles.
module {
func.func @attention(%q: index, %k: index, %v: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %zero32 = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f16
  %vq = ktdp.construct_memory_view %q, sizes: [2, 32, 64], strides: [2048, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x32x64xf16>
  %vk = ktdp.construct_memory_view %k, sizes: [2, 32, 64], strides: [2048, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x32x64xf16>
  %vv = ktdp.construct_memory_view %v, sizes: [2, 32, 64], strides: [2048, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x32x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [2, 32, 64], strides: [2048, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x32x64xf16>
  %q3_t = ktdp.construct_access_tile %vq[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<2x32x64xf16> -> !ktdp.access_tile<1x32x64xindex>
  %q3 = ktdp.load %q3_t : <1x32x64xindex> -> tensor<1x32x64xf16>
  %k3_t = ktdp.construct_access_tile %vk[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<2x32x64xf16> -> !ktdp.access_tile<1x32x64xindex>
  %k3 = ktdp.load %k3_t : <1x32x64xindex> -> tensor<1x32x64xf16>
  %v3_t = ktdp.construct_access_tile %vv[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<2x32x64xf16> -> !ktdp.access_tile<1x32x64xindex>
  %v3 = ktdp.load %v3_t : <1x32x64xindex> -> tensor<1x32x64xf16>
  %q2 = tensor.collapse_shape %q3 [[0, 1], [2]] : tensor<1x32x64xf16> into tensor<32x64xf16>
  %k2 = tensor.collapse_shape %k3 [[0, 1], [2]] : tensor<1x32x64xf16> into tensor<32x64xf16>
  %v2 = tensor.collapse_shape %v3 [[0, 1], [2]] : tensor<1x32x64xf16> into tensor<32x64xf16>
  %ek = tensor.empty() : tensor<64x32xf16>
  %kt = linalg.transpose ins(%k2 : tensor<32x64xf16>) outs(%ek : tensor<64x32xf16>) permutation = [1, 0]
  %es = tensor.empty() : tensor<32x32xf32>
  %zs = linalg.fill ins(%zero32 : f32) outs(%es : tensor<32x32xf32>) -> tensor<32x32xf32>
  %s32 = linalg.matmul ins(%q2, %kt : tensor<32x64xf16>, tensor<64x32xf16>) outs(%zs : tensor<32x32xf32>) -> tensor<32x32xf32>
  %s16 = arith.truncf %s32 : tensor<32x32xf32> to tensor<32x32xf16>
  %scales = tensor.splat %scale : tensor<32x32xf16>
  %s = arith.mulf %s16, %scales : tensor<32x32xf16>
  %p_low = arith.constant 0xFC00 : f16
  %p_zero = arith.constant 0.0 : f16
  %p_v = tensor.empty() : tensor<32xf16>
  %p_e = tensor.empty() : tensor<32x32xf16>
  %p_lows = linalg.fill ins(%p_low : f16) outs(%p_v : tensor<32xf16>) -> tensor<32xf16>
  %p_max = linalg.reduce ins(%s : tensor<32x32xf16>) outs(%p_lows : tensor<32xf16>) dimensions = [1]
      (%l: f16, %r: f16) {
        %m = arith.maximumf %l, %r : f16
        linalg.yield %m : f16
      }
  %p_maxes = linalg.broadcast ins(%p_max : tensor<32xf16>) outs(%p_e : tensor<32x32xf16>) dimensions = [1]
  %p_d = arith.subf %s, %p_maxes : tensor<32x32xf16>
  %p_x = math.exp %p_d : tensor<32x32xf16>
  %p_zeros = linalg.fill ins(%p_zero : f16) outs(%p_v : tensor<32xf16>) -> tensor<32xf16>
  %p_sum = linalg.reduce { arith.addf } ins(%p_x : tensor<32x32xf16>) outs(%p_zeros : tensor<32xf16>) dimensions = [1]
  %p_sums = linalg.broadcast ins(%p_sum : tensor<32xf16>) outs(%p_e : tensor<32x32xf16>) dimensions = [1]
  %p = arith.divf %p_x, %p_sums : tensor<32x32xf16>
  %eo = tensor.empty() : tensor<32x64xf32>
  %zo = linalg.fill ins(%zero32 : f32) outs(%eo : tensor<32x64xf32>) -> tensor<32x64xf32>
  %o32 = linalg.matmul ins(%p, %v2 : tensor<32x32xf16>, tensor<32x64xf16>) outs(%zo : tensor<32x64xf32>) -> tensor<32x64xf32>
  %o16 = arith.truncf %o32 : tensor<32x64xf32> to tensor<32x64xf16>
  %r = tensor.expand_shape %o16 [[0, 1], [2]] output_shape [1, 32, 64] : tensor<32x64xf16> into tensor<1x32x64xf16>
  %r_o = ktdp.construct_access_tile %vo[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<2x32x64xf16> -> !ktdp.access_tile<1x32x64xindex>
  ktdp.store %r, %r_o : tensor<1x32x64xf16>, <1x32x64xindex>
  return
}
}
