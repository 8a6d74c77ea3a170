// Two products begin with the same value, which neither changes.
module {
func.func @matmul_shared_init(%x: index, %y: index, %o: index, %p: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [8, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x16xf16>
  %vy = ktdp.construct_memory_view %y, sizes: [16, 8], strides: [8, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x8xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [8, 8], strides: [8, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x8xf16>
  %vp = ktdp.construct_memory_view %p, sizes: [8, 8], strides: [8, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x8xf16>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x16xf16> -> !ktdp.access_tile<8x16xindex>
  %a = ktdp.load %a_t : <8x16xindex> -> tensor<8x16xf16>
  %b_t = ktdp.construct_access_tile %vy[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 7 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x8xf16> -> !ktdp.access_tile<16x8xindex>
  %b = ktdp.load %b_t : <16x8xindex> -> tensor<16x8xf16>
  %init_t = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 7 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x8xf16> -> !ktdp.access_tile<8x8xindex>
  %init = ktdp.load %init_t : <8x8xindex> -> tensor<8x8xf16>
  %m = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x8xf16>) outs(%init : tensor<8x8xf16>) -> tensor<8x8xf16>
  %n = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x8xf16>) outs(%init : tensor<8x8xf16>) -> tensor<8x8xf16>
  %m_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 7 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x8xf16> -> !ktdp.access_tile<8x8xindex>
  ktdp.store %m, %m_o : tensor<8x8xf16>, <8x8xindex>
  %n_o = ktdp.construct_access_tile %vp[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 7 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x8xf16> -> !ktdp.access_tile<8x8xindex>
  ktdp.store %n, %n_o : tensor<8x8xf16>, <8x8xindex>
  return
}
}
