// A product whose contracted dim no core reaches as a whole adds up the products of parts of it, in f32.
// RUN: spyre-opt %s --spyre-carry-reductions -split-input-file | FileCheck %s

!a = !spyre.buffer<64x4096xf16, #spyre.layout<[64, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!b = !spyre.buffer<4096x128xf16, #spyre.layout<[2, 4096, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// Even one stick of the second factor's columns spans 512 KiB, and the device's cores reach 256.
// CHECK-LABEL: func.func @far
// CHECK-SAME: %[[ZERO:arg[0-9]+]]: {{[^%]*}}spyre.value = 0.0
// CHECK: spyre.batchmatmul {{.*}} outs(%[[PART:.*]][d0, d1]) {spyre.carried = 0 : i64}
// CHECK-NEXT: spyre.dl16tofp32 {{.*}} ins(%[[PART]][d0, d1]) outs(%[[WIDE:.*]][d0, d1])
// CHECK-NEXT: spyre.identity {{.*}} ins(%[[ZERO]][]) outs(%[[SUM:.*]][d0, d1])
// CHECK-NEXT: spyre.add {{.*}} ins(%[[SUM]][d0, d1], %[[WIDE]][d0, d1]) outs(%[[SUM]][d0, d1])
// CHECK-NEXT: spyre.fp32todl16 {{.*}} ins(%[[SUM]][d0, d1]) outs(%arg2[d0, d1])
func.func @far(%a: !a, %b: !b, %out: !o) {
  spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 4096) ins(%a[d0, d2], %b[d2, d1]) outs(%out[d0, d1]) : !a, !b -> !o
  return
}
}

// -----

!a = !spyre.buffer<64x1024xf16, #spyre.layout<[16, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!b = !spyre.buffer<1024x4096xf16, #spyre.layout<[64, 1024, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x4096xf16, #spyre.layout<[64, 64, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// Dividing the columns brings this product's factor within reach.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: spyre.carried
func.func @wide(%a: !a, %b: !b, %out: !o) {
  spyre.batchmatmul (d0 = 64, d1 = 4096, d2 = 1024) ins(%a[d0, d2], %b[d2, d1]) outs(%out[d0, d1]) : !a, !b -> !o
  return
}
}

// -----

!a = !spyre.buffer<64x4096xf16, #spyre.layout<[64, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!b = !spyre.buffer<4096x128xf16, #spyre.layout<[2, 4096, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// The cores of the card reach both factors of the first product.
// CHECK-LABEL: func.func @near
// CHECK-NOT: spyre.carried
func.func @near(%a: !a, %b: !b, %out: !o) {
  spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 4096) ins(%a[d0, d2], %b[d2, d1]) outs(%out[d0, d1]) : !a, !b -> !o
  return
}
