// RUN: spyre-opt %s -split-input-file -spyre-outline-layers=min-operations=2 | FileCheck %s

// Two layers with weights of their own, a mask for both; what stands behind them.
// CHECK-LABEL: func.func private @main_layer(
// CHECK: torch.aten.mm
// CHECK: torch.aten.mul.Tensor
// CHECK-LABEL: func.func private @main_end(
// CHECK: torch.aten.neg
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[A:.*]] = call @main_layer(%arg0, %arg1, %arg3)
// CHECK-NEXT: %[[B:.*]] = call @main_layer(%[[A]], %arg2, %arg3)
// CHECK-NEXT: %[[C:.*]] = call @main_end(%[[B]])
// CHECK-NEXT: return %[[C]]
func.func @main(%x: !torch.vtensor<[4,4],f16>, %a: !torch.vtensor<[4,4],f16>, %b: !torch.vtensor<[4,4],f16>, %m: !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16> {
  %0 = torch.aten.mm %x, %a : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %1 = torch.aten.mul.Tensor %0, %m : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %2 = torch.aten.mm %1, %b : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %3 = torch.aten.mul.Tensor %2, %m : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %4 = torch.aten.neg %3 : !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  return %4 : !torch.vtensor<[4,4],f16>
}

// -----

// Another number inside, another layer.
// CHECK-LABEL: func.func @other_number(
// CHECK-NOT: call
// CHECK: return
func.func @other_number(%x: !torch.vtensor<[4,4],f16>, %a: !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16> {
  %f1 = torch.constant.float 1.5
  %f2 = torch.constant.float 2.5
  %0 = torch.aten.mm %x, %a : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %1 = torch.aten.mul.Scalar %0, %f1 : !torch.vtensor<[4,4],f16>, !torch.float -> !torch.vtensor<[4,4],f16>
  %2 = torch.aten.mm %1, %a : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %3 = torch.aten.mul.Scalar %2, %f2 : !torch.vtensor<[4,4],f16>, !torch.float -> !torch.vtensor<[4,4],f16>
  return %3 : !torch.vtensor<[4,4],f16>
}

// -----

// The second instance reads one tensor twice where the first reads two.
// CHECK-LABEL: func.func @other_wiring(
// CHECK-NOT: call
// CHECK: return
func.func @other_wiring(%x: !torch.vtensor<[4,4],f16>, %a: !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4,4],f16> {
  %0 = torch.aten.mm %x, %a : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %1 = torch.aten.mul.Tensor %0, %x : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %2 = torch.aten.mm %1, %a : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  %3 = torch.aten.mul.Tensor %2, %a : !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,4],f16> -> !torch.vtensor<[4,4],f16>
  return %3 : !torch.vtensor<[4,4],f16>
}

// -----

// Without a matrix product it is no layer.
// CHECK-LABEL: func.func @no_product(
// CHECK-NOT: call
// CHECK: return
func.func @no_product(%x: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  %1 = torch.aten.neg %0 : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  %2 = torch.aten.exp %1 : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  %3 = torch.aten.neg %2 : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  return %3 : !torch.vtensor<[4],f16>
}
