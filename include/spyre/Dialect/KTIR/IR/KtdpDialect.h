//===- KtdpDialect.h - The ktdp dialect of KTIR -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the dialect, and the attributes of modules and functions that belong
// to KTIR.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_IR_KTDPDIALECT_H
#define SPYRE_DIALECT_KTIR_IR_KTDPDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "spyre/Dialect/KTIR/IR/TileSets.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h.inc"
#include "spyre/Dialect/KTIR/IR/KtdpEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/KtdpAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/KtdpTypes.h.inc"

namespace mlir::ktdp {
class InterTileProduceOp;

/// What passes between compute tiles.
struct InterTileResource : SideEffects::Resource::Base<InterTileResource> {
  StringRef getName() final { return "InterTile"; }
};
} // namespace mlir::ktdp

#include "spyre/Dialect/KTIR/IR/KtdpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "spyre/Dialect/KTIR/IR/KtdpOps.h.inc"

namespace mlir::ktdp {

/// Module attribute: "bytes" or "elements".
inline constexpr llvm::StringLiteral kAddressUnitAttr = "ktdp.address_unit";
/// Module attribute: "dl16" or "ieee". It carries the project's prefix, because it
/// says how our f16 is stored, which no dialect of KTIR knows.
inline constexpr llvm::StringLiteral kF16Attr = "spyre.f16";
/// Function attribute: an array of one to three numbers of compute tiles.
inline constexpr llvm::StringLiteral kGridAttr = "grid";
/// Function attribute: the first argument is the base address of this many bytes of
/// device memory that live as long as the launch.
inline constexpr llvm::StringLiteral kPoolBytesAttr = "ktdp.pool_bytes";

/// The grid of \p function: its attribute, or (1, 1, 1) where it has none. Nothing
/// if the attribute is no array of one to three positive integers. Both
/// `grid = [32]` and `grid = [32 : index]` are read.
std::optional<SmallVector<int64_t>> getGrid(Operation *function);

/// Its product; no more than \p limit + 1.
int64_t getNumTiles(ArrayRef<int64_t> grid, int64_t limit = kMaxTiles);

/// The operation that produces what \p delivery takes, or null.
InterTileProduceOp getProducer(DeliveryOpInterface delivery);

} // namespace mlir::ktdp

#endif // SPYRE_DIALECT_KTIR_IR_KTDPDIALECT_H
