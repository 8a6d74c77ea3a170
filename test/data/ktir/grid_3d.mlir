// A grid of three dims: x varies fastest in the number of a tile.
module {
func.func @grid_3d(%o: index) attributes {grid = [2, 3, 4]} {
  %id:3 = ktdp.get_compute_tile_id : index, index, index
  %vo = ktdp.construct_memory_view %o, sizes: [4, 3, 2], strides: [6, 2, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x3x2xi32>
  %x = arith.index_cast %id#0 : index to i32
  %y = arith.index_cast %id#1 : index to i32
  %z = arith.index_cast %id#2 : index to i32
  %c2 = arith.constant 2 : i32
  %c6 = arith.constant 6 : i32
  %a = arith.muli %y, %c2 : i32
  %b = arith.muli %z, %c6 : i32
  %c = arith.addi %a, %b : i32
  %d = arith.addi %x, %c : i32
  %r = tensor.splat %d : tensor<1x1x1xi32>
  %r_o = ktdp.construct_access_tile %vo[%id#2, %id#1, %id#0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 0 >= 0, d2 >= 0, -d2 + 0 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<4x3x2xi32> -> !ktdp.access_tile<1x1x1xindex>
  ktdp.store %r, %r_o : tensor<1x1x1xi32>, <1x1x1xindex>
  return
}
}
