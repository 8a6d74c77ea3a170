// Moved data, written at L1: every view, copy, part and join must be exact, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7 -O3,--device=mock32 -O2,--target=ktir

// Views alone: transposed, reshaped inside sticks, cut at odd places, every second element, repeated.
// IN: x = normal(6, 10, 96)
// OUT exact: x.transpose(2, 0, 1)
// OUT exact: x.reshape(6, 10, 3, 32).transpose(0, 2, 1, 3)
// OUT exact: x[1:5, 3:, 7:90]
// OUT exact: x[:, ::2, 1::2]
// OUT exact: np.repeat(x[:, 0, :1], 70, 1)
// OUT exact: x.reshape(60, 96)
!x = tensor<6x10x96xf16>
func.func @main(%x: !x) -> (tensor<96x6x10xf16>, tensor<6x3x10x32xf16>, tensor<4x7x83xf16>, tensor<6x5x48xf16>, tensor<6x70xf16>, tensor<60x96xf16>) {
  %0 = spyre.view %x[d1, d2, d0] : !x -> tensor<96x6x10xf16>
  %1 = spyre.view %x[d0, d2, d1 * 32 + d3] : !x -> tensor<6x3x10x32xf16>
  %2 = spyre.view %x[d0 + 1, d1 + 3, d2 + 7] : !x -> tensor<4x7x83xf16>
  %3 = spyre.view %x[d0, d1 * 2, d2 * 2 + 1] : !x -> tensor<6x5x48xf16>
  %4 = spyre.view %x[d0, 0, 0] : !x -> tensor<6x70xf16>
  %5 = spyre.view %x[d0 floordiv 10, d0 mod 10, d1] : !x -> tensor<60x96xf16>
  return %0, %1, %2, %3, %4, %5 : tensor<96x6x10xf16>, tensor<6x3x10x32xf16>, tensor<4x7x83xf16>, tensor<6x5x48xf16>, tensor<6x70xf16>, tensor<60x96xf16>
}

// -----

// Views between operations: read, written, both; a shape that is no sum of digits.
// IN: x = normal(33, 70)
// IN: y = normal(70, 33)
// OUT: -x.T - y
// OUT exact: np.abs(x[:, 5:]).reshape(33, 5, 13).transpose(2, 0, 1)
// OUT exact: np.abs(-x.reshape(70, 33))
func.func @main(%x: tensor<33x70xf16>, %y: tensor<70x33xf16>) -> (tensor<70x33xf16>, tensor<13x33x5xf16>, tensor<70x33xf16>) {
  %0 = spyre.neg (d0 = 33, d1 = 70) ins(%x[d0, d1]) -> [d0, d1] : tensor<33x70xf16> -> tensor<33x70xf16>
  %1 = spyre.sub (d0 = 70, d1 = 33) ins(%0[d1, d0], %y[d0, d1]) -> [d0, d1] : tensor<33x70xf16>, tensor<70x33xf16> -> tensor<70x33xf16>
  %2 = spyre.abs (d0 = 33, d1 = 65) ins(%x[d0, d1 + 5]) -> [d0, d1] : tensor<33x70xf16> -> tensor<33x65xf16>
  %3 = spyre.view %2[d1, d2 * 13 + d0] : tensor<33x65xf16> -> tensor<13x33x5xf16>
  %4 = spyre.view %0[d0 floordiv 70, d0 mod 70] : tensor<33x70xf16> -> tensor<2310xf16>
  %5 = spyre.view %4[d0 * 33 + d1] : tensor<2310xf16> -> tensor<70x33xf16>
  %6 = spyre.abs (d0 = 70, d1 = 33) ins(%5[d0, d1]) -> [d0, d1] : tensor<70x33xf16> -> tensor<70x33xf16>
  return %1, %3, %6 : tensor<70x33xf16>, tensor<13x33x5xf16>, tensor<70x33xf16>
}

// -----

// Joined along rows and inside a stick; a part of another tensor is written.
// IN: x = normal(5, 40)
// IN: y = normal(5, 70)
// IN: z = normal(96, 70)
// OUT exact: np.concatenate([-x, y, x], 1)
// OUT exact: np.concatenate([y, z, y])
// OUT exact: np.concatenate([z[:3], np.abs(y), z[8:]])
func.func @main(%x: tensor<5x40xf16>, %y: tensor<5x70xf16>, %z: tensor<96x70xf16>) -> (tensor<5x150xf16>, tensor<106x70xf16>, tensor<96x70xf16>) {
  %0 = spyre.neg (d0 = 5, d1 = 40) ins(%x[d0, d1]) -> [d0, d1] : tensor<5x40xf16> -> tensor<5x40xf16>
  %1 = spyre.concat %0, %y, %x along 1 : tensor<5x40xf16>, tensor<5x70xf16>, tensor<5x40xf16> -> tensor<5x150xf16>
  %2 = spyre.concat %y, %z, %y along 0 : tensor<5x70xf16>, tensor<96x70xf16>, tensor<5x70xf16> -> tensor<106x70xf16>
  %3 = spyre.identity (d0 = 96, d1 = 70) ins(%z[d0, d1]) -> [d0, d1] : tensor<96x70xf16> -> tensor<96x70xf16>
  %4 = spyre.abs (d0 = 5, d1 = 70) ins(%y[d0, d1]) outs(%3[d0 + 3, d1]) : tensor<5x70xf16> -> tensor<96x70xf16>
  return %1, %2, %4 : tensor<5x150xf16>, tensor<106x70xf16>, tensor<96x70xf16>
}

// -----

// 32-bit numbers move as pairs of 16-bit ones; integers; truth values; constants.
// IN: x = normal(20, 40).astype(np.float32) + np.float32(1e-6)
// IN: i = whole(-99, 99, 20, 40).astype(np.int64)
// IN: b = normal(20, 40) > 0
// OUT exact: x.T
// OUT exact: np.concatenate([x, x[::2]])
// OUT exact: i[3:9, 2:12]
// OUT exact: b.T
// OUT exact: np.array([[1.0, -2.0], [0.5, 3.0]]) + np.zeros((2, 2))
func.func @main(%x: tensor<20x40xf32>, %i: tensor<20x40xi64>, %b: tensor<20x40xi1>) -> (tensor<40x20xf32>, tensor<30x40xf32>, tensor<6x10xi64>, tensor<40x20xi1>, tensor<2x2xf16>) {
  %0 = spyre.view %x[d1, d0] : tensor<20x40xf32> -> tensor<40x20xf32>
  %1 = spyre.view %x[d0 * 2, d1] : tensor<20x40xf32> -> tensor<10x40xf32>
  %2 = spyre.concat %x, %1 along 0 : tensor<20x40xf32>, tensor<10x40xf32> -> tensor<30x40xf32>
  %3 = spyre.view %i[d0 + 3, d1 + 2] : tensor<20x40xi64> -> tensor<6x10xi64>
  %4 = spyre.view %b[d1, d0] : tensor<20x40xi1> -> tensor<40x20xi1>
  %5 = spyre.constant dense<[[1.0, -2.0], [0.5, 3.0]]> : tensor<2x2xf16> : tensor<2x2xf16>
  return %0, %2, %3, %4, %5 : tensor<40x20xf32>, tensor<30x40xf32>, tensor<6x10xi64>, tensor<40x20xi1>, tensor<2x2xf16>
}

// -----

// One element, one number.
// IN: x = whole(-2, 2, 1, 1)
// IN: y = whole(-2, 2, 1, 1)
// OUT exact: x @ y
// OUT exact: (x + y).sum()
// OUT exact: x[0, 0]
func.func @main(%x: tensor<1x1xf16>, %y: tensor<1x1xf16>) -> (tensor<1x1xf16>, tensor<f16>, tensor<f16>) {
  %0 = spyre.matmul %x, %y : tensor<1x1xf16>, tensor<1x1xf16> -> tensor<1x1xf16>
  %1 = spyre.add (d0 = 1, d1 = 1) ins(%x[d0, d1], %y[d0, d1]) -> [d0, d1] : tensor<1x1xf16>, tensor<1x1xf16> -> tensor<1x1xf16>
  %2 = spyre.sum (d0 = 1, d1 = 1) ins(%1[d0, d1]) -> [] : tensor<1x1xf16> -> tensor<f16>
  %3 = spyre.view %x[0, 0] : tensor<1x1xf16> -> tensor<f16>
  return %0, %2, %3 : tensor<1x1xf16>, tensor<f16>, tensor<f16>
}

// -----

// Nothing, and something behind nothing.
// IN: x = normal(0, 64)
// IN: y = normal(3, 64)
// OUT exact: x
// OUT exact: np.concatenate([x, y])
func.func @main(%x: tensor<0x64xf16>, %y: tensor<3x64xf16>) -> (tensor<0x64xf16>, tensor<3x64xf16>) {
  %0 = spyre.neg (d0 = 0, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<0x64xf16> -> tensor<0x64xf16>
  %1 = spyre.concat %x, %y along 0 : tensor<0x64xf16>, tensor<3x64xf16> -> tensor<3x64xf16>
  return %0, %1 : tensor<0x64xf16>, tensor<3x64xf16>
}

// -----

// Rolled, and taken apart into digits of every dim.
// IN: x = normal(40, 8, 96)
// OUT exact: np.roll(x, 3, 0)
// OUT exact: x.reshape(40, 2, 4, 3, 32).transpose(3, 1, 0, 4, 2).reshape(3, 2, 40 * 32 * 4)
func.func @main(%x: tensor<40x8x96xf16>) -> (tensor<40x8x96xf16>, tensor<3x2x5120xf16>) {
  %0 = spyre.view %x[d0 + 37, d1, d2] : tensor<40x8x96xf16> -> tensor<3x8x96xf16>
  %1 = spyre.view %x[d0, d1, d2] : tensor<40x8x96xf16> -> tensor<37x8x96xf16>
  %2 = spyre.concat %0, %1 along 0 : tensor<3x8x96xf16>, tensor<37x8x96xf16> -> tensor<40x8x96xf16>
  %3 = spyre.view %x[d2 floordiv 128, d1 * 4 + d2 mod 4, d0 * 32 + (d2 floordiv 4) mod 32] : tensor<40x8x96xf16> -> tensor<3x2x5120xf16>
  return %2, %3 : tensor<40x8x96xf16>, tensor<3x2x5120xf16>
}
