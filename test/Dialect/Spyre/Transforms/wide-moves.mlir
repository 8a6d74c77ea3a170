// RUN: spyre-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-verify-layouts))' | FileCheck %s
// RUN: spyre-opt %s --split-input-file --spyre-plan | FileCheck %s --check-prefix=PLAN

// An f32 value is moved as halves: apart, back, together.
// CHECK-LABEL: func.func @halves
// CHECK: %[[H:.*]] = spyre.reinterpret %{{.*}} : tensor<32x64xf32, {{.*}}> to tensor<64x64xf16
// CHECK: %[[A:.*]] = spyre.restickify {{.*}} ins(%[[H]]
// CHECK: spyre.identity (d0 = 32, d1 = 64, d2 = 2) ins(%[[A]][d0 * 2 + d2, d1])
// CHECK: spyre.restickify
// CHECK: spyre.identity (d0 = 32, d1 = 64, d2 = 2) {{.*}} -> [d0, d1 * 2 + d2]
// CHECK: %[[M:.*]] = spyre.restickify
// CHECK: spyre.reinterpret %[[M]] : tensor<32x128xf16, {{.*}}> to tensor<32x64xf32
// PLAN-LABEL: func.func @halves
// PLAN: spyre.reinterpret {{.*}} : !spyre.buffer<32x64xf32
func.func @halves(%x: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %0 = spyre.identity (d0 = 64, d1 = 32) ins(%x[d0, d1]) -> [d1, d0] : tensor<64x32xf32> -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// -----

// A value that has just been widened is moved before that.
// CHECK-LABEL: func.func @before_the_cast
// CHECK: %[[M:.*]] = spyre.restickify {{.*}} ins(%arg0
// CHECK: spyre.dl16tofp32 {{.*}} ins(%[[M]]
// CHECK-NOT: spyre.reinterpret
func.func @before_the_cast(%x: tensor<64x128xf16>, %y: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %0 = spyre.dl16tofp32 (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf32>
  %1 = spyre.add (d0 = 128, d1 = 64) ins(%0[d1, d0], %y[d0, d1]) -> [d0, d1] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<128x64xf32>
  return %1 : tensor<128x64xf32>
}

// -----

// Where no dim changes place nothing is taken apart.
// CHECK-LABEL: func @negative
// CHECK-NOT: spyre.reinterpret
func.func @negative(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = spyre.neg (d0 = 64, d1 = 32) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x32xf32> -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
