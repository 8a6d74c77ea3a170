// RUN: spyre-opt %s --spyre-specialize-shapes --split-input-file | FileCheck %s
// RUN: spyre-opt %s --spyre-specialize-shapes --split-input-file > %t.once
// RUN: spyre-opt %t.once --spyre-specialize-shapes --split-input-file | diff - %t.once

// A counter of the loop's own: slices at it are slices at constants; carries that change places.
// CHECK-LABEL: func.func @counter(
// CHECK-SAME: %[[X:.*]]: {{.*}}, %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK-NOT: prim.Loop
// CHECK: torch.constant.bool true
// CHECK: %[[I0:.*]] = torch.constant.int 0
// CHECK: %[[R0:.*]] = torch.aten.select.int %[[X]], %{{[0-9]*}}, %[[I0]]{{ }}
// CHECK: %[[A1:.*]] = torch.aten.add.Tensor %[[A]], %[[R0]]
// CHECK: %[[I1:.*]] = torch.constant.int 1
// CHECK: %[[R1:.*]] = torch.aten.select.int %[[X]], %{{[0-9]*}}, %[[I1]]{{ }}
// CHECK: %[[B1:.*]] = torch.aten.add.Tensor %[[B]], %[[R1]]
// CHECK: return %[[A1]], %[[B1]]
func.func @counter(%x: !torch.vtensor<[6,64],f16>, %a: !torch.vtensor<[64],f16>, %b: !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>, !torch.vtensor<[64],f16>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %true = torch.constant.bool true
  %0:2 = torch.prim.Loop %int2, %true, init(%a, %b) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>, %q: !torch.vtensor<[64],f16>):
    %row = torch.aten.select.int %x, %int0, %i : !torch.vtensor<[6,64],f16>, !torch.int, !torch.int -> !torch.vtensor<[64],f16>
    %sum = torch.aten.add.Tensor %p, %row, %int1 : !torch.vtensor<[64],f16>, !torch.vtensor<[64],f16>, !torch.int -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %true, iter(%q, %sum : !torch.vtensor<[64],f16>, !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>, !torch.vtensor<[64],f16>)
  return %0#0, %0#1 : !torch.vtensor<[64],f16>, !torch.vtensor<[64],f16>
}

// -----

// A while_loop as torch-mlir has it: functions, and a counter in a tensor that a constant ends.
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @tensor_counter(
// CHECK-COUNT-3: torch.aten.tanh
// CHECK-NOT: torch.aten.tanh
// CHECK: return
func.func private @cond(%i: !torch.vtensor<[],si64>, %a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[],i1> {
  %int7 = torch.constant.int 7
  %0 = torch.aten.lt.Scalar %i, %int7 : !torch.vtensor<[],si64>, !torch.int -> !torch.vtensor<[],i1>
  return %0 : !torch.vtensor<[],i1>
}
func.func private @body(%i: !torch.vtensor<[],si64>, %a: !torch.vtensor<[64],f16>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[64],f16>) {
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %0 = torch.aten.add.Scalar %i, %int3, %int1 : !torch.vtensor<[],si64>, !torch.int, !torch.int -> !torch.vtensor<[],si64>
  %1 = torch.aten.tanh %a : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
  return %0, %1 : !torch.vtensor<[],si64>, !torch.vtensor<[64],f16>
}
func.func @tensor_counter(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %none = torch.constant.none
  %0 = torch.vtensor.literal(dense<0> : tensor<si64>) : !torch.vtensor<[],si64>
  %1 = torch.aten.clone %0, %none : !torch.vtensor<[],si64>, !torch.none -> !torch.vtensor<[],si64>
  %2 = call @cond(%1, %a) : (!torch.vtensor<[],si64>, !torch.vtensor<[64],f16>) -> !torch.vtensor<[],i1>
  %3 = torch.aten.Bool.Tensor %2 : !torch.vtensor<[],i1> -> !torch.bool
  %most = torch.constant.int 9223372036854775807
  %4:2 = torch.prim.Loop %most, %3, init(%1, %a) {
  ^bb0(%n: !torch.int, %i: !torch.vtensor<[],si64>, %p: !torch.vtensor<[64],f16>):
    %5:2 = func.call @body(%i, %p) : (!torch.vtensor<[],si64>, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[64],f16>)
    %6 = func.call @cond(%5#0, %5#1) : (!torch.vtensor<[],si64>, !torch.vtensor<[64],f16>) -> !torch.vtensor<[],i1>
    %7 = torch.aten.Bool.Tensor %6 : !torch.vtensor<[],i1> -> !torch.bool
    torch.prim.Loop.condition %7, iter(%5#0, %5#1 : !torch.vtensor<[],si64>, !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[],si64>, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[64],f16>)
  return %4#1 : !torch.vtensor<[64],f16>
}

// -----

// The inner loop makes as many trips as the outer one has made: 0 + 1 + 2.
// CHECK-LABEL: func.func @nested(
// CHECK-COUNT-3: torch.aten.tanh
// CHECK-NOT: torch.aten.tanh
// CHECK: return
func.func @nested(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %int3 = torch.constant.int 3
  %true = torch.constant.bool true
  %0 = torch.prim.Loop %int3, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = torch.prim.Loop %i, %true, init(%p) {
    ^bb0(%k: !torch.int, %q: !torch.vtensor<[64],f16>):
      %2 = torch.aten.tanh %q : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
      torch.prim.Loop.condition %true, iter(%2 : !torch.vtensor<[64],f16>)
    } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
    torch.prim.Loop.condition %true, iter(%1 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

// No trip: what is carried is what it began with.
// CHECK-LABEL: func.func @no_trip(
// CHECK-SAME: %[[A:.*]]: !torch
// CHECK: return %[[A]]
func.func @no_trip(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %int3 = torch.constant.int 3
  %false = torch.constant.bool false
  %0 = torch.prim.Loop %int3, %false, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = torch.aten.tanh %p : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %false, iter(%1 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

// Written side by side: rows 1 and 2 of 4, put together at once; the later writing of a row counts.
// CHECK-LABEL: func.func @written(
// CHECK-SAME: %[[W:.*]]: !torch.vtensor<[4,64],f16>, %[[A:.*]]: !torch.vtensor<[64],f16>)
// CHECK: %[[T0:.*]] = torch.aten.tanh %[[A]]
// CHECK: %[[T1:.*]] = torch.aten.tanh %[[T0]]
// CHECK: %[[P0:.*]] = torch.aten.unsqueeze %[[T0]]
// CHECK: %[[P1:.*]] = torch.aten.unsqueeze %[[T1]]
// CHECK: %[[L:.*]] = torch.prim.ListConstruct %[[P0]], %[[P1]]
// CHECK: %[[C:.*]] = torch.aten.cat %[[L]], {{.*}} -> !torch.vtensor<[2,64],f16>
// CHECK: %[[R:.*]] = torch.aten.slice_scatter %[[W]], %[[C]]
// CHECK-NOT: scatter
// CHECK: return %[[R]]
func.func @written(%w: !torch.vtensor<[4,64],f16>, %a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[4,64],f16> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %true = torch.constant.bool true
  %0:2 = torch.prim.Loop %int2, %true, init(%w, %a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[4,64],f16>, %q: !torch.vtensor<[64],f16>):
    %1 = torch.aten.tanh %q : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    %at = torch.aten.add.int %i, %int1 : !torch.int, !torch.int -> !torch.int
    %2 = torch.aten.select_scatter %p, %q, %int0, %at : !torch.vtensor<[4,64],f16>, !torch.vtensor<[64],f16>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f16>
    %3 = torch.aten.select_scatter %2, %1, %int0, %at : !torch.vtensor<[4,64],f16>, !torch.vtensor<[64],f16>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f16>
    torch.prim.Loop.condition %true, iter(%3, %1 : !torch.vtensor<[4,64],f16>, !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[4,64],f16>, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[4,64],f16>, !torch.vtensor<[64],f16>)
  return %0#0 : !torch.vtensor<[4,64],f16>
}

// -----

// What a trip reads of what it writes keeps its writings apart.
// CHECK-LABEL: func.func @read_between(
// CHECK-COUNT-2: torch.aten.select_scatter
// CHECK-NOT: torch.aten.cat
// CHECK: return
func.func @read_between(%w: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
  %int0 = torch.constant.int 0
  %int3 = torch.constant.int 3
  %int2 = torch.constant.int 2
  %true = torch.constant.bool true
  %0 = torch.prim.Loop %int2, %true, init(%w) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[4,64],f16>):
    %1 = torch.aten.select.int %p, %int0, %int3 : !torch.vtensor<[4,64],f16>, !torch.int, !torch.int -> !torch.vtensor<[64],f16>
    %2 = torch.aten.select_scatter %p, %1, %int0, %i : !torch.vtensor<[4,64],f16>, !torch.vtensor<[64],f16>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f16>
    torch.prim.Loop.condition %true, iter(%2 : !torch.vtensor<[4,64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[4,64],f16>) -> (!torch.vtensor<[4,64],f16>)
  return %0 : !torch.vtensor<[4,64],f16>
}

// -----

// As many trips as the argument has rows, which nobody knows yet: for later.
// CHECK-LABEL: func.func @open(
// CHECK: torch.prim.Loop
func.func @open(%x: !torch.vtensor<[?,64],f16>, %a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %int0 = torch.constant.int 0
  %true = torch.constant.bool true
  %rows = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,64],f16>, !torch.int -> !torch.int
  %0 = torch.prim.Loop %rows, %true, init(%a) {
  ^bb0(%i: !torch.int, %p: !torch.vtensor<[64],f16>):
    %1 = torch.aten.tanh %p : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
    torch.prim.Loop.condition %true, iter(%1 : !torch.vtensor<[64],f16>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[64],f16>) -> (!torch.vtensor<[64],f16>)
  return %0 : !torch.vtensor<[64],f16>
}

// -----

// A branch that is known calls a function; that of the other one goes.
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @branch(
// CHECK: torch.aten.tanh
// CHECK-NOT: torch.aten.neg
func.func private @yes(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %0 = torch.aten.tanh %a : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
  return %0 : !torch.vtensor<[64],f16>
}
func.func private @no(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %0 = torch.aten.neg %a : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
  return %0 : !torch.vtensor<[64],f16>
}
func.func @branch(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %0 = torch.vtensor.literal(dense<true> : tensor<i1>) : !torch.vtensor<[],i1>
  %1 = torch.aten.Bool.Tensor %0 : !torch.vtensor<[],i1> -> !torch.bool
  %2 = torch.prim.If %1 -> (!torch.vtensor<[64],f16>) {
    %3 = func.call @yes(%a) : (!torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16>
    torch.prim.If.yield %3 : !torch.vtensor<[64],f16>
  } else {
    %3 = func.call @no(%a) : (!torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16>
    torch.prim.If.yield %3 : !torch.vtensor<[64],f16>
  }
  return %2 : !torch.vtensor<[64],f16>
}

// -----

// negative-no-loop: a function that is called for another reason stays.
// CHECK: func.func private @layer(
// CHECK-LABEL: func.func @calls(
// CHECK: call @layer
func.func private @layer(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %0 = torch.aten.tanh %a : !torch.vtensor<[64],f16> -> !torch.vtensor<[64],f16>
  return %0 : !torch.vtensor<[64],f16>
}
func.func @calls(%a: !torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16> {
  %0 = call @layer(%a) : (!torch.vtensor<[64],f16>) -> !torch.vtensor<[64],f16>
  return %0 : !torch.vtensor<[64],f16>
}
