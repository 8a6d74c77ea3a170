// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-widen-range))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-widen-range,spyre-widen-range))' | FileCheck %s

// An epsilon that DL16 has not: the sum and the root are f32, the root is of common size.
// CHECK-LABEL: func @epsilon
// CHECK-DAG: %[[E:.*]] = spyre.constant dense<1.0{{.*}}E-12> : tensor<f32>
// CHECK-DAG: %[[W:.*]] = spyre.convert %arg0 : tensor<64xbf16> to tensor<64xf32>
// CHECK: %[[A:.*]] = spyre.add (d0 = 64) ins(%[[W]][d0], %[[E]][]) -> [d0] {spyre.wide}
// CHECK: %[[R:.*]] = spyre.rsqrt (d0 = 64) ins(%[[A]][d0]) -> [d0] {spyre.wide}
// CHECK: %[[H:.*]] = spyre.convert %[[R]] : tensor<64xf32> to tensor<64xbf16>
// CHECK: spyre.mul (d0 = 64) ins(%arg0[d0], %[[H]][d0]) {{.*}} -> tensor<64xbf16>
func.func @epsilon(%x: tensor<64xbf16>) -> tensor<64xbf16> {
  %e = spyre.constant dense<9.999780e-13> : tensor<bf16> : tensor<bf16>
  %0 = spyre.add (d0 = 64) ins(%x[d0], %e[]) -> [d0] : tensor<64xbf16>, tensor<bf16> -> tensor<64xbf16>
  %1 = spyre.rsqrt (d0 = 64) ins(%0[d0]) -> [d0] : tensor<64xbf16> -> tensor<64xbf16>
  %2 = spyre.mul (d0 = 64) ins(%x[d0], %1[d0]) -> [d0] : tensor<64xbf16>, tensor<64xbf16> -> tensor<64xbf16>
  return %2 : tensor<64xbf16>
}

// Scaled out of the range, and seen by the host so.
// CHECK-LABEL: func @scaled
// CHECK-SAME: -> (tensor<64xf32> {spyre.host_type = bf16, spyre.on_host})
// CHECK: spyre.mul {{.*}}spyre.wide
// CHECK: %[[A:.*]] = spyre.add {{.*}}spyre.wide
// CHECK: return %[[A]] : tensor<64xf32>
func.func @scaled(%x: tensor<64xbf16>, %y: tensor<64xbf16>) -> (tensor<64xbf16> {spyre.on_host}) {
  %c = spyre.constant dense<9.985630e+11> : tensor<bf16> : tensor<bf16>
  %0 = spyre.mul (d0 = 64) ins(%x[d0], %c[]) -> [d0] : tensor<64xbf16>, tensor<bf16> -> tensor<64xbf16>
  %1 = spyre.add (d0 = 64) ins(%0[d0], %y[d0]) -> [d0] : tensor<64xbf16>, tensor<64xbf16> -> tensor<64xbf16>
  return %1 : tensor<64xbf16>
}

// A mask of the type's least number stands for -infinity, unless somebody sees it.
// CHECK-LABEL: func @mask
// CHECK: spyre.where3 {{.*}} -> tensor<64xbf16>
// CHECK-NOT: f32
// CHECK: return
func.func @mask(%m: tensor<64xi1>, %x: tensor<64xbf16>) -> (tensor<64xbf16> {spyre.on_host}) {
  %c = spyre.constant dense<-3.389530e+38> : tensor<bf16> : tensor<bf16>
  %0 = spyre.where3 (d0 = 64) ins(%m[d0], %x[d0], %c[]) -> [d0] : tensor<64xi1>, tensor<64xbf16>, tensor<bf16> -> tensor<64xbf16>
  %1 = spyre.exp (d0 = 64) ins(%0[d0]) -> [d0] : tensor<64xbf16> -> tensor<64xbf16>
  return %1 : tensor<64xbf16>
}
// CHECK-LABEL: func @mask_as_result
// CHECK: %[[R:.*]] = spyre.where3 {{.*}}spyre.wide} : tensor<64xi1>, tensor<64xf32>, tensor<f32> -> tensor<64xf32>
// CHECK: return %[[R]]
func.func @mask_as_result(%m: tensor<64xi1>, %x: tensor<64xbf16>) -> (tensor<64xbf16> {spyre.on_host}) {
  %c = spyre.constant dense<-3.389530e+38> : tensor<bf16> : tensor<bf16>
  %0 = spyre.where3 (d0 = 64) ins(%m[d0], %x[d0], %c[]) -> [d0] : tensor<64xi1>, tensor<64xbf16>, tensor<bf16> -> tensor<64xbf16>
  return %0 : tensor<64xbf16>
}

// What DL16 holds stays, and so does f16, where 1e-12 is zero.
// CHECK-LABEL: func @negative
// CHECK-NOT: f32
// CHECK: return
func.func @negative(%x: tensor<64xbf16>, %y: tensor<64xf16>) -> (tensor<64xbf16>, tensor<64xf16>) {
  %c = spyre.constant dense<1.001170e-06> : tensor<bf16> : tensor<bf16>
  %d = spyre.constant dense<5.960460e-08> : tensor<f16> {spyre.value = 1.0e-12} : tensor<f16>
  %0 = spyre.add (d0 = 64) ins(%x[d0], %c[]) -> [d0] : tensor<64xbf16>, tensor<bf16> -> tensor<64xbf16>
  %1 = spyre.add (d0 = 64) ins(%y[d0], %d[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xf16>
  return %0, %1 : tensor<64xbf16>, tensor<64xf16>
}
