// RUN: spyre-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-verify-layouts))' | FileCheck %s

// 20 elements are one 16-bit stick, but one f32 stick of the two that a cast writes.
// CHECK-LABEL: func @widen
// CHECK: %[[W:.*]] = spyre.identity (d0 = 3, d1 = 20) ins(%arg0[d0, d1]) -> [d0, d1] : {{.*}} -> tensor<3x64xf16
// CHECK: %[[C:.*]] = spyre.dl16tofp32 (d0 = 3, d1 = 64) ins(%[[W]][d0, d1]) {{.*}} -> tensor<3x64xf32
// CHECK: spyre.identity (d0 = 3, d1 = 20) ins(%[[C]][d0, d1]) {{.*}} -> tensor<3x20xf32
func.func @widen(%x: tensor<3x20xf16>) -> tensor<3x20xf32> {
  %0 = spyre.dl16tofp32 (d0 = 3, d1 = 20) ins(%x[d0, d1]) -> [d0, d1] : tensor<3x20xf16> -> tensor<3x20xf32>
  return %0 : tensor<3x20xf32>
}

// -----

// The f32 stick that the cast reads beside the value's holds zeros.
// CHECK-LABEL: func @narrow
// CHECK: %[[Z:.*]] = spyre.identity (d0 = 3, d1 = 32) ins(%{{.*}}[]) -> [d0, d1 + 32] : {{.*}} -> tensor<3x64xf32
// CHECK: %[[W:.*]] = spyre.identity (d0 = 3, d1 = 20) ins(%arg0[d0, d1]) outs(%[[Z]][d0, d1])
// CHECK: spyre.fp32todl16 (d0 = 3, d1 = 64) ins(%[[W]][d0, d1])
func.func @narrow(%x: tensor<3x20xf32>) -> tensor<3x20xf16> {
  %0 = spyre.fp32todl16 (d0 = 3, d1 = 20) ins(%x[d0, d1]) -> [d0, d1] : tensor<3x20xf32> -> tensor<3x20xf16>
  return %0 : tensor<3x20xf16>
}

// -----

// 100 elements are two 16-bit sticks and four of f32: the cast as it stands.
// CHECK-LABEL: func @negative_whole
// CHECK-NEXT: spyre.dl16tofp32 (d0 = 3, d1 = 100)
// CHECK-NEXT: return
func.func @negative_whole(%x: tensor<3x100xf16>) -> tensor<3x100xf32> {
  %0 = spyre.dl16tofp32 (d0 = 3, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : tensor<3x100xf16> -> tensor<3x100xf32>
  return %0 : tensor<3x100xf32>
}

// -----

// A cast that cannot write in place is computed by itself first: 70 elements are two
// 16-bit sticks, but three of f32, so that is a partial one, too.
// CHECK-LABEL: func.func @behind_a_join
// CHECK: spyre.dl16tofp32 (d0 = 3, d1 = 128)
// CHECK-NOT: spyre.dl16tofp32
// CHECK: return
func.func @behind_a_join(%x: tensor<3x70xf16>) -> tensor<210xf32> {
  %0 = spyre.dl16tofp32 (d0 = 3, d1 = 70) ins(%x[d0, d1]) -> [d0 * 70 + d1] : tensor<3x70xf16> -> tensor<210xf32>
  return %0 : tensor<210xf32>
}
