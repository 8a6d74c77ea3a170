// RUN: spyre-opt %s --convert-spyre-to-superdsc -o %t.mlir && FileCheck %s --check-prefix=SDSC < %t.mlir
// RUN: rm -rf %t.dir && spyre-translate --sdsc-to-bundle %t.mlir -o %t.dir && FileCheck %s --check-prefix=BUNDLE < %t.dir/bundle.mlir
// RUN: spyre-translate --bundle-to-sdsc %t.dir | FileCheck %s --check-prefix=SDSC

// An argument's number in the kernel's list is part of its name in bundle.mlir and
// survives there and back.
// SDSC: sdscbundle.argument_numbers = array<i64: 1, 4>
// BUNDLE: @numbered(%arg_1_base_addr: !sdscbundle.input_arg<index>, %arg_4_base_addr
!b = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @numbered(%x: !b {spyre.number = 1 : i64}, %o: !b {spyre.number = 4 : i64}) {
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : !b -> !b
  return
}
