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

#include "spyre/Dialect/Spyre/IR/ConstantNumbers.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;

/// True if the device rounds \p number to 65536 or -65536.
static bool isLargest(double number) {
  return std::fabs(number) >= 65472 && std::fabs(number) < 65600;
}

/// True if \p constant has such an element.
static bool holdsLargest(ConstantOp constant) {
  ElementsAttr elements = constant.getValue();
  if (!hasNumbers(elements)) // an array that is not at hand, or no floats
    return !isa<IntegerType>(elements.getElementType()) ||
           !isa<DenseIntElementsAttr, RunsAttr>(elements);
  return anyOfNumbers(elements,
                      [](const APFloat &number) { return isLargest(number.convertToDouble()); });
}

namespace {
using Source = OverflowSources::Source;

/// The lattice's value: what a number of that size in a tensor may be, the worst last.
struct SourceState {
  Source source = Source::Computed;
  bool operator==(const SourceState &) const = default;
  static SourceState join(const SourceState &a, const SourceState &b) {
    return {std::max(a.source, b.source)};
  }
  void print(raw_ostream &os) const { os << static_cast<int>(source); }
};
using SourceLattice = dataflow::Lattice<SourceState>;

class SourceAnalysis : public dataflow::SparseForwardDataFlowAnalysis<SourceLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  void setToEntryState(SourceLattice *lattice) override {
    // No bf16 number lies next to 65504.
    Value value = lattice->getAnchor();
    bool isBF16 = isa<ShapedType>(value.getType()) && getElementType(value).isBF16();
    set(lattice, isBF16 ? Source::Computed : Source::Argument);
  }

  LogicalResult visitOperation(Operation *op, ArrayRef<const SourceLattice *> operands,
                               ArrayRef<SourceLattice *> results) override {
    Source source = getSource(op, operands);
    for (SourceLattice *result : results)
      set(result, source);
    return success();
  }

private:
  void set(SourceLattice *lattice, Source source) {
    propagateIfChanged(lattice, lattice->join(SourceState{source}));
  }

  static Source getSource(Operation *op, ArrayRef<const SourceLattice *> operands) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return holdsLargest(constant) ? Source::Constant : Source::Computed;
    if (isa<ReinterpretOp>(op))
      return operands.front()->getValue().source;
    auto device = dyn_cast<DeviceOpInterface>(op);
    if (!device)
      return Source::Argument;
    bool passes = device.getInfo().passesInfinity;
    Source source = Source::Computed;
    for (const SourceLattice *operand : operands)
      if (Source from = operand->getValue().source; passes || from == Source::Constant)
        source = std::max(source, from);
    // The bounds of a clip.
    if (DictionaryAttr constants = device.getConstantsAttr())
      for (NamedAttribute entry : constants)
        if (auto number = dyn_cast<FloatAttr>(entry.getValue()))
          if (isLargest(number.getValueAsDouble()))
            source = Source::Constant;
    return source;
  }
};
} // namespace

OverflowSources::OverflowSources(func::FuncOp func) {
  dataflow::loadBaselineAnalyses(solver);
  solver.load<SourceAnalysis>();
  // Nothing in the analyses fails.
  (void)solver.initializeAndRun(func);
}

bool OverflowSources::mayBeLargest(Value value) const {
  const auto *lattice = solver.lookupState<SourceLattice>(value);
  return !lattice || lattice->getValue().source != Source::Computed;
}
