// A module becomes a bundle directory in the reference's spelling, and comes back.
// RUN: rm -rf %t && spyre-translate --sdsc-to-bundle %s -o %t --verify
// RUN: ls -A %t | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --check-prefix=BUNDLE --match-full-lines --strict-whitespace < %t/bundle.mlir
// RUN: FileCheck %s --check-prefix=PLAN < %t/plan.json
// RUN: FileCheck %s --check-prefix=SPEC < %t/launch_spec.json
// RUN: FileCheck %s --check-prefix=AUGUST < %t/sdsc_0.json
// RUN: spyre-translate --bundle-to-sdsc %t | spyre-translate --sdsc-to-bundle - -o %t.again
// RUN: diff -r %t %t.again
// RUN: spyre-translate --sdsc-to-bundle %s -o %t.june --superdsc-form=2026-06 --pretty
// RUN: FileCheck %s --check-prefix=JUNE < %t.june/sdsc_0.json
// RUN: spyre-translate --explain %t | FileCheck %s --check-prefix=EXPLAIN

// FILES: bundle.mlir
// FILES-NEXT: launch_spec.json
// FILES-NEXT: plan.json
// FILES-NEXT: sdsc_0.json
// FILES-NOT: {{.}}

//      BUNDLE:#map_0 = affine_map<(d0)[s0] -> (s0 + 256*d0)>
// BUNDLE-NEXT:#map_1 = affine_map<(d0, d1)[s0] -> (s0 + 1024*d1)>
// BUNDLE-NEXT:module {
// BUNDLE-NEXT:	func.func @kernel(%pool_base_addr: !sdscbundle.input_arg<index>, %arg_0_base_addr: !sdscbundle.input_arg<index>) {
// BUNDLE-NEXT:		%pool = sdscbundle.input_arg_extract value from %pool_base_addr : !sdscbundle.input_arg<index> -> index
// BUNDLE-NEXT:		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
// BUNDLE-NEXT:		%c0 = arith.constant 0 : index
// BUNDLE-NEXT:		%c1 = arith.constant 1 : index
// BUNDLE-NEXT:		%loop_bound_0 = arith.constant 2 : index
// BUNDLE-NEXT:		%loop_bound_1 = arith.constant 3 : index
// BUNDLE-NEXT:		%arg_0_slice_offset_384 = arith.constant 384 : index
// BUNDLE-NEXT:		%arg_0_slice_384 = arith.addi %arg_0, %arg_0_slice_offset_384 : index
// BUNDLE-NEXT:		%arg_0_slice_384_core_offset_128 = arith.constant 128 : index
// BUNDLE-NEXT:		%arg_0_slice_384_core_128 = arith.addi %arg_0_slice_384, %arg_0_slice_384_core_offset_128 : index
// BUNDLE-NEXT:		%pool_offset_0 = arith.constant 0 : index
// BUNDLE-NEXT:		%pool_addr_0 = arith.addi %pool, %pool_offset_0 : index
// BUNDLE-NEXT:		%pool_offset_128 = arith.constant 128 : index
// BUNDLE-NEXT:		%pool_addr_128 = arith.addi %pool, %pool_offset_128 : index
// BUNDLE-NEXT:		scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
// BUNDLE-NEXT:			scf.for %i_1 = %c0 to %loop_bound_1 step %c1 {
// BUNDLE-NEXT:				%addr_0 = affine.apply #map_0(%i_0)[%arg_0_slice_384]
// BUNDLE-NEXT:				%addr_1 = affine.apply #map_0(%i_0)[%arg_0_slice_384_core_128]
// BUNDLE-NEXT:				%addr_2 = affine.apply #map_1(%i_0, %i_1)[%pool_addr_0]
// BUNDLE-NEXT:				%addr_3 = affine.apply #map_1(%i_0, %i_1)[%pool_addr_128]
// BUNDLE-NEXT:				sdscbundle.sdsc_execute (%addr_0, %addr_1, %addr_2, %addr_3) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3, -4]}
// BUNDLE-NEXT:			}
// BUNDLE-NEXT:		}
// BUNDLE-NEXT:		return
// BUNDLE-NEXT:	}
// BUNDLE-NEXT:}

// PLAN: {"version":1,"name":"kernel","arguments":1,"pool":true,"pool_bytes":512,"steps":[{"loop":2,"body":[{"loop":3,"body":[{"launch":"sdsc_0.json","symbols":[{"id":-1,"base":0,"offset":384,"stride":[256]},{"id":-2,"base":0,"offset":512,"stride":[256]},{"id":-3,"base":"pool","stride":[0,1024]},{"id":-4,"base":"pool","offset":128,"stride":[0,1024]}]}]}]}]}
// SPEC: {"version":1,"kernel_name":"kernel","pool_bytes":512,"bundle_symbolic_args":true,"arguments":[{"role":"input","array":"in0","shape":[4,64],"dtype":"float16","device_size":[1,4,64],"stride_map":[64,64,1],"device_dtype":"SEN169_FP16"}]}
// AUGUST: {"0_exp":{"sdscFoldProps_"
// AUGUST-SAME: "ss_":{"name_":"core","mb_":1,"out_":64,"symbolicDimInfo_":{},"maxSymbolicVolume_":{},"coreletSplit_":{},"rowSplit_":{},"peSfpSplit_":{},"paddingSizes_":{}}
// JUNE:      "ss_": {
// JUNE-NEXT:   "name_": "core",
// JUNE-NEXT:   "mb_": 1,
// JUNE-NEXT:   "out_": 64
// JUNE-NEXT: },
// EXPLAIN:      bundle kernel: {{.*}}addresses of 1 argument, and of a pool for intermediates of 512 bytes
// EXPLAIN:        argument 0: input in0, float16 [4, 64], on the device SEN169_FP16 [1, 4, 64]
// EXPLAIN-NEXT:   loop 0, 2 times:
// EXPLAIN-NEXT:     loop 1, 3 times:
// EXPLAIN-NEXT:       operation 0: exp ({{.*}}), computed in SEN169_FP16 by the SIMD units of 2 cores
// EXPLAIN-NEXT:         for every mb of 2 (2 work slices of 1), out of 64
// EXPLAIN-NEXT:         core c works on mb slice c
// EXPLAIN-NEXT:         Tensor0, read: mb = 2 x out = 64 of SEN169_FP16, in device memory at argument 0 + 384 + 256 x iteration of loop 0 for core 0, argument 0 + 512
// EXPLAIN-NEXT:           layout class OUTPUT: a stick holds 64 of out; sticks follow each other outermost first by out / 64, mb
// EXPLAIN-NEXT:           128 bytes a core, 256 bytes in all
// EXPLAIN:      6 operations are executed; they read 1.5 KiB of device memory and write 1.5 KiB

module {
  sdsc.descriptor @sdsc_0 index 0 dims [<mb = 2 in 2>, <out = 64 in 1>] layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
    %0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2]
    %1 = sdsc.allocate "Tensor1" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-3, -4]
    sdsc.compute "sfp" "exp" SEN169_FP16 ins(%0) outs(%1)
  }
  func.func @kernel(%p: !sdscbundle.input_arg<index>, %a: !sdscbundle.input_arg<index>)
      attributes {sdscbundle.has_pool, sdscbundle.pool_bytes = 512 : i64, sdscbundle.arguments = [
        #sdscbundle.argument<input, array = "in0", shape = [4, 64], dtype = "float16", device_size = [1, 4, 64], stride_map = [64, 64, 1], device_dtype = "SEN169_FP16">]} {
    %pool = sdscbundle.input_arg_extract value from %p : !sdscbundle.input_arg<index> -> index
    %arg = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<index> -> index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c128 = arith.constant 128 : index
    // How the addresses are computed does not show in the output.
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %j = %c0 to %c6 step %c2 {
        %0 = arith.muli %i, %c128 : index
        %1 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0 + 384)>(%0)[%arg]
        %2 = arith.addi %c128, %1 : index
        %3 = affine.apply affine_map<(d0)[s0] -> (d0 * 512 + s0)>(%j)[%pool]
        %4 = arith.addi %3, %c128 : index
        sdscbundle.sdsc_execute (%1, %2, %3, %4) {sdsc_filename="sdsc_0.json", symbol_ids=[-1, -2, -3, -4]}
      }
    }
    return
  }
}
