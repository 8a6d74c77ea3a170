// Squared deviations of long rows are summed up together with the rows, about the mean of the parts so far.
// RUN: spyre-opt %s --spyre-carry-reductions -split-input-file | FileCheck %s
// RUN: spyre-opt %s --spyre-carry-reductions --spyre-tile-time=prefer-carried -split-input-file | FileCheck %s --check-prefix=TILED
// RUN: spyre-opt %s --spyre-carry-reductions="deviations-apart record" -split-input-file | FileCheck %s --check-prefix=APART

!x = !spyre.buffer<8x4096xf32, #spyre.layout<[128, 8, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<8x1xf32, #spyre.layout<[1, 1, 8, 32], order [0, 1, -1], IEEE_FP32>, hbm>
!n = !spyre.buffer<f32, #spyre.layout<[1, 32], order [], IEEE_FP32>, hbm>
module attributes {spyre.device = "mock32"} {
// All that a loop over parts needs is one group; what is known at the end of the row comes behind it. The
// count is shared out to the parts.
// CHECK-LABEL: func.func @variance
// CHECK-SAME: %[[ALL:arg[0-9]+]]: {{[^%]*}}spyre.value = 4.096000e+03
// CHECK-SAME: %[[ZERO:arg[0-9]+]]: {{[^%]*}}spyre.value = 0.000000e+00
// CHECK: spyre.sum {{.*}} ins(%arg0[d0, d1]) outs(%[[PART:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.realdiv (d0 = 8) ins(%[[PART]][d0, 0], %[[ALL]][]) outs(%[[MEAN:.*]][d0, 0]) {spyre.carried = 0 : i64, spyre.shared_out = 1 : i64}
// An infinity moves nothing.
// CHECK: spyre.sub (d0 = 8) ins(%[[MEAN]][d0, 0], %[[MEAN]][d0, 0]) outs(%[[INFINITE:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.identity (d0 = 8) ins(%[[ZERO]][]) outs(%[[P:.*]][d0, 0]) :
// CHECK: spyre.where3 (d0 = 8) ins(%[[INFINITE]][d0, 0], %[[P]][d0, 0], %[[MEAN]][d0, 0]) outs(%[[TO:.*]][d0, 0]) {spyre.carried = 0 : i64}
// How far the mean of all parts so far has moved.
// CHECK: spyre.identity (d0 = 8) ins(%[[ZERO]][]) outs(%[[N:.*]][d0, 0]) :
// CHECK: spyre.add (d0 = 8) ins(%[[N]][d0, 0], %[[ALL]][]) outs(%[[NEWN:.*]][d0, 0]) {spyre.carried = 0 : i64, spyre.shared_out = 1 : i64}
// CHECK: spyre.realdiv (d0 = 8) ins(%[[ALL]][], %[[NEWN]][d0, 0]) outs(%[[WEIGHT:.*]][d0, 0]) {spyre.carried = 0 : i64, spyre.shared_out = 0 : i64}
// CHECK: spyre.sub (d0 = 8) ins(%[[TO]][d0, 0], %[[P]][d0, 0]) outs(%[[WAY:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.mul (d0 = 8) ins(%[[WAY]][d0, 0], %[[WEIGHT]][d0, 0]) outs(%[[STEP:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.add (d0 = 8) ins(%[[P]][d0, 0], %[[STEP]][d0, 0]) outs(%[[NEWP:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.sub (d0 = 8) ins(%[[NEWP]][d0, 0], %[[P]][d0, 0]) outs(%[[C:.*]][d0, 0]) {spyre.carried = 0 : i64}
// The sums about where it is now.
// CHECK: spyre.identity (d0 = 8) ins(%[[ZERO]][]) outs(%[[T:.*]][d0, 0]) :
// CHECK: spyre.identity (d0 = 8) ins(%[[ZERO]][]) outs(%[[Q:.*]][d0, 0]) :
// CHECK: spyre.mul (d0 = 8) ins(%[[N]][d0, 0], %[[C]][d0, 0]) outs(%[[NC:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.sub (d0 = 8) ins(%[[T]][d0, 0], %[[NC]][d0, 0]) outs(%[[MENDEDT:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.add (d0 = 8) ins(%[[MENDEDT]][d0, 0], %[[T]][d0, 0]) outs(%[[TWICE:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.mul (d0 = 8) ins(%[[C]][d0, 0], %[[TWICE]][d0, 0]) outs(%[[LESS:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.sub (d0 = 8) ins(%[[Q]][d0, 0], %[[LESS]][d0, 0]) outs(%[[MENDEDQ:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.identity (d0 = 8) ins(%[[NEWN]][d0, 0]) outs(%[[N]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.identity (d0 = 8) ins(%[[NEWP]][d0, 0]) outs(%[[P]][d0, 0]) {spyre.carried = 0 : i64}
// And those of the part.
// CHECK: spyre.sub {{.*}} ins(%arg0[d0, d1], %[[P]][d0, 0]) outs(%[[CENTRED:.*]][d0, d1]) {spyre.carried = 0 : i64}
// CHECK: spyre.mul {{.*}} ins(%[[CENTRED]][d0, d1], %[[CENTRED]][d0, d1]) outs(%[[SQUARES:.*]][d0, d1]) {spyre.carried = 0 : i64}
// CHECK: spyre.sum {{.*}} ins(%[[CENTRED]][d0, d1]) outs(%[[PARTOFT:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.add {{.*}} ins(%[[MENDEDT]][d0, 0], %[[PARTOFT]][d0, 0]) outs(%[[T]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.sum {{.*}} ins(%[[SQUARES]][d0, d1]) outs(%[[PARTOFQ:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.add {{.*}} ins(%[[MENDEDQ]][d0, 0], %[[PARTOFQ]][d0, 0]) outs(%[[Q]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NOT: spyre.carried
// The sum of the row, the program's own mean, and the sums about that.
// CHECK: spyre.mul (d0 = 8) ins(%[[P]][d0, 0], %[[ALL]][]) outs(%[[MOVED:.*]][d0, 0]) :
// CHECK: spyre.add (d0 = 8) ins(%[[T]][d0, 0], %[[MOVED]][d0, 0]) outs(%[[SUM:.*]][d0, 0]) :
// CHECK: spyre.realdiv (d0 = 8) ins(%[[SUM]][d0, 0], %arg2[]) outs(%[[R:.*]][d0, 0]) :
// CHECK: spyre.sub (d0 = 8) ins(%[[R]][d0, 0], %[[P]][d0, 0]) outs(%[[LASTC:.*]][d0, 0]) :
// CHECK: spyre.mul (d0 = 8) ins(%[[ALL]][], %[[LASTC]][d0, 0]) outs(%[[LASTNC:.*]][d0, 0]) :
// CHECK: spyre.sub (d0 = 8) ins(%[[T]][d0, 0], %[[LASTNC]][d0, 0]) outs(%[[LASTT:.*]][d0, 0]) :
// CHECK: spyre.add (d0 = 8) ins(%[[LASTT]][d0, 0], %[[T]][d0, 0]) outs(%[[LASTTWICE:.*]][d0, 0]) :
// CHECK: spyre.mul (d0 = 8) ins(%[[LASTC]][d0, 0], %[[LASTTWICE]][d0, 0]) outs(%[[LASTLESS:.*]][d0, 0]) :
// CHECK: spyre.sub (d0 = 8) ins(%[[Q]][d0, 0], %[[LASTLESS]][d0, 0]) outs(%[[S:.*]][d0, 0]) :
// CHECK: spyre.maximum (d0 = 8) ins(%[[S]][d0, 0], %[[ZERO]][]) outs(%arg1[d0, 0]) :
// CHECK-NEXT: return
// Each by itself, if that is wanted.
// APART-LABEL: func.func @variance
// APART-SAME: spyre.chosen_schedule = {deviations = "apart"}
// APART-NOT: spyre.where3
// APART: spyre.sum {{.*}} {spyre.carried = 0 : i64}
// APART: spyre.sum {{.*}} {spyre.carried = 1 : i64}
func.func @variance(%x: !x, %y: !r, %n: !n) {
  %s = spyre.alloc : !r
  spyre.sum (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%s[d0, 0]) : !x -> !r
  %m = spyre.alloc : !r
  spyre.realdiv (d0 = 8) ins(%s[d0, 0], %n[]) outs(%m[d0, 0]) : !r, !n -> !r
  %t = spyre.alloc : !x
  spyre.sub (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !x, !r -> !x
  %q = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4096) ins(%t[d0, d1], %t[d0, d1]) outs(%q[d0, d1]) : !x, !x -> !x
  spyre.sum (d0 = 8, d1 = 4096) ins(%q[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  return
}
// The mean of ones is 1, their sum 4,096. What else reads the deviations has them about the mean of the row,
// computed where they are read.
// CHECK-LABEL: func.func @norm
// CHECK-SAME: %[[ONE:arg[0-9]+]]: {{[^%]*}}spyre.value = 1.000000e+00
// CHECK-SAME: %[[RATIO:arg[0-9]+]]: {{[^%]*}}spyre.value = 4.096000e+03
// CHECK: spyre.mean {{.*}} ins(%arg0[d0, d1]) outs(%[[PART:.*]][d0, 0]) {{.*}}spyre.carried = 0 : i64
// CHECK: spyre.realdiv (d0 = 8) ins(%[[PART]][d0, 0], %[[ONE]][]) {{.*}} {spyre.carried = 0 : i64, spyre.shared_out = 1 : i64}
// CHECK: spyre.mul (d0 = 8) ins(%{{.*}}[d0, 0], %[[RATIO]][]) {{.*}} {spyre.carried = 0 : i64}
// CHECK: spyre.mean {{.*}} constants {scaling_factor = 2.44140625E-4 : f64} {spyre.carried = 0 : i64}
// CHECK: spyre.sum {{.*}} {spyre.carried = 0 : i64}
// CHECK: spyre.add (d0 = 8) ins({{.*}}) outs(%[[MEAN:.*]][d0, 0]) :
// CHECK: spyre.mul (d0 = 8) ins(%[[ONE]][], %{{.*}}[d0, 0])
// CHECK: spyre.mul (d0 = 8) ins(%{{.*}}[d0, 0], %[[RATIO]][])
// CHECK: spyre.maximum (d0 = 8) ins({{.*}}) outs(%[[V:.*]][d0, 0]) :
// CHECK: spyre.sub (d0 = 8, d1 = 4096) ins(%arg0[d0, d1], %[[MEAN]][d0, 0]) outs(%[[T:.*]][d0, d1]) :
// CHECK-NEXT: spyre.mul (d0 = 8, d1 = 4096) ins(%[[T]][d0, d1], %[[V]][d0, 0]) outs(%arg1[d0, d1]) :
func.func @norm(%x: !x, %y: !x) {
  %m = spyre.alloc : !r
  spyre.mean (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%m[d0, 0]) constants {scaling_factor = 2.44140625E-4 : f64} : !x -> !r
  %t = spyre.alloc : !x
  spyre.sub (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !x, !r -> !x
  %q = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4096) ins(%t[d0, d1], %t[d0, d1]) outs(%q[d0, d1]) : !x, !x -> !x
  %v = spyre.alloc : !r
  spyre.sum (d0 = 8, d1 = 4096) ins(%q[d0, d1]) outs(%v[d0, 0]) : !x -> !r
  spyre.mul (d0 = 8, d1 = 4096) ins(%t[d0, d1], %v[d0, 0]) outs(%y[d0, d1]) : !x, !r -> !x
  return
}
// Deviations that are a result of the program are written, too.
// CHECK-LABEL: func.func @results
// CHECK: spyre.where3
// CHECK: spyre.maximum (d0 = 8) ins({{.*}}) outs(%arg2[d0, 0]) :
// CHECK-NEXT: spyre.sub (d0 = 8, d1 = 4096) ins(%arg0[d0, d1], %{{.*}}[d0, 0]) outs(%arg1[d0, d1]) :
// CHECK-NEXT: return
func.func @results(%x: !x, %t: !x, %y: !r) {
  %m = spyre.alloc : !r
  spyre.sum (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%m[d0, 0]) : !x -> !r
  spyre.sub (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !x, !r -> !x
  %q = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4096) ins(%t[d0, d1], %t[d0, d1]) outs(%q[d0, d1]) : !x, !x -> !x
  spyre.sum (d0 = 8, d1 = 4096) ins(%q[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  return
}
// Of another value's mean: the sums are carried by themselves, in two groups.
// CHECK-LABEL: func.func @others
// CHECK-NOT: spyre.where3
// CHECK: spyre.carried = 0 : i64
// CHECK: spyre.carried = 1 : i64
// CHECK-NOT: spyre.where3
func.func @others(%x: !x, %z: !x, %y: !r) {
  %m = spyre.alloc : !r
  spyre.mean (d0 = 8, d1 = 4096) ins(%z[d0, d1]) outs(%m[d0, 0]) constants {scaling_factor = 2.44140625E-4 : f64} : !x -> !r
  %t = spyre.alloc : !x
  spyre.sub (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !x, !r -> !x
  %q = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4096) ins(%t[d0, d1], %t[d0, d1]) outs(%q[d0, d1]) : !x, !x -> !x
  spyre.sum (d0 = 8, d1 = 4096) ins(%q[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  return
}
// Deviations times something else are no squares; nor are squares of sums.
// CHECK-LABEL: func.func @products
// CHECK-NOT: spyre.where3
func.func @products(%x: !x, %z: !x, %y: !r, %w: !r) {
  %m = spyre.alloc : !r
  spyre.mean (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%m[d0, 0]) constants {scaling_factor = 2.44140625E-4 : f64} : !x -> !r
  %t = spyre.alloc : !x
  spyre.sub (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !x, !r -> !x
  %q = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4096) ins(%t[d0, d1], %z[d0, d1]) outs(%q[d0, d1]) : !x, !x -> !x
  spyre.sum (d0 = 8, d1 = 4096) ins(%q[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  %a = spyre.alloc : !x
  spyre.add (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%a[d0, d1]) : !x, !r -> !x
  %b = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4096) ins(%a[d0, d1], %a[d0, d1]) outs(%b[d0, d1]) : !x, !x -> !x
  spyre.sum (d0 = 8, d1 = 4096) ins(%b[d0, d1]) outs(%w[d0, 0]) : !x -> !r
  return
}
}

// -----

!x = !spyre.buffer<8x4096xf32, #spyre.layout<[128, 8, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<8x1xf32, #spyre.layout<[1, 1, 8, 32], order [0, 1, -1], IEEE_FP32>, hbm>
// On a device with more LX the rows are not long.
// CHECK-LABEL: func.func @short
// CHECK-NOT: spyre.carried
// CHECK: return
func.func @short(%x: !x, %y: !r) {
  %m = spyre.alloc : !r
  spyre.mean (d0 = 8, d1 = 4096) ins(%x[d0, d1]) outs(%m[d0, 0]) constants {scaling_factor = 2.44140625E-4 : f64} : !x -> !r
  %t = spyre.alloc : !x
  spyre.sub (d0 = 8, d1 = 4096) ins(%x[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !x, !r -> !x
  %q = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4096) ins(%t[d0, d1], %t[d0, d1]) outs(%q[d0, d1]) : !x, !x -> !x
  spyre.sum (d0 = 8, d1 = 4096) ins(%q[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  return
}

// -----

!x = !spyre.buffer<8x4064xf32, #spyre.layout<[127, 8, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<8x1xf32, #spyre.layout<[1, 1, 8, 32], order [0, 1, -1], IEEE_FP32>, hbm>
module attributes {spyre.device = "mock32"} {
// 127 sticks are cut one by one: what a part has is 32 of 4,064.
// TILED-LABEL: func.func @shares
// TILED-SAME: %[[ALL:arg[0-9]+]]: {{[^%]*}}spyre.value = 4.064000e+03
// TILED-SAME: %[[SHARE:arg[0-9]+]]: {{[^%]*}}spyre.value = 3.200000e+01
// TILED: arith.constant 127 : index
// TILED: scf.for
// TILED: spyre.realdiv {{.*}} ins(%{{[0-9]+}}[d0, 0], %[[SHARE]][])
// TILED: spyre.add {{.*}} ins(%{{[0-9]+}}[d0, 0], %[[SHARE]][])
// TILED: spyre.realdiv {{.*}} ins(%[[SHARE]][], %{{[0-9]+}}[d0, 0])
// TILED: }
// TILED: spyre.mul {{.*}} ins(%{{[0-9]+}}[d0, 0], %[[ALL]][])
// TILED-NOT: spyre.shared_out
func.func @shares(%x: !x, %y: !r) {
  %m = spyre.alloc : !r
  spyre.sum (d0 = 8, d1 = 4064) ins(%x[d0, d1]) outs(%m[d0, 0]) : !x -> !r
  %t = spyre.alloc : !x
  spyre.sub (d0 = 8, d1 = 4064) ins(%x[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !x, !r -> !x
  %q = spyre.alloc : !x
  spyre.mul (d0 = 8, d1 = 4064) ins(%t[d0, d1], %t[d0, d1]) outs(%q[d0, d1]) : !x, !x -> !x
  spyre.sum (d0 = 8, d1 = 4064) ins(%q[d0, d1]) outs(%y[d0, 0]) : !x -> !r
  return
}
}
