// Relayouts over the ring, from one division among the scratchpads to another, against NumPy.
// RUN: %against_numpy %s -O0 -O0,--target=ktir

// Rows become rows and columns.
// IN: x = normal(32, 256)
// OUT exact: -np.abs(x)
!h = !spyre.buffer<32x256xf16, #spyre.layout<[4, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<32x256xf16, #spyre.layout<[4, 32, 64], order [0, 1], SEN169_FP16>, lx>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc lx(0) holding<cores 16, slices [16, 1], (c) -> (c, 0)> : !l
  %b = spyre.alloc lx(4096) holding<cores 16, slices [4, 4], (c) -> (c mod 4, c floordiv 4)> : !l
  spyre.abs (d0 = 32 / 16, d1 = 256) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  spyre.shuffle (d0 = 32 / 4, d1 = 256 / 4) ins(%a[d0, d1]) outs(%b[d0, d1]) : !l -> !l
  spyre.neg (d0 = 32 / 4, d1 = 256 / 4) ins(%b[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

// Each of four cores that share rows gets all columns of them: a copy each.
// IN: x = normal(32, 512)
// OUT exact: np.stack([-np.abs(x)] * 4)
!h = !spyre.buffer<32x512xf16, #spyre.layout<[8, 32, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<32x512xf16, #spyre.layout<[8, 32, 64], order [0, 1], SEN169_FP16>, lx>
!g = !spyre.buffer<4x32x512xf16, #spyre.layout<[32, 8, 4, 64], order [0, 1, 2], SEN169_FP16>, lx>
!o = !spyre.buffer<4x32x512xf16, #spyre.layout<[32, 8, 4, 64], order [0, 1, 2], SEN169_FP16>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  %a = spyre.alloc lx(0) holding<cores 32, slices [8, 4], (c) -> (c mod 8, c floordiv 8)> : !l
  %b = spyre.alloc lx(8192) holding<cores 32, slices [4, 8, 1], (c) -> (c floordiv 8, c mod 8, 0)> : !g
  spyre.abs (d0 = 32 / 8, d1 = 512 / 4) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !l
  spyre.shuffle (d0 = 32 / 8, d1 = 4 / 4, d2 = 512) ins(%a[d0, d2]) outs(%b[d1, d0, d2]) : !l -> !g
  spyre.neg (d0 = 32 / 8, d1 = 4 / 4, d2 = 512) ins(%b[d1, d0, d2]) outs(%o[d1, d0, d2]) : !g -> !o
  return
}
