// RUN: not spyre-opt %s --split-input-file --convert-torch-to-spyre 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR --input-file=%t

// Heads are batches; the result's order is a view of the product's.
// CHECK-LABEL: func.func @scores
// CHECK: spyre.view %arg0[d0, d2, d1, d3] : tensor<2x5x3x64xf16> -> tensor<2x3x5x64xf16>
// CHECK: spyre.view %arg1[d0, d3, d1, d2] : tensor<2x7x3x64xf16> -> tensor<2x3x64x7xf16>
// CHECK: spyre.matmul {{.*}} : tensor<6x5x64xf16>, tensor<6x64x7xf16> -> tensor<6x5x7xf16>
func.func @scores(%arg0: !torch.vtensor<[2,5,3,64],f16>, %arg1: !torch.vtensor<[2,7,3,64],f16>) -> !torch.vtensor<[2,3,5,7],f16> {
  %str = torch.constant.str "bqhd,bkhd->bhqk"
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[2,5,3,64],f16>, !torch.vtensor<[2,7,3,64],f16>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,3,5,7],f16>
  return %1 : !torch.vtensor<[2,3,5,7],f16>
}

// -----

// ERROR: a letter occurs twice in one operand
func.func @negative_diagonal(%arg0: !torch.vtensor<[4,4],f16>) -> !torch.vtensor<[4],f16> {
  %str = torch.constant.str "ii->i"
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %arg0 : (!torch.vtensor<[4,4],f16>) -> !torch.list<vtensor>
  %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f16>
  return %1 : !torch.vtensor<[4],f16>
}
