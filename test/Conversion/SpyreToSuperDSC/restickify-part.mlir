// A part of a restickify's result: what lies behind the padded part is a gap, as what the
// part lacks of its padding is.

// RUN: spyre-opt %s --spyre-verify-plan --convert-spyre-to-superdsc | FileCheck %s

!w = !spyre.buffer<128x130xf16, #spyre.layout<[3, 128, 64], order [0, 1], SEN169_FP16>, hbm>
!t = !spyre.buffer<128x130xf16, #spyre.layout<[2, 192, 64], order [1, 0], SEN169_FP16>, hbm>
// d1 = 2 is padded to 64 of the 192 rows that are in memory.
// CHECK: back_gap {{.*}}128
func.func @f(%w: !w, %t: !t) {
  spyre.restickify (d0 = 128, d1 = 2) ins(%w[d0, d1 + 128]) outs(%t[d0, d1 + 128]) : !w -> !t
  return
}
