// Scalar arithmetic in f32: small differences and large products survive.
module {
func.func @scalar_f32(%o: index) attributes {grid = [1]} {
  %vo = ktdp.construct_memory_view %o, sizes: [3], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<3xf32>
  %one = arith.constant 1.0 : f32
  %small = arith.constant 1.0e-4 : f32
  %big = arith.constant 1.0e5 : f32
  %ten = arith.constant 10.0 : f32
  %a = arith.addf %one, %small : f32
  %b = arith.mulf %big, %ten : f32
  %minus = arith.constant -7.0 : f32
  %three = arith.constant 3.0 : f32
  %c = arith.remf %minus, %three : f32
  %r = tensor.from_elements %a, %b, %c : tensor<3xf32>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 2 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<3xf32> -> !ktdp.access_tile<3xindex>
  ktdp.store %r, %r_o : tensor<3xf32>, <3xindex>
  return
}
}
