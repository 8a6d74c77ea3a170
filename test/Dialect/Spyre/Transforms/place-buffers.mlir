// Where spyre-place-buffers puts what has no place: lifetimes, loops, in-place operations, and each option.
// RUN: spyre-opt %s --spyre-place-buffers | FileCheck %s
// RUN: spyre-opt %s --spyre-place-buffers --spyre-place-buffers | FileCheck %s
// RUN: spyre-opt %s --spyre-place-buffers=lx=false | FileCheck %s --check-prefix=POOL
// RUN: spyre-opt %s --spyre-place-buffers=capacity=1024 | FileCheck %s --check-prefix=SMALL

!h = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>
!l = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, lx>

// In LX an elementwise operation writes where it reads; in the pool never, its cores run apart.
// 2048 bytes a core do not fit in 1024.
// CHECK-LABEL: func.func @chain
// CHECK: spyre.alloc lx(0) holding<cores 8, slices[8, 1], (d0) -> (d0 mod 8, 0)>
// CHECK: spyre.alloc lx(0) holding
// CHECK: spyre.alloc lx(0) holding
// POOL-LABEL: func.func @chain
// POOL: spyre.alloc pool(0)
// POOL: spyre.alloc pool(16384)
// POOL: spyre.alloc pool(0)
// SMALL-LABEL: func.func @chain
// SMALL-NOT: lx(
// SMALL-LABEL: func.func @sixteen
func.func @chain(%x: !h, %o: !h) {
  %a = spyre.alloc : !h
  %b = spyre.alloc : !h
  %c = spyre.alloc : !h
  spyre.exp (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 64 / 8, d1 = 128) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64 / 8, d1 = 128) ins(%b[d0, d1]) outs(%c[d0, d1]) : !h -> !h
  spyre.exp (d0 = 64 / 8, d1 = 128) ins(%c[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// 1024 bytes a core fit in 1024, once.
// SMALL: spyre.alloc lx(0) holding<cores 16, slices[16, 1]
// SMALL: spyre.alloc pool(0)
// CHECK-LABEL: func.func @sixteen
// CHECK: spyre.alloc lx([[A:0|1024]]) holding
// CHECK-NOT: lx([[A]])
// CHECK: return
func.func @sixteen(%x: !h, %o: !h) {
  %a = spyre.alloc : !h
  %b = spyre.alloc : !h
  spyre.exp (d0 = 64 / 16, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.abs (d0 = 64 / 16, d1 = 128) ins(%x[d0, d1]) outs(%b[d0, d1]) : !h -> !h
  spyre.sub (d0 = 64 / 16, d1 = 128) ins(%a[d0, d1], %b[d0, d1]) outs(%o[d0, d1]) : !h, !h -> !h
  return
}

// No place is taken over where the operand is read twice in different ways, by a reduction, or by a product.
// CHECK-LABEL: func.func @negative_in_place
// CHECK: %[[A:.*]] = spyre.alloc lx([[PLACE:.*]]) holding
// CHECK: %[[S:.*]] = spyre.alloc lx(
// CHECK-NOT: lx([[PLACE]])
// CHECK: spyre.sum
func.func @negative_in_place(%x: !h, %o: !h) {
  %a = spyre.alloc : !h
  %s = spyre.alloc : !spyre.buffer<64x1xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
  spyre.exp (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.sum (d0 = 64 / 8, d1 = 128) ins(%a[d0, d1]) outs(%s[d0, 0]) : !h -> !spyre.buffer<64x1xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
  spyre.sub (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1], %s[d0, 0]) outs(%o[d0, d1]) : !h, !spyre.buffer<64x1xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm> -> !h
  return
}

// What a loop reads lives until its end; a buffer of the loop's own lives for an iteration.
// POOL-LABEL: func.func @loop
// POOL: %[[A:.*]] = spyre.alloc pool([[A_PLACE:.*]]) :
// POOL: scf.for
// POOL: spyre.alloc pool([[B_PLACE:.*]]) :
// POOL-NOT: pool([[A_PLACE]])
// POOL: spyre.alloc pool({{.*}}) :
// POOL-NOT: pool([[A_PLACE]])
// POOL: return
func.func @loop(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = spyre.alloc : !h
  spyre.exp (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  scf.for %i = %c0 to %c4 step %c1 {
    %b = spyre.alloc : !h
    %c = spyre.alloc : !h
    spyre.abs (d0 = 64 / 8, d1 = 128) ins(%a[d0, d1]) outs(%b[d0, d1]) : !h -> !h
    spyre.neg (d0 = 64 / 8, d1 = 128) ins(%b[d0, d1]) outs(%c[d0, d1]) : !h -> !h
    spyre.exp (d0 = 64 / 8, d1 = 128) ins(%c[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  }
  return
}

// A place by hand stays, and what nobody touches goes.
// CHECK-LABEL: func.func @by_hand
// CHECK-COUNT-1: spyre.alloc pool(8192)
// CHECK-NOT: spyre.alloc
// CHECK: return
func.func @by_hand(%x: !h, %o: !h) {
  %a = spyre.alloc pool(8192) : !h
  %b = spyre.alloc : !h
  spyre.exp (d0 = 64 / 8, d1 = 128) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64 / 8, d1 = 128) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}
