// Tiles over time: loops over a dim that neighbouring operations share, arguments loaded once, results stored once;
// and where nothing is gained or somebody has decided already, nothing.
// RUN: spyre-opt %s --spyre-tile-time -split-input-file | FileCheck %s
// RUN: spyre-opt %s --spyre-tile-time -split-input-file --remarks-filter=spyre-tile-time --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// What a nest takes, and the next best.
// REMARK: remark: {{.*}}Nest{{.*}}operations 0 to 1 run in {{[0-9]+}} tiles: {{[0-9.]+}} us, {{[0-9.]+}} us by themselves; the next best, {{.*}}: {{[0-9.]+}} us

!h = !spyre.buffer<8192x128xf16, #spyre.layout<[2, 8192, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock32"} {
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK-NEXT: %[[X:.*]] = spyre.alloc
// CHECK-NEXT: spyre.identity (d0 = [[TILE:[0-9]+]] / 32, d1 = 128) loops(%{{.*}}) ins(%arg0[d0 + s0 * [[TILE]], d1]) outs(%[[X]][d0, d1])
// CHECK-NEXT: %[[A:.*]] = spyre.alloc : !spyre.buffer<[[TILE]]x128xf16
// CHECK-NEXT: spyre.exp (d0 = [[TILE]] / 32, d1 = 128) loops(%{{.*}}) ins(%[[X]][d0, d1]) outs(%[[A]][d0, d1])
// CHECK-NEXT: spyre.add (d0 = [[TILE]] / 32, d1 = 128) loops(%{{.*}}) ins(%[[A]][d0, d1], %[[X]][d0, d1]) outs(%arg1[d0 + s0 * [[TILE]], d1])
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @rows(%x: !h, %o: !h) {
  %a = spyre.alloc : !h
  spyre.exp (d0 = 8192, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.add (d0 = 8192, d1 = 128) ins(%a[d0, d1], %x[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
  return
}
}

// -----

!h = !spyre.buffer<8192x128xf16, #spyre.layout<[2, 8192, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock32"} {
// A result that is read again: computed into a tile, which is stored.
// CHECK-LABEL: func.func @result
// CHECK: scf.for
// CHECK: spyre.exp {{.*}} outs(%[[A:.*]][d0, d1])
// CHECK-NEXT: spyre.identity {{.*}} ins(%[[A]][d0, d1]) outs(%arg1[d0 + s0 *
// CHECK-NEXT: spyre.neg {{.*}} ins(%[[A]][d0, d1]) outs(%arg2[d0 + s0 *
func.func @result(%x: !h, %o: !h, %p: !h) {
  spyre.exp (d0 = 8192, d1 = 128) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  spyre.neg (d0 = 8192, d1 = 128) ins(%o[d0, d1]) outs(%p[d0, d1]) : !h -> !h
  return
}
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock32"} {
// What fits is not tiled; what is read twice is loaded.
// CHECK-LABEL: func.func @fits
// CHECK-NOT: scf.for
// CHECK: spyre.identity (d0 = 64 / 32, d1 = 128) ins(%arg0[d0, d1])
func.func @fits(%x: !h, %o: !h) {
  %a = spyre.alloc : !h
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.add (d0 = 64, d1 = 128) ins(%a[d0, d1], %x[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
  return
}
}

// -----

!h = !spyre.buffer<8192x128xf16, #spyre.layout<[2, 8192, 64], order [0, 1], SEN169_FP16>, hbm>
!c = !spyre.buffer<1x128xf16, #spyre.layout<[2, 1, 64], order [0, 1], SEN169_FP16>, hbm>
// The sum over rows is read by all of them: no dim is left.
// CHECK-LABEL: func.func @negative_reduced
// CHECK-NOT: scf.for
// CHECK: spyre.sub
func.func @negative_reduced(%x: !h, %o: !h) {
  %m = spyre.alloc : !c
  spyre.sum (d0 = 8192, d1 = 128) ins(%x[d0, d1]) outs(%m[0, d1]) : !h -> !c
  spyre.sub (d0 = 8192, d1 = 128) ins(%x[d0, d1], %m[0, d1]) outs(%o[d0, d1]) : !h, !c -> !h
  return
}

// -----

!h = !spyre.buffer<8192x128xf16, #spyre.layout<[2, 8192, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock32"} {
// A buffer that is placed already.
// CHECK-LABEL: func.func @negative_placed
// CHECK-NOT: scf.for
// CHECK: spyre.alloc pool(0)
func.func @negative_placed(%x: !h, %o: !h) {
  %a = spyre.alloc pool(0) : !h
  spyre.exp (d0 = 8192, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.add (d0 = 8192, d1 = 128) ins(%a[d0, d1], %x[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
  return
}
}

// -----

!q = !spyre.buffer<32x2048x128xf16, #spyre.layout<[2048, 2, 32, 64], order [0, 1, 2], SEN169_FP16>, hbm>
!k = !spyre.buffer<32x2048x128xf16, #spyre.layout<[128, 32, 32, 64], order [0, 2, 1], SEN169_FP16>, hbm>
!s = !spyre.buffer<32x2048x2048xf16, #spyre.layout<[2048, 32, 32, 64], order [0, 1, 2], SEN169_FP16>, hbm>
module attributes {spyre.device = "spyre"} {
// Eight cores have the rows of a head; each turns and keeps the head's keys, in a copy of its own.
// CHECK-LABEL: func.func @copies
// CHECK: scf.for
// CHECK: spyre.identity (d0 = 4 / 4, d1 = 2048, d2 = 128, d3 = 8 / 8) {{.*}} ins(%arg1[d0 + s0 * 4, d1, d2]) outs(%[[C:.*]][d3, d0, d1, d2])
// CHECK: spyre.restickify (d0 = 4 / 4, d1 = 2048, d2 = 128, d3 = 8 / 8) {{.*}} ins(%[[C]][d3, d0, d1, d2]) outs(%[[K:.*]][d3, d0, d1, d2])
// CHECK: spyre.batchmatmul (d0 = 4 / 4, d1 = 8 / 8, d2 = 256, d3 = 2048, d4 = 128) {{.*}} ins(%arg0[d0 + s0 * 4, d1 * 256 + d2, d4], %[[K]][d1, d0, d3, d4]) outs(%[[S:.*]][d0, d1 * 256 + d2, d3])
// CHECK: spyre.exp (d0 = 4 / 4, d1 = 2048 / 8, d2 = 2048) {{.*}} ins(%[[S]][d0, d1, d2])
// CHECK: spyre.batchmatmul {{.*}}, %arg2[d0 + s0 * 4, d3, d2]) outs(%arg3[d0 + s0 * 4, d1, d2])
func.func @copies(%q: !q, %k: !q, %v: !q, %o: !q) {
  %t = spyre.alloc : !k
  %s = spyre.alloc : !s
  %e = spyre.alloc : !s
  spyre.restickify (d0 = 32, d1 = 2048, d2 = 128) ins(%k[d0, d1, d2]) outs(%t[d0, d1, d2]) : !q -> !k
  spyre.batchmatmul (d0 = 32, d1 = 2048, d2 = 2048, d3 = 128) ins(%q[d0, d1, d3], %t[d0, d2, d3]) outs(%s[d0, d1, d2]) : !q, !k -> !s
  spyre.exp (d0 = 32, d1 = 2048, d2 = 2048) ins(%s[d0, d1, d2]) outs(%e[d0, d1, d2]) : !s -> !s
  spyre.batchmatmul (d0 = 32, d1 = 2048, d2 = 128, d3 = 2048) ins(%e[d0, d1, d3], %v[d0, d3, d2]) outs(%o[d0, d1, d2]) : !s, !q -> !q
  return
}
}

// -----

!a = !spyre.buffer<4096x14336xf16, #spyre.layout<[224, 4096, 64], order [0, 1], SEN169_FP16>, hbm>
!b = !spyre.buffer<4096x14336xf16, #spyre.layout<[64, 14336, 64], order [1, 0], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// A core reaches 64 x 64 of what is turned: fewer tiles than that are not legal, which says nothing of more.
// CHECK-LABEL: func.func @turned
// CHECK: scf.for %[[ROWS:.*]] = %c0
// CHECK: scf.for %[[COLUMNS:.*]] = %c0
// CHECK: spyre.restickify (d0 = 256 / 4, d1 = 64) loops(%[[ROWS]], %[[COLUMNS]]) ins(%arg0[d0 + s0 * 256, d1 + s1 * 64]) outs(%arg1[d0 + s0 * 256, d1 + s1 * 64])
func.func @turned(%x: !a, %o: !b) {
  spyre.restickify (d0 = 4096, d1 = 14336) ins(%x[d0, d1]) outs(%o[d0, d1]) : !a -> !b
  return
}
}
