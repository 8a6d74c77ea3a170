// Products of bfloat16 numbers, summed in f32.
module {
func.func @bfloat16(%x: index, %y: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [16, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x32xbf16>
  %vy = ktdp.construct_memory_view %y, sizes: [16, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x32xbf16>
  %vo = ktdp.construct_memory_view %o, sizes: [16], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<16xf32>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x32xbf16> -> !ktdp.access_tile<16x32xindex>
  %a = ktdp.load %a_t : <16x32xindex> -> tensor<16x32xbf16>
  %b_t = ktdp.construct_access_tile %vy[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x32xbf16> -> !ktdp.access_tile<16x32xindex>
  %b = ktdp.load %b_t : <16x32xindex> -> tensor<16x32xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<16x32xbf16>, tensor<16x32xbf16>) outs(%z : tensor<16xf32>) {
  ^bb0(%x0: bf16, %x1: bf16, %acc: f32):
    %w0 = arith.extf %x0 : bf16 to f32
    %w1 = arith.extf %x1 : bf16 to f32
    %m = arith.mulf %w0, %w1 : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %r_o = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 15 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<16xf32> -> !ktdp.access_tile<16xindex>
  ktdp.store %r, %r_o : tensor<16xf32>, <16xindex>
  return
}
}
