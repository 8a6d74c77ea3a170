// realdiv, compare, select and constant of spyreop.
#same = affine_map<(d0) -> (d0)>
module {
func.func @intrinsics_binary(%x: index, %y: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %vy = ktdp.construct_memory_view %y, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf16>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %a = ktdp.load %a_t : <64xindex> -> tensor<64xf16>
  %b_t = ktdp.construct_access_tile %vy[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  %b = ktdp.load %b_t : <64xindex> -> tensor<64xf16>
  %e = tensor.empty() : tensor<64xf16>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%a, %b : tensor<64xf16>, tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x0: f16, %x1: f16, %x2: f16):
    %c = spyreop.constant 2.5 : f16
    %q = spyreop.realdiv %x0, %x1 : f16
    %m = spyreop.compare <greaterthan> %x0, %x1 : f16
    %s = spyreop.select %m, %q, %c : f16
    linalg.yield %s : f16
  } -> tensor<64xf16>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf16> -> !ktdp.access_tile<64xindex>
  ktdp.store %r, %r_o : tensor<64xf16>, <64xindex>
  return
}
}
