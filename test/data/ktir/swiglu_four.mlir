// A gated feed-forward layer on four compute tiles, which cut the hidden dim and sum; each
// writes its rows.
#same = affine_map<(d0, d1) -> (d0, d1)>
#all = affine_set<(i)[g] : (i >= 0, -i + 3 >= 0)>
#head = affine_set<(i)[g] : (i == 0)>
#one = affine_set<(g) : (g == 0)>
module {
func.func @swiglu_four(%x: index, %g: index, %u: index, %d: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %zero = arith.constant 0.0 : f32
  %vx = ktdp.construct_memory_view %x, sizes: [16, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x64xf16>
  %vg = ktdp.construct_memory_view %g, sizes: [64, 128], strides: [128, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x128xf16>
  %vu = ktdp.construct_memory_view %u, sizes: [64, 128], strides: [128, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x128xf16>
  %vd = ktdp.construct_memory_view %d, sizes: [128, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<128x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [16, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x64xf16>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x64xf16> -> !ktdp.access_tile<16x64xindex>
  %a = ktdp.load %a_t : <16x64xindex> -> tensor<16x64xf16>
  %wg_t = ktdp.construct_access_tile %vg[0, %id * 32]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x128xf16> -> !ktdp.access_tile<64x32xindex>
  %wg = ktdp.load %wg_t : <64x32xindex> -> tensor<64x32xf16>
  %wu_t = ktdp.construct_access_tile %vu[0, %id * 32]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x128xf16> -> !ktdp.access_tile<64x32xindex>
  %wu = ktdp.load %wu_t : <64x32xindex> -> tensor<64x32xf16>
  %wd_t = ktdp.construct_access_tile %vd[%id * 32, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<128x64xf16> -> !ktdp.access_tile<32x64xindex>
  %wd = ktdp.load %wd_t : <32x64xindex> -> tensor<32x64xf16>
  %eh = tensor.empty() : tensor<16x32xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<16x32xf32>) -> tensor<16x32xf32>
  %gate = linalg.matmul ins(%a, %wg : tensor<16x64xf16>, tensor<64x32xf16>) outs(%zh : tensor<16x32xf32>) -> tensor<16x32xf32>
  %up = linalg.matmul ins(%a, %wu : tensor<16x64xf16>, tensor<64x32xf16>) outs(%zh : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e16 = tensor.empty() : tensor<16x32xf16>
  %hidden = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : tensor<16x32xf32>, tensor<16x32xf32>) outs(%e16 : tensor<16x32xf16>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f16):
    %silu = spyreop.silu %x0 : f32
    %m = arith.mulf %silu, %x1 : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<16x32xf16>
  %ed = tensor.empty() : tensor<16x64xf32>
  %zd = linalg.fill ins(%zero : f32) outs(%ed : tensor<16x64xf32>) -> tensor<16x64xf32>
  %part = linalg.matmul ins(%hidden, %wd : tensor<16x32xf16>, tensor<32x64xf16>) outs(%zd : tensor<16x64xf32>) -> tensor<16x64xf32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #all -> !ktdp.tile_future<(tensor<16x64xf32>), groups = #one> {
  ^bb0(%gid: index):
    ktdp.yield_partial %part : tensor<16x64xf32>
  }
  %y32 = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #all, identity(%zd : tensor<16x64xf32>)
      : <(tensor<16x64xf32>), groups = #one> -> tensor<16x64xf32> {
  ^bb0(%l: tensor<16x64xf32>, %r: tensor<16x64xf32>):
    %both = linalg.add ins(%l, %r : tensor<16x64xf32>, tensor<16x64xf32>) outs(%ed : tensor<16x64xf32>) -> tensor<16x64xf32>
    ktdp.yield_reduced %both : tensor<16x64xf32>
  }
  %y16 = arith.truncf %y32 : tensor<16x64xf32> to tensor<16x64xf16>
  %rr = arith.constant 4 : index
  %row = arith.muli %id, %rr : index
  %y = tensor.extract_slice %y16[%row, 0] [4, 64] [1, 1] : tensor<16x64xf16> to tensor<4x64xf16>
  %y_o = ktdp.construct_access_tile %vo[%id * 4, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x64xf16> -> !ktdp.access_tile<4x64xindex>
  ktdp.store %y, %y_o : tensor<4x64xf16>, <4x64xindex>
  return
}
}
