// RUN: spyre-opt %s --spyre-plan | FileCheck %s

// 65536 is what the device makes of the largest f16 number, and of an overflow.
// CHECK-LABEL: func.func @main
// What is moved, chosen or added up may be an argument's number.
// CHECK-SAME: {spyre.array = "out0", spyre.role = "output"}
// CHECK-SAME: {spyre.array = "out1", spyre.role = "output"}
// A product of arguments is computed.
// CHECK-SAME: {spyre.array = "out2", spyre.overflow = "infinite", spyre.role = "output"}
// A product with the constant may be the constant.
// CHECK-SAME: {spyre.array = "out3", spyre.role = "output"}
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>) {
  %low = spyre.constant dense<-6.550400e+04> : tensor<f16> : tensor<f16>
  %0 = spyre.neg (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16>
  %1 = spyre.add (d0 = 4, d1 = 64) ins(%x[d0, d1], %y[d0, d1]) -> [d0, d1] : tensor<4x64xf16>, tensor<4x64xf16> -> tensor<4x64xf16>
  %2 = spyre.mul (d0 = 4, d1 = 64) ins(%x[d0, d1], %y[d0, d1]) -> [d0, d1] : tensor<4x64xf16>, tensor<4x64xf16> -> tensor<4x64xf16>
  %3 = spyre.mul (d0 = 4, d1 = 64) ins(%x[d0, d1], %low[]) -> [d0, d1] : tensor<4x64xf16>, tensor<f16> -> tensor<4x64xf16>
  return %0, %1, %2, %3 : tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>
}
