// A view of three parts, one in device memory and one in the scratchpad of each of two
// compute tiles, is copied to device memory.
module {
func.func @distributed_copy(%x: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %at = arith.constant 0 : index
  %p0 = ktdp.construct_memory_view %x, sizes: [16, 64], strides: [64, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 0 >= 0, -d0 + 15 >= 0, d1 - 0 >= 0, -d1 + 63 >= 0)>, memory_space = #ktdp.memory_space<global>} : memref<16x64xf16>
  %p1 = ktdp.construct_memory_view %at, sizes: [8, 64], strides: [64, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 16 >= 0, -d0 + 23 >= 0, d1 - 0 >= 0, -d1 + 63 >= 0)>, memory_space = #ktdp.memory_space<ct_local, ct_id = 0>} : memref<8x64xf16>
  %p2 = ktdp.construct_memory_view %at, sizes: [8, 64], strides: [64, 1]
      {coordinate_set = affine_set<(d0, d1) : (d0 - 24 >= 0, -d0 + 31 >= 0, d1 - 0 >= 0, -d1 + 63 >= 0)>, memory_space = #ktdp.memory_space<ct_local, ct_id = 1>} : memref<8x64xf16>
  %v = ktdp.construct_distributed_memory_view (%p0, %p1, %p2 : memref<16x64xf16>, memref<8x64xf16>, memref<8x64xf16>) : memref<32x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [32, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
  %a_t = ktdp.construct_access_tile %v[%id * 16, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x64xf16> -> !ktdp.access_tile<16x64xindex>
  %a = ktdp.load %a_t : <16x64xindex> -> tensor<16x64xf16>
  %a_o = ktdp.construct_access_tile %vo[%id * 16, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<32x64xf16> -> !ktdp.access_tile<16x64xindex>
  ktdp.store %a, %a_o : tensor<16x64xf16>, <16x64xindex>
  return
}
}
