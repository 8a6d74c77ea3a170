// Keys of eight tokens go to the slots that a 64-bit mapping names; a slot below zero is
// skipped. Slots are read as tensors and become subscripts.
module {
func.func @reshape_and_cache(%x: index, %m: index, %o: index) attributes {grid = [2]} {
  %id = ktdp.get_compute_tile_id : index
  %c8 = arith.constant 8 : index
  %c2 = arith.constant 2 : index
  %page = arith.constant 16 : i64
  %zero = arith.constant 0 : i64
  %vx = ktdp.construct_memory_view %x, sizes: [8, 32], strides: [32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<8x32xf16>
  %vm = ktdp.construct_memory_view %m, sizes: [8], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<8xi64>
  %vo = ktdp.construct_memory_view %o, sizes: [4, 16, 32], strides: [512, 32, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<4x16x32xf16>
  scf.for %t = %id to %c8 step %c2 {
  %slot_t = ktdp.construct_access_tile %vm[%t]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 0 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<8xi64> -> !ktdp.access_tile<1xindex>
  %slot = ktdp.load %slot_t : <1xindex> -> tensor<1xi64>
    %c0 = arith.constant 0 : index
    %number = tensor.extract %slot[%c0] : tensor<1xi64>
    %isReal = arith.cmpi sge, %number, %zero : i64
    scf.if %isReal {
      %block64 = arith.divsi %number, %page : i64
      %row64 = arith.remsi %number, %page : i64
      %block = arith.index_cast %block64 : i64 to index
      %row = arith.index_cast %row64 : i64 to index
  %a_t = ktdp.construct_access_tile %vx[%t, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<8x32xf16> -> !ktdp.access_tile<1x32xindex>
  %a = ktdp.load %a_t : <1x32xindex> -> tensor<1x32xf16>
      %w = tensor.expand_shape %a [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf16> into tensor<1x1x32xf16>
  %w_o = ktdp.construct_access_tile %vo[%block, %row, 0]
      {access_tile_set = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 0 >= 0, d1 >= 0, -d1 + 0 >= 0, d2 >= 0, -d2 + 31 >= 0)>, access_tile_order = affine_map<(d0, d1, d2) -> (d0, d1, d2)>}
      : memref<4x16x32xf16> -> !ktdp.access_tile<1x1x32xindex>
  ktdp.store %w, %w_o : tensor<1x1x32xf16>, <1x1x32xindex>
    }
  }
  return
}
}
