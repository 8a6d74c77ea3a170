// RUN: spyre-opt %s --spyre-verify-plan -split-input-file -verify-diagnostics

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>

// Right: LX holds what each core writes and reads.
func.func @good(%x: !h, %o: !h {spyre.role = "output"}) {
  %t = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  spyre.neg (d0 = 128 / 32, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
func.func @other_core(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %t = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  spyre.exp (d0 = 128 / 32, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !l
  // expected-error @+1 {{L3-6: core 0 reads another part of the LX buffer than it holds}}
  spyre.neg (d0 = 128 / 16, d1 = 64) ins(%t[d0, d1]) outs(%o[d0, d1]) : !l -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
// All violations in one run.
func.func @several(%x: !h, %o: !h) {
  // expected-note @+1 {{bytes 0..16384 are taken here}}
  %a = spyre.alloc pool(0) : !h
  // expected-error @+1 {{L3-2: bytes 8192..24576 overlap a buffer that lives at the same time}}
  %b = spyre.alloc pool(8192) : !h
  // expected-error @+1 {{L3-1: the buffer has no place}}
  %c = spyre.alloc : !h
  spyre.exp (d0 = 128, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-4: d0 has 128 elements, which 3 work slices do not divide}}
  spyre.exp (d0 = 128 / 3, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-3: takes 64 cores; the device has 32}}
  spyre.add (d0 = 128 / 64, d1 = 64) ins(%a[d0, d1], %b[d0, d1]) outs(%c[d0, d1]) : !h, !h -> !h
  return
}

// -----

!h = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @unwritten(%x: !h, %o: !h) {
  // expected-note @+1 {{allocated here}}
  %a = spyre.alloc pool(0) : !h
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  // expected-error @+1 {{L3-8: input #0 is read before it is written}}
  spyre.neg (d0 = 128, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}
