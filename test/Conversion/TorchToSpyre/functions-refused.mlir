// RUN: spyre-opt %s --split-input-file --verify-diagnostics --convert-torch-to-spyre

// expected-error@below {{'fmax' cannot be compiled}}
func.func @fmax(%x: !torch.vtensor<[5],f16>, %y: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  // expected-note@below {{asks for NaN, which the device does not tell from infinity}}
  %0 = torch.aten.fmax %x, %y : !torch.vtensor<[5],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// expected-error@below {{'norm_of_small_order' cannot be compiled}}
func.func @norm_of_small_order(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[],f16> {
  %order = torch.constant.float 1.000000e-01
  // expected-note@below {{the device has no norm of this order}}
  %0 = torch.aten.norm.Scalar %x, %order : !torch.vtensor<[5],f16>, !torch.float -> !torch.vtensor<[],f16>
  return %0 : !torch.vtensor<[],f16>
}

// -----

// expected-error@below {{'isfinite_f32' cannot be compiled}}
func.func @isfinite_f32(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],i1> {
  // expected-note@below {{the device compares 16-bit floats only}}
  %0 = torch.aten.isfinite %x : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],i1>
  return %0 : !torch.vtensor<[5],i1>
}
