// Square roots by Newton's method until no element changes by more than a bound, with
// scf.while.
module {
func.func @while_newton(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [50], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<50xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [50], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<50xf32>
  %a_t = ktdp.construct_access_tile %vx[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 49 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<50xf32> -> !ktdp.access_tile<50xindex>
  %a = ktdp.load %a_t : <50xindex> -> tensor<50xf32>
  %half = arith.constant dense<0.5> : tensor<50xf32>
  %one = arith.constant dense<1.0> : tensor<50xf32>
  %bound = arith.constant 1.0e-6 : f32
  %zero = arith.constant 0.0 : f32
  %big = arith.constant 1.0 : f32
  %r:2 = scf.while (%y = %one, %d = %big) : (tensor<50xf32>, f32) -> (tensor<50xf32>, f32) {
    %goes = arith.cmpf ogt, %d, %bound : f32
    scf.condition(%goes) %y, %d : tensor<50xf32>, f32
  } do {
  ^bb0(%y: tensor<50xf32>, %d: f32):
    %q = arith.divf %a, %y : tensor<50xf32>
    %s = arith.addf %q, %y : tensor<50xf32>
    %next = arith.mulf %s, %half : tensor<50xf32>
    %c = arith.subf %next, %y : tensor<50xf32>
    %m = math.absf %c : tensor<50xf32>
    %e = tensor.empty() : tensor<f32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %worst = linalg.reduce { arith.maximumf } ins(%m : tensor<50xf32>) outs(%z : tensor<f32>) dimensions = [0]
    %w = tensor.extract %worst[] : tensor<f32>
    scf.yield %next, %w : tensor<50xf32>, f32
  }
  %to = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 49 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<50xf32> -> !ktdp.access_tile<50xindex>
  ktdp.store %r#0, %to : tensor<50xf32>, <50xindex>
  return
}
}
