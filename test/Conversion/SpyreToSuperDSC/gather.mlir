// RUN: spyre-opt %s --convert-spyre-to-superdsc | FileCheck %s

!i = !spyre.buffer<64xi32, #spyre.layout<[2, 32], order [0], IEEE_INT32>, hbm>
!t = !spyre.buffer<1000x256xf16, #spyre.layout<[4, 1000, 64], order [0, 1], SEN169_FP16>, hbm>
!o = !spyre.buffer<64x256xf16, #spyre.layout<[4, 64, 64], order [0, 1], SEN169_FP16>, hbm>

// The index tensor is no input of the operation; index and table name each other, and
// the rows that the table has beyond those that the index can name are marked.
// CHECK: %[[I:.*]] = sdsc.allocate "Tensor0" hbm "KERNEL_IDX" [mb] {{.*}}SENUINT32{{.*}}indirection = #sdsc<indirection index>, {{.*}}related = "allocate-Tensor1_hbm"
// CHECK: %[[T:.*]] = sdsc.allocate "Tensor1" hbm "OUTPUT" [mb, out] {{.*}}indirection = #sdsc<indirection value>, max_dim_sizes = array<i64: 1, -1>, related = "allocate-Tensor0_hbm"
// CHECK: sdsc.compute "sfp" "identity" SEN169_FP16 ins(%[[T]]) outs(%{{.*}}) indices(%[[I]])
func.func @embedding(%i: !i, %t: !t, %o: !o) {
  spyre.identity (d0 = 64, d1 = 256) ins(%i[d0], %t[0, d1]) outs(%o[d0, d1]) gather(1[0] by 0) : !i, !t -> !o
  return
}
