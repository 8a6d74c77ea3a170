// Numbers of the rarer kinds of operation and types written at L1: top-k, the device's layer norm, bf16, fp8; against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7 -O3,--device=mock4 -O2,--target=ktir

// The largest of a column and where they stand.
// IN: x = choice(200, 130, 40).T.astype(np.float16)
// OUT exact: -np.sort(-x, 0)[:3]
// OUT exact: np.argsort(-x, 0)[:3]
!x = tensor<40x130xf16>
!o = tensor<3x130xf16>
func.func @main(%x: !x) -> (!o, !o) {
  %0 = spyre.topkvalue (d0 = 3, d1 = 130, d2 = 40) ins(%x[d2, d1]) -> [d0, d1] : !x -> !o
  %1 = spyre.topkindex (d0 = 3, d1 = 130, d2 = 40) ins(%x[d2, d1]) -> [d0, d1] : !x -> !o
  return %0, %1 : !o, !o
}

// -----

// Statistics in two lanes of a stick, their scale, the normalised rows.
// IN: x = normal(33, 256)
// IN: w = normal(256)
// IN: b = normal(256)
// OUT within 12 * 2**-10: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
!x = tensor<33x256xf16>
!s = tensor<33x1xf16>
!w = tensor<256xf16>
func.func @main(%x: !x, %w: !w, %b: !w) -> !x {
  %e = spyre.exx2 (d0 = 33, d1 = 256) ins(%x[d0, d1]) -> [d0, 0] constants {exx2scale = 0.00390625 : f64, useZeroMean = false} : !x -> !s
  %s = spyre.layernormscale (d0 = 33, d1 = 1) ins(%e[d0, 0]) -> [d0, 0] constants {eps = 1.0e-05 : f64} : !s -> !s
  %0 = spyre.layernormnorm (d0 = 33, d1 = 256) ins(%x[d0, d1], %e[d0, 0], %s[d0, 0], %w[d1], %b[d1]) -> [d0, d1] : !x, !s, !s, !w, !w -> !x
  return %0 : !x
}

// -----

// bf16: the device's format is between it and f16; integers and moves are exact.
// IN: x = bf16(whole(-9, 9, 33, 100))
// IN: y = bf16(whole(-9, 9, 100))
// OUT exact: bf16(from_bf16(x) * from_bf16(y))
// OUT exact: x.T
!x = tensor<33x100xbf16>
!y = tensor<100xbf16>
func.func @main(%x: !x, %y: !y) -> (!x, tensor<100x33xbf16>) {
  %0 = spyre.mul (d0 = 33, d1 = 100) ins(%x[d0, d1], %y[d1]) -> [d0, d1] : !x, !y -> !x
  %1 = spyre.view %x[d1, d0] : !x -> tensor<100x33xbf16>
  return %0, %1 : !x, tensor<100x33xbf16>
}

// -----

// fp8 of the caller, and made on the device.
// IN: x = fp8(whole(-4, 4, 16, 256).astype(float))
// IN: h = whole(-4, 4, 16, 256)
// OUT exact: from_fp8(x)
// OUT exact: h
func.func @main(%x: tensor<16x256xf8E4M3FN>, %h: tensor<16x256xf16>) -> (tensor<16x256xf16>, tensor<16x256xf16>) {
  %0 = spyre.fp8todl16 (d0 = 16, d1 = 256) ins(%x[d0, d1]) -> [d0, d1] : tensor<16x256xf8E4M3FN> -> tensor<16x256xf16>
  %1 = spyre.qfp8ch (d0 = 16, d1 = 256) ins(%h[d0, d1]) -> [d0, d1] : tensor<16x256xf16> -> tensor<16x256xf8E4M3FN>
  %2 = spyre.fp8todl16 (d0 = 16, d1 = 256) ins(%1[d0, d1]) -> [d0, d1] : tensor<16x256xf8E4M3FN> -> tensor<16x256xf16>
  return %0, %2 : tensor<16x256xf16>, tensor<16x256xf16>
}
