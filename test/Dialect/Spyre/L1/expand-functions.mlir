// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-expand-functions))' | FileCheck %s

// Only the integer exponent comes from the 16-bit logarithm, of a power of two's root.
// CHECK-LABEL: func @log
// CHECK: spyre.sqrt {{.*}}f32
// CHECK: spyre.log {{.*}}tensor<64xf16> -> tensor<64xf16>
// CHECK: spyre.floor {{.*}}f32
// CHECK-NOT: spyre.log
func.func @log(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = spyre.log (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf32> -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// What it reads and writes by maps stays so.
// CHECK-LABEL: func @tanh
// CHECK-NOT: spyre.tanh
// CHECK: spyre.view %arg0[d1, d0] : tensor<64x32xf32> -> tensor<32x64xf32>
// CHECK: spyre.exp (d0 = 32, d1 = 64)
// CHECK: spyre.identity (d0 = 32, d1 = 64) {{.*}} -> [d1, d0]
func.func @tanh(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = spyre.tanh (d0 = 32, d1 = 64) ins(%x[d1, d0]) -> [d1, d0] : tensor<64x32xf32> -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// CHECK-LABEL: func @others
// CHECK-NOT: spyre.gelufwd
// CHECK-NOT: spyre.softplus
// CHECK: spyre.silu
// CHECK: spyre.tanh {{.*}}f16
func.func @others(%x: tensor<64xf32>, %y: tensor<64xf16>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf16>) {
  %0 = spyre.gelufwd (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf32> -> tensor<64xf32>
  %1 = spyre.softplus (d0 = 64) ins(%x[d0]) -> [d0] constants {softplusBeta = 2.0 : f64, softplusThresh = 20.0 : f64} : tensor<64xf32> -> tensor<64xf32>
  %2 = spyre.silu (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf32> -> tensor<64xf32>
  %3 = spyre.tanh (d0 = 64) ins(%y[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf16>
  return %0, %1, %2, %3 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf16>
}
