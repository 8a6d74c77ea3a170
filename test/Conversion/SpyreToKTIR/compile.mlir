// A program directory of a kernel: what is launched, the kernel, what it is passed.
// RUN: rm -rf %t && spyre-compile %s --target=ktir -O2 --cores 4 -o %t
// RUN: FileCheck %s --check-prefix=PROGRAM < %t/program.json
// RUN: FileCheck %s --check-prefix=SPEC < %t/bundles/0/launch_spec.json
// RUN: spyre-opt --ktir-check-legality %t/bundles/0/kernel.ktir.mlir | FileCheck %s
// PROGRAM-DAG: "target":"ktir"
// PROGRAM-DAG: "step":"launch","bundle":"bundles/0","buffers":["in0","in1","out0"]
// SPEC: "array":"in0"
// SPEC-SAME: "array":"out0"
// CHECK: func.func @main
// CHECK-SAME: grid = [{{[0-9]+}}]
// CHECK: {{ktdp[.]}}store

// It runs, from the directory and from the text, to the numbers of the descriptors.
// RUN: spyre-run %s -O2 --outputs %t.npz
// RUN: spyre-run %t --check --expect %t.npz
// RUN: spyre-run %s --target=ktir --check --expect %t.npz

// Nothing is written where something is not supported.
// RUN: rm -rf %t.no && sed -e 's/aten.add.Tensor/aten.digamma/; s/, %%arg1, %%int1 :/ :/; s/, !torch.int//; s/%%0 = \(.*\), .* ->/%%0 = \1 ->/' %s > %t.sin.mlir
// RUN: not spyre-compile %t.sin.mlir --target=ktir --host=none -o %t.no 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ls %t.no
// RUN: not spyre-compile %s --target=senbin -o %t.no 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: rm -rf %t.again && spyre-compile %s --target=ktir --cores 4 -o %t.again && diff -r %t %t.again
// REFUSED: error: 'main' cannot be compiled: 1 operation is not supported
// TARGET: --target=senbin: known targets are superdsc and ktir
func.func @main(%arg0: !torch.vtensor<[32,128],f16>, %arg1: !torch.vtensor<[32,128],f16>) -> !torch.vtensor<[32,128],f16> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[32,128],f16>, !torch.vtensor<[32,128],f16>, !torch.int -> !torch.vtensor<[32,128],f16>
  return %0 : !torch.vtensor<[32,128],f16>
}
