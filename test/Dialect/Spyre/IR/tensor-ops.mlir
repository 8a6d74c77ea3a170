// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CANON

// CHECK-LABEL: func.func @views
// CANON-LABEL: func.func @views
func.func @views(%x: tensor<4x8xf16>) -> tensor<2x16xf16> {
  // CHECK: spyre.view %{{.*}}[d1, d0] : tensor<4x8xf16> -> tensor<8x4xf16>
  %0 = spyre.view %x[d1, d0] : tensor<4x8xf16> -> tensor<8x4xf16>
  // Views compose; digits that the ranges make plain disappear.
  // CANON: %[[V:.*]] = spyre.view %arg0[d1 mod 4, d0 * 4 + d1 floordiv 4] : tensor<4x8xf16> -> tensor<2x16xf16>
  // CANON-NEXT: return %[[V]]
  %1 = spyre.view %0[(d0 * 16 + d1) floordiv 4, (d0 * 16 + d1) mod 4] : tensor<8x4xf16> -> tensor<2x16xf16>
  return %1 : tensor<2x16xf16>
}

// CANON-LABEL: func.func @identity_view
func.func @identity_view(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CANON: return %arg0
  %0 = spyre.view %x[d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @composites
func.func @composites(%x: tensor<2x32x64xf16>, %w: tensor<96x64xf16>, %b: tensor<96xf16>, %g: tensor<96xf16>) -> tensor<2x32x96xf16> {
  // CHECK: spyre.linear %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<96xf16>) : tensor<2x32x64xf16>, tensor<96x64xf16> -> tensor<2x32x96xf16>
  %0 = spyre.linear %x, %w bias(%b : tensor<96xf16>) : tensor<2x32x64xf16>, tensor<96x64xf16> -> tensor<2x32x96xf16>
  // CHECK: spyre.softmax %{{.*}} along 2 : tensor<2x32x96xf16> -> tensor<2x32x96xf16>
  %1 = spyre.softmax %0 along 2 : tensor<2x32x96xf16> -> tensor<2x32x96xf16>
  // CHECK: spyre.rms_norm %{{.*}} weight(%{{.*}} : tensor<96xf16>) over 1 epsilon 1.000000e-05 : tensor<2x32x96xf16> -> tensor<2x32x96xf16>
  %2 = spyre.rms_norm %1 weight(%g : tensor<96xf16>) over 1 epsilon 1.0e-5 : tensor<2x32x96xf16> -> tensor<2x32x96xf16>
  return %2 : tensor<2x32x96xf16>
}

// Two numbers that round to one element stay two.
// CANON-LABEL: func.func @rounded_alike
// CANON-COUNT-2: spyre.constant dense<5.960460e-08>
func.func @rounded_alike() -> (tensor<f16>, tensor<f16>) {
  %0 = spyre.constant dense<5.96046e-08> : tensor<f16> {spyre.value = 1.0e-10 : f64} : tensor<f16>
  %1 = spyre.constant dense<5.96046e-08> : tensor<f16> {spyre.value = 1.0e-12 : f64} : tensor<f16>
  return %0, %1 : tensor<f16>, tensor<f16>
}
