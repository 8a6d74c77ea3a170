// RUN: not spyre-opt %s --split-input-file --spyre-verify-provenance=operations=false 2>&1 | FileCheck %s --check-prefix=POSITION
// RUN: not spyre-opt %s --split-input-file --spyre-verify-provenance 2>&1 | FileCheck %s

// The two that do not say what they come from, and no others.
// CHECK-COUNT-2: error: provenance: does not say which operation of the program it comes from
// POSITION-NOT: error:
func.func @hand_written(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %0 = spyre.exp (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16>
  %1 = spyre.neg (d0 = 4, d1 = 64) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16>
  %2 = spyre.abs (d0 = 4, d1 = 64) ins(%1[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16> loc("torch.aten.abs"("program.mlir":7:3))
  return %2 : tensor<4x64xf16>
}

// -----

// CHECK: error: provenance: no position in the program's text
// POSITION: error: provenance: no position in the program's text
func.func @nowhere(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %0 = spyre.exp (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16> loc(unknown)
  return %0 : tensor<4x64xf16>
}
