// RUN: spyre-opt %s --spyre-lower-to-superdsc --spyre-verify-provenance --mlir-print-debuginfo | FileCheck %s

// What an operation becomes carries its name and place, the copy of an argument that too.
// CHECK: sdsc.descriptor
// CHECK: ir_chain = ["in0", "spyre.restickify"]
// CHECK: ir_chain = ["torch.aten.add.Tensor", "spyre.add"]
func.func @main(%arg0: !torch.vtensor<[64,128],f16>, %arg1: !torch.vtensor<[128,64],f16>) -> !torch.vtensor<[128,64],f16> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %0 = torch.aten.transpose.int %arg0, %int0, %int1 : !torch.vtensor<[64,128],f16>, !torch.int, !torch.int -> !torch.vtensor<[128,64],f16>
  %1 = torch.aten.add.Tensor %0, %arg1, %int1 : !torch.vtensor<[128,64],f16>, !torch.vtensor<[128,64],f16>, !torch.int -> !torch.vtensor<[128,64],f16>
  return %1 : !torch.vtensor<[128,64],f16>
}
