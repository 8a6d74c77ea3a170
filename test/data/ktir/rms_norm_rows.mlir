// RMS normalisation of 32 rows of 256, eight rows on each of four compute tiles.
module {
func.func @rms_norm_rows(%x: index, %w: index, %o: index) attributes {grid = [4, 1]} {
  %id = ktdp.get_compute_tile_id : index
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %inverse = arith.constant 0.00390625 : f32
  %vx = ktdp.construct_memory_view %x, sizes: [32, 256], strides: [256, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x256xf16>
  %vw = ktdp.construct_memory_view %w, sizes: [256], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<256xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [32, 256], strides: [256, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x256xf16>
  %a_t = ktdp.construct_access_tile %vx[%id * 8, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 255 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x256xf16> -> !ktdp.access_tile<8x256xindex>
  %a = ktdp.load %a_t : <8x256xindex> -> tensor<8x256xf16>
  %w0_t = ktdp.construct_access_tile %vw[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 255 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<256xf16> -> !ktdp.access_tile<256xindex>
  %w0 = ktdp.load %w0_t : <256xindex> -> tensor<256xf16>
  %x32 = arith.extf %a : tensor<8x256xf16> to tensor<8x256xf32>
  %sq = arith.mulf %x32, %x32 : tensor<8x256xf32>
  %ev = tensor.empty() : tensor<8xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%sq : tensor<8x256xf32>) outs(%zv : tensor<8xf32>) dimensions = [1]
  %inv = tensor.splat %inverse : tensor<8xf32>
  %epss = tensor.splat %eps : tensor<8xf32>
  %mean = arith.mulf %sum, %inv : tensor<8xf32>
  %safe = arith.addf %mean, %epss : tensor<8xf32>
  %scale = math.rsqrt %safe : tensor<8xf32>
  %e32 = tensor.empty() : tensor<8x256xf32>
  %scales = linalg.broadcast ins(%scale : tensor<8xf32>) outs(%e32 : tensor<8x256xf32>) dimensions = [1]
  %n32 = arith.mulf %x32, %scales : tensor<8x256xf32>
  %n16 = arith.truncf %n32 : tensor<8x256xf32> to tensor<8x256xf16>
  %e16 = tensor.empty() : tensor<8x256xf16>
  %ws = linalg.broadcast ins(%w0 : tensor<256xf16>) outs(%e16 : tensor<8x256xf16>) dimensions = [0]
  %y = arith.mulf %n16, %ws : tensor<8x256xf16>
  %y_o = ktdp.construct_access_tile %vo[%id * 8, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 255 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x256xf16> -> !ktdp.access_tile<8x256xindex>
  ktdp.store %y, %y_o : tensor<8x256xf16>, <8x256xindex>
  return
}
}
