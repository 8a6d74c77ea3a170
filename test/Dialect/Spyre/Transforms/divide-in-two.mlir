// RUN: spyre-opt %s --spyre-divide-work -split-input-file -verify-diagnostics | FileCheck %s

// 769 sticks have no divisor: no core reaches all of the weight, and there are no equal
// parts of it. 768 sticks have; the last three columns are a product of their own.
// CHECK-LABEL: func.func @vocabulary
// CHECK: %[[FIRST:.*]] = spyre.batchmatmul (d0 = 16{{.*}}, d1 = 49152 / {{.*}}, d2 = 4096) ins(%arg0[d0, d2], %arg1[d1, d2]) -> [d0, d1]
// CHECK: %[[ALL:.*]] = spyre.batchmatmul (d0 = 16{{.*}}, d1 = 3, d2 = 4096{{.*}}) ins(%arg0[d0, d2], %arg1[d1 + 49152, d2]) outs(%[[FIRST]][d0, d1 + 49152])
// CHECK: return %[[ALL]]
func.func @vocabulary(%x: tensor<16x4096xf16, #spyre.layout<[64, 16, 64], order [0, 1], SEN169_FP16>>, %w: tensor<49155x4096xf16, #spyre.layout<[769, 4096, 64], order [1, 0], SEN169_FP16>>) -> tensor<16x49155xf16, #spyre.layout<[769, 16, 64], order [0, 1], SEN169_FP16>> {
  %0 = spyre.batchmatmul (d0 = 16, d1 = 49155, d2 = 4096) ins(%x[d0, d2], %w[d1, d2]) -> [d0, d1] : tensor<16x4096xf16, #spyre.layout<[64, 16, 64], order [0, 1], SEN169_FP16>>, tensor<49155x4096xf16, #spyre.layout<[769, 4096, 64], order [1, 0], SEN169_FP16>> -> tensor<16x49155xf16, #spyre.layout<[769, 16, 64], order [0, 1], SEN169_FP16>>
  return %0 : tensor<16x49155xf16, #spyre.layout<[769, 16, 64], order [0, 1], SEN169_FP16>>
}

// -----

// What is in the result already stays: the first part updates it.
// CHECK-LABEL: func.func @updates
// CHECK: %[[FIRST:.*]] = spyre.exp (d0 = 4096{{.*}}, d1 = 49152 / {{.*}}) ins(%arg0[d0, d1]) outs(%arg1[d0, d1])
// CHECK: spyre.exp (d0 = 4096{{.*}}, d1 = 64) ins(%arg0[d0, d1 + 49152]) outs(%[[FIRST]][d0, d1 + 49152])
func.func @updates(%x: tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>>, %y: tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>>) -> tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>> {
  %0 = spyre.exp (d0 = 4096, d1 = 49216) ins(%x[d0, d1]) outs(%y[d0, d1]) : tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>> -> tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>>
  return %0 : tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>>
}

// -----

// Negative: a dim that is reduced is not cut.
func.func @reduces(%x: tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>>) -> tensor<4096xf16, #spyre.layout<[1, 4096, 64], order [0, -1], SEN169_FP16>> {
  // expected-error @below {{'spyre.sum' op is not supported at this size: no legal work division: one core spans 403177472 bytes of operand 0}}
  %0 = spyre.sum (d0 = 4096, d1 = 49216) ins(%x[d0, d1]) -> [d0] : tensor<4096x49216xf16, #spyre.layout<[769, 4096, 64], order [0, 1], SEN169_FP16>> -> tensor<4096xf16, #spyre.layout<[1, 4096, 64], order [0, -1], SEN169_FP16>>
  return %0 : tensor<4096xf16, #spyre.layout<[1, 4096, 64], order [0, -1], SEN169_FP16>>
}
