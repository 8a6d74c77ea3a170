// A kernel calls a function twice, which has a loop of its own.
module {
func.func @calls(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [32], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<32xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [32], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<32xf32>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 31 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<32xf32> -> !ktdp.access_tile<32xindex>
  %a = ktdp.load %a_t : <32xindex> -> tensor<32xf32>
  %y = func.call @fourth(%a) : (tensor<32xf32>) -> tensor<32xf32>
  %z = func.call @fourth(%y) : (tensor<32xf32>) -> tensor<32xf32>
  %r = arith.addf %y, %z : tensor<32xf32>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 31 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<32xf32> -> !ktdp.access_tile<32xindex>
  ktdp.store %r, %r_o : tensor<32xf32>, <32xindex>
  return
}
func.func private @fourth(%x: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%y = %x) -> (tensor<32xf32>) {
    %s = arith.mulf %y, %y : tensor<32xf32>
    scf.yield %s : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}
}
