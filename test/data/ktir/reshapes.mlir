// extract, collapse, expand, reshape, pad, concat, generate, insert and from_elements on one
// small tensor.
module {
func.func @reshapes(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [2, 3, 4], strides: [12, 4, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<2x3x4xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [4, 8], strides: [8, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x8xf16>
  %a_t = ktdp.construct_access_tile %vx[0, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 2 >= 0, d2 >= 0, -d2 + 3 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<2x3x4xf16> -> !ktdp.access_tile<2x3x4xindex>
  %a = ktdp.load %a_t : <2x3x4xindex> -> tensor<2x3x4xf16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f16
  %rows = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x4xf16> into tensor<6x4xf16>
  %corner = tensor.extract %a[%c1, %c2, %c0] : tensor<2x3x4xf16>
  %shape = arith.constant dense<[4, 6]> : tensor<2xi32>
  %wide = tensor.reshape %rows(%shape) : (tensor<6x4xf16>, tensor<2xi32>) -> tensor<4x6xf16>
  %padded = tensor.pad %wide low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<4x6xf16> to tensor<4x7xf16>
  %column = tensor.generate {
  ^bb0(%i: index, %j: index):
    %n = arith.index_cast %i : index to i32
    %v = arith.sitofp %n : i32 to f16
    %w = tensor.extract %wide[%i, %j] : tensor<4x6xf16>
    %s = arith.addf %v, %w : f16
    tensor.yield %s : f16
  } : tensor<4x1xf16>
  %both = tensor.concat dim(1) %padded, %column : (tensor<4x7xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  %r0 = tensor.insert %corner into %both[%c0, %c0] : tensor<4x8xf16>
  %pair = tensor.from_elements %corner, %zero : tensor<2xf16>
  %pair2 = tensor.expand_shape %pair [[0, 1]] output_shape [2, 1] : tensor<2xf16> into tensor<2x1xf16>
  %r = tensor.insert_slice %pair2 into %r0[2, 0] [2, 1] [1, 1] : tensor<2x1xf16> into tensor<4x8xf16>
  %r_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 7 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<4x8xf16> -> !ktdp.access_tile<4x8xindex>
  ktdp.store %r, %r_o : tensor<4x8xf16>, <4x8xindex>
  return
}
}
