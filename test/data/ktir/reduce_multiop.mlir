// One linalg.generic with two results: the sum of squares in f32, and where the largest
// magnitude stands.
module {
func.func @reduce_multiop(%x: index, %o: index, %p: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [6, 77], strides: [77, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<6x77xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [6], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<6xf32>
  %vp = ktdp.construct_memory_view %p, sizes: [6], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<6xi32>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 5 >= 0, d1 >= 0, -d1 + 76 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<6x77xf16> -> !ktdp.access_tile<6x77xindex>
  %a = ktdp.load %a_t : <6x77xindex> -> tensor<6x77xf16>
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %none = arith.constant dense<-1.0> : tensor<6xf16>
  %where = arith.constant dense<0> : tensor<6xi32>
  %r:3 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<6x77xf16>) outs(%zero, %none, %where : tensor<6xf32>, tensor<6xf16>, tensor<6xi32>) {
  ^bb0(%x0: f16, %sum: f32, %best: f16, %place: i32):
    %wide = arith.extf %x0 : f16 to f32
    %square = arith.mulf %wide, %wide : f32
    %next = arith.addf %sum, %square : f32
    %size = math.absf %x0 : f16
    %isMore = arith.cmpf ogt, %size, %best : f16
    %n = linalg.index 1 : index
    %n32 = arith.index_cast %n : index to i32
    %newBest = arith.select %isMore, %size, %best : f16
    %newPlace = arith.select %isMore, %n32, %place : i32
    linalg.yield %next, %newBest, %newPlace : f32, f16, i32
  } -> (tensor<6xf32>, tensor<6xf16>, tensor<6xi32>)
  %s = tensor.cast %r#0 : tensor<6xf32> to tensor<6xf32>
  %to = ktdp.construct_access_tile %vo[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 5 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<6xf32> -> !ktdp.access_tile<6xindex>
  ktdp.store %r#0, %to : tensor<6xf32>, <6xindex>
  %tp = ktdp.construct_access_tile %vp[0]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 5 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<6xi32> -> !ktdp.access_tile<6xindex>
  ktdp.store %r#2, %tp : tensor<6xi32>, <6xindex>
  return
}
}
