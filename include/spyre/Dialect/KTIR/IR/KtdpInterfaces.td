//===- KtdpInterfaces.td - Deliveries between tiles ------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one interface through which rules, explanations and executors see the operations
// that take a tile future. They know no such operation by name.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_KTDPINTERFACES_TD
#define SPYRE_DIALECT_KTIR_KTDPINTERFACES_TD

include "mlir/IR/OpBase.td"

def Ktdp_DeliveryOpInterface : OpInterface<"DeliveryOpInterface"> {
  let cppNamespace = "::mlir::ktdp";
  let description = [{
    An operation that gives the compute tiles of a group something made of what the
    group's producers yielded. There is one result a role. Where partials are folded,
    there is a combiner; where the result is a share of the whole, there are split
    dims; where partials are put side by side, there are concat dims. Dims are those of
    the partials and ascend; the first varies slowest. Positions within a group count
    its tiles in ascending order.
  }];
  let methods = [
    InterfaceMethod<"What is delivered", "::mlir::TypedValue<::mlir::ktdp::TileFutureType>",
                    "getFuture">,
    InterfaceMethod<"The tiles `(i)[g]` that receive", "::mlir::IntegerSet",
                    "getConsumerTilesPerGroup">,
    InterfaceMethod<"The producers `(p)[c]` or `(p)[c, g]` that a consumer receives from; nothing: "
                    "all of its group",
                    "::std::optional<::mlir::IntegerSet>", "getDependency", (ins), "",
                    [{ return $_op.getProducerDependencyPerConsumer(); }]>,
    InterfaceMethod<"Dims along which a consumer gets a share", "::llvm::ArrayRef<int64_t>",
                    "getSplitDims", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"Dims along which partials are put side by side", "::llvm::ArrayRef<int64_t>",
                    "getConcatDims", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"The region that folds two partials, or null", "::mlir::Region *",
                    "getFoldRegion", (ins), "", [{ return nullptr; }]>,
    InterfaceMethod<"What leaves a partial as it is, one a role; empty without a fold",
                    "::mlir::ValueRange", "getIdentities", (ins), "", [{ return {}; }]>
  ];
  let extraSharedClassDeclaration = [{
    /// A result can hold one partial only, or a share of one.
    bool hasSingleSource() { return !$_op.getFoldRegion() && $_op.getConcatDims().empty(); }
    ::llvm::ArrayRef<::mlir::RankedTensorType> getPartialTypes() {
      return $_op.getFuture().getType().getPartialTypes();
    }
  }];
}

#endif // SPYRE_DIALECT_KTIR_KTDPINTERFACES_TD
