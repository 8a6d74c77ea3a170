// Where the order of elements within sticks would matter on a device whose casts change it: remarks of
// spyre-assign-layouts, by the arrangement rules of the OpFunc table.
// RUN: spyre-opt %s --spyre-assign-layouts -split-input-file --remarks-filter=arrangement --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --implicit-check-not=Reordered

// Widened, computed and narrowed again; what has one value a stick is in every order: no remark.
func.func @negative(%x: tensor<64x128xf16>, %b: tensor<64x1xf16>) -> tensor<64x128xf16> {
  %c = spyre.constant dense<2.0> : tensor<f32> : tensor<f32>
  %0 = spyre.dl16tofp32 (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf32>
  %1 = spyre.mul (d0 = 64, d1 = 128) ins(%0[d0, d1], %c[]) -> [d0, d1] : tensor<64x128xf32>, tensor<f32> -> tensor<64x128xf32>
  %2 = spyre.dl16tofp32 (d0 = 64, d1 = 1) ins(%b[d0, d1]) -> [d0, d1] : tensor<64x1xf16> -> tensor<64x1xf32>
  %3 = spyre.add (d0 = 64, d1 = 128) ins(%1[d0, d1], %2[d0, 0]) -> [d0, d1] : tensor<64x128xf32>, tensor<64x1xf32> -> tensor<64x128xf32>
  %4 = spyre.fp32todl16 (d0 = 64, d1 = 128) ins(%3[d0, d1]) -> [d0, d1] : tensor<64x128xf32> -> tensor<64x128xf16>
  return %4 : tensor<64x128xf16>
}

// -----

// The caller's f32 tensor is in the standard order.
// CHECK: remark: {{.*}}Reordered{{.*}}'add' needs input 1 in the order of the others, dl16_to_fp32, not standard
func.func @mixed(%x: tensor<64x128xf16>, %y: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = spyre.dl16tofp32 (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf32>
  %1 = spyre.add (d0 = 64, d1 = 128) ins(%0[d0, d1], %y[d0, d1]) -> [d0, d1] : tensor<64x128xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}

// -----

// A narrowed argument leaves.
// CHECK: remark: {{.*}}Reordered{{.*}}result #0 is in the order fp32_to_dl16
func.func @result(%y: tensor<64x128xf32>) -> tensor<64x128xf16> {
  %0 = spyre.fp32todl16 (d0 = 64, d1 = 128) ins(%y[d0, d1]) -> [d0, d1] : tensor<64x128xf32> -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}

// -----

// A contraction looks at the place within a stick. What follows is not remarked upon again.
// CHECK: remark: {{.*}}Reordered{{.*}}'batchmatmul' needs input 0 standard, not fp32_to_dl16
func.func @contracted(%y: tensor<64x128xf32>, %w: tensor<128x64xf16>) -> tensor<64x64xf16> {
  %0 = spyre.fp32todl16 (d0 = 64, d1 = 128) ins(%y[d0, d1]) -> [d0, d1] : tensor<64x128xf32> -> tensor<64x128xf16>
  %1 = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 128) ins(%0[d0, d2], %w[d2, d1]) -> [d0, d1] : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf16>
  %2 = spyre.neg (d0 = 64, d1 = 64) ins(%1[d0, d1]) -> [d0, d1] : tensor<64x64xf16> -> tensor<64x64xf16>
  return %2 : tensor<64x64xf16>
}
