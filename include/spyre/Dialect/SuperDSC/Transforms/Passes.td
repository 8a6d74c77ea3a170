//===- Passes.td - Passes on sdsc and sdscbundle ------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SUPERDSC_TRANSFORMS_PASSES_TD
#define SPYRE_DIALECT_SUPERDSC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SdscVerifyPass : Pass<"sdsc-verify", "::mlir::ModuleOp"> {
  let summary = "Check every descriptor and execution against the format's rules";
  let description = [{
    The pass reports all violations of the rules in `docs/formats/superdsc.md`, each with
    its number, at the operand or operation that it is about, then fails.

    Input: a module with `sdsc.descriptor` operations and bundle functions; it must run
    after whatever makes them. Output: the same module. Lowering: none.

    ```mlir
    // spyre-opt --sdsc-verify
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 8 in 2>, <out = 100 in 1>] layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
      // error: dim out: a core's 100 elements are no multiple of the stick's 64 [SDSC-8]
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 at [0, 512]
      %Tensor1 = sdsc.allocate "Tensor1" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 at [4096, 4608]
      sdsc.compute "sfp" "exp" SEN169_FP16 ins(%Tensor0) outs(%Tensor1)
    }
    ```
  }];
  let options = [Option<"device", "device", "std::string", /*default=*/"\"spyre\"",
                        "Device variant whose limits hold (cores, span, scratchpad)">,
                 Option<"warnings", "warnings", "bool", /*default=*/"true",
                        "Say what the specification forbids and the reference front end emits">];
}

#endif // SPYRE_DIALECT_SUPERDSC_TRANSFORMS_PASSES_TD
