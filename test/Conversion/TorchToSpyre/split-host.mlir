// RUN: spyre-opt %s -split-input-file -spyre-split-host -verify-diagnostics | FileCheck %s
// RUN: spyre-opt %s -split-input-file -spyre-split-host=force -verify-diagnostics | FileCheck %s --check-prefix=FORCE

// One device function before, one behind; the view of what the host made is the host's.
// CHECK-LABEL: func.func private @main_part0(
// CHECK-NEXT: torch.aten.relu
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @main_part1(
// CHECK-NEXT: torch.aten.exp
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[A:.*]] = call @main_part0(%arg0)
// CHECK-NEXT: %[[B:.*]] = spyre.host_call "aten.erfinv"(%[[A]])
// CHECK-SAME: reason = "no form"
// CHECK-DAG: %[[C:.*]] = spyre.host_call "aten.t"(%[[B]])
// CHECK-DAG: %[[D:.*]] = call @main_part1(%[[B]])
// CHECK: return %[[C]], %[[D]]
func.func @main(%x: !torch.vtensor<[4,64],f16>) -> (!torch.vtensor<[64,4],f16>, !torch.vtensor<[4,64],f16>) {
  %0 = torch.aten.relu %x : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %1 = torch.aten.erfinv %0 {spyre.host = "no form"} : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %2 = torch.aten.t %1 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[64,4],f16>
  %3 = torch.aten.exp %1 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  return %2, %3 : !torch.vtensor<[64,4],f16>, !torch.vtensor<[4,64],f16>
}

// -----

// Two operations of the host and two of the device in turn, but independent: one device
// function. Lists belong to their readers; a list of views that the device makes stays there.
// CHECK-LABEL: func.func private @independent_part0(
// CHECK: torch.aten.exp
// CHECK: torch.aten.split.Tensor
// CHECK: torch.aten.cat
// CHECK-LABEL: func.func @independent(
// CHECK-NEXT: call @independent_part0
// CHECK-COUNT-2: spyre.host_call "aten.erfinv"
// CHECK-NEXT: {{.*}} = spyre.host_call "aten.cat"({{.*}}) {arguments = {{\[\[}}0 : index, 1 : index], 0]
func.func @independent(%x: !torch.vtensor<[4,64],f16>, %y: !torch.vtensor<[4,64],f16>) -> (!torch.vtensor<[8,64],f16>, !torch.vtensor<[4,64],f16>) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %0 = torch.aten.erfinv %x {spyre.host = "no form"} : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %1 = torch.aten.exp %x : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %2 = torch.aten.erfinv %y {spyre.host = "no form"} : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %3 = torch.aten.split.Tensor %1, %int2, %int0 : !torch.vtensor<[4,64],f16>, !torch.int, !torch.int -> !torch.list<vtensor>
  %4:2 = torch.prim.ListUnpack %3 : !torch.list<vtensor> -> !torch.vtensor<[2,64],f16>, !torch.vtensor<[2,64],f16>
  %5 = torch.prim.ListConstruct %4#1, %4#0 : (!torch.vtensor<[2,64],f16>, !torch.vtensor<[2,64],f16>) -> !torch.list<vtensor>
  %6 = torch.aten.cat %5, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,64],f16>
  %7 = torch.prim.ListConstruct %0, %2 : (!torch.vtensor<[4,64],f16>, !torch.vtensor<[4,64],f16>) -> !torch.list<vtensor>
  %8 = torch.aten.cat %7, %int0 {spyre.host = "asked for"} : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[8,64],f16>
  return %8, %6 : !torch.vtensor<[8,64],f16>, !torch.vtensor<[4,64],f16>
}

// -----

// Numbers that the program computes are passed on the host; what takes them is there.
// CHECK-LABEL: func.func @numbers(
// CHECK: %[[N:.*]] = spyre.host_call "aten.item"(%arg1)
// CHECK-SAME: -> !torch.int
// CHECK: spyre.host_call "aten.add.Scalar"(%arg0, %[[N]])
// CHECK-SAME: reason = "it takes a number that the program computes"
func.func @numbers(%x: !torch.vtensor<[4],f16>, %n: !torch.vtensor<[],si64>) -> !torch.vtensor<[4],f16> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.item %n {spyre.host = "no form"} : !torch.vtensor<[],si64> -> !torch.int
  %1 = torch.aten.add.Scalar %x, %0, %int1 : !torch.vtensor<[4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4],f16>
  return %1 : !torch.vtensor<[4],f16>
}

// -----

// Results of a list by their places in it; random numbers in the program's order.
// CHECK-LABEL: func.func @lists_and_order(
// CHECK: spyre.host_call "aten.rand"
// CHECK: spyre.host_call "aten.bernoulli"
// CHECK: %{{.*}}:2 = spyre.host_call "aten.split.Tensor"
// CHECK-SAME: items = array<i64: 0, 2>, numbers = array<i64: 0, 0>
func.func @lists_and_order(%x: !torch.vtensor<[6],f16>) -> (!torch.vtensor<[2],f16>, !torch.vtensor<[2],f16>, !torch.vtensor<[6],f16>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %none = torch.constant.none
  %sizes = torch.prim.ListConstruct %int3 : (!torch.int) -> !torch.list<int>
  %r = torch.aten.rand %sizes, %none, %none, %none, %none {spyre.host = "random"} : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],f32>
  %b = torch.aten.bernoulli %x, %none {spyre.host = "random"} : !torch.vtensor<[6],f16>, !torch.none -> !torch.vtensor<[6],f16>
  %0 = torch.aten.split.Tensor %b, %int2, %int0 : !torch.vtensor<[6],f16>, !torch.int, !torch.int -> !torch.list<vtensor>
  %1:3 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[2],f16>, !torch.vtensor<[2],f16>, !torch.vtensor<[2],f16>
  return %1#0, %1#2, %b, %r : !torch.vtensor<[2],f16>, !torch.vtensor<[2],f16>, !torch.vtensor<[6],f16>, !torch.vtensor<[3],f32>
}

// -----

// A NaN of an argument is told from an infinity: the cast before it is the host's, too.
// CHECK-LABEL: func.func @nans(
// CHECK: spyre.host_call "prims.convert_element_type"(%arg0)
// CHECK: spyre.host_call "aten.isnan"
func.func @nans(%x: !torch.vtensor<[6],f16>) -> (!torch.vtensor<[6],i1>, !torch.vtensor<[6],f16>) {
  %int6 = torch.constant.int 6
  %0 = torch.prims.convert_element_type %x, %int6 : !torch.vtensor<[6],f16>, !torch.int -> !torch.vtensor<[6],f32>
  %1 = torch.aten.isnan %0 {spyre.host = "no form"} : !torch.vtensor<[6],f32> -> !torch.vtensor<[6],i1>
  %2 = torch.aten.exp %x : !torch.vtensor<[6],f16> -> !torch.vtensor<[6],f16>
  return %1, %2 : !torch.vtensor<[6],i1>, !torch.vtensor<[6],f16>
}

// -----

// The 16-bit value crosses, not its widening, which the second function makes itself.
// CHECK-LABEL: func.func private @widening_part0({{.*}} -> (!torch.vtensor<[4,8],f16>, !torch.vtensor<[4],f32>)
// CHECK: torch.aten.mul.Tensor
// CHECK: torch.prims.convert_element_type
// CHECK: torch.aten.sum.dim_IntList
// CHECK-LABEL: func.func private @widening_part1(%arg0: !torch.vtensor<[4,8],f16>, %arg1: !torch.vtensor<[4,8],f16>)
// CHECK: torch.prims.convert_element_type
// CHECK: torch.aten.t
// CHECK: torch.aten.mm
func.func @widening(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[4,8],f16>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[8,8],f32>) {
  %int6 = torch.constant.int 6
  %int1 = torch.constant.int 1
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %dims = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.mul.Tensor %x, %x : !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,8],f16> -> !torch.vtensor<[4,8],f16>
  %1 = torch.prims.convert_element_type %0, %int6 : !torch.vtensor<[4,8],f16>, !torch.int -> !torch.vtensor<[4,8],f32>
  %2 = torch.aten.t %1 : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[8,4],f32>
  %3 = torch.aten.sum.dim_IntList %1, %dims, %false, %none : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
  %4 = torch.aten.erfinv %0 {spyre.host = "no form"} : !torch.vtensor<[4,8],f16> -> !torch.vtensor<[4,8],f16>
  %5 = torch.prims.convert_element_type %4, %int6 : !torch.vtensor<[4,8],f16>, !torch.int -> !torch.vtensor<[4,8],f32>
  %6 = torch.aten.mm %2, %5 : !torch.vtensor<[8,4],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[8,8],f32>
  return %3, %6 : !torch.vtensor<[4],f32>, !torch.vtensor<[8,8],f32>
}

// -----

// The layer is taken apart once and inlined where it is called.
// CHECK-NOT: @layer(
// CHECK-LABEL: func.func private @layer_part0(
// CHECK-LABEL: func.func @program(
// CHECK-NEXT: %[[A:.*]] = spyre.host_call "aten.erfinv"(%arg0)
// CHECK-NEXT: %[[B:.*]] = call @layer_part0(%[[A]])
// CHECK-NEXT: %[[C:.*]] = spyre.host_call "aten.erfinv"(%[[B]])
// CHECK-NEXT: %[[D:.*]] = call @layer_part0(%[[C]])
// CHECK-NEXT: return %[[D]]
func.func private @layer(%x: !torch.vtensor<[6],f16>) -> !torch.vtensor<[6],f16> {
  %0 = torch.aten.erfinv %x {spyre.host = "no form"} : !torch.vtensor<[6],f16> -> !torch.vtensor<[6],f16>
  %1 = torch.aten.exp %0 : !torch.vtensor<[6],f16> -> !torch.vtensor<[6],f16>
  return %1 : !torch.vtensor<[6],f16>
}
func.func @program(%x: !torch.vtensor<[6],f16>) -> !torch.vtensor<[6],f16> {
  %0 = call @layer(%x) : (!torch.vtensor<[6],f16>) -> !torch.vtensor<[6],f16>
  %1 = call @layer(%0) : (!torch.vtensor<[6],f16>) -> !torch.vtensor<[6],f16>
  return %1 : !torch.vtensor<[6],f16>
}

// -----

// Nothing is marked: nothing happens, unless it has to.
// CHECK-LABEL: func.func @unmarked(
// CHECK-NEXT: torch.aten.exp
// FORCE-LABEL: func.func @unmarked(
// FORCE-NEXT: call @unmarked_part0(%arg0)
func.func @unmarked(%x: !torch.vtensor<[6],f16>, %n: !torch.int) -> !torch.vtensor<[6],f16> {
  %1 = torch.aten.exp %x : !torch.vtensor<[6],f16> -> !torch.vtensor<[6],f16>
  return %1 : !torch.vtensor<[6],f16>
}

// -----

func.func @unknown_size(%x: !torch.vtensor<[6],f16>) -> !torch.vtensor<[?,1],si64> {
  // expected-error@+1 {{aten.nonzero is not supported on the host: !torch.vtensor<[?,1],si64>: dim 0 is dynamic}}
  %1 = torch.aten.nonzero %x {spyre.host = "no form"} : !torch.vtensor<[6],f16> -> !torch.vtensor<[?,1],si64>
  return %1 : !torch.vtensor<[?,1],si64>
}

// -----

// Nor the widened value after it has been scaled; a sum of two f32 values crosses.
// CHECK-LABEL: func.func private @scaling_part0({{.*}} -> (!torch.vtensor<[8,8],f16>, !torch.vtensor<[8,8],f32>)
// CHECK-LABEL: func.func private @scaling_part1(
// CHECK: torch.prims.convert_element_type
// CHECK: torch.aten.mul.Scalar
// CHECK: torch.aten.mm
func.func @scaling(%x: !torch.vtensor<[8,8],f16>, %y: !torch.vtensor<[8,8],f16>) -> (!torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],f32>) {
  %int6 = torch.constant.int 6
  %int1 = torch.constant.int 1
  %scale = torch.constant.float 1.250000e-01
  %0 = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[8,8],f16>, !torch.vtensor<[8,8],f16> -> !torch.vtensor<[8,8],f16>
  %1 = torch.prims.convert_element_type %0, %int6 : !torch.vtensor<[8,8],f16>, !torch.int -> !torch.vtensor<[8,8],f32>
  %2 = torch.aten.mul.Scalar %1, %scale : !torch.vtensor<[8,8],f32>, !torch.float -> !torch.vtensor<[8,8],f32>
  %3 = torch.prims.convert_element_type %y, %int6 : !torch.vtensor<[8,8],f16>, !torch.int -> !torch.vtensor<[8,8],f32>
  %4 = torch.aten.add.Tensor %2, %3, %int1 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],f32>, !torch.int -> !torch.vtensor<[8,8],f32>
  %5 = torch.aten.erfinv %0 {spyre.host = "no form"} : !torch.vtensor<[8,8],f16> -> !torch.vtensor<[8,8],f16>
  %6 = torch.prims.convert_element_type %5, %int6 : !torch.vtensor<[8,8],f16>, !torch.int -> !torch.vtensor<[8,8],f32>
  %7 = torch.aten.mm %2, %6 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],f32> -> !torch.vtensor<[8,8],f32>
  %8 = torch.aten.mul.Tensor %4, %7 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],f32> -> !torch.vtensor<[8,8],f32>
  return %8, %4 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],f32>
}

// -----

// What has effects runs, in its order, even if nobody reads what it gives.
// CHECK-LABEL: func @effects(
// CHECK: spyre.host_call "aten._print"() {arguments = ["before"]
// CHECK: spyre.host_call "my.log"(%{{.*}}) {{{.*}}} : (!torch.vtensor<[4],f16>) -> ()
// CHECK: spyre.host_call "aten._print"() {arguments = ["behind"]
func.func @effects(%x: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %before = torch.constant.str "before"
  %behind = torch.constant.str "behind"
  torch.operator "torch.aten._print"(%before) {spyre.host = "effect"} : (!torch.str) -> ()
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  %1 = torch.operator "torch.my.log"(%0) {effect, spyre.host = "effect"} : (!torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16>
  torch.operator "torch.aten._print"(%behind) {spyre.host = "effect"} : (!torch.str) -> ()
  return %0 : !torch.vtensor<[4],f16>
}

// -----

// A device function that gives nothing is none: here assertions about a constant.
// FORCE-LABEL: func @about_constants(
// FORCE-NOT: call @about_constants_part
// FORCE: return %arg0
func.func @about_constants(%x: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %none = torch.constant.none
  %int6 = torch.constant.int 6
  %0 = torch.vtensor.literal(dense<1.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %1 = torch.aten.clone %0, %none : !torch.vtensor<[],f32>, !torch.none -> !torch.vtensor<[],f32>
  torch.aten._assert_tensor_metadata %1, %none, %none, %int6, %none, %none : !torch.vtensor<[],f32>, !torch.none, !torch.none, !torch.int, !torch.none, !torch.none
  return %x : !torch.vtensor<[4],f16>
}

// -----

// What two layers do around the host's operations is the same: one function, which the last
// part, though as long, is not.
// CHECK-LABEL: func.func private @equal_part0(
// CHECK-NEXT: torch.aten.relu
// CHECK-NOT: func.func private @equal_part1(
// CHECK-LABEL: func.func private @equal_part2(
// CHECK-NEXT: torch.aten.exp
// CHECK-LABEL: func.func @equal(
// CHECK-NEXT: %[[A:.*]] = call @equal_part0(%arg0)
// CHECK-NEXT: %[[B:.*]] = spyre.host_call "aten.erfinv"(%[[A]])
// CHECK-NEXT: %[[C:.*]] = call @equal_part0(%[[B]])
// CHECK-NEXT: %[[D:.*]] = spyre.host_call "aten.erfinv"(%[[C]])
// CHECK-NEXT: call @equal_part2(%[[D]])
func.func @equal(%x: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
  %0 = torch.aten.relu %x : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %1 = torch.aten.erfinv %0 {spyre.host = "no form"} : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %2 = torch.aten.relu %1 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %3 = torch.aten.erfinv %2 {spyre.host = "no form"} : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %4 = torch.aten.exp %3 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  return %4 : !torch.vtensor<[4,64],f16>
}
