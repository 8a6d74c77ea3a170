// RUN: spyre-opt %s --convert-spyre-to-superdsc | FileCheck %s

!x = !spyre.buffer<64x256xf8E4M3FN, #spyre.layout<[2, 64, 128], order [0, 1], SEN143_FP8>, hbm>
!y = !spyre.buffer<256x128xf8E4M3FN, #spyre.layout<[2, 128, 2, 64], order [0, 1], SEN143_FP8, stick [[0, 2], [1, 64]]>, hbm>
!o = !spyre.buffer<64x128xf16, #spyre.layout<[2, 64, 64], order [0, 1], SEN169_FP16>, hbm>

// The second operand's stick holds two of the contracted rows, 64 of the generated dim each.
// CHECK: <KERNEL, [in, out], stick [in : 2, out : 64]>
// CHECK: sdsc.compute "pt" "batchmatmulfp8" SEN143_FP8
func.func @product(%x: !x, %y: !y, %o: !o) {
  spyre.batchmatmulfp8 (d0 = 64, d1 = 128, d2 = 256) ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
  return
}
