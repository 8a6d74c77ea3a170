//===- ArrangementAnalysis.cpp - Order of elements within sticks -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L2/ArrangementAnalysis.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Arrangement;

namespace {
/// The lattice's value. What has one value for the whole stick is in any order.
struct ArrangementState {
  enum Kind {
    Bottom,  ///< nothing is known yet
    Uniform, ///< every lane of a stick holds the same
    Known,
    None, ///< what comes before does not fit together
  } kind = Bottom;
  Arrangement arrangement = Arrangement::Standard; ///< Known

  bool operator==(const ArrangementState &) const = default;
  static ArrangementState join(const ArrangementState &a, const ArrangementState &b) {
    if (a == b || a.kind < b.kind)
      return a.kind < b.kind ? b : a;
    return b.kind < a.kind ? a : ArrangementState{None};
  }
  void print(raw_ostream &os) const {
    constexpr StringLiteral kKinds[] = {"bottom", "uniform", "known", "none"};
    os << (kind == Known ? StringRef(::spyre::getName(arrangement)) : StringRef(kKinds[kind]));
  }
};
using ArrangementLattice = dataflow::Lattice<ArrangementState>;

/// What an operation makes, or why its operands do not fit together.
struct Produced {
  ArrangementState state;
  std::string reason;
};
} // namespace

/// What \p op makes of inputs in \p states, all of which are known.
static Produced produce(DeviceOpInterface op, ArrayRef<ArrangementState> states) {
  std::optional<SmallVector<int64_t>> trips = getTripCounts(op);
  SmallVector<int64_t> ranges(op.getExtents());
  if (!trips)
    return {{ArrangementState::None}, {}};
  ranges.append(*trips);
  auto readsOneLane = [&](Value value, AffineMap map) {
    return getStickAccess(getShape(value), getLayout(value), map, ranges).kind ==
           StickAccess::Lane0;
  };
  SmallVector<::spyre::ArrangementOperand> operands;
  bool isUniform = !op.getInputs().empty();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    const ArrangementState &state = states[i];
    bool isOneValue = state.kind == ArrangementState::Uniform;
    // Where a tensor has one element a stick, lane 0 is lane 0 in every order.
    if (!isOneValue && readsOneLane(input, op.getInputMap(i)))
      isOneValue = getLayout(input).isSparse() || state.arrangement == Arrangement::Standard;
    isUniform &= isOneValue;
    operands.push_back({isOneValue ? Arrangement::Standard : state.arrangement, isOneValue});
  }
  std::variant<Arrangement, std::string> made =
      ::spyre::getProducedArrangement(op.getInfo(), operands);
  if (auto *reason = std::get_if<std::string>(&made))
    return {{ArrangementState::None}, std::move(*reason)};
  // What was read from one lane fills the sticks that are written.
  if (isUniform && !readsOneLane(op.getDestination(), op.getOutputMap()) &&
      op.getInfo().arrangementRule != ::spyre::ArrangementRule::ProducesExx2)
    return {{ArrangementState::Uniform}, {}};
  return {{ArrangementState::Known, std::get<Arrangement>(made)}, {}};
}

static bool isKnown(const ArrangementState &state) {
  return state.kind == ArrangementState::Known || state.kind == ArrangementState::Uniform;
}

namespace {
class ArrangementDataFlow : public dataflow::SparseForwardDataFlowAnalysis<ArrangementLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  void setToEntryState(ArrangementLattice *lattice) override {
    set(lattice, getStated(lattice->getAnchor()));
  }

  LogicalResult visitOperation(Operation *op, ArrayRef<const ArrangementLattice *> operands,
                               ArrayRef<ArrangementLattice *> results) override {
    auto device = dyn_cast<DeviceOpInterface>(op);
    for (ArrangementLattice *result : results)
      set(result, device ? compute(device, operands) : getStated(result->getAnchor()));
    return success();
  }

private:
  void set(ArrangementLattice *lattice, ArrangementState state) {
    propagateIfChanged(lattice, lattice->join(state));
  }

  static ArrangementState getStated(Value value) {
    LayoutAttr layout = getLayout(value);
    if (!layout)
      return {ArrangementState::None};
    // Every lane of a number's stick holds it.
    if (getShape(value).empty() && value.getDefiningOp<ConstantOp>())
      return {ArrangementState::Uniform};
    return {ArrangementState::Known, layout.getArrangement()};
  }

  static ArrangementState compute(DeviceOpInterface op,
                                  ArrayRef<const ArrangementLattice *> operands) {
    SmallVector<ArrangementState> inputs;
    // The inputs come first; what the operation updates is joined with what it writes.
    for (const ArrangementLattice *operand : operands.take_front(op.getInputs().size())) {
      inputs.push_back(operand->getValue());
      if (!isKnown(inputs.back()))
        return inputs.back();
    }
    ArrangementState state = produce(op, inputs).state;
    if (op.getOutput())
      state = ArrangementState::join(state, operands[op.getInputs().size()]->getValue());
    return state;
  }
};
} // namespace

ArrangementAnalysis::ArrangementAnalysis(func::FuncOp func) {
  dataflow::loadBaselineAnalyses(solver);
  solver.load<ArrangementDataFlow>();
  // Nothing in the analyses fails.
  (void)solver.initializeAndRun(func);
}

static ArrangementState getState(const DataFlowSolver &solver, Value value) {
  const auto *lattice = solver.lookupState<ArrangementLattice>(value);
  return lattice ? lattice->getValue() : ArrangementState{ArrangementState::None};
}

bool ArrangementAnalysis::mayBe(Value value, Arrangement arrangement) const {
  ArrangementState state = getState(solver, value);
  return state.kind != ArrangementState::Known || state.arrangement == arrangement;
}

std::string ArrangementAnalysis::check(DeviceOpInterface op) const {
  SmallVector<ArrangementState> inputs;
  for (Value input : op.getInputs()) {
    inputs.push_back(getState(solver, input));
    if (!isKnown(inputs.back()))
      return {};
  }
  Produced produced = produce(op, inputs);
  if (!produced.reason.empty() || !op.getOutput())
    return produced.reason;
  ArrangementState before = getState(solver, op.getOutput());
  if (before.kind != ArrangementState::Known || produced.state.kind != ArrangementState::Known ||
      before == produced.state)
    return {};
  return "writes elements in the order " +
         std::string(::spyre::getName(produced.state.arrangement)) +
         " into a tensor in the order " + std::string(::spyre::getName(before.arrangement));
}

std::string ArrangementAnalysis::describe(Value value) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  getState(solver, value).print(os);
  return text;
}
