// Logarithm of softmax along columns: reductions over the first dim, in f32.
module {
func.func @log_softmax(%x: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [50, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<50x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [50, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<50x64xf16>
  %a_t = ktdp.construct_access_tile %vx[0, %id * 32]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 49 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<50x64xf16> -> !ktdp.access_tile<50x32xindex>
  %a = ktdp.load %a_t : <50x32xindex> -> tensor<50x32xf16>
  %w = arith.extf %a : tensor<50x32xf16> to tensor<50x32xf32>
  %low = arith.constant -1.0e30 : f32
  %zero = arith.constant 0.0 : f32
  %ev = tensor.empty() : tensor<32xf32>
  %em = tensor.empty() : tensor<50x32xf32>
  %lows = linalg.fill ins(%low : f32) outs(%ev : tensor<32xf32>) -> tensor<32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%ev : tensor<32xf32>) -> tensor<32xf32>
  %m = linalg.reduce { arith.maximumf } ins(%w : tensor<50x32xf32>) outs(%lows : tensor<32xf32>) dimensions = [0]
  %mb = linalg.broadcast ins(%m : tensor<32xf32>) outs(%em : tensor<50x32xf32>) dimensions = [0]
  %d = arith.subf %w, %mb : tensor<50x32xf32>
  %e = math.exp %d : tensor<50x32xf32>
  %s = linalg.reduce { arith.addf } ins(%e : tensor<50x32xf32>) outs(%zeros : tensor<32xf32>) dimensions = [0]
  %l = math.log %s : tensor<32xf32>
  %lb = linalg.broadcast ins(%l : tensor<32xf32>) outs(%em : tensor<50x32xf32>) dimensions = [0]
  %y = arith.subf %d, %lb : tensor<50x32xf32>
  %r = arith.truncf %y : tensor<50x32xf32> to tensor<50x32xf16>
  %r_o = ktdp.construct_access_tile %vo[0, %id * 32]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 49 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<50x64xf16> -> !ktdp.access_tile<50x32xindex>
  ktdp.store %r, %r_o : tensor<50x32xf16>, <50x32xindex>
  return
}
}
