// The number of columns comes with the launch, as a multiple of 16.
module {
func.func @runtime_arg(%x: index, %o: index, %n: !ktdp.runtime_arg<index, granularity=16, upperbound=128>) attributes {grid = [1]} {
  %count = ktdp.runtime_arg_extract value from %n : <index, granularity=16, upperbound=128> -> index
  %unit = ktdp.runtime_arg_extract granularity from %n : <index, granularity=16, upperbound=128> -> index
  %c0 = arith.constant 0 : index
  %vx = ktdp.construct_memory_view %x, sizes: [128], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<128xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [128], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<128xf16>
  scf.for %i = %c0 to %count step %unit {
  %a_t = ktdp.construct_access_tile %vx[%i]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 15 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<128xf16> -> !ktdp.access_tile<16xindex>
  %a = ktdp.load %a_t : <16xindex> -> tensor<16xf16>
    %s = arith.mulf %a, %a : tensor<16xf16>
  %s_o = ktdp.construct_access_tile %vo[%i]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 15 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<128xf16> -> !ktdp.access_tile<16xindex>
  ktdp.store %s, %s_o : tensor<16xf16>, <16xindex>
  }
  return
}
}
