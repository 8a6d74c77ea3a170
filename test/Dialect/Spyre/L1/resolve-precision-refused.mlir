// RUN: spyre-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(spyre-resolve-precision))'

// A product whose factors are read otherwise than by dims of their own is none that can be split.
// expected-error @below {{'main' has 2 f32 operations that the device cannot compute exactly; not supported}}
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
  // expected-note @below {{spyre.batchmatmul (tensor<8x8xf32>, tensor<8x4xf32>) -> (tensor<4x4xf32>): no f32 form, and its part of the program takes or returns f32}}
  %0 = spyre.batchmatmul (d0 = 4, d1 = 4, d2 = 8) ins(%x[d0 * 2, d2], %y[d2, d1]) -> [d0, d1] : tensor<8x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %1 = spyre.exp (d0 = 4, d1 = 4) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x4xf32> -> tensor<4x4xf32>
  // expected-note @below {{spyre.batchmatmul (tensor<4x4xf32>, tensor<8x4xf32>) -> (tensor<4x4xf32>): no f32 form}}
  %2 = spyre.batchmatmul (d0 = 4, d1 = 4, d2 = 4) ins(%1[d0, d2], %y[d2 * 2, d1]) -> [d0, d1] : tensor<4x4xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
