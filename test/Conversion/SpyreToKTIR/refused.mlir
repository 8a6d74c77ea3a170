// Everything that has no KTIR form yet, in one report that changes nothing.
// RUN: spyre-opt %s -split-input-file -verify-diagnostics -convert-spyre-to-ktir

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!f = !spyre.buffer<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32>, hbm>
!i = !spyre.buffer<64x128xi32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_INT32>, hbm>
!r = !spyre.buffer<64xf16, #spyre.layout<[1, 64, 64], order [0, -1], SEN169_FP16>, hbm>
// expected-error @+1 {{'many' cannot be emitted as KTIR: 12 operations are not supported}}
func.func @many(%x: !h, %y: !t, %o: !o, %h: !h, %f: !f, %i: !i, %r: !r) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{spyre.batchmatmul: the reduced dim d2 is split among cores; their partial sums are not combined yet}}
  spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 128 / 2) ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !h, !t -> !o
  // expected-note @+1 {{spyre.add: 4 work slices cut the 2 sticks of d1}}
  spyre.add (d0 = 64, d1 = 128 / 4) ins(%x[d0, d1], %x[d0, d1]) outs(%h[d0, d1]) : !h, !h -> !h
  // expected-note @+1 {{scf.for: loops are not emitted yet}}
  scf.for %j = %c0 to %c4 step %c1 {
    // expected-note @+1 {{spyre.neg: operations that move with a loop are not emitted yet}}
    spyre.neg (d0 = 16, d1 = 128) loops(%j) ins(%x[d0 + s0 * 16, d1]) outs(%h[d0 + s0 * 16, d1]) : !h -> !h
  }
  // expected-note @+1 {{spyre.exp: its body 'spyreop.exp' needs a dialect that is not there}}
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%h[d0, d1]) : !h -> !h
  // expected-note @+1 {{spyre.sum: reductions are not emitted yet}}
  spyre.sum (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%r[d0]) : !h -> !r
  // expected-note @+1 {{spyre.restickify: operations of this kind are not emitted yet}}
  spyre.restickify (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%y[d1, d0]) : !h -> !t
  // expected-note @+1 {{spyre.dl16tofp32: operations of this kind are not emitted yet}}
  spyre.dl16tofp32 (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%f[d0, d1]) : !h -> !f
  // expected-note @+1 {{spyre.identity: input #0 is IEEE_INT32; only SEN169_FP16 and IEEE_FP32 are emitted yet}}
  spyre.identity (d0 = 64, d1 = 128) ins(%i[d0, d1]) outs(%i[d0, d1]) : !i -> !i
  // expected-note @+1 {{spyre.neg: input #0 starts inside a stick, at element 32}}
  spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1 + 32]) outs(%o[d0, d1]) : !h -> !o
  // expected-note @+1 {{spyre.neg: it overwrites input #0 at other places than it reads}}
  spyre.neg (d0 = 32, d1 = 128) ins(%x[d0, d1]) outs(%x[d0 + 32, d1]) : !h -> !h
  // expected-note @+1 {{spyre.add: input #1 has a coordinate that is no iteration dim plus a constant}}
  spyre.add (d0 = 32, d1 = 128) ins(%x[d0, d1], %x[d0 * 2, d1]) outs(%h[d0, d1]) : !h, !h -> !h
  return
}

// -----

!q = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 1, 64], order [0, 1], SEN169_FP16, stick [[0, 1], [1, 64]]>, hbm>
// expected-error @+1 {{'stick' cannot be emitted as KTIR: 1 operation is not supported}}
func.func @stick(%x: !q) {
  // expected-note @+1 {{spyre.neg: input #0 has two dims in its stick}}
  spyre.neg (d0 = 128, d1 = 64) ins(%x[d0, d1]) outs(%x[d0, d1]) : !q -> !q
  return
}

// -----

// The rows of y are read in whole sticks of x; nothing lies behind the 100th.
!x = !spyre.buffer<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<100x64xf16, #spyre.layout<[1, 100, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// expected-error @+1 {{'unpadded' cannot be emitted as KTIR: 1 operation is not supported}}
func.func @unpadded(%x: !x, %y: !y, %o: !o) {
  // expected-note @+1 {{spyre.batchmatmul: input #1 is read or written in whole sticks up to place 128 of device dim 1, which has 100}}
  spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 100) ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
  return
}

// -----

// What another core has written or read before.
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// expected-error @+1 {{'order' cannot be emitted as KTIR: 2 operations are not supported}}
func.func @order(%x: !h, %o: !h) {
  %t = spyre.alloc pool(0) : !h
  %u = spyre.alloc pool(0) : !h
  // expected-note @+1 {{spyre.neg: it has written here}}
  spyre.neg (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !h
  // expected-note @+2 {{spyre.abs: core 0 reads what core 1 has written before, through device memory; KTIR orders nothing between compute tiles}}
  // expected-note @+1 {{spyre.abs: it has read here}}
  spyre.abs (d0 = 64 / 16, d1 = 128 / 2) ins(%t[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  // expected-note @+1 {{spyre.neg: core 1 overwrites what core 0 has read before, through device memory; KTIR orders nothing between compute tiles}}
  spyre.neg (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) outs(%u[d0, d1]) : !h -> !h
  return
}

// -----

// An operation in place that another core has read before.
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// expected-error @+1 {{'in_place' cannot be emitted as KTIR: 1 operation is not supported}}
func.func @in_place(%x: !h, %o: !h) {
  // expected-note @+1 {{spyre.abs: it has read here}}
  spyre.abs (d0 = 64 / 16, d1 = 128 / 2) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  // expected-note @+1 {{spyre.neg: core 0 overwrites what core 16 has read before, through device memory}}
  spyre.neg (d0 = 64 / 32, d1 = 128) ins(%x[d0, d1]) outs(%x[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @unplaced(%x: !h) {
  // expected-note @+1 {{allocated here}}
  %t = spyre.alloc : !h
  // expected-error @+1 {{uses a buffer without a place; run 'spyre-place-buffers'}}
  spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !h
  return
}

// -----

// A core holds four rows, of which the operation writes two for each.
!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, lx>
// expected-error @+1 {{'slices' cannot be emitted as KTIR: 1 operation is not supported}}
func.func @slices(%x: !h) {
  %t = spyre.alloc lx(0) holding<cores 16, slices [16, 1], (c) -> (c, 0)> : !l
  // expected-note @+1 {{spyre.neg: the output is another part of an LX buffer than the core holds}}
  spyre.neg (d0 = 64 / 32, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  return
}

// -----

// A core holds two rows, the operation reads four.
!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, lx>
// expected-error @+1 {{'part' cannot be emitted as KTIR: 1 operation is not supported}}
func.func @part(%x: !h) {
  %t = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  // expected-note @+1 {{spyre.neg: the output is another part of an LX buffer than the core holds}}
  spyre.neg (d0 = 64 / 16, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  return
}

// -----

func.func private @declared(!spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>)
!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// expected-note @+1 {{the first is here}}
func.func @first(%x: !h) {
  spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%x[d0, d1]) : !h -> !h
  return
}
// expected-error @+1 {{a kernel is one function; this is the second in the module}}
func.func @second(%x: !h) {
  spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%x[d0, d1]) : !h -> !h
  return
}
