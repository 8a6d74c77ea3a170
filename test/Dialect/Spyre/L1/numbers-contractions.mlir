// Numbers of batchmatmul, matmul and linear written at L1, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O3,--cores=7 -O3,--device=mock32 -O3,--device=mock32,--target=ktir

// Batch dims that one operand lacks, a contracted dim that ends inside a stick, transposed operands.
// IN: x = whole(-2, 2, 3, 17, 100)
// IN: y = whole(-2, 2, 3, 100, 70)
// IN: w = whole(-2, 2, 70, 100)
// IN: v = whole(-2, 2, 100, 17)
// OUT exact: x @ y
// OUT exact: x @ w.T
// OUT exact: v.T @ y
!o = tensor<3x17x70xf16>
func.func @main(%x: tensor<3x17x100xf16>, %y: tensor<3x100x70xf16>, %w: tensor<70x100xf16>, %v: tensor<100x17xf16>) -> (!o, !o, !o) {
  %0 = spyre.batchmatmul (d0 = 3, d1 = 17, d2 = 70, d3 = 100) ins(%x[d0, d1, d3], %y[d0, d3, d2]) -> [d0, d1, d2] : tensor<3x17x100xf16>, tensor<3x100x70xf16> -> !o
  %1 = spyre.batchmatmul (d0 = 3, d1 = 17, d2 = 70, d3 = 100) ins(%x[d0, d1, d3], %w[d2, d3]) -> [d0, d1, d2] : tensor<3x17x100xf16>, tensor<70x100xf16> -> !o
  %2 = spyre.batchmatmul (d0 = 3, d1 = 17, d2 = 70, d3 = 100) ins(%v[d3, d1], %y[d0, d3, d2]) -> [d0, d1, d2] : tensor<100x17xf16>, tensor<3x100x70xf16> -> !o
  return %0, %1, %2 : !o, !o, !o
}

// -----

// The contracted dim is cut by hand, its cores neighbours or not; rows and columns are cut too.
// IN: x = whole(-1, 1, 16, 256)
// IN: y = whole(-1, 1, 256, 128)
// OUT exact: x @ y
// OUT exact: x @ y
// OUT exact: x @ y
!o = tensor<16x128xf16>
func.func @main(%x: tensor<16x256xf16>, %y: tensor<256x128xf16>) -> (!o, !o, !o) {
  %0 = spyre.batchmatmul (d0 = 16 / 4, d1 = 128 / 2, d2 = 256 / 4) k_fast ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : tensor<16x256xf16>, tensor<256x128xf16> -> !o
  %1 = spyre.batchmatmul (d0 = 16 / 4, d1 = 128 / 2, d2 = 256 / 4) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : tensor<16x256xf16>, tensor<256x128xf16> -> !o
  %2 = spyre.batchmatmul (d0 = 16, d1 = 128 / 2, d2 = 256 / 2) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : tensor<16x256xf16>, tensor<256x128xf16> -> !o
  return %0, %1, %2 : !o, !o, !o
}

// -----

// What a contraction reads may hold anything behind its end: exp leaves ones there.
// IN: x = normal(9, 40)
// IN: y = normal(40, 130)
// OUT within 24 * 2**-10: np.exp(x) @ y
// OUT within 24 * 2**-10: x @ np.exp(y)
!o = tensor<9x130xf16>
func.func @main(%x: tensor<9x40xf16>, %y: tensor<40x130xf16>) -> (!o, !o) {
  %0 = spyre.exp (d0 = 9, d1 = 40) ins(%x[d0, d1]) -> [d0, d1] : tensor<9x40xf16> -> tensor<9x40xf16>
  %1 = spyre.matmul %0, %y : tensor<9x40xf16>, tensor<40x130xf16> -> !o
  %2 = spyre.exp (d0 = 40, d1 = 130) ins(%y[d0, d1]) -> [d0, d1] : tensor<40x130xf16> -> tensor<40x130xf16>
  %3 = spyre.matmul %x, %2 : tensor<9x40xf16>, tensor<40x130xf16> -> !o
  return %1, %3 : !o, !o
}

// -----

// Composites: broadcast batch dims, an outer product, a bias.
// IN: x = whole(-2, 2, 5, 1, 4, 8)
// IN: y = whole(-2, 2, 3, 8, 6)
// IN: u = whole(-9, 9, 65, 1)
// IN: v = whole(-9, 9, 1, 12)
// IN: a = whole(-2, 2, 2, 9, 128)
// IN: w = whole(-2, 2, 65, 128)
// IN: b = whole(-9, 9, 65)
// OUT exact: x @ y
// OUT exact: u @ v
// OUT exact: a @ w.T + b
// OUT exact: a @ w.T
!l = tensor<2x9x65xf16>
func.func @main(%x: tensor<5x1x4x8xf16>, %y: tensor<3x8x6xf16>, %u: tensor<65x1xf16>, %v: tensor<1x12xf16>,
                %a: tensor<2x9x128xf16>, %w: tensor<65x128xf16>, %b: tensor<65xf16>) -> (tensor<5x3x4x6xf16>, tensor<65x12xf16>, !l, !l) {
  %0 = spyre.matmul %x, %y : tensor<5x1x4x8xf16>, tensor<3x8x6xf16> -> tensor<5x3x4x6xf16>
  %1 = spyre.matmul %u, %v : tensor<65x1xf16>, tensor<1x12xf16> -> tensor<65x12xf16>
  %2 = spyre.linear %a, %w bias(%b : tensor<65xf16>) : tensor<2x9x128xf16>, tensor<65x128xf16> -> !l
  %3 = spyre.linear %a, %w : tensor<2x9x128xf16>, tensor<65x128xf16> -> !l
  return %0, %1, %2, %3 : tensor<5x3x4x6xf16>, tensor<65x12xf16>, !l, !l
}

// -----

// Rows that two dims number, in another order than in memory; a shared batch.
// IN: x = whole(-2, 2, 5, 6, 100)
// IN: y = whole(-2, 2, 100, 70)
// OUT exact: x.transpose(1, 0, 2) @ y
func.func @main(%x: tensor<5x6x100xf16>, %y: tensor<100x70xf16>) -> tensor<6x5x70xf16> {
  %0 = spyre.batchmatmul (d0 = 6, d1 = 5, d2 = 70, d3 = 100) ins(%x[d1, d0, d3], %y[d3, d2]) -> [d0, d1, d2] : tensor<5x6x100xf16>, tensor<100x70xf16> -> tensor<6x5x70xf16>
  return %0 : tensor<6x5x70xf16>
}
