// What is linear in exponentials of numbers less their row's largest goes on from part to part.
// RUN: spyre-opt %s --spyre-carry-reductions -split-input-file | FileCheck %s

!s = !spyre.buffer<64x512xf32, #spyre.layout<[16, 64, 32], order [0, 1], IEEE_FP32>, hbm>
!h = !spyre.buffer<64x512xf16, #spyre.layout<[8, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!r = !spyre.buffer<64x1xf32, #spyre.layout<[1, 1, 64, 32], order [0, 1, -1], IEEE_FP32>, hbm>
!c = !spyre.buffer<f32, #spyre.layout<[1, 32], order [], IEEE_FP32>, hbm>
!v = !spyre.buffer<512x64xf16, #spyre.layout<[1, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!w = !spyre.buffer<64x64xf32, #spyre.layout<[2, 64, 32], order [0, 1], IEEE_FP32>, hbm>

// Attention whose scores are scaled after the largest is taken off; the product's sum is carried once it is f32.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: %[[LOW:arg[0-9]+]]: {{[^%]*}}spyre.value = -3.40{{[^%]*}}%[[ZERO:arg[0-9]+]]: {{[^%]*}}spyre.value = 0.0
// CHECK: spyre.max {{.*}} outs(%[[PART:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.identity (d0 = 64) ins(%[[LOW]][]) outs(%[[OLD:.*]][d0, 0]) :
// CHECK-NEXT: spyre.maximum (d0 = 64) ins(%[[OLD]][d0, 0], %[[PART]][d0, 0]) outs(%[[NEW:.*]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.sub (d0 = 64) ins(%[[OLD]][d0, 0], %[[NEW]][d0, 0]) outs(%[[LESS:.*]][d0, 0])
// CHECK: spyre.mul (d0 = 64) ins(%[[LESS]][d0, 0], %arg3[]) outs(%[[SCALED:.*]][d0, 0])
// CHECK: spyre.exp (d0 = 64) ins(%[[SCALED]][d0, 0]) outs(%[[CHANGE:.*]][d0, 0])
// CHECK-NEXT: spyre.identity (d0 = 64) ins(%[[NEW]][d0, 0]) outs(%[[OLD]][d0, 0])
// CHECK: spyre.sum {{.*}} outs(%[[SUM:.*]][d0, 0])
// CHECK-NEXT: spyre.identity (d0 = 64) ins(%[[ZERO]][]) outs(%[[L:.*]][d0, 0]) :
// CHECK-NEXT: spyre.mul (d0 = 64) ins(%[[L]][d0, 0], %[[CHANGE]][d0, 0]) outs(%[[L]][d0, 0])
// CHECK-NEXT: spyre.add (d0 = 64) ins(%[[L]][d0, 0], %[[SUM]][d0, 0]) outs(%[[L]][d0, 0])
// CHECK: spyre.batchmatmul {{.*}} {spyre.carried = 0 : i64}
// CHECK: spyre.dl16tofp32 {{.*}} outs(%[[PRODUCT:.*]][d0, d1])
// CHECK-NEXT: spyre.identity (d0 = 64, d1 = 64) ins(%[[ZERO]][]) outs(%[[O:.*]][d0, d1]) :
// CHECK-NEXT: spyre.mul (d0 = 64, d1 = 64) ins(%[[O]][d0, d1], %[[CHANGE]][d0, 0]) outs(%[[O]][d0, d1])
// CHECK-NEXT: spyre.add (d0 = 64, d1 = 64) ins(%[[O]][d0, d1], %[[PRODUCT]][d0, d1]) outs(%[[O]][d0, d1])
// CHECK: spyre.realdiv {{.*}} ins(%[[O]][d0, d1], %[[L]][d0, 0])
// CHECK-NOT: spyre.carried
func.func @attention(%s: !s, %v: !v, %out: !w, %scale: !c {spyre.role = "constant", spyre.value = 5.0e-01 : f64}) {
  %m = spyre.alloc : !r
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%m[d0, 0]) : !s -> !r
  %t = spyre.alloc : !s
  spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !s, !r -> !s
  %u = spyre.alloc : !s
  spyre.mul (d0 = 64, d1 = 512) ins(%t[d0, d1], %scale[]) outs(%u[d0, d1]) : !s, !c -> !s
  %e = spyre.alloc : !s
  spyre.exp (d0 = 64, d1 = 512) ins(%u[d0, d1]) outs(%e[d0, d1]) : !s -> !s
  %l = spyre.alloc : !r
  spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) outs(%l[d0, 0]) : !s -> !r
  %n = spyre.alloc : !h
  spyre.fp32todl16 (d0 = 64, d1 = 512) ins(%e[d0, d1]) outs(%n[d0, d1]) : !s -> !h
  %p = spyre.alloc : !o
  spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 512) ins(%n[d0, d2], %v[d2, d1]) outs(%p[d0, d1]) : !h, !v -> !o
  %w = spyre.alloc : !w
  spyre.dl16tofp32 (d0 = 64, d1 = 64) ins(%p[d0, d1]) outs(%w[d0, d1]) : !o -> !w
  spyre.realdiv (d0 = 64, d1 = 64) ins(%w[d0, d1], %l[d0, 0]) outs(%out[d0, d1]) : !w, !r -> !w
  return
}

// -----

!s = !spyre.buffer<64x512xf32, #spyre.layout<[16, 64, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<64x1xf32, #spyre.layout<[1, 1, 64, 32], order [0, 1, -1], IEEE_FP32>, hbm>
// The quotients of a softmax compute the exponentials again, with the largest numbers of whole rows: infinities stay
// some.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[INF:arg[0-9]+]]: {{[^%]*}}spyre.value = 0xFFF0000000000000
// CHECK: spyre.identity (d0 = 64) ins(%[[INF]][]) outs(%[[WHOLE:.*]][d0, 0]) :
// CHECK: spyre.maximum (d0 = 64) ins(%[[WHOLE]][d0, 0], %{{.*}}[d0, 0]) outs(%[[WHOLE]][d0, 0]) {spyre.carried = 0 : i64}
// CHECK: spyre.sum {{.*}} {spyre.carried = 0 : i64}
// CHECK: spyre.sub (d0 = 64, d1 = 512) ins(%arg0[d0, d1], %[[WHOLE]][d0, 0]) outs(%[[T:.*]][d0, d1]) :
// CHECK: spyre.exp (d0 = 64, d1 = 512) ins(%[[T]][d0, d1]) outs(%[[E:.*]][d0, d1]) :
// CHECK-NEXT: spyre.realdiv (d0 = 64, d1 = 512) ins(%[[E]][d0, d1], %{{.*}}[d0, 0]) outs(%arg1[d0, d1]) :
func.func @softmax(%s: !s, %out: !s) {
  %m = spyre.alloc : !r
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%m[d0, 0]) : !s -> !r
  %t = spyre.alloc : !s
  spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !s, !r -> !s
  %e = spyre.alloc : !s
  spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) outs(%e[d0, d1]) : !s -> !s
  %l = spyre.alloc : !r
  spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) outs(%l[d0, 0]) : !s -> !r
  spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) outs(%out[d0, d1]) : !s, !r -> !s
  return
}

// -----

!s = !spyre.buffer<64x512xf32, #spyre.layout<[16, 64, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<64x1xf32, #spyre.layout<[1, 1, 64, 32], order [0, 1, -1], IEEE_FP32>, hbm>
// A sum of squares of the exponentials is not linear in them; nor is a quotient by the largest number a shift.
// CHECK-LABEL: func.func @others
// CHECK-NOT: spyre.carried
func.func @others(%s: !s, %a: !r, %b: !r) {
  %m = spyre.alloc : !r
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%m[d0, 0]) : !s -> !r
  %t = spyre.alloc : !s
  spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !s, !r -> !s
  %e = spyre.alloc : !s
  spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) outs(%e[d0, d1]) : !s -> !s
  %q = spyre.alloc : !s
  spyre.mul (d0 = 64, d1 = 512) ins(%e[d0, d1], %e[d0, d1]) outs(%q[d0, d1]) : !s, !s -> !s
  %l = spyre.alloc : !r
  spyre.sum (d0 = 64, d1 = 512) ins(%q[d0, d1]) outs(%l[d0, 0]) : !s -> !r
  spyre.identity (d0 = 64) ins(%l[d0, 0]) outs(%a[d0, 0]) : !r -> !r
  %n = spyre.alloc : !r
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%n[d0, 0]) : !s -> !r
  %d = spyre.alloc : !s
  spyre.realdiv (d0 = 64, d1 = 512) ins(%s[d0, d1], %n[d0, 0]) outs(%d[d0, d1]) : !s, !r -> !s
  %f = spyre.alloc : !s
  spyre.exp (d0 = 64, d1 = 512) ins(%d[d0, d1]) outs(%f[d0, d1]) : !s -> !s
  %k = spyre.alloc : !r
  spyre.sum (d0 = 64, d1 = 512) ins(%f[d0, d1]) outs(%k[d0, 0]) : !s -> !r
  spyre.identity (d0 = 64) ins(%k[d0, 0]) outs(%b[d0, 0]) : !r -> !r
  return
}

// -----

!s = !spyre.buffer<64x512xf32, #spyre.layout<[16, 64, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<64x1xf32, #spyre.layout<[1, 1, 64, 32], order [0, 1, -1], IEEE_FP32>, hbm>
// A shift's absolute value is no shift; a number that grows with the largest makes no bounded change, nor does a
// shift in the other direction.
// CHECK-LABEL: func.func @unbounded
// CHECK-NOT: spyre.carried
func.func @unbounded(%s: !s, %a: !r, %b: !r, %c: !r) {
  %m = spyre.alloc : !r
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%m[d0, 0]) : !s -> !r
  %t = spyre.alloc : !s
  spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !s, !r -> !s
  %u = spyre.alloc : !s
  spyre.abs (d0 = 64, d1 = 512) ins(%t[d0, d1]) outs(%u[d0, d1]) : !s -> !s
  %e = spyre.alloc : !s
  spyre.exp (d0 = 64, d1 = 512) ins(%u[d0, d1]) outs(%e[d0, d1]) : !s -> !s
  spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) outs(%a[d0, 0]) : !s -> !r
  %n = spyre.alloc : !r
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%n[d0, 0]) : !s -> !r
  %v = spyre.alloc : !s
  spyre.add (d0 = 64, d1 = 512) ins(%s[d0, d1], %n[d0, 0]) outs(%v[d0, d1]) : !s, !r -> !s
  %f = spyre.alloc : !s
  spyre.exp (d0 = 64, d1 = 512) ins(%v[d0, d1]) outs(%f[d0, d1]) : !s -> !s
  %k = spyre.alloc : !r
  spyre.sum (d0 = 64, d1 = 512) ins(%f[d0, d1]) outs(%k[d0, 0]) : !s -> !r
  spyre.identity (d0 = 64) ins(%k[d0, 0]) outs(%b[d0, 0]) : !r -> !r
  %o = spyre.alloc : !r
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%o[d0, 0]) : !s -> !r
  %w = spyre.alloc : !s
  spyre.sub (d0 = 64, d1 = 512) ins(%o[d0, 0], %s[d0, d1]) outs(%w[d0, d1]) : !r, !s -> !s
  %g = spyre.alloc : !s
  spyre.exp (d0 = 64, d1 = 512) ins(%w[d0, d1]) outs(%g[d0, d1]) : !s -> !s
  %l = spyre.alloc : !r
  spyre.sum (d0 = 64, d1 = 512) ins(%g[d0, d1]) outs(%l[d0, 0]) : !s -> !r
  spyre.identity (d0 = 64) ins(%l[d0, 0]) outs(%c[d0, 0]) : !r -> !r
  return
}

// -----

!x = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!a = !spyre.buffer<128x512xf16, #spyre.layout<[8, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!c = !spyre.buffer<512x128xf16, #spyre.layout<[2, 512, 64], order [0, 1], SEN169_FP16>, hbm>
!h = !spyre.buffer<64x512xf16, #spyre.layout<[8, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// The second of two products adds up its parts in f32; the first has nothing to add up.
// CHECK-LABEL: func.func @products
// CHECK: spyre.batchmatmul
// CHECK-NOT: spyre.carried
// CHECK: spyre.relufwd
// CHECK: spyre.batchmatmul {{.*}} outs(%[[PART:.*]][d0, d1]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.dl16tofp32 {{.*}} ins(%[[PART]][d0, d1]) outs(%[[WIDE:.*]][d0, d1]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.identity (d0 = 64, d1 = 128) ins(%arg{{[0-9]+}}[]) outs(%[[SUM:.*]][d0, d1])
// CHECK-NEXT: spyre.add {{.*}} ins(%[[SUM]][d0, d1], %[[WIDE]][d0, d1]) outs(%[[SUM]][d0, d1]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.fp32todl16 {{.*}} ins(%[[SUM]][d0, d1]) outs(%[[OUT:.*]][d0, d1]) :
func.func @products(%x: !x, %a: !a, %c: !c, %o: !x) {
  %p = spyre.alloc : !h
  spyre.batchmatmul (d0 = 64, d1 = 512, d2 = 128) ins(%x[d0, d2], %a[d2, d1]) outs(%p[d0, d1]) : !x, !a -> !h
  %g = spyre.alloc : !h
  spyre.relufwd (d0 = 64, d1 = 512) ins(%p[d0, d1]) outs(%g[d0, d1]) : !h -> !h
  %q = spyre.alloc : !x
  spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 512) ins(%g[d0, d2], %c[d2, d1]) outs(%q[d0, d1]) : !h, !c -> !x
  spyre.neg (d0 = 64, d1 = 128) ins(%q[d0, d1]) outs(%o[d0, d1]) : !x -> !x
  return
}
