// Planned programs that spyre-verify-plan refuses so far (gather, fp8 products), converted as they are, against NumPy.
// RUN: %against_numpy %s convert

// Rows of a table by an index, all rows and a few sticks of them, each core its part of the index.
// IN: i = whole(0, 49, 64).astype(np.int32)
// IN: t = normal(50, 256)
// OUT exact: t[i]
!i = !spyre.buffer<64xi32, #spyre.layout<[2, 32], order [0], IEEE_INT32>, hbm>
!t = !spyre.buffer<50x256xf16, #spyre.layout<[4, 50, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x256xf16, #spyre.layout<[4, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%i: !i {spyre.array = "in0", spyre.role = "input"}, %t: !t {spyre.array = "in1", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  spyre.identity (d0 = 64 / 2, d1 = 256 / 4) ins(%i[d0], %t[0, d1]) outs(%o[d0, d1]) gather(1[0] by 0) : !i, !t -> !o
  return
}

// -----

// fp8 operands of the caller: the second one's sticks hold two rows of 64.
// IN: x = fp8(whole(-4, 4, 16, 256).astype(float))
// IN: y = fp8(whole(-2, 2, 256, 128).astype(float))
// OUT exact: from_fp8(x) @ from_fp8(y)
!x = !spyre.buffer<16x256xf8E4M3FN, #spyre.layout<[2, 16, 128], order [0, 1], SEN143_FP8>, hbm>
!y = !spyre.buffer<256x128xf8E4M3FN, #spyre.layout<[2, 128, 2, 64], order [0, 1], SEN143_FP8, stick [[0, 2], [1, 64]]>, hbm>
!o = !spyre.buffer<16x128xf16, #spyre.layout<[2, 16, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @main(%x: !x {spyre.array = "in0", spyre.role = "input"}, %y: !y {spyre.array = "in1", spyre.role = "input"}, %o: !o {spyre.array = "out0", spyre.role = "output"}) {
  spyre.batchmatmulfp8 (d0 = 16 / 8, d1 = 128, d2 = 256) ins(%x[d0, d2], %y[d2, d1]) outs(%o[d0, d1]) : !x, !y -> !o
  return
}
