// RUN: spyre-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-verify-layouts))' | FileCheck %s

// 1/x leaves no finite padding behind 100 elements: what the product reads is copied once,
// with zeros behind it, however many products read it.
// CHECK-LABEL: func.func @bad_tail_once
// CHECK: %[[R:.*]] = spyre.reciprocal
// CHECK: spyre.identity {{.*}} ins(%[[R]]
// CHECK-NOT: spyre.identity {{.*}} ins(%[[R]]
// CHECK: return
func.func @bad_tail_once(%x: tensor<4x100xf16>, %w: tensor<100x64xf16>, %v: tensor<100x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>) {
  %0 = spyre.reciprocal (d0 = 4, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x100xf16> -> tensor<4x100xf16>
  %1 = spyre.batchmatmul (d0 = 4, d1 = 64, d2 = 100) ins(%0[d0, d2], %w[d2, d1]) -> [d0, d1] : tensor<4x100xf16>, tensor<100x64xf16> -> tensor<4x64xf16>
  %2 = spyre.batchmatmul (d0 = 4, d1 = 64, d2 = 100) ins(%0[d0, d2], %v[d2, d1]) -> [d0, d1] : tensor<4x100xf16>, tensor<100x64xf16> -> tensor<4x64xf16>
  return %1, %2 : tensor<4x64xf16>, tensor<4x64xf16>
}

// -----

// Zeros times finite: nothing has to be done about the padding of the first factor.
// CHECK-LABEL: func.func @negative_finite_tail
// CHECK: %[[R:.*]] = spyre.relufwd
// CHECK-NOT: spyre.identity {{.*}} ins(%[[R]]
// CHECK: spyre.batchmatmul {{.*}} ins(%[[R]]
func.func @negative_finite_tail(%x: tensor<4x100xf16>, %w: tensor<100x64xf16>) -> tensor<4x64xf16> {
  %0 = spyre.relufwd (d0 = 4, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x100xf16> -> tensor<4x100xf16>
  %1 = spyre.batchmatmul (d0 = 4, d1 = 64, d2 = 100) ins(%0[d0, d2], %w[d2, d1]) -> [d0, d1] : tensor<4x100xf16>, tensor<100x64xf16> -> tensor<4x64xf16>
  return %1 : tensor<4x64xf16>
}

// -----

// Nobody who works lane by lane sees a padding.
// CHECK-LABEL: func.func @negative_lanes
// CHECK: spyre.reciprocal
// CHECK-NEXT: spyre.exp
// CHECK-NEXT: return
func.func @negative_lanes(%x: tensor<4x100xf16>) -> tensor<4x100xf16> {
  %0 = spyre.reciprocal (d0 = 4, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x100xf16> -> tensor<4x100xf16>
  %1 = spyre.exp (d0 = 4, d1 = 100) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x100xf16> -> tensor<4x100xf16>
  return %1 : tensor<4x100xf16>
}
