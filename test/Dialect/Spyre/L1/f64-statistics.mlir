// RUN: spyre-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(spyre-resolve-precision))' | FileCheck %s
// RUN: not spyre-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spyre-resolve-precision))' --remarks-filter=precision --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A variance that is written in f64 between two casts.
// CHECK-LABEL: func @variance
// CHECK-NOT: xf64>
// CHECK: %[[S:.*]] = spyre.sum {{.*}} : tensor<3x100xf32> -> tensor<3x1xf32>
// CHECK: %[[M:.*]] = spyre.realdiv {{.*}} -> tensor<3x1xf32>
// CHECK: %[[C:.*]] = spyre.sub (d0 = 3, d1 = 100) ins(%arg0[d0, d1], %[[M]][d0, 0]) {{.*}} -> tensor<3x100xf32>
// CHECK: spyre.mul (d0 = 3, d1 = 100) ins(%[[C]][d0, d1], %[[C]][d0, d1])
// CHECK: spyre.mean {{.*}} -> tensor<3x1xf32>
// REMARK: remark: [Passed] f32 {{.*}}spyre.sub of f64 is computed in f32, by rule f64-statistics
func.func @variance(%x: tensor<3x100xf32>) -> tensor<3x1xf32> {
  %n = spyre.constant dense<1.0e2> : tensor<f64> : tensor<f64>
  %0 = spyre.convert %x : tensor<3x100xf32> to tensor<3x100xf64>
  %1 = spyre.sum (d0 = 3, d1 = 100) ins(%0[d0, d1]) -> [d0, 0] : tensor<3x100xf64> -> tensor<3x1xf64>
  %2 = spyre.realdiv (d0 = 3, d1 = 1) ins(%1[d0, 0], %n[]) -> [d0, d1] : tensor<3x1xf64>, tensor<f64> -> tensor<3x1xf64>
  %3 = spyre.sub (d0 = 3, d1 = 100) ins(%0[d0, d1], %2[d0, 0]) -> [d0, d1] : tensor<3x100xf64>, tensor<3x1xf64> -> tensor<3x100xf64>
  %4 = spyre.mul (d0 = 3, d1 = 100) ins(%3[d0, d1], %3[d0, d1]) -> [d0, d1] : tensor<3x100xf64>, tensor<3x100xf64> -> tensor<3x100xf64>
  %5 = spyre.sum (d0 = 3, d1 = 100) ins(%4[d0, d1]) -> [d0, 0] : tensor<3x100xf64> -> tensor<3x1xf64>
  %6 = spyre.realdiv (d0 = 3, d1 = 1) ins(%5[d0, 0], %n[]) -> [d0, d1] : tensor<3x1xf64>, tensor<f64> -> tensor<3x1xf64>
  %7 = spyre.convert %6 : tensor<3x1xf64> to tensor<3x1xf32>
  return %7 : tensor<3x1xf32>
}

// -----

// Squares of what is not centred may cancel afterwards: no rule.
// expected-error @below {{'negative_squares' has 2 operations on f64 that are no means or variances; not supported}}
func.func @negative_squares(%x: tensor<3x100xf32>) -> tensor<3x100xf32> {
  %0 = spyre.convert %x : tensor<3x100xf32> to tensor<3x100xf64>
  // expected-note @below {{spyre.mul}}
  %1 = spyre.mul (d0 = 3, d1 = 100) ins(%0[d0, d1], %0[d0, d1]) -> [d0, d1] : tensor<3x100xf64>, tensor<3x100xf64> -> tensor<3x100xf64>
  // expected-note @below {{spyre.convert}}
  %2 = spyre.convert %1 : tensor<3x100xf64> to tensor<3x100xf32>
  return %2 : tensor<3x100xf32>
}
