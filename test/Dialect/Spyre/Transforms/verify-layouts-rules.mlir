// Each rule of spyre-verify-layouts at its border: what is just right, and its neighbour that is not.
// RUN: spyre-opt %s --spyre-verify-layouts -split-input-file -verify-diagnostics

!x = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!y = tensor<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>>
!yt = tensor<128x64xf16, #spyre.layout<[2, 64, 64], order [1, 0], SEN169_FP16>>
!v = tensor<128xf16, #spyre.layout<[2, 64], order [0], SEN169_FP16>>
!c = tensor<64x1xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>>
!s = tensor<64xf16, #spyre.layout<[1, 64, 64], order [0, -1], SEN169_FP16>>
// L2-1: operands in the operation's stick dim, or without it, read from lane 0.
func.func @sticks(%x: !x, %v: !v, %c: !c, %s: !s, %y: !yt) -> (!x, !x, !x, !x) {
  %0 = spyre.add (d0 = 64, d1 = 128) ins(%x[d0, d1], %v[d1]) -> [d0, d1] : !x, !v -> !x
  %1 = spyre.add (d0 = 64, d1 = 128) ins(%0[d0, d1], %c[d0, 0]) -> [d0, d1] : !x, !c -> !x
  %2 = spyre.add (d0 = 64, d1 = 128) ins(%1[d0, d1], %s[d0]) -> [d0, d1] : !x, !s -> !x
  %3 = spyre.add (d0 = 64, d1 = 128) ins(%x[d0, d1], %y[d1, d0]) -> [d0, d1] : !x, !yt -> !x
  return %0, %1, %2, %3 : !x, !x, !x, !x
}

// -----

!x = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!v = tensor<64xf16, #spyre.layout<[1, 64], order [0], SEN169_FP16>>
// L2-1: a vector in the stick, along rows.
func.func @along_rows(%x: !x, %v: !v) -> !x {
  // expected-error @+1 {{L2-1: d1 lies in the stick of one operand and d0 in that of another}}
  %0 = spyre.add (d0 = 64, d1 = 128) ins(%x[d0, d1], %v[d0]) -> [d0, d1] : !x, !v -> !x
  return %0 : !x
}

// -----

!x = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!o = tensor<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>>
// L2-1: whole sticks of a larger tensor, not parts of them.
func.func @parts(%x: !x) -> (!o, !o) {
  %0 = spyre.abs (d0 = 64, d1 = 64) ins(%x[d0, d1 + 64]) -> [d0, d1] : !x -> !o
  // expected-error @+1 {{L2-1: input #0 cannot be accessed: it starts inside a stick, at element 32}}
  %1 = spyre.abs (d0 = 64, d1 = 64) ins(%x[d0, d1 + 32]) -> [d0, d1] : !x -> !o
  return %0, %1 : !o, !o
}

// -----

!x = tensor<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!y = tensor<100x128xf16, #spyre.layout<[2, 128, 64], order [0, 1], SEN169_FP16>>
!o = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
// L2-2: zero padding on one side and finite on the other. Arguments have zeros, exp makes ones of them.
func.func @finite(%x: !x, %y: !y) -> (!o, !o) {
  %e = spyre.exp (d0 = 64, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  %0 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 100) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : !x, !y -> !o
  %1 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 100) ins(%e[d0, d2], %y[d2, d1]) -> [d0, d1] : !x, !y -> !o
  return %0, %1 : !o, !o
}

// -----

!x = tensor<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>>
!y = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!o = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
// L2-2, L2-3: nothing is padded where the contraction ends on a stick; the logarithm's tail does not matter.
func.func @aligned(%x: !x, %y: !y) -> !o {
  %l = spyre.log (d0 = 64, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  %0 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 64) ins(%l[d0, d2], %y[d2, d1]) -> [d0, d1] : !x, !y -> !o
  return %0 : !o
}

// -----

!x = tensor<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!y = tensor<200x128xf16, #spyre.layout<[2, 200, 64], order [0, 1], SEN169_FP16>>
!o = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
// L2-3: the rows of a part reach as far as the tensor does. L2-2: what they hold may be anything.
func.func @rows_of_a_part(%x: !x, %y: !y) -> (!o, !o) {
  // expected-error @+1 {{L2-2: the contraction dim d2 of extent 100 is padded to 128; one input's padding must be zero and the other's finite, but they are zero and unknown}}
  %0 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 100) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : !x, !y -> !o
  // expected-error @+1 {{L2-3: input #1 has 100 rows of the contraction dim d2 in memory; the device reads 128}}
  %1 = spyre.batchmatmul (d0 = 64, d1 = 128, d2 = 100) ins(%x[d0, d2], %y[d2 + 100, d1]) -> [d0, d1] : !x, !y -> !o
  return %0, %1 : !o, !o
}

// -----

!x = tensor<60x128xf16, #spyre.layout<[2, 60, 64], order [0, 1], SEN169_FP16>>
!p = tensor<60x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!t = tensor<60x128xf16, #spyre.layout<[1, 128, 64], order [1, 0], SEN169_FP16>>
// L2-3: a restickify moves 64 by 64: the input has memory for it or not.
func.func @restickify_input(%x: !x, %p: !p) {
  %0 = spyre.restickify (d0 = 60, d1 = 128) ins(%p[d0, d1]) -> [d0, d1] : !p -> !t
  // expected-error @+1 {{L2-3: the input has 60 rows of dim 0 in memory; a restickify moves multiples of 64}}
  %1 = spyre.restickify (d0 = 60, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !x -> !t
  return
}

// -----

!x = tensor<64x100xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!t = tensor<64x100xf16, #spyre.layout<[1, 100, 64], order [1, 0], SEN169_FP16>>
!p = tensor<64x100xf16, #spyre.layout<[1, 128, 64], order [1, 0], SEN169_FP16>>
// L2-3: the output too.
func.func @restickify_output(%x: !x) {
  %0 = spyre.restickify (d0 = 64, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !x -> !p
  // expected-error @+1 {{L2-3: the output has 100 rows of dim 1 in memory; a restickify moves multiples of 64}}
  %1 = spyre.restickify (d0 = 64, d1 = 100) ins(%x[d0, d1]) -> [d0, d1] : !x -> !t
  return
}

// -----

!x = tensor<3x64x128xf16, #spyre.layout<[64, 2, 3, 64], order [0, 1, 2], SEN169_FP16>>
!q = tensor<3x64x128xf16, #spyre.layout<[3, 2, 64, 64], order [1, 0, 2], SEN169_FP16>>
!p = tensor<3x64x128xf16, #spyre.layout<[65, 2, 3, 64], order [0, 1, 2], SEN169_FP16>>
// L2-4: only results have the default layout, and they in every detail.
func.func @results(%x: !x) -> (!x, !q, !p) {
  %0 = spyre.abs (d0 = 3, d1 = 64, d2 = 128) ins(%x[d0, d1, d2]) -> [d0, d1, d2] : !x -> !q
  %1 = spyre.neg (d0 = 3, d1 = 64, d2 = 128) ins(%0[d0, d1, d2]) -> [d0, d1, d2] : !q -> !p
  %2 = spyre.neg (d0 = 3, d1 = 64, d2 = 128) ins(%1[d0, d1, d2]) -> [d0, d1, d2] : !p -> !x
  // expected-error @+2 {{L2-4: result #1 has layout}}
  // expected-error @+1 {{L2-4: result #2 has layout}}
  return %2, %0, %1 : !x, !q, !p
}

// -----

// L2-0: an argument; every one is reported, no other rule is.
// expected-error @+2 {{L2-0: a tensor of type 'tensor<4x64xf16>' has no layout}}
// expected-error @+1 {{L2-0: a tensor of type 'tensor<4x65xf16>' has no layout}}
func.func @arguments(%x: tensor<4x64xf16>, %y: tensor<4x65xf16>) {
  return
}

// -----

// L2-5: all of the memory, not a row more.
!all = tensor<1048576x65536xf16, #spyre.layout<[1024, 1048576, 64], order [0, 1], SEN169_FP16>>
func.func @fits(%x: !all) {
  return
}

// -----

!more = tensor<1048577x65536xf16, #spyre.layout<[1024, 1048577, 64], order [0, 1], SEN169_FP16>>
// expected-error @+1 {{L2-5: a tensor of type 'tensor<1048577x65536xf16>' does not fit in the device memory of 137438953472 bytes}}
func.func @one_more(%x: !more) {
  return
}

// -----

!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!w = tensor<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32, arrangement dl16_to_fp32>>
// L2-6: staggered operands meet, and narrowing puts the elements back.
func.func @staggered(%x: !h, %w: !w) -> !h {
  %0 = spyre.dl16tofp32 (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !h -> !w
  %1 = spyre.add (d0 = 64, d1 = 128) ins(%0[d0, d1], %w[d0, d1]) -> [d0, d1] : !w, !w -> !w
  %2 = spyre.fp32todl16 (d0 = 64, d1 = 128) ins(%1[d0, d1]) -> [d0, d1] : !w -> !h
  return %2 : !h
}

// -----

!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!w = tensor<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32, arrangement dl16_to_fp32>>
!s = tensor<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32>>
// L2-6: a staggered operand and one in the standard order.
func.func @mixed(%x: !h, %s: !s) -> !w {
  %0 = spyre.dl16tofp32 (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !h -> !w
  // expected-error @+1 {{L2-6: 'add' needs input 1 in the order of the others, dl16_to_fp32, not standard}}
  %1 = spyre.add (d0 = 64, d1 = 128) ins(%0[d0, d1], %s[d0, d1]) -> [d0, d1] : !w, !s -> !w
  return %1 : !w
}

// -----

!s = tensor<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32>>
!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16, arrangement dl16_to_fp32>>
// L2-6: narrowing what lies in the standard order makes another order than the layout says.
func.func @narrowed(%s: !s) -> !h {
  // expected-error @+1 {{L2-6: makes a tensor in the order fp32_to_dl16, but its layout says dl16_to_fp32}}
  %0 = spyre.fp32todl16 (d0 = 64, d1 = 128) ins(%s[d0, d1]) -> [d0, d1] : !s -> !h
  return %0 : !h
}

// -----

!w = tensor<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32, arrangement dl16_to_fp32>>
!s = tensor<64x128xf32, #spyre.layout<[4, 64, 32], order [0, 1], IEEE_FP32>>
// L2-6: a part of a tensor in another order than the rest.
func.func @updated(%w: !w, %s: !s) -> !w {
  %0 = spyre.neg (d0 = 64, d1 = 128) ins(%w[d0, d1]) -> [d0, d1] : !w -> !w
  // expected-error @+1 {{L2-6: writes elements in the order standard into a tensor in the order dl16_to_fp32}}
  %1 = spyre.neg (d0 = 32, d1 = 128) ins(%s[d0, d1]) outs(%0[d0, d1]) : !s -> !w
  return %1 : !w
}
