// A number of rank 0 is loaded and multiplies a vector.
module {
func.func @rank0_broadcast(%x: index, %s: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [130], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<130xf16>
  %vs = ktdp.construct_memory_view %s, sizes: [], strides: []
      {memory_space = #ktdp.memory_space<global>} : memref<f16>
  %vo = ktdp.construct_memory_view %o, sizes: [130], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<130xf16>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 129 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<130xf16> -> !ktdp.access_tile<130xindex>
  %a = ktdp.load %a_t : <130xindex> -> tensor<130xf16>
  %st = ktdp.construct_access_tile %vs[] {access_tile_set = affine_set<() : ()>, access_tile_order = affine_map<() -> ()>}
      : memref<f16> -> !ktdp.access_tile<index>
  %s0 = ktdp.load %st : <index> -> tensor<f16>
  %e = tensor.empty() : tensor<130xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> ()>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      ins(%a, %s0 : tensor<130xf16>, tensor<f16>) outs(%e : tensor<130xf16>) {
  ^bb0(%x0: f16, %x1: f16, %x2: f16):
    %m = arith.mulf %x0, %x1 : f16
    linalg.yield %m : f16
  } -> tensor<130xf16>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 129 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<130xf16> -> !ktdp.access_tile<130xindex>
  ktdp.store %r, %r_o : tensor<130xf16>, <130xindex>
  return
}
}
