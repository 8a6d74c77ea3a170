// Softmax of rows of 16384, one row on each of two compute tiles.
module {
func.func @softmax_wide(%x: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [2, 16384], strides: [16384, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x16384xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [2, 16384], strides: [16384, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x16384xf16>
  %a_t = ktdp.construct_access_tile %vx[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 16383 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<2x16384xf16> -> !ktdp.access_tile<1x16384xindex>
  %a = ktdp.load %a_t : <1x16384xindex> -> tensor<1x16384xf16>
  %p_low = arith.constant 0xFC00 : f16
  %p_zero = arith.constant 0.0 : f16
  %p_v = tensor.empty() : tensor<1xf16>
  %p_e = tensor.empty() : tensor<1x16384xf16>
  %p_lows = linalg.fill ins(%p_low : f16) outs(%p_v : tensor<1xf16>) -> tensor<1xf16>
  %p_max = linalg.reduce ins(%a : tensor<1x16384xf16>) outs(%p_lows : tensor<1xf16>) dimensions = [1]
      (%l: f16, %r: f16) {
        %m = arith.maximumf %l, %r : f16
        linalg.yield %m : f16
      }
  %p_maxes = linalg.broadcast ins(%p_max : tensor<1xf16>) outs(%p_e : tensor<1x16384xf16>) dimensions = [1]
  %p_d = arith.subf %a, %p_maxes : tensor<1x16384xf16>
  %p_x = math.exp %p_d : tensor<1x16384xf16>
  %zero32 = arith.constant 0.0 : f32
  %x32 = arith.extf %p_x : tensor<1x16384xf16> to tensor<1x16384xf32>
  %v32 = tensor.empty() : tensor<1xf32>
  %zeros = linalg.fill ins(%zero32 : f32) outs(%v32 : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.reduce { arith.addf } ins(%x32 : tensor<1x16384xf32>) outs(%zeros : tensor<1xf32>) dimensions = [1]
  %e32 = tensor.empty() : tensor<1x16384xf32>
  %sums = linalg.broadcast ins(%sum : tensor<1xf32>) outs(%e32 : tensor<1x16384xf32>) dimensions = [1]
  %q = arith.divf %x32, %sums : tensor<1x16384xf32>
  %p = arith.truncf %q : tensor<1x16384xf32> to tensor<1x16384xf16>
  %p_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 16383 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<2x16384xf16> -> !ktdp.access_tile<1x16384xindex>
  ktdp.store %p, %p_o : tensor<1x16384xf16>, <1x16384xindex>
  return
}
}
