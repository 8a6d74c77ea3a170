// Layouts of several values together: what the assigner does by itself, then with the search.
// RUN: spyre-opt %s -split-input-file --spyre-assign-layouts --spyre-verify-layouts | FileCheck %s --check-prefixes=CHECK,ALONE
// RUN: spyre-opt %s -split-input-file --spyre-assign-layouts=search --spyre-verify-layouts | FileCheck %s --check-prefixes=CHECK,SEARCH

// Two of three operands are transposed: the third is turned, and the result stays so.
// CHECK-LABEL: func.func @two_of_three
// ALONE-COUNT-2: spyre.restickify
// SEARCH: spyre.restickify {{.*}} ins(%arg1
// SEARCH-NOT: spyre.restickify
// SEARCH: return {{.*}} order [1, 0]
func.func @two_of_three(%a: tensor<256x128xf16>, %x: tensor<128x256xf16>, %b: tensor<256x128xf16>) -> (tensor<128x256xf16> {spyre.on_host}) {
  %0 = spyre.add (d0 = 128, d1 = 256) ins(%a[d1, d0], %x[d0, d1]) -> [d0, d1] : tensor<256x128xf16>, tensor<128x256xf16> -> tensor<128x256xf16>
  %1 = spyre.add (d0 = 128, d1 = 256) ins(%0[d0, d1], %b[d1, d0]) -> [d0, d1] : tensor<128x256xf16>, tensor<256x128xf16> -> tensor<128x256xf16>
  return %1 : tensor<128x256xf16>
}

// -----

// Somebody else reads the result: turning it would take as much as what is saved.
// CHECK-LABEL: func.func @read_by_another_bundle
// CHECK-COUNT-2: spyre.restickify
// CHECK: return {{.*}} order [0, 1]
func.func @read_by_another_bundle(%a: tensor<128x128xf16>, %x: tensor<128x128xf16>, %b: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %0 = spyre.add (d0 = 128, d1 = 128) ins(%a[d1, d0], %x[d0, d1]) -> [d0, d1] : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf16>
  %1 = spyre.add (d0 = 128, d1 = 128) ins(%0[d0, d1], %b[d1, d0]) -> [d0, d1] : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x128xf16>
  return %1 : tensor<128x128xf16>
}

// -----

// Transposed factors the other way round are as the product wants them.
// CHECK-LABEL: func.func @exchanged
// ALONE-COUNT-2: spyre.restickify
// SEARCH-NOT: spyre.restickify
// SEARCH: spyre.batchmatmul {{.*}} ins(%arg1[d1, d2], %arg0[d2, d0]) -> [d0, d1]
func.func @exchanged(%x: tensor<64x128xf16>, %y: tensor<128x64xf16>) -> (tensor<128x128xf16> {spyre.on_host}) {
  %0 = spyre.batchmatmul (d0 = 128, d1 = 128, d2 = 64) ins(%x[d2, d0], %y[d1, d2]) -> [d0, d1] : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<128x128xf16>
  return %0 : tensor<128x128xf16>
}

// -----

// Nothing is exchanged where nothing is copied.
// CHECK-LABEL: func.func @fits
// CHECK-NEXT: spyre.batchmatmul {{.*}} ins(%arg0[d0, d2], %arg1[d2, d1])
func.func @fits(%x: tensor<128x64xf16>, %y: tensor<64x128xf16>) -> (tensor<128x128xf16> {spyre.on_host}) {
  %0 = spyre.batchmatmul (d0 = 128, d1 = 128, d2 = 64) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf16>
  return %0 : tensor<128x128xf16>
}

// -----

// The sum is written in front of the zeros that turning it needs.
// CHECK-LABEL: func.func @writes_in_front_of_zeros
// ALONE: spyre.add {{.*}} -> tensor<24x128xf16,
// ALONE: spyre.identity
// SEARCH: %[[ZEROS:.*]] = spyre.identity (d0 = 40, d1 = 128)
// SEARCH-NEXT: %[[SUM:.*]] = spyre.add {{.*}} outs(%[[ZEROS]][d0, d1])
// SEARCH-NEXT: spyre.restickify {{.*}} ins(%[[SUM]]
func.func @writes_in_front_of_zeros(%x: tensor<24x128xf16>, %y: tensor<24x128xf16>, %z: tensor<32x128xf16>) -> tensor<32x24xf16> {
  %0 = spyre.add (d0 = 24, d1 = 128) ins(%x[d0, d1], %y[d0, d1]) -> [d0, d1] : tensor<24x128xf16>, tensor<24x128xf16> -> tensor<24x128xf16>
  %1 = spyre.batchmatmul (d0 = 32, d1 = 24, d2 = 128) ins(%z[d0, d2], %0[d1, d2]) -> [d0, d1] : tensor<32x128xf16>, tensor<24x128xf16> -> tensor<32x24xf16>
  return %1 : tensor<32x24xf16>
}

// -----

// Whoever copies a weight in can put one element into each stick.
// CHECK-LABEL: func.func @sparse_weight
// SEARCH-SAME: %arg1: tensor<128xf16, #spyre.layout<[1, 128, 64], order [0, -1],
// SEARCH-NEXT: spyre.add
// ALONE-COUNT-2: spyre.restickify
func.func @sparse_weight(%x: tensor<128x64xf16>, %bias: tensor<128xf16> {spyre.weight}) -> tensor<128x64xf16> {
  %0 = spyre.add (d0 = 128, d1 = 64) ins(%x[d0, d1], %bias[d0]) -> [d0, d1] : tensor<128x64xf16>, tensor<128xf16> -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

// -----

// A cast of less than the sticks of the wider side is one between longer tensors: the operations
// beside it write and read those.
// CHECK-LABEL: func.func @grows
// ALONE: spyre.identity {{.*}} -> tensor<4x64xf16,
// SEARCH-NEXT: spyre.add {{.*}} -> tensor<4x64xf16,
// SEARCH-NEXT: spyre.dl16tofp32 (d0 = 4, d1 = 64) {{.*}} -> tensor<4x64xf32,
// SEARCH-NEXT: spyre.mul (d0 = 4, d1 = 32)
func.func @grows(%x: tensor<4x32xf16>, %y: tensor<4x32xf16>) -> tensor<4x32xf32> {
  %0 = spyre.add (d0 = 4, d1 = 32) ins(%x[d0, d1], %y[d0, d1]) -> [d0, d1] : tensor<4x32xf16>, tensor<4x32xf16> -> tensor<4x32xf16>
  %1 = spyre.dl16tofp32 (d0 = 4, d1 = 32) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x32xf16> -> tensor<4x32xf32>
  %2 = spyre.mul (d0 = 4, d1 = 32) ins(%1[d0, d1], %1[d0, d1]) -> [d0, d1] : tensor<4x32xf32>, tensor<4x32xf32> -> tensor<4x32xf32>
  return %2 : tensor<4x32xf32>
}

// -----

// An argument is as long as the caller's.
// CHECK-LABEL: func.func @does_not_grow
// CHECK: spyre.identity {{.*}} -> tensor<4x64xf16,
func.func @does_not_grow(%x: tensor<4x32xf16>) -> tensor<4x32xf32> {
  %0 = spyre.dl16tofp32 (d0 = 4, d1 = 32) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x32xf16> -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// -----

// The vector is turned, not the matrix.
// CHECK-LABEL: func.func @matrix_and_vector
// ALONE: spyre.restickify {{.*}} ins(%arg1
// SEARCH-NOT: ins(%arg1[d0, d1])
// SEARCH: spyre.batchmatmul {{.*}} ins(%arg1[d0, d1], %
func.func @matrix_and_vector(%x: tensor<512xf16>, %w: tensor<1024x512xf16>) -> (tensor<1024xf16> {spyre.on_host}) {
  %0 = spyre.batchmatmul (d0 = 1024, d1 = 512) ins(%x[d1], %w[d0, d1]) -> [d0] : tensor<512xf16>, tensor<1024x512xf16> -> tensor<1024xf16>
  return %0 : tensor<1024xf16>
}

// -----

// Two layers of a network whose weights lie by outputs, as PyTorch's do: the input is turned once, and both products
// take weights as they lie. One of the two by itself would turn what lies between them.
// CHECK-LABEL: func.func @chain
// ALONE-COUNT-2: spyre.restickify
// SEARCH: %[[X:.*]] = spyre.restickify {{.*}} ins(%arg0
// SEARCH-NOT: spyre.restickify
// SEARCH: spyre.batchmatmul {{.*}} ins(%arg1[d1, d2], %[[X]][d0, d2]) -> [d0, d1]
// SEARCH-NOT: spyre.restickify
// SEARCH: spyre.batchmatmul {{.*}} ins(%arg2[d1, d2], %{{.*}}[d0, d2]) -> [d0, d1]
// SEARCH: return {{.*}} order [1, 0]
func.func @chain(%x: tensor<512x256xf16>, %v: tensor<1024x256xf16>, %w: tensor<256x1024xf16>) -> (tensor<512x256xf16> {spyre.on_host}) {
  %0 = spyre.batchmatmul (d0 = 512, d1 = 1024, d2 = 256) ins(%x[d0, d2], %v[d1, d2]) -> [d0, d1] : tensor<512x256xf16>, tensor<1024x256xf16> -> tensor<512x1024xf16>
  %1 = spyre.relufwd (d0 = 512, d1 = 1024) ins(%0[d0, d1]) -> [d0, d1] : tensor<512x1024xf16> -> tensor<512x1024xf16>
  %2 = spyre.batchmatmul (d0 = 512, d1 = 256, d2 = 1024) ins(%1[d0, d2], %w[d1, d2]) -> [d0, d1] : tensor<512x1024xf16>, tensor<256x1024xf16> -> tensor<512x256xf16>
  return %2 : tensor<512x256xf16>
}
