// The largest of each row by a linalg.generic whose initial value is the first column.
module {
func.func @reduce_generic(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [8, 100], strides: [100, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x100xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<8xf16>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 99 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x100xf16> -> !ktdp.access_tile<8x100xindex>
  %a = ktdp.load %a_t : <8x100xindex> -> tensor<8x100xf16>
  %first = tensor.extract_slice %a[0, 0] [8, 1] [1, 1] : tensor<8x100xf16> to tensor<8xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x100xf16>) outs(%first : tensor<8xf16>) {
  ^bb0(%x0: f16, %acc: f16):
    %m = arith.maximumf %x0, %acc : f16
    linalg.yield %m : f16
  } -> tensor<8xf16>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<8xf16> -> !ktdp.access_tile<8xindex>
  ktdp.store %r, %r_o : tensor<8xf16>, <8xindex>
  return
}
}
