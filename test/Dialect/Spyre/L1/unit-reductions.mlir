// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-decompose,spyre-fold-views))' | FileCheck %s

// One element: the maximum is the element, nothing is reduced.
// CHECK-LABEL: func @softmax_of_one
// CHECK-NOT: spyre.max
// CHECK-NOT: spyre.sum
// CHECK: spyre.realdiv
func.func @softmax_of_one(%x: tensor<4x1xf16>) -> tensor<4x1xf16> {
  %0 = spyre.softmax %x along 1 : tensor<4x1xf16> -> tensor<4x1xf16>
  return %0 : tensor<4x1xf16>
}

// Two elements stay a reduction.
// CHECK-LABEL: func @negative
// CHECK: spyre.max
func.func @negative(%x: tensor<4x2xf16>) -> tensor<4x1xf16> {
  %0 = spyre.max (d0 = 4, d1 = 2) ins(%x[d0, d1]) -> [d0, 0] : tensor<4x2xf16> -> tensor<4x1xf16>
  return %0 : tensor<4x1xf16>
}
