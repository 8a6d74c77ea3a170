// RUN: not spyre-opt %s --convert-torch-to-spyre 2>&1 | FileCheck %s

// What writes into an operand is no dead code, though nobody reads its result.
// CHECK: error: 'main' cannot be compiled: 2 operations are not supported
// CHECK: note: torch.aten.add_.Scalar
// CHECK: note: torch.aten.zero_
func.func @main(%arg0: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.neg %arg0 : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  %1 = torch.aten.add_.Scalar %0, %int1, %int1 : !torch.vtensor<[4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4],f16>
  %2 = torch.aten.zero_ %0 : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  // This one is.
  %3 = torch.aten.add.Scalar %0, %int1, %int1 : !torch.vtensor<[4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4],f16>
  return %0 : !torch.vtensor<[4],f16>
}
