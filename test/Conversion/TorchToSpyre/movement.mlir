// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// CHECK-LABEL: func @cat
// CHECK: spyre.concat %arg0, %arg1 along 1 : tensor<4x8xf16>, tensor<4x3xf16> -> tensor<4x11xf16>
func.func @cat(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[4,3],f16>) -> !torch.vtensor<[4,11],f16> {
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,8],f16>, !torch.vtensor<[4,3],f16>) -> !torch.list<vtensor>
  %0 = torch.aten.cat %l, %int-1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,11],f16>
  return %0 : !torch.vtensor<[4,11],f16>
}

// -----

// CHECK-LABEL: func @unbind
// CHECK-DAG: %[[A:.*]] = spyre.view %arg0[d0, 0] : tensor<4x2xf16> -> tensor<4xf16>
// CHECK-DAG: %[[B:.*]] = spyre.view %arg0[d0, 1] : tensor<4x2xf16> -> tensor<4xf16>
// CHECK: spyre.sub (d0 = 4) ins(%[[A]][d0], %[[B]][d0])
func.func @unbind(%x: !torch.vtensor<[4,2],f16>) -> !torch.vtensor<[4],f16> {
  %int1 = torch.constant.int 1
  %l = torch.aten.unbind.int %x, %int1 : !torch.vtensor<[4,2],f16>, !torch.int -> !torch.list<vtensor>
  %0:2 = torch.prim.ListUnpack %l : !torch.list<vtensor> -> !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16>
  %1 = torch.aten.sub.Tensor %0#0, %0#1, %int1 : !torch.vtensor<[4],f16>, !torch.vtensor<[4],f16>, !torch.int -> !torch.vtensor<[4],f16>
  return %1 : !torch.vtensor<[4],f16>
}

// -----

// Pieces of 2, the last one shorter, taken by index.
// CHECK-LABEL: func @split
// CHECK: %[[A:.*]] = spyre.view %arg0[d0 + 4] : tensor<5xf16> -> tensor<1xf16>
// CHECK: return %[[A]]
func.func @split(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[1],f16> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.aten.split.Tensor %x, %int2, %int0 : !torch.vtensor<[5],f16>, !torch.int, !torch.int -> !torch.list<vtensor>
  %0 = torch.aten.__getitem__.t %l, %int-1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[1],f16>
  return %0 : !torch.vtensor<[1],f16>
}

// -----

// Padded in front and cropped behind.
// CHECK-LABEL: func @pad
// CHECK: %[[C:.*]] = spyre.view %arg0[d0] : tensor<5xf16> -> tensor<4xf16>
// CHECK: %[[F:.*]] = spyre.view %{{.*}}[] : tensor<f16> -> tensor<2xf16>
// CHECK: spyre.concat %[[F]], %[[C]] along 0 : tensor<2xf16>, tensor<4xf16> -> tensor<6xf16>
func.func @pad(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[6],f16> {
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %int2, %int-1 : (!torch.int, !torch.int) -> !torch.list<int>
  %f = torch.constant.float 1.0
  %0 = torch.aten.constant_pad_nd %x, %l, %f : !torch.vtensor<[5],f16>, !torch.list<int>, !torch.float -> !torch.vtensor<[6],f16>
  return %0 : !torch.vtensor<[6],f16>
}

// -----

// CHECK-LABEL: func @slice_scatter
// CHECK: %[[A:.*]] = spyre.view %arg0[d0] : tensor<5xf16> -> tensor<1xf16>
// CHECK: %[[B:.*]] = spyre.view %arg0[d0 + 3] : tensor<5xf16> -> tensor<2xf16>
// CHECK: spyre.concat %[[A]], %arg1, %[[B]] along 0
func.func @slice_scatter(%x: !torch.vtensor<[5],f16>, %y: !torch.vtensor<[2],f16>) -> !torch.vtensor<[5],f16> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %0 = torch.aten.slice_scatter %x, %y, %int0, %int1, %int3, %int1 : !torch.vtensor<[5],f16>, !torch.vtensor<[2],f16>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// No index shows everything.
// CHECK-LABEL: func.func @no_index(
// CHECK-NEXT: return %arg0
func.func @no_index(%x: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %none : (!torch.none) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %x, %0 : !torch.vtensor<[4,64],f16>, !torch.list<optional<vtensor>> -> !torch.vtensor<[4,64],f16>
  return %1 : !torch.vtensor<[4,64],f16>
}

// -----

// Other names of permutations.
// CHECK-LABEL: func.func @permutations
// CHECK-DAG: spyre.view %arg0[d1, d2, d0] : tensor<2x3x4xf16> -> tensor<4x2x3xf16>
// CHECK-DAG: spyre.view %arg0[d2, d0, d1] : tensor<2x3x4xf16> -> tensor<3x4x2xf16>
// CHECK-DAG: spyre.view %arg0[d2, d1, d0] : tensor<2x3x4xf16> -> tensor<4x3x2xf16>
func.func @permutations(%x: !torch.vtensor<[2,3,4],f16>) -> (!torch.vtensor<[4,2,3],f16>, !torch.vtensor<[3,4,2],f16>, !torch.vtensor<[4,3,2],f16>, !torch.vtensor<[4,3,2],f16>) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %0 = torch.aten.movedim.int %x, %int-1, %int0 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4,2,3],f16>
  %1 = torch.aten.movedim.int %x, %int0, %int2 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[3,4,2],f16>
  %2 = torch.aten.numpy_T %x : !torch.vtensor<[2,3,4],f16> -> !torch.vtensor<[4,3,2],f16>
  %3 = torch.aten.swapaxes %x, %int0, %int2 : !torch.vtensor<[2,3,4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4,3,2],f16>
  return %0, %1, %2, %3 : !torch.vtensor<[4,2,3],f16>, !torch.vtensor<[3,4,2],f16>, !torch.vtensor<[4,3,2],f16>, !torch.vtensor<[4,3,2],f16>
}
