//===- SpyreTypes.td - Buffers ----------------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one type of L3: a buffer with its logical shape, layout and memory.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TYPES
#define SPYRE_TYPES

include "spyre/Dialect/Spyre/IR/SpyreAttributes.td"

def Spyre_BufferType : TypeDef<Spyre_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Memory that holds a tensor in a given layout";
  let description = [{
    The shape is logical; the layout says where the elements sit. Element types
    are the host's (i1 for bool, i64 for int64); the format is in the layout.

    ```mlir
    func.func private @f(!spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>)
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "LayoutAttr":$layout, "::spyre::MemorySpace":$space);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    ::spyre::layout::TensorLayout getTensorLayout() const {
      return getLayout().getTensorLayout(getShape());
    }
  }];
}

def Spyre_Value : AnyTypeOf<[AnyRankedTensor, Spyre_BufferType]>;

#endif // SPYRE_TYPES
