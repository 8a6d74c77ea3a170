// A convolution with a stride and a maximum over windows of a picture.
module {
func.func @convolution(%x: index, %w: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [1, 13, 13, 4], strides: [676, 52, 4, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<1x13x13x4xf32>
  %vw = ktdp.construct_memory_view %w, sizes: [3, 3, 4, 5], strides: [60, 20, 5, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<3x3x4x5xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [1, 3, 3, 5], strides: [45, 15, 5, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<1x3x3x5xf32>
  %a_t = ktdp.construct_access_tile %vx[0, 0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2, d3) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 12 >= 0, d2 >= 0, -d2 + 12 >= 0, d3 >= 0, -d3 + 3 >= 0)>, access_tile_order = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>}
      : memref<1x13x13x4xf32> -> !ktdp.access_tile<1x13x13x4xindex>
  %a = ktdp.load %a_t : <1x13x13x4xindex> -> tensor<1x13x13x4xf32>
  %b_t = ktdp.construct_access_tile %vw[0, 0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2, d3) : (d0 >= 0, -d0 + 2 >= 0, d1 >= 0, -d1 + 2 >= 0, d2 >= 0, -d2 + 3 >= 0, d3 >= 0, -d3 + 4 >= 0)>, access_tile_order = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>}
      : memref<3x3x4x5xf32> -> !ktdp.access_tile<3x3x4x5xindex>
  %b = ktdp.load %b_t : <3x3x4x5xindex> -> tensor<3x3x4x5xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %e = tensor.empty() : tensor<1x6x6x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6x6x5xf32>) -> tensor<1x6x6x5xf32>
  %c = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<1x13x13x4xf32>, tensor<3x3x4x5xf32>) outs(%z : tensor<1x6x6x5xf32>) -> tensor<1x6x6x5xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %e2 = tensor.empty() : tensor<1x3x3x5xf32>
  %z2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<1x3x3x5xf32>) -> tensor<1x3x3x5xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%c, %window : tensor<1x6x6x5xf32>, tensor<2x2xf32>) outs(%z2 : tensor<1x3x3x5xf32>) -> tensor<1x3x3x5xf32>
  %r_o = ktdp.construct_access_tile %vo[0, 0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2, d3) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 2 >= 0, d2 >= 0, -d2 + 2 >= 0, d3 >= 0, -d3 + 4 >= 0)>, access_tile_order = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>}
      : memref<1x3x3x5xf32> -> !ktdp.access_tile<1x3x3x5xindex>
  ktdp.store %r, %r_o : tensor<1x3x3x5xf32>, <1x3x3x5xindex>
  return
}
}
