// The order of passes, and a program from torch to a kernel.
// RUN: spyre-opt %s --spyre-lower-to-ktir --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=ORDER
// RUN: spyre-opt %s --spyre-lower-to-ktir="cores=4" | FileCheck %s
// ORDER: spyre-split-dims
// ORDER: spyre-verify-plan
// ORDER: convert-spyre-to-ktir
// ORDER: ktir-check-legality

// CHECK-LABEL: func.func @main
// CHECK-SAME: %{{.*}}: index {spyre.array = "in0", spyre.role = "input", spyre.tail = "zero"}
// CHECK-SAME: %{{.*}}: index {spyre.array = "out0", spyre.overflow = "infinite", spyre.role = "output"}
// CHECK-SAME: attributes {grid = [{{[0-9]+}}]}
// CHECK: linalg.generic
// CHECK: arith.truncf
// CHECK: ktdp.store
func.func @main(%arg0: !torch.vtensor<[32,128],f16>, %arg1: !torch.vtensor<[128,64],f16>) -> !torch.vtensor<[32,64],f16> {
  %0 = torch.aten.mm %arg0, %arg1 : !torch.vtensor<[32,128],f16>, !torch.vtensor<[128,64],f16> -> !torch.vtensor<[32,64],f16>
  return %0 : !torch.vtensor<[32,64],f16>
}
