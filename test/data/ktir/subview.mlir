// A memref.subview with steps of two rows, cast to open sizes, is copied.
#some = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 9 >= 0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
module {
func.func @subview(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [16, 24], strides: [24, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x24xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [6, 10], strides: [10, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<6x10xf16>
  %c0 = arith.constant 0 : index
  %sub = memref.subview %vx[3, 5] [6, 10] [2, 1] : memref<16x24xf16> to memref<6x10xf16, strided<[48, 1], offset: 77>>
  %open = memref.cast %sub : memref<6x10xf16, strided<[48, 1], offset: 77>> to memref<?x10xf16, strided<[48, 1], offset: 77>>
  %n = memref.dim %open, %c0 : memref<?x10xf16, strided<[48, 1], offset: 77>>
  %tx = ktdp.construct_access_tile %open[0, 0] symbols(%n) {access_tile_set = #some, access_tile_order = #same}
      : memref<?x10xf16, strided<[48, 1], offset: 77>> -> !ktdp.access_tile<?x10xindex>
  %a = ktdp.load %tx : <?x10xindex> -> tensor<?x10xf16>
  %b = tensor.cast %a : tensor<?x10xf16> to tensor<6x10xf16>
  %b_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 5 >= 0, d1 >= 0, -d1 + 9 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<6x10xf16> -> !ktdp.access_tile<6x10xindex>
  ktdp.store %b, %b_o : tensor<6x10xf16>, <6x10xindex>
  return
}
}
