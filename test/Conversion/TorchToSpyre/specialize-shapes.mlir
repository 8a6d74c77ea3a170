// RUN: spyre-opt %s --spyre-specialize-shapes='shapes=6x4,6x3,7,?' | FileCheck %s
// RUN: spyre-opt %s --spyre-specialize-shapes='shapes=6x4,6x3,7,?' | spyre-opt --spyre-specialize-shapes='shapes=6x4,6x3,7,?' | FileCheck %s

// Symbols get their values from the arguments: s0 by itself, s1 from 2 s1 + 1.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: !torch.vtensor<[6,4],f16>, %arg1: !torch.vtensor<[6,3],f16>, %arg2: !torch.vtensor<[7],f16>, %arg3: !torch.vtensor<[?],f16>
// CHECK-SAME: -> (!torch.vtensor<[24],f16>, !torch.vtensor<[6,7],f16>, !torch.vtensor<[3,6],f16>, !torch.vtensor<[?],f16>)
// CHECK-NOT: torch.symbolic_int
// CHECK-NOT: torch.aten.mul.int
// CHECK-NOT: torch.runtime.assert
// CHECK-NOT: torch.prim.If
// CHECK-NOT: torch.bind_symbolic_shape %arg0
func.func @main(%arg0: !torch.vtensor<[?,4],f16>, %arg1: !torch.vtensor<[?,?],f16>, %arg2: !torch.vtensor<[?],f16>, %arg3: !torch.vtensor<[?],f16>)
    -> (!torch.vtensor<[?],f16>, !torch.vtensor<[?,?],f16>, !torch.vtensor<[?,?],f16>, !torch.vtensor<[?],f16>) {
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
  %1 = torch.symbolic_int "s1" {min_val = 2, max_val = 9223372036854775807} : !torch.int
  torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 4)> : !torch.vtensor<[?,4],f16>
  // The operands' order is not the symbols'.
  torch.bind_symbolic_shape %arg1, [%1, %0], affine_map<()[s0, s1] -> (s1, s0)> : !torch.vtensor<[?,?],f16>
  torch.bind_symbolic_shape %arg2, [%1], affine_map<()[s0] -> (s0 * 2 + 1)> : !torch.vtensor<[?],f16>
  %int4 = torch.constant.int 4
  %int0 = torch.constant.int 0
  %2 = torch.aten.mul.int %0, %int4 : !torch.int, !torch.int -> !torch.int
  %3 = torch.prim.ListConstruct %2 : (!torch.int) -> !torch.list<int>
  // By its own binding.
  // CHECK: %[[C24:.*]] = torch.constant.int 24
  // CHECK: torch.prim.ListConstruct %[[C24]]
  // CHECK: torch.aten.view {{.*}} -> !torch.vtensor<[24],f16>
  %4 = torch.aten.view %arg0, %3 : !torch.vtensor<[?,4],f16>, !torch.list<int> -> !torch.vtensor<[?],f16>
  torch.bind_symbolic_shape %4, [%0], affine_map<()[s0] -> (s0 * 4)> : !torch.vtensor<[?],f16>
  // An assertion that holds.
  %5 = torch.aten.ge.int %2, %int4 : !torch.int, !torch.int -> !torch.bool
  torch.runtime.assert %5, "too few"
  // By inference: nothing is bound, or only a part.
  // CHECK: torch.aten.unsqueeze {{.*}} -> !torch.vtensor<[1,7],f16>
  // CHECK: torch.aten.size.int %arg3
  // CHECK: torch.aten.expand {{.*}} -> !torch.vtensor<[6,7],f16>
  %6 = torch.aten.unsqueeze %arg2, %int0 : !torch.vtensor<[?],f16>, !torch.int -> !torch.vtensor<[1,?],f16>
  %int-1 = torch.constant.int -1
  %false = torch.constant.bool false
  %7 = torch.aten.size.int %arg1, %int0 : !torch.vtensor<[?,?],f16>, !torch.int -> !torch.int
  %unknown = torch.aten.size.int %arg3, %int0 : !torch.vtensor<[?],f16>, !torch.int -> !torch.int
  %8 = torch.prim.ListConstruct %7, %int-1 : (!torch.int, !torch.int) -> !torch.list<int>
  %9 = torch.aten.expand %6, %8, %false : !torch.vtensor<[1,?],f16>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,?],f16>
  // CHECK: torch.aten.t {{.*}} -> !torch.vtensor<[3,6],f16>
  %10 = torch.aten.eq.int %7, %0 : !torch.int, !torch.int -> !torch.bool
  %11 = torch.prim.If %10 -> (!torch.vtensor<[?,?],f16>) {
    %12 = torch.aten.t %arg1 : !torch.vtensor<[?,?],f16> -> !torch.vtensor<[?,?],f16>
    torch.prim.If.yield %12 : !torch.vtensor<[?,?],f16>
  } else {
    torch.prim.If.yield %arg1 : !torch.vtensor<[?,?],f16>
  }
  // Of an argument whose size is not given.
  // CHECK: torch.aten.relu %arg3 : !torch.vtensor<[?],f16> -> !torch.vtensor<[?],f16>
  %13 = torch.aten.relu %arg3 : !torch.vtensor<[?],f16> -> !torch.vtensor<[?],f16>
  // CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !torch.vtensor<[24],f16>, !torch.vtensor<[6,7],f16>, !torch.vtensor<[3,6],f16>, !torch.vtensor<[?],f16>
  %use = torch.aten.of_size %unknown : !torch.int -> !torch.vtensor<[],f16>
  return %4, %9, %11, %13 : !torch.vtensor<[?],f16>, !torch.vtensor<[?,?],f16>, !torch.vtensor<[?,?],f16>, !torch.vtensor<[?],f16>
}
