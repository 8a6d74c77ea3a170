// Factors of products: scaled on the side that is computed anyway, if nobody else reads them.
// RUN: spyre-opt %s --spyre-move-scaling -split-input-file | FileCheck %s

!q = tensor<1x8x64x128xf16>
!t = tensor<8x64x128xf16>
!k = tensor<8x128x64xf16>
!s = tensor<8x64x64xf16>
// The keys are turned while they are centred; the number stands behind them.
// CHECK-LABEL: func.func @scores
// CHECK: %[[N:.*]] = spyre.constant dense<8.837890e-02>
// CHECK: %[[C:.*]] = spyre.sub
// CHECK-NEXT: %[[K:.*]] = spyre.mul (d0 = 8, d1 = 128, d2 = 64) ins(%[[C]][d0, d1, d2], %[[N]][]) -> [d0, d1, d2]
// CHECK-NEXT: spyre.batchmatmul (d0 = 8, d1 = 64, d2 = 64, d3 = 128) ins(%arg0[0, d0, d1, d3], %[[K]][d0, d3, d2]) -> [d0, d1, d2]
func.func @scores(%q: !q, %k: !t, %c: tensor<8x1x128xf16>) -> !s {
  %0 = spyre.sub (d0 = 8, d1 = 64, d2 = 128) ins(%k[d0, d1, d2], %c[d0, 0, d2]) -> [d0, d2, d1] : !t, tensor<8x1x128xf16> -> !k
  %n = spyre.constant dense<8.837890e-02> : tensor<f16> {spyre.value = 0.0883 : f64} : tensor<f16>
  %1 = spyre.mul (d0 = 8, d1 = 64, d2 = 128) ins(%q[0, d0, d1, d2], %n[]) -> [d0, d1, d2] : !q, tensor<f16> -> !t
  %2 = spyre.batchmatmul (d0 = 8, d1 = 64, d2 = 64, d3 = 128) ins(%1[d0, d1, d3], %0[d0, d3, d2]) -> [d0, d1, d2] : !t, !k -> !s
  return %2 : !s
}

// -----

!q = tensor<16x128xf16>
!k = tensor<64x128xf16>
!s = tensor<16x64xf16>
// More keys than queries: scaling the queries is less.
// CHECK-LABEL: func.func @few
// CHECK: spyre.mul (d0 = 16, d1 = 128) ins(%arg0
func.func @few(%q: !q, %k: !k, %c: tensor<1x128xf16>) -> !s {
  %n = spyre.constant dense<8.837890e-02> : tensor<f16> {spyre.value = 0.0883 : f64} : tensor<f16>
  %0 = spyre.mul (d0 = 16, d1 = 128) ins(%q[d0, d1], %n[]) -> [d0, d1] : !q, tensor<f16> -> !q
  %1 = spyre.sub (d0 = 64, d1 = 128) ins(%k[d0, d1], %c[0, d1]) -> [d0, d1] : !k, tensor<1x128xf16> -> !k
  %2 = spyre.batchmatmul (d0 = 16, d1 = 64, d2 = 128) ins(%0[d0, d2], %1[d1, d2]) -> [d0, d1] : !q, !k -> !s
  return %2 : !s
}

// -----

!t = tensor<64x128xf16>
!s = tensor<64x64xf16>
// Neither where the keys are arguments, too, nor where somebody else reads the scaled queries.
// CHECK-LABEL: func.func @argument
// CHECK: spyre.mul {{.*}} ins(%arg0
func.func @argument(%q: !t, %k: !t) -> !s {
  %n = spyre.constant dense<8.837890e-02> : tensor<f16> {spyre.value = 0.0883 : f64} : tensor<f16>
  %0 = spyre.mul (d0 = 64, d1 = 128) ins(%q[d0, d1], %n[]) -> [d0, d1] : !t, tensor<f16> -> !t
  %1 = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 128) ins(%0[d0, d2], %k[d1, d2]) -> [d0, d1] : !t, !t -> !s
  return %1 : !s
}
// CHECK-LABEL: func.func @shared
// CHECK: spyre.mul {{.*}} ins(%arg0
func.func @shared(%q: !t, %k: !t, %c: tensor<1x128xf16>) -> (!s, !t) {
  %n = spyre.constant dense<8.837890e-02> : tensor<f16> {spyre.value = 0.0883 : f64} : tensor<f16>
  %0 = spyre.mul (d0 = 64, d1 = 128) ins(%q[d0, d1], %n[]) -> [d0, d1] : !t, tensor<f16> -> !t
  %1 = spyre.sub (d0 = 64, d1 = 128) ins(%k[d0, d1], %c[0, d1]) -> [d0, d1] : !t, tensor<1x128xf16> -> !t
  %2 = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 128) ins(%0[d0, d2], %1[d1, d2]) -> [d0, d1] : !t, !t -> !s
  return %2, %0 : !s, !t
}

// -----

!q = tensor<1x8x64x128xf16>
!k = tensor<1x8x128x64xf16>
!s = tensor<1x8x64x64xf16>
// Dims of one element are no dims of the space.
// CHECK-LABEL: func.func @units
// CHECK: %[[C:.*]] = spyre.sub
// CHECK: %[[K:.*]] = spyre.mul (d0 = 1, d1 = 8, d2 = 128, d3 = 64) ins(%[[C]][d0, d1, d2, d3], %{{.*}}[])
// CHECK: spyre.batchmatmul (d0 = 8, d1 = 64, d2 = 64, d3 = 128) ins(%arg0[0, d0, d1, d3], %[[K]][0, d0, d3, d2])
func.func @units(%q: !q, %k: !q, %c: tensor<1x8x1x128xf16>) -> !s {
  %0 = spyre.sub (d0 = 8, d1 = 64, d2 = 128) ins(%k[0, d0, d1, d2], %c[0, d0, 0, d2]) -> [0, d0, d2, d1] : !q, tensor<1x8x1x128xf16> -> !k
  %n = spyre.constant dense<8.837890e-02> : tensor<f16> {spyre.value = 0.0883 : f64} : tensor<f16>
  %1 = spyre.mul (d0 = 8, d1 = 64, d2 = 128) ins(%q[0, d0, d1, d2], %n[]) -> [0, d0, d1, d2] : !q, tensor<f16> -> !q
  %2 = spyre.batchmatmul (d0 = 8, d1 = 64, d2 = 64, d3 = 128) ins(%1[0, d0, d1, d3], %0[0, d0, d3, d2]) -> [0, d0, d1, d2] : !q, !k -> !s
  return %2 : !s
}
