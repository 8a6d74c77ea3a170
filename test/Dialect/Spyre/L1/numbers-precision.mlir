// Conversions and parts of a program in f32, written at L1, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7 -O3,--device=mock4 -O2,--target=ktir

// There and back again; what f32 holds and 16 bits do not must survive in between.
// IN: x = whole(1, 8, 33, 100)
// IN: y = normal(33, 100).astype(np.float32)
// OUT exact: x
// OUT: y + 1000 * x
// OUT exact: (4096 * x + 1) - 4096 * x
// OUT: y
!h = tensor<33x100xf16>
!f = tensor<33x100xf32>
func.func @main(%x: !h, %y: !f) -> (!f, !f, !h, !h) {
  %k = spyre.constant dense<1.0e3> : tensor<f32> : tensor<f32>
  %big = spyre.constant dense<4.096e3> : tensor<f32> : tensor<f32>
  %one = spyre.constant dense<1.0> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : !h to !f
  %1 = spyre.mul (d0 = 33, d1 = 100) ins(%0[d0, d1], %k[]) -> [d0, d1] : !f, tensor<f32> -> !f
  %2 = spyre.add (d0 = 33, d1 = 100) ins(%y[d0, d1], %1[d0, d1]) -> [d0, d1] : !f, !f -> !f
  %3 = spyre.mul (d0 = 33, d1 = 100) ins(%0[d0, d1], %big[]) -> [d0, d1] : !f, tensor<f32> -> !f
  %4 = spyre.add (d0 = 33, d1 = 100) ins(%3[d0, d1], %one[]) -> [d0, d1] : !f, tensor<f32> -> !f
  %5 = spyre.sub (d0 = 33, d1 = 100) ins(%4[d0, d1], %3[d0, d1]) -> [d0, d1] : !f, !f -> !f
  %6 = spyre.convert %5 : !f to !h
  %7 = spyre.convert %y : !f to !h
  return %0, %2, %6, %7 : !f, !f, !h, !h
}

// -----

// A variance of numbers far from zero, and a cast in a transposed layout.
// IN: x = whole(60, 64, 40, 96)
// OUT: x.var(1, keepdims=True)
// OUT: np.exp(x.T / 64).astype(np.float32)
!h = tensor<40x96xf16>
!f = tensor<40x96xf32>
!s = tensor<40x1xf32>
func.func @main(%x: !h) -> (!s, tensor<96x40xf32>) {
  %c = spyre.constant dense<0.015625> : tensor<f32> : tensor<f32>
  %0 = spyre.convert %x : !h to !f
  %1 = spyre.mean (d0 = 40, d1 = 96) ins(%0[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.010416666666666666 : f64} : !f -> !s
  %2 = spyre.sub (d0 = 40, d1 = 96) ins(%0[d0, d1], %1[d0, 0]) -> [d0, d1] : !f, !s -> !f
  %3 = spyre.mul (d0 = 40, d1 = 96) ins(%2[d0, d1], %2[d0, d1]) -> [d0, d1] : !f, !f -> !f
  %4 = spyre.mean (d0 = 40, d1 = 96) ins(%3[d0, d1]) -> [d0, 0] constants {scaling_factor = 0.010416666666666666 : f64} : !f -> !s
  %5 = spyre.view %0[d1, d0] : !f -> tensor<96x40xf32>
  %6 = spyre.mul (d0 = 96, d1 = 40) ins(%5[d0, d1], %c[]) -> [d0, d1] : tensor<96x40xf32>, tensor<f32> -> tensor<96x40xf32>
  %7 = spyre.exp (d0 = 96, d1 = 40) ins(%6[d0, d1]) -> [d0, d1] : tensor<96x40xf32> -> tensor<96x40xf32>
  return %4, %7 : !s, tensor<96x40xf32>
}

// -----

// f16 arguments that are compared: 0.1 in f16 lies between the device's numbers.
// IN: x = np.array([[0.1, 0.09995, 0.1001, 0.5, -0.1] * 20]).astype(np.float16)
// IN: y = np.array([[0.1001, 0.0999, 0.1001, 0.5, -0.1] * 20]).astype(np.float16)
// OUT exact: x >= y
// OUT exact: x.astype(np.float32) - y
!h = tensor<1x100xf16>
!f = tensor<1x100xf32>
func.func @main(%x: !h, %y: !h) -> (tensor<1x100xi1>, !f) {
  %0 = spyre.greaterequal (d0 = 1, d1 = 100) ins(%x[d0, d1], %y[d0, d1]) -> [d0, d1] : !h, !h -> tensor<1x100xi1>
  %1 = spyre.convert %x : !h to !f
  %2 = spyre.convert %y : !h to !f
  %3 = spyre.sub (d0 = 1, d1 = 100) ins(%1[d0, d1], %2[d0, d1]) -> [d0, d1] : !f, !f -> !f
  return %0, %3 : tensor<1x100xi1>, !f
}

// -----

// Truth values are ones and zeros.
// IN: b = normal(20, 40) > 0
// IN: x = whole(-1, 1, 20, 40)
// OUT exact: b
// OUT exact: x != 0
func.func @main(%b: tensor<20x40xi1>, %x: tensor<20x40xf16>) -> (tensor<20x40xf16>, tensor<20x40xi1>) {
  %0 = spyre.convert %b : tensor<20x40xi1> to tensor<20x40xf16>
  %1 = spyre.convert %x : tensor<20x40xf16> to tensor<20x40xi1>
  return %0, %1 : tensor<20x40xf16>, tensor<20x40xi1>
}
