// RUN: spyre-opt %s -split-input-file -verify-diagnostics

func.func @concat_extent(%x: tensor<4x8xf16>, %y: tensor<4x3xf16>) -> tensor<4x12xf16> {
  // expected-error @below {{sources have 11 elements along dim 1, the result has 12}}
  %0 = spyre.concat %x, %y along 1 : tensor<4x8xf16>, tensor<4x3xf16> -> tensor<4x12xf16>
  return %0 : tensor<4x12xf16>
}

// -----

func.func @concat_other_dim(%x: tensor<4x8xf16>, %y: tensor<5x3xf16>) -> tensor<4x11xf16> {
  // expected-error @below {{source #1 of type 'tensor<5x3xf16>' differs from the result in more than dim 1}}
  %0 = spyre.concat %x, %y along 1 : tensor<4x8xf16>, tensor<5x3xf16> -> tensor<4x11xf16>
  return %0 : tensor<4x11xf16>
}

// -----

func.func @concat_no_dim(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{dim 1 does not exist; the result has 1}}
  %0 = spyre.concat %x along 1 : tensor<4xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
