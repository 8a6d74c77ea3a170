// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-split-dims))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-split-dims,spyre-split-dims))' | FileCheck %s

// CHECK-LABEL: func @iteration
// CHECK: spyre.exp (d0 = 2, d1 = 32, d2 = 128) ins(%arg0[d0, d1, d2]) -> [d0 * 32 + d1, d2]
func.func @iteration(%x: tensor<2x32x128xf16>) -> tensor<64x128xf16> {
  %1 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0 floordiv 32, d0 mod 32, d1]) -> [d0, d1] : tensor<2x32x128xf16> -> tensor<64x128xf16>
  return %1 : tensor<64x128xf16>
}

// The tensor between follows, and so does its writer.
// CHECK-LABEL: func @intermediate
// CHECK: %[[MM:.*]] = spyre.batchmatmul (d0 = 2, d1 = 32, d2 = 64, d3 = 128) ins(%arg0[d0, d1, d3], %arg1[d2, d3]) -> [d0, d1, d2] : {{.*}} -> tensor<2x32x64xf16>
// CHECK: spyre.add (d0 = 2, d1 = 32, d2 = 64) ins(%[[MM]][d0, d1, d2], %arg2[d2]) -> [d0, d1, d2]
func.func @intermediate(%x: tensor<2x32x128xf16>, %w: tensor<64x128xf16>, %b: tensor<64xf16>) -> tensor<2x32x64xf16> {
  %0 = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 128) ins(%x[d0 floordiv 32, d0 mod 32, d2], %w[d1, d2]) -> [d0, d1] : tensor<2x32x128xf16>, tensor<64x128xf16> -> tensor<64x64xf16>
  %1 = spyre.add (d0 = 64, d1 = 64) ins(%0[d0, d1], %b[d1]) -> [d0 floordiv 32, d0 mod 32, d1] : tensor<64x64xf16>, tensor<64xf16> -> tensor<2x32x64xf16>
  return %1 : tensor<2x32x64xf16>
}

// Three parts of one dim.
// CHECK-LABEL: func @three
// CHECK: spyre.add (d0 = 2, d1 = 3, d2 = 4) ins(%arg0[d0, d1, d2], %arg1[d0, d1 * 4 + d2]) -> [d0, d1, d2]
func.func @three(%x: tensor<2x3x4xf16>, %y: tensor<2x12xf16>) -> tensor<2x3x4xf16> {
  %0 = spyre.add (d0 = 24) ins(%x[d0 floordiv 12, (d0 mod 12) floordiv 4, d0 mod 4], %y[d0 floordiv 12, d0 mod 12]) -> [d0 floordiv 12, (d0 mod 12) floordiv 4, d0 mod 4] : tensor<2x3x4xf16>, tensor<2x12xf16> -> tensor<2x3x4xf16>
  return %0 : tensor<2x3x4xf16>
}

// CHECK-LABEL: func @unit_dims
// CHECK: spyre.add (d0 = 32) ins(%arg0[d0, 0], %arg1[0, 0]) -> [d0, 0]
func.func @unit_dims(%x: tensor<32x1xf16>, %y: tensor<1x1xf16>) -> tensor<32x1xf16> {
  %0 = spyre.add (d0 = 32, d1 = 1) ins(%x[d0, d1], %y[0, d1]) -> [d0, d1] : tensor<32x1xf16>, tensor<1x1xf16> -> tensor<32x1xf16>
  return %0 : tensor<32x1xf16>
}

// Dims that do not divide each other stay: 24 as 6x4 and as 4x6.
// CHECK-LABEL: func @negative_no_chain
// CHECK: spyre.add (d0 = 24) ins(%arg0[d0 floordiv 4, d0 mod 4], %arg1[d0 floordiv 6, d0 mod 6]) -> [d0]
func.func @negative_no_chain(%x: tensor<6x4xf16>, %y: tensor<4x6xf16>) -> tensor<24xf16> {
  %0 = spyre.add (d0 = 24) ins(%x[d0 floordiv 4, d0 mod 4], %y[d0 floordiv 6, d0 mod 6]) -> [d0] : tensor<6x4xf16>, tensor<4x6xf16> -> tensor<24xf16>
  return %0 : tensor<24xf16>
}

// CHECK-LABEL: func @negative
// CHECK-NEXT: spyre.exp (d0 = 4, d1 = 8) ins(%arg0[d0, d1]) -> [d0, d1]
// CHECK-NEXT: return
func.func @negative(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// The reader takes three of the joined pairs: two dims have no part of that size,
// so the value keeps its dim, whatever its writer does.
// CHECK-LABEL: func.func @negative_part_of_pairs
// CHECK: spyre.identity (d0 = 2, d1 = 2, d2 = 64) ins(%arg0[d0, d1, d2]) -> [d0 * 2 + d1, d2] : tensor<2x2x64xf16> -> tensor<4x64xf16>
// CHECK: spyre.exp (d0 = 3, d1 = 64) ins(%{{.*}}[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<3x64xf16>
func.func @negative_part_of_pairs(%arg0: tensor<2x2x64xf16>) -> tensor<3x64xf16> {
  %0 = spyre.identity (d0 = 4, d1 = 64) ins(%arg0[d0 floordiv 2, d0 mod 2, d1]) -> [d0, d1] : tensor<2x2x64xf16> -> tensor<4x64xf16>
  %1 = spyre.exp (d0 = 3, d1 = 64) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<3x64xf16>
  return %1 : tensor<3x64xf16>
}
