// Numbers of reductions written at L1, over stick and non-stick dims and several at once, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7 -O3,--device=mock32 -O3,--cores=7,--target=ktir

// Over the stick dim: lanes behind the end (100 of 128) must not count. Sums of integers are exact.
// IN: x = whole(-3, 3, 33, 100)
// OUT exact: x.sum(1)
// OUT exact: x.max(1, keepdims=True)
// OUT exact: x.min(1)
// OUT: x.mean(1)
// OUT exact: (x - 10).max(1)
// OUT exact: (x + 10).min(1)
!x = tensor<33x100xf16>
!r = tensor<33xf16>
func.func @main(%x: !x) -> (!r, tensor<33x1xf16>, !r, !r, !r, !r) {
  %c = spyre.constant dense<1.0e1> : tensor<f16> : tensor<f16>
  %0 = spyre.sum (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0] : !x -> !r
  %1 = spyre.max (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0, 0] : !x -> tensor<33x1xf16>
  %2 = spyre.min (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0] : !x -> !r
  %3 = spyre.mean (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0] constants {scaling_factor = 0.01 : f64} : !x -> !r
  %low = spyre.sub (d0 = 33, d1 = 100) ins(%x[d0, d1], %c[]) -> [d0, d1] : !x, tensor<f16> -> !x
  %high = spyre.add (d0 = 33, d1 = 100) ins(%x[d0, d1], %c[]) -> [d0, d1] : !x, tensor<f16> -> !x
  %4 = spyre.max (d0 = 33, d1 = 100) ins(%low[d0, d1]) -> [d0] : !x -> !r
  %5 = spyre.min (d0 = 33, d1 = 100) ins(%high[d0, d1]) -> [d0] : !x -> !r
  return %0, %1, %2, %3, %4, %5 : !r, tensor<33x1xf16>, !r, !r, !r, !r
}

// -----

// Over rows, over a dim in the middle, over two dims and over all.
// IN: x = whole(-3, 3, 6, 10, 70)
// OUT exact: x.sum(0)
// OUT exact: x.max(1, keepdims=True)
// OUT exact: x.min((0, 1))
// OUT exact: x[:, :3, :8].sum((1, 2))
// OUT exact: x.max()
// OUT: x.mean(0)
// OUT exact: x.sum((0, 2))
!x = tensor<6x10x70xf16>
func.func @main(%x: !x) -> (tensor<10x70xf16>, tensor<6x1x70xf16>, tensor<70xf16>, tensor<6xf16>, tensor<f16>, tensor<10x70xf16>, tensor<10xf16>) {
  %0 = spyre.sum (d0 = 6, d1 = 10, d2 = 70) ins(%x[d0, d1, d2]) -> [d1, d2] : !x -> tensor<10x70xf16>
  %1 = spyre.max (d0 = 6, d1 = 10, d2 = 70) ins(%x[d0, d1, d2]) -> [d0, 0, d2] : !x -> tensor<6x1x70xf16>
  %2 = spyre.min (d0 = 6, d1 = 10, d2 = 70) ins(%x[d0, d1, d2]) -> [d2] : !x -> tensor<70xf16>
  %3 = spyre.sum (d0 = 6, d1 = 3, d2 = 8) ins(%x[d0, d1, d2]) -> [d0] : !x -> tensor<6xf16>
  %4 = spyre.max (d0 = 6, d1 = 10, d2 = 70) ins(%x[d0, d1, d2]) -> [] : !x -> tensor<f16>
  %5 = spyre.mean (d0 = 6, d1 = 10, d2 = 70) ins(%x[d0, d1, d2]) -> [d1, d2] constants {scaling_factor = 0.16666666666666666 : f64} : !x -> tensor<10x70xf16>
  %6 = spyre.sum (d0 = 6, d1 = 10, d2 = 70) ins(%x[d0, d1, d2]) -> [d1] : !x -> tensor<10xf16>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<10x70xf16>, tensor<6x1x70xf16>, tensor<70xf16>, tensor<6xf16>, tensor<f16>, tensor<10x70xf16>, tensor<10xf16>
}

// -----

// In f32.
// IN: x = (1000 * normal(33, 100)).astype(np.float32)
// OUT: x.sum(1)
// OUT exact: x.max(0)
// OUT: x.mean(0)
!x = tensor<33x100xf32>
func.func @main(%x: !x) -> (tensor<33xf32>, tensor<100xf32>, tensor<100xf32>) {
  %0 = spyre.sum (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d0] : !x -> tensor<33xf32>
  %1 = spyre.max (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d1] : !x -> tensor<100xf32>
  %2 = spyre.mean (d0 = 33, d1 = 100) ins(%x[d0, d1]) -> [d1] constants {scaling_factor = 0.030303030303030304 : f64} : !x -> tensor<100xf32>
  return %0, %1, %2 : tensor<33xf32>, tensor<100xf32>, tensor<100xf32>
}

// -----

// A reduced dim that is cut by hand: cores combine their parts.
// IN: x = whole(-2, 2, 16, 256)
// OUT exact: x.sum(1)
// OUT exact: x.sum(0)
!x = tensor<16x256xf16>
func.func @main(%x: !x) -> (tensor<16xf16>, tensor<256xf16>) {
  %0 = spyre.sum (d0 = 16 / 2, d1 = 256 / 4) ins(%x[d0, d1]) -> [d0] : !x -> tensor<16xf16>
  %1 = spyre.sum (d0 = 16 / 8, d1 = 256 / 2) ins(%x[d0, d1]) -> [d1] : !x -> tensor<256xf16>
  return %0, %1 : tensor<16xf16>, tensor<256xf16>
}
