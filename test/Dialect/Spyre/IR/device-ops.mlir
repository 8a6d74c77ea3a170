// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --verify-roundtrip > /dev/null

!x = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, lx>
!v = !spyre.buffer<256xf16, #spyre.layout<[4, 64], order [0], SEN169_FP16>, hbm>
!s = !spyre.buffer<f16, #spyre.layout<[1, 64], order [], SEN169_FP16>, hbm>

// CHECK-LABEL: func.func @l3
// CHECK-SAME: {spyre.address = 0 : i64}
func.func @l3(%x: !x {spyre.address = 0 : i64}, %v: !v, %eps: !s, %o: !x) {
  // CHECK: spyre.alloc lx(2048) holding<cores 32, slices[32, 1], (d0) -> (d0, 0)> :
  %t = spyre.alloc lx(2048) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
  // CHECK: spyre.alloc : !spyre.buffer
  %u = spyre.alloc : !x
  // CHECK: spyre.mul (d0 = 128 / 32, d1 = 256) ins(%{{.*}}[d0, d1], %{{.*}}[d1]) outs(%{{.*}}[d0, d1]) :
  spyre.mul (d0 = 128 / 32, d1 = 256) ins(%x[d0, d1], %v[d1]) outs(%t[d0, d1]) : !x, !v -> !l
  // CHECK: spyre.add (d0 = 128, d1 = 256) ins(%{{.*}}[d0, d1], %{{.*}}[]) outs
  spyre.add (d0 = 128, d1 = 256) ins(%t[d0, d1], %eps[]) outs(%u[d0, d1]) : !l, !s -> !x
  // CHECK: spyre.clip {{.*}} constants {clipMax = 2.000000e+00 : f64, clipMin = -1.000000e+00 : f64}
  spyre.clip (d0 = 128, d1 = 256) ins(%u[d0, d1]) outs(%o[d0, d1])
    constants {clipMin = -1.0 : f64, clipMax = 2.0 : f64} : !x -> !x
  return
}

// CHECK-LABEL: func.func @loops
func.func @loops(%x: !x, %o: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    // CHECK: spyre.exp (d0 = 32 / 8, d1 = 256) loops(%{{.*}}) ins(%{{.*}}[d0 + s0 * 32, d1]) outs(%{{.*}}[d0 + s0 * 32, d1])
    spyre.exp (d0 = 32 / 8, d1 = 256) loops(%i) ins(%x[d0 + s0 * 32, d1]) outs(%o[d0 + s0 * 32, d1]) : !x -> !x
  }
  return
}

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<32x64xf16>, %y: tensor<64x96xf16>) -> tensor<32x1xf16> {
  // CHECK: spyre.batchmatmul (d0 = 32, d1 = 96, d2 = 64) k_fast ins(%{{.*}}[d0, d2], %{{.*}}[d2, d1]) -> [d0, d1] :
  %0 = spyre.batchmatmul (d0 = 32, d1 = 96, d2 = 64) k_fast ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1]
    : tensor<32x64xf16>, tensor<64x96xf16> -> tensor<32x96xf16>
  // CHECK: spyre.sum (d0 = 32, d1 = 96) ins(%{{.*}}[d0, d1]) -> [d0, 0]
  %1 = spyre.sum (d0 = 32, d1 = 96) ins(%0[d0, d1]) -> [d0, 0] : tensor<32x96xf16> -> tensor<32x1xf16>
  return %1 : tensor<32x1xf16>
}

// An update of part of a tensor.
// CHECK-LABEL: func.func @update
func.func @update(%x: tensor<32x64xf16>, %y: tensor<96x64xf16>) -> tensor<96x64xf16> {
  // CHECK: spyre.identity (d0 = 32, d1 = 64) ins(%{{.*}}[d0, d1]) outs(%{{.*}}[d0 + 64, d1]) :
  %0 = spyre.identity (d0 = 32, d1 = 64) ins(%x[d0, d1]) outs(%y[d0 + 64, d1])
    : tensor<32x64xf16> -> tensor<96x64xf16>
  return %0 : tensor<96x64xf16>
}

// A single number in LX.
// CHECK-LABEL: func @number_in_lx
// CHECK: spyre.alloc lx(0) holding<cores 1, slices[], (d0) -> ()>
func.func @number_in_lx() {
  %b = spyre.alloc lx(0) holding<cores 1, slices [], (c) -> ()> : !spyre.buffer<f32, #spyre.layout<[1, 32], order [], IEEE_FP32>, lx>
  return
}

// One work slice by hand is not the same as none.
// CHECK-LABEL: func.func @one_slice
func.func @one_slice(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK: spyre.exp (d0 = 4 / 1, d1 = 8) ins
  %0 = spyre.exp (d0 = 4 / 1, d1 = 8) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  // CHECK: spyre.exp (d0 = 4, d1 = 8) ins
  %1 = spyre.exp (d0 = 4, d1 = 8) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x8xf16> -> tensor<4x8xf16>
  return %1 : tensor<4x8xf16>
}
