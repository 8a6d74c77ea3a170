// Operations that the device lacks: steps of the program, or refused.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/table --pretty --stats=%t/stats.json
// RUN: FileCheck %s < %t/table/program.json
// RUN: FileCheck %s --check-prefix=STATS < %t/stats.json
// RUN: not spyre-compile %s -o %t/none --host=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed -e 's/aten.cumsum/aten.no_such/' %s > %t/unknown.mlir
// RUN: not spyre-compile %t/unknown.mlir -o %t/unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: spyre-compile %t/unknown.mlir -o %t/any --host=any
// RUN: not spyre-run %t/any 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not spyre-compile %s -o %t/other --host=all 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: spyre-run %t/table --check

// The order of steps: what the host reads is copied out, what it makes copied in.
// CHECK: "name": "in2"
// CHECK-NEXT: "dtype": "int64"
// CHECK: "step": "launch"
// CHECK: "step": "copy_out"
// CHECK-NEXT: "buffer": "tmp0"
// CHECK: "step": "host_call"
// CHECK-NEXT: "function": "aten.cumsum"
// CHECK: "reason": "no device operation and no lowering is known for it"
// CHECK-NEXT: "location": "{{.*}}host.mlir:
// CHECK: "step": "copy_in"
// CHECK-NEXT: "array": "tmp1"
// CHECK: "step": "launch"
// CHECK: "step": "copy_out"
// CHECK: "array": "out0"

// STATS: "host_calls": {
// STATS-NEXT: "aten.add.Scalar": 1
// STATS-NEXT: "aten.cumsum": 1

// NONE: error: 'main' cannot be compiled:
// NONE: torch.aten.cumsum
// UNKNOWN: error: 'main_part0' cannot be compiled: 1 operation is not supported
// UNKNOWN: torch.aten.no_such
// MISSING: host call 'aten.no_such' ({{.*}}:{{.*}}) is not supported by the runtime's host functions; run the program from Python
// FLAG: --host=all: known choices are none, table and any

func.func @main(%x: !torch.vtensor<[4,64],f16>, %w: !torch.vtensor<[64],f16>, %i: !torch.int) -> (!torch.vtensor<[4,64],f16>, !torch.vtensor<[4,64],f16>) {
  %int1 = torch.constant.int 1
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %0 = torch.aten.add.Tensor %x, %w, %int1 : !torch.vtensor<[4,64],f16>, !torch.vtensor<[64],f16>, !torch.int -> !torch.vtensor<[4,64],f16>
  %1 = torch.aten.cumsum %0, %int0, %none : !torch.vtensor<[4,64],f16>, !torch.int, !torch.none -> !torch.vtensor<[4,64],f16>
  %2 = torch.aten.exp %1 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %3 = torch.aten.add.Scalar %x, %i, %int1 : !torch.vtensor<[4,64],f16>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f16>
  return %2, %3 : !torch.vtensor<[4,64],f16>, !torch.vtensor<[4,64],f16>
}
