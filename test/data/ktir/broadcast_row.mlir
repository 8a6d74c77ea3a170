// A bias is broadcast to all rows by linalg.broadcast and added in place by linalg.add.
module {
func.func @broadcast_row(%x: index, %b: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [12, 40], strides: [40, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<12x40xf16>
  %vb = ktdp.construct_memory_view %b, sizes: [40], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<40xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [12, 40], strides: [40, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<12x40xf16>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 11 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<12x40xf16> -> !ktdp.access_tile<12x40xindex>
  %a = ktdp.load %a_t : <12x40xindex> -> tensor<12x40xf16>
  %b0_t = ktdp.construct_access_tile %vb[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 39 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<40xf16> -> !ktdp.access_tile<40xindex>
  %b0 = ktdp.load %b0_t : <40xindex> -> tensor<40xf16>
  %e = tensor.empty() : tensor<12x40xf16>
  %bb = linalg.broadcast ins(%b0 : tensor<40xf16>) outs(%e : tensor<12x40xf16>) dimensions = [0]
  %s = linalg.add ins(%a, %bb : tensor<12x40xf16>, tensor<12x40xf16>) outs(%e : tensor<12x40xf16>) -> tensor<12x40xf16>
  %s_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 11 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<12x40xf16> -> !ktdp.access_tile<12x40xindex>
  ktdp.store %s, %s_o : tensor<12x40xf16>, <12x40xindex>
  return
}
}
