// The halves of each row: silu of the left one times the right one.
#same = affine_map<(d0, d1) -> (d0, d1)>
module {
func.func @silu_and_mul(%x: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [8, 256], strides: [256, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x256xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 128], strides: [128, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x128xf16>
  %a_t = ktdp.construct_access_tile %vx[%id * 2, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 127 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x256xf16> -> !ktdp.access_tile<2x128xindex>
  %a = ktdp.load %a_t : <2x128xindex> -> tensor<2x128xf16>
  %b_t = ktdp.construct_access_tile %vx[%id * 2, 128]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 127 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x256xf16> -> !ktdp.access_tile<2x128xindex>
  %b = ktdp.load %b_t : <2x128xindex> -> tensor<2x128xf16>
  %e = tensor.empty() : tensor<2x128xf16>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<2x128xf16>, tensor<2x128xf16>) outs(%e : tensor<2x128xf16>) {
  ^bb0(%x0: f16, %x1: f16, %x2: f16):
    %s = spyreop.silu %x0 : f16
    %m = arith.mulf %s, %x1 : f16
    linalg.yield %m : f16
  } -> tensor<2x128xf16>
  %r_o = ktdp.construct_access_tile %vo[%id * 2, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 127 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x128xf16> -> !ktdp.access_tile<2x128xindex>
  ktdp.store %r, %r_o : tensor<2x128xf16>, <2x128xindex>
  return
}
}
