// Two column blocks with strides of their own are one view; a window crosses the border.
module {
func.func @distributed_columns(%x: index, %y: index, %o: index) attributes {grid = [1]} {
  %p0 = ktdp.construct_memory_view %x, sizes: [8, 32], strides: [32, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 0 >= 0, -d0 + 7 >= 0, d1 - 0 >= 0, -d1 + 31 >= 0)>, memory_space = #ktdp.memory_space<global>} : memref<8x32xf16>
  %p1 = ktdp.construct_memory_view %y, sizes: [8, 16], strides: [24, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 0 >= 0, -d0 + 7 >= 0, d1 - 32 >= 0, -d1 + 47 >= 0)>, memory_space = #ktdp.memory_space<global>} : memref<8x16xf16>
  %v = ktdp.construct_distributed_memory_view (%p0, %p1 : memref<8x32xf16>, memref<8x16xf16>) : memref<8x48xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [6, 24], strides: [24, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<6x24xf16>
  %a_t = ktdp.construct_access_tile %v[1, 20]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 5 >= 0, d1 >= 0, -d1 + 23 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x48xf16> -> !ktdp.access_tile<6x24xindex>
  %a = ktdp.load %a_t : <6x24xindex> -> tensor<6x24xf16>
  %a_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 5 >= 0, d1 >= 0, -d1 + 23 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<6x24xf16> -> !ktdp.access_tile<6x24xindex>
  ktdp.store %a, %a_o : tensor<6x24xf16>, <6x24xindex>
  return
}
}
