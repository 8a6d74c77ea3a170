// Planned programs with loops that move over device memory, against NumPy.
// RUN: %against_numpy %s -O0 convert=unroll-loops=true -O0,--target=ktir

// Rows by a loop, through a tile in LX.
// IN: x = normal(64, 128)
// OUT: -np.exp(x)
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, lx>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %t = spyre.alloc lx(0) holding<cores 8, slices [8, 1], (c) -> (c, 0)> : !l
    spyre.exp (d0 = 16 / 8, d1 = 128) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%t[d0, d1]) : !h -> !l
    spyre.neg (d0 = 16 / 8, d1 = 128) loops(%i) ins(%t[d0, d1]) outs(%o[d0 + s0 * 16, d1]) : !l -> !h
  }
  return
}

// -----

// Two loops, over rows and over pairs of sticks, which change places.
// IN: x = normal(32, 256)
// OUT exact: np.concatenate([x[:, 64:128], x[:, :64], x[:, 192:], x[:, 128:192]], 1)
!h = !spyre.buffer<32x256xf16, #spyre.layout<[4, 32, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      spyre.identity (d0 = 16 / 4, d1 = 64) loops(%i, %j) ins(%x[d0 + s0 * 16, d1 + s1 * 128 + 64]) outs(%o[d0 + s0 * 16, d1 + s1 * 128]) : !h -> !h
      spyre.identity (d0 = 16 / 2, d1 = 64) loops(%i, %j) ins(%x[d0 + s0 * 16, d1 + s1 * 128]) outs(%o[d0 + s0 * 16, d1 + s1 * 128 + 64]) : !h -> !h
    }
  }
  return
}

// -----

// Each iteration reads what the one before has written: running sums of rows.
// IN: x = whole(-3, 3, 16, 64)
// OUT exact: np.cumsum(x, 0)
!h = !spyre.buffer<16x64xf16, #spyre.layout<[1, 16, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !h {spyre.array = "in0", spyre.role = "input"}, %o: !h {spyre.array = "out0", spyre.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %b = spyre.alloc pool(0) : !h
  spyre.identity (d0 = 1, d1 = 64) ins(%x[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  scf.for %i = %c0 to %c15 step %c1 {
    spyre.add (d0 = 1, d1 = 64) loops(%i) ins(%b[d0 + s0, d1], %x[d0 + s0 + 1, d1]) outs(%b[d0 + s0 + 1, d1]) : !h, !h -> !h
  }
  spyre.identity (d0 = 16 / 4, d1 = 64) ins(%b[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

// A product whose rows a loop moves over; what is made before the loop stays for all of it.
// IN: x = whole(-1, 1, 64, 64)
// IN: y = whole(-1, 1, 64, 128)
// OUT exact: -(x @ -y)
!x = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<32x128xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, lx>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %y: !y {spyre.array = "in1", spyre.role = "input"}, %o: !y {spyre.array = "out0", spyre.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = spyre.alloc pool(0) : !y
  spyre.neg (d0 = 64 / 32, d1 = 128) ins(%y[d0, d1]) outs(%n[d0, d1]) : !y -> !y
  scf.for %i = %c0 to %c2 step %c1 {
    %t = spyre.alloc lx(0) holding<cores 16, slices [8, 2], (c) -> (c mod 8, c floordiv 8)> : !t
    spyre.batchmatmul (d0 = 32 / 8, d1 = 128 / 2, d2 = 64) loops(%i) ins(%x[d0 + s0 * 32, d2], %n[d2, d1]) outs(%t[d0, d1]) : !x, !y -> !t
    spyre.neg (d0 = 32 / 8, d1 = 128 / 2) loops(%i) ins(%t[d0, d1]) outs(%o[d0 + s0 * 32, d1]) : !t -> !y
  }
  return
}
