// What convert-spyre-to-superdsc refuses beside unplaced buffers and unreadable operands, each with its place.
// RUN: spyre-opt %s --convert-spyre-to-superdsc -split-input-file -verify-diagnostics

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// expected-note @+1 {{the first is here}}
func.func @first(%x: !h) {
  return
}
// expected-error @+1 {{a bundle is one function; this is the second in the module}}
func.func @second(%x: !h) {
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// expected-error @+1 {{argument #1 is no buffer; bufferize first}}
func.func @mixed(%x: !h, %n: index) {
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @loop_from_one(%x: !h) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{a bundle's loop runs from 0 to a constant in steps of 1 and carries no values}}
  scf.for %i = %c1 to %c4 step %c1 {
    spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%x[d0, d1]) : !h -> !h
  }
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @other_operation(%x: !h) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{has no place in a bundle}}
  %c2 = arith.addi %c1, %c1 : index
  return
}

// -----

!l = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, lx>
// A relayout without a word on who holds what.
func.func @shuffle() {
  %a = spyre.alloc lx(0) : !l
  %b = spyre.alloc lx(8192) holding<cores 4, slices [4, 1], (c) -> (c, 0)> : !l
  // expected-error @+1 {{operand #0: a relayout goes between buffers of scratchpads that say which core holds which part}}
  spyre.shuffle (d0 = 64 / 4, d1 = 64) ins(%a[d0, d1]) outs(%b[d0, d1]) : !l -> !l
  return
}
