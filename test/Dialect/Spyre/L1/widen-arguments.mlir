// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-widen-arguments))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-widen-arguments,spyre-widen-arguments))' | FileCheck %s

// One reader in f32: the argument is f32. Its place among the arguments stays.
// CHECK-LABEL: func @alone
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32> {spyre.host_type = f16, spyre.on_host}, %[[Y:.*]]: tensor<64xf16> {spyre.on_host}, %{{.*}}: tensor<f32>)
// CHECK-NEXT: spyre.mul (d0 = 64) ins(%[[X]][d0], %{{.*}}[]) {{.*}} -> tensor<64xf32>
func.func @alone(%x: tensor<64xf16> {spyre.on_host}, %y: tensor<64xf16> {spyre.on_host}, %c: tensor<f32>) -> (tensor<64xf32>, tensor<64xf16>) {
  %0 = spyre.dl16tofp32 (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf32>
  %1 = spyre.mul (d0 = 64) ins(%0[d0], %c[]) -> [d0] : tensor<64xf32>, tensor<f32> -> tensor<64xf32>
  return %1, %y : tensor<64xf32>, tensor<64xf16>
}

// Both forms are read; a view stands between.
// CHECK-LABEL: func @both
// CHECK-SAME: (%[[X:.*]]: tensor<4x64xf16> {spyre.on_host}, %[[W:.*]]: tensor<4x64xf32> {spyre.array = "in0", spyre.host_type = f16, spyre.on_host})
// CHECK-DAG: %[[V:.*]] = spyre.view %[[W]][d1, d0]
// CHECK-DAG: spyre.exp {{.*}} ins(%[[X]]
// CHECK-DAG: spyre.exp {{.*}} ins(%[[V]]
func.func @both(%x: tensor<4x64xf16> {spyre.on_host}) -> (tensor<64x4xf32>, tensor<4x64xf16>) {
  %v = spyre.view %x[d1, d0] : tensor<4x64xf16> -> tensor<64x4xf16>
  %0 = spyre.dl16tofp32 (d0 = 64, d1 = 4) ins(%v[d0, d1]) -> [d0, d1] : tensor<64x4xf16> -> tensor<64x4xf32>
  %1 = spyre.exp (d0 = 64, d1 = 4) ins(%0[d0, d1]) -> [d0, d1] : tensor<64x4xf32> -> tensor<64x4xf32>
  %2 = spyre.exp (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16>
  return %1, %2 : tensor<64x4xf32>, tensor<4x64xf16>
}

// bf16 loses nothing; what was computed at DL16 is what it is; who passes %y is not the host.
// CHECK-LABEL: func @negative
// CHECK-COUNT-3: spyre.dl16tofp32
func.func @negative(%x: tensor<64xbf16> {spyre.on_host}, %y: tensor<64xf16>, %z: tensor<64xf16> {spyre.on_host})
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = spyre.dl16tofp32 (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xbf16> -> tensor<64xf32>
  %1 = spyre.dl16tofp32 (d0 = 64) ins(%y[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf32>
  %e = spyre.exp (d0 = 64) ins(%z[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf16>
  %2 = spyre.dl16tofp32 (d0 = 64) ins(%e[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
