// A message is the line, the reason and what to do, not the program in MLIR's words.

// RUN: not spyre-compile %s -o %t 2>&1 | FileCheck %s --implicit-check-not="see current operation"
// RUN: not spyre-compile %s -o %t --mlir-print-op-on-diagnostic 2>&1 | FileCheck %s --check-prefix=ALL

// CHECK: diagnostics.mlir:[[#@LINE+4]]:8: error: 'spyre.add' op access map of input #1 reaches coordinates 0..63 of dim 1, whose extent is 32
// CHECK-NEXT: %0 = spyre.add
// ALL: see current operation
func.func @main(%x: tensor<64x64xf16>, %y: tensor<64x32xf16>) -> tensor<64x64xf16> {
  %0 = spyre.add (d0 = 64, d1 = 64) ins(%x[d0, d1], %y[d0, d1]) -> [d0, d1] : tensor<64x64xf16>, tensor<64x32xf16> -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
