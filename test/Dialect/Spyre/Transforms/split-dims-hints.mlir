// Dims of a hint are counted as those of its operation are: behind a dim that is cut in two, and without dims of size 1. One that is cut itself keeps its old number, as one that was.
// RUN: spyre-opt %s --spyre-split-dims | FileCheck %s

// CHECK-LABEL: func @behind
// CHECK: spyre.add (d0 = 4, d1 = 16, d2 = 128) {{.*}}spyre.plan = {splits = {"2" = 2 : i64, columns = 4 : i64}}
func.func @behind(%x: tensor<64x128xf16>, %y: tensor<4x16x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.add (d0 = 64, d1 = 128) ins(%x[d0, d1], %y[d0 floordiv 16, d0 mod 16, d1]) -> [d0, d1] {spyre.plan = {splits = {"1" = 2, columns = 4}}} : tensor<64x128xf16>, tensor<4x16x128xf16> -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}

// CHECK-LABEL: func @cut
// CHECK: spyre.add (d0 = 4, d1 = 16, d2 = 128) {{.*}}spyre.plan = {splits = {"was 0" = 2 : i64}}
func.func @cut(%x: tensor<64x128xf16>, %y: tensor<4x16x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.add (d0 = 64, d1 = 128) ins(%x[d0, d1], %y[d0 floordiv 16, d0 mod 16, d1]) -> [d0, d1] {spyre.plan = {splits = {"0" = 2}}} : tensor<64x128xf16>, tensor<4x16x128xf16> -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}

// CHECK-LABEL: func @unit
// CHECK: spyre.exp (d0 = 64, d1 = 128) {{.*}}spyre.plan = {splits = {"0" = 4 : i64, "1" = 2 : i64}}
func.func @unit(%x: tensor<1x64x128xf16>) -> tensor<1x64x128xf16> {
  %0 = spyre.exp (d0 = 1, d1 = 64, d2 = 128) ins(%x[d0, d1, d2]) -> [d0, d1, d2] {spyre.plan = {splits = [1, 4, 2]}} : tensor<1x64x128xf16> -> tensor<1x64x128xf16>
  return %0 : tensor<1x64x128xf16>
}
