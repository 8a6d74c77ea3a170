// RMS normalisation with rows cut between two groups and columns between the four tiles of a
// group, which sum their squares; the input is seen through a distributed view of two parts.
#quad = affine_set<(i)[g] : (i - g * 4 >= 0, -i + g * 4 + 3 >= 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
#one = affine_set<(g) : (g == 0)>
module {
func.func @rms_norm_all_reduce(%x: index, %w: index, %o: index) attributes {grid = [8]} {
  %id = ktdp.get_compute_tile_id : index
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %inverse = arith.constant 0.00390625 : f32
  %four = arith.constant 4 : index
  %g = arith.divui %id, %four : index
  %c = arith.remui %id, %four : index
  %off0 = arith.constant 0 : index
  %xa0 = arith.addi %x, %off0 : index
  %p0 = ktdp.construct_memory_view %xa0, sizes: [8, 256], strides: [256, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 0 >= 0, -d0 + 7 >= 0, d1 - 0 >= 0, -d1 + 255 >= 0)>, memory_space = #ktdp.memory_space<global>} : memref<8x256xf16>
  %off1 = arith.constant 2048 : index
  %xa1 = arith.addi %x, %off1 : index
  %p1 = ktdp.construct_memory_view %xa1, sizes: [8, 256], strides: [256, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 8 >= 0, -d0 + 15 >= 0, d1 - 0 >= 0, -d1 + 255 >= 0)>, memory_space = #ktdp.memory_space<global>} : memref<8x256xf16>
  %vx = ktdp.construct_distributed_memory_view (%p0, %p1 : memref<8x256xf16>, memref<8x256xf16>) : memref<16x256xf16>
  %vw = ktdp.construct_memory_view %w, sizes: [256], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<256xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [16, 256], strides: [256, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x256xf16>
  %a_t = ktdp.construct_access_tile %vx[%g * 8, %c * 64]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x256xf16> -> !ktdp.access_tile<8x64xindex>
  %a = ktdp.load %a_t : <8x64xindex> -> tensor<8x64xf16>
  %w0_t = ktdp.construct_access_tile %vw[%c * 64]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<256xf16> -> !ktdp.access_tile<64xindex>
  %w0 = ktdp.load %w0_t : <64xindex> -> tensor<64xf16>
  %x32 = arith.extf %a : tensor<8x64xf16> to tensor<8x64xf32>
  %sq = arith.mulf %x32, %x32 : tensor<8x64xf32>
  %ev = tensor.empty() : tensor<8xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%sq : tensor<8x64xf32>) outs(%zv : tensor<8xf32>) dimensions = [1]
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #quad -> !ktdp.tile_future<(tensor<8xf32>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %sum : tensor<8xf32>
  }
  %all = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #quad, identity(%zv : tensor<8xf32>)
      : <(tensor<8xf32>), groups = #two> -> tensor<8xf32> {
  ^bb0(%l: tensor<8xf32>, %r: tensor<8xf32>):
    %both = arith.addf %l, %r : tensor<8xf32>
    ktdp.yield_reduced %both : tensor<8xf32>
  }
  %inv = tensor.splat %inverse : tensor<8xf32>
  %epss = tensor.splat %eps : tensor<8xf32>
  %mean = arith.mulf %all, %inv : tensor<8xf32>
  %safe = arith.addf %mean, %epss : tensor<8xf32>
  %scale = math.rsqrt %safe : tensor<8xf32>
  %e32 = tensor.empty() : tensor<8x64xf32>
  %scales = linalg.broadcast ins(%scale : tensor<8xf32>) outs(%e32 : tensor<8x64xf32>) dimensions = [1]
  %n32 = arith.mulf %x32, %scales : tensor<8x64xf32>
  %n16 = arith.truncf %n32 : tensor<8x64xf32> to tensor<8x64xf16>
  %e16 = tensor.empty() : tensor<8x64xf16>
  %ws = linalg.broadcast ins(%w0 : tensor<64xf16>) outs(%e16 : tensor<8x64xf16>) dimensions = [0]
  %y = arith.mulf %n16, %ws : tensor<8x64xf16>
  %y_o = ktdp.construct_access_tile %vo[%g * 8, %c * 64]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x256xf16> -> !ktdp.access_tile<8x64xindex>
  ktdp.store %y, %y_o : tensor<8x64xf16>, <8x64xindex>
  return
}
}
