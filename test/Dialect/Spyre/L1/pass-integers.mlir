// RUN: spyre-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(spyre-pass-integers))' | FileCheck %s

// An argument that is read both ways is passed twice; through a view, too. A result is copied out
// as integers.
// CHECK-LABEL: func @both
// CHECK-SAME: (%[[I:.*]]: tensor<8x4xi64> {spyre.on_host}, %[[F:.*]]: tensor<8x4xf32> {spyre.array = "in0", spyre.host_type = i64, spyre.on_host})
// CHECK-SAME: -> (tensor<4x8xf32> {spyre.host_type = i32, spyre.on_host}, tensor<8x4xi64>
// CHECK: %[[V:.*]] = spyre.view %[[F]][d1, d0]
// CHECK: %[[N:.*]] = spyre.neg {{.*}}ins(%[[V]]
// CHECK: return %[[N]], %[[I]]
func.func @both(%x: tensor<8x4xi64> {spyre.on_host}) -> (tensor<4x8xi32> {spyre.on_host}, tensor<8x4xi64> {spyre.on_host}) {
  %v = spyre.view %x[d1, d0] : tensor<8x4xi64> -> tensor<4x8xi64>
  %0 = spyre.convert %v : tensor<4x8xi64> to tensor<4x8xf32>
  %1 = spyre.neg (d0 = 4, d1 = 8) ins(%0[d0, d1]) -> [d0, d1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = spyre.convert %1 : tensor<4x8xf32> to tensor<4x8xi32>
  return %2, %x : tensor<4x8xi32>, tensor<8x4xi64>
}

// -----

// Not what functions pass to each other, nor what is read inside.
// expected-error @below {{'inside' converts between integers and floats inside; not supported}}
func.func @inside(%x: tensor<8xi64>) -> tensor<8xi64> {
  // expected-note @below {{spyre.convert}}
  %0 = spyre.convert %x : tensor<8xi64> to tensor<8xf32>
  // expected-note @below {{the device does not convert between these element types}}
  %1 = spyre.convert %0 : tensor<8xf32> to tensor<8xi64>
  return %1 : tensor<8xi64>
}
