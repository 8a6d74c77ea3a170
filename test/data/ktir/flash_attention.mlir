// Causal attention of 32 queries over 64 keys, 16 keys at a time: the largest score, the sum
// and the result are carried by the loop and rescaled.
module {
func.func @flash_attention(%q: index, %keys: index, %v: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %scale = arith.constant 0.125 : f32
  %vq = ktdp.construct_memory_view %q, sizes: [64, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x64xf16>
  %vk = ktdp.construct_memory_view %keys, sizes: [64, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x64xf16>
  %vv = ktdp.construct_memory_view %v, sizes: [64, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [64, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<64x64xf16>
  %q0_t = ktdp.construct_access_tile %vq[%id * 32, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x64xf16> -> !ktdp.access_tile<32x64xindex>
  %q0 = ktdp.load %q0_t : <32x64xindex> -> tensor<32x64xf16>
  %ev = tensor.empty() : tensor<32xf32>
  %em = tensor.empty() : tensor<32x64xf32>
  %es = tensor.empty() : tensor<32x16xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%ev : tensor<32xf32>) -> tensor<32xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%ev : tensor<32xf32>) -> tensor<32xf32>
  %a0 = linalg.fill ins(%zero : f32) outs(%em : tensor<32x64xf32>) -> tensor<32x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x16xf32>) -> tensor<32x16xf32>
  %c32 = arith.constant 32 : index
  %first = arith.muli %id, %c32 : index
  %end = arith.addi %first, %c32 : index
  %r:3 = scf.for %k = %c0 to %end step %c16 iter_args(%m = %m0, %l = %l0, %acc = %a0) -> (tensor<32xf32>, tensor<32xf32>, tensor<32x64xf32>) {
  %k0_t = ktdp.construct_access_tile %vk[%k, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x64xf16> -> !ktdp.access_tile<16x64xindex>
  %k0 = ktdp.load %k0_t : <16x64xindex> -> tensor<16x64xf16>
  %v0_t = ktdp.construct_access_tile %vv[%k, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x64xf16> -> !ktdp.access_tile<16x64xindex>
  %v0 = ktdp.load %v0_t : <16x64xindex> -> tensor<16x64xf16>
    %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%q0, %k0 : tensor<32x64xf16>, tensor<16x64xf16>) outs(%zs : tensor<32x16xf32>) -> tensor<32x16xf32>
    %masked = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<32x16xf32>) outs(%es : tensor<32x16xf32>) {
    ^bb0(%x0: f32, %old: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %row = arith.addi %i, %first : index
      %col = arith.addi %j, %k : index
      %sees = arith.cmpi ule, %col, %row : index
      %y = arith.mulf %x0, %scale : f32
      %z = arith.select %sees, %y, %low : f32
      linalg.yield %z : f32
    } -> tensor<32x16xf32>
    %nm = linalg.reduce { arith.maximumf } ins(%masked : tensor<32x16xf32>) outs(%m : tensor<32xf32>) dimensions = [1]
    %diff = arith.subf %m, %nm : tensor<32xf32>
    %shrink = math.exp %diff : tensor<32xf32>
    %nmb = linalg.broadcast ins(%nm : tensor<32xf32>) outs(%es : tensor<32x16xf32>) dimensions = [1]
    %d = arith.subf %masked, %nmb : tensor<32x16xf32>
    %p = math.exp %d : tensor<32x16xf32>
    %ls = arith.mulf %l, %shrink : tensor<32xf32>
    %nl = linalg.reduce { arith.addf } ins(%p : tensor<32x16xf32>) outs(%ls : tensor<32xf32>) dimensions = [1]
    %sb = linalg.broadcast ins(%shrink : tensor<32xf32>) outs(%em : tensor<32x64xf32>) dimensions = [1]
    %as = arith.mulf %acc, %sb : tensor<32x64xf32>
    %p16 = arith.truncf %p : tensor<32x16xf32> to tensor<32x16xf16>
    %na = linalg.matmul ins(%p16, %v0 : tensor<32x16xf16>, tensor<16x64xf16>) outs(%as : tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %nm, %nl, %na : tensor<32xf32>, tensor<32xf32>, tensor<32x64xf32>
  }
  %lb = linalg.broadcast ins(%r#1 : tensor<32xf32>) outs(%em : tensor<32x64xf32>) dimensions = [1]
  %o32 = arith.divf %r#2, %lb : tensor<32x64xf32>
  %o16 = arith.truncf %o32 : tensor<32x64xf32> to tensor<32x64xf16>
  %o16_o = ktdp.construct_access_tile %vo[%id * 32, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<64x64xf16> -> !ktdp.access_tile<32x64xindex>
  ktdp.store %o16, %o16_o : tensor<32x64xf16>, <32x64xindex>
  return
}
}
