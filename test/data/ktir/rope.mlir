// Rotary embedding of 8 heads, 32 positions and 64 lanes on a grid of 4 x 2: halves are cut
// out, turned and put back.
module {
func.func @rope(%x: index, %c: index, %s: index, %o: index) attributes {grid = [4, 2]} {
  %id:2 = ktdp.get_compute_tile_id : index, index
  %vx = ktdp.construct_memory_view %x, sizes: [8, 32, 64], strides: [2048, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x32x64xf16>
  %vc = ktdp.construct_memory_view %c, sizes: [32, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x32xf16>
  %vs = ktdp.construct_memory_view %s, sizes: [32, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x32xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 32, 64], strides: [2048, 64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x32x64xf16>
  %a_t = ktdp.construct_access_tile %vx[%id#0 * 2, %id#1 * 16, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 15 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<8x32x64xf16> -> !ktdp.access_tile<2x16x64xindex>
  %a = ktdp.load %a_t : <2x16x64xindex> -> tensor<2x16x64xf16>
  %c0_t = ktdp.construct_access_tile %vc[%id#1 * 16, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x32xf16> -> !ktdp.access_tile<16x32xindex>
  %c0 = ktdp.load %c0_t : <16x32xindex> -> tensor<16x32xf16>
  %s0_t = ktdp.construct_access_tile %vs[%id#1 * 16, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x32xf16> -> !ktdp.access_tile<16x32xindex>
  %s0 = ktdp.load %s0_t : <16x32xindex> -> tensor<16x32xf16>
  %lo = tensor.extract_slice %a[0, 0, 0] [2, 16, 32] [1, 1, 1] : tensor<2x16x64xf16> to tensor<2x16x32xf16>
  %hi = tensor.extract_slice %a[0, 0, 32] [2, 16, 32] [1, 1, 1] : tensor<2x16x64xf16> to tensor<2x16x32xf16>
  %e = tensor.empty() : tensor<2x16x32xf16>
  %cb = linalg.broadcast ins(%c0 : tensor<16x32xf16>) outs(%e : tensor<2x16x32xf16>) dimensions = [0]
  %sb = linalg.broadcast ins(%s0 : tensor<16x32xf16>) outs(%e : tensor<2x16x32xf16>) dimensions = [0]
  %m0 = arith.mulf %lo, %cb : tensor<2x16x32xf16>
  %m1 = arith.mulf %hi, %sb : tensor<2x16x32xf16>
  %m2 = arith.mulf %hi, %cb : tensor<2x16x32xf16>
  %m3 = arith.mulf %lo, %sb : tensor<2x16x32xf16>
  %left = arith.subf %m0, %m1 : tensor<2x16x32xf16>
  %right = arith.addf %m2, %m3 : tensor<2x16x32xf16>
  %all = tensor.empty() : tensor<2x16x64xf16>
  %half = tensor.insert_slice %left into %all[0, 0, 0] [2, 16, 32] [1, 1, 1] : tensor<2x16x32xf16> into tensor<2x16x64xf16>
  %r = tensor.insert_slice %right into %half[0, 0, 32] [2, 16, 32] [1, 1, 1] : tensor<2x16x32xf16> into tensor<2x16x64xf16>
  %r_o = ktdp.construct_access_tile %vo[%id#0 * 2, %id#1 * 16, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 15 >= 0, d2 >= 0, -d2 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<8x32x64xf16> -> !ktdp.access_tile<2x16x64xindex>
  ktdp.store %r, %r_o : tensor<2x16x64xf16>, <2x16x64xindex>
  return
}
}
