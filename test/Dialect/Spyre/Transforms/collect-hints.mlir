// Hints get numbers, the function their places; scopes become part of locations, around those that are there. A second run changes nothing.
// RUN: spyre-opt %s --spyre-collect-hints --mlir-print-debuginfo | FileCheck %s
// RUN: spyre-opt %s --spyre-collect-hints --mlir-print-debuginfo > %t && spyre-opt %t --spyre-collect-hints --mlir-print-debuginfo | diff %t -

// CHECK: #[[EXP:loc[0-9]*]] = loc(fused<"tail">[
// CHECK: func @f
// CHECK-SAME: spyre.hints = [#[[EXP]], #{{.*}}]
// CHECK: spyre.exp {{.*}} {spyre.plan = {hint = 0 : i64, splits = {"0" = 32 : i64, "1" = 1 : i64}}} {{.*}} loc(#[[EXP]])
// CHECK: spyre.neg {{.*}} {spyre.plan = {hint = 1 : i64, space = "lx"}}
// CHECK-NOT: spyre.scope
// CHECK: func @none
// CHECK-NOT: spyre.hints
func.func @f(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] {spyre.plan = {splits = [32, 1]}, spyre.scope = "tail"} : tensor<64x128xf16> -> tensor<64x128xf16>
  %1 = spyre.neg (d0 = 64, d1 = 128) ins(%0[d0, d1]) -> [d0, d1] {spyre.plan = {space = "lx"}} : tensor<64x128xf16> -> tensor<64x128xf16>
  return %1 : tensor<64x128xf16>
}

func.func @none(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %0 = spyre.exp (d0 = 64, d1 = 128) ins(%x[d0, d1]) -> [d0, d1] : tensor<64x128xf16> -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}
