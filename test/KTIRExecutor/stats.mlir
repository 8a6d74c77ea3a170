// Counters: elements' bytes, and sticks, of which a column of one element a row touches one each.

// RUN: spyre-run %s -i 16x64@fp16 -o 16@fp16 --stats=%t.json
// RUN: FileCheck %s < %t.json
// CHECK-DAG: "hbm_read_bytes_counted": 32,
// CHECK-DAG: "hbm_read_sticks": 16,
// CHECK-DAG: "hbm_write_bytes_counted": 32,
// CHECK-DAG: "hbm_write_sticks": 1,
// CHECK-DAG: "exchanged_bytes": 0,
// CHECK-DAG: "lx_bytes_peak": 32,

#column = affine_set<(d0, d1) : (d0 >= 0, -d0 + 15 >= 0, d1 == 0)>
#all = affine_set<(d0) : (d0 >= 0, -d0 + 15 >= 0)>
func.func @kernel(%x: index, %o: index) {
  %vx = ktdp.construct_memory_view %x, sizes: [16, 64], strides: [64, 1]
      {memory_space = #ktdp.memory_space<global>} : memref<16x64xf16>
  %vo = ktdp.construct_memory_view %o, sizes: [16], strides: [1]
      {memory_space = #ktdp.memory_space<global>} : memref<16xf16>
  %tx = ktdp.construct_access_tile %vx[0, 3] {access_tile_set = #column, access_tile_order = affine_map<(d0, d1) -> (d0, d1)>}
      : memref<16x64xf16> -> !ktdp.access_tile<16x1xindex>
  %a = ktdp.load %tx : <16x1xindex> -> tensor<16x1xf16>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<16x1xf16> into tensor<16xf16>
  %to = ktdp.construct_access_tile %vo[0] {access_tile_set = #all, access_tile_order = affine_map<(d0) -> (d0)>}
      : memref<16xf16> -> !ktdp.access_tile<16xindex>
  ktdp.store %b, %to : tensor<16xf16>, <16xindex>
  return
}
