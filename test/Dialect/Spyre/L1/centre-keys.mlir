// RUN: spyre-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spyre-centre-keys))' | FileCheck %s

// The mean is taken of the 16-bit keys, before they are scaled and transposed.
// CHECK-LABEL: func @softmax
// CHECK: %[[M:.*]] = spyre.mean {{.*}} ins(%arg1[d0, d1, d2]) -> [d0, 0, d2] {{.*}} -> tensor<2x1x64xf16>
// CHECK: %[[C:.*]] = spyre.sub {{.*}} ins(%arg1[d0, d1, d2], %[[M]][d0, 0, d2])
// CHECK: %[[W:.*]] = spyre.convert %[[C]]
// CHECK: %[[S:.*]] = spyre.mul {{.*}} ins(%[[W]]
// CHECK: %[[T:.*]] = spyre.view %[[S]]
// CHECK: spyre.matmul %{{.*}}, %[[T]]
func.func @softmax(%q: tensor<2x5x64xf16>, %k: tensor<2x70x64xf16>) -> tensor<2x5x70xf32> {
  %s = spyre.constant dense<0.5> : tensor<f32> : tensor<f32>
  %q32 = spyre.convert %q : tensor<2x5x64xf16> to tensor<2x5x64xf32>
  %k32 = spyre.convert %k : tensor<2x70x64xf16> to tensor<2x70x64xf32>
  %0 = spyre.mul (d0 = 2, d1 = 70, d2 = 64) ins(%k32[d0, d1, d2], %s[]) -> [d0, d1, d2] : tensor<2x70x64xf32>, tensor<f32> -> tensor<2x70x64xf32>
  %kt = spyre.view %0[d0, d2, d1] : tensor<2x70x64xf32> -> tensor<2x64x70xf32>
  %1 = spyre.matmul %q32, %kt : tensor<2x5x64xf32>, tensor<2x64x70xf32> -> tensor<2x5x70xf32>
  %2 = spyre.softmax %1 along 2 : tensor<2x5x70xf32> -> tensor<2x5x70xf32>
  return %2 : tensor<2x5x70xf32>
}

// -----

// A mask is added, and rows that are -inf altogether are looked for.
// CHECK-LABEL: func @masked
// CHECK: spyre.mean
// CHECK: spyre.sub
func.func @masked(%q: tensor<5x64xf16>, %k: tensor<64x70xf16>, %m: tensor<5x70xf32>) -> (tensor<5x70xf32>, tensor<5x70xi1>) {
  %i = spyre.constant dense<0xFF800000> : tensor<f32> : tensor<f32>
  %q32 = spyre.convert %q : tensor<5x64xf16> to tensor<5x64xf32>
  %k32 = spyre.convert %k : tensor<64x70xf16> to tensor<64x70xf32>
  %1 = spyre.matmul %q32, %k32 : tensor<5x64xf32>, tensor<64x70xf32> -> tensor<5x70xf32>
  %2 = spyre.add (d0 = 5, d1 = 70) ins(%1[d0, d1], %m[d0, d1]) -> [d0, d1] : tensor<5x70xf32>, tensor<5x70xf32> -> tensor<5x70xf32>
  %3 = spyre.softmax %2 along 1 : tensor<5x70xf32> -> tensor<5x70xf32>
  %4 = spyre.equal (d0 = 5, d1 = 70) ins(%2[d0, d1], %i[]) -> [d0, d1] : tensor<5x70xf32>, tensor<f32> -> tensor<5x70xi1>
  return %3, %4 : tensor<5x70xf32>, tensor<5x70xi1>
}

// -----

// The scores are a result, too.
// CHECK-LABEL: func @negative_seen
// CHECK-NOT: spyre.sub
func.func @negative_seen(%q: tensor<5x64xf16>, %k: tensor<64x70xf16>) -> (tensor<5x70xf32>, tensor<5x70xf32>) {
  %q32 = spyre.convert %q : tensor<5x64xf16> to tensor<5x64xf32>
  %k32 = spyre.convert %k : tensor<64x70xf16> to tensor<64x70xf32>
  %1 = spyre.matmul %q32, %k32 : tensor<5x64xf32>, tensor<64x70xf32> -> tensor<5x70xf32>
  %2 = spyre.softmax %1 along 1 : tensor<5x70xf32> -> tensor<5x70xf32>
  return %1, %2 : tensor<5x70xf32>, tensor<5x70xf32>
}

// -----

// The softmax runs over the queries.
// CHECK-LABEL: func @negative_other_dim
// CHECK-NOT: spyre.sub
func.func @negative_other_dim(%q: tensor<5x64xf16>, %k: tensor<64x70xf16>) -> tensor<5x70xf32> {
  %q32 = spyre.convert %q : tensor<5x64xf16> to tensor<5x64xf32>
  %k32 = spyre.convert %k : tensor<64x70xf16> to tensor<64x70xf32>
  %1 = spyre.matmul %q32, %k32 : tensor<5x64xf32>, tensor<64x70xf32> -> tensor<5x70xf32>
  %2 = spyre.softmax %1 along 0 : tensor<5x70xf32> -> tensor<5x70xf32>
  return %2 : tensor<5x70xf32>
}

// -----

// The program itself has its scores at 16 bits.
// CHECK-LABEL: func @negative_half
// CHECK-NOT: spyre.sub
func.func @negative_half(%q: tensor<5x64xf16>, %k: tensor<64x70xf16>) -> tensor<5x70xf16> {
  %1 = spyre.matmul %q, %k : tensor<5x64xf16>, tensor<64x70xf16> -> tensor<5x70xf16>
  %2 = spyre.softmax %1 along 1 : tensor<5x70xf16> -> tensor<5x70xf16>
  return %2 : tensor<5x70xf16>
}

// -----

// A cap on the scores is no sum.
// CHECK-LABEL: func @negative_capped
// CHECK-NOT: spyre.sub
func.func @negative_capped(%q: tensor<5x64xf16>, %k: tensor<64x70xf16>) -> tensor<5x70xf32> {
  %q32 = spyre.convert %q : tensor<5x64xf16> to tensor<5x64xf32>
  %k32 = spyre.convert %k : tensor<64x70xf16> to tensor<64x70xf32>
  %1 = spyre.matmul %q32, %k32 : tensor<5x64xf32>, tensor<64x70xf32> -> tensor<5x70xf32>
  %c = spyre.tanh (d0 = 5, d1 = 70) ins(%1[d0, d1]) -> [d0, d1] : tensor<5x70xf32> -> tensor<5x70xf32>
  %2 = spyre.softmax %c along 1 : tensor<5x70xf32> -> tensor<5x70xf32>
  return %2 : tensor<5x70xf32>
}
