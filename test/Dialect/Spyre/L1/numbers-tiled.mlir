// Programs that have to run tile by tile, against NumPy: on devices with little LX, with as many tiles as fit.
// RUN: %against_numpy %s -O3,--device=mock32 -O3,--device=mock4 -O2 -O3,--device=mock32,--target=ktir

// Rows: a norm in f32 with weights, whose values between do not fit.
// IN: x = normal(192, 640)
// IN: w = normal(640)
// IN: b = normal(640)
// LET: c = x - x.mean(1, keepdims=True)
// OUT within 8 * 2**-10: c / np.sqrt((c ** 2).mean(1, keepdims=True) + 1e-5) * w + b
!x = tensor<192x640xf16>
!w = tensor<640xf16>
!f = tensor<192x640xf32>
!s = tensor<192x1xf32>
func.func @main(%x: !x, %w: !w, %b: !w) -> !x {
  %eps = spyre.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : !x to !f
  %1 = spyre.mean (d0 = 192, d1 = 640) ins(%0[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.0015625 : f64} : !f -> !s
  %2 = spyre.sub (d0 = 192, d1 = 640) ins(%0[d0, d1], %1[d0, 0]) -> [d0, d1] : !f, !s -> !f
  %3 = spyre.mul (d0 = 192, d1 = 640) ins(%2[d0, d1], %2[d0, d1]) -> [d0, d1] : !f, !f -> !f
  %4 = spyre.mean (d0 = 192, d1 = 640) ins(%3[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.0015625 : f64} : !f -> !s
  %5 = spyre.add (d0 = 192, d1 = 1) ins(%4[d0, d1], %eps[]) -> [d0, d1] : !s, tensor<f32> -> !s
  %6 = spyre.rsqrt (d0 = 192, d1 = 1) ins(%5[d0, d1]) -> [d0, d1] : !s -> !s
  %7 = spyre.mul (d0 = 192, d1 = 640) ins(%2[d0, d1], %6[d0, 0]) -> [d0, d1] : !f, !s -> !f
  %8 = spyre.convert %7 : !f to !x
  %9 = spyre.mul (d0 = 192, d1 = 640) ins(%8[d0, d1], %w[d1]) -> [d0, d1] : !x, !w -> !x
  %10 = spyre.add (d0 = 192, d1 = 640) ins(%9[d0, d1], %b[d1]) -> [d0, d1] : !x, !w -> !x
  return %10 : !x
}

// -----

// Heads: scores of one head at a time, three heads that share keys with one.
// IN: q = normal(6, 128, 64) / 8
// IN: k = normal(2, 128, 64)
// IN: v = normal(2, 128, 64)
// LET: s = q @ np.repeat(k, 3, 0).transpose(0, 2, 1)
// OUT within 2**-6: softmax(s, 2) @ np.repeat(v, 3, 0)
!q = tensor<6x128x64xf16>
!k = tensor<2x128x64xf16>
!g = tensor<2x3x128x64xf16>
!s = tensor<2x3x128x128xf16>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {
  %0 = spyre.batchmatmul (d0 = 2, d1 = 3, d2 = 128, d3 = 128, d4 = 64) ins(%q[d0 * 3 + d1, d2, d4], %k[d0, d3, d4]) -> [d0, d1, d2, d3] : !q, !k -> !s
  %1 = spyre.softmax %0 along 3 : !s -> !s
  %2 = spyre.batchmatmul (d0 = 2, d1 = 3, d2 = 128, d3 = 64, d4 = 128) ins(%1[d0, d1, d2, d4], %v[d0, d4, d3]) -> [d0 * 3 + d1, d2, d3] : !s, !k -> !q
  return %2 : !q
}

// -----

// Results that are read again, sizes that end inside a stick, a sum of rows at the end that no tile has.
// IN: x = normal(96, 330)
// OUT: np.exp(x)
// OUT: np.exp(x) + x
// OUT within 2**-6: (np.exp(x) + x).sum(0, keepdims=True)
!x = tensor<96x330xf16>
func.func @main(%x: !x) -> (!x, !x, tensor<1x330xf16>) {
  %0 = spyre.exp (d0 = 96, d1 = 330) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  %1 = spyre.add (d0 = 96, d1 = 330) ins(%0[d0, d1], %x[d0, d1]) -> [d0, d1] : !x, !x -> !x
  %2 = spyre.sum (d0 = 96, d1 = 330) ins(%1[d0, d1]) -> [0, d1] : !x -> tensor<1x330xf16>
  return %0, %1, %2 : !x, !x, tensor<1x330xf16>
}

// -----

// Columns: sums over rows stay, columns are tiled by sticks.
// IN: x = normal(256, 1024)
// OUT within 2**-7: np.exp(x - x.max(0)) / np.exp(x - x.max(0)).sum(0)
!x = tensor<256x1024xf16>
func.func @main(%x: !x) -> !x {
  %0 = spyre.softmax %x along 0 : !x -> !x
  return %0 : !x
}

// -----

// Keys that end inside a stick: what lies behind them is masked.
// IN: q = normal(4, 96, 64) / 8
// IN: k = normal(4, 100, 64)
// IN: v = normal(4, 100, 64)
// OUT within 2**-6: softmax(q @ k.transpose(0, 2, 1), 2) @ v
!q = tensor<4x96x64xf16>
!k = tensor<4x100x64xf16>
!s = tensor<4x96x100xf16>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {
  %0 = spyre.batchmatmul (d0 = 4, d1 = 96, d2 = 100, d3 = 64) ins(%q[d0, d1, d3], %k[d0, d2, d3]) -> [d0, d1, d2] : !q, !k -> !s
  %1 = spyre.softmax %0 along 2 : !s -> !s
  %2 = spyre.batchmatmul (d0 = 4, d1 = 96, d2 = 64, d3 = 100) ins(%1[d0, d1, d3], %v[d0, d3, d2]) -> [d0, d1, d2] : !s, !k -> !q
  return %2 : !q
}

// -----

// Heads side by side in a hidden dim, taken apart by the products: a layer's attention.
// IN: x = normal(2, 96, 256) / 8
// IN: a = normal(256, 256) / 8
// IN: b = normal(256, 256) / 8
// IN: c = normal(256, 256) / 16
// LET: q = (x @ a).reshape(2, 96, 4, 64).transpose(0, 2, 1, 3)
// LET: k = (x @ b).reshape(2, 96, 4, 64).transpose(0, 2, 3, 1)
// LET: v = (x @ c).reshape(2, 96, 4, 64).transpose(0, 2, 1, 3)
// OUT within 2**-6: (softmax(q @ k, 3) @ v).transpose(0, 2, 1, 3).reshape(2, 96, 256)
!x = tensor<2x96x256xf16>
!w = tensor<256x256xf16>
!s = tensor<2x4x96x96xf16>
func.func @main(%x: !x, %a: !w, %b: !w, %c: !w) -> !x {
  %q = spyre.batchmatmul (d0 = 2, d1 = 96, d2 = 256, d3 = 256) ins(%x[d0, d1, d3], %a[d3, d2]) -> [d0, d1, d2] : !x, !w -> !x
  %k = spyre.batchmatmul (d0 = 2, d1 = 96, d2 = 256, d3 = 256) ins(%x[d0, d1, d3], %b[d3, d2]) -> [d0, d1, d2] : !x, !w -> !x
  %v = spyre.batchmatmul (d0 = 2, d1 = 96, d2 = 256, d3 = 256) ins(%x[d0, d1, d3], %c[d3, d2]) -> [d0, d1, d2] : !x, !w -> !x
  %0 = spyre.batchmatmul (d0 = 2, d1 = 4, d2 = 96, d3 = 96, d4 = 64) ins(%q[d0, d2, d1 * 64 + d4], %k[d0, d3, d1 * 64 + d4]) -> [d0, d1, d2, d3] : !x, !x -> !s
  %1 = spyre.softmax %0 along 3 : !s -> !s
  %2 = spyre.batchmatmul (d0 = 2, d1 = 4, d2 = 96, d3 = 64, d4 = 96) ins(%1[d0, d1, d2, d4], %v[d0, d4, d1 * 64 + d3]) -> [d0, d2, d1 * 64 + d3] : !s, !x -> !x
  return %2 : !x
}
