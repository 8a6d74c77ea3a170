// RUN: spyre-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(spyre-resolve-precision{fast-products=true}))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-resolve-precision{fast-products=true}))' --remark-format=emitRemark --remarks-filter=precision -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: spyre.matmul is computed at DL16, by rule fast
// CHECK-LABEL: func @main
// CHECK: spyre.matmul {{.*}} -> tensor<4x4xf16>
// What stands between them has 16-bit operands, and a rule.
// CHECK: spyre.exp {{.*}} -> tensor<4x4xf16>
// CHECK: spyre.matmul {{.*}} -> tensor<4x4xf16>
func.func @main(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @below {{2 products of f32 tensors with 16-bit factors and results, as precision=fast asks for}}
  %0 = spyre.matmul %x, %y : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %1 = spyre.exp (d0 = 4, d1 = 4) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x4xf32> -> tensor<4x4xf32>
  // expected-note @below {{and this one}}
  %2 = spyre.matmul %1, %1 : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
