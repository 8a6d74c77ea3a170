// A row times a matrix with the sum cut between eight compute tiles and the columns between
// two; the first tile of each group adds up and writes.
#row = affine_set<(i)[g] : (i - g * 8 >= 0, -i + g * 8 + 7 >= 0)>
#head = affine_set<(i)[g] : (i - g * 8 == 0)>
#two = affine_set<(g) : (g >= 0, -g + 1 >= 0)>
module {
func.func @split_k(%x: index, %y: index, %o: index) attributes {grid = [8, 2]} {
  %id:2 = ktdp.get_compute_tile_id : index, index
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %vx = ktdp.construct_memory_view %x, sizes: [1, 512], strides: [512, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<1x512xf16>
  %vy = ktdp.construct_memory_view %y, sizes: [512, 128], strides: [128, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<512x128xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [1, 128], strides: [128, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<1x128xf16>
  %a_t = ktdp.construct_access_tile %vx[0, %id#0 * 64]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<1x512xf16> -> !ktdp.access_tile<1x64xindex>
  %a = ktdp.load %a_t : <1x64xindex> -> tensor<1x64xf16>
  %b_t = ktdp.construct_access_tile %vy[%id#0 * 64, %id#1 * 64]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<512x128xf16> -> !ktdp.access_tile<64x64xindex>
  %b = ktdp.load %b_t : <64x64xindex> -> tensor<64x64xf16>
  %e = tensor.empty() : tensor<1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %part = linalg.matmul ins(%a, %b : tensor<1x64xf16>, tensor<64x64xf16>) outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
  %f = ktdp.inter_tile_produce producer_tiles_per_group = #row -> !ktdp.tile_future<(tensor<1x64xf32>), groups = #two> {
  ^bb0(%gid: index):
    ktdp.yield_partial %part : tensor<1x64xf32>
  }
  %s = ktdp.inter_tile_reduce(%f) consumer_tiles_per_group = #head, identity(%z : tensor<1x64xf32>)
      : <(tensor<1x64xf32>), groups = #two> -> tensor<1x64xf32> {
  ^bb0(%l: tensor<1x64xf32>, %r: tensor<1x64xf32>):
    %both = arith.addf %l, %r : tensor<1x64xf32>
    ktdp.yield_reduced %both : tensor<1x64xf32>
  }
  %first = arith.cmpi eq, %id#0, %c0 : index
  scf.if %first {
    %s16 = arith.truncf %s : tensor<1x64xf32> to tensor<1x64xf16>
  %s16_o = ktdp.construct_access_tile %vo[0, %id#1 * 64]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<1x128xf16> -> !ktdp.access_tile<1x64xindex>
  ktdp.store %s16, %s16_o : tensor<1x64xf16>, <1x64xindex>
  }
  return
}
}
