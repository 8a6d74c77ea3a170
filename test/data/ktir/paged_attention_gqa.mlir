// One token attends to 64 keys in four pages of a cache; four query heads share a head of
// keys, and each compute tile has one head of keys.
module {
func.func @paged_attention_gqa(%q: index, %kc: index, %vc: index, %pages: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %zero32 = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f16
  %vq = ktdp.construct_memory_view %q, sizes: [8, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %vk = ktdp.construct_memory_view %kc, sizes: [12, 16, 2, 64], strides: [2048, 128, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<12x16x2x64xf16>
  %vv = ktdp.construct_memory_view %vc, sizes: [12, 16, 2, 64], strides: [2048, 128, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<12x16x2x64xf16>
  %vp = ktdp.construct_memory_view %pages, sizes: [4], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<4xi32>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x64xf16>
  %q0_t = ktdp.construct_access_tile %vq[%id * 4, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<4x64xindex>
  %q0 = ktdp.load %q0_t : <4x64xindex> -> tensor<4x64xf16>
  %tk = ktdp.construct_indirect_access_tile intermediate_variables(%t, %d)
      %vk[ind(%vp[%t floordiv 16]), (%t mod 16), (%id), (%d)]
      {variables_space_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 63 >= 0)>, variables_space_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<12x16x2x64xf16>, memref<4xi32> -> !ktdp.access_tile<64x64xindex>
  %k0 = ktdp.load %tk : <64x64xindex> -> tensor<64x64xf16>
  %tv = ktdp.construct_indirect_access_tile intermediate_variables(%t, %d)
      %vv[ind(%vp[%t floordiv 16]), (%t mod 16), (%id), (%d)]
      {variables_space_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 63 >= 0)>, variables_space_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<12x16x2x64xf16>, memref<4xi32> -> !ktdp.access_tile<64x64xindex>
  %v0 = ktdp.load %tv : <64x64xindex> -> tensor<64x64xf16>
  %es = tensor.empty() : tensor<4x64xf32>
  %zs = linalg.fill ins(%zero32 : f32) outs(%es : tensor<4x64xf32>) -> tensor<4x64xf32>
  %s32 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q0, %k0 : tensor<4x64xf16>, tensor<64x64xf16>) outs(%zs : tensor<4x64xf32>) -> tensor<4x64xf32>
  %s16 = arith.truncf %s32 : tensor<4x64xf32> to tensor<4x64xf16>
  %scales = tensor.splat %scale : tensor<4x64xf16>
  %s = arith.mulf %s16, %scales : tensor<4x64xf16>
  %p_low = arith.constant 0xFC00 : f16
  %p_zero = arith.constant 0.0 : f16
  %p_v = tensor.empty() : tensor<4xf16>
  %p_e = tensor.empty() : tensor<4x64xf16>
  %p_lows = linalg.fill ins(%p_low : f16) outs(%p_v : tensor<4xf16>) -> tensor<4xf16>
  %p_max = linalg.reduce ins(%s : tensor<4x64xf16>) outs(%p_lows : tensor<4xf16>) dimensions = [1]
      (%l: f16, %r: f16) {
        %m = arith.maximumf %l, %r : f16
        linalg.yield %m : f16
      }
  %p_maxes = linalg.broadcast ins(%p_max : tensor<4xf16>) outs(%p_e : tensor<4x64xf16>) dimensions = [1]
  %p_d = arith.subf %s, %p_maxes : tensor<4x64xf16>
  %p_x = math.exp %p_d : tensor<4x64xf16>
  %p_zeros = linalg.fill ins(%p_zero : f16) outs(%p_v : tensor<4xf16>) -> tensor<4xf16>
  %p_sum = linalg.reduce { arith.addf } ins(%p_x : tensor<4x64xf16>) outs(%p_zeros : tensor<4xf16>) dimensions = [1]
  %p_sums = linalg.broadcast ins(%p_sum : tensor<4xf16>) outs(%p_e : tensor<4x64xf16>) dimensions = [1]
  %p = arith.divf %p_x, %p_sums : tensor<4x64xf16>
  %o32 = linalg.matmul ins(%p, %v0 : tensor<4x64xf16>, tensor<64x64xf16>) outs(%zs : tensor<4x64xf32>) -> tensor<4x64xf32>
  %r = arith.truncf %o32 : tensor<4x64xf32> to tensor<4x64xf16>
  %r_o = ktdp.construct_access_tile %vo[%id * 4, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x64xf16> -> !ktdp.access_tile<4x64xindex>
  ktdp.store %r, %r_o : tensor<4x64xf16>, <4x64xindex>
  return
}
}
