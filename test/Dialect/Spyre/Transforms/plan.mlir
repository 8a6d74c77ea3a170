// RUN: spyre-opt %s --spyre-assign-layouts --spyre-divide-work --spyre-bufferize --spyre-place-buffers | FileCheck %s
// RUN: spyre-opt %s --spyre-assign-layouts --spyre-divide-work=cores=1 --spyre-bufferize --spyre-place-buffers=lx=false | FileCheck %s --check-prefix=O0
// RUN: spyre-opt %s --spyre-assign-layouts --spyre-divide-work --spyre-bufferize --spyre-place-buffers=capacity=128 | FileCheck %s --check-prefix=FULL

// One output argument after the inputs, constants at the end; rows over the cores;
// the second result takes the first one's memory in LX.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: {spyre.array = "in0", spyre.role = "input", spyre.tail = "zero"}
// CHECK-SAME: {spyre.array = "out0", spyre.overflow = "infinite", spyre.role = "output"}
// CHECK-SAME: {spyre.role = "constant", spyre.value = 5.000000e-01 : f64}
// CHECK: %[[A:.*]] = spyre.alloc lx(0) holding<cores 32, slices[32, 1], (d0) -> (d0 mod 32, 0)>
// CHECK-NEXT: spyre.mul (d0 = 64 / 32, d1 = 128) ins(%arg0[d0, d1], %arg2[]) outs(%[[A]][d0, d1])
// CHECK: %[[B:.*]] = spyre.alloc lx(0) holding
// CHECK-NEXT: spyre.exp {{.*}} ins(%[[A]][d0, d1]) outs(%[[B]][d0, d1])
// CHECK: spyre.neg {{.*}} ins(%[[B]][d0, d1]) outs(%arg1[d0, d1])
// O0-LABEL: func.func @chain
// O0: spyre.alloc pool(0)
// O0: spyre.mul (d0 = 64, d1 = 128)
// O0: spyre.alloc pool(16384)
// FULL-LABEL: func.func @chain
// FULL-NOT: lx(
func.func @chain(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %c = spyre.constant dense<0.5> : tensor<f16> : tensor<f16>
  %0 = spyre.mul (d0 = 64, d1 = 128) ins(%x[d0, d1], %c[]) -> [d0, d1] : tensor<64x128xf16>, tensor<f16> -> tensor<64x128xf16>
  %1 = spyre.exp (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  %2 = spyre.neg (d0 = 64, d1 = 128) ins(%1[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  return %2 : tensor<64x128xf16>
}

// An argument returned, and a value returned twice, are copied.
// CHECK-LABEL: func.func @returns
// CHECK: spyre.neg {{.*}} outs(%arg1[d0, d1])
// CHECK: spyre.identity {{.*}} ins(%arg1[d0, d1]) outs(%arg2[d0, d1])
// CHECK: spyre.identity {{.*}} ins(%arg0[d0, d1]) outs(%arg3[d0, d1])
func.func @returns(%x: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>) {
  %0 = spyre.neg (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  return %0, %0, %x : tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>
}

// Two readers that divide one value in different ways: no core could hold what it reads. It
// stays in device memory.
// CHECK-LABEL: func.func @two_divisions
// CHECK: %[[A:.*]] = spyre.alloc pool(
// CHECK-NEXT: spyre.mul (d0 = 32 / 32, d1 = 2048) {{.*}} outs(%[[A]][d0, d1])
// CHECK: spyre.exp (d0 = 32, d1 = 2048 / 32) ins(%[[A]][d0, d1])
// CHECK: spyre.neg (d0 = 32 / 32, d1 = 2048) ins(%[[A]][d0, d1])
func.func @two_divisions(%x: tensor<32x2048xf16>) -> (tensor<32x2048xf16>, tensor<32x2048xf16>) {
  %0 = spyre.mul (d0 = 32 / 32, d1 = 2048) ins(%x[d0, d1], %x[d0, d1]) -> [d0, d1] : tensor<32x2048xf16>, tensor<32x2048xf16> -> tensor<32x2048xf16>
  %1 = spyre.exp (d0 = 32, d1 = 2048 / 32) ins(%0[d0, d1]) -> [d0, d1] : tensor<32x2048xf16> -> tensor<32x2048xf16>
  %2 = spyre.neg (d0 = 32 / 32, d1 = 2048) ins(%0[d0, d1]) -> [d0, d1] : tensor<32x2048xf16> -> tensor<32x2048xf16>
  return %1, %2 : tensor<32x2048xf16>, tensor<32x2048xf16>
}
