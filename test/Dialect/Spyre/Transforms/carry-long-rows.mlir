// Reductions by themselves are done part by part where a row, or all that they read, is large for the device.
// RUN: spyre-opt %s --spyre-carry-reductions -split-input-file | FileCheck %s
// RUN: spyre-opt %s --spyre-carry-reductions --spyre-tile-time=prefer-carried -split-input-file | FileCheck %s --check-prefix=TILED

!x = !spyre.buffer<8x4096xf32, #spyre.layout<[128, 8, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<8x1xf32, #spyre.layout<[1, 1, 8, 32], order [0, 1, -1], IEEE_FP32>, hbm>
!z = !spyre.buffer<8x128x32xf32, #spyre.layout<[128, 1, 8, 32], order [0, 1, 2], IEEE_FP32>, hbm>
!s = !spyre.buffer<8x1x1xf32, #spyre.layout<[1, 1, 8, 32], order [0, 1, 2], IEEE_FP32>, hbm>
module attributes {spyre.device = "mock32"} {
// A mean: its parts are scaled alike and added up.
// CHECK-LABEL: func.func @mean
// CHECK-SAME: %[[ZERO:arg[0-9]+]]: {{[^%]*}}spyre.value = 0.0
// CHECK: spyre.mean {{.*}} outs(%[[PART:.*]][d0, 0]) {{.*}}spyre.carried = 0 : i64
// CHECK-NEXT: spyre.identity (d0 = 8) ins(%[[ZERO]][]) outs(%[[SUM:.*]][d0, 0]) :
// CHECK-NEXT: spyre.add (d0 = 8) ins(%[[SUM]][d0, 0], %[[PART]][d0, 0]) outs(%[[SUM]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.sub (d0 = 8, d1 = 4096) ins(%arg0[d0, d1], %[[SUM]][d0, 0])
func.func @mean(%x: !x, %y: !x) {
  %m = spyre.alloc : !r
  spyre.mean (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%m[d0, 0]) constants {scaling_factor = 2.44140625E-4 : f64} : !x -> !r
  spyre.sub (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%y[d0, d1]) : !x, !r -> !x
  return
}
// What is the program's result is written once all parts are known.
// CHECK-LABEL: func.func @largest
// CHECK: spyre.max {{.*}} {spyre.carried = 0 : i64}
// CHECK: spyre.maximum (d0 = 8) ins(%[[ALL:.*]][d0, 0], %{{.*}}[d0, 0]) outs(%[[ALL]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.identity (d0 = 8) ins(%[[ALL]][d0, 0]) outs(%arg1[d0, 0]) :
func.func @largest(%x: !x, %y: !r) {
  spyre.max (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  return
}
// Rows of two dims: a loop cuts one of them, of the other a part has all.
// CHECK-LABEL: func.func @several
// CHECK: spyre.max (d0 = 8, d1 = 128, d2 = 32) {{.*}} {spyre.carried = 0 : i64}
// CHECK: spyre.maximum (d0 = 8) {{.*}} {spyre.carried = 0 : i64}
// TILED-LABEL: func.func @several
// TILED: scf.for
// TILED: spyre.max (d0 = 8{{.*}}, d1 = {{[1-9][0-9]?}}, d2 = 32)
// TILED-NEXT: spyre.maximum
// TILED-NEXT: }
func.func @several(%x: !z, %y: !s) {
  spyre.max (d0 = 8, d1 = 128, d2 = 32) ins(%x[d0, d1, d2]) outs(%y[d0, 0, 0]) : !z -> !s
  return
}
}

// -----

!x = !spyre.buffer<8x4096xf32, #spyre.layout<[128, 8, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<8x1xf32, #spyre.layout<[1, 1, 8, 32], order [0, 1, -1], IEEE_FP32>, hbm>
!h = !spyre.buffer<8x32768xf16, #spyre.layout<[512, 8, 64], order [0, 1], SEN169_FP16>, hbm>
!s = !spyre.buffer<8x1xf16, #spyre.layout<[1, 1, 8, 64], order [0, 1, -1], SEN169_FP16>, hbm>
// On a device with more LX the row is not long.
// CHECK-LABEL: func.func @short
// CHECK-NOT: spyre.carried
func.func @short(%x: !x, %y: !r) {
  spyre.max (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  return
}
module attributes {spyre.device = "mock32"} {
// 16-bit sums would be rounded once a part: spyre-widen-rows has made them f32 where there are long rows.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: spyre.carried
func.func @narrow(%x: !h, %y: !s) {
  spyre.sum (d0 = 8, d1 = 32768) ins(%x[d0, d1]) outs(%y[d0, 0]) : !h -> !s
  return
}
}
