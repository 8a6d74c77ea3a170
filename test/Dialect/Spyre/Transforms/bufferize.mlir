// What spyre-bufferize makes of arguments, results, constants, updates and reinterpreted tensors, and what it refuses.
// RUN: spyre-opt %s --spyre-bufferize -split-input-file -verify-diagnostics | FileCheck %s

!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!n = tensor<f16, #spyre.layout<[1, 64], order [], SEN169_FP16>>
// A number fills a stick at launch, as exactly as the program wrote it; an array is copied in like an argument. Both stand
// behind the results.
// CHECK-LABEL: func.func @constants
// CHECK-SAME: %arg0: !spyre.buffer<64x128xf16, {{.*}}, hbm> {spyre.array = "in0", spyre.role = "input", spyre.tail = "zero"}
// CHECK-SAME: %arg1: {{.*}} {spyre.array = "out0", spyre.overflow = "infinite", spyre.role = "output"}
// CHECK-SAME: %arg2: !spyre.buffer<f16, {{.*}}> {spyre.role = "constant", spyre.value = 1.000000e-10 : f64}
// CHECK-SAME: %arg3: !spyre.buffer<64xf16, {{.*}}> {spyre.array = "const0", {{.*}}spyre.role = "input"
// CHECK: %[[A:.*]] = spyre.alloc :
// CHECK: spyre.add {{.*}} ins(%arg0[d0, d1], %arg2[]) outs(%[[A]][d0, d1])
// CHECK: spyre.mul {{.*}} ins(%[[A]][d0, d1], %arg3[d0]) outs(%arg1[d0, d1])
// CHECK-NEXT: return{{$}}
func.func @constants(%x: !h) -> !h {
  %c = spyre.constant dense<1.0e-10> : tensor<f16> {spyre.value = 1.0e-10 : f64} : !n
  %v = spyre.constant dense<2.0> : tensor<64xf16> : tensor<64xf16, #spyre.layout<[1, 64, 64], order [0, -1], SEN169_FP16>>
  %0 = spyre.add (d0 = 64, d1 = 128) ins(%x[d0, d1], %c[]) -> [d0, d1] : !h, !n -> !h
  %1 = spyre.mul (d0 = 64, d1 = 128) ins(%0[d0, d1], %v[d0]) -> [d0, d1] : !h, tensor<64xf16, #spyre.layout<[1, 64, 64], order [0, -1], SEN169_FP16>> -> !h
  return %1 : !h
}

// -----

!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!o = tensor<128x128xf16, #spyre.layout<[2, 128, 64], order [0, 1], SEN169_FP16>>
// A chain of updates is one buffer: the output where it is returned, else an allocation.
// CHECK-LABEL: func.func @updates
// CHECK: spyre.exp {{.*}} outs(%arg1[d0, d1])
// CHECK: spyre.abs {{.*}} outs(%arg1[d0 + 64, d1])
// CHECK: %[[T:.*]] = spyre.alloc :
// CHECK: spyre.neg {{.*}} outs(%[[T]][d0, d1])
// CHECK-NOT: spyre.alloc
// CHECK: spyre.exp {{.*}} outs(%[[T]][d0 + 64, d1])
// CHECK: spyre.neg {{.*}} ins(%[[T]][d0, d1]) outs(%arg2[d0, d1])
func.func @updates(%x: !h) -> (!o, !o) {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !h -> !o
  %1 = spyre.abs (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%0[d0 + 64, d1]) : !h -> !o
  %2 = spyre.neg (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !h -> !o
  %3 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%2[d0 + 64, d1]) : !h -> !o
  %4 = spyre.neg (d0 = 128, d1 = 128) ins(%3[d0, d1]) -> [d0, d1] : !o -> !o
  return %1, %4 : !o, !o
}

// -----

!f = tensor<64x64xf32, #spyre.layout<[2, 64, 32], order [0, 1], IEEE_FP32>>
!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
// The same memory as elements of another width; work slices and what the caller said of an argument survive.
// CHECK-LABEL: func.func @reinterpreted(%arg0: {{.*}} {spyre.array = "weights", spyre.role = "input", spyre.tail = "zero"}
// CHECK: %[[A:.*]] = spyre.alloc : !spyre.buffer<64x64xf32
// CHECK: spyre.neg (d0 = 64 / 8, d1 = 64) ins(%arg0[d0, d1]) outs(%[[A]][d0, d1])
// CHECK: %[[B:.*]] = spyre.reinterpret %[[A]] : !spyre.buffer<64x64xf32, {{.*}}> to !spyre.buffer<64x128xf16
// CHECK: spyre.identity {{.*}} ins(%[[B]][d0, d1]) outs(%arg1[d0, d1])
func.func @reinterpreted(%x: !f {spyre.array = "weights"}) -> !h {
  %0 = spyre.neg (d0 = 64 / 8, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : !f -> !f
  %1 = spyre.reinterpret %0 : !f to !h
  %2 = spyre.identity (d0 = 64, d1 = 128) ins(%1[d0, d1]) -> [d0, d1] : !h -> !h
  return %2 : !h
}

// -----

!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
// What is updated must be nobody else's.
func.func @read_elsewhere(%x: !h, %y: !h) -> (!h, !h) {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !h -> !h
  // expected-note @+1 {{also read here}}
  %1 = spyre.neg (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] : !h -> !h
  // expected-error @+1 {{updates a tensor that others read; copy it first}}
  %2 = spyre.abs (d0 = 32, d1 = 128) ins(%x[d0, d1]) outs(%0[d0, d1]) : !h -> !h
  // expected-error @+1 {{updates an argument of the function; copy it first}}
  %3 = spyre.abs (d0 = 32, d1 = 128) ins(%1[d0, d1]) outs(%y[d0, d1]) : !h -> !h
  return %2, %3 : !h, !h
}

// -----

// expected-error @+1 {{argument #0 has no layout; run 'spyre-assign-layouts' first}}
func.func @no_layout(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{has a result without a layout; run 'spyre-assign-layouts' first}}
  %0 = spyre.exp (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}

// -----

!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
func.func @composite(%x: !h) -> !h {
  // expected-error @+1 {{is no device operation; lower it before bufferizing}}
  %0 = spyre.softmax %x along 1 : !h -> !h
  return %0 : !h
}
