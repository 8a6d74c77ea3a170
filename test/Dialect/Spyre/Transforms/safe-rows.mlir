// Softmaxes with zeros for rows that are masked altogether: kept finite instead of asked.
// RUN: spyre-opt %s --spyre-safe-rows -split-input-file | FileCheck %s

!s = tensor<64x512xf32>
!r = tensor<64x1xf32>
// As PyTorch's attention is exported: compared at 16 bits, the answer widened.
// CHECK-LABEL: func.func @safe
// CHECK-NEXT: %[[M:.*]] = spyre.max
// CHECK-NEXT: %[[LOW:.*]] = spyre.constant dense<-3.40282347E+38>
// CHECK-NEXT: %[[K:.*]] = spyre.maximum (d0 = 64) ins(%[[M]][d0, 0], %[[LOW]][])
// CHECK-NEXT: %[[T:.*]] = spyre.sub {{.*}} ins(%arg0[d0, d1], %[[K]][d0, 0])
// CHECK-NEXT: %[[E:.*]] = spyre.exp {{.*}} ins(%[[T]]
// CHECK-NEXT: %[[L:.*]] = spyre.sum {{.*}} ins(%[[E]]
// CHECK-NEXT: %[[ONE:.*]] = spyre.constant dense<1.000000e+00>
// CHECK-NEXT: %[[S:.*]] = spyre.maximum (d0 = 64) ins(%[[L]][d0, 0], %[[ONE]][])
// CHECK-NEXT: %[[P:.*]] = spyre.realdiv {{.*}} ins(%[[E]][d0, d1], %[[S]][d0, 0])
// CHECK-NEXT: return %[[P]]
func.func @safe(%s: !s) -> !s {
  %h = spyre.fp32todl16 (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, d1] : !s -> tensor<64x512xf16>
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
  %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
  %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %n = spyre.constant dense<0xFC00> : tensor<f16> : tensor<f16>
  %q = spyre.equal (d0 = 64, d1 = 512) ins(%h[d0, d1], %n[]) -> [d0, d1] : tensor<64x512xf16>, tensor<f16> -> tensor<64x512xi1>
  %a = spyre.min (d0 = 64, d1 = 512) ins(%q[d0, d1]) -> [d0, 0] : tensor<64x512xi1> -> tensor<64x1xi1>
  %c = spyre.dl16tofp32 (d0 = 64) ins(%a[d0, 0]) -> [d0, 0] : tensor<64x1xi1> -> !r
  %z = spyre.constant dense<0.0> : tensor<f32> : tensor<f32>
  %w = spyre.where3 (d0 = 64, d1 = 512) ins(%c[d0, 0], %z[], %p[d0, d1]) -> [d0, d1] : !r, tensor<f32>, !s -> !s
  return %w : !s
}

// -----

!s = tensor<64x512xf32>
!r = tensor<64x1xf32>
// Compared in f32, the answer narrowed.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: spyre.equal
// CHECK-NOT: spyre.where3
func.func @wide(%s: !s) -> !s {
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
  %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
  %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %n = spyre.constant dense<0xFF800000> : tensor<f32> : tensor<f32>
  %q = spyre.equal (d0 = 64, d1 = 512) ins(%s[d0, d1], %n[]) -> [d0, d1] : !s, tensor<f32> -> !s
  %h = spyre.fp32todl16 (d0 = 64, d1 = 512) ins(%q[d0, d1]) -> [d0, d1] : !s -> tensor<64x512xi1>
  %a = spyre.min (d0 = 64, d1 = 512) ins(%h[d0, d1]) -> [d0, 0] : tensor<64x512xi1> -> tensor<64x1xi1>
  %c = spyre.dl16tofp32 (d0 = 64) ins(%a[d0, 0]) -> [d0, 0] : tensor<64x1xi1> -> !r
  %z = spyre.constant dense<0.0> : tensor<f32> : tensor<f32>
  %w = spyre.where3 (d0 = 64, d1 = 512) ins(%c[d0, 0], %z[], %p[d0, d1]) -> [d0, d1] : !r, tensor<f32>, !s -> !s
  return %w : !s
}

// -----

!s = tensor<64x512xf16>
!r = tensor<64x1xf16>
// Other scores are asked, another number is chosen, the sum leaves.
// CHECK-LABEL: func.func @negative
// CHECK-COUNT-2: spyre.where3
func.func @negative(%s: !s, %y: !s) -> (!s, !s, !r) {
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
  %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
  %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %n = spyre.constant dense<0xFC00> : tensor<f16> : tensor<f16>
  %q = spyre.equal (d0 = 64, d1 = 512) ins(%y[d0, d1], %n[]) -> [d0, d1] : !s, tensor<f16> -> tensor<64x512xi1>
  %a = spyre.min (d0 = 64, d1 = 512) ins(%q[d0, d1]) -> [d0, 0] : tensor<64x512xi1> -> tensor<64x1xi1>
  %z = spyre.constant dense<0.0> : tensor<f16> : tensor<f16>
  %w = spyre.where3 (d0 = 64, d1 = 512) ins(%a[d0, 0], %z[], %p[d0, d1]) -> [d0, d1] : tensor<64x1xi1>, tensor<f16>, !s -> !s
  %p2 = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %o = spyre.constant dense<1.0> : tensor<f16> : tensor<f16>
  %w2 = spyre.where3 (d0 = 64, d1 = 512) ins(%a[d0, 0], %o[], %p2[d0, d1]) -> [d0, d1] : tensor<64x1xi1>, tensor<f16>, !s -> !s
  return %w, %w2, %l : !s, !s, !r
}

// -----

// The scores are those of a product at 16 bits, widened for the softmax, in dims of their own.
!p = tensor<8x64x512xf16>
!s = tensor<1x8x64x512xf32>
!r = tensor<1x8x64x1xf32>
!b = tensor<1x8x64x512xi1>
// CHECK-LABEL: func.func @widened
// CHECK-NOT: spyre.equal
// CHECK-NOT: spyre.where3
// CHECK: return
func.func @widened(%p: !p) -> !s {
  %s = spyre.dl16tofp32 (d0 = 8, d1 = 64, d2 = 512) ins(%p[d0, d1, d2]) -> [0, d0, d1, d2] : !p -> !s
  %m = spyre.max (d0 = 8, d1 = 64, d2 = 512) ins(%s[0, d0, d1, d2]) -> [0, d0, d1, 0] : !s -> !r
  %t = spyre.sub (d0 = 8, d1 = 64, d2 = 512) ins(%s[0, d0, d1, d2], %m[0, d0, d1, 0]) -> [0, d0, d1, d2] : !s, !r -> !s
  %e = spyre.exp (d0 = 8, d1 = 64, d2 = 512) ins(%t[0, d0, d1, d2]) -> [0, d0, d1, d2] : !s -> !s
  %l = spyre.sum (d0 = 8, d1 = 64, d2 = 512) ins(%e[0, d0, d1, d2]) -> [0, d0, d1, 0] : !s -> !r
  %q = spyre.realdiv (d0 = 8, d1 = 64, d2 = 512) ins(%e[0, d0, d1, d2], %l[0, d0, d1, 0]) -> [0, d0, d1, d2] : !s, !r -> !s
  %n = spyre.constant dense<0xFC00> : tensor<f16> : tensor<f16>
  %x = spyre.equal (d0 = 8, d1 = 64, d2 = 512) ins(%p[d0, d1, d2], %n[]) -> [0, d0, d1, d2] : !p, tensor<f16> -> !b
  %a = spyre.min (d0 = 8, d1 = 64, d2 = 512) ins(%x[0, d0, d1, d2]) -> [0, d0, d1, 0] : !b -> tensor<1x8x64x1xi1>
  %w = spyre.dl16tofp32 (d0 = 8, d1 = 64) ins(%a[0, d0, d1, 0]) -> [0, d0, d1, 0] : tensor<1x8x64x1xi1> -> !r
  %z = spyre.constant dense<0.0> : tensor<f32> : tensor<f32>
  %o = spyre.where3 (d0 = 8, d1 = 64, d2 = 512) ins(%w[0, d0, d1, 0], %z[], %q[0, d0, d1, d2]) -> [0, d0, d1, d2] : !r, tensor<f32>, !s -> !s
  return %o : !s
}
