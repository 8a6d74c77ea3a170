// Which operations spyre-divide-work divides, and what each of its options changes.
// RUN: spyre-opt %s --spyre-divide-work | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: spyre-opt %s --spyre-divide-work=search=false | FileCheck %s --check-prefixes=CHECK,ALL,HEURISTIC
// RUN: spyre-opt %s --spyre-divide-work=exhaustive=true | FileCheck %s --check-prefixes=CHECK,BEST
// RUN: spyre-opt %s --spyre-divide-work=cores=5 | FileCheck %s --check-prefixes=CHECK,FIVE
// RUN: spyre-opt %s --spyre-divide-work=cores=1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: not spyre-opt %s --spyre-divide-work=cores=-1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: spyre-divide-work: cores=-1: the device has 32 cores

!h = tensor<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>>
!t = tensor<3x128xf16, #spyre.layout<[2, 3, 64], order [0, 1], SEN169_FP16>>

// Equal slices only: 5 cores are 4.
// CHECK-LABEL: func.func @rows
// ALL: spyre.exp (d0 = 64 / 32, d1 = 128)
// BEST: spyre.exp (d0 = 64 / 32, d1 = 128)
// FIVE: spyre.exp (d0 = 64 / 4, d1 = 128)
// ONE: spyre.exp (d0 = 64, d1 = 128)
func.func @rows(%x: !h) -> !h {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !h -> !h
  return %0 : !h
}

// A scan has one core; a division by hand stays, also that into one slice.
// CHECK-LABEL: func.func @negative
// CHECK: spyre.topkvalue (d0 = 3, d1 = 128, d2 = 64)
// CHECK: spyre.exp (d0 = 64 / 16, d1 = 128 / 2)
// CHECK: spyre.exp (d0 = 64 / 1, d1 = 128)
func.func @negative(%x: !h) -> (!t, !h, !h) {
  %0 = spyre.topkvalue (d0 = 3, d1 = 128, d2 = 64) ins(%x[d2, d1]) -> [d0, d1] : !h -> !t
  %1 = spyre.exp (d0 = 64 / 16, d1 = 128 / 2) ins(%x[d0, d1]) -> [d0, d1] : !h -> !h
  %2 = spyre.exp (d0 = 64 / 1, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !h -> !h
  return %0, %1, %2 : !t, !h, !h
}

!big = tensor<2097152x128xf16, #spyre.layout<[2, 2097152, 64], order [0, 1], SEN169_FP16>>
// No core reaches all of 512 MB, however few cores were asked for: sticks are cut, and 256 MB are still too much.
// CHECK-LABEL: func.func @span
// CHECK: spyre.exp (d0 = 2097152 / {{[0-9]+}}, d1 = 128 / 2)
func.func @span(%x: !big) -> !big {
  %0 = spyre.exp (d0 = 2097152, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !big -> !big
  return %0 : !big
}

!a = tensor<32x2048xf16, #spyre.layout<[32, 32, 64], order [0, 1], SEN169_FP16>>
!r = tensor<2048xf16, #spyre.layout<[32, 64], order [0], SEN169_FP16>>
// By itself the sum is divided along what it keeps; the value between stays in LX if all three are divided alike, which
// only the search of everything tries.
// CHECK-LABEL: func.func @together
// ALL: spyre.exp (d0 = 32 / 32, d1 = 2048)
// ALL: spyre.sum (d0 = 32, d1 = 2048 / 32)
// BEST: spyre.exp ([[ALIKE:d0 = 32[^)]*]])
// BEST: spyre.sum ([[ALIKE]])
// BEST: spyre.sub ([[ALIKE]])
func.func @together(%x: !a) -> (!r, !a) {
  %0 = spyre.exp (d0 = 32, d1 = 2048) ins(%x[d0, d1]) -> [d0, d1] : !a -> !a
  %1 = spyre.sum (d0 = 32, d1 = 2048) ins(%0[d0, d1]) -> [d1] : !a -> !r
  %2 = spyre.sub (d0 = 32, d1 = 2048) ins(%0[d0, d1], %1[d1]) -> [d0, d1] : !a, !r -> !a
  return %1, %2 : !r, !a
}

!x = tensor<8x2048xf16, #spyre.layout<[32, 8, 64], order [0, 1], SEN169_FP16>>
!y = tensor<2048x64xf16, #spyre.layout<[1, 2048, 64], order [0, 1], SEN169_FP16>>
!o = tensor<8x64xf16, #spyre.layout<[1, 8, 64], order [0, 1], SEN169_FP16>>
// Few rows and one stick of columns: without the search the contracted dim is cut, its cores beside each other.
// CHECK-LABEL: func.func @contracted
// HEURISTIC: spyre.batchmatmul (d0 = 8{{.*}}, d1 = 64, d2 = 2048 / {{[0-9]+}}) k_fast
// ONE: spyre.batchmatmul (d0 = 8, d1 = 64, d2 = 2048) ins
func.func @contracted(%x: !x, %y: !y) -> !o {
  %0 = spyre.batchmatmul (d0 = 8, d1 = 64, d2 = 2048) ins(%x[d0, d2], %y[d2, d1]) -> [d0, d1] : !x, !y -> !o
  return %0 : !o
}
