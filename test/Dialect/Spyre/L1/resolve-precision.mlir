// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-resolve-precision))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-resolve-precision,spyre-resolve-precision))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-resolve-precision))' \
// RUN:   --remarks-filter=precision --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A product of widened values with a bias: 16-bit, accumulated wide.
// CHECK-LABEL: func @widened_matmul
// CHECK-NEXT: %[[M:.*]] = spyre.matmul %arg0, %arg1 : tensor<32x128xf16>, tensor<128x64xf16> -> tensor<32x64xf16>
// CHECK-NEXT: %[[A:.*]] = spyre.add (d0 = 32, d1 = 64) ins(%[[M]][d0, d1], %arg2[d1]) -> [d0, d1] : tensor<32x64xf16>, tensor<64xf16> -> tensor<32x64xf16>
// CHECK-NEXT: return %[[A]]
// REMARK: spyre.matmul is computed at DL16, by rule widened-matmul
// REMARK: spyre.add is computed at DL16, by rule widened-matmul
func.func @widened_matmul(%x: tensor<32x128xf16>, %w: tensor<128x64xf16>, %b: tensor<64xf16>) -> tensor<32x64xf16> {
  %0 = spyre.convert %x : tensor<32x128xf16> to tensor<32x128xf32>
  %1 = spyre.convert %w : tensor<128x64xf16> to tensor<128x64xf32>
  %2 = spyre.convert %b : tensor<64xf16> to tensor<64xf32>
  %3 = spyre.matmul %0, %1 : tensor<32x128xf32>, tensor<128x64xf32> -> tensor<32x64xf32>
  %4 = spyre.add (d0 = 32, d1 = 64) ins(%3[d0, d1], %2[d1]) -> [d0, d1] : tensor<32x64xf32>, tensor<64xf32> -> tensor<32x64xf32>
  %5 = spyre.convert %4 : tensor<32x64xf32> to tensor<32x64xf16>
  return %5 : tensor<32x64xf16>
}

// bf16 is DL16 too; the program's type stays.
// CHECK-LABEL: func @softmax
// CHECK-NOT: f32
// CHECK: spyre.max {{.*}} : tensor<32x200xbf16> -> tensor<32x1xbf16>
// CHECK: spyre.sub
// CHECK: spyre.exp
// CHECK: spyre.sum
// CHECK: %[[R:.*]] = spyre.realdiv {{.*}} -> tensor<32x200xbf16>
// CHECK: return %[[R]]
// REMARK: spyre.max is computed at DL16, by rule softmax
func.func @softmax(%x: tensor<32x200xbf16>) -> tensor<32x200xbf16> {
  %0 = spyre.convert %x : tensor<32x200xbf16> to tensor<32x200xf32>
  %1 = spyre.max (d0 = 32, d1 = 200) ins(%0[d0, d1]) -> [d0, 0] : tensor<32x200xf32> -> tensor<32x1xf32>
  %2 = spyre.sub (d0 = 32, d1 = 200) ins(%0[d0, d1], %1[d0, 0]) -> [d0, d1] : tensor<32x200xf32>, tensor<32x1xf32> -> tensor<32x200xf32>
  %3 = spyre.exp (d0 = 32, d1 = 200) ins(%2[d0, d1]) -> [d0, d1] : tensor<32x200xf32> -> tensor<32x200xf32>
  %4 = spyre.sum (d0 = 32, d1 = 200) ins(%3[d0, d1]) -> [d0, 0] : tensor<32x200xf32> -> tensor<32x1xf32>
  %5 = spyre.realdiv (d0 = 32, d1 = 200) ins(%3[d0, d1], %4[d0, 0]) -> [d0, d1] : tensor<32x200xf32>, tensor<32x1xf32> -> tensor<32x200xf32>
  %6 = spyre.convert %5 : tensor<32x200xf32> to tensor<32x200xbf16>
  return %6 : tensor<32x200xbf16>
}

// The maximum of the columns does not bound the rows: no rule, f32 forms.
// CHECK-LABEL: func @negative_softmax_of_other_dim
// CHECK: spyre.dl16tofp32
// CHECK: spyre.exp {{.*}} -> tensor<8x8xf32>
// CHECK: spyre.fp32todl16
func.func @negative_softmax_of_other_dim(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = spyre.convert %x : tensor<8x8xf16> to tensor<8x8xf32>
  %1 = spyre.max (d0 = 8, d1 = 8) ins(%0[d0, d1]) -> [d0] : tensor<8x8xf32> -> tensor<8xf32>
  %2 = spyre.sub (d0 = 8, d1 = 8) ins(%0[d0, d1], %1[d1]) -> [d0, d1] : tensor<8x8xf32>, tensor<8xf32> -> tensor<8x8xf32>
  %3 = spyre.exp (d0 = 8, d1 = 8) ins(%2[d0, d1]) -> [d0, d1] : tensor<8x8xf32> -> tensor<8x8xf32>
  %4 = spyre.convert %3 : tensor<8x8xf32> to tensor<8x8xf16>
  return %4 : tensor<8x8xf16>
}

// sum / count is one mean; the epsilon keeps its value.
// CHECK-LABEL: func @rms_norm
// CHECK: spyre.constant {{.*}} tensor<f16> {spyre.value = 9.99{{.*}}E-6 : f64}
// CHECK: spyre.mul (d0 = 32, d1 = 512) {{.*}} -> tensor<32x512xf16>
// CHECK: spyre.mean {{.*}} constants {scaling_factor = 0.001953125 : f64} : tensor<32x512xf16> -> tensor<32x1xf16>
// CHECK-NOT: realdiv
// CHECK: spyre.rsqrt {{.*}} -> tensor<32x1xf16>
// CHECK: %[[R:.*]] = spyre.mul {{.*}} -> tensor<32x512xf16>
// CHECK-NEXT: return %[[R]]
// REMARK: spyre.rsqrt is computed at DL16, by rule rms-norm
func.func @rms_norm(%x: tensor<32x512xf16>) -> tensor<32x512xf16> {
  %c = spyre.constant dense<5.120000e+02> : tensor<f32> : tensor<f32>
  %eps = spyre.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : tensor<32x512xf16> to tensor<32x512xf32>
  %1 = spyre.mul (d0 = 32, d1 = 512) ins(%0[d0, d1], %0[d0, d1]) -> [d0, d1] : tensor<32x512xf32>, tensor<32x512xf32> -> tensor<32x512xf32>
  %2 = spyre.sum (d0 = 32, d1 = 512) ins(%1[d0, d1]) -> [d0, 0] : tensor<32x512xf32> -> tensor<32x1xf32>
  %3 = spyre.realdiv (d0 = 32, d1 = 1) ins(%2[d0, 0], %c[]) -> [d0, d1] : tensor<32x1xf32>, tensor<f32> -> tensor<32x1xf32>
  %4 = spyre.add (d0 = 32, d1 = 1) ins(%3[d0, 0], %eps[]) -> [d0, d1] : tensor<32x1xf32>, tensor<f32> -> tensor<32x1xf32>
  %5 = spyre.rsqrt (d0 = 32, d1 = 1) ins(%4[d0, 0]) -> [d0, d1] : tensor<32x1xf32> -> tensor<32x1xf32>
  %6 = spyre.mul (d0 = 32, d1 = 512) ins(%0[d0, d1], %5[d0, 0]) -> [d0, d1] : tensor<32x512xf32>, tensor<32x1xf32> -> tensor<32x512xf32>
  %7 = spyre.convert %6 : tensor<32x512xf32> to tensor<32x512xf16>
  return %7 : tensor<32x512xf16>
}

// Squares of numbers that vanish beside no epsilon: f32.
// CHECK-LABEL: func @negative_rms_norm_without_epsilon
// CHECK: spyre.mean {{.*}} -> tensor<32x1xf32>
func.func @negative_rms_norm_without_epsilon(%x: tensor<32x512xf16>) -> tensor<32x512xf16> {
  %eps = spyre.constant dense<1.0e-12> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : tensor<32x512xf16> to tensor<32x512xf32>
  %1 = spyre.mul (d0 = 32, d1 = 512) ins(%0[d0, d1], %0[d0, d1]) -> [d0, d1] : tensor<32x512xf32>, tensor<32x512xf32> -> tensor<32x512xf32>
  %2 = spyre.mean (d0 = 32, d1 = 512) ins(%1[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.001953125 : f64} : tensor<32x512xf32> -> tensor<32x1xf32>
  %4 = spyre.add (d0 = 32, d1 = 1) ins(%2[d0, 0], %eps[]) -> [d0, d1] : tensor<32x1xf32>, tensor<f32> -> tensor<32x1xf32>
  %5 = spyre.rsqrt (d0 = 32, d1 = 1) ins(%4[d0, 0]) -> [d0, d1] : tensor<32x1xf32> -> tensor<32x1xf32>
  %6 = spyre.mul (d0 = 32, d1 = 512) ins(%0[d0, d1], %5[d0, 0]) -> [d0, d1] : tensor<32x512xf32>, tensor<32x1xf32> -> tensor<32x512xf32>
  %7 = spyre.convert %6 : tensor<32x512xf32> to tensor<32x512xf16>
  return %7 : tensor<32x512xf16>
}

// CHECK-LABEL: func @silu
// CHECK-NEXT: %[[R:.*]] = spyre.silu (d0 = 4) ins(%arg0[d0]) -> [d0] : tensor<4xf16> -> tensor<4xf16>
// CHECK-NEXT: return %[[R]]
func.func @silu(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.convert %x : tensor<4xf16> to tensor<4xf32>
  %1 = spyre.sigmoid (d0 = 4) ins(%0[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %2 = spyre.mul (d0 = 4) ins(%0[d0], %1[d0]) -> [d0] : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %3 = spyre.convert %2 : tensor<4xf32> to tensor<4xf16>
  return %3 : tensor<4xf16>
}

// CHECK-LABEL: func @chain
// CHECK-NEXT: %[[E:.*]] = spyre.exp {{.*}} -> tensor<4xf16>
// CHECK-NEXT: %[[R:.*]] = spyre.reciprocal {{.*}} -> tensor<4xf16>
// CHECK-NEXT: return %[[R]]
// REMARK: spyre.exp is computed at DL16, by rule one-operand-chain
func.func @chain(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.convert %x : tensor<4xf16> to tensor<4xf32>
  %1 = spyre.exp (d0 = 4) ins(%0[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %2 = spyre.reciprocal (d0 = 4) ins(%1[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %3 = spyre.convert %2 : tensor<4xf32> to tensor<4xf16>
  return %3 : tensor<4xf16>
}

// The norm of one element: exporters leave a sum over it and no division.
// CHECK-LABEL: func @rms_norm_of_one_element
// CHECK-NEXT: spyre.mul {{.*}} -> tensor<3x1xf16>
// CHECK-NEXT: spyre.sum {{.*}} -> tensor<3x1xf16>
func.func @rms_norm_of_one_element(%x: tensor<3x1xf16>) -> tensor<3x1xf16> {
  %0 = spyre.convert %x : tensor<3x1xf16> to tensor<3x1xf32>
  %1 = spyre.mul (d0 = 3, d1 = 1) ins(%0[d0, 0], %0[d0, 0]) -> [d0, d1] : tensor<3x1xf32>, tensor<3x1xf32> -> tensor<3x1xf32>
  %2 = spyre.sum (d0 = 3, d1 = 1) ins(%1[d0, d1]) -> [d0, 0] : tensor<3x1xf32> -> tensor<3x1xf32>
  %3 = spyre.constant dense<9.99999974E-6> : tensor<f32> {spyre.value = 1.000000e-05 : f64} : tensor<f32>
  %4 = spyre.add (d0 = 3, d1 = 1) ins(%2[d0, 0], %3[]) -> [d0, d1] : tensor<3x1xf32>, tensor<f32> -> tensor<3x1xf32>
  %5 = spyre.rsqrt (d0 = 3, d1 = 1) ins(%4[d0, 0]) -> [d0, d1] : tensor<3x1xf32> -> tensor<3x1xf32>
  %6 = spyre.mul (d0 = 3, d1 = 1) ins(%0[d0, 0], %5[d0, 0]) -> [d0, d1] : tensor<3x1xf32>, tensor<3x1xf32> -> tensor<3x1xf32>
  %7 = spyre.convert %6 : tensor<3x1xf32> to tensor<3x1xf16>
  return %7 : tensor<3x1xf16>
}

// exp amplifies the error of what comes before it.
// CHECK-LABEL: func @negative_chain
// CHECK: spyre.sqrt {{.*}} -> tensor<4xf32>
// CHECK: spyre.exp {{.*}} -> tensor<4xf32>
func.func @negative_chain(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.convert %x : tensor<4xf16> to tensor<4xf32>
  %1 = spyre.sqrt (d0 = 4) ins(%0[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %2 = spyre.exp (d0 = 4) ins(%1[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %3 = spyre.convert %2 : tensor<4xf32> to tensor<4xf16>
  return %3 : tensor<4xf16>
}

// So does sigmoid of a negative value; an exact operation before it does no harm.
// CHECK-LABEL: func @negative_sigmoid_after_exp
// CHECK: spyre.exp {{.*}} -> tensor<4xf32>
func.func @negative_sigmoid_after_exp(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.convert %x : tensor<4xf16> to tensor<4xf32>
  %1 = spyre.exp (d0 = 4) ins(%0[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %2 = spyre.neg (d0 = 4) ins(%1[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %3 = spyre.sigmoid (d0 = 4) ins(%2[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %4 = spyre.convert %3 : tensor<4xf32> to tensor<4xf16>
  return %4 : tensor<4xf16>
}

// CHECK-LABEL: func @sigmoid_after_neg
// CHECK-NOT: f32
// CHECK: spyre.sigmoid {{.*}} -> tensor<4xf16>
func.func @sigmoid_after_neg(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.convert %x : tensor<4xf16> to tensor<4xf32>
  %1 = spyre.neg (d0 = 4) ins(%0[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %2 = spyre.sigmoid (d0 = 4) ins(%1[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %3 = spyre.convert %2 : tensor<4xf32> to tensor<4xf16>
  return %3 : tensor<4xf16>
}

// Five roundings one after another are more than a 16-bit result may be off by.
// CHECK-LABEL: func @negative_long_chain
// CHECK: spyre.reciprocal {{.*}} -> tensor<4xf32>
func.func @negative_long_chain(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.convert %x : tensor<4xf16> to tensor<4xf32>
  %1 = spyre.exp (d0 = 4) ins(%0[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %2 = spyre.reciprocal (d0 = 4) ins(%1[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %3 = spyre.reciprocal (d0 = 4) ins(%2[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %4 = spyre.reciprocal (d0 = 4) ins(%3[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %5 = spyre.reciprocal (d0 = 4) ins(%4[d0]) -> [d0] : tensor<4xf32> -> tensor<4xf32>
  %6 = spyre.convert %5 : tensor<4xf32> to tensor<4xf16>
  return %6 : tensor<4xf16>
}

// Centring stays f32, and what reads it: spyre-expand-functions writes tanh with other operations.
// CHECK-LABEL: func @mixed
// CHECK: %[[X:.*]] = spyre.dl16tofp32 (d0 = 4, d1 = 8) ins(%arg0[d0, d1])
// CHECK: %[[M:.*]] = spyre.mean (d0 = 4, d1 = 8) ins(%[[X]][d0, d1]) {{.*}} -> tensor<4x1xf32>
// CHECK: %[[S:.*]] = spyre.sub {{.*}} -> tensor<4x8xf32>
// CHECK: %[[T:.*]] = spyre.tanh (d0 = 4, d1 = 8) ins(%[[S]][d0, d1]) -> [d0, d1] : tensor<4x8xf32>
// CHECK: %[[R:.*]] = spyre.fp32todl16 (d0 = 4, d1 = 8) ins(%[[T]][d0, d1])
// CHECK: return %[[R]]
func.func @mixed(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.convert %x : tensor<4x8xf16> to tensor<4x8xf32>
  %1 = spyre.mean (d0 = 4, d1 = 8) ins(%0[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.125 : f64} : tensor<4x8xf32> -> tensor<4x1xf32>
  %2 = spyre.sub (d0 = 4, d1 = 8) ins(%0[d0, d1], %1[d0, 0]) -> [d0, d1] : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  %3 = spyre.tanh (d0 = 4, d1 = 8) ins(%2[d0, d1]) -> [d0, d1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = spyre.convert %3 : tensor<4x8xf32> to tensor<4x8xf16>
  return %4 : tensor<4x8xf16>
}

// The device's own products have 16-bit factors, which do where the caller sees no f32.
// CHECK-LABEL: func @product
// CHECK: %[[S:.*]] = spyre.sub {{.*}} -> tensor<4x8xf32>
// CHECK: %[[H:.*]] = spyre.fp32todl16 (d0 = 4, d1 = 8) ins(%[[S]][d0, d1])
// CHECK: spyre.matmul %[[H]], %arg1 : tensor<4x8xf16>, tensor<8x4xf16> -> tensor<4x4xf16>
// REMARK: spyre.matmul is computed at DL16, by rule no-f32-form
func.func @product(%x: tensor<4x8xf16>, %w: tensor<8x4xf16>) -> tensor<4x4xf16> {
  %0 = spyre.convert %x : tensor<4x8xf16> to tensor<4x8xf32>
  %1 = spyre.mean (d0 = 4, d1 = 8) ins(%0[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.125 : f64} : tensor<4x8xf32> -> tensor<4x1xf32>
  %2 = spyre.sub (d0 = 4, d1 = 8) ins(%0[d0, d1], %1[d0, 0]) -> [d0, d1] : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  %3 = spyre.convert %w : tensor<8x4xf16> to tensor<8x4xf32>
  %4 = spyre.matmul %2, %3 : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %5 = spyre.convert %4 : tensor<4x4xf32> to tensor<4x4xf16>
  return %5 : tensor<4x4xf16>
}

// f32 that the caller sees is computed in f32.
// CHECK-LABEL: func @visible
// CHECK-NEXT: %[[X:.*]] = spyre.dl16tofp32 (d0 = 4) ins(%arg1[d0])
// CHECK-NEXT: %[[R:.*]] = spyre.add (d0 = 4) ins(%arg0[d0], %[[X]][d0]) -> [d0] : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: return %[[R]]
func.func @visible(%x: tensor<4xf32>, %y: tensor<4xf16>) -> tensor<4xf32> {
  %0 = spyre.convert %y : tensor<4xf16> to tensor<4xf32>
  %1 = spyre.add (d0 = 4) ins(%x[d0], %0[d0]) -> [d0] : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @negative
// CHECK-NEXT: spyre.exp
// CHECK-NEXT: return
// REMARK-NOT: remark
func.func @negative(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = spyre.exp (d0 = 4) ins(%x[d0]) -> [d0] : tensor<4xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
