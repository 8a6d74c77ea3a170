// Each element of a tile comes from a row and a column that two indices give.
module {
func.func @indirect_elements(%x: index, %i: index, %j: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [32, 48], strides: [48, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x48xf16>
  %vi = ktdp.construct_memory_view %i, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xi32>
  %vj = ktdp.construct_memory_view %j, sizes: [16], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<16xi64>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xf16>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%r, %c)
      %vx[ind(%vi[%r, %c]), ind(%vj[%c])]
      {variables_space_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 15 >= 0)>, variables_space_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x48xf16>, memref<8x16xi32>, memref<16xi64> -> !ktdp.access_tile<8x16xindex>
  %a = ktdp.load %t : <8x16xindex> -> tensor<8x16xf16>
  %a_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x16xf16> -> !ktdp.access_tile<8x16xindex>
  ktdp.store %a, %a_o : tensor<8x16xf16>, <8x16xindex>
  return
}
}
