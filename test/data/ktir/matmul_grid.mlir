// A matrix product on a grid of 2 x 4 compute tiles; each walks along K and keeps its sum in
// f32.
module {
func.func @matmul_grid(%x: index, %y: index, %o: index) attributes {grid = [2, 4]} {
  %id:2 = ktdp.get_compute_tile_id : index, index
  %k0 = arith.constant 0 : index
  %k1 = arith.constant 256 : index
  %ks = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %vx = ktdp.construct_memory_view %x, sizes: [64, 256], strides: [256, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x256xf16>
  %vy = ktdp.construct_memory_view %y, sizes: [256, 128], strides: [128, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<256x128xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [64, 128], strides: [128, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x128xf16>
  %e = tensor.empty() : tensor<32x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %sum = scf.for %k = %k0 to %k1 step %ks iter_args(%acc = %z) -> (tensor<32x32xf32>) {
  %a_t = ktdp.construct_access_tile %vx[%id#0 * 32, %k]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x256xf16> -> !ktdp.access_tile<32x64xindex>
  %a = ktdp.load %a_t : <32x64xindex> -> tensor<32x64xf16>
  %b_t = ktdp.construct_access_tile %vy[%k, %id#1 * 32]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<256x128xf16> -> !ktdp.access_tile<64x32xindex>
  %b = ktdp.load %b_t : <64x32xindex> -> tensor<64x32xf16>
    %next = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x32xf16>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  %s = arith.truncf %sum : tensor<32x32xf32> to tensor<32x32xf16>
  %s_o = ktdp.construct_access_tile %vo[%id#0 * 32, %id#1 * 32]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x128xf16> -> !ktdp.access_tile<32x32xindex>
  ktdp.store %s, %s_o : tensor<32x32xf16>, <32x32xindex>
  return
}
}
