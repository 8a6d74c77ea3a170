//===- TailAnalysis.cpp - What the padding of tensors holds -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L2/TailAnalysis.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Layout/TensorLayout.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"

using namespace mlir;
using namespace mlir::spyre;
using Tail = ::spyre::TailState;

namespace {
/// Elements start .. start + extent - 1 of a logical dim.
struct Span {
  int64_t start = 0;
  int64_t extent = 1;
};
} // namespace

/// What \p map touches of logical dim \p dim, if one iteration dim runs through it
/// without gaps.
static std::optional<Span> getSpan(AffineMap map, ArrayRef<int64_t> extents, unsigned dim) {
  FailureOr<::spyre::layout::IndexMap> index =
      toIndexMap(map.getSubMap({dim}), extents.take_front(map.getNumDims() + map.getNumSymbols()));
  if (failed(index))
    return std::nullopt;
  const ::spyre::layout::IndexExpr &expr = index->results.front();
  if (expr.digits.empty())
    return Span{expr.constant, 1};
  const ::spyre::layout::Digit &digit = expr.digits.front();
  if (expr.digits.size() > 1 || digit.coefficient != 1 || digit.divisor != 1 || digit.modulus ||
      digit.input >= map.getNumDims())
    return std::nullopt;
  return Span{expr.constant, extents[digit.input]};
}

/// Copy-in writes zeros into tails and gaps; what another bundle has computed promises
/// nothing.
static PaddingState getArgumentTail(func::FuncOp func, unsigned argument) {
  auto tail = func.getArgAttrOfType<StringAttr>(argument, kTailAttr);
  if (tail && tail.getValue() == StringRef(::spyre::getName(Tail::Unknown)))
    return {Tail::Unknown, Tail::Unknown};
  return {Tail::Zero, Tail::Zero};
}

/// The padding of a constant.
static PaddingState getConstantTail(ConstantOp constant) {
  // Every lane of a number's stick holds it; an array is copied in with zeros.
  bool isNumber = getShape(constant.getResult()).empty();
  Tail state = isNumber ? Tail::Unknown : Tail::Zero;
  if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()); splat && isNumber)
    if (isa<FloatType>(splat.getElementType())) {
      APFloat value = splat.getSplatValue<APFloat>();
      state = value.isZero()       ? Tail::Zero
              : value.isInfinity() ? (value.isNegative() ? Tail::NegInf : Tail::PosInf)
              : value.isNaN()      ? Tail::Unknown
                                   : Tail::Finite;
    }
  return {state, state};
}

PaddingState TailStates::transfer(Operation *op) const {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return getConstantTail(constant);
  // The bits of a state of 32-bit lanes say nothing of their halves (reinterpret); without
  // layouts there is no padding yet.
  auto device = dyn_cast<DeviceOpInterface>(op);
  auto hasLayout = [](Value value) { return static_cast<bool>(getLayout(value)); };
  if (!device || !device.getResultTensor() || !hasLayout(device.getResultTensor()) ||
      !llvm::all_of(device.getInputs(), hasLayout))
    return {};
  return compute(device);
}

PaddingState TailStates::compute(DeviceOpInterface op) const {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  StickAccess sticks = checkSticks(op);
  PaddingState state;
  if (isRestickify(op)) {
    // Lanes become rows and rows lanes.
    PaddingState input = get(op.getInputs()[0]);
    return {input.rows, input.lanes};
  }
  SmallVector<::spyre::TailOperand> operands;
  std::optional<SmallVector<int64_t>> trips = getTripCounts(op);
  SmallVector<int64_t> ranges(op.getExtents());
  if (!trips)
    return state;
  ranges.append(*trips);
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    StickAccess access =
        getStickAccess(getShape(input), getLayout(input), op.getInputMap(i), ranges);
    ::spyre::TailOperand operand;
    operand.isStickBroadcast = access.kind == StickAccess::Lane0 && sticks.kind == StickAccess::Dim;
    if (sticks.kind == StickAccess::Dim && access.kind == StickAccess::Dim)
      operand.tail = getTail(input, op.getInputMap(i), access.dim, ranges);
    else
      operand.tail = get(input).lanes;
    if (i == 0 && op->hasAttr(kMaskedAttr))
      operand.tail = *info.maskTail;
    operands.push_back(operand);
  }
  state.lanes = ::spyre::getProducedTail(info, operands);
  // An update leaves the rest of the tensor's padding as it was.
  if (Value init = op.getOutput()) {
    PaddingState before = get(init);
    state.lanes = ::spyre::joinTails(state.lanes, before.lanes);
    state.rows = before.rows;
  }
  return state;
}

Tail TailStates::getContent(Value value, int64_t dim, int64_t begin) const {
  // A chain of updates: what lies beyond `begin` was written by the last one that
  // reaches there. Only scalar fills promise a state.
  auto op = value.getDefiningOp<DeviceOpInterface>();
  if (!op)
    return Tail::Unknown;
  std::optional<Span> span = getSpan(op.getOutputMap(), op.getExtents(), dim);
  if (isRestickify(op)) {
    // The logical region moved with the rest.
    return getContent(op.getInputs()[0], dim, begin);
  }
  if (!span)
    return Tail::Unknown;
  auto [start, extent] = *span;
  if (start >= begin && isa<IdentityOp>(op) && getShape(op.getInputs()[0]).empty()) {
    if (start == begin && start + extent == getShape(value)[dim])
      return get(op.getInputs()[0]).lanes;
    return Tail::Unknown;
  }
  if (start + extent <= begin && op.getOutput())
    return getContent(op.getOutput(), dim, begin);
  return Tail::Unknown;
}

Tail TailStates::getTail(Value value, AffineMap map, unsigned dim,
                         ArrayRef<int64_t> extents) const {
  for (auto [logical, result] : llvm::enumerate(map.getResults())) {
    if (!result.isFunctionOfDim(dim))
      continue;
    // Padding inside the tensor's own extents is data to it.
    std::optional<Span> span = getSpan(map, extents, logical);
    if (!span)
      return Tail::Unknown;
    if (span->start + span->extent < getShape(value)[logical])
      return getContent(value, logical, span->start + span->extent);
    bool inStick = static_cast<int64_t>(logical) == getStickDim(getLayout(value));
    PaddingState state = get(value);
    return inStick ? state.lanes : state.rows;
  }
  return Tail::Unknown;
}

//===----------------------------------------------------------------------===//
// All tensors of a function
//===----------------------------------------------------------------------===//

namespace {
/// The lattice's value: bottom (nothing known yet) or a state.
struct TailValue {
  std::optional<PaddingState> state;
  bool operator==(const TailValue &) const = default;
  static TailValue join(const TailValue &a, const TailValue &b) {
    if (!a.state || !b.state)
      return a.state ? a : b;
    return {PaddingState{::spyre::joinTails(a.state->lanes, b.state->lanes),
                         ::spyre::joinTails(a.state->rows, b.state->rows)}};
  }
  void print(raw_ostream &os) const {
    if (state)
      os << StringRef(::spyre::getName(state->lanes)) << ", "
         << StringRef(::spyre::getName(state->rows));
  }
};
using TailLattice = dataflow::Lattice<TailValue>;

class TailDataFlow : public dataflow::SparseForwardDataFlowAnalysis<TailLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  void setToEntryState(TailLattice *lattice) override {
    auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
    auto func =
        argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    set(lattice, func ? getArgumentTail(func, argument.getArgNumber()) : PaddingState());
  }

  LogicalResult visitOperation(Operation *op, ArrayRef<const TailLattice *>,
                               ArrayRef<TailLattice *> results) override {
    // Not only operands tell: what lies behind a part was written by an earlier operation.
    ProgramPoint *point = getProgramPointAfter(op);
    TailStates states([&](Value value) {
      std::optional<PaddingState> state = getLatticeElementFor(point, value)->getValue().state;
      return state.value_or(PaddingState());
    });
    for (TailLattice *result : results)
      set(result, states.transfer(op));
    return success();
  }

private:
  void set(TailLattice *lattice, PaddingState state) {
    propagateIfChanged(lattice, lattice->join(TailValue{state}));
  }
};
} // namespace

TailAnalysis::TailAnalysis(func::FuncOp func)
    : TailStates([this](Value value) { return states.lookup(value); }) {
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<TailDataFlow>();
  // Nothing in the analyses fails.
  (void)solver.initializeAndRun(func);
  auto take = [&](Value value) {
    if (const auto *lattice = solver.lookupState<TailLattice>(value))
      states[value] = lattice->getValue().state.value_or(PaddingState());
  };
  llvm::for_each(func.getArguments(), take);
  func.walk([&](Operation *op) { llvm::for_each(op->getResults(), take); });
}

void TailAnalysis::update(Operation *op) {
  for (Value result : op->getResults())
    states[result] = transfer(op);
}
