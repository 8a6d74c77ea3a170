// Rows of a matrix in the order that an index gives; each compute tile copies 16.
module {
func.func @indirect_copy(%x: index, %i: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [64, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x64xf16>
  %vi = ktdp.construct_memory_view %i, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xi32>
  %vo = ktdp.construct_memory_view %o, sizes: [64, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x64xf16>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%r, %c)
      %vx[ind(%vi[%r + %id * 16]), (%c)]
      {variables_space_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 63 >= 0)>, variables_space_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x64xf16>, memref<64xi32> -> !ktdp.access_tile<16x64xindex>
  %a = ktdp.load %t : <16x64xindex> -> tensor<16x64xf16>
  %a_o = ktdp.construct_access_tile %vo[%id * 16, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x64xf16> -> !ktdp.access_tile<16x64xindex>
  ktdp.store %a, %a_o : tensor<16x64xf16>, <16x64xindex>
  return
}
}
