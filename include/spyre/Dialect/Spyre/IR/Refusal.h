//===- Refusal.h - Why an operation is not the device's ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the device cannot do, as values: an error says in words what is wrong for people, and
// carries beside its text which operations it refuses by which rule and why, for who
// places operations (lib/Compiler, the Python package). Nobody reads the words.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_REFUSAL_H
#define SPYRE_DIALECT_SPYRE_IR_REFUSAL_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace mlir::spyre {

/// The part of the compiler that refuses.
enum class RefusalRule : uint8_t {
  Lowering,  ///< an operation of the program has no form at L1
  Precision, ///< the device has no form for the numbers that it works on
  Range,     ///< its numbers may be beyond the format
  Planning,  ///< no layout, division or place; or something that only a verifier saw
};

/// "lowering", "precision", "range", "planning".
StringRef getRefusalRuleName(RefusalRule rule);

struct Refusal {
  std::string operation; ///< its name; empty where the error is about no one operation
  RefusalRule rule = RefusalRule::Planning;
  std::string reason;
  /// Names the operation's number where there is one (Provenance.h).
  Location location;
};

/// Adds to \p error that \p op is refused: a note of its name, then \p signature (may be
/// empty), then the reason.
void noteRefusal(InFlightDiagnostic &error, Operation *op, RefusalRule rule, const Twine &reason,
                 const Twine &signature = "");
/// The same for an operation that people know by another name.
void noteRefusal(InFlightDiagnostic &error, Location location, StringRef operation,
                 RefusalRule rule, const Twine &reason, const Twine &signature = "");

/// What \p diagnostic refuses: its notes that are refusals or, if it is an error without any,
/// the error itself.
std::vector<Refusal> getRefusals(const Diagnostic &diagnostic);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_REFUSAL_H
