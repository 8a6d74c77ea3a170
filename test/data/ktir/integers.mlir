// Signed and unsigned comparisons, divisions, shifts and conversions of 32-bit integers.
module {
func.func @integers(%x: index, %y: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [40], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<40xi32>
  %vy = ktdp.construct_memory_view %y, sizes: [40], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<40xi32>
  %vo = ktdp.construct_memory_view %o, sizes: [7, 40], strides: [40, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<7x40xi32>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 39 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<40xi32> -> !ktdp.access_tile<40xindex>
  %a = ktdp.load %a_t : <40xindex> -> tensor<40xi32>
  %b_t = ktdp.construct_access_tile %vy[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 39 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<40xi32> -> !ktdp.access_tile<40xindex>
  %b = ktdp.load %b_t : <40xindex> -> tensor<40xi32>
  %slt = arith.cmpi slt, %a, %b : tensor<40xi32>
  %ult = arith.cmpi ult, %a, %b : tensor<40xi32>
  %r0 = arith.extui %slt : tensor<40xi1> to tensor<40xi32>
  %r1 = arith.extsi %ult : tensor<40xi1> to tensor<40xi32>
  %r2 = arith.divsi %a, %b : tensor<40xi32>
  %r3 = arith.remsi %a, %b : tensor<40xi32>
  %r4 = arith.divui %a, %b : tensor<40xi32>
  %r5 = arith.floordivsi %a, %b : tensor<40xi32>
  %three = arith.constant dense<3> : tensor<40xi32>
  %r6 = arith.shrui %a, %three : tensor<40xi32>
  %q0 = tensor.expand_shape %r0 [[0, 1]] output_shape [1, 40] : tensor<40xi32> into tensor<1x40xi32>
  %q0_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<7x40xi32> -> !ktdp.access_tile<1x40xindex>
  ktdp.store %q0, %q0_o : tensor<1x40xi32>, <1x40xindex>
  %q1 = tensor.expand_shape %r1 [[0, 1]] output_shape [1, 40] : tensor<40xi32> into tensor<1x40xi32>
  %q1_o = ktdp.construct_access_tile %vo[1, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<7x40xi32> -> !ktdp.access_tile<1x40xindex>
  ktdp.store %q1, %q1_o : tensor<1x40xi32>, <1x40xindex>
  %q2 = tensor.expand_shape %r2 [[0, 1]] output_shape [1, 40] : tensor<40xi32> into tensor<1x40xi32>
  %q2_o = ktdp.construct_access_tile %vo[2, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<7x40xi32> -> !ktdp.access_tile<1x40xindex>
  ktdp.store %q2, %q2_o : tensor<1x40xi32>, <1x40xindex>
  %q3 = tensor.expand_shape %r3 [[0, 1]] output_shape [1, 40] : tensor<40xi32> into tensor<1x40xi32>
  %q3_o = ktdp.construct_access_tile %vo[3, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<7x40xi32> -> !ktdp.access_tile<1x40xindex>
  ktdp.store %q3, %q3_o : tensor<1x40xi32>, <1x40xindex>
  %q4 = tensor.expand_shape %r4 [[0, 1]] output_shape [1, 40] : tensor<40xi32> into tensor<1x40xi32>
  %q4_o = ktdp.construct_access_tile %vo[4, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<7x40xi32> -> !ktdp.access_tile<1x40xindex>
  ktdp.store %q4, %q4_o : tensor<1x40xi32>, <1x40xindex>
  %q5 = tensor.expand_shape %r5 [[0, 1]] output_shape [1, 40] : tensor<40xi32> into tensor<1x40xi32>
  %q5_o = ktdp.construct_access_tile %vo[5, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<7x40xi32> -> !ktdp.access_tile<1x40xindex>
  ktdp.store %q5, %q5_o : tensor<1x40xi32>, <1x40xindex>
  %q6 = tensor.expand_shape %r6 [[0, 1]] output_shape [1, 40] : tensor<40xi32> into tensor<1x40xi32>
  %q6_o = ktdp.construct_access_tile %vo[6, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 39 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<7x40xi32> -> !ktdp.access_tile<1x40xindex>
  ktdp.store %q6, %q6_o : tensor<1x40xi32>, <1x40xindex>
  return
}
}
