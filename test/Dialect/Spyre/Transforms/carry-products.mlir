// Products of what products make add up parts; not where a norm between them needs whole rows. With `products`
// softmaxes stay what they are.
// RUN: spyre-opt %s --spyre-carry-reductions -split-input-file | FileCheck %s
// RUN: spyre-opt %s --spyre-carry-reductions=products=true -split-input-file | FileCheck %s --check-prefix=PRODUCTS

!x = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!h = !spyre.buffer<64x256xf16, #spyre.layout<[4, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!u = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!d = !spyre.buffer<256x128xf16, #spyre.layout<[2, 256, 64], order [0, 1], SEN169_FP16>, hbm>
// CHECK-LABEL: func.func @chain
// CHECK: spyre.batchmatmul {{.*}} ins(%arg0
// CHECK-NOT: spyre.carried
// CHECK: spyre.relufwd
// CHECK: spyre.batchmatmul {{.*}} {spyre.carried = 0 : i64}
// PRODUCTS-LABEL: func.func @chain
// PRODUCTS: spyre.batchmatmul {{.*}} {spyre.carried = 0 : i64}
func.func @chain(%x: !x, %u: !u, %d: !d, %o: !x) {
  %p = spyre.alloc : !h
  %a = spyre.alloc : !h
  spyre.batchmatmul (d0 = 64, d1 = 256, d2 = 128) ins(%x[d0, d2], %u[d2, d1]) outs(%p[d0, d1]) : !x, !u -> !h
  spyre.relufwd (d0 = 64, d1 = 256) ins(%p[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 256) ins(%a[d0, d2], %d[d2, d1]) outs(%o[d0, d1]) : !h, !d -> !x
  return
}

// -----

!x = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!h = !spyre.buffer<64x256xf16, #spyre.layout<[4, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!r = !spyre.buffer<64x1xf16, #spyre.layout<[1, 1, 64, 64], order [0, 1, -1], SEN169_FP16>, hbm>
!u = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!d = !spyre.buffer<256x128xf16, #spyre.layout<[2, 256, 64], order [0, 1], SEN169_FP16>, hbm>
// The mean of a row is known once all of the row is.
// CHECK-LABEL: func.func @norm
// CHECK-NOT: spyre.carried
// CHECK: return
func.func @norm(%x: !x, %u: !u, %d: !d, %o: !x) {
  %p = spyre.alloc : !h
  %m = spyre.alloc : !r
  %a = spyre.alloc : !h
  spyre.batchmatmul (d0 = 64, d1 = 256, d2 = 128) ins(%x[d0, d2], %u[d2, d1]) outs(%p[d0, d1]) : !x, !u -> !h
  spyre.mean (d0 = 64, d1 = 256) ins(%p[d0, d1]) outs(%m[d0, 0]) constants {scaling_factor = 3.90625E-3 : f64} : !h -> !r
  spyre.sub (d0 = 64, d1 = 256) ins(%p[d0, d1], %m[d0, 0]) outs(%a[d0, d1]) : !h, !r -> !h
  spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 256) ins(%a[d0, d2], %d[d2, d1]) outs(%o[d0, d1]) : !h, !d -> !x
  return
}

// -----

!s = !spyre.buffer<64x512xf32, #spyre.layout<[16, 64, 32], order [0, 1], IEEE_FP32>, hbm>
!r = !spyre.buffer<64x1xf32, #spyre.layout<[1, 1, 64, 32], order [0, 1, -1], IEEE_FP32>, hbm>
// CHECK-LABEL: func.func @softmax
// CHECK: spyre.carried
// PRODUCTS-LABEL: func.func @softmax
// PRODUCTS-NOT: spyre.carried
// PRODUCTS: return
func.func @softmax(%s: !s, %o: !r) {
  %m = spyre.alloc : !r
  %t = spyre.alloc : !s
  %e = spyre.alloc : !s
  spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) outs(%m[d0, 0]) : !s -> !r
  spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) outs(%t[d0, d1]) : !s, !r -> !s
  spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) outs(%e[d0, d1]) : !s -> !s
  %l = spyre.alloc : !r
  spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) outs(%l[d0, 0]) : !s -> !r
  spyre.identity (d0 = 64) ins(%l[d0, 0]) outs(%o[d0, 0]) : !r -> !r
  return
}
