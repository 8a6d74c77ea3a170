// Planned programs with other layouts than the default: padded, other orders and sticks, sparse, reinterpreted.
// RUN: %against_numpy %s -O0 -O0,--target=ktir

// Other dims in the stick, other orders, more memory than the shape needs, between the default ones.
// IN: x = normal(3, 64, 128)
// OUT exact: -x
// OUT exact: np.abs(x)
!x = !spyre.buffer<3x64x128xf16, #spyre.layout<[64, 2, 3, 64], order [0, 1, 2], SEN169_FP16>, hbm>
!r = !spyre.buffer<3x64x128xf16, #spyre.layout<[128, 1, 3, 64], order [0, 2, 1], SEN169_FP16>, hbm>
!p = !spyre.buffer<3x64x128xf16, #spyre.layout<[70, 4, 5, 64], order [0, 1, 2], SEN169_FP16>, hbm>
!q = !spyre.buffer<3x64x128xf16, #spyre.layout<[3, 2, 64, 64], order [1, 0, 2], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %o: !x {spyre.array = "out0", spyre.role = "output"}, %u: !x {spyre.array = "out1", spyre.role = "output"}) {
  %r = spyre.alloc pool(0) : !r
  %s = spyre.alloc pool(49152) : !r
  %p = spyre.alloc pool(98304) : !p
  %q = spyre.alloc pool(278528) : !q
  spyre.restickify (d0 = 3, d1 = 64, d2 = 128 / 2) ins(%x[d0, d1, d2]) outs(%r[d0, d1, d2]) : !x -> !r
  spyre.neg (d0 = 3, d1 = 64, d2 = 128 / 32) ins(%r[d0, d1, d2]) outs(%s[d0, d1, d2]) : !r -> !r
  spyre.restickify (d0 = 3 / 3, d1 = 64, d2 = 128) ins(%s[d0, d1, d2]) outs(%o[d0, d1, d2]) : !r -> !x
  spyre.abs (d0 = 3, d1 = 64 / 16, d2 = 128) ins(%x[d0, d1, d2]) outs(%p[d0, d1, d2]) : !x -> !p
  spyre.identity (d0 = 3, d1 = 64 / 4, d2 = 128 / 2) ins(%p[d0, d1, d2]) outs(%q[d0, d1, d2]) : !p -> !q
  spyre.identity (d0 = 3, d1 = 64 / 32, d2 = 128) ins(%q[d0, d1, d2]) outs(%u[d0, d1, d2]) : !q -> !x
  return
}

// -----

// A transposed product: the restickified weight has memory for whole sticks both ways, filled with
// zeros first, so that a contracted dim of 100 may end inside a stick.
// IN: x = whole(-2, 2, 16, 100)
// IN: w = whole(-2, 2, 64, 100)
// OUT exact: x @ w.T
!x = !spyre.buffer<16x100xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
!w = !spyre.buffer<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<64x100xf16, #spyre.layout<[1, 128, 64], order [1, 0], SEN169_FP16>, hbm>
!o = !spyre.buffer<16x64xf16, #spyre.layout<[1, 16, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input", spyre.tail = "zero"}, %w: !w {spyre.array = "in1", spyre.role = "input", spyre.tail = "zero"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  %t = spyre.alloc pool(0) : !t
  spyre.restickify (d0 = 64, d1 = 100) ins(%w[d0, d1]) outs(%t[d0, d1]) : !w -> !t
  spyre.batchmatmul (d0 = 16 / 16, d1 = 64, d2 = 100) ins(%x[d0, d2], %t[d1, d2]) outs(%o[d0, d1]) : !x, !t -> !o
  return
}

// -----

// One element a stick: sums that are read again along rows and along sticks.
// IN: x = whole(-3, 3, 64, 128)
// OUT exact: x - x.max(1, keepdims=True)
// OUT exact: x.sum(1)
!x = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!s = !spyre.buffer<64xf16, #spyre.layout<[1, 64, 64], order [0, -1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %o: !x {spyre.array = "out0", spyre.role = "output"}, %p: !s {spyre.array = "out1", spyre.role = "output"}) {
  %m = spyre.alloc pool(0) : !s
  spyre.max (d0 = 64 / 16, d1 = 128) ins(%x[d0, d1]) outs(%m[d0]) : !x -> !s
  spyre.sub (d0 = 64 / 4, d1 = 128 / 2) ins(%x[d0, d1], %m[d0]) outs(%o[d0, d1]) : !x, !s -> !x
  spyre.sum (d0 = 64 / 2, d1 = 128 / 2) ins(%x[d0, d1]) outs(%p[d0]) : !x -> !s
  return
}

// -----

// 32-bit numbers are moved as two 16-bit ones each: every second row, another place.
// IN: x = normal(16, 64).astype(np.float32) * np.float32(1.0001)
// OUT exact: np.concatenate([x[1::2], x[::2]])
!f = !spyre.buffer<16x64xf32, #spyre.layout<[2, 16, 32], order [0, 1], IEEE_FP32>, hbm>
!h = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !f {spyre.array = "in0", spyre.role = "input"}, %o: !f {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc pool(0) : !f
  spyre.identity (d0 = 16 / 4, d1 = 64 / 2) ins(%x[d0, d1]) outs(%a[d0, d1]) : !f -> !f
  %b = spyre.reinterpret %a : !f to !h
  %c = spyre.reinterpret %o : !f to !h
  spyre.identity (d0 = 8 / 8, d1 = 128) ins(%b[d0 * 2 + 1, d1]) outs(%c[d0, d1]) : !h -> !h
  spyre.identity (d0 = 8 / 2, d1 = 128 / 2) ins(%b[d0 * 2, d1]) outs(%c[d0 + 8, d1]) : !h -> !h
  return
}

// -----

// A part of an unaligned tensor with another dim in the stick.
// IN: w = normal(128, 130)
// OUT exact: w[:, 128:].T + 0
!w = !spyre.buffer<128x130xf16, #spyre.layout<[3, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<128x130xf16, #spyre.layout<[2, 192, 64], order [1, 0], SEN169_FP16>, hbm>
!o = !spyre.buffer<2x128xf16, #spyre.layout<[2, 2, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%w: !w {spyre.array = "in0", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  %t = spyre.alloc pool(0) : !t
  spyre.restickify (d0 = 128, d1 = 2) ins(%w[d0, d1 + 128]) outs(%t[d0, d1 + 128]) : !w -> !t
  spyre.identity (d0 = 128 / 2, d1 = 2) ins(%t[d0, d1 + 128]) outs(%o[d1, d0]) : !t -> !o
  return
}
