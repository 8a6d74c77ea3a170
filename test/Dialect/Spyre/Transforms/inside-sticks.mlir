// RUN: spyre-opt %s --spyre-assign-layouts --spyre-verify-layouts -split-input-file | FileCheck %s

// Heads of 64 lie in whole sticks of the projection: read where they are.
// CHECK-LABEL: func.func @heads_of_64
// CHECK-NOT: spyre.restickify
// CHECK: spyre.exp {{.*}} ins(%arg0[d1, d0 * 64 + d2]) -> [d0, d1, d2]
func.func @heads_of_64(%x: tensor<100x256xf16>) -> tensor<4x100x64xf16> {
  %0 = spyre.exp (d0 = 4, d1 = 100, d2 = 64) ins(%x[d1, d0 * 64 + d2]) -> [d0, d1, d2] : tensor<100x256xf16> -> tensor<4x100x64xf16>
  return %0 : tensor<4x100x64xf16>
}

// -----

// Heads of 32 split a stick: with the rows in the stick any head can be read.
// CHECK-LABEL: func.func @heads_of_32
// CHECK: %[[T:.*]] = spyre.restickify (d0 = 64, d1 = 128) ins(%arg0[d0, d1])
// CHECK: %[[E:.*]] = spyre.exp {{.*}} ins(%[[T]][d1, d0 * 32 + d2]) -> [d0, d1, d2]
// CHECK: spyre.restickify {{.*}}
func.func @heads_of_32(%x: tensor<64x128xf16>) -> tensor<4x64x32xf16> {
  %0 = spyre.exp (d0 = 4, d1 = 64, d2 = 32) ins(%x[d1, d0 * 32 + d2]) -> [d0, d1, d2] : tensor<64x128xf16> -> tensor<4x64x32xf16>
  return %0 : tensor<4x64x32xf16>
}

// -----

// Both halves of a stick are cut out once, however many read them.
// CHECK-LABEL: func.func @once
// CHECK-COUNT-1: spyre.restickify{{.*}}ins(%arg0
// CHECK-NOT: ins(%arg0{{.*}}restickify
// CHECK: return
func.func @once(%x: tensor<64x64xf16>) -> (tensor<1x32xf16>, tensor<1x32xf16>) {
  %0 = spyre.neg (d0 = 64, d1 = 32) ins(%x[d0, d1 + 32]) -> [d0, d1] : tensor<64x64xf16> -> tensor<64x32xf16>
  %1 = spyre.add (d0 = 64, d1 = 32) ins(%x[d0, d1], %0[d0, d1]) -> [d0, d1] : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x32xf16>
  %2 = spyre.mul (d0 = 64, d1 = 32) ins(%1[d0, d1], %0[d0, d1]) -> [d0, d1] : tensor<64x32xf16>, tensor<64x32xf16> -> tensor<64x32xf16>
  %3 = spyre.sum (d0 = 64, d1 = 32) ins(%2[d0, d1]) -> [0, d1] : tensor<64x32xf16> -> tensor<1x32xf16>
  %4 = spyre.sum (d0 = 64, d1 = 32) ins(%1[d0, d1]) -> [0, d1] : tensor<64x32xf16> -> tensor<1x32xf16>
  return %3, %4 : tensor<1x32xf16>, tensor<1x32xf16>
}

// -----

// A contraction whose result begins inside a stick is computed by itself.
// CHECK-LABEL: func.func @written_inside
// CHECK: %[[M:.*]] = spyre.batchmatmul {{.*}} -> [d0, d1, d2]
// CHECK: %[[R:.*]] = spyre.restickify {{.*}} ins(%[[M]]
// CHECK: spyre.identity {{.*}} ins(%[[R]]{{.*}} -> [d1, d0 * 32 + d2]
func.func @written_inside(%x: tensor<2x64x64xf16>, %y: tensor<2x64x32xf16>) -> tensor<64x64xf16> {
  %0 = spyre.batchmatmul (d0 = 2, d1 = 64, d2 = 32, d3 = 64) ins(%x[d0, d1, d3], %y[d0, d3, d2]) -> [d1, d0 * 32 + d2]
    : tensor<2x64x64xf16>, tensor<2x64x32xf16> -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

// Joined along whole sticks: written in place. Nothing else is copied.
// CHECK-LABEL: func.func @joined
// CHECK-NOT: restickify
// CHECK: return
func.func @joined(%x: tensor<8x64xf16>, %y: tensor<8x36xf16>) -> tensor<8x100xf16> {
  %0 = spyre.identity (d0 = 8, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<8x64xf16> -> tensor<8x100xf16>
  %1 = spyre.neg (d0 = 8, d1 = 36) ins(%y[d0, d1]) outs(%0[d0, d1 + 64]) : tensor<8x36xf16> -> tensor<8x100xf16>
  return %1 : tensor<8x100xf16>
}

// -----

// One dim only: joined one element a stick.
// CHECK-LABEL: func.func @joined_vectors
// CHECK: order [0, -1]
// CHECK: return
func.func @joined_vectors(%x: tensor<3xf16>, %y: tensor<5xf16>) -> tensor<8xf16> {
  %0 = spyre.identity (d0 = 3) ins(%x[d0]) -> [d0] : tensor<3xf16> -> tensor<8xf16>
  %1 = spyre.identity (d0 = 5) ins(%y[d0]) outs(%0[d0 + 3]) : tensor<5xf16> -> tensor<8xf16>
  return %1 : tensor<8xf16>
}

// -----

// An array that the compiler knows is laid out on the host as its readers want it.
// CHECK-LABEL: func.func @constant
// CHECK: spyre.constant {{.*}} order [1, 0]
// CHECK-NOT: restickify
// CHECK: spyre.batchmatmul
func.func @constant(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %c = spyre.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16> : tensor<2x2xf16>
  %0 = spyre.batchmatmul (d0 = 2, d1 = 2, d2 = 2) ins(%x[d0, d2], %c[d1, d2]) -> [d0, d1] : tensor<2x2xf16>, tensor<2x2xf16> -> tensor<2x2xf16>
  return %0 : tensor<2x2xf16>
}

// -----

// Pairs in a dim of five places: only the outermost dim is stepped through by twos if it
// has an odd extent, and here that is another one. The four places are computed
// by themselves.
// CHECK-LABEL: func.func @pairs_of_five
// CHECK: %[[P:.*]] = spyre.identity (d0 = 2, d1 = 2, d2 = 64, d3 = 31) ins(%arg0[d0, d1 * 64 + d2, d3]) -> [d0 * 2 + d1, d2, d3] : {{.*}} -> tensor<4x64x31xf16
// CHECK: spyre.identity (d0 = 4, d1 = 64, d2 = 31) ins(%[[P]][d0, d1, d2]) -> [d0, d1, d2] : {{.*}} -> tensor<5x64x31xf16
func.func @pairs_of_five(%x: tensor<2x128x31xf16>, %z: tensor<1x64x31xf16>) -> tensor<5x64x31xf16> {
  %0 = spyre.identity (d0 = 2, d1 = 2, d2 = 64, d3 = 31) ins(%x[d0, d1 * 64 + d2, d3]) -> [d0 * 2 + d1, d2, d3] : tensor<2x128x31xf16> -> tensor<5x64x31xf16>
  %1 = spyre.identity (d0 = 64, d1 = 31) ins(%z[0, d0, d1]) outs(%0[4, d0, d1]) : tensor<1x64x31xf16> -> tensor<5x64x31xf16>
  return %1 : tensor<5x64x31xf16>
}

// -----

// The unit dim in the stick would be one element a stick, but the dim of five places is
// not outermost then either: nor is a repeated value read by twos through a new leading dim.
// CHECK-LABEL: func.func @by_twos_of_five
// CHECK: spyre.mul (d0 = 2, d1 = 33)
func.func @by_twos_of_five(%x: tensor<5x33xf16>, %y: tensor<1x66xf16>) -> tensor<2x33xf16> {
  %0 = spyre.mul (d0 = 2, d1 = 33) ins(%x[d0 * 2 + 2, d1], %y[0, d0 * 33 + d1]) -> [d0, d1] : tensor<5x33xf16>, tensor<1x66xf16> -> tensor<2x33xf16>
  return %0 : tensor<2x33xf16>
}
