// A window of 2 x 6 is read transposed and stored transposed elsewhere.
module {
func.func @order_transposed(%x: index, %o: index, %p: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [6, 2], strides: [2, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<6x2xf16>
  %vp = ktdp.construct_memory_view %p, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xf16>
  %t = ktdp.construct_access_tile %vx[3, 5]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 5 >= 0)>, access_tile_order = affine_map<(a, b) -> (b, a)>}
      : memref<8x16xf16> -> !ktdp.access_tile<6x2xindex>
  %a = ktdp.load %t : <6x2xindex> -> tensor<6x2xf16>
  %a_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 5 >= 0, d1 >= 0, -d1 + 1 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<6x2xf16> -> !ktdp.access_tile<6x2xindex>
  ktdp.store %a, %a_o : tensor<6x2xf16>, <6x2xindex>
  %q = ktdp.construct_access_tile %vp[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 5 >= 0)>, access_tile_order = affine_map<(a, b) -> (b, a)>}
      : memref<8x16xf16> -> !ktdp.access_tile<6x2xindex>
  ktdp.store %a, %q : tensor<6x2xf16>, <6x2xindex>
  return
}
}
