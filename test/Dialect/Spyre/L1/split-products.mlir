// RUN: spyre-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spyre-split-products))' | FileCheck %s

// Rows and columns are scaled by powers of two and cut into three pieces each; three contractions,
// each of the remainders less what those before it gave.
// CHECK-LABEL: func @three
// CHECK: spyre.abs
// CHECK: spyre.max {{.*}} -> tensor<32x1xf32>
// CHECK: spyre.reciprocal {{.*}} tensor<32x1xf32>
// CHECK: %[[A0:.*]] = spyre.fp32todl16
// CHECK: %[[A1:.*]] = spyre.fp32todl16
// CHECK: %[[A2:.*]] = spyre.fp32todl16
// CHECK-NOT: fp32todl16
// CHECK: spyre.max {{.*}} -> tensor<1x64xf32>
// CHECK: %[[B0:.*]] = spyre.fp32todl16
// CHECK: %[[B1:.*]] = spyre.fp32todl16
// CHECK: %[[B2:.*]] = spyre.fp32todl16
// CHECK: %[[S0:.*]] = spyre.batchmatmul (d0 = 32, d1 = 64, d2 = 128) ins(%[[A0]][d0, d2], %[[B0]][d2, d1])
// CHECK: %[[B:.*]] = spyre.concat %[[B0]], %[[I:.*]], %[[B1]], %[[B0]], %[[I]], %[[B1]], %[[B2]], %[[B0]] along 0 {{.*}} -> tensor<896x64xf16>
// CHECK: %[[L:.*]] = spyre.concat %[[A0]], %[[S0]], %[[A0]], %[[A1]] along 1
// CHECK: spyre.batchmatmul (d0 = 32, d1 = 64, d2 = 448)
// CHECK: spyre.concat %[[A0]], %[[S0]], %[[A0]], %[[A1]], %{{.*}}, %[[A1]], %[[A0]], %[[A2]] along 1
// CHECK: spyre.batchmatmul (d0 = 32, d1 = 64, d2 = 896) ins({{.*}}, %[[B]]
// CHECK-COUNT-2: spyre.add {{.*}} tensor<32x64xf32>
// CHECK-COUNT-2: spyre.mul {{.*}} tensor<32x64xf32>
func.func @three(%x: tensor<32x128xf32>, %w: tensor<128x64xf32>) -> tensor<32x64xf32> {
  %0 = spyre.batchmatmul (d0 = 32, d1 = 64, d2 = 128) ins(%x[d0, d2], %w[d2, d1]) -> [d0, d1] : tensor<32x128xf32>, tensor<128x64xf32> -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// -----

// A function of 16-bit types needs two.
// CHECK-LABEL: func @two
// CHECK-COUNT-4: spyre.fp32todl16
// CHECK-NOT: spyre.fp32todl16
// CHECK-COUNT-2: spyre.batchmatmul
// CHECK-NOT: spyre.batchmatmul
func.func @two(%x: tensor<96x128xf32>, %w: tensor<80x128xf32>) -> tensor<96x80xf32> attributes {spyre.pieces = 2 : i64} {
  %0 = spyre.batchmatmul (d0 = 96, d1 = 80, d2 = 128) ins(%x[d0, d2], %w[d1, d2]) -> [d0, d1] : tensor<96x128xf32>, tensor<80x128xf32> -> tensor<96x80xf32>
  return %0 : tensor<96x80xf32>
}

// -----

// Many columns are done part by part, parts of one size together, the rest by itself.
// CHECK-LABEL: func @parts
// CHECK: spyre.batchmatmul (d0 = 7, d1 = 16, d2 = 64, d3 = 64)
// CHECK: spyre.batchmatmul (d0 = 16, d1 = 2, d2 = 64)
// CHECK: spyre.concat {{.*}} along 1 : tensor<16x448xf32>, tensor<16x2xf32> -> tensor<16x450xf32>
func.func @parts(%x: tensor<16x64xf32>, %w: tensor<64x450xf32>) -> tensor<16x450xf32> {
  %0 = spyre.batchmatmul (d0 = 16, d1 = 450, d2 = 64) ins(%x[d0, d2], %w[d2, d1]) -> [d0, d1] : tensor<16x64xf32>, tensor<64x450xf32> -> tensor<16x450xf32>
  return %0 : tensor<16x450xf32>
}

// -----

// Few rows, and what is contracted in the sticks of both, seen through a view.
// CHECK-LABEL: func @few
// CHECK-NOT: batchmatmul
// CHECK: spyre.mul (d0 = 64, d1 = 256, d2 = 128)
// CHECK: spyre.sum (d0 = 64, d1 = 256, d2 = 128) {{.*}} -> [d0, d1]
func.func @few(%x: tensor<64x128xf32>, %w: tensor<256x128xf32>) -> tensor<64x256xf32> {
  %v = spyre.view %w[d1, d0] : tensor<256x128xf32> -> tensor<128x256xf32>
  %0 = spyre.batchmatmul (d0 = 64, d1 = 256, d2 = 128) ins(%x[d0, d2], %v[d2, d1]) -> [d0, d1] : tensor<64x128xf32>, tensor<128x256xf32> -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}

// -----

// One row: each number of the matrix is read once.
// CHECK-LABEL: func @row
// CHECK-NOT: batchmatmul
// CHECK: %[[P:.*]] = spyre.mul (d0 = 64, d1 = 128) ins(%arg0[d1], %arg1[d1, d0]) -> [d0, d1]
// CHECK: spyre.sum (d0 = 64, d1 = 128) ins(%[[P]][d0, d1]) -> [d0]
func.func @row(%x: tensor<128xf32>, %w: tensor<128x64xf32>) -> tensor<64xf32> {
  %0 = spyre.batchmatmul (d0 = 64, d1 = 128) ins(%x[d1], %w[d1, d0]) -> [d0] : tensor<128xf32>, tensor<128x64xf32> -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Not of 16-bit factors, and not where coordinates are more than dims.
// CHECK-LABEL: func @others
// CHECK: spyre.batchmatmul {{.*}} -> tensor<32x64xf16>
// CHECK-NEXT: spyre.batchmatmul {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: return
func.func @others(%x: tensor<32x128xf16>, %w: tensor<128x64xf16>, %y: tensor<8x8xf32>, %z: tensor<8x4xf32>) -> (tensor<32x64xf16>, tensor<4x4xf32>) {
  %0 = spyre.batchmatmul (d0 = 32, d1 = 64, d2 = 128) ins(%x[d0, d2], %w[d2, d1]) -> [d0, d1] : tensor<32x128xf16>, tensor<128x64xf16> -> tensor<32x64xf16>
  %1 = spyre.batchmatmul (d0 = 4, d1 = 4, d2 = 8) ins(%y[d0 * 2, d2], %z[d2, d1]) -> [d0, d1] : tensor<8x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  return %0, %1 : tensor<32x64xf16>, tensor<4x4xf32>
}
