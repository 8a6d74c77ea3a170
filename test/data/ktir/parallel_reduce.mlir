// scf.parallel adds up the sums of blocks with scf.reduce.
module {
func.func @parallel_reduce(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [64], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<64xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [1], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<1xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%none : tensor<f32>) -> tensor<f32>
  %total = scf.parallel (%i) = (%c0) to (%c64) step (%c8) init (%zero) -> f32 {
  %a_t = ktdp.construct_access_tile %vx[%i]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 7 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<64xf32> -> !ktdp.access_tile<8xindex>
  %a = ktdp.load %a_t : <8xindex> -> tensor<8xf32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0]
    %v = tensor.extract %s[] : tensor<f32>
    scf.reduce(%v : f32) {
    ^bb0(%l: f32, %r: f32):
      %b = arith.addf %l, %r : f32
      scf.reduce.return %b : f32
    }
  }
  %t = tensor.from_elements %total : tensor<1xf32>
  %t_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 0 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<1xf32> -> !ktdp.access_tile<1xindex>
  ktdp.store %t, %t_o : tensor<1xf32>, <1xindex>
  return
}
}
