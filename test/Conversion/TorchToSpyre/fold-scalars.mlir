// RUN: spyre-opt %s --split-input-file --spyre-specialize-shapes | FileCheck %s

// As Python computes: floors, remainders and bools.
// CHECK-LABEL: func.func @arithmetic
// CHECK: torch.constant.int -10
// CHECK-NEXT: %[[REM:.*]] = torch.constant.int 2
// CHECK-NEXT: torch.constant.int -7
// CHECK-NEXT: torch.constant.int 2
// CHECK-NEXT: torch.constant.int -2
// CHECK-NEXT: %[[FLOOR:.*]] = torch.constant.int -3
// CHECK-NEXT: %[[PRODUCT:.*]] = torch.constant.int 49
// CHECK-NEXT: %[[DIV:.*]] = torch.constant.float 3.500000e+00
// CHECK-NEXT: torch.prim.ListConstruct
// CHECK-NEXT: %[[MAX:.*]] = torch.constant.int 7
// CHECK-NEXT: %[[TRUTH:.*]] = torch.constant.bool true
// CHECK-NEXT: torch.constant.bool false
// CHECK-NEXT: %[[AND:.*]] = torch.constant.bool false
// CHECK-NEXT: %[[INT:.*]] = torch.constant.int 1
// CHECK-NEXT: %[[CEIL:.*]] = torch.constant.int 4
// CHECK-NEXT: return %[[REM]], %[[FLOOR]], %[[PRODUCT]], %[[DIV]], %[[MAX]], %[[TRUTH]], %[[AND]], %[[INT]], %[[CEIL]] :
func.func @arithmetic() -> (!torch.int, !torch.int, !torch.int, !torch.float, !torch.int, !torch.bool, !torch.bool, !torch.int, !torch.int) {
  %int7 = torch.constant.int 7
  %int-3 = torch.constant.int -3
  %int2 = torch.constant.int 2
  %c = torch.aten.add.int %int7, %int-3 : !torch.int, !torch.int -> !torch.int
  %0 = torch.aten.remainder.int %int-3, %int2 : !torch.int, !torch.int -> !torch.int
  %r = torch.aten.sub.int %int-3, %int7 : !torch.int, !torch.int -> !torch.int
  %r1 = torch.aten.remainder.int %r, %c : !torch.int, !torch.int -> !torch.int
  %f = torch.aten.neg.int %int7 : !torch.int -> !torch.int
  %f1 = torch.aten.floordiv.int %f, %int-3 : !torch.int, !torch.int -> !torch.int
  %f2 = torch.aten.floordiv.int %f, %c : !torch.int, !torch.int -> !torch.int
  %f3 = torch.aten.sub.int %f2, %0 : !torch.int, !torch.int -> !torch.int
  %p = torch.aten.mul.int %int7, %int7 : !torch.int, !torch.int -> !torch.int
  %d = torch.aten.div.int %int7, %int2 : !torch.int, !torch.int -> !torch.float
  %l = torch.prim.ListConstruct %int2, %int7 : (!torch.int, !torch.int) -> !torch.list<int>
  %m = torch.prim.max.self_int %l : !torch.list<int> -> !torch.int
  %t = torch.aten.ge.int %int7, %int2 : !torch.int, !torch.int -> !torch.bool
  %n = torch.aten.__not__ %t : !torch.bool -> !torch.bool
  %a = torch.aten.__and__.bool %t, %n : !torch.bool, !torch.bool -> !torch.bool
  %i = torch.aten.Int.bool %t : !torch.bool -> !torch.int
  %e = torch.aten.ceil.float %d : !torch.float -> !torch.int
  return %r1, %f3, %p, %d, %m, %t, %a, %i, %e : !torch.int, !torch.int, !torch.int, !torch.float, !torch.int, !torch.bool, !torch.bool, !torch.int, !torch.int
}

// -----

// Sizes, lists, and numbers in tensors.
// CHECK-LABEL: func.func @sizes
// CHECK-NOT: torch.aten
// CHECK: return
func.func @sizes(%x: !torch.vtensor<[2,3],f16>) -> (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int) {
  %int-1 = torch.constant.int -1
  %int1 = torch.constant.int 1
  %0 = torch.aten.size.int %x, %int-1 : !torch.vtensor<[2,3],f16>, !torch.int -> !torch.int
  %1 = torch.aten.size %x : !torch.vtensor<[2,3],f16> -> !torch.list<int>
  %2 = torch.aten.len.t %1 : !torch.list<int> -> !torch.int
  %3 = torch.aten.__getitem__.t %1, %int1 : !torch.list<int>, !torch.int -> !torch.int
  %4 = torch.aten.numel %x : !torch.vtensor<[2,3],f16> -> !torch.int
  %5:2 = torch.prim.ListUnpack %1 : !torch.list<int> -> !torch.int, !torch.int
  %6 = torch.prim.NumToTensor.Scalar %4 : !torch.int -> !torch.vtensor<[],si64>
  %7 = torch.aten.Int.Tensor %6 : !torch.vtensor<[],si64> -> !torch.int
  %8 = torch.aten.dim %x : !torch.vtensor<[2,3],f16> -> !torch.int
  return %0, %2, %3, %4, %5#0, %7, %8 : !torch.int, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int
}

// -----

// What is not known, too large, or divided by nothing stays.
// CHECK-LABEL: func.func @negative
// CHECK: torch.aten.floordiv.int
// CHECK: torch.aten.remainder.int
// CHECK: torch.aten.mul.int
// CHECK: torch.aten.add.int
// CHECK: torch.aten.size.int
// CHECK: torch.aten.__getitem__.t
// CHECK: torch.prim.If
// CHECK: torch.runtime.assert
func.func @negative(%x: !torch.vtensor<[2,3],f16>, %n: !torch.int, %b: !torch.bool) -> (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %big = torch.constant.int 9223372036854775807
  %0 = torch.aten.floordiv.int %int2, %int0 : !torch.int, !torch.int -> !torch.int
  %1 = torch.aten.remainder.int %int2, %int0 : !torch.int, !torch.int -> !torch.int
  %2 = torch.aten.mul.int %big, %int2 : !torch.int, !torch.int -> !torch.int
  %3 = torch.aten.add.int %n, %int2 : !torch.int, !torch.int -> !torch.int
  %4 = torch.aten.size.int %x, %int2 : !torch.vtensor<[2,3],f16>, !torch.int -> !torch.int
  %l = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %5 = torch.aten.__getitem__.t %l, %int2 : !torch.list<int>, !torch.int -> !torch.int
  %6 = torch.prim.If %b -> (!torch.int) {
    torch.prim.If.yield %0 : !torch.int
  } else {
    torch.prim.If.yield %1 : !torch.int
  }
  torch.runtime.assert %b, "who knows"
  return %2, %3, %4, %5, %6 : !torch.int, !torch.int, !torch.int, !torch.int, !torch.int
}
