// linalg.softmax, batch_matmul, matvec and dot in f32.
module {
func.func @linalg_softmax(%x: index, %y: index, %v: index, %o: index, %p: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [3, 8, 16], strides: [128, 16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<3x8x16xf32>
  %vy = ktdp.construct_memory_view %y, sizes: [3, 16, 12], strides: [192, 12, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<3x16x12xf32>
  %vv = ktdp.construct_memory_view %v, sizes: [12], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<12xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [3, 8, 12], strides: [96, 12, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<3x8x12xf32>
  %vp = ktdp.construct_memory_view %p, sizes: [1], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<1xf32>
  %a_t = ktdp.construct_access_tile %vx[0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 2 >= 0, d1 >= 0, -d1 + 7 >= 0, d2 >= 0, -d2 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<3x8x16xf32> -> !ktdp.access_tile<3x8x16xindex>
  %a = ktdp.load %a_t : <3x8x16xindex> -> tensor<3x8x16xf32>
  %b_t = ktdp.construct_access_tile %vy[0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 2 >= 0, d1 >= 0, -d1 + 15 >= 0, d2 >= 0, -d2 + 11 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<3x16x12xf32> -> !ktdp.access_tile<3x16x12xindex>
  %b = ktdp.load %b_t : <3x16x12xindex> -> tensor<3x16x12xf32>
  %w_t = ktdp.construct_access_tile %vv[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 11 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<12xf32> -> !ktdp.access_tile<12xindex>
  %w = ktdp.load %w_t : <12xindex> -> tensor<12xf32>
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<3x8x16xf32>
  %s = linalg.softmax dimension(2) ins(%a : tensor<3x8x16xf32>) outs(%ea : tensor<3x8x16xf32>) -> tensor<3x8x16xf32>
  %eo = tensor.empty() : tensor<3x8x12xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x8x12xf32>) -> tensor<3x8x12xf32>
  %r = linalg.batch_matmul ins(%s, %b : tensor<3x8x16xf32>, tensor<3x16x12xf32>) outs(%zo : tensor<3x8x12xf32>) -> tensor<3x8x12xf32>
  %m = tensor.collapse_shape %r [[0, 1], [2]] : tensor<3x8x12xf32> into tensor<24x12xf32>
  %ev = tensor.empty() : tensor<24xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<24xf32>) -> tensor<24xf32>
  %mv = linalg.matvec ins(%m, %w : tensor<24x12xf32>, tensor<12xf32>) outs(%zv : tensor<24xf32>) -> tensor<24xf32>
  %e0 = tensor.empty() : tensor<f32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %d = linalg.dot ins(%mv, %mv : tensor<24xf32>, tensor<24xf32>) outs(%z0 : tensor<f32>) -> tensor<f32>
  %q = tensor.expand_shape %d [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %r_o = ktdp.construct_access_tile %vo[0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 2 >= 0, d1 >= 0, -d1 + 7 >= 0, d2 >= 0, -d2 + 11 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<3x8x12xf32> -> !ktdp.access_tile<3x8x12xindex>
  ktdp.store %r, %r_o : tensor<3x8x12xf32>, <3x8x12xindex>
  %q_o = ktdp.construct_access_tile %vp[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 0 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<1xf32> -> !ktdp.access_tile<1xindex>
  ktdp.store %q, %q_o : tensor<1xf32>, <1xindex>
  return
}
}
