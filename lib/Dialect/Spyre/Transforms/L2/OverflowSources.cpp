//===- OverflowSources.cpp - Where the largest f16 number can come from -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. Sums are on the side of what they add up: a mask of finfo.min is added
// to scores far more often than two numbers add up to just that.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L2/OverflowSources.h"

#include "spyre/OpFunc/OpFuncTable.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;

/// True if the device rounds \p number to 65536 or -65536.
static bool isLargest(double number) {
  return std::fabs(number) >= 65472 && std::fabs(number) < 65600;
}

/// True if \p constant has such an element.
static bool holdsLargest(ConstantOp constant) {
  auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
  if (!elements) // an array that is not at hand, or no floats
    return !isa<DenseIntElementsAttr>(constant.getValue());
  if (elements.isSplat())
    return isLargest(elements.getSplatValue<APFloat>().convertToDouble());
  return llvm::any_of(elements.getValues<APFloat>(),
                      [](const APFloat &number) { return isLargest(number.convertToDouble()); });
}

OverflowSources::OverflowSources(func::FuncOp func) {
  // No bf16 number lies next to 65504.
  for (BlockArgument argument : func.getArguments())
    sources[argument] = getElementType(argument).isBF16() ? Source::Computed : Source::Argument;
  for (Operation &op : func.getBody().front())
    for (Value result : op.getResults())
      sources[result] = getSource(&op);
}

OverflowSources::Source OverflowSources::getSource(Operation *op) const {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return holdsLargest(constant) ? Source::Constant : Source::Computed;
  if (auto alias = dyn_cast<ReinterpretOp>(op))
    return sources.lookup(alias.getSource());
  auto device = dyn_cast<DeviceOpInterface>(op);
  if (!device)
    return Source::Argument;
  bool passes = device.getInfo().passesInfinity;
  Source source = Source::Computed;
  for (Value operand : op->getOperands())
    if (Source from = sources.lookup(operand); passes || from == Source::Constant)
      source = std::max(source, from);
  // The bounds of a clip.
  if (DictionaryAttr constants = device.getConstantsAttr())
    for (NamedAttribute entry : constants)
      if (auto number = dyn_cast<FloatAttr>(entry.getValue()))
        if (isLargest(number.getValueAsDouble()))
          source = Source::Constant;
  return source;
}
