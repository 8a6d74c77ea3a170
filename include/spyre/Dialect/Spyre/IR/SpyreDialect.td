//===- SpyreDialect.td - The Spyre dialect ----------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect itself and the base class of its operations.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT
#define SPYRE_DIALECT

include "mlir/IR/OpBase.td"

def Spyre_Dialect : Dialect {
  let name = "spyre";
  let cppNamespace = "::mlir::spyre";
  let summary = "Programs for the IBM Spyre accelerator, from tensors to planned buffers";
  let description = [{
    One dialect at three levels. At L1 operations work on plain tensors and say
    *what* to compute; at L2 the tensors carry `#spyre.layout` and say *where*
    each element sits; at L3 operations work on `!spyre.buffer` values and say
    *who* computes what, when, and from which memory.

    A device operation has the same form at all levels: an iteration space, and
    for each operand and the result an access map from iteration points to
    logical coordinates. Passes work through `DeviceOpInterface` and know no
    operation by name.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Spyre_Op<string mnemonic, list<Trait> traits = []>
    : Op<Spyre_Dialect, mnemonic, traits>;

#endif // SPYRE_DIALECT
