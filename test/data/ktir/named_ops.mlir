// linalg.mul, sub, div, exp, abs, negf, square, max, min and map.
module {
func.func @named_ops(%x: index, %y: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [9, 33], strides: [33, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<9x33xf32>
  %vy = ktdp.construct_memory_view %y, sizes: [9, 33], strides: [33, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<9x33xf32>
  %vo = ktdp.construct_memory_view %o, sizes: [9, 33], strides: [33, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<9x33xf32>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 8 >= 0, d1 >= 0, -d1 + 32 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<9x33xf32> -> !ktdp.access_tile<9x33xindex>
  %a = ktdp.load %a_t : <9x33xindex> -> tensor<9x33xf32>
  %b_t = ktdp.construct_access_tile %vy[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 8 >= 0, d1 >= 0, -d1 + 32 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<9x33xf32> -> !ktdp.access_tile<9x33xindex>
  %b = ktdp.load %b_t : <9x33xindex> -> tensor<9x33xf32>
  %e = tensor.empty() : tensor<9x33xf32>
  %m = linalg.mul ins(%a, %b : tensor<9x33xf32>, tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %s = linalg.sub ins(%m, %b : tensor<9x33xf32>, tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %q = linalg.abs ins(%s : tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %n = linalg.negf ins(%q : tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %x1 = linalg.exp ins(%n : tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %d = linalg.div ins(%x1, %a : tensor<9x33xf32>, tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %sq = linalg.square ins(%b : tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %mx = linalg.max ins(%d, %sq : tensor<9x33xf32>, tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %mn = linalg.min ins(%mx, %a : tensor<9x33xf32>, tensor<9x33xf32>) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
  %r = linalg.map ins(%mn, %b : tensor<9x33xf32>, tensor<9x33xf32>) outs(%e : tensor<9x33xf32>)
      (%l: f32, %k: f32, %old: f32) {
        %t = arith.addf %l, %k : f32
        linalg.yield %t : f32
      }
  %r_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 8 >= 0, d1 >= 0, -d1 + 32 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<9x33xf32> -> !ktdp.access_tile<9x33xindex>
  ktdp.store %r, %r_o : tensor<9x33xf32>, <9x33xindex>
  return
}
}
