// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-fold-views))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-fold-views,spyre-fold-views))' | FileCheck %s
// CHECK-NOT: spyre.view

// CHECK-LABEL: func @into_reader
// CHECK: spyre.exp (d0 = 64, d1 = 128) ins(%arg0[d0 floordiv 32, d0 mod 32, d1]) -> [d0, d1]
func.func @into_reader(%x: tensor<2x32x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.view %x[d0 floordiv 32, d0 mod 32, d1] : tensor<2x32x128xf16> -> tensor<64x128xf16>
  %1 = spyre.exp (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  return %1 : tensor<64x128xf16>
}

// CHECK-LABEL: func @into_writer
// CHECK: %[[R:.*]] = spyre.exp (d0 = 64, d1 = 128) ins(%arg0[d0, d1]) -> [d0 floordiv 32, d0 mod 32, d1] : tensor<64x128xf16> -> tensor<2x32x128xf16>
// CHECK: return %[[R]]
func.func @into_writer(%x: tensor<64x128xf16>) -> tensor<2x32x128xf16> {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  %1 = spyre.view %0[d0 * 32 + d1, d2] : tensor<64x128xf16> -> tensor<2x32x128xf16>
  return %1 : tensor<2x32x128xf16>
}

// Transposed back and forth is nothing.
// CHECK-LABEL: func @views_of_views
// CHECK-NEXT: spyre.neg (d0 = 4, d1 = 8) ins(%arg0[d0, d1]) -> [d0, d1]
func.func @views_of_views(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.view %x[d1, d0] : tensor<4x8xf16> -> tensor<8x4xf16>
  %1 = spyre.view %0[d1, d0] : tensor<8x4xf16> -> tensor<4x8xf16>
  %2 = spyre.neg (d0 = 4, d1 = 8) ins(%1[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %2 : tensor<4x8xf16>
}

// Slices, expansion and a number.
// CHECK-LABEL: func @slices
// CHECK: %[[C:.*]] = spyre.constant dense<2.000000e+00> : tensor<f16>
// CHECK: spyre.add (d0 = 4, d1 = 8) ins(%arg0[0, d1 * 2 + 3], %[[C]][]) -> [d0, d1]
func.func @slices(%x: tensor<1x32xf16>) -> tensor<4x8xf16> {
  %c = spyre.constant dense<2.0> : tensor<4x8xf16> : tensor<4x8xf16>
  %0 = spyre.view %x[d0, d1 * 2 + 3] : tensor<1x32xf16> -> tensor<1x8xf16>
  %1 = spyre.view %0[0, d1] : tensor<1x8xf16> -> tensor<4x8xf16>
  %2 = spyre.add (d0 = 4, d1 = 8) ins(%1[d0, d1], %c[d0, d1]) -> [d0, d1] : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  return %2 : tensor<4x8xf16>
}

// A value with another reader keeps its shape; the view goes to its reader.
// CHECK-LABEL: func @two_readers
// CHECK: %[[R:.*]] = spyre.exp {{.*}} -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
// CHECK: %[[N:.*]] = spyre.neg (d0 = 8, d1 = 4) ins(%[[R]][d1, d0]) -> [d0, d1]
// CHECK: return %[[R]], %[[N]]
func.func @two_readers(%x: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<8x4xf16>) {
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  %1 = spyre.view %0[d1, d0] : tensor<4x8xf16> -> tensor<8x4xf16>
  %2 = spyre.neg (d0 = 8, d1 = 4) ins(%1[d0, d1]) -> [d0, d1] : tensor<8x4xf16> -> tensor<8x4xf16>
  return %0, %2 : tensor<4x8xf16>, tensor<8x4xf16>
}

// A returned view of an argument is a copy.
// CHECK-LABEL: func @returned
// CHECK: %[[R:.*]] = spyre.identity (d0 = 8, d1 = 4) ins(%arg0[d1, d0]) -> [d0, d1]
// CHECK: return %[[R]]
func.func @returned(%x: tensor<4x8xf16>) -> tensor<8x4xf16> {
  %0 = spyre.view %x[d1, d0] : tensor<4x8xf16> -> tensor<8x4xf16>
  return %0 : tensor<8x4xf16>
}

// 6x4 read as 4x6 is no sum of digits: it goes through a flat copy.
// CHECK-LABEL: func @no_digits
// CHECK: %[[FLAT:.*]] = spyre.identity (d0 = 24) ins(%arg0[d0 floordiv 4, d0 mod 4]) -> [d0]
// CHECK: spyre.exp (d0 = 4, d1 = 6) ins(%[[FLAT]][d0 * 6 + d1]) -> [d0, d1]
func.func @no_digits(%x: tensor<6x4xf16>) -> tensor<4x6xf16> {
  %0 = spyre.view %x[d0 floordiv 4, d0 mod 4] : tensor<6x4xf16> -> tensor<24xf16>
  %1 = spyre.view %0[d0 * 6 + d1] : tensor<24xf16> -> tensor<4x6xf16>
  %2 = spyre.exp (d0 = 4, d1 = 6) ins(%1[d0, d1]) -> [d0, d1] : tensor<4x6xf16> -> tensor<4x6xf16>
  return %2 : tensor<4x6xf16>
}

// The device generates one dim: a split of it stays with the reader.
// CHECK-LABEL: func @generated_dim
// CHECK: %[[R:.*]] = spyre.batchmatmul {{.*}} -> [d0, d1] : {{.*}} -> tensor<4x128xf16>
// CHECK: spyre.exp (d0 = 4, d1 = 2, d2 = 64) ins(%[[R]][d0, d1 * 64 + d2]) -> [d0, d1, d2]
func.func @generated_dim(%x: tensor<4x32xf16>, %y: tensor<32x128xf16>) -> tensor<4x2x64xf16> {
  %0 = spyre.batchmatmul (d0 = 4, d1 = 128, d2 = 32) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : tensor<4x32xf16>, tensor<32x128xf16> -> tensor<4x128xf16>
  %1 = spyre.view %0[d0, d1 * 64 + d2] : tensor<4x128xf16> -> tensor<4x2x64xf16>
  %2 = spyre.exp (d0 = 4, d1 = 2, d2 = 64) ins(%1[d0, d1, d2]) -> [d0, d1, d2] : tensor<4x2x64xf16> -> tensor<4x2x64xf16>
  return %2 : tensor<4x2x64xf16>
}

// CHECK-LABEL: func @negative
// CHECK-NEXT: spyre.exp (d0 = 4, d1 = 8) ins(%arg0[d0, d1]) -> [d0, d1]
// CHECK-NEXT: return
func.func @negative(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// The maximum of a repeated value is taken once and repeated by its readers.
// CHECK-LABEL: func.func @reduction_of_repeated
// CHECK-NEXT: %[[M:.*]] = spyre.max (d0 = 2, d1 = 64) ins(%arg0[d0, d1]) -> [d0, 0] : tensor<2x64xf16> -> tensor<2x1xf16>
// CHECK-NEXT: spyre.sub (d0 = 2, d1 = 3, d2 = 64) ins(%arg1[d0, d1, d2], %[[M]][d0, 0])
func.func @reduction_of_repeated(%x: tensor<2x64xf16>, %y: tensor<2x3x64xf16>) -> tensor<2x3x64xf16> {
  %0 = spyre.view %x[d0, d2] : tensor<2x64xf16> -> tensor<2x3x64xf16>
  %1 = spyre.max (d0 = 2, d1 = 3, d2 = 64) ins(%0[d0, d1, d2]) -> [d0, d1, 0] : tensor<2x3x64xf16> -> tensor<2x3x1xf16>
  %2 = spyre.sub (d0 = 2, d1 = 3, d2 = 64) ins(%y[d0, d1, d2], %1[d0, d1, 0]) -> [d0, d1, d2] : tensor<2x3x64xf16>, tensor<2x3x1xf16> -> tensor<2x3x64xf16>
  return %2 : tensor<2x3x64xf16>
}

// What the sum itself repeats (its reduced dim) stays.
// CHECK-LABEL: func.func @negative_repeated_sum
// CHECK-NEXT: spyre.sum (d0 = 2, d1 = 3, d2 = 64) ins(%arg0[d0, d2]) -> [d0, 0, d2]
func.func @negative_repeated_sum(%x: tensor<2x64xf16>) -> tensor<2x1x64xf16> {
  %0 = spyre.view %x[d0, d2] : tensor<2x64xf16> -> tensor<2x3x64xf16>
  %1 = spyre.sum (d0 = 2, d1 = 3, d2 = 64) ins(%0[d0, d1, d2]) -> [d0, 0, d2] : tensor<2x3x64xf16> -> tensor<2x1x64xf16>
  return %1 : tensor<2x1x64xf16>
}
