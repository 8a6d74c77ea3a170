// Addresses stand in the kernel, in elements; arrays say where they lie.
module {
func.func @baked_addresses() attributes {grid = [2]} {
  %x = arith.constant 1024 : index
  %o = arith.constant 12288 : index
  %vx = ktdp.construct_memory_view %x, sizes: [96, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<96x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [96, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<96x64xf16>
  %id = ktdp.get_compute_tile_id : index
  %a_t = ktdp.construct_access_tile %vx[%id * 48, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 47 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<96x64xf16> -> !ktdp.access_tile<48x64xindex>
  %a = ktdp.load %a_t : <48x64xindex> -> tensor<48x64xf16>
  %s = arith.addf %a, %a : tensor<48x64xf16>
  %s_o = ktdp.construct_access_tile %vo[%id * 48, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 47 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<96x64xf16> -> !ktdp.access_tile<48x64xindex>
  ktdp.store %s, %s_o : tensor<48x64xf16>, <48x64xindex>
  return
}
}
