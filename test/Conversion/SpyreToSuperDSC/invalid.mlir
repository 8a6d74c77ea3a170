// RUN: spyre-opt %s --convert-spyre-to-superdsc -split-input-file -verify-diagnostics

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @unplaced(%x: !h) {
  // expected-note @+1 {{allocated here}}
  %t = spyre.alloc : !h
  // expected-error @+1 {{uses a buffer without a place; run 'spyre-place-buffers'}}
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%t[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// A slice that starts inside a stick cannot be addressed.
func.func @inside(%x: !h, %o: !o) {
  // expected-error @+1 {{operand #0}}
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1 + 32]) outs(%o[d0, d1]) : !h -> !o
  return
}
