// Softmax along the rows of a matrix, four rows on each of 32 compute tiles.
module {
func.func @softmax_rows(%x: index, %o: index) attributes {grid = [32, 1]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [128, 256], strides: [256, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<128x256xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [128, 256], strides: [256, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<128x256xf16>
  %a_t = ktdp.construct_access_tile %vx[%id * 4, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 255 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<128x256xf16> -> !ktdp.access_tile<4x256xindex>
  %a = ktdp.load %a_t : <4x256xindex> -> tensor<4x256xf16>
  %p_low = arith.constant 0xFC00 : f16
  %p_zero = arith.constant 0.0 : f16
  %p_v = tensor.empty() : tensor<4xf16>
  %p_e = tensor.empty() : tensor<4x256xf16>
  %p_lows = linalg.fill ins(%p_low : f16) outs(%p_v : tensor<4xf16>) -> tensor<4xf16>
  %p_max = linalg.reduce ins(%a : tensor<4x256xf16>) outs(%p_lows : tensor<4xf16>) dimensions = [1]
      (%l: f16, %r: f16) {
        %m = arith.maximumf %l, %r : f16
        linalg.yield %m : f16
      }
  %p_maxes = linalg.broadcast ins(%p_max : tensor<4xf16>) outs(%p_e : tensor<4x256xf16>) dimensions = [1]
  %p_d = arith.subf %a, %p_maxes : tensor<4x256xf16>
  %p_x = math.exp %p_d : tensor<4x256xf16>
  %p_zeros = linalg.fill ins(%p_zero : f16) outs(%p_v : tensor<4xf16>) -> tensor<4xf16>
  %p_sum = linalg.reduce { arith.addf } ins(%p_x : tensor<4x256xf16>) outs(%p_zeros : tensor<4xf16>) dimensions = [1]
  %p_sums = linalg.broadcast ins(%p_sum : tensor<4xf16>) outs(%p_e : tensor<4x256xf16>) dimensions = [1]
  %p = arith.divf %p_x, %p_sums : tensor<4x256xf16>
  %p_o = ktdp.construct_access_tile %vo[%id * 4, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 255 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<128x256xf16> -> !ktdp.access_tile<4x256xindex>
  ktdp.store %p, %p_o : tensor<4x256xf16>, <4x256xindex>
  return
}
}
