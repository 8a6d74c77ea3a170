// All violations are reported, with their rules' numbers, and nothing is written.
// RUN: rm -rf %t && mkdir %t
// RUN: not spyre-translate --sdsc-to-bundle %s -o %t/out --verify 2>&1 | FileCheck %s
// RUN: ls -A %t | count 0

// CHECK: verify.mlir:[[@LINE+2]]:1: error: dim mb: 7 elements are not 2 slices of 3 [SDSC-2]
// CHECK: verify.mlir:[[@LINE+4]]:8: error: dim out: a core's 100 elements are no multiple of the stick's 64 [SDSC-8]
sdsc.descriptor @sdsc_0 index 0 dims [<mb = 7 in 2>, <out = 100 in 1>] layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
  %0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [-1, -2] SEN169_FP16 symbolic at [-1, -2]
  // CHECK: verify.mlir:[[@LINE+1]]:8: error: core 0: the address 100 is no multiple of a stick [SDSC-11]
  %1 = sdsc.allocate "Tensor1" hbm "OUTPUT" [mb, out] scale [-1, 1] SEN169_FP16 at [100]
  sdsc.compute "gpu" "exp" SEN169_FP16 ins(%0) outs(%1)
}
func.func @f(%a: index) {
  // CHECK: verify.mlir:[[@LINE+1]]:3: error: does not bind symbol -2 that @sdsc_0 uses [SDSC-19]
  sdscbundle.sdsc_execute (%a) {sdsc_filename="sdsc_0.json", symbol_ids=[-1]}
  // CHECK: verify.mlir:[[@LINE+1]]:3: error: the module has no descriptor @sdsc_1 [SDSC-18]
  sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json"}
  return
}
