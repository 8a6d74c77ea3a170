//===- Provenance.cpp - Where an operation comes from ---------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/Provenance.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::spyre;

Origin mlir::spyre::getOrigin(Location loc) {
  Origin origin;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && !origin.operation)
      origin.operation = name.getName();
    if (auto file = dyn_cast<FileLineColLoc>(part); file && !origin.position)
      origin.position = file;
    return origin.operation && origin.position ? WalkResult::interrupt() : WalkResult::advance();
  });
  return origin;
}

Location mlir::spyre::withOrigin(Location loc, StringRef operation) {
  if (getOrigin(loc).operation)
    return loc;
  return NameLoc::get(StringAttr::get(loc.getContext(), operation), loc);
}

Location mlir::spyre::withNumber(Location loc, int64_t number) {
  MLIRContext *context = loc.getContext();
  return FusedLoc::get(context, {loc}, IntegerAttr::get(IntegerType::get(context, 64), number));
}

SmallVector<int64_t> mlir::spyre::getNumbers(Location loc) {
  SmallVector<int64_t> numbers;
  loc->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLoc>(part))
      if (auto number = dyn_cast_if_present<IntegerAttr>(fused.getMetadata()))
        numbers.push_back(number.getInt());
    return WalkResult::advance();
  });
  return numbers;
}

Location mlir::spyre::withScope(Location loc, StringRef scope) {
  return FusedLoc::get(loc.getContext(), {loc}, StringAttr::get(loc.getContext(), scope));
}

SmallVector<StringRef> mlir::spyre::getScopes(Location loc) {
  SmallVector<StringRef> scopes;
  loc->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLoc>(part))
      if (auto scope = dyn_cast_if_present<StringAttr>(fused.getMetadata()))
        scopes.push_back(scope);
    return WalkResult::advance();
  });
  return scopes;
}
