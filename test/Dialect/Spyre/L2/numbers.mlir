// Programs with layouts by hand (L2): other sticks, padding, updates, other widths; divided and placed by the planner, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7

// Another dim in the stick between two restickifies; a padded value in another order.
// IN: x = normal(3, 64, 128)
// OUT exact: -x
// OUT exact: np.abs(x)
!x = tensor<3x64x128xf16, #spyre.layout<[64, 2, 3, 64], order [0, 1, 2], SEN169_FP16>>
!r = tensor<3x64x128xf16, #spyre.layout<[128, 1, 3, 64], order [0, 2, 1], SEN169_FP16>>
!p = tensor<3x64x128xf16, #spyre.layout<[5, 4, 70, 64], order [1, 0, 2], SEN169_FP16>>
func.func @main(%x: !x) -> (!x, !x) {
  %0 = spyre.restickify (d0 = 3, d1 = 64, d2 = 128) ins(%x[d0, d1, d2]) -> [d0, d1, d2] : !x -> !r
  %1 = spyre.neg (d0 = 3, d1 = 64, d2 = 128) ins(%0[d0, d1, d2]) -> [d0, d1, d2] : !r -> !r
  %2 = spyre.restickify (d0 = 3, d1 = 64, d2 = 128) ins(%1[d0, d1, d2]) -> [d0, d1, d2] : !r -> !x
  %3 = spyre.abs (d0 = 3, d1 = 64, d2 = 128) ins(%x[d0, d1, d2]) -> [d0, d1, d2] : !x -> !p
  %4 = spyre.identity (d0 = 3, d1 = 64, d2 = 128) ins(%3[d0, d1, d2]) -> [d0, d1, d2] : !p -> !x
  return %2, %4 : !x, !x
}

// -----

// The contracted dim ends inside a stick: the second operand is copied into zeros; a sparse sum is read again.
// IN: x = whole(-2, 2, 16, 100)
// IN: y = whole(-2, 2, 100, 64)
// OUT exact: x @ y - x.sum(1, keepdims=True)
!x = tensor<16x100xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>>
!y = tensor<100x64xf16, #spyre.layout<[1, 100, 64], order [0, 1], SEN169_FP16>>
!z = tensor<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>>
!s = tensor<16xf16, #spyre.layout<[1, 16, 64], order [0, -1], SEN169_FP16>>
!o = tensor<16x64xf16, #spyre.layout<[1, 16, 64], order [0, 1], SEN169_FP16>>
!n = tensor<f16, #spyre.layout<[1, 64], order [], SEN169_FP16>>
func.func @main(%x: !x, %y: !y) -> !o {
  %zero = spyre.constant dense<0.0> : tensor<f16> : !n
  %0 = spyre.identity (d0 = 28, d1 = 64) ins(%zero[]) -> [d0 + 100, d1] : !n -> !z
  %1 = spyre.identity (d0 = 100, d1 = 64) ins(%y[d0, d1]) outs(%0[d0, d1]) : !y -> !z
  %2 = spyre.batchmatmul (d0 = 16, d1 = 64, d2 = 100) ins(%x[d0, d2], %1[d2, d1]) -> [d0, d1] : !x, !z -> !o
  %3 = spyre.sum (d0 = 16, d1 = 100) ins(%x[d0, d1]) -> [d0] : !x -> !s
  %4 = spyre.sub (d0 = 16, d1 = 64) ins(%2[d0, d1], %3[d0]) -> [d0, d1] : !o, !s -> !o
  return %4 : !o
}

// -----

// f32 rows moved as pairs of 16-bit numbers.
// IN: x = normal(16, 64).astype(np.float32) * np.float32(1.0001)
// OUT exact: -x[1::2]
!f = tensor<16x64xf32, #spyre.layout<[2, 16, 32], order [0, 1], IEEE_FP32>>
!h = tensor<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>>
!p = tensor<8x128xf16, #spyre.layout<[2, 8, 64], order [0, 1], SEN169_FP16>>
!o = tensor<8x64xf32, #spyre.layout<[2, 8, 32], order [0, 1], IEEE_FP32>>
func.func @main(%x: !f) -> !o {
  %0 = spyre.neg (d0 = 16, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : !f -> !f
  %1 = spyre.reinterpret %0 : !f to !h
  %2 = spyre.identity (d0 = 8, d1 = 128) ins(%1[d0 * 2 + 1, d1]) -> [d0, d1] : !h -> !p
  %3 = spyre.reinterpret %2 : !p to !o
  %4 = spyre.identity (d0 = 8, d1 = 64) ins(%3[d0, d1]) -> [d0, d1] : !o -> !o
  return %4 : !o
}
