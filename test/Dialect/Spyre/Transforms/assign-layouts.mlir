// RUN: spyre-opt %s --spyre-assign-layouts --spyre-verify-layouts -split-input-file | FileCheck %s

// The weight's stick is k, the device wants n: one restickify, before the matmul.
// CHECK-LABEL: func.func @linear
// CHECK: %[[T:.*]] = spyre.restickify (d0 = 192, d1 = 128) ins(%arg1[d0, d1]) -> [d0, d1]
// CHECK-SAME: -> tensor<192x128xf16, #spyre.layout<[3, 128, 64], order [1, 0], SEN169_FP16>>
// CHECK-NEXT: spyre.batchmatmul {{.*}} ins(%arg0[d0, d2], %[[T]][d1, d2]) -> [d0, d1]
// CHECK-SAME: -> tensor<32x192xf16, #spyre.layout<[3, 32, 64], order [0, 1], SEN169_FP16>>
func.func @linear(%x: tensor<32x128xf16>, %w: tensor<192x128xf16>) -> tensor<32x192xf16> {
  %0 = spyre.batchmatmul (d0 = 32, d1 = 192, d2 = 128) ins(%x[d0, d2], %w[d1, d2]) -> [d0, d1]
    : tensor<32x128xf16>, tensor<192x128xf16> -> tensor<32x192xf16>
  return %0 : tensor<32x192xf16>
}

// -----

// Rows of the contraction dim are read to the end of a stick: they are filled.
// CHECK-LABEL: func.func @padded_k
// CHECK: %[[ZERO:.*]] = spyre.constant dense<0.000000e+00>
// CHECK: %[[F:.*]] = spyre.identity (d0 = 28, d1 = 128) ins(%[[ZERO]][]) -> [d0 + 100, d1]
// CHECK: %[[P:.*]] = spyre.identity (d0 = 100, d1 = 128) ins(%arg1[d0, d1]) outs(%[[F]][d0, d1])
// CHECK: spyre.batchmatmul {{.*}} ins(%arg0[d0, d2], %[[P]][d2, d1])
func.func @padded_k(%x: tensor<64x100xf16>, %y: tensor<100x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 100) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1]
    : tensor<64x100xf16>, tensor<100x128xf16> -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}

// -----

// Nothing is copied where every operand fits, broadcasts included; one value that
// two operations want in another stick is copied once.
// CHECK-LABEL: func.func @fits
// CHECK-NOT: restickify
// CHECK: return
func.func @fits(%x: tensor<32x256xf16>, %v: tensor<256xf16>, %c: tensor<32x1xf16>) -> tensor<32x256xf16> {
  %0 = spyre.mul (d0 = 32, d1 = 256) ins(%x[d0, d1], %v[d1]) -> [d0, d1] : tensor<32x256xf16>, tensor<256xf16> -> tensor<32x256xf16>
  %1 = spyre.add (d0 = 32, d1 = 256) ins(%0[d0, d1], %c[d0, 0]) -> [d0, d1] : tensor<32x256xf16>, tensor<32x1xf16> -> tensor<32x256xf16>
  return %1 : tensor<32x256xf16>
}

// -----

// CHECK-LABEL: func.func @once
// CHECK-COUNT-1: spyre.restickify
// CHECK-NOT: spyre.restickify
func.func @once(%x: tensor<64x128xf16>, %y: tensor<128x64xf16>) -> (tensor<128x64xf16>, tensor<128x64xf16>) {
  %0 = spyre.add (d0 = 128, d1 = 64) ins(%x[d1, d0], %y[d0, d1]) -> [d0, d1] : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<128x64xf16>
  %1 = spyre.mul (d0 = 128, d1 = 64) ins(%x[d1, d0], %y[d0, d1]) -> [d0, d1] : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<128x64xf16>
  return %0, %1 : tensor<128x64xf16>, tensor<128x64xf16>
}

// -----

// A reduction along the stick leaves one element a stick.
// CHECK-LABEL: func.func @reduce
// CHECK: spyre.sum {{.*}} -> tensor<32x1xf16, #spyre.layout<[1, 32, 64], order [0, 1], SEN169_FP16>>
func.func @reduce(%x: tensor<32x256xf16>) -> tensor<32x1xf16> {
  %0 = spyre.sum (d0 = 32, d1 = 256) ins(%x[d0, d1]) -> [d0, 0] : tensor<32x256xf16> -> tensor<32x1xf16>
  return %0 : tensor<32x1xf16>
}

// A sum over a dim that the input only repeats counts what is in memory: it is put there.
// CHECK-LABEL: func.func @sum_of_repeated
// CHECK: %[[R:.*]] = spyre.identity (d0 = 4, d1 = 64) ins(%arg0[d0, 0]) -> [d0, d1]
// CHECK: spyre.sum (d0 = 4, d1 = 64) ins(%[[R]][d0, d1]) -> [d0]
func.func @sum_of_repeated(%x: tensor<4x1xf16>) -> tensor<4xf16> {
  %0 = spyre.sum (d0 = 4, d1 = 64) ins(%x[d0, 0]) -> [d0] : tensor<4x1xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// A product with a constant of equal numbers has nothing to contract otherwise.
// CHECK-LABEL: func.func @product_of_number
// CHECK: %[[R:.*]] = spyre.identity (d0 = 64) ins(%{{.*}}[]) -> [d0]
// CHECK: spyre.identity (d0 = 4, d1 = 64) ins(%[[R]][d1]) -> [d0, d1]
// CHECK: spyre.batchmatmul (d0 = 4, d1 = 128, d2 = 64) ins(%{{.*}}[d0, d2],
func.func @product_of_number(%y: tensor<64x128xf16>) -> tensor<4x128xf16> {
  %c = spyre.constant dense<1.0> : tensor<f16> : tensor<f16>
  %0 = spyre.batchmatmul (d0 = 4, d1 = 128, d2 = 64) ins(%c[], %y[d2, d1]) -> [d0, d1] : tensor<f16>, tensor<64x128xf16> -> tensor<4x128xf16>
  return %0 : tensor<4x128xf16>
}

// -----

// A weight is laid out as the product wants it; the same argument otherwise is moved.
// CHECK-LABEL: func.func @weight
// CHECK-SAME: %arg1: tensor<192x128xf16, #spyre.layout<[3, 128, 64], order [1, 0]
// CHECK-NEXT: spyre.batchmatmul
func.func @weight(%x: tensor<32x128xf16>, %w: tensor<192x128xf16> {spyre.weight}) -> tensor<32x192xf16> {
  %0 = spyre.batchmatmul (d0 = 32, d1 = 192, d2 = 128) ins(%x[d0, d2], %w[d1, d2]) -> [d0, d1] : tensor<32x128xf16>, tensor<192x128xf16> -> tensor<32x192xf16>
  return %0 : tensor<32x192xf16>
}
