// Why spyre-place-buffers leaves a buffer in device memory: each reason that can come up, and none where a buffer stays in LX.
// RUN: spyre-opt %s --spyre-place-buffers -split-input-file -verify-diagnostics --remarks-filter=spyre-place-buffers --remark-format=emitRemark | FileCheck %s

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// Written once, whole, and read as it was written: no remark.
// CHECK-LABEL: func.func @negative
// CHECK: spyre.alloc lx(0) holding<cores 8, slices[8, 1]
func.func @negative(%x: !h, %o: !h) {
  %a = spyre.alloc : !h
  spyre.exp (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64 / 8, d1 = 128) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// Rows that two operations write stay where cores share the columns; not where cores share the rows.
// CHECK-LABEL: func.func @two_writers
// CHECK: spyre.alloc lx(0) holding<cores 2, slices[1, 2]
// CHECK: spyre.alloc pool(0)
func.func @two_writers(%x: !h, %o: !h, %p: !h) {
  %a = spyre.alloc : !h
  // expected-remark @below {{only a part of it is written}}
  %b = spyre.alloc : !h
  spyre.exp (d0 = 32, d1 = 128 / 2) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 32, d1 = 128 / 2) ins(%x[d0, d1]) outs(%a[d0 + 32, d1]) : !h -> !h
  spyre.neg (d0 = 64, d1 = 128 / 2) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  spyre.exp (d0 = 32 / 2, d1 = 128) ins(%x[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.abs (d0 = 32 / 2, d1 = 128) ins(%x[d0, d1]) outs(%b[d0 + 32, d1]) : !h -> !h
  spyre.neg (d0 = 64 / 2, d1 = 128) ins(%b[d0, d1]) outs(%p[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// CHECK-LABEL: func.func @read_first
// CHECK: spyre.alloc pool(0)
func.func @read_first(%x: !h, %o: !h) {
  // expected-remark @below {{it is written in parts}}
  %a = spyre.alloc : !h
  spyre.neg (d0 = 64, d1 = 128) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!p = !spyre.buffer<64x128xf16, #spyre.layout<[4, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// CHECK-LABEL: func.func @padded
// CHECK: spyre.alloc pool(0)
func.func @padded(%x: !h, %o: !h) {
  // expected-remark @below {{its layout is padded}}
  %a = spyre.alloc : !p
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !p
  spyre.neg (d0 = 64, d1 = 128) ins(%a[d0, d1]) outs(%o[d0, d1]) : !p -> !h
  return
}

// -----

!f = !spyre.buffer<64x64xf32, #spyre.layout<[2, 64, 32], order [0, 1], IEEE_FP32>, hbm>
!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// CHECK-LABEL: func.func @reinterpreted
// CHECK: spyre.alloc pool(0)
func.func @reinterpreted(%x: !f, %o: !h) {
  // expected-remark @below {{it is read as elements of another width}}
  %a = spyre.alloc : !f
  %b = spyre.reinterpret %a : !f to !h
  spyre.neg (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !f -> !f
  spyre.identity (d0 = 64, d1 = 128) ins(%b[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<64x128xf16, #spyre.layout<[1, 128, 64], order [1, 0], SEN169_FP16>, hbm>
!o = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, hbm>
// What a restickify reads, on devices on which it does not read LX; what it writes may stay.
module attributes {spyre.device = "spyre-2026-08"} {
// CHECK-LABEL: func.func @restickified
// CHECK: spyre.alloc pool(
// CHECK: spyre.alloc lx(
func.func @restickified(%x: !h, %o: !o) {
  // expected-remark @below {{a restickify reads device memory}}
  %a = spyre.alloc : !h
  %b = spyre.alloc : !t
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.restickify (d0 = 64, d1 = 128) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !t
  spyre.neg (d0 = 128, d1 = 64) ins(%b[d1, d0]) outs(%o[d0, d1]) : !t -> !o
  return
}
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
// The tile inside the loop is the same in every iteration: no remark for it.
// CHECK-LABEL: func.func @moved_over
// CHECK: spyre.alloc pool(0)
// CHECK: spyre.alloc lx(0)
func.func @moved_over(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-remark @below {{a loop moves over it}}
  %a = spyre.alloc : !h
  spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  scf.for %i = %c0 to %c4 step %c1 {
    %t = spyre.alloc : !t
    spyre.abs (d0 = 16, d1 = 128) loops(%i) ins(%a[d0 + s0 * 16, d1]) outs(%t[d0, d1]) : !h -> !t
    spyre.neg (d0 = 16, d1 = 128) loops(%i) ins(%t[d0, d1]) outs(%o[d0 + s0 * 16, d1]) : !t -> !h
  }
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<32x128xf16, #spyre.layout<[2, 32, 64], order [0, 1], SEN169_FP16>, hbm>
// CHECK-LABEL: func.func @half
// CHECK: spyre.alloc pool(0)
func.func @half(%x: !o, %o: !o) {
  // expected-remark @below {{only a part of it is written}}
  %a = spyre.alloc : !h
  spyre.exp (d0 = 32, d1 = 128) ins(%x[d0, d1]) outs(%a[d0 * 2, d1]) : !o -> !h
  spyre.neg (d0 = 32, d1 = 128) ins(%a[d0 * 2, d1]) outs(%o[d0, d1]) : !h -> !o
  return
}

// -----

!x = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!y = !spyre.buffer<128x128xf16, #spyre.layout<[2, 128, 64], order [0, 1], SEN169_FP16>, hbm>
// A product cut along what it sums over; the other product stays.
// CHECK-LABEL: func.func @partial_sums
// CHECK: spyre.alloc pool(0)
// CHECK: spyre.alloc lx(0)
func.func @partial_sums(%x: !x, %y: !y, %o: !x, %p: !x) {
  // expected-remark @below {{several cores sum it up}}
  %a = spyre.alloc : !x
  %b = spyre.alloc : !x
  spyre.batchmatmul (d0 = 64 / 4, d1 = 128, d2 = 128 / 2) ins(%x[d0, d2], %y[d2, d1]) outs(%a[d0, d1]) : !x, !y -> !x
  spyre.neg (d0 = 64 / 4, d1 = 128) ins(%a[d0, d1]) outs(%o[d0, d1]) : !x -> !x
  spyre.batchmatmul (d0 = 64 / 4, d1 = 128 / 2, d2 = 128) ins(%x[d0, d2], %y[d2, d1]) outs(%b[d0, d1]) : !x, !y -> !x
  spyre.neg (d0 = 64 / 4, d1 = 128 / 2) ins(%b[d0, d1]) outs(%p[d0, d1]) : !x -> !x
  return
}

// -----

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// CHECK-LABEL: func.func @other_parts
// CHECK-COUNT-3: spyre.alloc pool(
// CHECK: spyre.alloc lx(0)
func.func @other_parts(%x: !h, %o: !h) {
  // Fewer cores than wrote it, and more.
  // expected-remark @below {{core 0 reads another part than it writes, in spyre.abs}}
  %a = spyre.alloc : !h
  // expected-remark @below {{core 0 reads another part than it writes, in spyre.neg}}
  %b = spyre.alloc : !h
  // Sticks where rows were cut.
  // expected-remark @below {{core 0 reads another part than it writes, in spyre.identity}}
  %c = spyre.alloc : !h
  // Rows that no core shares: each reads some of its own.
  %d = spyre.alloc : !h
  spyre.exp (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 64 / 4, d1 = 128) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64 / 16, d1 = 128) ins(%b[d0, d1]) outs(%c[d0, d1]) : !h -> !h
  spyre.identity (d0 = 64, d1 = 128 / 2) ins(%c[d0, d1]) outs(%d[d0, d1]) : !h -> !h
  spyre.identity (d0 = 32, d1 = 128 / 2) ins(%d[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}
