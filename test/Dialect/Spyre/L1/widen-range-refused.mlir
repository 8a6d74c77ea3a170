// RUN: not spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-widen-range))' 2>&1 | FileCheck %s

// CHECK: error: 'f' has 1 operation that may read numbers beyond the range of the device's 16-bit format; not supported
// CHECK: note: spyre.qfp8ch: a constant makes its operand smaller or larger than the device's 16-bit numbers, and it has no f32 form
func.func @f(%x: tensor<64xbf16>) -> tensor<64xf8E4M3FN> {
  %e = spyre.constant dense<1.000440e-10> : tensor<bf16> : tensor<bf16>
  %0 = spyre.maximum (d0 = 64) ins(%x[d0], %e[]) -> [d0] : tensor<64xbf16>, tensor<bf16> -> tensor<64xbf16>
  %1 = spyre.qfp8ch (d0 = 64) ins(%0[d0]) -> [d0] : tensor<64xbf16> -> tensor<64xf8E4M3FN>
  return %1 : tensor<64xf8E4M3FN>
}
