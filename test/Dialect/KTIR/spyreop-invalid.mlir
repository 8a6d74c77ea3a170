// RUN: spyre-opt %s -split-input-file -verify-diagnostics

func.func @beta(%x: f16) {
  // expected-error @+1 {{divides by beta, which is 0}}
  %0 = spyreop.softplus %x beta 0.0 threshold 1.0 : f16
  return
}

// -----

func.func @gelu(%x: f32) {
  // expected-error @+1 {{operand #0 must be 16-bit float or The device's 16-bit float}}
  %0 = spyreop.gelu %x : f32
  return
}

// -----

func.func @pair(%x: f16) {
  // expected-error @+2 {{'spyreop.exx2_fused' op inferred type(s) '!spyreop.fp16_fused' are incompatible with return type(s) of operation '!spyreop.fp32_fused'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = spyreop.exx2_fused %x : f16 -> !spyreop.fp32_fused
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{result #0 must be 16-bit float or 32-bit float}}
  %0 = spyreop.constant 1 : i32
  return
}

// -----

func.func @slice(%x: tensor<64xf16>) {
  // expected-error @+1 {{makes 'f32' of 'f16'}}
  %0 = spyreop.slice_reduction %x {reduction_kind = #spyreop.reduction_kind<add>,
      reduction_scope = #spyreop.reduction_scope<in_slice>} : tensor<64xf16> -> tensor<64xf32>
  return
}
