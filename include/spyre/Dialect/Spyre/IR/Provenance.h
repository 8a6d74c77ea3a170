//===- Provenance.h - Where an operation comes from -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A location carries two things through all levels: the position in the program's text
// and, as a name around it, the program's operation ("torch.aten.mm"; "in0" for what is
// done to an argument, "return" for what is done to a result).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_PROVENANCE_H
#define SPYRE_DIALECT_SPYRE_IR_PROVENANCE_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::spyre {

struct Origin {
  StringAttr operation;    ///< null: not known
  FileLineColLoc position; ///< null: not known
};

/// The first operation and the first position in \p loc.
Origin getOrigin(Location loc);

/// \p loc as the location of \p operation; \p loc itself if it names one already.
Location withOrigin(Location loc, StringRef operation);

/// \p loc as that of operation number \p number of the program, whatever becomes of it.
Location withNumber(Location loc, int64_t number);
/// The numbers in \p loc.
SmallVector<int64_t> getNumbers(Location loc);

/// \p loc as of an operation of \p scope, a part of the program ("layers.0.self_attn").
Location withScope(Location loc, StringRef scope);
/// The scopes of \p loc, the innermost last where one was put around another.
SmallVector<StringRef> getScopes(Location loc);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_PROVENANCE_H
