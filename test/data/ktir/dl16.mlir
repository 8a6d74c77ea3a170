// The device's own 16-bit format: numbers beyond the range of IEEE's half.
module attributes {spyre.f16 = "dl16"} {
func.func @dl16(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %a = ktdp.load %a_t : <64xindex> -> tensor<64xf16>
  %b = arith.constant dense<1024.0> : tensor<64xf16>
  %c = arith.mulf %a, %b : tensor<64xf16>
  %d = arith.mulf %c, %b : tensor<64xf16>
  %e = arith.divf %d, %b : tensor<64xf16>
  %s = arith.divf %e, %b : tensor<64xf16>
  %s_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  ktdp.store %s, %s_o : tensor<64xf16>, <64xindex>
  return
}
}
