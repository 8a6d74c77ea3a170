// RUN: spyre-opt %s --split-input-file --spyre-torch-to-l1 | FileCheck %s

// A sum of nothing is 0, its mean no number; both are written as numbers.
// CHECK-LABEL: func.func @reductions
// CHECK-NOT: spyre.sum
// CHECK: %[[Z:.*]] = spyre.constant dense<0.000000e+00>
// CHECK: spyre.identity (d0 = 4) ins(%[[Z]][]) -> [d0]
// CHECK: %[[N:.*]] = spyre.constant dense<0x7E00>
// CHECK: spyre.identity (d0 = 4) ins(%[[N]][]) -> [d0]
func.func @reductions(%arg0: !torch.vtensor<[0,4],f16>) -> (!torch.vtensor<[4],f16>, !torch.vtensor<[4],f16>) {
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %false = torch.constant.bool false
  %l = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.sum.dim_IntList %arg0, %l, %false, %none : !torch.vtensor<[0,4],f16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4],f16>
  %1 = torch.aten.mean.dim %arg0, %l, %false, %none : !torch.vtensor<[0,4],f16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4],f16>
  return %0, %1 : !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16>
}

// -----

// A result without elements is computed by nobody.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: spyre.add
// CHECK: return
func.func @nothing(%arg0: !torch.vtensor<[0,4],f16>) -> !torch.vtensor<[0,4],f16> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Tensor %arg0, %arg0, %int1 : !torch.vtensor<[0,4],f16>, !torch.vtensor<[0,4],f16>, !torch.int -> !torch.vtensor<[0,4],f16>
  return %0 : !torch.vtensor<[0,4],f16>
}

// -----

// CHECK-LABEL: func.func @join
// CHECK-NEXT: return %arg1
func.func @join(%arg0: !torch.vtensor<[0,4],f16>, %arg1: !torch.vtensor<[2,4],f16>) -> !torch.vtensor<[2,4],f16> {
  %int0 = torch.constant.int 0
  %l = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[0,4],f16>, !torch.vtensor<[2,4],f16>) -> !torch.list<vtensor>
  %0 = torch.aten.cat %l, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,4],f16>
  return %0 : !torch.vtensor<[2,4],f16>
}
