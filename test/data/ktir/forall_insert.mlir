// Rows are turned around with scf.forall, each iteration putting its row into the whole.
module {
func.func @forall_insert(%x: index, %o: index) attributes {grid = [1]} {
  %vx = ktdp.construct_memory_view %x, sizes: [10, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<10x16xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [10, 16], strides: [16, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<10x16xf16>
  %a_t = ktdp.construct_access_tile %vx[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 9 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<10x16xf16> -> !ktdp.access_tile<10x16xindex>
  %a = ktdp.load %a_t : <10x16xindex> -> tensor<10x16xf16>
  %nine = arith.constant 9 : index
  %e = tensor.empty() : tensor<10x16xf16>
  %r = scf.forall (%i) in (10) shared_outs(%all = %e) -> (tensor<10x16xf16>) {
    %from = arith.subi %nine, %i : index
    %row = tensor.extract_slice %a[%from, 0] [1, 16] [1, 1] : tensor<10x16xf16> to tensor<1x16xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %all[%i, 0] [1, 16] [1, 1] : tensor<1x16xf16> into tensor<10x16xf16>
    }
  }
  %r_o = ktdp.construct_access_tile %vo[0, 0]
      {access_tile_set = affine_set<(d0, d1) : (d0 >= 0, -d0 + 9 >= 0, d1 >= 0, -d1 + 15 >= 0)>, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<10x16xf16> -> !ktdp.access_tile<10x16xindex>
  ktdp.store %r, %r_o : tensor<10x16xf16>, <10x16xindex>
  return
}
}
