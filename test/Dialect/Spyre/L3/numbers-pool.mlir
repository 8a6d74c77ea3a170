// Planned programs whose buffers share device memory, and operations that update it, against NumPy.
// RUN: %against_numpy %s -O0 -O0,--target=ktir

// Four buffers in the memory of two, and one whose place covers two that are dead by then.
// IN: x = whole(-9, 9, 64, 64)
// OUT exact: np.concatenate([-np.abs(-x) + x, x])
!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!w = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !w {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc pool(0) : !h
  %b = spyre.alloc pool(8192) : !h
  %c = spyre.alloc pool(0) : !h
  %d = spyre.alloc pool(16384) : !h
  %e = spyre.alloc pool(0) : !w
  spyre.neg (d0 = 64 / 4, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 64 / 2, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64 / 8, d1 = 64) ins(%b[d0, d1]) outs(%c[d0, d1]) : !h -> !h
  spyre.add (d0 = 64 / 32, d1 = 64) ins(%c[d0, d1], %x[d0, d1]) outs(%d[d0, d1]) : !h, !h -> !h
  spyre.identity (d0 = 64 / 32, d1 = 64) ins(%d[d0, d1]) outs(%e[d0, d1]) : !h -> !w
  spyre.identity (d0 = 64 / 2, d1 = 64) ins(%x[d0, d1]) outs(%e[d0 + 64, d1]) : !h -> !w
  spyre.identity (d0 = 128 / 32, d1 = 64) ins(%e[d0, d1]) outs(%o[d0, d1]) : !w -> !w
  return
}

// -----

// In place: an operation writes what it reads, of one part, of all, with a second operand.
// IN: x = whole(-9, 9, 64, 128)
// LET: y = np.where(np.arange(64)[:, None] < 32, -x, x)
// OUT exact: np.abs(y) - y
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc pool(0) : !h
  %b = spyre.alloc pool(16384) : !h
  spyre.identity (d0 = 64 / 4, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.neg (d0 = 32 / 8, d1 = 128) ins(%a[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 64 / 16, d1 = 128 / 2) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.sub (d0 = 64 / 32, d1 = 128) ins(%b[d0, d1], %a[d0, d1]) outs(%b[d0, d1]) : !h, !h -> !h
  spyre.identity (d0 = 64, d1 = 128) ins(%b[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

// A result that is put together of parts: whole sticks, rows, every second row, one number everywhere.
// IN: x = normal(8, 128)
// IN: s = normal(1)
// OUT exact: np.stack([np.concatenate([x[:, 64:], x[:, :64]], 1), np.broadcast_to(s, (8, 128))], 1).reshape(16, 128)
!x = !spyre.buffer<8x128xf16, #spyre.layout<[2, 8, 64], order [0, 1], SEN169_FP16>, hbm>
!s = !spyre.buffer<1xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>, hbm>
!o = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %s: !s {spyre.array = "in1", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  spyre.identity (d0 = 8 / 4, d1 = 64) ins(%x[d0, d1 + 64]) outs(%o[d0 * 2, d1]) : !x -> !o
  spyre.identity (d0 = 8 / 2, d1 = 64) ins(%x[d0, d1]) outs(%o[d0 * 2, d1 + 64]) : !x -> !o
  spyre.identity (d0 = 8 / 8, d1 = 128) ins(%s[0]) outs(%o[d0 * 2 + 1, d1]) : !s -> !o
  return
}

// -----

// Reductions cut along the reduced dim: over the stick dim, over rows.
// IN: x = whole(-2, 2, 32, 256)
// OUT exact: x.sum(1, keepdims=True)
// OUT exact: x.max(0)
!x = !spyre.buffer<32x256xf16, #spyre.layout<[4, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!r = !spyre.buffer<32x1xf16, #spyre.layout<[1, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!c = !spyre.buffer<256xf16, #spyre.layout<[4, 64], order [0], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %o: !r {spyre.array = "out0", spyre.role = "output"}, %p: !c {spyre.array = "out1", spyre.role = "output"}) {
  spyre.sum (d0 = 32 / 4, d1 = 256 / 4) ins(%x[d0, d1]) outs(%o[d0, 0]) : !x -> !r
  spyre.max (d0 = 32 / 4, d1 = 256 / 2) ins(%x[d0, d1]) outs(%p[d1]) : !x -> !c
  return
}
