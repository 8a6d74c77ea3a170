//===- PlanHints.h - What an operation says of its plan ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device operation may say what a schedule would say of it (`spyre.plan`), and any operation
// which part of the program it is (`spyre.scope`); docs/formats/schedule.md. A hint goes where
// the operation goes: whoever builds an operation anew from what another one says (DeviceOpSpec)
// passes it on. The function keeps the places where hints were (`spyre.hints`), so that one that
// nobody carries any more is found. A scope becomes part of the operation's location, which all
// that is made of the operation has.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_PLANHINTS_H
#define SPYRE_DIALECT_SPYRE_IR_PLANHINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::spyre {

/// Numbers the hints in \p func that have no number yet and notes their places; moves scopes into
/// locations.
void collectPlanHints(func::FuncOp func);
/// True if an operation of \p func has a hint.
bool hasPlanHints(func::FuncOp func);
/// Takes all hints away, and what \p func notes of them.
void removePlanHints(func::FuncOp func);
/// Where the hints stood that no operation of \p func has any more.
SmallVector<Location> getLostPlanHints(func::FuncOp func);

/// What is wrong with \p hint of \p op by itself; empty: nothing that is seen from there.
std::string findPlanHintMistake(Operation *op, Attribute hint);

/// \p hint of an operation whose dim d has become \p dims[d], or several, or none (nothing).
DictionaryAttr renumberPlanHint(DictionaryAttr hint, ArrayRef<std::optional<unsigned>> dims);
/// The dim that a key of `splits` says had before it became several; nothing if \p key is none
/// of these.
std::optional<StringRef> getLostDim(StringRef key);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_PLANHINTS_H
