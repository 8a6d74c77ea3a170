// Rows are scaled after a contraction where that is less work and in range.
// RUN: spyre-opt %s --spyre-defer-scaling -split-input-file | FileCheck %s

!s = tensor<2x64x512xf32>
!h = tensor<2x64x512xf16>
!r = tensor<2x64x1xf32>
// Quotients and rows of zeros in f32, a cast, heads that the product merges.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[E:.*]] = spyre.exp
// CHECK: %[[L:.*]] = spyre.sum
// CHECK-NEXT: %[[ZERO:.*]] = spyre.constant
// CHECK-NEXT: %[[N:.*]] = spyre.fp32todl16 (d0 = 2, d1 = 64, d2 = 512) ins(%[[E]][d0, d1, d2]) -> [d0, d1, d2]
// CHECK-NEXT: %[[O:.*]] = spyre.batchmatmul (d0 = 2, d1 = 64, d2 = 64, d3 = 512) ins(%[[N]][d0, d1, d3], %arg1[d0, d3, d2]) -> [d0 * 64 + d1, d2]
// CHECK-NEXT: %[[W:.*]] = spyre.dl16tofp32 (d0 = 2, d1 = 64, d2 = 64) ins(%[[O]][d0 * 64 + d1, d2]) -> [d0 * 64 + d1, d2]
// CHECK-NEXT: %[[Q:.*]] = spyre.realdiv (d0 = 2, d1 = 64, d2 = 64) ins(%[[W]][d0 * 64 + d1, d2], %[[L]][d0, d1, 0])
// CHECK-NEXT: %[[Z:.*]] = spyre.where3 (d0 = 2, d1 = 64, d2 = 64) ins(%arg2[d0, d1, 0], %[[ZERO]][], %[[Q]][d0 * 64 + d1, d2])
// CHECK-NEXT: %[[R:.*]] = spyre.fp32todl16 {{.*}} ins(%[[Z]][
// CHECK-NEXT: return %[[R]]
func.func @softmax(%s: !s, %v: tensor<2x512x64xf16>, %c: !r) -> tensor<128x64xf16> {
  %m = spyre.max (d0 = 2, d1 = 64, d2 = 512) ins(%s[d0, d1, d2]) -> [d0, d1, 0] : !s -> !r
  %t = spyre.sub (d0 = 2, d1 = 64, d2 = 512) ins(%s[d0, d1, d2], %m[d0, d1, 0]) -> [d0, d1, d2] : !s, !r -> !s
  %e = spyre.exp (d0 = 2, d1 = 64, d2 = 512) ins(%t[d0, d1, d2]) -> [d0, d1, d2] : !s -> !s
  %l = spyre.sum (d0 = 2, d1 = 64, d2 = 512) ins(%e[d0, d1, d2]) -> [d0, d1, 0] : !s -> !r
  %p = spyre.realdiv (d0 = 2, d1 = 64, d2 = 512) ins(%e[d0, d1, d2], %l[d0, d1, 0]) -> [d0, d1, d2] : !s, !r -> !s
  %z = spyre.constant dense<0.0> : tensor<f32> : tensor<f32>
  %w = spyre.where3 (d0 = 2, d1 = 64, d2 = 512) ins(%c[d0, d1, 0], %z[], %p[d0, d1, d2]) -> [d0, d1, d2] : !r, tensor<f32>, !s -> !s
  %h = spyre.fp32todl16 (d0 = 2, d1 = 64, d2 = 512) ins(%w[d0, d1, d2]) -> [d0, d1, d2] : !s -> !h
  %o = spyre.batchmatmul (d0 = 2, d1 = 64, d2 = 64, d3 = 512) ins(%h[d0, d1, d3], %v[d0, d3, d2]) -> [d0 * 64 + d1, d2] : !h, tensor<2x512x64xf16> -> tensor<128x64xf16>
  return %o : tensor<128x64xf16>
}

// -----

!s = tensor<64x512xf16>
!r = tensor<64x1xf16>
// Numbers of any size; a factor a column; quotients that somebody else reads; a product as large as they are.
// CHECK-LABEL: func.func @negative
// CHECK: spyre.realdiv (d0 = 64, d1 = 512)
// CHECK-NEXT: spyre.batchmatmul
// CHECK: spyre.mul (d0 = 64, d1 = 512)
// CHECK-NEXT: spyre.batchmatmul
// CHECK: spyre.realdiv (d0 = 64, d1 = 512)
// CHECK-NEXT: spyre.batchmatmul
// CHECK-NEXT: %[[WIDE:.*]] = spyre.batchmatmul
// CHECK-NEXT: return {{.*}}%[[WIDE]]
func.func @negative(%s: !s, %l: !r, %c: tensor<512xf16>, %v: tensor<512x64xf16>, %w: tensor<512x512xf16>)
    -> (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>, !s) {
  %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%s[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %a = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 512) ins(%p[d0, d2], %v[d2, d1]) -> [d0, d1] : !s, tensor<512x64xf16> -> tensor<64x64xf16>
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
  %q = spyre.mul (d0 = 64, d1 = 512) ins(%e[d0, d1], %c[d1]) -> [d0, d1] : !s, tensor<512xf16> -> !s
  %b = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 512) ins(%q[d0, d2], %v[d2, d1]) -> [d0, d1] : !s, tensor<512x64xf16> -> tensor<64x64xf16>
  %r = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %d = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 512) ins(%r[d0, d2], %v[d2, d1]) -> [d0, d1] : !s, tensor<512x64xf16> -> tensor<64x64xf16>
  %f = spyre.batchmatmul (d0 = 64, d1 = 512, d2 = 512) ins(%r[d0, d2], %w[d2, d1]) -> [d0, d1] : !s, tensor<512x512xf16> -> !s
  return %a, %b, %d, %f : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>, !s
}

// -----

!s = tensor<64x512xbf16>
!r = tensor<64x1xbf16>
// Values may be too large for a sum that is not scaled yet.
// CHECK-LABEL: func.func @negative_bf16
// CHECK: spyre.realdiv (d0 = 64, d1 = 512)
// CHECK-NEXT: spyre.batchmatmul
func.func @negative_bf16(%s: !s, %l: !r, %v: tensor<512x64xbf16>) -> tensor<64x64xbf16> {
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
  %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %o = spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 512) ins(%p[d0, d2], %v[d2, d1]) -> [d0, d1] : !s, tensor<512x64xbf16> -> tensor<64x64xbf16>
  return %o : tensor<64x64xbf16>
}
