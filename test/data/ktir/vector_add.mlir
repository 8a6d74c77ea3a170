// Sum of two vectors, a quarter on each of four compute tiles.
module {
func.func @vector_add(%x: index, %y: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %n = arith.constant 256 : index
  %at = arith.muli %id, %n : index
  %vx = ktdp.construct_memory_view %x, sizes: [1024], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<1024xf16>
  %vy = ktdp.construct_memory_view %y, sizes: [1024], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<1024xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [1024], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<1024xf16>
  %a_t = ktdp.construct_access_tile %vx[%at]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 255 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<1024xf16> -> !ktdp.access_tile<256xindex>
  %a = ktdp.load %a_t : <256xindex> -> tensor<256xf16>
  %b_t = ktdp.construct_access_tile %vy[%at]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 255 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<1024xf16> -> !ktdp.access_tile<256xindex>
  %b = ktdp.load %b_t : <256xindex> -> tensor<256xf16>
  %s = arith.addf %a, %b : tensor<256xf16>
  %s_o = ktdp.construct_access_tile %vo[%at]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 255 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<1024xf16> -> !ktdp.access_tile<256xindex>
  ktdp.store %s, %s_o : tensor<256xf16>, <256xindex>
  return
}
}
