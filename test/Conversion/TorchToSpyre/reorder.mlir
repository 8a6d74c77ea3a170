// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// 32 elements: two runs of 16, each turned, then the two.
// CHECK-LABEL: func.func @flip
// CHECK: spyre.view %arg0[d0 * 16 + d1] : tensor<32xf16> -> tensor<2x16xf16>
// CHECK: spyre.concat {{.*}} along 1 : {{.*}} -> tensor<2x16xf16>
// CHECK: spyre.concat %{{.*}}, %{{.*}} along 1 : {{.*}} -> tensor<1x2x16xf16>
func.func @flip(%arg0: !torch.vtensor<[32],f16>) -> !torch.vtensor<[32],f16> {
  %int0 = torch.constant.int 0
  %l = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.flip %arg0, %l : !torch.vtensor<[32],f16>, !torch.list<int> -> !torch.vtensor<[32],f16>
  return %0 : !torch.vtensor<[32],f16>
}

// -----

// CHECK-LABEL: func.func @copy
// CHECK: spyre.view %arg1[d1] : tensor<4xf16> -> tensor<3x4xf16>
func.func @copy(%arg0: !torch.vtensor<[3,4],f16>, %arg1: !torch.vtensor<[4],f16>) -> !torch.vtensor<[3,4],f16> {
  %false = torch.constant.bool false
  %0 = torch.aten.copy %arg0, %arg1, %false : !torch.vtensor<[3,4],f16>, !torch.vtensor<[4],f16>, !torch.bool -> !torch.vtensor<[3,4],f16>
  return %0 : !torch.vtensor<[3,4],f16>
}

// -----

// CHECK-LABEL: func.func @tril
// CHECK: spyre.constant dense<{{\[\[}}true, false], [true, true]]>
// CHECK: spyre.where3
func.func @tril(%arg0: !torch.vtensor<[2,2],f16>) -> !torch.vtensor<[2,2],f16> {
  %int0 = torch.constant.int 0
  %0 = torch.aten.tril %arg0, %int0 : !torch.vtensor<[2,2],f16>, !torch.int -> !torch.vtensor<[2,2],f16>
  return %0 : !torch.vtensor<[2,2],f16>
}

// -----

// CHECK-LABEL: func.func @repeat
// CHECK: spyre.view %arg0[d0, d1 floordiv 3] : tensor<2x4xf16> -> tensor<2x12xf16>
func.func @repeat(%arg0: !torch.vtensor<[2,4],f16>) -> !torch.vtensor<[2,12],f16> {
  %int3 = torch.constant.int 3
  %int1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.aten.repeat_interleave.self_int %arg0, %int3, %int1, %none : !torch.vtensor<[2,4],f16>, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,12],f16>
  return %0 : !torch.vtensor<[2,12],f16>
}

// -----

// An f32 argument that is a result as f16 is infinite where f16 is.
// CHECK-LABEL: func.func @narrowed_result
// CHECK: spyre.where3
// CHECK: spyre.convert
func.func @narrowed_result(%arg0: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f16> {
  %int5 = torch.constant.int 5
  %0 = torch.prims.convert_element_type %arg0, %int5 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f16>
  return %0 : !torch.vtensor<[4],f16>
}

// -----

// CHECK-LABEL: func.func @negative_inside
// CHECK-NOT: spyre.where3
func.func @negative_inside(%arg0: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f16> {
  %int5 = torch.constant.int 5
  %0 = torch.prims.convert_element_type %arg0, %int5 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f16>
  %1 = torch.aten.neg %0 : !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f16>
  return %1 : !torch.vtensor<[4],f16>
}

// -----

// Every third row from 1 on: whole steps, then one that the end cuts off.
// CHECK-LABEL: func.func @stepped_write
// CHECK: spyre.concat %{{.*}}, %{{.*}} along 1 : tensor<2x1x4xf16>, tensor<2x2x4xf16> -> tensor<2x3x4xf16>
// CHECK: spyre.concat %{{.*}}, %{{.*}}, %{{.*}} along 0 : tensor<1x4xf16>, tensor<6x4xf16>, tensor<1x4xf16> -> tensor<8x4xf16>
func.func @stepped_write(%arg0: !torch.vtensor<[8,4],f16>, %arg1: !torch.vtensor<[3,4],f16>) -> !torch.vtensor<[8,4],f16> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %none = torch.constant.none
  %0 = torch.aten.slice_scatter %arg0, %arg1, %int0, %int1, %none, %int3 : !torch.vtensor<[8,4],f16>, !torch.vtensor<[3,4],f16>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[8,4],f16>
  return %0 : !torch.vtensor<[8,4],f16>
}
