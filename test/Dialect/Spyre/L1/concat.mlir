// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-fold-views))' -split-input-file | FileCheck %s

// Rotary embedding's halves: the operation that computes a part writes at its offset,
// a view is copied there.
// CHECK-LABEL: func @rotate_half
// CHECK: %[[A:.*]] = spyre.neg (d0 = 8, d1 = 32) ins(%arg0[d0, d1 + 32]) -> [d0, d1] : tensor<8x64xf16> -> tensor<8x64xf16>
// CHECK: %[[B:.*]] = spyre.identity (d0 = 8, d1 = 32) ins(%arg0[d0, d1]) outs(%[[A]][d0, d1 + 32])
// CHECK: return %[[B]]
func.func @rotate_half(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.view %x[d0, d1] : tensor<8x64xf16> -> tensor<8x32xf16>
  %1 = spyre.view %x[d0, d1 + 32] : tensor<8x64xf16> -> tensor<8x32xf16>
  %2 = spyre.neg (d0 = 8, d1 = 32) ins(%1[d0, d1]) -> [d0, d1] : tensor<8x32xf16> -> tensor<8x32xf16>
  %3 = spyre.concat %2, %0 along 1 : tensor<8x32xf16>, tensor<8x32xf16> -> tensor<8x64xf16>
  return %3 : tensor<8x64xf16>
}

// -----

// A part that others read, and one that a reduction computes, are copied; empty
// parts are nothing.
// CHECK-LABEL: func @copied
// CHECK: %[[E:.*]] = spyre.exp
// CHECK: %[[S:.*]] = spyre.sum
// CHECK: %[[A:.*]] = spyre.identity (d0 = 4, d1 = 8) ins(%[[E]][d0, d1]) -> [d0, d1]
// CHECK: %[[B:.*]] = spyre.identity (d0 = 1, d1 = 8) ins(%[[S]][d0, d1]) outs(%[[A]][d0 + 4, d1])
// CHECK: return %[[B]], %[[E]]
func.func @copied(%x: tensor<4x8xf16>, %e: tensor<0x8xf16>) -> (tensor<5x8xf16>, tensor<4x8xf16>) {
  %0 = spyre.exp (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  %1 = spyre.sum (d0 = 4, d1 = 8) ins(%x[d0, d1]) -> [0, d1] : tensor<4x8xf16> -> tensor<1x8xf16>
  %2 = spyre.concat %0, %e, %1 along 0 : tensor<4x8xf16>, tensor<0x8xf16>, tensor<1x8xf16> -> tensor<5x8xf16>
  return %2, %0 : tensor<5x8xf16>, tensor<4x8xf16>
}

// -----

// A contraction keeps its one contracted dim: the reshaped operand is copied.
// CHECK-LABEL: func @contraction
// CHECK: %[[R:.*]] = spyre.identity (d0 = 8, d1 = 128) ins(%arg0[d1 floordiv 32, d0, d1 mod 32])
// CHECK: spyre.batchmatmul {{.*}} ins(%[[R]][d0, d2], %arg1[d2, d1])
func.func @contraction(%x: tensor<4x8x32xf16>, %w: tensor<128x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.view %x[d1 floordiv 32, d0, d1 mod 32] : tensor<4x8x32xf16> -> tensor<8x128xf16>
  %1 = spyre.batchmatmul (d0 = 8, d1 = 64, d2 = 128) ins(%0[d0, d2], %w[d2, d1]) -> [d0, d1]
    : tensor<8x128xf16>, tensor<128x64xf16> -> tensor<8x64xf16>
  return %1 : tensor<8x64xf16>
}
