// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-refine-torch-shapes))' | FileCheck %s

// CHECK-LABEL: func.func @main
// From the end, to the end, in steps.
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[4,3],f16>
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[5,3],f16>
// The program computes the bound.
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[?,3],f16>
func.func @main(%arg0: !torch.vtensor<[10,3],f16>, %arg1: !torch.int) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-4 = torch.constant.int -4
  %0 = torch.aten.slice.Tensor %arg0, %int0, %int-4, %none, %int1 : !torch.vtensor<[10,3],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,3],f16>
  %1 = torch.aten.slice.Tensor %arg0, %int0, %int0, %none, %int2 : !torch.vtensor<[10,3],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,3],f16>
  %2 = torch.aten.slice.Tensor %arg0, %int0, %arg1, %none, %int1 : !torch.vtensor<[10,3],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,3],f16>
  return
}
