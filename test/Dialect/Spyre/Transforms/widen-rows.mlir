// What depends on the largest number of a row is computed in f32 where exponentials of it are summed up.
// RUN: spyre-opt %s --spyre-widen-rows | FileCheck %s

!s = tensor<64x512xf16>
!r = tensor<64x1xf16>
!w = tensor<64x512xf32>
!n = tensor<64x1xf32>
// CHECK-LABEL: func.func @softmax
// CHECK: %[[S:.*]] = spyre.dl16tofp32 {{.*}} ins(%arg0
// CHECK: %[[M:.*]] = spyre.max {{.*}} ins(%[[S]][d0, d1])
// CHECK-NEXT: %[[T:.*]] = spyre.sub {{.*}} ins(%[[S]][d0, d1], %[[M]][d0, 0])
// CHECK-NEXT: %[[E:.*]] = spyre.exp {{.*}} ins(%[[T]][d0, d1])
// CHECK-NEXT: %[[L:.*]] = spyre.sum {{.*}} ins(%[[E]][d0, d1])
// CHECK-NEXT: %[[P:.*]] = spyre.realdiv {{.*}} ins(%[[E]][d0, d1], %[[L]][d0, 0])
// CHECK-NEXT: %[[H:.*]] = spyre.fp32todl16 {{.*}} ins(%[[P]][d0, d1])
// CHECK-NEXT: return %[[H]]
func.func @softmax(%s: !s) -> !s {
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %e = spyre.exp (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !s -> !s
  %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
  %p = spyre.realdiv (d0 = 64, d1 = 512) ins(%e[d0, d1], %l[d0, 0]) -> [d0, d1] : !s, !r -> !s
  return %p : !s
}

// Numbers that were narrowed on the way are not.
// CHECK-LABEL: func.func @narrowed
// CHECK: %[[T:.*]] = spyre.sub
// CHECK-NEXT: %[[E:.*]] = spyre.exp {{.*}} ins(%[[T]][d0, d1]) {{.*}} -> tensor<64x512xf32>
// CHECK-NEXT: %[[L:.*]] = spyre.sum {{.*}} ins(%[[E]][d0, d1])
// CHECK-NEXT: %[[H:.*]] = spyre.fp32todl16 {{.*}} ins(%[[L]][d0, 0])
// CHECK-NEXT: return %[[H]]
func.func @narrowed(%s: !w) -> !r {
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !w -> !n
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !w, !n -> !w
  %h = spyre.fp32todl16 (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, d1] : !w -> !s
  %e = spyre.exp (d0 = 64, d1 = 512) ins(%h[d0, d1]) -> [d0, d1] : !s -> !s
  %l = spyre.sum (d0 = 64, d1 = 512) ins(%e[d0, d1]) -> [d0, 0] : !s -> !r
  return %l : !r
}

// No exponentials.
// CHECK-LABEL: func.func @range
// CHECK-NOT: f32
func.func @range(%s: !s) -> !r {
  %m = spyre.max (d0 = 64, d1 = 512) ins(%s[d0, d1]) -> [d0, 0] : !s -> !r
  %t = spyre.sub (d0 = 64, d1 = 512) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : !s, !r -> !s
  %l = spyre.sum (d0 = 64, d1 = 512) ins(%t[d0, d1]) -> [d0, 0] : !s -> !r
  return %l : !r
}
