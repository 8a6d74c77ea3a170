// RUN: spyre-opt %s -split-input-file -verify-diagnostics | FileCheck %s
// RUN: spyre-opt %s -split-input-file -verify-diagnostics --verify-roundtrip -o /dev/null

// CHECK-LABEL: func.func @all_kinds(
// CHECK: spyre.host_call "aten.index.Tensor"(%arg0, %arg1)
// CHECK-SAME: arguments = [0 : index, [unit, 1 : index], 3, 5.000000e-01, true, "floor"]
// CHECK-SAME: reason = "no device form"
// CHECK-SAME: (!torch.vtensor<[4],f32>, !torch.int) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>)
func.func @all_kinds(%x: !torch.vtensor<[4],f32>, %n: !torch.int) -> !torch.vtensor<[2],f32> {
  %0:2 = spyre.host_call "aten.index.Tensor"(%x, %n) {arguments = [0 : index, [unit, 1 : index], 3, 5.0e-01 : f64, true, "floor"], numbers = array<i64: 0, 0>, items = array<i64: 0, 1>, reason = "no device form"} : (!torch.vtensor<[4],f32>, !torch.int) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>)
  return %0#0 : !torch.vtensor<[2],f32>
}

// -----

func.func @no_such_input(%x: tensor<4xf32>) {
  // expected-error@+1 {{argument names input 1 of 1}}
  %0 = spyre.host_call "aten.relu"(%x) {arguments = [0 : index, [1 : index]], numbers = array<i64: 0>, items = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unnamed_input(%x: tensor<4xf32>) {
  // expected-error@+1 {{input 0 is no argument}}
  %0 = spyre.host_call "aten.relu"(%x) {arguments = [1], numbers = array<i64: 0>, items = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @other_argument(%x: tensor<4xf32>) {
  // expected-error@+1 {{is no i64, f64, complex<f64>, bool, string, unit, input or list of them}}
  %0 = spyre.host_call "aten.relu"(%x) {arguments = [0 : index, 1 : i32], numbers = array<i64: 0>, items = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @numbers(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs one of `numbers` and of `items` a result}}
  %0 = spyre.host_call "aten.relu"(%x) {arguments = [0 : index], numbers = array<i64>, items = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{result 0, item -2 does not exist}}
  %0 = spyre.host_call "aten.relu"(%x) {arguments = [0 : index], numbers = array<i64: 0>, items = array<i64: -2>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @nameless() {
  // expected-error@+1 {{names no function}}
  spyre.host_call ""() {arguments = [], numbers = array<i64>, items = array<i64>} : () -> ()
  return
}
