// Rows that an index picks from a view of two parts, in device memory and in the scratchpad
// of the tile's neighbour.
module {
func.func @indirect_distributed(%x: index, %i: index, %o: index) attributes {grid = [2]} {
  %at = arith.constant 128 : index
  %p0 = ktdp.construct_memory_view %x, sizes: [20, 32], strides: [32, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 0 >= 0, -d0 + 19 >= 0, d1 - 0 >= 0, -d1 + 31 >= 0)>, memory_space = #ktdp.memory_space<global>} : memref<20x32xf16>
  %p1 = ktdp.construct_memory_view %at, sizes: [12, 32], strides: [32, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 20 >= 0, -d0 + 31 >= 0, d1 - 0 >= 0, -d1 + 31 >= 0)>, memory_space = #ktdp.memory_space<ct_local, ct_id = 1>} : memref<12x32xf16>
  %v = ktdp.construct_distributed_memory_view (%p0, %p1 : memref<20x32xf16>, memref<12x32xf16>) : memref<32x32xf16>
  %id = ktdp.get_compute_tile_id : index
  %vi = ktdp.construct_memory_view %i, sizes: [24], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<24xi32>
  %vo = ktdp.construct_memory_view %o, sizes: [24, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<24x32xf16>
  %t = ktdp.construct_indirect_access_tile intermediate_variables(%r, %c)
      %v[ind(%vi[%r + %id * 12]), (%c)]
      {variables_space_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 11 >= 0, d1 >= 0, -d1 + 31 >= 0)>, variables_space_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x32xf16>, memref<24xi32> -> !ktdp.access_tile<12x32xindex>
  %a = ktdp.load %t : <12x32xindex> -> tensor<12x32xf16>
  %a_o = ktdp.construct_access_tile %vo[%id * 12, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 11 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<24x32xf16> -> !ktdp.access_tile<12x32xindex>
  ktdp.store %a, %a_o : tensor<12x32xf16>, <12x32xindex>
  return
}
}
