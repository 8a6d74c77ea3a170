// Numbers of the composites of L1 and of what programs build of them, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7 -O3,--device=mock4 -O3,--device=mock4,--target=ktir

// Along the stick dim (ending inside a stick), along rows, along the middle.
// IN: x = 4 * normal(3, 20, 100)
// OUT within 8 * 2**-10: softmax(x, 2)
// OUT within 8 * 2**-10: softmax(x, 0)
// OUT within 8 * 2**-10: softmax(x, 1)
// OUT within 8 * 2**-10: np.log(softmax(x, 2))
// OUT within 8 * 2**-10: np.log(softmax(x, 1))
!x = tensor<3x20x100xf16>
func.func @main(%x: !x) -> (!x, !x, !x, !x, !x) {
  %0 = spyre.softmax %x along 2 : !x -> !x
  %1 = spyre.softmax %x along 0 : !x -> !x
  %2 = spyre.softmax %x along 1 : !x -> !x
  %3 = spyre.log_softmax %x along 2 : !x -> !x
  %4 = spyre.log_softmax %x along 1 : !x -> !x
  return %0, %1, %2, %3, %4 : !x, !x, !x, !x, !x
}

// -----

// With and without weight, over one dim and over two.
// IN: x = normal(7, 6, 100)
// IN: w = normal(100)
// IN: v = normal(6, 100)
// OUT within 8 * 2**-10: x / np.sqrt((x ** 2).mean(2, keepdims=True) + 1e-5) * w
// OUT within 8 * 2**-10: x / np.sqrt((x ** 2).mean(2, keepdims=True) + 0.5)
// OUT within 8 * 2**-10: x / np.sqrt((x ** 2).mean((1, 2), keepdims=True) + 1e-5) * v
!x = tensor<7x6x100xf16>
func.func @main(%x: !x, %w: tensor<100xf16>, %v: tensor<6x100xf16>) -> (!x, !x, !x) {
  %0 = spyre.rms_norm %x weight(%w : tensor<100xf16>) over 1 epsilon 1.0e-05 : !x -> !x
  %1 = spyre.rms_norm %x over 1 epsilon 0.5 : !x -> !x
  %2 = spyre.rms_norm %x weight(%v : tensor<6x100xf16>) over 2 epsilon 1.0e-05 : !x -> !x
  return %0, %1, %2 : !x, !x, !x
}

// -----

// A layer norm as programs spell it: statistics in f32, by the precision rules.
// IN: x = normal(33, 200) + 3
// IN: w = normal(200)
// IN: b = normal(200)
// LET: d = x - x.mean(1, keepdims=True)
// OUT: d / np.sqrt((d ** 2).mean(1, keepdims=True) + 1e-5) * w + b
!x = tensor<33x200xf16>
!f = tensor<33x200xf32>
!s = tensor<33x1xf32>
func.func @main(%x: !x, %w: tensor<200xf16>, %b: tensor<200xf16>) -> !x {
  %eps = spyre.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : !x to !f
  %1 = spyre.mean (d0 = 33, d1 = 200) ins(%0[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.005 : f64} : !f -> !s
  %2 = spyre.sub (d0 = 33, d1 = 200) ins(%0[d0, d1], %1[d0, 0]) -> [d0, d1] : !f, !s -> !f
  %3 = spyre.mul (d0 = 33, d1 = 200) ins(%2[d0, d1], %2[d0, d1]) -> [d0, d1] : !f, !f -> !f
  %4 = spyre.mean (d0 = 33, d1 = 200) ins(%3[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.005 : f64} : !f -> !s
  %5 = spyre.add (d0 = 33, d1 = 1) ins(%4[d0, 0], %eps[]) -> [d0, d1] : !s, tensor<f32> -> !s
  %6 = spyre.rsqrt (d0 = 33, d1 = 1) ins(%5[d0, 0]) -> [d0, d1] : !s -> !s
  %7 = spyre.mul (d0 = 33, d1 = 200) ins(%2[d0, d1], %6[d0, 0]) -> [d0, d1] : !f, !s -> !f
  %8 = spyre.convert %7 : !f to !x
  %9 = spyre.mul (d0 = 33, d1 = 200) ins(%8[d0, d1], %w[d1]) -> [d0, d1] : !x, tensor<200xf16> -> !x
  %10 = spyre.add (d0 = 33, d1 = 200) ins(%9[d0, d1], %b[d1]) -> [d0, d1] : !x, tensor<200xf16> -> !x
  return %10 : !x
}

// -----

// Attention with heads cut out of the last dim, a mask and grouped keys.
// IN: q = normal(2, 17, 4 * 32)
// IN: k = normal(2, 19, 2 * 32)
// IN: v = normal(2, 19, 2 * 32)
// IN: m = np.where(whole(0, 3, 17, 19) > 0, 0.0, -1e4)
// LET: heads = lambda x, n: x.reshape(2, -1, n, 32).transpose(0, 2, 1, 3)
// LET: kh = np.repeat(heads(k, 2), 2, 1)
// LET: vh = np.repeat(heads(v, 2), 2, 1)
// LET: p = softmax(heads(q, 4) @ kh.transpose(0, 1, 3, 2) / 4 + m, 3)
// OUT within 24 * 2**-10: (p @ vh).transpose(0, 2, 1, 3).reshape(2, 17, 128)
!s = tensor<2x4x17x19xf16>
!q = tensor<2x4x17x32xf16>
!k = tensor<2x4x19x32xf16>
func.func @main(%q: tensor<2x17x128xf16>, %k: tensor<2x19x64xf16>, %v: tensor<2x19x64xf16>, %m: tensor<17x19xf16>) -> tensor<2x17x128xf16> {
  %c = spyre.constant dense<0.25> : tensor<f16> : tensor<f16>
  %qh = spyre.view %q[d0, d2, d1 * 32 + d3] : tensor<2x17x128xf16> -> !q
  %kt = spyre.view %k[d0, d3, (d1 floordiv 2) * 32 + d2] : tensor<2x19x64xf16> -> tensor<2x4x32x19xf16>
  %vh = spyre.view %v[d0, d2, (d1 floordiv 2) * 32 + d3] : tensor<2x19x64xf16> -> !k
  %0 = spyre.matmul %qh, %kt : !q, tensor<2x4x32x19xf16> -> !s
  %1 = spyre.mul (d0 = 2, d1 = 4, d2 = 17, d3 = 19) ins(%0[d0, d1, d2, d3], %c[]) -> [d0, d1, d2, d3] : !s, tensor<f16> -> !s
  %2 = spyre.add (d0 = 2, d1 = 4, d2 = 17, d3 = 19) ins(%1[d0, d1, d2, d3], %m[d2, d3]) -> [d0, d1, d2, d3] : !s, tensor<17x19xf16> -> !s
  %3 = spyre.softmax %2 along 3 : !s -> !s
  %4 = spyre.matmul %3, %vh : !s, !k -> !q
  %5 = spyre.view %4[d0, d2 floordiv 32, d1, d2 mod 32] : !q -> tensor<2x17x128xf16>
  return %5 : tensor<2x17x128xf16>
}
