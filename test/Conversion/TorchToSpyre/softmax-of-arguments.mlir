// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// The difference from the maximum is of an argument's numbers: what computes such
// differences exactly has to see it.
// CHECK-LABEL: func @of_argument
// CHECK: %[[M:.*]] = spyre.max {{.*}}ins(%arg0[d0, d1, d2])
// CHECK: spyre.sub {{.*}}ins(%arg0[d0, d1, d2], %[[M]]
// CHECK: spyre.exp
// CHECK: spyre.sum
// CHECK: spyre.realdiv
func.func @of_argument(%x: !torch.vtensor<[3,5,7],f16>) -> !torch.vtensor<[3,5,7],f16> {
  %dim = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten._softmax %x, %dim, %false : !torch.vtensor<[3,5,7],f16>, !torch.int, !torch.bool -> !torch.vtensor<[3,5,7],f16>
  return %0 : !torch.vtensor<[3,5,7],f16>
}

// -----

// CHECK-LABEL: func @of_product
// CHECK: spyre.softmax
func.func @of_product(%x: !torch.vtensor<[5,7],f16>, %y: !torch.vtensor<[7,5],f16>) -> !torch.vtensor<[5,5],f16> {
  %dim = torch.constant.int 1
  %false = torch.constant.bool false
  %p = torch.aten.mm %x, %y : !torch.vtensor<[5,7],f16>, !torch.vtensor<[7,5],f16> -> !torch.vtensor<[5,5],f16>
  %0 = torch.aten._softmax %p, %dim, %false : !torch.vtensor<[5,5],f16>, !torch.int, !torch.bool -> !torch.vtensor<[5,5],f16>
  return %0 : !torch.vtensor<[5,5],f16>
}
