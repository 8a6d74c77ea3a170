// RUN: spyre-opt %s --convert-torch-to-spyre --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @select(
// CHECK: spyre.view %{{.*}}[d0 * 2 + 1, d1] {{.*}} -> tensor<2x64xf16>
func.func @select(%x: !torch.vtensor<[6,64],f16>) -> !torch.vtensor<[2,64],f16> {
  %int0 = torch.constant.int 0
  %0 = torch.vtensor.literal(dense<[1, 3]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %1 = torch.aten.index_select %x, %int0, %0 : !torch.vtensor<[6,64],f16>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[2,64],f16>
  return %1 : !torch.vtensor<[2,64],f16>
}

// -----

// One index without a dim of its own, from the end.
// CHECK-LABEL: func.func @index(
// CHECK: spyre.view %{{.*}}[d0, 63] {{.*}} -> tensor<6xf16>
func.func @index(%x: !torch.vtensor<[6,64],f16>) -> !torch.vtensor<[6],f16> {
  %none = torch.constant.none
  %0 = torch.vtensor.literal(dense<-1> : tensor<si64>) : !torch.vtensor<[],si64>
  %1 = torch.prim.ListConstruct %none, %0 : (!torch.none, !torch.vtensor<[],si64>) -> !torch.list<optional<vtensor>>
  %2 = torch.aten.index.Tensor %x, %1 : !torch.vtensor<[6,64],f16>, !torch.list<optional<vtensor>> -> !torch.vtensor<[6],f16>
  return %2 : !torch.vtensor<[6],f16>
}

// -----

// What is written is repeated.
// CHECK-LABEL: func.func @put(
// CHECK-SAME: %[[X:.*]]: tensor<6x64xf16>, %[[V:.*]]: tensor<64xf16>)
// CHECK-DAG: %[[B:.*]] = spyre.view %[[X]][d0, d1] {{.*}} -> tensor<2x64xf16>
// CHECK-DAG: %[[P:.*]] = spyre.view %[[V]][d1] {{.*}} -> tensor<3x64xf16>
// CHECK-DAG: %[[E:.*]] = spyre.view %[[X]][d0 + 5, d1] {{.*}} -> tensor<1x64xf16>
// CHECK: spyre.concat %[[B]], %[[P]], %[[E]]
func.func @put(%x: !torch.vtensor<[6,64],f16>, %v: !torch.vtensor<[64],f16>) -> !torch.vtensor<[6,64],f16> {
  %false = torch.constant.bool false
  %0 = torch.vtensor.literal(dense<[2, 3, 4]> : tensor<3xsi64>) : !torch.vtensor<[3],si64>
  %1 = torch.prim.ListConstruct %0 : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %2 = torch.aten.index_put %x, %1, %v, %false : !torch.vtensor<[6,64],f16>, !torch.list<optional<vtensor>>, !torch.vtensor<[64],f16>, !torch.bool -> !torch.vtensor<[6,64],f16>
  return %2 : !torch.vtensor<[6,64],f16>
}
