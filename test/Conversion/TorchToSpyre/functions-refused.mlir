// RUN: spyre-opt %s --split-input-file --verify-diagnostics --convert-torch-to-spyre

// expected-error@below {{'widened_asin' cannot be compiled}}
func.func @widened_asin(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f32> {
  %int6 = torch.constant.int 6
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.to.dtype %x, %int6, %false, %false, %none : !torch.vtensor<[5],f16>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[5],f32>
  // expected-note@below {{magnifies the last bit of f16}}
  %1 = torch.aten.asin %0 : !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %1 : !torch.vtensor<[5],f32>
}

// -----

// expected-error@below {{'asin_f16' cannot be compiled}}
func.func @asin_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  // expected-note@below {{magnifies the last bit of f16}}
  %0 = torch.aten.asin %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// expected-error@below {{'acos_f16' cannot be compiled}}
func.func @acos_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  // expected-note@below {{magnifies the last bit of f16}}
  %0 = torch.aten.acos %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// expected-error@below {{'acosh_f16' cannot be compiled}}
func.func @acosh_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  // expected-note@below {{magnifies the last bit of f16}}
  %0 = torch.aten.acosh %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// expected-error@below {{'atanh_f16' cannot be compiled}}
func.func @atanh_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  // expected-note@below {{magnifies the last bit of f16}}
  %0 = torch.aten.atanh %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// expected-error@below {{'erfc_f16' cannot be compiled}}
func.func @erfc_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  // expected-note@below {{magnifies the last bit of f16}}
  %0 = torch.aten.erfc %x : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// expected-error@below {{'logit_f16' cannot be compiled}}
func.func @logit_f16(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %none = torch.constant.none
  // expected-note@below {{magnifies the last bit of f16}}
  %0 = torch.aten.logit %x, %none : !torch.vtensor<[5],f16>, !torch.none -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// expected-error@below {{'hypot_f32' cannot be compiled}}
func.func @hypot_f32(%x: !torch.vtensor<[5],f32>, %y: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  // expected-note@below {{squares of large numbers overflow f32}}
  %0 = torch.aten.hypot %x, %y : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[5],f32>
  return %0 : !torch.vtensor<[5],f32>
}

// -----

// expected-error@below {{'hypot_bf16' cannot be compiled}}
func.func @hypot_bf16(%x: !torch.vtensor<[5],bf16>, %y: !torch.vtensor<[5],bf16>) -> !torch.vtensor<[5],bf16> {
  // expected-note@below {{squares of large numbers overflow f32}}
  %0 = torch.aten.hypot %x, %y : !torch.vtensor<[5],bf16>, !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %0 : !torch.vtensor<[5],bf16>
}

// -----

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
