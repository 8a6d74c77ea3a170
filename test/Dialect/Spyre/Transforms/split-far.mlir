// What all cores together do not reach is done in parts: tiles of whole sticks in loops, and what is left of them.
// RUN: spyre-opt %s --spyre-split-far -split-input-file -verify-diagnostics | FileCheck %s

!a = !spyre.buffer<768x768xf16, #spyre.layout<[12, 768, 64], order [0, 1], SEN169_FP16>, hbm>
!b = !spyre.buffer<768x768xf16, #spyre.layout<[12, 768, 64], order [1, 0], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// Both sides of what is turned are far: a loop along each. A core reaches 256 KiB, two sticks of either.
// CHECK-LABEL: func.func @turned
// CHECK: scf.for %[[ROWS:.*]] = %c0 to %c3 step
// CHECK: scf.for %[[COLUMNS:.*]] = %c0 to %c3{{.*}} step
// CHECK: spyre.restickify (d0 = 256 / 2, d1 = 256 / 2) loops(%[[ROWS]], %[[COLUMNS]]) ins(%arg0[d0 + s0 * 256, d1 + s1 * 256]) outs(%arg1[d0 + s0 * 256, d1 + s1 * 256])
func.func @turned(%x: !a, %o: !b) {
  spyre.restickify (d0 = 768, d1 = 768) ins(%x[d0, d1]) outs(%o[d0, d1]) : !a -> !b
  return
}
}

// -----

!a = !spyre.buffer<1024x1000xf16, #spyre.layout<[16, 1024, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// The last 40 columns do not fill a stick: whole sticks in a loop, then these.
// CHECK-LABEL: func.func @ragged
// CHECK: scf.for
// CHECK-NEXT: spyre.exp (d0 = 1024, d1 = 192 / 3) loops({{.*}}) ins(%arg0[d0, d1 + s0 * 192]) outs(%arg1[d0, d1 + s0 * 192])
// CHECK: spyre.exp (d0 = 1024, d1 = 40) ins(%arg0[d0, d1 + 960]) outs(%arg1[d0, d1 + 960])
func.func @ragged(%x: !a, %o: !a) {
  spyre.exp (d0 = 1024, d1 = 1000) ins(%x[d0, d1]) outs(%o[d0, d1]) : !a -> !a
  return
}
}

// -----

!a = !spyre.buffer<64x4160xf16, #spyre.layout<[65, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!b = !spyre.buffer<4160x64xf16, #spyre.layout<[1, 4160, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// Of the contracted dim a core reaches 32 sticks of 65: products of parts are added up in f32.
// CHECK-LABEL: func.func @contracted
// CHECK-SAME: %[[ZERO:arg3]]: {{[^%]*}}spyre.value = 0.0
// CHECK: %[[SUM:.*]] = spyre.alloc : !spyre.buffer<1x64x64xf32
// CHECK: spyre.identity {{.*}} ins(%[[ZERO]][]) outs(%[[SUM]][d0, d1, d2])
// CHECK: scf.for %[[K:.*]] = %c0 to %c2 step
// CHECK: spyre.batchmatmul (d0 = 64{{.*}}, d1 = 64, d2 = 2048{{.*}}) loops(%[[K]]) ins(%arg0[d0, d2 + s0 * 2048], %arg1[d2 + s0 * 2048, d1]) outs(%[[PART:.*]][0, d0, d1])
// CHECK: spyre.dl16tofp32 {{.*}} ins(%[[PART]][d0, d1, d2]) outs(%[[WIDE:.*]][d0, d1, d2])
// CHECK-NEXT: spyre.add {{.*}} ins(%[[SUM]][d0, d1, d2], %[[WIDE]][d0, d1, d2]) outs(%[[SUM]][d0, d1, d2])
// CHECK: spyre.batchmatmul (d0 = 64{{.*}}, d1 = 64, d2 = 64) ins(%arg0[d0, d2 + 4096], %arg1[d2 + 4096, d1])
// CHECK: spyre.fp32todl16 {{.*}} ins(%[[SUM]][0, d0, d1]) outs(%arg2[d0, d1])
func.func @contracted(%a: !a, %b: !b, %out: !o) {
  spyre.batchmatmul (d0 = 64, d1 = 64, d2 = 4160) ins(%a[d0, d2], %b[d2, d1]) outs(%out[d0, d1]) : !a, !b -> !o
  return
}
}

// -----

!a = !spyre.buffer<8192x64xf16, #spyre.layout<[1, 8192, 64], order [0, 1], SEN169_FP16>, hbm>
!w = !spyre.buffer<8192x64xf32, #spyre.layout<[2, 8192, 32], order [0, 1], IEEE_FP32>, hbm>
module attributes {spyre.device = "mock4"} {
// Two f32 sticks of one row lie 1 MiB apart: they are made beside each other, and copied.
// CHECK-LABEL: func.func @pairs
// CHECK: %[[COPY:.*]] = spyre.alloc : !spyre.buffer<1x8192x64xf32, #spyre.layout<[8192, 2, 1, 32], order [0, 1, 2], IEEE_FP32>, hbm>
// CHECK: spyre.dl16tofp32 {{.*}} ins(%arg0[{{.*}}]) outs(%[[COPY]][0,
// CHECK: spyre.identity {{.*}} ins(%[[COPY]][0, {{.*}}]) outs(%arg1[
func.func @pairs(%x: !a, %o: !w) {
  spyre.dl16tofp32 (d0 = 8192, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : !a -> !w
  return
}
}

// -----

!a = !spyre.buffer<1024x1024xf16, #spyre.layout<[16, 1024, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// Within reach of four cores: it is left for the division.
// CHECK-LABEL: func.func @near
// CHECK-NEXT: spyre.exp (d0 = 1024, d1 = 512)
func.func @near(%x: !a, %o: !a) {
  spyre.exp (d0 = 1024, d1 = 512) ins(%x[d0, d1]) outs(%o[d0, d1]) : !a -> !a
  return
}
}

// -----

!a = !spyre.buffer<4096x1024xf16, #spyre.layout<[16, 4096, 64], order [0, 1], SEN169_FP16>, hbm>
module attributes {spyre.device = "mock4"} {
// A part would read rows that another one has overwritten.
func.func @shifted(%x: !a) {
  // expected-error@+1 {{'spyre.exp' op is not supported at this size: no legal work division}}
  spyre.exp (d0 = 4095, d1 = 1024) ins(%x[d0 + 1, d1]) outs(%x[d0, d1]) : !a -> !a
  return
}
}
