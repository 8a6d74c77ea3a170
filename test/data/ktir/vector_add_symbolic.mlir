// Sum of two vectors of a length that is an argument; blocks go round the compute tiles, and
// the last block is shorter.
#some = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>
#same = affine_map<(d0) -> (d0)>
module {
func.func @vector_add_symbolic(%x: index, %y: index, %o: index, %n: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %block = arith.constant 128 : index
  %tiles = arith.constant 4 : index
  %vx = ktdp.construct_memory_view %x, sizes: [%n], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<?xf16>
  %vy = ktdp.construct_memory_view %y, sizes: [%n], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<?xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [%n], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<?xf16>
  %first = arith.muli %id, %block : index
  %step = arith.muli %tiles, %block : index
  scf.for %at = %first to %n step %step {
    %left = arith.subi %n, %at : index
    %count = arith.minsi %left, %block : index
    %tx = ktdp.construct_access_tile %vx[%at] symbols(%count) {access_tile_set = #some, access_tile_order = #same}
        : memref<?xf16> -> !ktdp.access_tile<?xindex>
    %ty = ktdp.construct_access_tile %vy[%at] symbols(%count) {access_tile_set = #some, access_tile_order = #same}
        : memref<?xf16> -> !ktdp.access_tile<?xindex>
    %to = ktdp.construct_access_tile %vo[%at] symbols(%count) {access_tile_set = #some, access_tile_order = #same}
        : memref<?xf16> -> !ktdp.access_tile<?xindex>
    %a = ktdp.load %tx : <?xindex> -> tensor<?xf16>
    %b = ktdp.load %ty : <?xindex> -> tensor<?xf16>
    %s = arith.addf %a, %b : tensor<?xf16>
    ktdp.store %s, %to : tensor<?xf16>, <?xindex>
  }
  return
}
}
