// Concrete addresses: an argument's own, else its segment, which the pool moves up; of eight the last is the program's.
// RUN: spyre-opt %s --convert-spyre-to-superdsc=symbolic-args=false -split-input-file -verify-diagnostics | FileCheck %s
// RUN: spyre-opt %s --convert-spyre-to-superdsc=unroll-loops=true -split-input-file | FileCheck %s --check-prefix=SYMBOLIC

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// A loop is unrolled either way; only concrete addresses leave nothing to bind.
// Sixteen rows of 128 bytes an iteration, four a core.
// CHECK: sdsc.descriptor @sdsc_0
// CHECK: allocate "Tensor0" {{.*}} at [34359738368, 34359738880, 34359739392, 34359739904]
// CHECK: allocate "Tensor1" {{.*}} at [17179869184, 17179869696, 17179870208, 17179870720]
// CHECK: sdsc.descriptor @sdsc_3
// CHECK: allocate "Tensor0" {{.*}} at [34359744512,
// CHECK-NOT: input_arg_extract
// SYMBOLIC: sdsc.descriptor @sdsc_3
// SYMBOLIC-NOT: scf.for
// SYMBOLIC-COUNT-4: sdscbundle.sdsc_execute (
func.func @unrolled(%x: !h {spyre.address = 34359738368 : i64}, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    spyre.exp (d0 = 16 / 4, d1 = 64) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%o[d0 + s0 * 16, d1]) : !h -> !h
  }
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
// CHECK: sdsc.descriptor @sdsc_0
// CHECK: allocate "Tensor0" {{.*}} at [17179869184]
// CHECK: allocate "Tensor1" {{.*}} at [256]
// CHECK: sdsc.descriptor @sdsc_1
// CHECK: allocate "Tensor0" {{.*}} at [256]
// CHECK: allocate "Tensor1" {{.*}} at [34359738368]
func.func @pool(%x: !h, %o: !h) {
  %a = spyre.alloc pool(256) : !h
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h
  return
}

// -----

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @too_many(%0: !h, %1: !h, %2: !h, %3: !h, %4: !h, %5: !h, %6: !h) {
  %a = spyre.alloc pool(0) : !h
  spyre.exp (d0 = 64, d1 = 64) ins(%5[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  // expected-error @+1 {{argument #6 has no address: the device has 7 segments for arguments; use symbolic addresses}}
  spyre.neg (d0 = 64, d1 = 64) ins(%a[d0, d1]) outs(%6[d0, d1]) : !h -> !h
  return
}
