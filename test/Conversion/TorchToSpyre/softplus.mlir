// RUN: spyre-opt %s --split-input-file --convert-torch-to-spyre | FileCheck %s

// The device leaves out the division by beta, so its own beta stays 1.
// CHECK-LABEL: func @beta
// CHECK: %[[B:.*]] = spyre.mul {{.*}}ins(%arg0[d0], %{{.*}}[])
// CHECK: %[[S:.*]] = spyre.softplus {{.*}}ins(%[[B]][d0]){{.*}}softplusBeta = 1.000000e+00{{.*}}softplusThresh = 5.000000e+00
// CHECK: spyre.realdiv {{.*}}ins(%[[S]][d0], %{{.*}}[])
func.func @beta(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %beta = torch.constant.float 2.500000e-01
  %threshold = torch.constant.int 5
  %0 = torch.aten.softplus %x, %beta, %threshold : !torch.vtensor<[5],f16>, !torch.float, !torch.int -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}

// -----

// CHECK-LABEL: func @one
// CHECK-NOT: spyre.mul
// CHECK: spyre.softplus {{.*}}ins(%arg0[d0])
// CHECK-NOT: spyre.realdiv
func.func @one(%x: !torch.vtensor<[5],f16>) -> !torch.vtensor<[5],f16> {
  %beta = torch.constant.int 1
  %threshold = torch.constant.int 20
  %0 = torch.aten.softplus %x, %beta, %threshold : !torch.vtensor<[5],f16>, !torch.int, !torch.int -> !torch.vtensor<[5],f16>
  return %0 : !torch.vtensor<[5],f16>
}
