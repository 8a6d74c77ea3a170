// Numbers of several types as arguments; one of them nothing reads.
module {
func.func @scalar_arguments(%x: index, %o: index, %scale: f32, %shift: i32, %unused: i32) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [20], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<20xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [20], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<20xf32>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 19 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<20xf32> -> !ktdp.access_tile<20xindex>
  %a = ktdp.load %a_t : <20xindex> -> tensor<20xf32>
  %s = tensor.splat %scale : tensor<20xf32>
  %m = arith.mulf %a, %s : tensor<20xf32>
  %f = arith.sitofp %shift : i32 to f32
  %t = tensor.splat %f : tensor<20xf32>
  %r = arith.addf %m, %t : tensor<20xf32>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 19 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<20xf32> -> !ktdp.access_tile<20xindex>
  ktdp.store %r, %r_o : tensor<20xf32>, <20xindex>
  return
}
}
