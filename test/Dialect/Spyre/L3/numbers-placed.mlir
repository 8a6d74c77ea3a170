// Divided by hand, placed by the planner: in device memory at -O0, in LX at -O2 where that is right, against NumPy.
// RUN: %against_numpy %s -O0 -O2 -O0,--target=ktir

// Two dims of rows in LX, read as one.
// IN: x = normal(4, 32, 128)
// OUT exact: np.abs(x).reshape(128, 128)
!x = !spyre.buffer<4x32x128xf16, #spyre.layout<[32, 2, 4, 64], order [0, 1, 2], SEN169_FP16>, hbm>
!l = !spyre.buffer<4x32x128xf16, #spyre.layout<[32, 2, 4, 64], order [0, 1, 2], SEN169_FP16>, lx>
!o = !spyre.buffer<128x128xf16, #spyre.layout<[2, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc : !x
  spyre.abs (d0 = 4 / 4, d1 = 32 / 2, d2 = 128 / 2) ins(%x[d0, d1, d2]) outs(%a[d0, d1, d2]) : !x -> !x
  spyre.identity (d0 = 4 / 4, d1 = 32 / 2, d2 = 128 / 2) ins(%a[d0, d1, d2]) outs(%o[d0 * 32 + d1, d2]) : !x -> !o
  return
}

// -----

// Rows that two iteration dims make together.
// IN: x = normal(128, 128)
// OUT exact: -np.abs(x)
!o = !spyre.buffer<128x128xf16, #spyre.layout<[2, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !o {spyre.array = "in0", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc : !o
  spyre.abs (d0 = 4 / 4, d1 = 32 / 2, d2 = 128) ins(%x[d0 * 32 + d1, d2]) outs(%a[d0 * 32 + d1, d2]) : !o -> !o
  spyre.neg (d0 = 4 / 4, d1 = 32 / 2, d2 = 128) ins(%a[d0 * 32 + d1, d2]) outs(%o[d0 * 32 + d1, d2]) : !o -> !o
  return
}

// -----

// Every second row of what another division wrote.
// IN: x = normal(64, 128)
// OUT exact: -np.abs(x)[::2]
!o = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!p = !spyre.buffer<32x128xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !o {spyre.array = "in0", spyre.role = "input"}, %o: !p {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc : !o
  spyre.abs (d0 = 64 / 4, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !o -> !o
  spyre.neg (d0 = 32 / 4, d1 = 128) ins(%a[d0 * 2, d1]) outs(%o[d0, d1]) : !o -> !p
  return
}

// -----

// Another dim in the stick: what the restickify makes stays in device memory, what follows may not.
// IN: x = normal(64, 128)
// OUT exact: -np.abs(x.T)
!o = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<64x128xf16, #spyre.layout<[1, 128, 64], order [1, 0], SEN169_FP16>, hbm>
!q = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !o {spyre.array = "in0", spyre.role = "input"}, %o: !q {spyre.array = "out0", spyre.role = "output"}) {
  %t = spyre.alloc : !t
  %b = spyre.alloc : !t
  spyre.restickify (d0 = 64, d1 = 128 / 2) ins(%x[d0, d1]) outs(%t[d0, d1]) : !o -> !t
  spyre.abs (d0 = 64, d1 = 128 / 16) ins(%t[d0, d1]) outs(%b[d0, d1]) : !t -> !t
  spyre.neg (d0 = 128 / 16, d1 = 64) ins(%b[d1, d0]) outs(%o[d0, d1]) : !t -> !q
  return
}

// -----

// Iteration dims in another order number the cores in another order.
// IN: x = normal(3, 4, 128)
// IN: v = normal(4)
// OUT exact: np.abs(x) + 0 * v[:, None]
!x = !spyre.buffer<3x4x128xf16, #spyre.layout<[4, 2, 3, 64], order [0, 1, 2], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %v: !spyre.buffer<4xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>, hbm> {spyre.array = "in1", spyre.role = "input"}, %o: !x {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc : !x
  %b = spyre.alloc : !x
  spyre.abs (d0 = 3 / 3, d1 = 4 / 2, d2 = 128 / 2) ins(%x[d0, d1, d2]) outs(%a[d0, d1, d2]) : !x -> !x
  spyre.neg (d0 = 128 / 2, d1 = 3 / 3, d2 = 4 / 2) ins(%a[d1, d2, d0]) outs(%b[d1, d2, d0]) : !x -> !x
  spyre.neg (d0 = 3 / 3, d1 = 4 / 2, d2 = 128 / 2) ins(%b[d0, d1, d2]) outs(%o[d0, d1, d2]) : !x -> !x
  return
}

// -----

// The last core of three has a stick of two elements.
// IN: x = normal(16, 130)
// OUT exact: -np.abs(x)
!x = !spyre.buffer<16x130xf16, #spyre.layout<[3, 16, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %o: !x {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc : !x
  spyre.abs (d0 = 16 / 4, d1 = 130 / 3) ins(%x[d0, d1]) outs(%a[d0, d1]) : !x -> !x
  spyre.neg (d0 = 16 / 4, d1 = 130 / 3) ins(%a[d0, d1]) outs(%o[d0, d1]) : !x -> !x
  return
}

// -----

// It takes part in a sum.
// IN: x = whole(-2, 2, 16, 130)
// OUT exact: -np.abs(x).sum(1)
!x = !spyre.buffer<16x130xf16, #spyre.layout<[3, 16, 64], order [0, 1], SEN169_FP16>, hbm>
!s = !spyre.buffer<16xf16, #spyre.layout<[1, 16, 64], order [0, -1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %o: !s {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc : !x
  %s = spyre.alloc : !s
  spyre.abs (d0 = 16 / 4, d1 = 130 / 3) ins(%x[d0, d1]) outs(%a[d0, d1]) : !x -> !x
  spyre.sum (d0 = 16 / 4, d1 = 130 / 3) ins(%a[d0, d1]) outs(%s[d0]) : !x -> !s
  spyre.neg (d0 = 16 / 4) ins(%s[d0]) outs(%o[d0]) : !s -> !s
  return
}

// -----

// It takes part in a contraction, beside its neighbours.
// IN: x = whole(-2, 2, 3, 130)
// IN: y = whole(-2, 2, 130, 70)
// OUT exact: np.abs(x) @ y
!x = !spyre.buffer<3x130xf16, #spyre.layout<[3, 3, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<130x70xf16, #spyre.layout<[2, 192, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<3x70xf16, #spyre.layout<[2, 3, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %y: !y {spyre.array = "in1", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc : !x
  spyre.abs (d0 = 3 / 3, d1 = 130 / 3) ins(%x[d0, d1]) outs(%a[d0, d1]) : !x -> !x
  spyre.batchmatmul (d0 = 3 / 3, d1 = 70 / 2, d2 = 130 / 3) k_fast ins(%a[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
  return
}
