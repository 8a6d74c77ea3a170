// RUN: spyre-opt %s --convert-spyre-to-superdsc | FileCheck %s
// RUN: spyre-opt %s --convert-spyre-to-superdsc=symbolic-args=false | FileCheck %s --check-prefix=CONCRETE

!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>

// One descriptor an operation; a loop stays a loop whose addresses move by 16 rows.
// CHECK: #[[MAP:.*]] = affine_map<(d0)[s0] -> (d0 * 2048 + s0)>
// CHECK: sdsc.descriptor @sdsc_0
// CHECK-NOT: sdsc.descriptor @sdsc_1
// CHECK-LABEL: func.func @loop(%arg0: !sdscbundle.input_arg<index>, %arg1: !sdscbundle.input_arg<index>)
// CHECK: scf.for %[[I:.*]] =
// CHECK: affine.apply #[[MAP]](%[[I]])
// CHECK: sdscbundle.sdsc_execute

// Concrete addresses cannot move: four descriptors, no parameters.
// CONCRETE: sdsc.descriptor @sdsc_3
// CONCRETE-LABEL: func.func @loop()
// CONCRETE-NOT: scf.for
// CONCRETE-COUNT-4: sdscbundle.sdsc_execute
func.func @loop(%x: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    spyre.exp (d0 = 16 / 4, d1 = 64) loops(%i) ins(%x[d0 + s0 * 16, d1]) outs(%o[d0 + s0 * 16, d1]) : !h -> !h
  }
  return
}
