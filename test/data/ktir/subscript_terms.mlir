// Subscripts with products, constants and remainders.
module {
func.func @subscript_terms(%x: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [20, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<20x16xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [4, 8], strides: [8, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x8xf16>
  %a_t = ktdp.construct_access_tile %vx[%id * 3 + 2, (%id mod 2) * 4 + 1]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 7 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<20x16xf16> -> !ktdp.access_tile<1x8xindex>
  %a = ktdp.load %a_t : <1x8xindex> -> tensor<1x8xf16>
  %a_o = ktdp.construct_access_tile %vo[%id, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 7 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x8xf16> -> !ktdp.access_tile<1x8xindex>
  ktdp.store %a, %a_o : tensor<1x8xf16>, <1x8xindex>
  return
}
}
