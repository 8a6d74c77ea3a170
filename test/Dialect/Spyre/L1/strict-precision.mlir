// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-strict-precision))' | FileCheck %s

// Arguments of the host, constants as the program wrote them, truth values as numbers, results.
// CHECK-LABEL: func @all
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32> {spyre.host_type = f16, spyre.on_host}, %[[M:.*]]: tensor<64xi1> {spyre.on_host})
// CHECK-SAME: -> (tensor<64xf32> {spyre.host_type = f16, spyre.on_host}) attributes {spyre.pieces = 2 : i64}
// CHECK: %[[C:.*]] = spyre.constant dense<1.000000e-10> : tensor<f32>
// CHECK: %[[E:.*]] = spyre.add {{.*}}ins(%[[X]][d0], %[[C]][]) -> [d0] : tensor<64xf32>, tensor<f32> -> tensor<64xf32>
// CHECK: %[[N:.*]] = spyre.convert %[[M]] : tensor<64xi1> to tensor<64xf32>
// CHECK: %[[P:.*]] = spyre.mul {{.*}}ins(%[[E]][d0], %[[N]][d0])
// CHECK: %[[R:.*]] = spyre.where3 {{.*}}ins(%[[M]][d0], %[[P]][d0], %[[X]][d0]) {{.*}} : tensor<64xi1>, tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>
// CHECK: return %[[R]] : tensor<64xf32>
func.func @all(%x: tensor<64xf16> {spyre.on_host}, %m: tensor<64xi1> {spyre.on_host}) -> (tensor<64xf16> {spyre.on_host}) {
  %c = spyre.constant dense<0.0> : tensor<f16> {spyre.value = 1.000000e-10 : f64} : tensor<f16>
  %0 = spyre.add (d0 = 64) ins(%x[d0], %c[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xf16>
  %1 = spyre.mul (d0 = 64) ins(%0[d0], %m[d0]) -> [d0] : tensor<64xf16>, tensor<64xi1> -> tensor<64xf16>
  %2 = spyre.where3 (d0 = 64) ins(%m[d0], %1[d0], %x[d0]) -> [d0] : tensor<64xi1>, tensor<64xf16>, tensor<64xf16> -> tensor<64xf16>
  return %2 : tensor<64xf16>
}

// What functions pass to each other stays; a program with f32 of its own has three pieces; its
// conversions are none any more.
// CHECK-LABEL: func @passed(%arg0: tensor<64xbf16>, %arg1: tensor<64xf32>) -> tensor<64xbf16> {
// CHECK: %[[X:.*]] = spyre.convert %arg0 : tensor<64xbf16> to tensor<64xf32>
// CHECK-NEXT: %[[S:.*]] = spyre.add {{.*}}ins(%[[X]][d0], %arg1[d0])
// CHECK-NEXT: %[[R:.*]] = spyre.convert %[[S]] : tensor<64xf32> to tensor<64xbf16>
// CHECK-NEXT: return %[[R]]
func.func @passed(%x: tensor<64xbf16>, %y: tensor<64xf32>) -> tensor<64xbf16> {
  %0 = spyre.convert %x : tensor<64xbf16> to tensor<64xf32>
  %1 = spyre.add (d0 = 64) ins(%0[d0], %y[d0]) -> [d0] : tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>
  %2 = spyre.convert %1 : tensor<64xf32> to tensor<64xbf16>
  return %2 : tensor<64xbf16>
}

// Eight bits are made of sixteen.
// CHECK-LABEL: func @eight
// CHECK: %[[H:.*]] = spyre.convert %arg0 : tensor<64xf32> to tensor<64xf16>
// CHECK: spyre.qfp8ch {{.*}}ins(%[[H]][d0]) {{.*}} tensor<64xf16> -> tensor<64xf8E4M3FN>
func.func @eight(%x: tensor<64xf16> {spyre.on_host}) -> tensor<64xf8E4M3FN> {
  %0 = spyre.qfp8ch (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf8E4M3FN>
  return %0 : tensor<64xf8E4M3FN>
}
