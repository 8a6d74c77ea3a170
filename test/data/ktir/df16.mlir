// The device's own float as a type of its own: copied, added and compared in spyreop, from
// the bits of 16-bit integers.
#same = affine_map<(d0) -> (d0)>
module {
func.func @df16(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x!spyreop.df16>
  %vo = ktdp.construct_memory_view %o, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x!spyreop.df16>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64x!spyreop.df16> -> !ktdp.access_tile<64xindex>
  %a = ktdp.load %a_t : <64xindex> -> tensor<64x!spyreop.df16>
  %e = tensor.empty() : tensor<64x!spyreop.df16>
  %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : tensor<64x!spyreop.df16>) outs(%e : tensor<64x!spyreop.df16>) {
  ^bb0(%x0: !spyreop.df16, %x1: !spyreop.df16):
    %q = spyreop.reciprocal %x0 : !spyreop.df16
    %m = spyreop.compare <lesserthan> %x0, %q : !spyreop.df16
    %s = spyreop.select %m, %q, %x0 : !spyreop.df16
    linalg.yield %s : !spyreop.df16
  } -> tensor<64x!spyreop.df16>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 63 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64x!spyreop.df16> -> !ktdp.access_tile<64xindex>
  ktdp.store %r, %r_o : tensor<64x!spyreop.df16>, <64xindex>
  return
}
}
