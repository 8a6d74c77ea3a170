// What spyre-assign-layouts refuses, each with its reason and place.
// RUN: spyre-opt %s --spyre-assign-layouts -split-input-file -verify-diagnostics

func.func @two_contracted(%x: tensor<4x8x16xf16>, %y: tensor<8x16x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{contracts over 2 dims; the device contracts over one}}
  %0 = spyre.batchmatmul (d0 = 4, d1 = 64, d2 = 8, d3 = 16) ins(%x[d0, d2, d3], %y[d2, d3, d1]) -> [d0, d1] : tensor<4x8x16xf16>, tensor<8x16x64xf16> -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}

// -----

// expected-error @+1 {{a value of type 'tensor<4x64xf80>' has no device layout and is not supported}}
func.func @element(%x: tensor<4x64xf80>) {
  return
}

// -----

// expected-error @+1 {{a value of type 'tensor<?x64xf16>' has no device layout and is not supported; shapes must be static}}
func.func @open(%x: tensor<?x64xf16>) {
  return
}

// -----

// expected-error @+1 {{has more than 281474976710656 elements}}
func.func @too_many(%x: tensor<1048576x1048576x1024xf16>) {
  return
}

// -----

func.func @too_long(%x: tensor<1048576x1xf16>, %y: tensor<1x1048576xf16>, %z: tensor<2048xf16>) -> tensor<1048576x1048576x256xf16> {
  // expected-error @+1 {{iterates over more than 1125899906842624 points}}
  %0 = spyre.batchmatmul (d0 = 1048576, d1 = 1048576, d2 = 2048) ins(%x[d0, 0], %y[0, d1]) -> [d0, d1, 0] : tensor<1048576x1xf16>, tensor<1x1048576xf16> -> tensor<1048576x1048576x256xf16>
  return %0 : tensor<1048576x1048576x256xf16>
}

// -----

// The largest 32-bit number passes, the next one does not.
func.func @integers() -> (tensor<i64>, tensor<i64>) {
  %0 = spyre.constant dense<2147483647> : tensor<i64> : tensor<i64>
  // expected-error @+1 {{the number 2147483648 of a constant of type 'tensor<i64>' is not supported: the device's integers have 32 bits}}
  %1 = spyre.constant dense<2147483648> : tensor<i64> : tensor<i64>
  return %0, %1 : tensor<i64>, tensor<i64>
}

// -----

func.func @composite(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{should have been lowered to device operations before layouts are assigned}}
  %0 = spyre.softmax %x along 1 : tensor<4x64xf16> -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
