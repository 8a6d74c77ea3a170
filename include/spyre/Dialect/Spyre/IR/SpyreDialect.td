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
    The dialect has three levels. At L1 operations work on plain tensors and say
    *what* to compute; at L2 the tensors carry `#spyre.layout` and say *where*
    each element sits; at L3 operations work on `!spyre.buffer` values and say
    *who* computes what, when, and from which memory.

    A device operation has the same form at all levels. It begins with its iteration
    space: `(d0 = 128 / 32, d1 = 256)` has two dims, the first of which is cut into 32
    work slices. Then come the operands, each with its access map from iteration points
    to logical coordinates; dims that the result's map does not use are reduced. On
    tensors the operation has a result (and `outs` only where it writes a part of an
    existing tensor); on buffers it writes `outs`. Three more parts are optional:

    - `k_fast`: the cores of one contraction are neighbours.
    - `loops(%i)`: `s0`, `s1`, … of the maps are loop variables.
    - `gather(1[0] by 0)`, on buffers only: input 1 is a table whose dim 0 is addressed
      by the elements of input 0. That is an index tensor and no input of the operation
      itself. The table's map has 0 at that dim.

    ```mlir
    !h = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @tiles(%x: !h, %v: tensor<128x256xf16>, %o: !h) -> tensor<128x1xf16> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        spyre.exp (d0 = 32 / 8, d1 = 256) loops(%i) ins(%x[d0 + s0 * 32, d1]) outs(%o[d0 + s0 * 32, d1]) : !h -> !h
      }
      %0 = spyre.sum (d0 = 128, d1 = 256) ins(%v[d0, d1]) -> [d0, 0] : tensor<128x256xf16> -> tensor<128x1xf16>
      return %0 : tensor<128x1xf16>
    }
    ```

    Passes work through `DeviceOpInterface` and know no operation by name.
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
