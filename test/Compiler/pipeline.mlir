// The order of passes.
// RUN: spyre-opt %s --spyre-lower-to-superdsc --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s
// CHECK: convert-torch-to-spyre
// CHECK: spyre-resolve-precision
// CHECK: spyre-decompose
// CHECK: spyre-fold-views
// CHECK: spyre-split-dims
// CHECK: spyre-assign-layouts
// CHECK: spyre-verify-layouts
// CHECK: spyre-divide-work
// CHECK: spyre-bufferize
// CHECK: spyre-place-buffers
// CHECK: spyre-verify-plan
// CHECK: convert-spyre-to-superdsc
// CHECK: sdsc-verify

func.func @main(%arg0: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
  %0 = torch.aten.exp %arg0 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  return %0 : !torch.vtensor<[4,64],f16>
}
