// Rows and columns are arguments; the tile, the reduction and the result have open sizes.
module {
func.func @dynamic_rows(%x: index, %o: index, %m: index, %n: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [%m, %n], strides: [%n, 1]
      {coordinate_set = affine_set<(d0, d1)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + s1 - 1 >= 0)>, memory_space = #ktdp.memory_space<global>} : memref<?x?xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [%m], strides: [1] {memory_space = #ktdp.memory_space<global>} : memref<?xf32>
  %tx = ktdp.construct_access_tile %vx[0, 0] symbols(%m, %n)
      {access_tile_set = affine_set<(d0, d1)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + s1 - 1 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<?x?xf16> -> !ktdp.access_tile<?x?xindex>
  %a = ktdp.load %tx : <?x?xindex> -> tensor<?x?xf16>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%rows) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %w = arith.extf %a : tensor<?x?xf16> to tensor<?x?xf32>
  %s = linalg.reduce { arith.addf } ins(%w : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %to = ktdp.construct_access_tile %vo[0] symbols(%rows)
      {access_tile_set = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<?xf32> -> !ktdp.access_tile<?xindex>
  ktdp.store %s, %to : tensor<?xf32>, <?xindex>
  return
}
}
