// Planned programs of the rarer kinds of operation: top-k, layer norm, casts, fp8; against NumPy.
// RUN: %against_numpy %s -O0 -O0,--target=ktir

// The largest of a column and where they stand.
// IN: x = choice(200, 128, 40).T.astype(np.float16)
// OUT exact: -np.sort(-x, 0)[:3]
// OUT exact: np.argsort(-x, 0)[:3]
!x = !spyre.buffer<40x128xf16, #spyre.layout<[2, 40, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<3x128xf16, #spyre.layout<[2, 3, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}, %p: !o {spyre.array = "out1", spyre.role = "output"}) {
  spyre.topkvalue (d0 = 3, d1 = 128, d2 = 40) ins(%x[d2, d1]) outs(%o[d0, d1]) : !x -> !o
  spyre.topkindex (d0 = 3, d1 = 128, d2 = 40) ins(%x[d2, d1]) outs(%p[d0, d1]) : !x -> !o
  return
}

// -----

// The device's layer norm: statistics in two lanes of a stick, their scale, the normalised rows.
// IN: x = normal(32, 256)
// IN: w = normal(256)
// IN: b = normal(256)
// OUT within 12 * 2**-10: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
!x = !spyre.buffer<32x256xf16, #spyre.layout<[4, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!s = !spyre.buffer<32xf16, #spyre.layout<[1, 32, 64], order [0, -1], SEN169_FP16>, hbm>
!w = !spyre.buffer<256xf16, #spyre.layout<[4, 64], order [0], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %w: !w {spyre.array = "in1", spyre.role = "input"}, %b: !w {spyre.array = "in2", spyre.role = "input"}, %o: !x {spyre.array = "out0", spyre.role = "output"}) {
  %e = spyre.alloc pool(0) : !s
  %s = spyre.alloc pool(4096) : !s
  spyre.exx2 (d0 = 32 / 8, d1 = 256) ins(%x[d0, d1]) outs(%e[d0]) constants {exx2scale = 0.00390625 : f64, useZeroMean = false} : !x -> !s
  spyre.layernormscale (d0 = 32 / 8) ins(%e[d0]) outs(%s[d0]) constants {eps = 1.0e-05 : f64} : !s -> !s
  spyre.layernormnorm (d0 = 32 / 4, d1 = 256) ins(%x[d0, d1], %e[d0], %s[d0], %w[d1], %b[d1]) outs(%o[d0, d1]) : !x, !s, !s, !w, !w -> !x
  return
}

// -----

// Casts up and down; the sticks of f32 hold half as many elements.
// IN: x = normal(16, 128)
// IN: y = np.array([1.0, 1.0009765625, 1.001, 70000.0] * 64).reshape(2, 128).astype(np.float32)
// OUT exact: x
// OUT exact: dl16(x * np.float32(1) + 1)
// OUT within 2**-10: y
!h = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
!f = !spyre.buffer<16x128xf32, #spyre.layout<[4, 16, 32], order [0, 1], IEEE_FP32>, hbm>
!y = !spyre.buffer<2x128xf32, #spyre.layout<[4, 2, 32], order [0, 1], IEEE_FP32>, hbm>
!z = !spyre.buffer<2x128xf16, #spyre.layout<[2, 2, 64], order [0, 1], SEN169_FP16>, hbm>
!one = !spyre.buffer<f32, #spyre.layout<[1, 32], order [], IEEE_FP32>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %y: !y {spyre.array = "in1", spyre.role = "input"}, %o: !f {spyre.array = "out0", spyre.role = "output"},
                %p: !h {spyre.array = "out1", spyre.role = "output"}, %q: !y {spyre.array = "out2", spyre.role = "output"}, %one: !one {spyre.role = "constant", spyre.value = 1.0 : f64}) {
  %a = spyre.alloc pool(0) : !f
  %b = spyre.alloc pool(8192) : !z
  spyre.dl16tofp32 (d0 = 16 / 4, d1 = 128) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !f
  spyre.add (d0 = 16 / 8, d1 = 128) ins(%o[d0, d1], %one[]) outs(%a[d0, d1]) : !f, !one -> !f
  spyre.fp32todl16 (d0 = 16, d1 = 128 / 2) ins(%a[d0, d1]) outs(%p[d0, d1]) : !f -> !h
  spyre.fp32todl16 (d0 = 2, d1 = 128) ins(%y[d0, d1]) outs(%b[d0, d1]) : !y -> !z
  spyre.dl16tofp32 (d0 = 2 / 2, d1 = 128) ins(%b[d0, d1]) outs(%q[d0, d1]) : !z -> !y
  return
}

// -----

// fp8: made of 16-bit numbers, and widened again. Small integers are exact.
// IN: x = whole(-4, 4, 16, 256)
// OUT exact: x
!h = !spyre.buffer<16x256xf16, #spyre.layout<[4, 16, 64], order [0, 1], SEN169_FP16>, hbm>
!e = !spyre.buffer<16x256xf8E4M3FN, #spyre.layout<[2, 16, 128], order [0, 1], SEN143_FP8>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc pool(0) : !e
  spyre.qfp8ch (d0 = 16 / 4, d1 = 256) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !e
  spyre.fp8todl16 (d0 = 16 / 2, d1 = 256) ins(%a[d0, d1]) outs(%o[d0, d1]) : !e -> !h
  return
}
