// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// x * sigmoid(x (a + b x^2)), at 16 bits; nothing cancels.
// CHECK-LABEL: func @gelu_tanh
// CHECK: %[[S:.*]] = spyre.mul (d0 = 5) ins(%arg0[d0], %arg0[d0])
// CHECK: spyre.add
// CHECK: %[[G:.*]] = spyre.sigmoid {{.*}} : tensor<5xf16> -> tensor<5xf16>
// CHECK: %[[R:.*]] = spyre.mul (d0 = 5) ins(%arg0[d0], %[[G]][d0])
// CHECK-NEXT: return %[[R]]
func.func @gelu_tanh(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %str = torch.constant.str "tanh"
  %0 = torch.aten.gelu %x, %str : !torch.vtensor<[5],f16>, !torch.str -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// Statistics in f32 from centred values; 100 elements: the sum is divided.
// CHECK-LABEL: func @layer_norm
// CHECK: %[[X:.*]] = spyre.convert %arg0 : tensor<3x100xf16> to tensor<3x100xf32>
// CHECK: %[[S:.*]] = spyre.sum (d0 = 3, d1 = 100) ins(%[[X]][d0, d1]) -> [d0, 0] : tensor<3x100xf32> -> tensor<3x1xf32>
// CHECK: %[[M:.*]] = spyre.realdiv (d0 = 3, d1 = 1) ins(%[[S]][d0, 0]
// CHECK: %[[C:.*]] = spyre.sub (d0 = 3, d1 = 100) ins(%[[X]][d0, d1], %[[M]][d0, 0])
// CHECK: %[[Q:.*]] = spyre.mul (d0 = 3, d1 = 100) ins(%[[C]][d0, d1], %[[C]][d0, d1])
// CHECK: spyre.sum (d0 = 3, d1 = 100) ins(%[[Q]][d0, d1])
// CHECK: spyre.rsqrt {{.*}} : tensor<3x1xf32> -> tensor<3x1xf32>
// CHECK: spyre.convert %{{.*}} : tensor<3x100xf32> to tensor<3x100xf16>
func.func @layer_norm(%x: !torch.vtensor<[3,100],f16>, %w: !torch.vtensor<[100],f16>) -> !torch.vtensor<[3,100],f16> {
  %int100 = torch.constant.int 100
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-05
  %true = torch.constant.bool true
  %0 = torch.prim.ListConstruct %int100 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.layer_norm %x, %0, %w, %none, %eps, %true : !torch.vtensor<[3,100],f16>, !torch.list<int>, !torch.vtensor<[100],f16>, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[3,100],f16>
  return %1 : !torch.vtensor<[3,100],f16>
}

// -----

// A bool mask chooses at 16 bits; the row maximum stays finite, the sum at least 1. Two
// heads share a key: one more batch dim.
// CHECK-LABEL: func @attention
// CHECK: spyre.mul {{.*}} : tensor<1x1x2x5x64xf16>, tensor<f16>
// CHECK: %[[S:.*]] = spyre.matmul %{{.*}}, %{{.*}} : tensor<1x1x2x5x64xf16>, tensor<1x1x1x64x7xf16> -> tensor<1x1x2x5x7xf16>
// CHECK: %[[W:.*]] = spyre.where3 {{.*}} ins(%arg3[d3, d4], %[[S]]
// CHECK: %[[X:.*]] = spyre.max {{.*}} ins(%[[W]]
// CHECK: spyre.maximum {{.*}} ins(%[[X]]
// CHECK: %[[T:.*]] = spyre.sum
// CHECK: spyre.maximum {{.*}} ins(%[[T]]
// CHECK-NOT: f32
// CHECK: return
func.func @attention(%q: !torch.vtensor<[1,2,5,64],f16>, %k: !torch.vtensor<[1,1,7,64],f16>, %v: !torch.vtensor<[1,1,7,64],f16>, %m: !torch.vtensor<[5,7],i1>) -> !torch.vtensor<[1,2,5,64],f16> {
  %zero = torch.constant.float 0.000000e+00
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %m, %zero, %false, %none, %true : !torch.vtensor<[1,2,5,64],f16>, !torch.vtensor<[1,1,7,64],f16>, !torch.vtensor<[1,1,7,64],f16>, !torch.vtensor<[5,7],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,5,64],f16>
  return %0 : !torch.vtensor<[1,2,5,64],f16>
}

// -----

// x > 0.3 for 16-bit x is x > the next device number below; `or` is a maximum, `all` a
// minimum; a bool becomes a float by a conversion.
// CHECK-LABEL: func @truth
// CHECK: %[[C:.*]] = spyre.constant dense<2.998050e-01> : tensor<f16>
// CHECK: %[[G:.*]] = spyre.greaterthan (d0 = 3, d1 = 5) ins(%arg0[d0, d1], %[[C]][])
// CHECK: %[[O:.*]] = spyre.maximum (d0 = 3, d1 = 5) ins(%[[G]][d0, d1], %arg1[d0, d1]) {{.*}} -> tensor<3x5xi1>
// CHECK: %[[A:.*]] = spyre.min (d0 = 3, d1 = 5) ins(%[[O]][d0, d1]) -> [d0] : tensor<3x5xi1> -> tensor<3xi1>
// CHECK: %[[R:.*]] = spyre.convert %[[A]] : tensor<3xi1> to tensor<3xf16>
// CHECK: return %[[R]]
func.func @truth(%x: !torch.vtensor<[3,5],f16>, %y: !torch.vtensor<[3,5],i1>) -> !torch.vtensor<[3],f16> {
  %tenth = torch.constant.float 3.000000e-01
  %int1 = torch.constant.int 1
  %int5 = torch.constant.int 5
  %false = torch.constant.bool false
  %0 = torch.aten.gt.Scalar %x, %tenth : !torch.vtensor<[3,5],f16>, !torch.float -> !torch.vtensor<[3,5],i1>
  %1 = torch.aten.logical_or %0, %y : !torch.vtensor<[3,5],i1>, !torch.vtensor<[3,5],i1> -> !torch.vtensor<[3,5],i1>
  %2 = torch.aten.all.dim %1, %int1, %false : !torch.vtensor<[3,5],i1>, !torch.int, !torch.bool -> !torch.vtensor<[3],i1>
  %3 = torch.prims.convert_element_type %2, %int5 : !torch.vtensor<[3],i1>, !torch.int -> !torch.vtensor<[3],f16>
  return %3 : !torch.vtensor<[3],f16>
}

// -----

// What nobody reads is dropped, known or not.
// CHECK-LABEL: func @unused
// CHECK-NEXT: return %arg0
func.func @unused(%x: !torch.vtensor<[3,5],f16>) -> !torch.vtensor<[3,5],f16> {
  %0 = torch.aten.sin %x : !torch.vtensor<[3,5],f16> -> !torch.vtensor<[3,5],f16>
  return %x : !torch.vtensor<[3,5],f16>
}
