// RUN: spyre-opt %s --spyre-verify-layouts -split-input-file -verify-diagnostics

func.func @none(%x: tensor<4x64xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>>) {
  // expected-error @+1 {{L2-0: a tensor of type 'tensor<4x64xf16>' has no layout}}
  %0 = spyre.exp (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x64xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>> -> tensor<4x64xf16>
  return
}

// -----

!a = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!b = tensor<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>>
func.func @sticks(%x: !a, %y: !b) -> !b {
  // expected-error @+1 {{L2-1: d0 lies in the stick of one operand and d1 in that of another}}
  %0 = spyre.add (d0 = 128, d1 = 64) ins(%x[d1, d0], %y[d0, d1]) -> [d0, d1] : !a, !b -> !b
  return %0 : !b
}

// -----

!x = tensor<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!y = tensor<100x128xf16, #spyre.layout<[2, 100, 64], order [0, 1], SEN169_FP16>>
!o = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
func.func @rows(%x: !x, %y: !y) -> !o {
  // expected-error @+1 {{L2-3: input #1 has 100 rows of the contraction dim d2 in memory; the device reads 128}}
  %0 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 100) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : !x, !y -> !o
  return %0 : !o
}

// -----

!x = tensor<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!y = tensor<100x128xf16, #spyre.layout<[2, 128, 64], order [0, 1], SEN169_FP16>>
!o = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
func.func @tail(%x: !x, %y: !y) -> !o {
  // The logarithm of a zero tail is -inf.
  %l = spyre.log (d0 = 64, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  // expected-error @+1 {{L2-2: the contraction dim d2 of extent 100 is padded to 128; one input's padding must be zero and the other's finite, but they are neg_inf and zero}}
  %0 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 100) ins(%l[d0, d2], %y[d2, d1]) -> [d0, d1] : !x, !y -> !o
  return %0 : !o
}

// -----

!t = tensor<64x128xf16, #spyre.layout<[1, 128, 64], order [1, 0], SEN169_FP16>>
func.func @result(%x: !t) -> !t {
  // expected-error @+1 {{L2-4: result #0 has layout}}
  return %x : !t
}

// -----

!wide = tensor<1048576x1048576xf16, #spyre.layout<[16384, 1048576, 64], order [0, 1], SEN169_FP16>>
// expected-error @+1 {{L2-5: a tensor of type 'tensor<1048576x1048576xf16>' does not fit in the device memory of 137438953472 bytes}}
func.func @too_large(%x: !wide) {
  return
}
