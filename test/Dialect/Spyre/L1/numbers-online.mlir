// Rows that no core holds, cut by loops that carry their largest numbers and sums, against NumPy: on devices
// with little LX.
// RUN: %against_numpy %s -O2,--device=mock32,--plan-kind=carried -O2,--plan-kind=carried -O2,--device=mock32,--plan-kind=carried,--target=ktir

// Attention over rows of scores that no core of the smaller device holds.
// IN: q = normal(1, 64, 64) / 8
// IN: k = normal(1, 2048, 64)
// IN: v = normal(1, 2048, 64)
// OUT within 2**-6: softmax(q @ k.transpose(0, 2, 1), 2) @ v
!q = tensor<1x64x64xf16>
!k = tensor<1x2048x64xf16>
!s = tensor<1x64x2048xf16>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {
  %0 = spyre.batchmatmul (d0 = 1, d1 = 64, d2 = 2048, d3 = 64) ins(%q[d0, d1, d3], %k[d0, d2, d3]) -> [d0, d1, d2] : !q, !k -> !s
  %1 = spyre.softmax %0 along 2 : !s -> !s
  %2 = spyre.batchmatmul (d0 = 1, d1 = 64, d2 = 64, d3 = 2048) ins(%1[d0, d1, d3], %v[d0, d3, d2]) -> [d0, d1, d2] : !s, !k -> !q
  return %2 : !q
}

// -----

// Of the larger one.
// IN: q = normal(2, 64, 64) / 8
// IN: k = normal(2, 16384, 64)
// IN: v = normal(2, 16384, 64)
// OUT within 2**-6: softmax(q @ k.transpose(0, 2, 1), 2) @ v
!q = tensor<2x64x64xf16>
!k = tensor<2x16384x64xf16>
!s = tensor<2x64x16384xf16>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {
  %0 = spyre.batchmatmul (d0 = 2, d1 = 64, d2 = 16384, d3 = 64) ins(%q[d0, d1, d3], %k[d0, d2, d3]) -> [d0, d1, d2] : !q, !k -> !s
  %1 = spyre.softmax %0 along 2 : !s -> !s
  %2 = spyre.batchmatmul (d0 = 2, d1 = 64, d2 = 64, d3 = 16384) ins(%1[d0, d1, d3], %v[d0, d3, d2]) -> [d0, d1, d2] : !s, !k -> !q
  return %2 : !q
}

// -----

// The first scores of the rows are masked altogether, the largest stand at the end; scaled afterwards.
// IN: q = normal(1, 64, 64) / 8
// IN: k = normal(1, 2048, 64)
// IN: v = normal(1, 2048, 64)
// IN: m = np.where(np.arange(2048) < 1024, -np.inf, np.arange(2048) / 1024.0).astype(np.float16)
// OUT within 2**-6: softmax((q @ k.transpose(0, 2, 1)) / 2 + m, 2) @ v
!q = tensor<1x64x64xf16>
!k = tensor<1x2048x64xf16>
!s = tensor<1x64x2048xf16>
func.func @main(%q: !q, %k: !k, %v: !k, %m: tensor<2048xf16>) -> !q {
  %half = spyre.constant dense<0.5> : tensor<f16> : tensor<f16>
  %0 = spyre.batchmatmul (d0 = 1, d1 = 64, d2 = 2048, d3 = 64) ins(%q[d0, d1, d3], %k[d0, d2, d3]) -> [d0, d1, d2] : !q, !k -> !s
  %1 = spyre.mul (d0 = 1, d1 = 64, d2 = 2048) ins(%0[d0, d1, d2], %half[]) -> [d0, d1, d2] : !s, tensor<f16> -> !s
  %2 = spyre.add (d0 = 1, d1 = 64, d2 = 2048) ins(%1[d0, d1, d2], %m[d2]) -> [d0, d1, d2] : !s, tensor<2048xf16> -> !s
  %3 = spyre.softmax %2 along 2 : !s -> !s
  %4 = spyre.batchmatmul (d0 = 1, d1 = 64, d2 = 64, d3 = 2048) ins(%3[d0, d1, d3], %v[d0, d3, d2]) -> [d0, d1, d2] : !s, !k -> !q
  return %4 : !q
}

// -----

// A softmax of rows that do not fit: their numbers are read once for the sums, once for the quotients.
// IN: x = normal(64, 16384)
// OUT within 2**-7: softmax(x, 1)
!x = tensor<64x16384xf16>
func.func @main(%x: !x) -> !x {
  %0 = spyre.softmax %x along 1 : !x -> !x
  return %0 : !x
}

// -----

// The logarithm of a sum of exponentials.
// IN: x = normal(64, 8192)
// OUT within 2**-6: x.max(1, keepdims=True) + np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True))
!x = tensor<64x8192xf16>
!r = tensor<64x1xf16>
func.func @main(%x: !x) -> !r {
  %m = spyre.max (d0 = 64, d1 = 8192) ins(%x[d0, d1]) -> [d0, 0] : !x -> !r
  %t = spyre.sub (d0 = 64, d1 = 8192) ins(%x[d0, d1], %m[d0, 0]) -> [d0, d1] : !x, !r -> !x
  %e = spyre.exp (d0 = 64, d1 = 8192) ins(%t[d0, d1]) -> [d0, d1] : !x -> !x
  %l = spyre.sum (d0 = 64, d1 = 8192) ins(%e[d0, d1]) -> [d0, 0] : !x -> !r
  %g = spyre.log (d0 = 64, d1 = 1) ins(%l[d0, 0]) -> [d0, d1] : !r -> !r
  %o = spyre.add (d0 = 64, d1 = 1) ins(%m[d0, 0], %g[d0, 0]) -> [d0, d1] : !r, !r -> !r
  return %o : !r
}

// -----

// Two products and what lies between them: the second adds up what a loop over the hidden dim makes.
// IN: x = normal(256, 128) / 4
// IN: a = normal(128, 2048) / 8
// IN: b = normal(2048)
// IN: c = normal(2048, 128) / 32
// OUT within 2**-6: np.maximum(x @ a + b, 0) @ c
!x = tensor<256x128xf16>
!h = tensor<256x2048xf16>
func.func @main(%x: !x, %a: tensor<128x2048xf16>, %b: tensor<2048xf16>, %c: tensor<2048x128xf16>) -> !x {
  %0 = spyre.batchmatmul (d0 = 256, d1 = 2048, d2 = 128) ins(%x[d0, d2], %a[d2, d1]) -> [d0, d1] : !x, tensor<128x2048xf16> -> !h
  %1 = spyre.add (d0 = 256, d1 = 2048) ins(%0[d0, d1], %b[d1]) -> [d0, d1] : !h, tensor<2048xf16> -> !h
  %2 = spyre.relufwd (d0 = 256, d1 = 2048) ins(%1[d0, d1]) -> [d0, d1] : !h -> !h
  %3 = spyre.batchmatmul (d0 = 256, d1 = 128, d2 = 2048) ins(%2[d0, d2], %c[d2, d1]) -> [d0, d1] : !h, tensor<2048x128xf16> -> !x
  return %3 : !x
}

// -----

// Softmaxes times weights that are shares of a sum along the same row.
// IN: x = normal(64, 8192)
// IN: y = np.abs(normal(64, 8192))
// OUT within 2**-6: softmax(x, 1) * (y / y.sum(1, keepdims=True)) * 2.0**20
!x = tensor<64x8192xf16>
!f = tensor<64x8192xf32>
!r = tensor<64x1xf32>
func.func @main(%x: !x, %y: !x) -> !f {
  %k = spyre.constant dense<1048576.0> : tensor<f32> : tensor<f32>
  %a = spyre.convert %x : !x to !f
  %b = spyre.convert %y : !x to !f
  %n = spyre.sum (d0 = 64, d1 = 8192) ins(%b[d0, d1]) -> [d0, 0] : !f -> !r
  %w = spyre.realdiv (d0 = 64, d1 = 8192) ins(%b[d0, d1], %n[d0, 0]) -> [d0, d1] : !f, !r -> !f
  %s = spyre.softmax %a along 1 : !f -> !f
  %p = spyre.mul (d0 = 64, d1 = 8192) ins(%s[d0, d1], %w[d0, d1]) -> [d0, d1] : !f, !f -> !f
  %q = spyre.mul (d0 = 64, d1 = 8192) ins(%p[d0, d1], %k[]) -> [d0, d1] : !f, tensor<f32> -> !f
  return %q : !f
}

// -----

// Two largest numbers of a row one after the other; a row's own shift before its softmax.
// IN: x = normal(64, 8192)
// LET: t = x - x.max(1, keepdims=True) - np.abs(x).max(1, keepdims=True)
// OUT within 2**-6: np.exp(t).sum(1, keepdims=True) * 1024
// OUT within 2**-6: softmax(x - x.max(1, keepdims=True), 1) * 1024
!x = tensor<64x8192xf16>
!f = tensor<64x8192xf32>
!r = tensor<64x1xf32>
func.func @main(%x: !x) -> (!r, !f) {
  %k = spyre.constant dense<1024.0> : tensor<f32> : tensor<f32>
  %a = spyre.convert %x : !x to !f
  %m = spyre.max (d0 = 64, d1 = 8192) ins(%a[d0, d1]) -> [d0, 0] : !f -> !r
  %b = spyre.abs (d0 = 64, d1 = 8192) ins(%a[d0, d1]) -> [d0, d1] : !f -> !f
  %n = spyre.max (d0 = 64, d1 = 8192) ins(%b[d0, d1]) -> [d0, 0] : !f -> !r
  %t = spyre.sub (d0 = 64, d1 = 8192) ins(%a[d0, d1], %m[d0, 0]) -> [d0, d1] : !f, !r -> !f
  %u = spyre.sub (d0 = 64, d1 = 8192) ins(%t[d0, d1], %n[d0, 0]) -> [d0, d1] : !f, !r -> !f
  %e = spyre.exp (d0 = 64, d1 = 8192) ins(%u[d0, d1]) -> [d0, d1] : !f -> !f
  %l = spyre.sum (d0 = 64, d1 = 8192) ins(%e[d0, d1]) -> [d0, 0] : !f -> !r
  %o = spyre.mul (d0 = 64, d1 = 1) ins(%l[d0, 0], %k[]) -> [d0, d1] : !r, tensor<f32> -> !r
  %s = spyre.softmax %t along 1 : !f -> !f
  %p = spyre.mul (d0 = 64, d1 = 8192) ins(%s[d0, d1], %k[]) -> [d0, d1] : !f, tensor<f32> -> !f
  return %o, %p : !r, !f
}
