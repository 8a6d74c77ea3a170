// Everything that a descriptor can say, printed and read again.
// RUN: spyre-opt %s | FileCheck %s
// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s

// CHECK-LABEL: sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 4>, <out = 1024 in 1>] layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 4>, <out = 1024 in 1>] layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
  // CHECK: %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2, -3, -4]
  %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2, -3, -4]
  // CHECK: %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, -2] SEN169_FP16 at [2048]
  %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, -2] SEN169_FP16 at [2048]
  // CHECK: sdsc.constant "scaling_factor" SEN169_FP16 0x2C00
  sdsc.constant "scaling_factor" SEN169_FP16 0x2C00
  // CHECK: sdsc.constant "samv-maskvalue" SEN169_FP16 0x0
  sdsc.constant "samv-maskvalue" SEN169_FP16 0
  // CHECK: sdsc.mask "out" from 1000 count 24
  sdsc.mask "out" from 1000 count 24
  // CHECK: sdsc.compute "sfp" "mean" SEN169_FP16 ins(%Tensor0, %Tensor1) outs(%Tensor1) mask 1
  sdsc.compute "sfp" "mean" SEN169_FP16 ins(%Tensor0, %Tensor1) outs(%Tensor1) mask 1
}

// CHECK-LABEL: sdsc.descriptor @odd index 7
// CHECK-SAME: dims [<"n 1" = 10 in 3 core 4>] cores 2
// CHECK-SAME: attributes {core_order = array<i64: 0>, core_to_slice = array<i64: 1, 0>, provenance = {file = "model.py", id = "12", start_line = 6 : i64}, unknown_fields = {"/futureField" = "{\22a\22:1}"}}
sdsc.descriptor @odd index 7 dims [<"n 1" = 10 in 3 core 4>] cores 2 layouts [<KERNEL_IDX, ["n 1"], stick ["n 1" : 32]>]
    attributes {core_order = array<i64: 0>, core_to_slice = array<i64: 1, 0>, provenance = {id = "12", file = "model.py", start_line = 6 : i64},
                unknown_fields = {"/futureField" = "{\22a\22:1}"}} {
  // CHECK: sdsc.allocate "T x" hbm "KERNEL_IDX" ["n 1"] scale [1] SENUINT32 at [0, 128]
  // CHECK-SAME: back_gap = [#sdsc.gap<"n 1", [3]>]
  // CHECK-SAME: coordinates = [#sdsc.coordinate<"n 1", [core_fold : 2 * 4, corelet_fold : 1 * 0, row_fold : 1 * 0 + 1, elem_arr_0 : 4 * 1], spatial = 2, temporal = 1, padding = lowered_padded>]
  // CHECK-SAME: core_to_slice = array<i64: 0, 1>
  // CHECK-SAME: indirection = #sdsc<indirection index>
  // CHECK-SAME: max_dim_sizes = array<i64: 1>
  // CHECK-SAME: memories = ["hbm"]
  // CHECK-SAME: related = "allocate-V_hbm"
  // CHECK-SAME: slice_dims = ["n 1"]
  // CHECK-SAME: word_length = 4
  %0 = sdsc.allocate "T x" hbm "KERNEL_IDX" ["n 1"] scale [1] SENUINT32 at [0, 128]
    {back_gap = [#sdsc.gap<"n 1", [3]>],
     coordinates = [#sdsc.coordinate<"n 1", [core_fold : 2 * 4, corelet_fold : 1 * 0, row_fold : 1 * 0 + 1, elem_arr_0 : 4 * 1], spatial = 2, temporal = 1, padding = lowered_padded>],
     core_to_slice = array<i64: 0, 1>, slice_dims = ["n 1"], indirection = #sdsc<indirection index>, related = "allocate-V_hbm",
     max_dim_sizes = array<i64: 1>, memories = ["hbm"], word_length = 4 : i64}
  // CHECK: sdsc.compute "sfp" "identity" SENUINT32 ins() outs() indices(%{{.*}}) {fidelity = "high"}
  sdsc.compute "sfp" "identity" SENUINT32 ins() outs() indices(%0) {fidelity = "high"}
}
