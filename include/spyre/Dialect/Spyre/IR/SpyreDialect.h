//===- SpyreDialect.h - The Spyre dialect, its types and attributes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect, #spyre.layout and its kin, and !spyre.buffer. Operations
// are in SpyreOps.h, so that users of types alone do not include them.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_SPYREDIALECT_H
#define SPYRE_DIALECT_SPYRE_IR_SPYREDIALECT_H

#include "spyre/Device/MemorySpace.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/Numerics/Formats.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/Spyre/IR/SpyreAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/Spyre/IR/SpyreTypes.h.inc"

namespace mlir::spyre {

using ::spyre::Arrangement;
using ::spyre::MemorySpace;
using ::spyre::PlacementKind;

/// PyTorch's name for a builtin element type (f16, bf16, f32, si64, i1, ...), or
/// nothing if it is none of PyTorch's.
std::optional<::spyre::HostType> getHostType(Type elementType);
/// The builtin type of \p type; integers are signless except uint8.
Type getElementType(MLIRContext *context, ::spyre::HostType type);
/// The device format that holds \p elementType, or nothing.
std::optional<::spyre::DataFormat> getDeviceFormat(Type elementType);

/// Discardable attributes of function arguments of a planned function.
/// Absolute device address (bytes) of the argument; only where the caller fixes it.
inline constexpr llvm::StringLiteral kAddressAttr = "spyre.address";
/// The argument's number in the kernel's list of arguments, where that has others, too.
inline constexpr llvm::StringLiteral kNumberAttr = "spyre.number";
/// "input", "output", "input_output" or "constant".
inline constexpr llvm::StringLiteral kRoleAttr = "spyre.role";
/// Name of the program's array it holds: "in0", "out1".
inline constexpr llvm::StringLiteral kArrayAttr = "spyre.array";
/// "out0": the result that an input_output argument becomes.
inline constexpr llvm::StringLiteral kResultAttr = "spyre.result";
/// The elements of a constant that is an argument of the bundle.
inline constexpr llvm::StringLiteral kDataAttr = "spyre.data";
/// Unit: a weight. Its device layout is what its readers want (the caller converts once).
inline constexpr llvm::StringLiteral kWeightAttr = "spyre.weight";
/// "infinite": what the device holds as 65536 in a 16-bit result is an overflow, not the
/// largest f16 number on its way through.
inline constexpr llvm::StringLiteral kOverflowAttr = "spyre.overflow";
/// The element type that the program's array has, where the device keeps another one: f16
/// numbers as f32. Of arguments and results.
inline constexpr llvm::StringLiteral kHostTypeAttr = "spyre.host_type";
/// The host alone passes this argument or takes this result, so that any device format
/// that copies convert to will do and, of a result, any dim in the stick. Unit.
inline constexpr llvm::StringLiteral kOnHostAttr = "spyre.on_host";
/// On a constant: the bound of a comparison before it was rounded to a DL16 number.
inline constexpr llvm::StringLiteral kBoundAttr = "spyre.bound";
/// Unit, on a conversion to f16: its numbers are f16 numbers already.
inline constexpr llvm::StringLiteral kLosslessAttr = "spyre.lossless";
/// Unit, on an f32 operation: its numbers may be beyond DL16's range, so that it stays f32.
inline constexpr llvm::StringLiteral kWideAttr = "spyre.wide";
/// On a function: how many 16-bit pieces the factors of its f32 products are cut into, 2 or 3
/// (the default).
inline constexpr llvm::StringLiteral kPiecesAttr = "spyre.pieces";
/// On an operation of torch: why the host computes it.
inline constexpr llvm::StringLiteral kHostAttr = "spyre.host";
/// Value of a one-stick constant argument.
inline constexpr llvm::StringLiteral kValueAttr = "spyre.value";
/// Tail state at entry.
inline constexpr llvm::StringLiteral kTailAttr = "spyre.tail";
/// A unit, of an operation whose OpFunc takes a mask: what lies behind the end of its first
/// input's last stick reads as the OpFunc's `maskTail`.
inline constexpr llvm::StringLiteral kMaskedAttr = "spyre.masked";
/// The number of a group of L3 operations, on each of them: they may be done again for each part
/// of what their reductions reduce, and go on from what they have (`spyre-carry-reductions`).
inline constexpr llvm::StringLiteral kCarriedAttr = "spyre.carried";
/// The number of an operand, on an L3 operation of such a group: it is a constant that stands for
/// all that the group's reductions reduce, and gets less by as many times as there are parts.
inline constexpr llvm::StringLiteral kSharedOutAttr = "spyre.shared_out";
/// Of a function: the decisions of a plan that have to be obeyed, a dictionary
/// (docs/formats/schedule.md).
inline constexpr llvm::StringLiteral kScheduleAttr = "spyre.schedule";
/// Of a function: the decisions that were taken, where passes are asked to record them.
inline constexpr llvm::StringLiteral kChosenScheduleAttr = "spyre.chosen_schedule";
/// Of a device operation: what a schedule would say of it, a dictionary with the fields `splits`,
/// `space` and `address` (PlanHints.h).
inline constexpr llvm::StringLiteral kPlanAttr = "spyre.plan";
/// Of a function: the places where its operations had hints, each the number of one.
inline constexpr llvm::StringLiteral kHintsAttr = "spyre.hints";
/// Of any operation: the part of the program that it is, a name that schedules know.
inline constexpr llvm::StringLiteral kScopeAttr = "spyre.scope";
/// Of an operation while it is planned: where its result has to lie and who says so, a dictionary
/// with the fields `space`, `address` and `field`.
inline constexpr llvm::StringLiteral kPlaceAttr = "spyre.place";
/// Of an operation while it is planned: its number, as schedules count it.
inline constexpr llvm::StringLiteral kOperationAttr = "spyre.operation";
/// Unit, of an operation while it is planned: a schedule says its division, and no nests.
inline constexpr llvm::StringLiteral kPinnedAttr = "spyre.pinned";
/// Module attribute: the device variant's name.
inline constexpr llvm::StringLiteral kDeviceAttr = "spyre.device";
/// Module attribute: the rates that replace the variant's, a dictionary of f64 by the names of
/// rates files (docs/device.md, section 7).
inline constexpr llvm::StringLiteral kRatesAttr = "spyre.rates";

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_SPYREDIALECT_H
