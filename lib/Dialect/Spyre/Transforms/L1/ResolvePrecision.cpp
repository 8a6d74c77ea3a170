//===- ResolvePrecision.cpp - A format for every f32 operation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the f32 islands, lets the rules decide, and rewrites: every value exists as
// f32, as a 16-bit value, or both with a cast between them, as its readers need.
//
//===----------------------------------------------------------------------===//

#include "MapUtils.h"
#include "NumberRange.h"
#include "Precision.h"
#include "spyre/Dialect/Spyre/IR/Refusal.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/Numerics/DL16.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

#include <cmath>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRERESOLVEPRECISION
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;
namespace layout = ::spyre::layout;

//===----------------------------------------------------------------------===//
// Seeing through views
//===----------------------------------------------------------------------===//

bool mlir::spyre::isF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

Value mlir::spyre::skipViews(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

SmallVector<Operation *> mlir::spyre::getUsersThroughViews(Value value) {
  SmallVector<Operation *> users;
  for (Operation *user : value.getUsers())
    if (auto view = dyn_cast<ViewOp>(user))
      llvm::append_range(users, getUsersThroughViews(view.getResult()));
    else
      users.push_back(user);
  return users;
}

Read mlir::spyre::getRead(DeviceOpInterface op, unsigned i) {
  Read read{op.getInputs()[i], op.getInputMap(i)};
  while (auto view = read.root.getDefiningOp<ViewOp>()) {
    read.map = view.getMap().compose(read.map);
    read.root = view.getSource();
  }
  return read;
}

/// True if both maps give the same coordinates everywhere on \p extents.
static bool areEqual(AffineMap a, AffineMap b, ArrayRef<int64_t> extents) {
  if (a == b)
    return true;
  if (hasNoPoint(extents) || a.getNumDims() != b.getNumDims())
    return false;
  FailureOr<layout::IndexMap> ia = toIndexMap(a, extents), ib = toIndexMap(b, extents);
  return succeeded(ia) && succeeded(ib) && layout::simplify(*ia) == layout::simplify(*ib);
}

bool mlir::spyre::readsSame(DeviceOpInterface a, unsigned i, DeviceOpInterface b, unsigned j) {
  Read ra = getRead(a, i), rb = getRead(b, j);
  return ra.root == rb.root && a.getExtents() == b.getExtents() &&
         areEqual(ra.map, rb.map, a.getExtents());
}

bool mlir::spyre::readsReduction(DeviceOpInterface reader, unsigned i, Value value,
                                 DeviceOpInterface reduction) {
  Read read = getRead(reader, i);
  return read.root == value && reader.getExtents() == reduction.getExtents() &&
         getTensorType(value).getShape() == getTensorType(reduction.getResultTensor()).getShape() &&
         areEqual(read.map, reduction.getOutputMap(), reader.getExtents());
}

//===----------------------------------------------------------------------===//
// F32Region
//===----------------------------------------------------------------------===//

static bool isComposite(Operation *op) {
  return isa<SoftmaxOp, LogSoftmaxOp, RmsNormOp, LinearOp, MatmulOp, ConcatOp>(op);
}

F32Region::F32Region(func::FuncOp func) : func(func) {
  func.walk([&](Operation *op) {
    bool touches = llvm::any_of(op->getOperands(), isF32) || llvm::any_of(op->getResults(), isF32);
    if (!touches || isa<ConstantOp, func::FuncOp>(op))
      return;
    // The device's own casts are decisions made before: this pass run twice.
    bool isCast = isa<Dl16tofp32Op, Fp32todl16Op>(op);
    if (!isCast && (isa<DeviceOpInterface>(op) || isComposite(op)))
      ops.push_back(op);
    // Operations that share an f32 value are of one island.
    islands.insert(op);
    for (Value operand : op->getOperands())
      if (isF32(operand) && !operand.getDefiningOp<ConstantOp>()) {
        void *origin = operand.getDefiningOp();
        islands.unionSets(op, origin ? origin : operand.getAsOpaquePointer());
      }
  });
  func.walk([&](Operation *op) {
    if (auto convert = dyn_cast<ConvertOp>(op)) {
      Type from = getTensorType(convert.getSource()).getElementType(),
           to = getTensorType(convert.getResult()).getElementType();
      Type half = from.isF32() ? to : from;
      if (from.isF32() != to.isF32() && mlir::spyre::isHalf(half))
        halfTypes.try_emplace(getIsland(op), half);
    }
    if (isa<func::ReturnOp>(op))
      for (Value operand : op->getOperands())
        if (isF32(operand))
          visibleIslands.insert(getIsland(op));
    for (Value operand : op->getOperands())
      if (isF32(operand) && isa<BlockArgument>(operand))
        visibleIslands.insert(getIsland(op));
  });
}

void *F32Region::getIsland(Operation *op) const {
  auto leader = islands.findLeader(op);
  return leader == islands.member_end() ? op : *leader;
}

bool F32Region::isVisible(Operation *op) const { return visibleIslands.contains(getIsland(op)); }

Type F32Region::getHalfType(Operation *op) const {
  auto it = halfTypes.find(getIsland(op));
  return it != halfTypes.end() ? it->second : Float16Type::get(op->getContext());
}

/// True if \p op selects f32 numbers by a bool. The device's f32 form has an f32
/// condition.
static bool isWidenedCondition(Operation *op) {
  auto device = dyn_cast<DeviceOpInterface>(op);
  return device && isa<Where3Op>(device) && device.getResultTensor() &&
         isF32(device.getResultTensor()) &&
         getTensorType(device.getInputs()[0]).getElementType().isInteger(1);
}

/// Each operand's format if floats are \p format.
static bool hasForm(Operation *op, ::spyre::DataFormat format) {
  bool half = format == ::spyre::DataFormat::SEN169_FP16;
  if (half && op->hasAttr(kWideAttr)) // DL16 would not hold its numbers
    return false;
  if (isa<LogSoftmaxOp>(op)) // log has no f32 form
    return half;
  if (isComposite(op)) // spyre-split-products does f32 ones

    return true;
  auto device = cast<DeviceOpInterface>(op);
  const ::spyre::OpFuncInfo &info = device.getInfo();
  // An integer next to the right one is no rounding error.
  if (half && info.jumps && device.getResultTensor() && isF32(device.getResultTensor()))
    return false;
  SmallVector<::spyre::DataFormat> formats;
  for (auto [i, input] : llvm::enumerate(device.getInputs())) {
    Type type = getTensorType(input).getElementType();
    if (i == 0 && isWidenedCondition(op)) // widened with the rest
      type = Float32Type::get(op->getContext());
    std::optional<::spyre::DataFormat> own = getDeviceFormat(type);
    formats.push_back(isa<FloatType>(type) || !own ? format : *own);
  }
  return ::spyre::lookupForm(info, std::span(formats.data(), formats.size())) != nullptr;
}

bool F32Region::hasF32Form(Operation *op) { return hasForm(op, ::spyre::DataFormat::IEEE_FP32); }

bool F32Region::canBeF32(Operation *op) {
  if (hasF32Form(op) || isa<MatmulOp, LinearOp, LogSoftmaxOp>(op))
    return true;
  auto device = dyn_cast<DeviceOpInterface>(op);
  return device && (isSplitProduct(device) || isExpandedFunction(device));
}

bool F32Region::hasHalfForm(Operation *op) { return hasForm(op, ::spyre::DataFormat::SEN169_FP16); }

/// True if \p value is \p value rounded to DL16's nine mantissa bits, in range.
static bool isDL16Number(double value) {
  if (value == 0.0 || std::isinf(value))
    return true;
  int exponent;
  double mantissa = std::frexp(value, &exponent); // 0.5 <= |mantissa| < 1
  double scaled = std::ldexp(mantissa, 10);
  return scaled == std::floor(scaled) && exponent > -30 && exponent <= 33;
}

bool F32Region::isExact(Value value) const {
  value = skipViews(value);
  if (!isF32(value))
    return true; // 16-bit or bool already
  if (auto convert = value.getDefiningOp<ConvertOp>()) {
    Type from = getTensorType(convert.getSource()).getElementType();
    return mlir::spyre::isHalf(from) || from.isInteger(1);
  }
  if (std::optional<double> number = getScalarConstant(value))
    return isDL16Number(*number);
  return value.getDefiningOp() && isHalf(value.getDefiningOp());
}

bool F32Region::hasExactOperands(Operation *op) const {
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isExact(operand); });
}

bool F32Region::isNarrowed(Operation *op, const llvm::SmallPtrSetImpl<Operation *> &others) const {
  for (Value value : op->getResults()) {
    if (!isF32(value))
      continue;
    for (Operation *user : getUsersThroughViews(value)) {
      if (auto convert = dyn_cast<ConvertOp>(user))
        if (mlir::spyre::isHalf(getTensorType(convert.getResult()).getElementType()))
          continue;
      if (!isHalf(user) && !others.contains(user))
        return false;
    }
  }
  return true;
}

bool F32Region::markClosed(ArrayRef<Operation *> set, StringRef reason) {
  llvm::SmallPtrSet<Operation *, 8> members(set.begin(), set.end());
  for (Operation *op : set)
    if (!hasHalfForm(op) || !isNarrowed(op, members))
      return false;
  bool changed = false;
  for (Operation *op : set)
    if (!isHalf(op)) {
      setHalf(op, reason);
      changed = true;
    }
  return changed;
}

//===----------------------------------------------------------------------===//
// Recovering operations that an exporter has taken apart
//===----------------------------------------------------------------------===//

/// True if \p value, looked at through views, is subtracted from something.
static bool isSubtracted(Value value) {
  return llvm::any_of(getUsersThroughViews(value), llvm::IsaPred<SubOp>);
}

/// sum / count, which can overflow where the mean does not, is one mean. Not where an f32
/// mean centres a value: a factor 1/count that is not exact would leave a rest of equal
/// numbers.
static void recoverMean(DeviceOpInterface quotient, RewriterBase &rewriter) {
  if (!isa<RealdivOp>(quotient))
    return;
  std::optional<double> divisor = getScalarConstant(skipViews(quotient.getInputs()[1]));
  auto sum = dyn_cast_or_null<DeviceOpInterface>(quotient.getInputs()[0].getDefiningOp());
  if (!divisor || !sum || !isa<SumOp>(sum) || !quotient.getInputs()[0].hasOneUse() ||
      quotient.getInputs()[0].getType() != quotient.getResultTensor().getType())
    return;
  // Identity up to unit dims, which broadcasting reads at 0.
  if (!areEqual(quotient.getInputMap(0), quotient.getOutputMap(), quotient.getExtents()))
    return;
  int64_t points = 1, results = getTensorType(quotient.getResultTensor()).getNumElements();
  for (int64_t extent : sum.getExtents())
    points *= extent;
  if (results == 0 || *divisor != static_cast<double>(points / results))
    return;
  if (isF32(quotient.getResultTensor()) && !llvm::isPowerOf2_64(points / results) &&
      isSubtracted(quotient.getResultTensor()))
    return;
  DeviceOpSpec spec =
      DeviceOpSpec::of(sum).withOutput(Value(), quotient.getResultTensor().getType());
  spec.opFunc = OpFunc::Mean;
  rewriter.setInsertionPoint(quotient);
  spec.constants.push_back(
      rewriter.getNamedAttr("scaling_factor", rewriter.getF64FloatAttr(1.0 / *divisor)));
  rewriter.replaceOp(quotient, buildDeviceOp(rewriter, quotient.getLoc(), spec).getResultTensor());
  rewriter.eraseOp(sum);
}

/// The product with a number that is, through views, all that \p value shows and all that
/// it is used for; null if there is none.
static DeviceOpInterface getOnlyScaling(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>()) {
    if (!value.hasOneUse())
      return {};
    value = view.getSource();
  }
  auto product = value.getDefiningOp<DeviceOpInterface>();
  if (!product || !isa<MulOp>(product) || !value.hasOneUse() || !isF32(value) ||
      !getScalarConstant(skipViews(product.getInputs()[1])) ||
      !areEqual(product.getInputMap(0), product.getOutputMap(), product.getExtents()) ||
      product.getInputs()[0].getType() != value.getType())
    return {};
  return product;
}

/// (a x) (b y)^T of widened x and y, as exporters write attention with the root of its
/// scale on both sides: (a b x) y^T. The root is seldom a 16-bit number, the scale mostly
/// a power of two, and y needs no scaled copy.
static void recoverScale(MatmulOp matmul, RewriterBase &rewriter) {
  DeviceOpInterface left = getOnlyScaling(matmul.getLhs()), right = getOnlyScaling(matmul.getRhs());
  if (!left || !right || left == right)
    return;
  double scale = *getScalarConstant(skipViews(left.getInputs()[1])) *
                 *getScalarConstant(skipViews(right.getInputs()[1]));
  rewriter.setInsertionPoint(left);
  left->setOperand(
      1, buildScalar(rewriter, left.getLoc(), static_cast<float>(scale), rewriter.getF32Type()));
  SmallVector<Attribute> maps(left.getMaps().getValue());
  maps[1] = AffineMapAttr::get(AffineMap::get(left.getNumDims(), 0, {}, rewriter.getContext()));
  left->setAttr("maps", rewriter.getArrayAttr(maps));
  rewriter.replaceOp(right, right.getInputs()[0]);
}

/// x * sigmoid(x) of a widened x, narrowed at once: the device's silu.
static void recoverSilu(DeviceOpInterface product, RewriterBase &rewriter) {
  if (!isa<MulOp>(product) || !isF32(product.getResultTensor()))
    return;
  for (Operation *user : product.getResultTensor().getUsers()) {
    auto convert = dyn_cast<ConvertOp>(user);
    if (!convert || !mlir::spyre::isHalf(getTensorType(convert.getResult()).getElementType()))
      return;
  }
  for (unsigned i = 0; i < 2; ++i) {
    Read gate = getRead(product, i), x = getRead(product, 1 - i);
    auto sigmoid = dyn_cast_or_null<DeviceOpInterface>(gate.root.getDefiningOp());
    auto widen = x.root.getDefiningOp<ConvertOp>();
    if (!sigmoid || !isa<SigmoidOp>(sigmoid) || !widen ||
        !mlir::spyre::isHalf(getTensorType(widen.getSource()).getElementType()) ||
        !readsSame(product, 1 - i, sigmoid, 0) ||
        !areEqual(gate.map, sigmoid.getOutputMap(), product.getExtents()))
      continue;
    DeviceOpSpec spec =
        DeviceOpSpec::move(OpFunc::Silu, product.getInputs()[1 - i], product.getExtents(),
                           product.getInputMap(1 - i), product.getOutputMap());
    spec.resultType = product.getResultTensor().getType();
    rewriter.setInsertionPoint(product);
    Value silu = buildDeviceOp(rewriter, product.getLoc(), spec).getResultTensor();
    rewriter.replaceOp(product, silu);
    if (sigmoid->use_empty())
      rewriter.eraseOp(sigmoid);
    return;
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
class PrecisionRewriter {
public:
  PrecisionRewriter(F32Region &region, RewriterBase &rewriter)
      : region(region), rewriter(rewriter) {}

  void run(func::FuncOp func);

private:
  /// \p value (f32) as f32 or as a 16-bit value of \p type, at the insertion point.
  Value getFull(Value value);
  Value getHalf(Value value, Type type);
  Value getAtHalf(Value value, Type type); // 16-bit values of any kind as \p type
  void rewriteHalf(Operation *op);
  void rewriteFull(Operation *op);
  /// Right after the operation that computes \p value.
  void setInsertionAfter(Value value);
  /// True if \p value (f32) may be beyond DL16's range, and something is computed of its
  /// narrowed form, which would be DL16's largest number.
  bool needsGuard(Value value);
  /// \p full with infinities in place of what DL16 does not hold: they go on to the results,
  /// where they are noticed, or to what is the same for all large numbers.
  Value addGuard(Value full);

  F32Region &region;
  RewriterBase &rewriter;
  NumberRanges ranges;
  llvm::DenseMap<Value, Value> halves; // f32 values of the input -> 16-bit values
  llvm::DenseMap<Value, Value> fulls;  // f32 values of the input -> f32 values
  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
  SmallVector<Operation *> dead;
};
} // namespace

void PrecisionRewriter::setInsertionAfter(Value value) {
  if (Operation *op = value.getDefiningOp())
    rewriter.setInsertionPointAfter(op);
  else
    rewriter.setInsertionPointToStart(cast<BlockArgument>(value).getOwner());
}

Value PrecisionRewriter::getAtHalf(Value value, Type type) {
  if (getTensorType(value).getElementType() == type)
    return value;
  // f16 and bf16 are one format on the device.
  Value &cast = casts[{value, type}];
  if (!cast) {
    OpBuilder::InsertionGuard guard(rewriter);
    setInsertionAfter(value);
    cast = buildPointwise(rewriter, value.getLoc(), OpFunc::Identity, {value},
                          RankedTensorType::get(getTensorType(value).getShape(), type));
  }
  return cast;
}

Value PrecisionRewriter::getFull(Value value) {
  if (Value known = fulls.lookup(value))
    return known;
  OpBuilder::InsertionGuard guard(rewriter);
  Value full = value;
  if (auto view = value.getDefiningOp<ViewOp>()) {
    Value source = getFull(view.getSource());
    rewriter.setInsertionPointAfter(view);
    full =
        buildView(rewriter, view.getLoc(), source, view.getMap(), getTensorType(value).getShape());
  } else if (!value.getDefiningOp<ConstantOp>()) { // which is exact as it stands
    // Widened, or computed at DL16.
    Value half;
    if (auto convert = value.getDefiningOp<ConvertOp>())
      half = convert.getSource();
    else
      half = halves.lookup(value);
    if (half) {
      rewriter.setInsertionPointAfter(value.getDefiningOp());
      full = buildPointwise(rewriter, value.getLoc(), OpFunc::Dl16tofp32, {half},
                            getTensorType(value));
    }
  }
  fulls[value] = full;
  return full;
}

bool PrecisionRewriter::needsGuard(Value value) {
  if (ranges.get(value).getLargest() <= ::spyre::kDL16MaxFinite)
    return false;
  // Results of the program are looked at when they are copied out.
  return llvm::any_of(getUsersThroughViews(value), [&](Operation *user) {
    if (auto convert = dyn_cast<ConvertOp>(user))
      return !llvm::all_of(convert.getResult().getUsers(), llvm::IsaPred<func::ReturnOp>);
    return region.isHalf(user);
  });
}

Value PrecisionRewriter::addGuard(Value full) {
  // 2^33 is the first number beyond DL16's; times 2^95 it is the first beyond f32's. All
  // smaller ones come back as they were.
  RankedTensorType type = getTensorType(full);
  for (double factor : {0x1p95, 0x1p-95})
    full = buildPointwise(
        rewriter, full.getLoc(), OpFunc::Mul,
        {full, buildScalar(rewriter, full.getLoc(), factor, type.getElementType())}, type);
  return full;
}

Value PrecisionRewriter::getHalf(Value value, Type type) {
  if (Value known = halves.lookup(value))
    return getAtHalf(known, type);
  OpBuilder::InsertionGuard guard(rewriter);
  auto halfType = RankedTensorType::get(getTensorType(value).getShape(), type);
  Value half;
  if (auto view = value.getDefiningOp<ViewOp>()) {
    Value source = getHalf(view.getSource(), type);
    rewriter.setInsertionPointAfter(view);
    half = buildView(rewriter, view.getLoc(), source, view.getMap(), halfType.getShape());
  } else if (auto convert = value.getDefiningOp<ConvertOp>()) {
    half = convert.getSource();
  } else if (std::optional<double> number = getScalarConstant(value)) {
    rewriter.setInsertionPointAfter(value.getDefiningOp());
    half = buildScalar(rewriter, value.getLoc(), *number, type);
    if (halfType.getRank() > 0)
      half = buildView(rewriter, value.getLoc(), half,
                       AffineMap::get(halfType.getRank(), 0, {}, rewriter.getContext()),
                       halfType.getShape());
  } else {
    Value full = getFull(value);
    setInsertionAfter(full);
    if (needsGuard(value))
      full = addGuard(full);
    half = buildPointwise(rewriter, value.getLoc(), OpFunc::Fp32todl16, {full}, halfType);
  }
  halves[value] = half;
  return getAtHalf(half, type);
}

/// \p op with its f32 operands and results at 16 bits.
void PrecisionRewriter::rewriteHalf(Operation *op) {
  Type type = region.getHalfType(op);
  remark::passed(op->getLoc(), remark::RemarkOpts::name("dl16")
                                   .category("precision")
                                   .function(op->getParentOfType<func::FuncOp>().getName()))
      << (op->getName().getStringRef() + " is computed at DL16, by rule " + region.getReason(op))
             .str();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isF32(operand) ? getHalf(operand, type) : operand);
  rewriter.setInsertionPoint(op);
  Operation *half = rewriter.clone(*op);
  half->setOperands(operands);
  for (auto [from, to] : llvm::zip(op->getResults(), half->getResults())) {
    if (!isF32(from)) {
      rewriter.replaceAllUsesWith(from, to);
      continue;
    }
    to.setType(RankedTensorType::get(getTensorType(from).getShape(), type));
    halves[from] = to;
  }
  dead.push_back(op);
}

/// A comparison of f32 numbers answers in f32; the program reads truth values of 16 bits, but
/// for choices in f32, which take the answer as it is.
static bool isComparison(Operation *op) {
  auto device = dyn_cast<DeviceOpInterface>(op);
  return device && device.getInfo().jumps && device.getResultTensor() &&
         getTensorType(device.getResultTensor()).getElementType().isInteger(1) &&
         llvm::any_of(device.getInputs(), isF32);
}

void PrecisionRewriter::rewriteFull(Operation *op) {
  if (isWidenedCondition(op)) {
    Value condition = op->getOperand(0);
    Value &wide = fulls[condition];
    if (!wide) {
      OpBuilder::InsertionGuard guard(rewriter);
      setInsertionAfter(condition);
      wide = buildPointwise(
          rewriter, condition.getLoc(), OpFunc::Dl16tofp32, {condition},
          RankedTensorType::get(getTensorType(condition).getShape(), rewriter.getF32Type()));
    }
    op->setOperand(0, wide);
  }
  for (OpOperand &operand : op->getOpOperands())
    if (isF32(operand.get()))
      operand.set(getFull(operand.get()));
  if (isComparison(op)) {
    rewriter.setInsertionPoint(op);
    DeviceOpSpec spec = DeviceOpSpec::of(cast<DeviceOpInterface>(op));
    RankedTensorType truth = getTensorType(op->getResult(0));
    spec.resultType = RankedTensorType::get(truth.getShape(), rewriter.getF32Type());
    Value answer = buildDeviceOp(rewriter, op->getLoc(), spec).getResultTensor();
    Value narrow = buildPointwise(rewriter, op->getLoc(), OpFunc::Fp32todl16, {answer}, truth);
    fulls[narrow] = answer;
    rewriter.replaceAllUsesWith(op->getResult(0), narrow);
    dead.push_back(op);
  }
}

void PrecisionRewriter::run(func::FuncOp func) {
  SmallVector<Operation *> all;
  func.walk([&](Operation *op) { all.push_back(op); });
  for (Operation *op : all) {
    if (auto convert = dyn_cast<ConvertOp>(op)) {
      Type from = getTensorType(convert.getSource()).getElementType(),
           to = getTensorType(convert.getResult()).getElementType();
      if (!from.isF32() && !to.isF32())
        rewriter.replaceAllUsesWith(convert.getResult(), getAtHalf(convert.getSource(), to));
      else if (from.isF32())
        rewriter.replaceAllUsesWith(convert.getResult(), getHalf(convert.getSource(), to));
      dead.push_back(op);
    } else if (isa<ViewOp>(op) && isF32(op->getResult(0))) {
      dead.push_back(op); // rebuilt where it is read
    } else if (region.isHalf(op)) {
      rewriteHalf(op);
    } else if (!isa<func::FuncOp>(op)) {
      rewriteFull(op);
    }
  }
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      rewriter.eraseOp(op);
}

static std::string toString(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(types, stream);
  return text;
}

/// One remark for all products that lose precision for speed.
static void remarkFast(const F32Region &region) {
  SmallVector<Operation *> fast;
  for (Operation *op : region.getOps())
    if (region.getReason(op) == "fast")
      fast.push_back(op);
  if (fast.empty())
    return;
  auto remark = fast[0]->emitRemark()
                << fast.size() << (fast.size() == 1 ? " product" : " products")
                << " of f32 tensors with 16-bit factors and results, as "
                   "precision=fast asks for";
  for (Operation *op : ArrayRef(fast).drop_front())
    remark.attachNote(op->getLoc()) << "and this one";
}

namespace {
struct ResolvePrecisionPass : mlir::spyre::impl::SpyreResolvePrecisionBase<ResolvePrecisionPass> {
  using SpyreResolvePrecisionBase::SpyreResolvePrecisionBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    if (failed(narrowStatistics(func)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    func.walk([&](DeviceOpInterface op) { recoverMean(op, rewriter); });
    func.walk([&](DeviceOpInterface op) { recoverSilu(op, rewriter); });
    func.walk([&](MatmulOp op) { recoverScale(op, rewriter); });

    F32Region region(func);
    applyPrecisionRules(region, fastProducts);
    if (fastProducts)
      remarkFast(region);
    SmallVector<Operation *> refused;
    for (Operation *op : region.getOps())
      if (!region.isHalf(op) && !F32Region::canBeF32(op))
        refused.push_back(op);
    if (!refused.empty()) {
      InFlightDiagnostic error = emitError(func.getLoc())
                                 << "'" << func.getName() << "' has " << refused.size()
                                 << (refused.size() == 1 ? " f32 operation" : " f32 operations")
                                 << " that the device cannot compute exactly; not supported";
      for (Operation *op : refused)
        noteRefusal(error, op, RefusalRule::Precision,
                    "no f32 form, and its part of the program takes or returns f32",
                    "(" + toString(op->getOperandTypes()) + ") -> (" +
                        toString(op->getResultTypes()) + ")");
      return signalPassFailure();
    }
    PrecisionRewriter(region, rewriter).run(func);
  }
};
} // namespace
