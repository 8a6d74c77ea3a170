// Planned programs whose buffers stay in the cores' scratchpads, against NumPy.
// RUN: %against_numpy %s -O0 -O0,--target=ktir

// Each core keeps its rows; the second result takes the memory of the first.
// IN: x = normal(128, 64)
// OUT: -np.abs(np.exp(x))
!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc lx(256) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  %b = spyre.alloc lx(256) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  spyre.abs (d0 = 128 / 32, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !l -> !l
  spyre.neg (d0 = 128 / 32, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

// Rows and sticks over the cores; a vector that every core of a row group holds.
// IN: x = whole(-9, 9, 8, 256)
// IN: v = whole(-9, 9, 256)
// OUT exact: -(x + np.abs(v))
!h = !spyre.buffer<8x256xf16, #spyre.layout<[4, 8, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<8x256xf16, #spyre.layout<[4, 8, 64], order [0, 1], SEN169_FP16>, lx>
!v = !spyre.buffer<256xf16, #spyre.layout<[4, 64], order [0], SEN169_FP16>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %v: !v {spyre.array = "in1", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc lx(0) holding<cores 16, slices [4, 4], (c) -> (c mod 4, c floordiv 4)> : !l
  %b = spyre.alloc pool(0) : !v
  spyre.abs (d0 = 256 / 4) ins(%v[d0]) outs(%b[d0]) : !v -> !v
  spyre.add (d0 = 8 / 4, d1 = 256 / 4) ins(%x[d0, d1], %b[d1]) outs(%a[d0, d1]) : !h, !v -> !l
  spyre.neg (d0 = 8 / 4, d1 = 256 / 4) ins(%a[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

// A softmax of which everything stays: reduced values have one element a stick (sparse), and
// the operations with two operands write over one of them.
// IN: x = normal(64, 100)
// OUT within 8 * 2**-10: softmax(x, 1)
!h = !spyre.buffer<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, lx>
!r = !spyre.buffer<64x1xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, lx>
!s = !spyre.buffer<64xf16, #spyre.layout<[1, 64, 64], order [0, -1], SEN169_FP16>, lx>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %m = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !r
  %d = spyre.alloc lx(512) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  %e = spyre.alloc lx(512) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  %s = spyre.alloc lx(0) holding<cores 32, slices [32], (c) -> (c)> : !s
  spyre.max (d0 = 64 / 32, d1 = 100) ins(%x[d0, d1]) outs(%m[d0, 0]) : !h -> !r
  spyre.sub (d0 = 64 / 32, d1 = 100) ins(%x[d0, d1], %m[d0, 0]) outs(%d[d0, d1]) : !h, !r -> !l
  spyre.exp (d0 = 64 / 32, d1 = 100) ins(%d[d0, d1]) outs(%e[d0, d1]) : !l -> !l
  spyre.sum (d0 = 64 / 32, d1 = 100) ins(%e[d0, d1]) outs(%s[d0]) : !l -> !s
  spyre.realdiv (d0 = 64 / 32, d1 = 100) ins(%e[d0, d1], %s[d0]) outs(%o[d0, d1]) : !l, !s -> !h
  return
}

// -----

// An operand of a product in LX whose contracted dim is cut in two. The cores of one contraction
// are neighbours with k_fast; who wrote the operand must have counted its cores alike.
// IN: x = whole(-1, 1, 16, 128)
// IN: y = whole(-1, 1, 128, 64)
// OUT exact: -x @ y
// OUT exact: np.abs(x) @ y
!x = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, lx>
!y = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<16x64xf16, #spyre.layout<[1, 16, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %y: !y {spyre.array = "in1", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}, %p: !o {spyre.array = "out1", spyre.role = "output"}) {
  %a = spyre.alloc lx(0) holding<cores 16, slices [8, 2], (c) -> (c mod 8, c floordiv 8)> : !l
  %b = spyre.alloc lx(256) holding<cores 16, slices [8, 2], (c) -> (c floordiv 2, c mod 2)> : !l
  spyre.neg (d0 = 16 / 8, d1 = 128 / 2) ins(%x[d0, d1]) outs(%a[d0, d1]) : !x -> !l
  spyre.abs (d0 = 128 / 2, d1 = 16 / 8) ins(%x[d1, d0]) outs(%b[d1, d0]) : !x -> !l
  spyre.batchmatmul (d0 = 16 / 8, d1 = 64, d2 = 128 / 2) ins(%a[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !l, !y -> !o
  spyre.batchmatmul (d0 = 16 / 8, d1 = 64, d2 = 128 / 2) k_fast ins(%b[d0, d2], %y[d2, d1]) outs(%p[d0, d1]) : !l, !y -> !o
  return
}
