// What compute tiles give each other: sums, barriers, parts of scratchpads.
// RUN: spyre-opt %s -split-input-file -convert-spyre-to-ktir -ktir-check-legality | FileCheck %s

// Two cores share each sum: the partials of tiles i and i + 4 are folded in f32, and the first of
// them rounds and writes. Both receive, so that none runs ahead.
// CHECK-DAG: #[[SHARE:.*]] = affine_set<(d0)[s0] : (d0 >= 0, -d0 + 7 >= 0, d0 mod 4 - s0 mod 4 == 0)>
// CHECK-DAG: #[[GROUPS:.*]] = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>
// CHECK-LABEL: func.func @sum
// CHECK: %[[K:.*]] = arith.divui %{{.*}}, %c4
// CHECK: %[[PART:.*]] = linalg.generic
// CHECK: %[[F:.*]] = ktdp.inter_tile_produce producer_tiles_per_group = #[[SHARE]] -> !ktdp.tile_future<(tensor<16x64xf32>), groups = #[[GROUPS]]>
// CHECK: ktdp.yield_partial %[[PART]]
// CHECK: %[[ALL:.*]] = ktdp.inter_tile_reduce(%[[F]]) consumer_tiles_per_group = #[[SHARE]]
// CHECK: arith.addf
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK: scf.if %[[IS]] {
// CHECK: arith.truncf
// CHECK: ktdp.store
!x = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @sum(%x: !x, %y: !y, %o: !o) {
  spyre.batchmatmul (d0 = 64 / 4, d1 = 64, d2 = 128 / 2) ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
  return
}

// -----

// What another core has written, or has read and would be overwritten, waits for all: a token is
// folded. Reads wait for nobody.
// CHECK-DAG: #[[ALL:.*]] = affine_set<(d0)[s0] : (d0 >= 0, -d0 + 31 >= 0)>
// CHECK-LABEL: func.func @order
// CHECK: arith.negf
// CHECK: ktdp.inter_tile_produce producer_tiles_per_group = #[[ALL]]
// CHECK: ktdp.yield_partial %{{.*}} : tensor<1xf32>
// CHECK: ktdp.inter_tile_reduce(%{{.*}}) consumer_tiles_per_group = #[[ALL]]
// CHECK: math.absf
// CHECK: ktdp.inter_tile_produce
// CHECK: arith.negf
// CHECK-NOT: ktdp.inter_tile_produce
// CHECK: arith.maximumf
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @order(%x: !h, %o: !h, %p: !h) {
  %t = spyre.alloc pool(0) : !h
  %u = spyre.alloc pool(0) : !h
  spyre.neg (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !h
  spyre.abs (d0 = 64 / 16, d1 = 128 / 2) ins(%t[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) outs(%u[d0, d1]) : !h -> !h
  spyre.maximum (d0 = 64 / 16, d1 = 128 / 2) ins(%x[d0, d1], %x[d0, d1]) outs(%p[d0, d1]) : !h, !h -> !h
  return
}

// -----

// In a loop, an iteration comes after another one: what it writes at last, it reads at first.
// CHECK-LABEL: func.func @again
// CHECK: scf.for
// CHECK: ktdp.inter_tile_produce
// CHECK: math.absf
// CHECK: ktdp.inter_tile_produce
// CHECK: arith.negf
// CHECK-NOT: ktdp.inter_tile_produce
// CHECK: return
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @again(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    spyre.abs (d0 = 64 / 16, d1 = 128 / 2) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
    spyre.neg (d0 = 64 / 32, d1 = 128) ins(%o[d0, d1]) outs(%x[d0, d1]) : !h -> !h
  }
  return
}

// -----

// Cores that write other places of one buffer, each its own in every iteration: no barrier.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: ktdp.inter_tile_produce
// CHECK: return
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @apart(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    spyre.abs (d0 = 16 / 4, d1 = 128) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%o[d0 + s0 * 16, d1]) : !h -> !h
  }
  return
}

// -----

// A relayout reads what each core holds, as one view, between barriers.
// CHECK-DAG: #[[SECOND:.*]] = affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 1 >= 0, d1 - 8 >= 0, -(d1 - 8) + 7 >= 0, d2 >= 0, -d2 + 63 >= 0)>
// CHECK-LABEL: func.func @relayout
// CHECK: %[[A:.*]] = ktdp.construct_memory_view %c0{{.*}}, sizes: [2, 8, 64], strides: [512, 64, 1] {{{.*}}, memory_space = #ktdp.memory_space<ct_local, ct_id = 0>}
// CHECK: %[[B:.*]] = ktdp.construct_memory_view %c0{{.*}} {coordinate_set = #[[SECOND]], memory_space = #ktdp.memory_space<ct_local, ct_id = 1>}
// CHECK: %[[V:.*]] = ktdp.construct_distributed_memory_view(%[[A]], %[[B]] : memref<2x8x64xf16>, memref<2x8x64xf16>) : memref<2x16x64xf16>
// CHECK: math.absf
// CHECK: ktdp.inter_tile_reduce
// CHECK: ktdp.construct_access_tile %[[V]][%{{.*}}, 0, 0] {{.*}} -> !ktdp.access_tile<1x16x64xindex>
// CHECK: ktdp.inter_tile_reduce
// CHECK: arith.negf
!h = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, lx>
func.func @relayout(%x: !h, %o: !h) {
  %a = spyre.alloc lx(0) holding<cores 2, slices [2, 1], (c) -> (c, 0)> : !l
  %b = spyre.alloc lx(4096) holding<cores 2, slices [1, 2], (c) -> (0, c)> : !l
  %c = spyre.alloc lx(0) holding<cores 2, slices [1, 2], (c) -> (0, c)> : !l
  spyre.abs (d0 = 16 / 2, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  spyre.shuffle (d0 = 16, d1 = 128 / 2) ins(%a[d0, d1]) outs(%b[d0, d1]) : !l -> !l
  spyre.neg (d0 = 16, d1 = 128 / 2) ins(%b[d0, d1]) outs(%c[d0, d1]) : !l -> !l
  spyre.identity (d0 = 16, d1 = 128 / 2) ins(%c[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}
