// Each of four experts gathers the tokens that are listed for it, multiplies them by its
// matrix, and writes them back to their places; lists differ in length.
#some = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 31 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
module {
func.func @moe_dispatch(%x: index, %w: index, %list: index, %count: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %vx = ktdp.construct_memory_view %x, sizes: [16, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x32xf16>
  %vw = ktdp.construct_memory_view %w, sizes: [4, 32, 32], strides: [1024, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x32x32xf16>
  %vl = ktdp.construct_memory_view %list, sizes: [4, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x16xi32>
  %vc = ktdp.construct_memory_view %count, sizes: [4], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<4xi32>
  %vo = ktdp.construct_memory_view %o, sizes: [16, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x32xf16>
  %n1_t = ktdp.construct_access_tile %vc[%id]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 0 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<4xi32> -> !ktdp.access_tile<1xindex>
  %n1 = ktdp.load %n1_t : <1xindex> -> tensor<1xi32>
  %n32 = tensor.extract %n1[%c0] : tensor<1xi32>
  %n = arith.index_cast %n32 : i32 to index
  %w3_t = ktdp.construct_access_tile %vw[%id, 0, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0, d2 >= 0, -d2 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<4x32x32xf16> -> !ktdp.access_tile<1x32x32xindex>
  %w3 = ktdp.load %w3_t : <1x32x32xindex> -> tensor<1x32x32xf16>
  %w2 = tensor.collapse_shape %w3 [[0, 1], [2]] : tensor<1x32x32xf16> into tensor<32x32xf16>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%r, %c)
      %vx[ind(%vl[%id, %r]), (%c)] symbols(%n) {variables_space_set = #some, variables_space_order = #same}
      : memref<16x32xf16>, memref<4x16xi32> -> !ktdp.access_tile<?x32xindex>
  %a = ktdp.load %t : <?x32xindex> -> tensor<?x32xf16>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y32 = linalg.matmul ins(%a, %w2 : tensor<?x32xf16>, tensor<32x32xf16>) outs(%z : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = arith.truncf %y32 : tensor<?x32xf32> to tensor<?x32xf16>
  %to = ktdp.construct_indirect_access_tile intermediate_variables(%r, %c)
      %vo[ind(%vl[%id, %r]), (%c)] symbols(%n) {variables_space_set = #some, variables_space_order = #same}
      : memref<16x32xf16>, memref<4x16xi32> -> !ktdp.access_tile<?x32xindex>
  ktdp.store %y, %to : tensor<?x32xf16>, <?x32xindex>
  return
}
}
