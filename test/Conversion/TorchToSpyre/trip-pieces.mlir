// RUN: spyre-opt %s --spyre-specialize-shapes --spyre-outline-layers --split-input-file | FileCheck %s

// 400 trips of three operations: pieces of 80 trips, each with its rows of what all go through and one part of
// what they write.
// CHECK-LABEL: func.func private @many_layer(
// CHECK-SAME: !torch.vtensor<[80,64],f16>
// CHECK-SAME: -> ({{.*}}!torch.vtensor<[80,64],f16>
// CHECK-COUNT-80: torch.aten.tanh
// CHECK-NOT: torch.aten.tanh
// CHECK: return
// CHECK-LABEL: func.func @many(
// CHECK: call @many_begin
// CHECK-COUNT-5: call @many_layer
// CHECK-NOT: call @many_layer
// CHECK: call @many_end
func.func @many(%x: !torch.vtensor<[400,64],f16>, %w: !torch.vtensor<[400,64],f16>, %a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[400,64],f16> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %most = torch.constant.int 400
  %true = torch.constant.bool true
  %0 = torch.aten.tanh %a : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
  %1:2 = torch.prim.Loop %most, %true, init(%w, %0) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[400,64],f16>, %q: !torch.vtensor<[64],f16>):
    %row = torch.aten.select.int %x, %int0, %i : !torch.vtensor<[400,64],f16>, !torch.int, !torch.int -> !torch.vtensor<[64],f16>
    %sum = torch.aten.add.Tensor %q, %row, %int1 : !torch.vtensor<[64],f16>, !torch.vtensor<[64],f16>, !torch.int -> !torch.vtensor<[64],f16>
    %next = torch.aten.tanh %sum : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    %written = torch.aten.select_scatter %p, %next, %int0, %i : !torch.vtensor<[400,64],f16>, !torch.vtensor<[64],f16>, !torch.int, !torch.int -> !torch.vtensor<[400,64],f16>
    torch.prim.Loop.condition %true, iter(%written, %next : !torch.vtensor<[400,64],f16>, !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[400,64],f16>, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[400,64],f16>, !torch.vtensor<[64],f16>)
  return %1#0 : !torch.vtensor<[400,64],f16>
}

// -----

// negative-few: sixteen trips with a product each stay in one function.
// CHECK-LABEL: func.func @few(
// CHECK-COUNT-16: torch.aten.mm
// CHECK-NOT: call
// CHECK: return
func.func @few(%x: !torch.vtensor<[64,64],f16>) -> !torch.vtensor<[64,64],f16> {
  %most = torch.constant.int 16
  %true = torch.constant.bool true
  %0 = torch.prim.Loop %most, %true, init(%x) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64,64],f16>):
    %1 = torch.aten.mm %p, %x : !torch.vtensor<[64,64],f16>, !torch.vtensor<[64,64],f16> -> !torch.vtensor<[64,64],f16>
    %2 = torch.aten.tanh %1 : !torch.vtensor<[64,64],f16> -> !torch.vtensor<[64,64],f16>
    torch.prim.Loop.condition %true, iter(%2 : !torch.vtensor<[64,64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64,64],f16>) -> (!torch.vtensor<[64,64],f16>)
  return %0 : !torch.vtensor<[64,64],f16>
}

// -----

// negative-uneven: what is read at distances that differ is read of the whole tensor.
// CHECK-LABEL: func.func @uneven(
// CHECK-NOT: torch.aten.slice.Tensor
// CHECK: return
func.func @uneven(%x: !torch.vtensor<[200000,8],f16>, %a: !torch.vtensor<[8],f16>) -> !torch.vtensor<[8],f16> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %most = torch.constant.int 400
  %true = torch.constant.bool true
  %0 = torch.prim.Loop %most, %true, init(%a) {
  ^bb0(%i: !torch.int, %q: !torch.vtensor<[8],f16>):
    %at = torch.aten.mul.int %i, %i : !torch.int, !torch.int -> !torch.int
    %row = torch.aten.select.int %x, %int0, %at : !torch.vtensor<[200000,8],f16>, !torch.int, !torch.int -> !torch.vtensor<[8],f16>
    %sum = torch.aten.add.Tensor %q, %row, %int1 : !torch.vtensor<[8],f16>, !torch.vtensor<[8],f16>, !torch.int -> !torch.vtensor<[8],f16>
    torch.prim.Loop.condition %true, iter(%sum : !torch.vtensor<[8],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[8],f16>) -> (!torch.vtensor<[8],f16>)
  return %0 : !torch.vtensor<[8],f16>
}

// -----

// Two loops with something between them: a function for the pieces of each.
// CHECK-DAG: func.func private @two_layer(
// CHECK-DAG: func.func private @two_layer1(
// CHECK-DAG: func.func private @two_between1(
// CHECK-LABEL: func.func @two(
// CHECK: call @two_layer(
// CHECK: call @two_between1(
// CHECK: call @two_layer1(
// CHECK: return
func.func @two(%x: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %int1 = torch.constant.int 1
  %most = torch.constant.int 600
  %true = torch.constant.bool true
  %0 = torch.prim.Loop %most, %true, init(%x) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %3 = torch.aten.tanh %p : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %true, iter(%3 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  %1 = torch.aten.exp %0 : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
  %2 = torch.prim.Loop %most, %true, init(%1) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %3 = torch.aten.sigmoid %p : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %true, iter(%3 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %2 : !torch.vtensor<[64],f16>
}
