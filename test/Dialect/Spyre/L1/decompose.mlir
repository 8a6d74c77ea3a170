// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-decompose))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-decompose,spyre-decompose))' | FileCheck %s

// CHECK-LABEL: func @softmax
// CHECK: %[[MAX:.*]] = spyre.max (d0 = 32, d1 = 256) ins(%arg0[d0, d1]) -> [d0, 0]
// CHECK: %[[SUB:.*]] = spyre.sub (d0 = 32, d1 = 256) ins(%arg0[d0, d1], %[[MAX]][d0, 0]) -> [d0, d1]
// CHECK: %[[EXP:.*]] = spyre.exp (d0 = 32, d1 = 256) ins(%[[SUB]][d0, d1]) -> [d0, d1]
// CHECK: %[[SUM:.*]] = spyre.sum (d0 = 32, d1 = 256) ins(%[[EXP]][d0, d1]) -> [d0, 0]
// CHECK: %[[DIV:.*]] = spyre.realdiv (d0 = 32, d1 = 256) ins(%[[EXP]][d0, d1], %[[SUM]][d0, 0]) -> [d0, d1]
// CHECK: return %[[DIV]]
func.func @softmax(%x: tensor<32x256xf16>) -> tensor<32x256xf16> {
  %0 = spyre.softmax %x along 1 : tensor<32x256xf16> -> tensor<32x256xf16>
  return %0 : tensor<32x256xf16>
}

// CHECK-LABEL: func @log_softmax_of_columns
// CHECK: %[[MAX:.*]] = spyre.max (d0 = 4, d1 = 8) ins(%arg0[d0, d1]) -> [0, d1]
// CHECK: %[[SUB:.*]] = spyre.sub
// CHECK: %[[SUM:.*]] = spyre.sum (d0 = 4, d1 = 8) {{.*}} -> [0, d1]
// CHECK: %[[LOG:.*]] = spyre.log (d0 = 1, d1 = 8) ins(%[[SUM]][0, d1])
// CHECK: spyre.sub (d0 = 4, d1 = 8) ins(%[[SUB]][d0, d1], %[[LOG]][0, d1]) -> [d0, d1]
func.func @log_softmax_of_columns(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.log_softmax %x along 0 : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// CHECK-LABEL: func @rms_norm
// CHECK: %[[SQUARE:.*]] = spyre.mul (d0 = 32, d1 = 512) ins(%arg0[d0, d1], %arg0[d0, d1])
// CHECK: %[[MEAN:.*]] = spyre.mean (d0 = 32, d1 = 512) ins(%[[SQUARE]][d0, d1]) -> [d0, 0] constants {scaling_factor = 0.001953125 : f64}
// CHECK: %[[EPS:.*]] = spyre.constant dense<{{.*}}> : tensor<f16> {spyre.value = 1.000000e-05 : f64}
// CHECK: %[[ADD:.*]] = spyre.add (d0 = 32, d1 = 1) ins(%[[MEAN]][d0, 0], %[[EPS]][])
// CHECK: %[[RSQRT:.*]] = spyre.rsqrt (d0 = 32, d1 = 1) ins(%[[ADD]][d0, 0])
// CHECK: %[[NORM:.*]] = spyre.mul (d0 = 32, d1 = 512) ins(%arg0[d0, d1], %[[RSQRT]][d0, 0])
// CHECK: spyre.mul (d0 = 32, d1 = 512) ins(%[[NORM]][d0, d1], %arg1[d1])
func.func @rms_norm(%x: tensor<32x512xf16>, %w: tensor<512xf16>) -> tensor<32x512xf16> {
  %0 = spyre.rms_norm %x weight(%w : tensor<512xf16>) over 1 epsilon 1.0e-05 : tensor<32x512xf16> -> tensor<32x512xf16>
  return %0 : tensor<32x512xf16>
}

// CHECK-LABEL: func @linear
// CHECK: %[[MM:.*]] = spyre.batchmatmul (d0 = 2, d1 = 32, d2 = 64, d3 = 128) ins(%arg0[d0, d1, d3], %arg1[d2, d3]) -> [d0, d1, d2]
// CHECK: spyre.add (d0 = 2, d1 = 32, d2 = 64) ins(%[[MM]][d0, d1, d2], %arg2[d2]) -> [d0, d1, d2]
func.func @linear(%x: tensor<2x32x128xf16>, %w: tensor<64x128xf16>, %b: tensor<64xf16>) -> tensor<2x32x64xf16> {
  %0 = spyre.linear %x, %w bias(%b : tensor<64xf16>) : tensor<2x32x128xf16>, tensor<64x128xf16> -> tensor<2x32x64xf16>
  return %0 : tensor<2x32x64xf16>
}

// Batch dims broadcast.
// CHECK-LABEL: func @matmul
// CHECK: spyre.batchmatmul (d0 = 5, d1 = 3, d2 = 4, d3 = 6, d4 = 8) ins(%arg0[d0, 0, d2, d4], %arg1[d1, d4, d3]) -> [d0, d1, d2, d3]
func.func @matmul(%x: tensor<5x1x4x8xf16>, %y: tensor<3x8x6xf16>) -> tensor<5x3x4x6xf16> {
  %0 = spyre.matmul %x, %y : tensor<5x1x4x8xf16>, tensor<3x8x6xf16> -> tensor<5x3x4x6xf16>
  return %0 : tensor<5x3x4x6xf16>
}

// A contraction over one element is an outer product.
// CHECK-LABEL: func @outer_product
// CHECK-NOT: batchmatmul
// CHECK: spyre.mul (d0 = 1, d1 = 64, d2 = 12) ins(%arg0[0, d1, 0], %arg1[0, 0, d2]) -> [d0, d1, d2]
func.func @outer_product(%x: tensor<1x64x1xf16>, %y: tensor<1x1x12xf16>) -> tensor<1x64x12xf16> {
  %0 = spyre.matmul %x, %y : tensor<1x64x1xf16>, tensor<1x1x12xf16> -> tensor<1x64x12xf16>
  return %0 : tensor<1x64x12xf16>
}

// Device operations stay as they are.
// CHECK-LABEL: func @negative
// CHECK-NEXT: spyre.exp
// CHECK-NEXT: return
func.func @negative(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}
