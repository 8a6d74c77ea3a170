//===- HostCall.cpp - Rules of spyre.host_call ----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See SpyreOps.td.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::spyre;

/// Checks \p argument and what it holds; notes in \p used which inputs it names.
static LogicalResult verifyArgument(HostCallOp op, Attribute argument, llvm::BitVector &used) {
  if (isa<BoolAttr, StringAttr, UnitAttr>(argument))
    return success();
  if (auto list = dyn_cast<ArrayAttr>(argument)) {
    for (Attribute element : list)
      if (failed(verifyArgument(op, element, used)))
        return failure();
    return success();
  }
  if (auto number = dyn_cast<DenseElementsAttr>(argument);
      number && number.getType() ==
                    RankedTensorType::get({}, ComplexType::get(Float64Type::get(op.getContext()))))
    return success();
  if (auto number = dyn_cast<FloatAttr>(argument); number && number.getType().isF64())
    return success();
  auto number = dyn_cast<IntegerAttr>(argument);
  if (number && number.getType().isIndex()) {
    if (number.getInt() < 0 || number.getInt() >= static_cast<int64_t>(used.size()))
      return op.emitOpError() << "argument names input " << number.getInt() << " of "
                              << used.size();
    used.set(number.getInt());
    return success();
  }
  if (number && number.getType().isInteger(64))
    return success();
  return op.emitOpError()
         << "argument " << argument
         << " is no i64, f64, complex<f64>, bool, string, unit, input or list of them";
}

LogicalResult HostCallOp::verify() {
  if (getFunction().empty())
    return emitOpError() << "names no function";
  llvm::BitVector used(getInputs().size());
  for (Attribute argument : getArguments())
    if (failed(verifyArgument(*this, argument, used)))
      return failure();
  if (!used.all())
    return emitOpError() << "input " << used.find_first_unset() << " is no argument";
  if (getNumbers().size() != getNumResults() || getItems().size() != getNumResults())
    return emitOpError() << "needs one of `numbers` and of `items` a result";
  for (auto [number, item] : llvm::zip(getNumbers(), getItems()))
    if (number < 0 || item < -1)
      return emitOpError() << "result " << number << ", item " << item << " does not exist";
  return success();
}
