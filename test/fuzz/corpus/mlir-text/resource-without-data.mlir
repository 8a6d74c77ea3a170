// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-exact-jumps))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-exact-jumps,spyre-exact-jumps))' | FileCheck %s

// The bound is the program's, not the one that DL16 holds; the argument is f32 in its place.
// CHECK-LABEL: func @bound
// CHECK-SAME: %[[X:.*]]: tensor<64xf32> {spyre.host_type = f16, spyre.on_host}
// CHECK-DAG: %[[C:.*]] = spyre.constant dense<0.0999755859> : tensor<f32>
// CHECK: %[[D:.*]] = spyre.sub (d0 = 64) ins(%[[X]][d0], %[[C]][]) -> [d0] {{.*}} -> tensor<64xf32>
// CHECK: %[[H:.*]] = spyre.convert %[[D]] : tensor<64xf32> to tensor<64xf16>
// CHECK: spyre.greaterequal (d0 = 64) ins(%[[H]][d0], %{{.*}}[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xi1>
func.func @bound(%x: tensor<64xf16> {spyre.on_host}) -> tensor<64xi1> {
  %c = spyre.constant dense<1.000980e-01> : tensor<f16> {spyre.bound = 0.0999755859375} : tensor<f16>
  %0 = spyre.greaterequal (d0 = 64) ins(%x[d0], %c[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xi1>
  return %0 : tensor<64xi1>
}

// Through a view, a maximum and a product with a power of two; infinities stay apart. The
// sum reads the 16-bit form.
// CHECK-LABEL: func @largest
// CHECK-SAME: %[[X:.*]]: tensor<4x64xf16> {spyre.on_host}, %[[W:.*]]: tensor<4x64xf32> {spyre.array = "in0", spyre.host_type = f16, spyre.on_host}
// CHECK-DAG: spyre.view %[[W]]
// CHECK-DAG: spyre.max {{.*}} -> tensor<64x1xf32>
// CHECK: spyre.maximum
// CHECK: spyre.minimum
// CHECK: spyre.sub {{.*}} -> tensor<64x4xf32>
// CHECK: spyre.equal {{.*}} : tensor<64x4xf16>, tensor<f16> -> tensor<64x4xi1>
// CHECK: spyre.sum {{.*}} ins(%[[X]]
func.func @largest(%x: tensor<4x64xf16> {spyre.on_host}) -> (tensor<64x4xi1>, tensor<4x1xf16>) {
  %two = spyre.constant dense<2.000000e+00> : tensor<f16> : tensor<f16>
  %v = spyre.view %x[d1, d0] : tensor<4x64xf16> -> tensor<64x4xf16>
  %s = spyre.mul (d0 = 64, d1 = 4) ins(%v[d0, d1], %two[]) -> [d0, d1] : tensor<64x4xf16>, tensor<f16> -> tensor<64x4xf16>
  %m = spyre.max (d0 = 64, d1 = 4) ins(%s[d0, d1]) -> [d0, 0] : tensor<64x4xf16> -> tensor<64x1xf16>
  %e = spyre.equal (d0 = 64, d1 = 4) ins(%s[d0, d1], %m[d0, 0]) -> [d0, d1] : tensor<64x4xf16>, tensor<64x1xf16> -> tensor<64x4xi1>
  %r = spyre.sum (d0 = 4, d1 = 64) ins(%x[d0, d1]) -> [d0, 0] : tensor<4x64xf16> -> tensor<4x1xf16>
  return %e, %r : tensor<64x4xi1>, tensor<4x1xf16>
}

// Integers leave as f32, and so does what cancels.
// CHECK-LABEL: func @floor
// CHECK-SAME: -> (tensor<64xf32> {spyre.host_type = f16, spyre.on_host}, tensor<64xf32> {spyre.host_type = f16, spyre.on_host}, tensor<64xf16>)
// CHECK: %[[F:.*]] = spyre.floor {{.*}} -> tensor<64xf32>
// CHECK: %[[D:.*]] = spyre.sub (d0 = 64) ins(%arg0[d0], %[[F]][d0]) {{.*}} -> tensor<64xf32>
// CHECK: %[[H:.*]] = spyre.convert %[[D]]
// CHECK: return %[[F]], %[[D]], %[[H]]
func.func @floor(%x: tensor<64xf16> {spyre.on_host}) -> (tensor<64xf16> {spyre.on_host}, tensor<64xf16> {spyre.on_host}, tensor<64xf16>) {
  %0 = spyre.floor (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf16>
  %1 = spyre.sub (d0 = 64) ins(%x[d0], %0[d0]) -> [d0] : tensor<64xf16>, tensor<64xf16> -> tensor<64xf16>
  return %0, %1, %1 : tensor<64xf16>, tensor<64xf16>, tensor<64xf16>
}

// What is moved leaves as it came, and what the host reads, where its numbers are known.
// CHECK-LABEL: func @moved
// CHECK-SAME: -> (tensor<64x4xf32> {spyre.host_type = f16, spyre.on_host}, tensor<4x64xf32> {spyre.host_type = f16, spyre.on_host = "read"}, tensor<4x64xf16> {spyre.on_host})
func.func @moved(%x: tensor<4x64xf16> {spyre.on_host}) -> (tensor<64x4xf16> {spyre.on_host}, tensor<4x64xf16> {spyre.on_host = "read"}, tensor<4x64xf16> {spyre.on_host}) {
  %two = spyre.constant dense<2.000000e+00> : tensor<f16> : tensor<f16>
  %v = spyre.view %x[d1, d0] : tensor<4x64xf16> -> tensor<64x4xf16>
  %s = spyre.mul (d0 = 4, d1 = 64) ins(%x[d0, d1], %two[]) -> [d0, d1] : tensor<4x64xf16>, tensor<f16> -> tensor<4x64xf16>
  %n = spyre.neg (d0 = 4, d1 = 64) ins(%s[d0, d1]) -> [d0, d1] : tensor<4x64xf16> -> tensor<4x64xf16>
  return %v, %n, %n : tensor<64x4xf16>, tensor<4x64xf16>, tensor<4x64xf16>
}

// So do an argument that is a result, and constants of the program.
// CHECK-LABEL: func @as_they_came
// CHECK-SAME: %arg0: tensor<64xf32> {spyre.host_type = f16, spyre.on_host}
// CHECK-SAME: -> (tensor<64xf32> {spyre.host_type = f16, spyre.on_host = "read"}, tensor<2xf32> {spyre.host_type = f16, spyre.on_host}, tensor<2xi1>)
// CHECK: %[[T:.*]] = spyre.constant dense_resource<exact> : tensor<2xf32>
// CHECK: return %arg0, %[[T]]
func.func @as_they_came(%x: tensor<64xf16> {spyre.on_host}) -> (tensor<64xf16> {spyre.on_host = "read"}, tensor<2xf16> {spyre.on_host}, tensor<2xi1>) {
  %t = spyre.constant dense_resource<thresholds> : tensor<2xf16> : tensor<2xf16>
  %v = spyre.view %x[d0] : tensor<64xf16> -> tensor<2xf16>
  %0 = spyre.greaterthan (d0 = 2) ins(%v[d0], %t[d0]) -> [d0] : tensor<2xf16>, tensor<2xf16> -> tensor<2xi1>
  return %x, %t, %0 : tensor<64xf16>, tensor<2xf16>, tensor<2xi1>
}

// Zero is zero in both formats; what the device has computed has its format's numbers; bf16
// numbers are DL16 numbers; another bundle passes its results as DL16.
// CHECK-LABEL: func @negative
// CHECK-NOT: f32
// CHECK: return
func.func @negative(%x: tensor<64xf16> {spyre.on_host}, %b: tensor<64xbf16> {spyre.on_host}, %y: tensor<64xf16>)
    -> (tensor<64xi1>, tensor<64xi1>, tensor<64xi1>, tensor<64xi1>, tensor<64xf16>) {
  %zero = spyre.constant dense<0.000000e+00> : tensor<f16> : tensor<f16>
  %one = spyre.constant dense<1.000000e+00> : tensor<bf16> : tensor<bf16>
  %half = spyre.constant dense<5.000000e-01> : tensor<f16> : tensor<f16>
  %0 = spyre.greaterthan (d0 = 64) ins(%x[d0], %zero[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xi1>
  %e = spyre.exp (d0 = 64) ins(%x[d0]) -> [d0] : tensor<64xf16> -> tensor<64xf16>
  %1 = spyre.greaterthan (d0 = 64) ins(%x[d0], %e[d0]) -> [d0] : tensor<64xf16>, tensor<64xf16> -> tensor<64xi1>
  %2 = spyre.equal (d0 = 64) ins(%b[d0], %one[]) -> [d0] : tensor<64xbf16>, tensor<bf16> -> tensor<64xi1>
  %3 = spyre.greaterthan (d0 = 64) ins(%y[d0], %half[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xi1>
  %4 = spyre.sub (d0 = 64) ins(%x[d0], %half[]) -> [d0] : tensor<64xf16>, tensor<f16> -> tensor<64xf16>
  return %0, %1, %2, %3, %4 : tensor<64xi1>, tensor<64xi1>, tensor<64xi1>, tensor<64xi1>, tensor<64xf16>
}

{-#
  dialect_resources: {
    builtin: {
      thrEsholds: "0x01000000FFB7FF37"
    }
  }
#-}
