// Even compute tiles double their part, odd ones negate it; the branch gives a value.
module {
func.func @if_else(%x: index, %o: index) attributes {grid = [4]} {
  %id = ktdp.get_compute_tile_id : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %vx = ktdp.construct_memory_view %x, sizes: [128], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<128xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [128], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<128xf16>
  %a_t = ktdp.construct_access_tile %vx[%id * 32]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 31 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<128xf16> -> !ktdp.access_tile<32xindex>
  %a = ktdp.load %a_t : <32xindex> -> tensor<32xf16>
  %odd = arith.remui %id, %two : index
  %isEven = arith.cmpi eq, %odd, %zero : index
  %r = scf.if %isEven -> (tensor<32xf16>) {
    %d = arith.addf %a, %a : tensor<32xf16>
    scf.yield %d : tensor<32xf16>
  } else {
    %n = arith.negf %a : tensor<32xf16>
    scf.yield %n : tensor<32xf16>
  }
  %r_o = ktdp.construct_access_tile %vo[%id * 32]
      {access_tile_set = affine_set<(d0) : (d0 >= 0, -d0 + 31 >= 0)>, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<128xf16> -> !ktdp.access_tile<32xindex>
  ktdp.store %r, %r_o : tensor<32xf16>, <32xindex>
  return
}
}
