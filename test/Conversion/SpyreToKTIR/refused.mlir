// Everything that has no KTIR form yet, in one report that changes nothing.
// RUN: spyre-opt %s -split-input-file -verify-diagnostics -convert-spyre-to-ktir

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!r = !spyre.buffer<64xf16, #spyre.layout<[1, 64, 64], order [0, -1], SEN169_FP16>, hbm>
!i = !spyre.buffer<64xi32, #spyre.layout<[2, 32], order [0], IEEE_INT32>, hbm>
// expected-error @+1 {{'many' cannot be emitted as KTIR: 5 operations are not supported}}
func.func @many(%x: !h, %o: !o, %h: !h, %r: !r, %i: !i) {
  // expected-note @+1 {{spyre.add: work slices of d1 cut a stick}}
  spyre.add (d0 = 64, d1 = 128 / 4) ins(%x[d0, d1], %x[d0, d1]) outs(%h[d0, d1]) : !h, !h -> !h
  // expected-note @+1 {{spyre.add: 3 work slices cut the 64 places of d0}}
  spyre.add (d0 = 64 / 3, d1 = 128) ins(%x[d0, d1], %x[d0, d1]) outs(%h[d0, d1]) : !h, !h -> !h
  // expected-note @+1 {{spyre.neg: input #0: dim 1 is accessed at d1 + 32, which starts or splits inside a stick of 64 elements}}
  spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1 + 32]) outs(%o[d0, d1]) : !h -> !o
  // expected-note @+1 {{spyre.neg: it overwrites input #0 at other places than it reads}}
  spyre.neg (d0 = 32, d1 = 128) ins(%x[d0, d1]) outs(%x[d0 + 16, d1]) : !h -> !h
  // expected-note @+1 {{spyre.identity: the index addresses a dim in the stick, or one that has other coordinates}}
  spyre.identity (d0 = 64) ins(%i[d0], %x[0, 0]) outs(%r[d0]) gather(1[1] by 0) : !i, !h -> !r
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
