// Rows and columns of a block come from 32-bit arithmetic on the tile's number.
module {
func.func @i32_tile_ids(%x: index, %o: index) attributes {grid = [4, 1, 1]} {
  %id = ktdp.get_compute_tile_id : index
  %two = arith.constant 2 : i32
  %sixteen = arith.constant 16 : i32
  %vx = ktdp.construct_memory_view %x, sizes: [32, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x32xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [32, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x32xf16>
  %n = arith.index_cast %id : index to i32
  %r = arith.divsi %n, %two : i32
  %c = arith.remsi %n, %two : i32
  %r16 = arith.muli %r, %sixteen : i32
  %c16 = arith.muli %c, %sixteen : i32
  %row = arith.index_cast %r16 : i32 to index
  %col = arith.index_cast %c16 : i32 to index
  %a_t = ktdp.construct_access_tile %vx[%row, %col]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x32xf16> -> !ktdp.access_tile<16x16xindex>
  %a = ktdp.load %a_t : <16x16xindex> -> tensor<16x16xf16>
  %y = arith.negf %a : tensor<16x16xf16>
  %y_o = ktdp.construct_access_tile %vo[%row, %col]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x32xf16> -> !ktdp.access_tile<16x16xindex>
  ktdp.store %y, %y_o : tensor<16x16xf16>, <16x16xindex>
  return
}
}
