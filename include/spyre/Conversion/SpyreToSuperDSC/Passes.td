//===- Passes.td - L3 to SuperDSC -------------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emission of descriptors and bundle functions from a planned L3.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_CONVERSION_SPYRETOSUPERDSC_PASSES
#define SPYRE_CONVERSION_SPYRETOSUPERDSC_PASSES

include "mlir/Pass/PassBase.td"

def ConvertSpyreToSuperDSC : Pass<"convert-spyre-to-superdsc", "::mlir::ModuleOp"> {
  let summary = "Planned buffers to descriptors and a bundle function";
  let description = [{
    Input: one function of L3 with placed buffers. Lowering: every device
    operation becomes an `sdsc.descriptor` (`spyre::sdsc::emitDescriptor` computes
    it), every `scf.for` stays a loop of the bundle function, whose parameters are
    the pool (if a buffer is in it) and one base address an argument.

    Addresses of arguments and pool are symbolic: each descriptor binds, operand by
    operand and core by core, an id to each address that it has not yet bound. With
    `symbolic-args=false` addresses are concrete: an argument lies at its
    `spyre.address`, or else at segment k (moved up by one if there is a pool);
    loops are unrolled then, because an address in a descriptor cannot move.

    ```mlir
    // spyre-opt --convert-spyre-to-superdsc
    !h = !spyre.buffer<4x64xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @f(%x: !h, %o: !h) {
      spyre.abs (d0 = 4 / 2, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : !h -> !h
      return
    }
    // becomes
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 4 in 2>, <out = 64 in 1>] layouts [<OUTPUT, [mb, out], stick [out : 64]>] attributes {provenance = {…}} {
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2]
      %Tensor1 = sdsc.allocate "Tensor1" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-3, -4]
      sdsc.compute "sfp" "abs" SEN169_FP16 ins(%Tensor0) outs(%Tensor1)
    }
    func.func @f(%arg0: !sdscbundle.input_arg<index>, %arg1: !sdscbundle.input_arg<index>) {
      %0 = sdscbundle.input_arg_extract value from %arg0 : !sdscbundle.input_arg<index> -> index
      %1 = sdscbundle.input_arg_extract value from %arg1 : !sdscbundle.input_arg<index> -> index
      %c256 = arith.constant 256 : index
      %2 = arith.addi %0, %c256 : index
      %c256_0 = arith.constant 256 : index
      %3 = arith.addi %1, %c256_0 : index
      sdscbundle.sdsc_execute (%0, %2, %1, %3) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3, -4]}
      return
    ```
  }];
  let options = [
    Option<"symbolicArgs", "symbolic-args", "bool", "true", "Pass base addresses at launch">,
    Option<"unrollLoops", "unroll-loops", "bool", "false", "Unroll the loops of the bundle">];
  let dependentDialects = ["::mlir::sdsc::SdscDialect", "::mlir::sdscbundle::SdscBundleDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"];
}

#endif // SPYRE_CONVERSION_SPYRETOSUPERDSC_PASSES
