// RUN: spyre-opt %s | FileCheck %s
// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --verify-roundtrip -o /dev/null
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s

#vs = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 7 >= 0)>
#rows = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 7 >= 0)>
#none = affine_set<() : ()>
#nothing = affine_map<() -> ()>
#same = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @indirect
func.func @indirect(%x: memref<100x64x16xf16>, %i: memref<4x8xi32>, %j: memref<8xindex>, %n: index) attributes {grid = [2, 2]} {
  // CHECK: %[[G:.*]]:2 = ktdp.get_compute_tile_id
  %g:2 = ktdp.get_compute_tile_id : index, index
  // Two results of one operation are two values, also in what was printed.
  // CHECK: ktdp.construct_indirect_access_tile intermediate_variables(%[[A:.*]], %[[B:.*]]) %arg0[ind(%arg1[%[[A]], %[[B]]]), (%[[G]]#0 + %[[B]] mod 64), (%[[G]]#1 * 2)] {{.*}} : memref<100x64x16xf16>, memref<4x8xi32> -> !ktdp.access_tile<4x8xindex>
  %0 = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b)
      %x[ind(%i[%a, %b]), (%b mod 64 + %g#0), (%g#1 * 2)]
      {variables_space_set = #vs, variables_space_order = #same}
      : memref<100x64x16xf16>, memref<4x8xi32> -> !ktdp.access_tile<4x8xindex>
  // Several index views, symbols, another order; earlier spellings.
  // CHECK: intermediate_variables(%[[C:.*]], %[[D:.*]]) %arg0[ind(%arg1[%[[C]], %[[D]] floordiv 8]), (%[[D]] - 1), ind(%arg2[%arg3 + %[[C]]])] symbols(%arg3) {{.*}} : memref<100x64x16xf16>, memref<4x8xi32>, memref<8xindex> -> !ktdp.access_tile<8x?xindex>
  %1 = ktdp.construct_indirect_access_tile intermediate_variables(%a, %b)
      %x[%i[%a, %b floordiv 8], %b - 1, %j[%n + %a]] symbols(%n)
      {variables_space_set = #rows, variables_space_order = #turned}
      : memref<100x64x16xf16>, memref<4x8xi32>, memref<8xindex> -> <8x?xindex>
  // No variables: one coordinate.
  // CHECK: intermediate_variables() %arg0[(%arg3), ind(%arg2[0]), (3)] {{.*}} -> !ktdp.access_tile<index>
  %2 = ktdp.construct_indirect_access_tile intermediate_variables() %x[(%n), ind(%j[0]), (3)]
      {variables_space_set = #none, variables_space_order = #nothing}
      : memref<100x64x16xf16>, memref<8xindex> -> !ktdp.access_tile<index>
  return
}
