//===- AssignLayouts.cpp - L1 to L2: a device layout for every tensor -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the function in order. Each operation takes the stick dim with which it and
// the copies it needs move the fewest elements; operands that do not fit are copied
// (once per value), and the result gets the layout that the operation writes. What
// cannot be written in place (a result that starts inside a stick) is computed as a
// value of its own and copied. See Passes.td for the contract.
//
//===----------------------------------------------------------------------===//

#include "LayoutCopies.h"
#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/Transforms/L2/ArrangementAnalysis.h"
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/Remarks.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREASSIGNLAYOUTS
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

using Stick = std::optional<unsigned>;

/// More than any plan: not possible.
static constexpr int64_t kImpossible = int64_t(1) << 60;

namespace {
/// How an operand is made readable.
struct OperandPlan {
  enum Kind { Fits, Restickify, Spread, Part } kind = Fits;
  int64_t logical = -1; ///< Restickify: the dim that enters the stick
  int64_t cost = 0;     ///< elements moved
};

class LayoutAssigner {
public:
  explicit LayoutAssigner(func::FuncOp func)
      : func(func), copies(func), builder(copies.getBuilder()) {}

  LogicalResult run();

private:
  LogicalResult assign(DeviceOpInterface op);
  LogicalResult assignMatmul(DeviceOpInterface op);
  LogicalResult assignPointwise(DeviceOpInterface op);
  LogicalResult assignReturn(func::ReturnOp op);

  OperandPlan planOperand(DeviceOpInterface op, unsigned input, Stick stick);
  void makeOperandFit(DeviceOpInterface op, unsigned input, Stick stick);
  void makePart(DeviceOpInterface op, unsigned input, Stick stick, bool zeroTail);
  /// Makes input \p input of \p op depend on \p dims.
  LogicalResult repeatAlong(DeviceOpInterface op, unsigned input, ArrayRef<unsigned> dims);
  /// Makes every input of a reduction or contraction depend on the dims that it reduces,
  /// and the input of a reduction on those that it writes.
  LogicalResult repeatReduced(DeviceOpInterface op);
  void makeContractionTailsFit(DeviceOpInterface op, unsigned k);
  /// Masks an operation that \p value is computed from element by element, so that
  /// \p isEnough of its tail holds. False, with nothing changed, if there is none.
  bool maskSource(Value value, function_ref<bool()> isEnough);

  /// The layout of the result of \p op with \p stick in the stick that it and all
  /// operations that update the result can write; nothing if there is none.
  std::optional<LayoutAttr> chooseResultLayout(DeviceOpInterface op, Stick stick);
  /// Computes \p op into a tensor of \p partType at \p inPart and copies that to where
  /// \p op would have written it, by \p inWhole. Returns the copy.
  DeviceOpInterface splitWrite(DeviceOpInterface op, RankedTensorType partType, AffineMap inPart,
                               AffineMap inWhole);
  /// Computes \p op's result as a value of its own and copies it to where \p op
  /// would have written it. Returns the copy, which is still to be assigned.
  DeviceOpInterface splitOffWrite(DeviceOpInterface op);
  /// The same where what \p op writes is a part of a tensor with several iteration dims
  /// in one coordinate: the part by itself, then at its offset. Null if it is not, or if
  /// (unless \p always) there are layouts in which it can be written in place.
  DeviceOpInterface splitOffOffset(DeviceOpInterface op, bool always);
  void setDefaultLayout(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    setLayout(value, makeLayout(type, type.getRank() - 1));
  }
  LogicalResult finish(DeviceOpInterface op);
  LogicalResult assignPartialCast(DeviceOpInterface op, Stick stick);

  func::FuncOp func;
  LayoutCopies copies;
  OpBuilder &builder;
};
} // namespace

/// Says where the order of elements would matter on a device whose casts change it.
static void remarkArrangements(func::FuncOp func) {
  if (!func.getContext()->getRemarkEngine())
    return;
  auto remark = [&](Location loc) {
    return remark::missed(
        loc,
        remark::RemarkOpts::name("Reordered").category("arrangement").function(func.getName()));
  };
  ArrangementAnalysis arrangements(func);
  func.walk([&](DeviceOpInterface op) {
    if (std::string why = arrangements.check(op); !why.empty())
      remark(op.getLoc()) << why;
  });
  func.walk([&](func::ReturnOp op) {
    for (auto [i, value] : llvm::enumerate(op.getOperands()))
      if (!arrangements.mayBe(value, Arrangement::Standard))
        remark(op.getLoc()) << "result #" + std::to_string(i) + " is in the order " +
                                   arrangements.describe(value);
  });
}

namespace {
struct AssignLayoutsPass : mlir::spyre::impl::SpyreAssignLayoutsBase<AssignLayoutsPass> {
  void runOnOperation() override {
    if (failed(LayoutAssigner(getOperation()).run()))
      return signalPassFailure();
    remarkArrangements(getOperation());
  }
};
} // namespace

/// True if \p op changes the format of its operand, and so the elements a stick.
static bool isCast(DeviceOpInterface op) {
  return op.getInfo().stickRule == ::spyre::StickRule::Cast;
}

static int64_t getCastElements(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return ::spyre::getElementsPerStick(*getDeviceFormat(element));
}

/// True if one side of the cast \p op, with d\p stick in the stick, has fewer sticks than
/// those of the other side hold.
static bool isPartialCast(DeviceOpInterface op, unsigned stick) {
  int64_t from = getCastElements(op.getInputs()[0]), to = getCastElements(op.getResultTensor()),
          narrow = std::min(from, to), extent = op.getExtents()[stick];
  return llvm::alignTo(extent, narrow) != llvm::alignTo(extent, std::max(from, to));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::optional<LayoutAttr> LayoutAssigner::chooseResultLayout(DeviceOpInterface op, Stick stick) {
  Value result = op.getResultTensor();
  auto type = cast<RankedTensorType>(result.getType());
  type = RankedTensorType::get(type.getShape(), type.getElementType());
  SmallVector<DeviceOpInterface> writers = getWriters(op);
  // With `stick` in the stick of what this operation writes, and no lane of others
  // overwritten by any writer.
  auto fits = [&](LayoutAttr layout) {
    StickAccess access =
        getStickAccess(type.getShape(), layout, op.getOutputMap(), op.getExtents());
    bool wanted = stick ? access.kind == StickAccess::Dim && access.dim == *stick
                        : access.kind == StickAccess::Lane0;
    return wanted && llvm::all_of(writers, [&](DeviceOpInterface writer) {
             return isWritable(result, layout, writer.getOutputMap(), writer.getExtents());
           });
  };
  if (Value init = op.getOutput())
    return fits(getLayout(init)) ? std::optional(getLayout(init)) : std::nullopt;
  bool reduced = stick && !getUsedDims(op.getOutputMap())[*stick];
  if (stick && !reduced) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (op.getOutputMap().getResult(dim).isFunctionOfDim(*stick))
        if (LayoutAttr layout = makeLayout(type, dim); fits(layout))
          return layout;
    return std::nullopt;
  }
  // One element a stick. A dim of extent 1 can lie in the stick: the last one
  // keeps the default layout.
  stick = std::nullopt;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (type.getDimSize(dim) == 1)
      if (LayoutAttr layout = makeLayout(type, dim); fits(layout))
        return layout;
  LayoutAttr sparse = makeLayout(type, -1);
  return fits(sparse) ? std::optional(sparse) : std::nullopt;
}

namespace {
/// The part of an operand that an operation reads or writes, without the dims that it
/// does not depend on.
struct Box {
  AffineMap map;        ///< box to the value's coordinates
  AffineMap projection; ///< iteration dims to box
  SmallVector<int64_t> extents;
  int64_t stick = -1;
};
} // namespace

/// The box of iteration dims \p used of \p op, seen by \p map.
static Box getBox(DeviceOpInterface op, AffineMap map, const llvm::SmallBitVector &used,
                  Stick stick = std::nullopt) {
  MLIRContext *context = op->getContext();
  Box box;
  SmallVector<AffineExpr> projection, replacement(op.getNumDims());
  for (unsigned d = 0; d < op.getNumDims(); ++d) {
    replacement[d] = getAffineConstantExpr(0, context);
    if (!used[d])
      continue;
    if (stick == d)
      box.stick = box.extents.size();
    replacement[d] = getAffineDimExpr(box.extents.size(), context);
    projection.push_back(getAffineDimExpr(d, context));
    box.extents.push_back(op.getExtents()[d]);
  }
  box.map = map.replaceDimsAndSymbols(replacement, {}, box.extents.size(), 0);
  box.projection = AffineMap::get(op.getNumDims(), 0, projection, context);
  return box;
}

static Box getBox(DeviceOpInterface op, unsigned input, Stick stick) {
  AffineMap map = op.getInputMap(input);
  return getBox(op, map, getUsedDims(map), stick);
}

DeviceOpInterface LayoutAssigner::splitWrite(DeviceOpInterface op, RankedTensorType partType,
                                             AffineMap inPart, AffineMap inWhole) {
  Value result = op.getResultTensor();
  builder.setInsertionPoint(op);
  DeviceOpInterface computed = buildDeviceOp(
      builder, op->getLoc(), DeviceOpSpec::of(op).withOutput(Value(), partType, inPart));
  DeviceOpSpec write =
      DeviceOpSpec::copy(computed.getResultTensor(), partType.getShape(),
                         builder.getMultiDimIdentityMap(partType.getRank()), inWhole);
  DeviceOpInterface written =
      buildDeviceOp(builder, op->getLoc(), write.withOutput(op.getOutput(), result.getType()));
  result.replaceAllUsesWith(written.getResultTensor());
  op->erase();
  return written;
}

DeviceOpInterface LayoutAssigner::splitOffWrite(DeviceOpInterface op) {
  Box box = getBox(op, op.getOutputMap(), getUsedDims(op.getOutputMap()));
  auto type = cast<RankedTensorType>(op.getResultTensor().getType());
  return splitWrite(op,
                    RankedTensorType::get(box.extents, type.getElementType(), type.getEncoding()),
                    box.projection, box.map);
}

DeviceOpInterface LayoutAssigner::splitOffOffset(DeviceOpInterface op, bool always) {
  AffineMap map = op.getOutputMap();
  FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, op.getExtents());
  Value result = op.getResultTensor();
  auto type = cast<RankedTensorType>(result.getType());
  if (failed(index))
    return {};
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> inPart, inWhole;
  bool moves = false;
  for (unsigned dim = 0; dim < rank; ++dim) {
    auto [low, high] = ::spyre::layout::getRange(index->results[dim], index->extents);
    int64_t step = 1;
    for (const ::spyre::layout::Digit &digit : index->results[dim].digits)
      step = std::max(step, digit.coefficient);
    bool isPart = low != 0 || high + 1 < type.getDimSize(dim);
    moves |= index->results[dim].digits.size() > 1 && (low % step != 0 || (always && isPart));
    shape.push_back(high - low + 1);
    inPart.push_back(map.getResult(dim) - low);
    inWhole.push_back(builder.getAffineDimExpr(dim) + low);
  }
  if (!moves)
    return {};
  MLIRContext *context = builder.getContext();
  return splitWrite(op, RankedTensorType::get(shape, type.getElementType()),
                    AffineMap::get(op.getNumDims(), 0, inPart, context),
                    AffineMap::get(rank, 0, inWhole, context));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Puts \p value with map \p map in place of input \p input.
static void replaceInput(DeviceOpInterface op, unsigned input, Value value, AffineMap map) {
  op->setOperand(input, value);
  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[input] = AffineMapAttr::get(map);
  op->setAttr("maps", ArrayAttr::get(op->getContext(), maps));
}

OperandPlan LayoutAssigner::planOperand(DeviceOpInterface op, unsigned input, Stick stick) {
  Value value = op.getInputs()[input];
  AffineMap map = op.getInputMap(input);
  StickAccess access = getStickAccess(getShape(value), getLayout(value), map, op.getExtents());
  bool used = stick && getUsedDims(map)[*stick];
  if (access.kind == StickAccess::Dim && used && access.dim == *stick)
    return {};
  if (access.kind == StickAccess::Lane0 && !used)
    return {};
  std::optional<OperandPlan> best;
  auto offer = [&](OperandPlan plan) {
    if (!best || plan.cost < best->cost)
      best = plan;
  };
  if (used) {
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      auto logical = static_cast<int64_t>(dim);
      if (!result.isFunctionOfDim(*stick) || logical == getStickDim(getLayout(value)))
        continue;
      StickAccess moved = getStickAccess(getShape(value), copies.getLayoutWithStick(value, logical),
                                         map, op.getExtents());
      if (moved.kind == StickAccess::Dim && moved.dim == *stick)
        offer({OperandPlan::Restickify, logical, copies.getWithStickCost(value, logical)});
    }
  } else if (access.kind == StickAccess::Dim && copies.canReadSpread(value, map, op.getExtents())) {
    offer({OperandPlan::Spread, -1, copies.getSpreadCost(value)});
  }
  Box box = getBox(op, input, stick);
  offer({OperandPlan::Part, -1, copies.getPartCost(value, box.map, box.extents, box.stick)});
  return *best;
}

void LayoutAssigner::makePart(DeviceOpInterface op, unsigned input, Stick stick, bool zeroTail) {
  Box box = getBox(op, input, stick);
  Part part = copies.getPart(op.getInputs()[input], box.map, box.extents, box.stick, zeroTail);
  replaceInput(op, input, part.value, part.map.compose(box.projection));
}

void LayoutAssigner::makeOperandFit(DeviceOpInterface op, unsigned input, Stick stick) {
  OperandPlan plan = planOperand(op, input, stick);
  Value value = op.getInputs()[input];
  AffineMap map = op.getInputMap(input);
  switch (plan.kind) {
  case OperandPlan::Fits:
    copies.keepLayout(value);
    return;
  case OperandPlan::Restickify: {
    Value copy = copies.getWithStick(value, plan.logical);
    // A sparse value has grown a unit dim.
    if (getShape(copy).size() > map.getNumResults())
      map = map.insertResult(builder.getAffineConstantExpr(0), map.getNumResults());
    return replaceInput(op, input, copy, map);
  }
  case OperandPlan::Spread:
    return replaceInput(op, input, copies.getSpread(value),
                        map.insertResult(builder.getAffineConstantExpr(0), 0));
  case OperandPlan::Part:
    return makePart(op, input, stick, /*zeroTail=*/false);
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult LayoutAssigner::repeatAlong(DeviceOpInterface op, unsigned input,
                                          ArrayRef<unsigned> dims) {
  llvm::SmallBitVector used = getUsedDims(op.getInputMap(input));
  for (unsigned d : dims)
    used.set(d);
  Box box = getBox(op, op.getInputMap(input), used);
  Value value = op.getInputs()[input];
  DeviceOpSpec copy = DeviceOpSpec::copy(value, box.extents, box.map,
                                         builder.getMultiDimIdentityMap(box.extents.size()));
  copy.resultType =
      RankedTensorType::get(box.extents, cast<RankedTensorType>(value.getType()).getElementType());
  builder.setInsertionPoint(op);
  DeviceOpInterface repeated = buildDeviceOp(builder, op->getLoc(), copy);
  if (failed(assignPointwise(repeated)))
    return failure();
  replaceInput(op, input, repeated.getResultTensor(), box.projection);
  return success();
}

// A value that is only repeated along a dim (expanded, a constant) is read there without
// it; an operation that reduces the dim counts the elements that are in memory.
LogicalResult LayoutAssigner::repeatReduced(DeviceOpInterface op) {
  bool contracts = isMatmul(op);
  if (!contracts && !isReduction(op))
    return success();
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  for (unsigned input = 0, e = contracts ? 2 : 1; input < e; ++input) {
    llvm::SmallBitVector read = getUsedDims(op.getInputMap(input));
    SmallVector<unsigned> missing;
    for (unsigned d = 0; d < op.getNumDims(); ++d)
      if (op.getExtents()[d] > 1 && !read[d] && !(contracts && written[d]))
        missing.push_back(d);
    if (!missing.empty() && failed(repeatAlong(op, input, missing)))
      return failure();
  }
  return success();
}

/// True if \p op reads its first input and writes its result along the same dim of the stick.
static bool keepsLanes(DeviceOpInterface op) {
  int64_t from = getStickDim(getLayout(op.getInputs()[0])),
          to = getStickDim(getLayout(op.getResultTensor()));
  return from >= 0 && to >= 0 &&
         op.getInputMap(0).getResult(from) == op.getOutputMap().getResult(to);
}

bool LayoutAssigner::maskSource(Value value, function_ref<bool()> isEnough) {
  TailAnalysis &tails = copies.getTails();
  SmallVector<Operation *> chain;
  while (auto op = value.getDefiningOp<DeviceOpInterface>()) {
    const ::spyre::OpFuncInfo &info = op.getInfo();
    // The mask is known of 16-bit lanes only (docs/formats/superdsc-rules.md).
    if (info.stickRule != ::spyre::StickRule::Pointwise || op.getOutput() ||
        getLayout(value).getFormat() != ::spyre::DataFormat::SEN169_FP16 || !keepsLanes(op))
      return false;
    chain.push_back(op);
    // Nobody relies on a tail of which nothing is known.
    if (info.maskTail && tails.get(value).lanes == ::spyre::TailState::Unknown) {
      op->setAttr(kMaskedAttr, builder.getUnitAttr());
      for (Operation *changed : llvm::reverse(chain))
        tails.update(changed);
      if (isEnough())
        return true;
      op->removeAttr(kMaskedAttr);
      for (Operation *changed : llvm::reverse(chain))
        tails.update(changed);
      return false;
    }
    value = op.getInputs()[0];
  }
  return false;
}

/// The contraction dim \p k runs to the end of its last stick in both operands. Makes
/// what is multiplied there zero times finite, and the memory for it.
void LayoutAssigner::makeContractionTailsFit(DeviceOpInterface op, unsigned k) {
  Value y = op.getInputs()[1];
  int64_t elements = ::spyre::getElementsPerStick(getLayout(y).getFormat());
  if (op.getExtents()[k] % elements == 0)
    return;
  auto tail = [&](unsigned input) {
    return copies.getTails().getTail(op.getInputs()[input], op.getInputMap(input), k,
                                     op.getExtents());
  };
  auto isEnough = [&] { return ::spyre::isTailSufficient(tail(0), op.getInfo().requiredTails[0]); };
  if (!isEnough() && !maskSource(op.getInputs()[0], isEnough))
    makePart(op, 0, k, /*zeroTail=*/true);
  // Rows of zeros behind the second operand, unless it has them.
  for (auto [dim, result] : llvm::enumerate(op.getInputMap(1).getResults())) {
    if (!result.isFunctionOfDim(k))
      continue;
    ::spyre::layout::TensorLayout layout = getLayout(y).getTensorLayout(getShape(y));
    int64_t inMemory = layout.paddedShape.empty() ? layout.shape[dim] : layout.paddedShape[dim];
    FailureOr<::spyre::layout::IndexMap> index = toIndexMap(op.getInputMap(1), op.getExtents());
    int64_t start = succeeded(index) ? index->results[dim].constant : 0;
    bool hasRows =
        inMemory - start >= static_cast<int64_t>(llvm::alignTo(op.getExtents()[k], elements));
    if (hasRows && ::spyre::areContractionTailsSufficient(op.getInfo(), tail(0), tail(1)))
      return;
    bool isWhole = result == builder.getAffineDimExpr(k) && op.getExtents()[k] == getShape(y)[dim];
    if (!isWhole) {
      // The rows behind are others' data: a copy that ends where the read ends.
      StickAccess access =
          getStickAccess(getShape(y), getLayout(y), op.getInputMap(1), op.getExtents());
      Stick stick = access.kind == StickAccess::Dim ? Stick(access.dim) : std::nullopt;
      makePart(op, 1, stick, /*zeroTail=*/false);
      y = op.getInputs()[1];
    }
    for (auto [d, expr] : llvm::enumerate(op.getInputMap(1).getResults()))
      if (expr.isFunctionOfDim(k))
        return replaceInput(op, 1, copies.getPadded(y, d), op.getInputMap(1));
  }
}

LogicalResult LayoutAssigner::assignMatmul(DeviceOpInterface op) {
  MatmulDims dims = getMatmulDims(op);
  if (dims.reduction.size() != 1)
    return op->emitOpError() << "contracts over " << dims.reduction.size()
                             << " dims; the device contracts over one";
  unsigned k = dims.reduction.front();
  // Dims along which the product is only repeated become batches, too.
  llvm::SmallBitVector read = getUsedDims(op.getInputMap(0)) | getUsedDims(op.getInputMap(1));
  SmallVector<unsigned> repeated;
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  for (unsigned d : written.set_bits())
    if (!read[d])
      repeated.push_back(d);
  if (!repeated.empty()) {
    if (failed(repeatAlong(op, 0, repeated)))
      return failure();
    dims = getMatmulDims(op);
  }
  if (dims.generated.size() > 1) {
    // All but the innermost become batches: the first operand is repeated along them.
    dims.generated.pop_back();
    if (failed(repeatAlong(op, 0, dims.generated)))
      return failure();
    dims = getMatmulDims(op);
  }
  makeOperandFit(op, 0, k);
  Stick n;
  if (!dims.generated.empty())
    n = dims.generated.front();
  makeOperandFit(op, 1, n);
  makeContractionTailsFit(op, k);
  if (std::optional<LayoutAttr> layout = chooseResultLayout(op, n)) {
    setLayout(op.getResultTensor(), *layout);
    return finish(op);
  }
  // The box of the result always has a place for the generated dim.
  DeviceOpInterface write = splitOffWrite(op);
  auto computed = write.getInputs()[0].getDefiningOp<DeviceOpInterface>();
  setLayout(computed.getResultTensor(), *chooseResultLayout(computed, n));
  if (failed(finish(computed)))
    return failure();
  return assignPointwise(write);
}

LogicalResult LayoutAssigner::assignPointwise(DeviceOpInterface op) {
  Value result = op.getResultTensor();
  AffineMap outMap = op.getOutputMap();
  llvm::SmallBitVector written = getUsedDims(outMap);
  bool isCopy = isa<IdentityOp>(op), reduces = isReduction(op);
  // Every operation has an input (its verifier).
  int64_t elements = ::spyre::getElementsPerStick(getLayout(op.getInputs()[0]).getFormat());
  // A result that the caller sees wants the default layout.
  Stick defaultStick;
  if (outMap.getNumResults() > 0)
    for (unsigned d = 0; d < op.getNumDims(); ++d)
      if (outMap.getResults().back().isFunctionOfDim(d))
        defaultStick = d;
  bool returned = llvm::any_of(getWriters(op).back().getResultTensor().getUsers(),
                               llvm::IsaPred<func::ReturnOp>);

  struct Choice {
    Stick stick;
    bool inPlace = true;
    int64_t cost = kImpossible;
  } best;
  auto consider = [&](Stick stick) {
    Choice choice{stick, true, 0};
    // Every operand moves the points once, in whole sticks.
    int64_t points = stick ? 1 : elements;
    for (auto [d, extent] : llvm::enumerate(op.getExtents()))
      points *= stick == d ? static_cast<int64_t>(llvm::alignTo(extent, elements)) : extent;
    // What is copied into another stick is often copied back by its next reader.
    constexpr int64_t kCopyWeight = 2;
    choice.cost = points;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
      choice.cost += (getShape(op.getInputs()[i]).empty() ? 0 : points) +
                     kCopyWeight * planOperand(op, i, stick).cost;
    if (!chooseResultLayout(op, stick)) {
      // A copy has nothing to split off.
      if (isCopy)
        return;
      choice.inPlace = false;
      choice.cost += 4 * points;
    }
    if (returned && defaultStick && stick != defaultStick)
      choice.cost += 2 * getNumElementsInMemory(result, outMap.getNumResults() - 1);
    if (choice.cost < best.cost || (choice.cost == best.cost && stick && stick == defaultStick))
      best = choice;
  };
  // Only a reduction may have a dim in its input's stick that it does not write.
  for (unsigned d = 0; d < op.getNumDims(); ++d)
    if (written[d] || reduces)
      consider(d);
  consider(std::nullopt);
  if (best.cost == kImpossible) {
    // Two steps through a dim of five places: nothing but the outermost dim is stepped
    // through like that. The four places by themselves are two dims.
    DeviceOpInterface written = splitOffOffset(op, /*always=*/true);
    if (!written)
      return op->emitOpError() << "has no stick dim with which its result can be written";
    if (failed(assignPointwise(written.getInputs()[0].getDefiningOp<DeviceOpInterface>())))
      return failure();
    return assignPointwise(written);
  }

  if (isCast(op) && planOperand(op, 0, std::nullopt).kind == OperandPlan::Fits)
    return assignPartialCast(op, std::nullopt);

  DeviceOpInterface write;
  if (!best.inPlace) {
    write = splitOffWrite(op);
    op = write.getInputs()[0].getDefiningOp<DeviceOpInterface>();
  }
  if (isCast(op) && (!best.stick || isPartialCast(op, *best.stick))) {
    if (failed(assignPartialCast(op, best.stick)))
      return failure();
    return write ? assignPointwise(write) : success();
  }
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
    makeOperandFit(op, i, best.stick);
  std::optional<LayoutAttr> layout = chooseResultLayout(op, best.stick);
  assert(layout && "a box of one's own can be written with every stick dim");
  setLayout(op.getResultTensor(), *layout);
  if (failed(finish(op)))
    return failure();
  return write ? assignPointwise(write) : success();
}

// A cast maps a stick of the narrower format to several whole sticks of the wider one.
// Where the wider side has fewer (20 or 32 elements: one 16-bit stick, but one f32 stick
// of two; one element a stick), the cast is one between tensors that are long enough:
// copied in, cast, copied out. The lanes behind the copy hold anything, the sticks behind
// it zeros. One element a stick is repeated in all lanes of a new last dim.
LogicalResult LayoutAssigner::assignPartialCast(DeviceOpInterface op, Stick stick) {
  makeOperandFit(op, 0, stick);
  Value source = op.getInputs()[0], result = op.getResultTensor();
  SmallVector<int64_t> extents(op.getExtents()), wide(extents);
  int64_t elements = std::max(getCastElements(source), getCastElements(result));
  unsigned rank = extents.size(), wideStick = stick ? *stick : rank;
  if (stick)
    wide[*stick] = llvm::alignTo(extents[*stick], elements);
  else
    wide.push_back(elements);
  MLIRContext *context = builder.getContext();
  AffineMap all = builder.getMultiDimIdentityMap(wide.size());
  auto getWideType = [&](Value value) {
    auto type =
        RankedTensorType::get(wide, cast<RankedTensorType>(value.getType()).getElementType());
    return RankedTensorType::get(wide, type.getElementType(), makeLayout(type, wideStick));
  };
  builder.setInsertionPoint(op);
  LogicalResult built = success();
  auto build = [&](OpFunc opFunc, Value input, ArrayRef<int64_t> over, AffineMap from,
                   RankedTensorType type, AffineMap to, Value init) {
    DeviceOpSpec spec = DeviceOpSpec::move(opFunc, input, over, from, to).withOutput(init, type);
    DeviceOpInterface device = buildDeviceOp(builder, op->getLoc(), spec);
    built = success(succeeded(built) && succeeded(finish(device)));
    return device.getResultTensor();
  };

  Value in;
  if (!stick) {
    AffineMap from = AffineMap::get(rank + 1, 0, op.getInputMap(0).getResults(), context);
    in = build(OpFunc::Identity, source, wide, from, getWideType(source), all, {});
  } else {
    Value behind;
    int64_t begin = llvm::alignTo(extents[*stick], getCastElements(source));
    if (begin < wide[*stick]) {
      Value zero = copies.getZero(cast<RankedTensorType>(source.getType()).getElementType());
      SmallVector<int64_t> rest(wide);
      rest[*stick] -= begin;
      SmallVector<AffineExpr> shifted(all.getResults());
      shifted[*stick] = shifted[*stick] + begin;
      builder.setInsertionPoint(op);
      behind = build(OpFunc::Identity, zero, rest, AffineMap::get(rank, 0, context),
                     getWideType(source), AffineMap::get(rank, 0, shifted, context), {});
    }
    in = build(OpFunc::Identity, source, extents, op.getInputMap(0), getWideType(source), all,
               behind);
  }
  Value out = build(op.getOpFunc(), in, wide, all, getWideType(result), all, {});
  std::optional<LayoutAttr> layout = chooseResultLayout(op, stick);
  if (!layout)
    return op->emitOpError() << "has no layout that the device can execute: one element a stick "
                                "cannot be written in place";
  AffineMap from = builder.getMultiDimIdentityMap(rank);
  if (!stick)
    from = from.insertResult(builder.getAffineConstantExpr(0), rank);
  auto type = cast<RankedTensorType>(result.getType());
  Value written = build(OpFunc::Identity, out, extents, from,
                        RankedTensorType::get(type.getShape(), type.getElementType(), *layout),
                        op.getOutputMap(), op.getOutput());
  result.replaceAllUsesWith(written);
  op->erase();
  return built;
}

LogicalResult LayoutAssigner::finish(DeviceOpInterface op) {
  StickAccess sticks = checkSticks(op);
  if (sticks.kind == StickAccess::Dim && isCast(op) && isPartialCast(op, sticks.dim))
    return op->emitOpError() << "has no layout that the device can execute: one side has fewer "
                                "sticks than those of the other side hold";
  if (sticks.kind == StickAccess::Unreadable)
    return op->emitOpError() << "has no layout that the device can execute: " << sticks.reason;
  copies.getTails().update(op);
  return success();
}

LogicalResult LayoutAssigner::assign(DeviceOpInterface op) {
  if (!op.getResultTensor())
    return op->emitOpError() << "works on buffers; layouts are assigned to tensors";
  if (getLayout(op.getResultTensor())) // placed by this pass, or by hand
    return finish(op);
  if (failed(repeatReduced(op)))
    return failure();
  return isMatmul(op) ? assignMatmul(op) : assignPointwise(op);
}

LogicalResult LayoutAssigner::assignReturn(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    copies.keepLayout(value);
    auto type = cast<RankedTensorType>(value.getType());
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    LayoutAttr wanted = makeLayout(plain, plain.getRank() - 1);
    LayoutAttr have = getLayout(value);
    if (have == wanted)
      continue;
    Value source = value;
    if (getStickDim(have) != getStickDim(wanted)) {
      source = copies.getWithStick(value, type.getRank() - 1);
    }
    if (source.getType() != RankedTensorType::get(type.getShape(), type.getElementType(), wanted)) {
      // Drop padding: copy the logical region.
      builder.setInsertionPoint(op);
      unsigned rank = type.getRank();
      AffineMap identity = builder.getMultiDimIdentityMap(rank);
      AffineMap from = identity;
      if (cast<RankedTensorType>(source.getType()).getRank() > rank)
        from = identity.insertResult(builder.getAffineConstantExpr(0), rank);
      source = copies.buildIdentity(
          op.getLoc(), source, type.getShape(), from,
          RankedTensorType::get(type.getShape(), type.getElementType(), wanted), identity);
    }
    operand.set(source);
  }
  return success();
}

/// An integer of \p constant that the device's integers cannot hold, if it has one.
static std::optional<int64_t> getBeyondInt32(ConstantOp constant) {
  auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!elements || elements.getElementType().getIntOrFloatBitWidth() <= 32)
    return std::nullopt;
  auto isBeyond = [](const APInt &value) { return !value.isSignedIntN(32); };
  if (elements.isSplat()) {
    APInt value = elements.getSplatValue<APInt>();
    return isBeyond(value) ? std::optional(value.getSExtValue()) : std::nullopt;
  }
  for (const APInt &value : elements.getValues<APInt>())
    if (isBeyond(value))
      return value.getSExtValue();
  return std::nullopt;
}

/// Sizes and points up to here can be padded and counted in 64 bits.
static constexpr int64_t kMaxElements = int64_t(1) << 48;
static constexpr int64_t kMaxPoints = int64_t(1) << 50;

/// True if the product of \p sizes is larger than \p limit.
static bool isLargerThan(ArrayRef<int64_t> sizes, int64_t limit) {
  for (int64_t size : sizes) {
    if (size == 0)
      return false;
    limit /= size;
  }
  return limit < 1;
}

LogicalResult LayoutAssigner::run() {
  bool ok = true;
  auto supported = [&](Value value, Operation *at) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.hasStaticShape() && getDeviceFormat(type.getElementType())) {
      if (!isLargerThan(type.getShape(), kMaxElements))
        return true;
      emitError(at->getLoc()) << "a value of type " << type << " has more than " << kMaxElements
                              << " elements";
      return false;
    }
    emitError(at->getLoc())
        << "a value of type " << value.getType()
        << " has no device layout and is not supported; shapes must be static and the "
           "element type one of "
           "the device's";
    return false;
  };
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front()))
    if (auto device = dyn_cast<DeviceOpInterface>(op); device && device.getResultTensor())
      splitOffOffset(device, /*always=*/false);
  for (BlockArgument argument : func.getArguments()) {
    if (!supported(argument, func)) {
      ok = false;
      continue;
    }
    if (!getLayout(argument)) {
      setDefaultLayout(argument);
      if (func.getArgAttr(argument.getArgNumber(), kWeightAttr))
        copies.addWeight(argument);
    }
  }
  if (!ok)
    return failure();
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
    LogicalResult assigned = success();
    if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (!supported(device.getDestination(), &op))
        return failure();
      if (isLargerThan(device.getExtents(), kMaxPoints))
        return op.emitOpError() << "iterates over more than " << kMaxPoints << " points";
      assigned = assign(device);
    } else if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (!supported(constant.getResult(), &op))
        return failure();
      if (std::optional<int64_t> beyond = getBeyondInt32(constant))
        return op.emitError() << "the number " << *beyond << " of a constant of type "
                              << constant.getType()
                              << " is not supported: the device's integers have 32 bits";
      if (!getLayout(constant.getResult()))
        setDefaultLayout(constant.getResult());
      copies.getTails().update(constant);
    } else if (auto alias = dyn_cast<ReinterpretOp>(op)) {
      copies.getTails().update(alias);
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      assigned = assignReturn(ret);
    } else {
      op.emitOpError() << "should have been lowered to device operations before layouts are "
                          "assigned";
      assigned = failure();
    }
    ok &= succeeded(assigned);
    // What comes after needs the layouts of what came before.
    if (!ok || copies.hasFailed())
      return failure();
  }
  SmallVector<Type> results(func.getBody().front().getTerminator()->getOperandTypes());
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), results));
  return success();
}
