// Descriptors keep their operation's place; one without is reported as operations are, and buffers need none.
// RUN: spyre-opt %s --convert-spyre-to-superdsc --spyre-verify-provenance=operations=false -o /dev/null
// RUN: not spyre-opt %s --convert-spyre-to-superdsc --spyre-verify-provenance -o /dev/null 2>&1 | FileCheck %s
// RUN: not spyre-opt %s --strip-debuginfo --convert-spyre-to-superdsc --spyre-verify-provenance=operations=false -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOWHERE

// CHECK-COUNT-1: error: provenance: does not say which operation of the program it comes from
// CHECK-NOT: error:
// NOWHERE-COUNT-2: error: provenance: no position in the program's text
// NOWHERE-NOT: error:
!h = !spyre.buffer<64x64xf16, #spyre.layout<[1, 64, 64], order [0, 1], SEN169_FP16>, hbm>
func.func @two(%x: !h, %o: !h) {
  %a = spyre.alloc pool(0) : !h
  spyre.exp (d0 = 64, d1 = 64) ins(%x[d0, d1]) outs(%a[d0, d1]) : !h -> !h
  spyre.neg (d0 = 64, d1 = 64) ins(%a[d0, d1]) outs(%o[d0, d1]) : !h -> !h loc("torch.aten.neg"("program.mlir":7:3))
  return
}
