// Blocks of a table that an index picks, plus another tensor: [16, 8, 4, 32] from a table of
// 20 blocks.
module {
func.func @gather_add(%x: index, %i: index, %y: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %vx = ktdp.construct_memory_view %x, sizes: [20, 8, 4, 32], strides: [1024, 128, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<20x8x4x32xf16>
  %vi = ktdp.construct_memory_view %i, sizes: [16], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<16xi32>
  %vy = ktdp.construct_memory_view %y, sizes: [16, 8, 4, 32], strides: [1024, 128, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x8x4x32xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [16, 8, 4, 32], strides: [1024, 128, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x8x4x32xf16>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%b, %h, %s, %d)
      %vx[ind(%vi[%b + %id * 4]), (%h), (%s), (%d)]
      {variables_space_set = affine_set<(d0, d1, d2, d3) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 7 >= 0, d2 >= 0, -d2 + 3 >= 0, d3 >= 0, -d3 + 31 >= 0)>, variables_space_order = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>}
      : memref<20x8x4x32xf16>, memref<16xi32> -> !ktdp.access_tile<4x8x4x32xindex>
  %a = ktdp.load %t : <4x8x4x32xindex> -> tensor<4x8x4x32xf16>
  %b4_t = ktdp.construct_access_tile %vy[%id * 4, 0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2, d3) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 7 >= 0, d2 >= 0, -d2 + 3 >= 0, d3 >= 0, -d3 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>}
      : memref<16x8x4x32xf16> -> !ktdp.access_tile<4x8x4x32xindex>
  %b4 = ktdp.load %b4_t : <4x8x4x32xindex> -> tensor<4x8x4x32xf16>
  %s4 = arith.addf %a, %b4 : tensor<4x8x4x32xf16>
  %s4_o = ktdp.construct_access_tile %vo[%id * 4, 0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2, d3) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 7 >= 0, d2 >= 0, -d2 + 3 >= 0, d3 >= 0, -d3 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>}
      : memref<16x8x4x32xf16> -> !ktdp.access_tile<4x8x4x32xindex>
  ktdp.store %s4, %s4_o : tensor<4x8x4x32xf16>, <4x8x4x32xindex>
  return
}
}
