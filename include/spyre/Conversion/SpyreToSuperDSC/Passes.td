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
    func.func @add(%x: !spyre.buffer<...>, %o: !spyre.buffer<...>) {
      spyre.abs (d0 = 4 / 2, d1 = 64) ins(%x[d0, d1]) outs(%o[d0, d1]) : ...
      return
    }
    // becomes
    sdsc.descriptor @sdsc_0 ...
    func.func @add(%arg0: !sdscbundle.input_arg<index>, %arg1: !sdscbundle.input_arg<index>) {
      %0 = sdscbundle.input_arg_extract value from %arg0 : ...
      ...
      sdscbundle.sdsc_execute (%0, %2, %1, %3) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1, -2, -3, -4]}
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
