// When spyre-compile takes a plan with tiles: from -O2 on, with the cores that it may use, where nobody has divided by hand, for both targets.
// RUN: spyre-compile %s -O2 --device mock32 -o %t.out --dump-stages=%t.tiles && cat %t.tiles/*-planned.mlir | FileCheck %s
// RUN: spyre-compile %s -O2 --device mock32 --cores 4 -o %t.out --dump-stages=%t.four && cat %t.four/*-planned.mlir | FileCheck %s --check-prefix=FOUR
// RUN: spyre-compile %s -O1 --device mock32 -o %t.out --dump-stages=%t.low && cat %t.low/*-planned.mlir | FileCheck %s --check-prefix=NONE
// RUN: spyre-compile %s -O2 --device mock32 --cores 1 -o %t.out --dump-stages=%t.one && cat %t.one/*-planned.mlir | FileCheck %s --check-prefix=NONE
// RUN: sed 's|d0 = 8192,|d0 = 8192 / 2,|' %s > %t.hand.mlir && spyre-compile %t.hand.mlir -O2 --device mock32 -o %t.out --dump-stages=%t.hand && cat %t.hand/*-planned.mlir | FileCheck %s --check-prefix=NONE
// RUN: spyre-compile %s -O2 --device mock32 --target=ktir -o %t.out --dump-stages=%t.ktir && cat %t.ktir/*-planned.mlir | FileCheck %s

// CHECK: scf.for
// CHECK: spyre.exp (d0 = {{[0-9]+}} / 32, d1 = 128) loops
// FOUR: scf.for
// FOUR: spyre.exp (d0 = {{[0-9]+}} / 4, d1 = 128) loops
// NONE-NOT: scf.for
// NONE: spyre.exp
// NONE-NOT: scf.for
!x = tensor<8192x128xf16>
func.func @main(%x: !x) -> !x {
  %0 = spyre.exp (d0 = 8192, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : !x -> !x
  %1 = spyre.add (d0 = 8192, d1 = 128) ins(%0[d0, d1], %x[d0, d1]) -> [d0, d1] : !x, !x -> !x
  return %1 : !x
}
