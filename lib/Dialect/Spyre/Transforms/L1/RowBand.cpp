//===- RowBand.cpp - A part of what is done to the scores of rows -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a RowGroup again, for some rows and some parts of the columns. What each part
// sums up or finds as largest is put together by the reduction's combiner; sums of 16-bit numbers
// in f32, as the sum of the whole would have been.
//
//===----------------------------------------------------------------------===//

#include "RowGroup.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Numerics/DL16.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Combiner;
using ::spyre::OpFunc;

namespace {
class BandBuilder {
public:
  BandBuilder(const RowGroup &group, OpBuilder &builder, ColumnRange rows,
              ArrayRef<ColumnPart> parts, const RowGroup::BandForm &form,
              llvm::MapVector<Value, Value> &outputs)
      : group(group), builder(builder), rows(rows), parts(parts), form(form), outputs(outputs) {}

  void run();

private:
  using Member = RowGroup::Member;

  /// Whether a member reads what others of \p pending reduce, which needs all parts.
  bool readsReduced(Operation *op) const;
  void flush();
  void buildPart(DeviceOpInterface op, Member dims, size_t part);
  /// Truth values, rows x columns of \p part: the row sees the column. Null where they take more
  /// than comparisons of small numbers.
  Value buildShown(Location loc, size_t part);
  /// The masking operation where such say what is hidden; null if they do not.
  Value buildSelect(Member dims, size_t part);
  void combine(DeviceOpInterface op);
  void buildRows(DeviceOpInterface op, Member dims);
  /// \p spec with operands of the group replaced by those of this band, of column part \p part.
  DeviceOpSpec useBand(DeviceOpInterface op, DeviceOpSpec spec, Member dims, size_t part);
  /// The band's rows of \p value, which lie along its axis \p axis: loaded once for all parts.
  Value takeRows(Location loc, Value value, unsigned axis);
  Value build(DeviceOpInterface op, const DeviceOpSpec &spec);
  /// What this band has of the row value \p result, also for whoever reads it beside the group.
  void setRows(Value result, Value value);
  RankedTensorType getBandType(Value value, ColumnRange columns) const;
  bool isOnlyOutput(Value value) const {
    return outputs.contains(value) &&
           llvm::none_of(value.getUsers(), [&](Operation *user) { return group.contains(user); });
  }

  const RowGroup &group;
  OpBuilder &builder;
  ColumnRange rows;
  ArrayRef<ColumnPart> parts;
  const RowGroup::BandForm &form;
  llvm::MapVector<Value, Value> &outputs;
  SmallVector<std::pair<DeviceOpInterface, Member>> pending; ///< that have columns
  DenseMap<Value, SmallVector<Value>> ofParts;
  DenseMap<Value, Value> ofRows;
  DenseMap<Value, Value> taken; ///< rows of values of others
  DenseMap<Value, Value> wide;  ///< f32 forms of 16-bit values of `ofRows`
};
} // namespace

RankedTensorType BandBuilder::getBandType(Value value, ColumnRange columns) const {
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  auto [row, column] = group.getAxes(value);
  shape[row] = rows.size();
  if (column)
    shape[*column] = columns.size();
  return RankedTensorType::get(shape, type.getElementType());
}

bool BandBuilder::readsReduced(Operation *op) const {
  return llvm::any_of(pending, [&](const auto &other) {
    Value result = DeviceOpInterface(other.first).getResultTensor();
    return !group.getAxes(result).second && llvm::is_contained(op->getOperands(), result);
  });
}

Value BandBuilder::takeRows(Location loc, Value value, unsigned axis) {
  Value &known = taken[value];
  if (known)
    return known;
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = rows.size();
  AffineMap all = AffineMap::getMultiDimIdentityMap(shape.size(), builder.getContext());
  SmallVector<AffineExpr> from(all.getResults());
  from[axis] = from[axis] + rows.begin;
  DeviceOpSpec copy = DeviceOpSpec::copy(
      value, shape, AffineMap::get(shape.size(), 0, from, builder.getContext()), all);
  copy.resultType = RankedTensorType::get(shape, type.getElementType());
  return known = buildDeviceOp(builder, loc, copy).getResultTensor();
}

DeviceOpSpec BandBuilder::useBand(DeviceOpInterface op, DeviceOpSpec spec, Member dims,
                                  size_t part) {
  const bool isProduct = op.getInfo().category == ::spyre::OpCategory::Batchmatmul;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (isProduct && form.isAlone && parts.size() > 1 && !group.contains(input.getDefiningOp()))
      for (auto [axis, expr] : llvm::enumerate(op.getInputMap(i).getResults()))
        if (int64_t extent = getTensorType(input).getDimSize(axis);
            RowGroup::getDim(op, op.getInputMap(i), axis, extent) == dims.row)
          spec = spec.withOperand(i, takeRows(op->getLoc(), input, axis), op.getInputMap(i));

    if (op == group.getMasking() && i == group.getMask()) {
      spec = spec.withOperand(i, form.cut(parts[part].columns), op.getInputMap(i));
    } else if (auto known = ofParts.find(input); known != ofParts.end()) {
      if (group.getAxes(input).second)
        spec = spec.withOperand(i, known->second[part], op.getInputMap(i));
    }
    if (Value value = ofRows.lookup(input))
      spec = spec.withOperand(i, value, op.getInputMap(i));
  }
  return spec;
}

Value BandBuilder::build(DeviceOpInterface op, const DeviceOpSpec &spec) {
  return buildDeviceOp(builder, op->getLoc(), spec).getResultTensor();
}

void BandBuilder::setRows(Value result, Value value) {
  ofRows[result] = value;
  if (!outputs.contains(result))
    return;
  SmallVector<int64_t> offsets(getTensorType(result).getRank(), 0);
  offsets[group.getAxes(result).first] = rows.begin;
  outputs[result] =
      buildOnElements(builder, result.getLoc(), OpFunc::Identity, {value}, getTensorType(value),
                      outputs[result], offsets, getTensorType(result));
}

Value BandBuilder::buildShown(Location loc, size_t part) {
  const ColumnRange columns = parts[part].columns;
  if (form.shown.empty() || columns.size() > ::spyre::kDL16MostCounted)
    return {};
  auto makeNumbers = [&](ArrayRef<int64_t> shape, auto getNumber) -> Value {
    SmallVector<APFloat> numbers;
    const int64_t count = llvm::product_of(shape);
    for (int64_t i = 0; i < count; ++i) {
      numbers.push_back(APFloat(double(getNumber(i))));
      bool losesInfo;
      numbers.back().convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
      assert(!losesInfo);
    }
    auto type = RankedTensorType::get(shape, builder.getF16Type());
    return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, numbers));
  };
  SmallVector<int64_t> key{columns.size()};
  for (ColumnRange shown : form.shown)
    for (int64_t limit : {shown.begin, shown.end})
      key.push_back(std::clamp<int64_t>(limit - columns.begin, 0, columns.size()));
  if (!form.isAlone)
    for (const auto &[limits, value] : form.known)
      if (limits == key)
        return value;
  OpBuilder::InsertionGuard guard(builder);
  if (!form.isAlone)
    builder.setInsertionPoint(group.getMembers().front().first);
  const Value places = makeNumbers({columns.size()}, [](int64_t i) { return i; });
  MLIRContext *context = builder.getContext();
  const AffineExpr row = getAffineDimExpr(0, context), column = getAffineDimExpr(1, context);
  auto type = RankedTensorType::get({rows.size(), columns.size()}, builder.getI1Type());
  auto build2 = [&](OpFunc opFunc, Value x, AffineMap xMap, Value y, AffineMap yMap) {
    DeviceOpSpec spec;
    spec.opFunc = opFunc;
    spec.extents = {rows.size(), columns.size()};
    spec.inputs = {x, y};
    spec.maps = {xMap, yMap, AffineMap::getMultiDimIdentityMap(2, context)};
    spec.resultType = type;
    return buildDeviceOp(builder, loc, spec).getResultTensor();
  };
  auto compare = [&](OpFunc opFunc, auto getLimit) {
    Value limits = makeNumbers({rows.size(), 1}, [&](int64_t i) {
      return std::clamp<int64_t>(getLimit(form.shown[i]) - columns.begin, 0, columns.size());
    });
    return build2(opFunc, places, AffineMap::get(2, 0, {column}, context), limits,
                  AffineMap::get(2, 0, {row, getAffineConstantExpr(0, context)}, context));
  };
  auto getBegin = [](ColumnRange shown) { return shown.begin; };
  auto getEnd = [](ColumnRange shown) { return shown.end; };
  const bool allBegin = llvm::all_of(
      form.shown, [&](ColumnRange shown) { return shown.begin <= columns.begin || !shown.size(); });
  const bool allEnd =
      llvm::all_of(form.shown, [&](ColumnRange shown) { return shown.end >= columns.end; });
  Value all;
  if (allBegin || !allEnd) {
    all = compare(OpFunc::Lesserthan, getEnd);
    if (!allBegin) {
      AffineMap same = AffineMap::getMultiDimIdentityMap(2, context);
      all = build2(OpFunc::Mul, all, same, compare(OpFunc::Greaterequal, getBegin), same);
    }
  } else {
    all = compare(OpFunc::Greaterequal, getBegin);
  }
  form.known.emplace_back(std::move(key), all);
  return all;
}

Value BandBuilder::buildSelect(Member dims, size_t part) {
  DeviceOpInterface op = group.getMasking();
  const std::optional<unsigned> kept = group.findUnmasked();
  if (!kept)
    return {};
  const Value keptInput = op.getInputs()[*kept];
  // What a select gives in place of what is hidden.
  Value hidden;
  if (op.getOpFunc() == OpFunc::Where3)
    hidden = op.getInputs()[3 - *kept];
  Type element = getTensorType(keptInput).getElementType();
  if (hidden &&
      (getTensorType(hidden).getRank() != 0 || getTensorType(hidden).getElementType() != element))
    return {};
  Value shown = buildShown(op->getLoc(), part);
  if (!shown)
    return {};
  // Before scores are widened they are half as large.
  auto widening = keptInput.getDefiningOp<DeviceOpInterface>();
  const bool isWidened = !hidden && widening && widening.getOpFunc() == OpFunc::Dl16tofp32 &&
                         keptInput.hasOneUse() && ofParts.contains(widening.getInputs()[0]);
  DeviceOpInterface at = isWidened ? widening : op;
  const unsigned operand = isWidened ? 0 : *kept;
  const Value source = at.getInputs()[operand];
  const Member atDims = isWidened ? group.getMembers().lookup(widening) : dims;
  element = getTensorType(source).getElementType();
  if (!hidden) {
    const double number =
        op.getOpFunc() == OpFunc::Mul ? 0 : -std::numeric_limits<double>::infinity();
    hidden = buildScalar(builder, op->getLoc(), number, element);
  }
  DeviceOpSpec whole =
      DeviceOpSpec::of(at)
          .restrict(atDims.row, rows.begin, rows.size())
          .restrict(*atDims.column, parts[part].columns.begin, parts[part].columns.size());
  const unsigned numDims = whole.extents.size();
  MLIRContext *context = builder.getContext();
  DeviceOpSpec select;
  select.opFunc = OpFunc::Where3;
  select.extents = whole.extents;
  select.inputs = {shown, ofParts.at(source)[part], hidden};
  AffineMap sourceMap = at.getInputMap(operand);
  select.maps = {AffineMap::get(numDims, 0,
                                {getAffineDimExpr(atDims.row, context),
                                 getAffineDimExpr(*atDims.column, context)},
                                context),
                 sourceMap, AffineMap::get(numDims, 0, context), sourceMap};
  select.resultType = ofParts.at(source)[part].getType();
  Value selected = buildDeviceOp(builder, op->getLoc(), select).getResultTensor();
  if (!isWidened)
    return selected;
  Value unmasked = ofParts.at(keptInput)[part];
  Value widened =
      build(widening, whole.withOperand(0, selected, sourceMap)
                          .withOutput(Value(), unmasked.getType(), widening.getOutputMap()));
  if (unmasked.use_empty())
    unmasked.getDefiningOp()->erase();
  return widened;
}

void BandBuilder::buildPart(DeviceOpInterface op, Member dims, size_t part) {
  Value result = op.getResultTensor();
  const ColumnRange columns = parts[part].columns;
  if (op == group.getMasking()) {
    if (std::optional<unsigned> kept = group.findUnmasked(); kept && parts[part].isClear) {
      ofParts[result].push_back(ofParts.at(op.getInputs()[*kept])[part]);
      return;
    }
    if (Value selected = buildSelect(dims, part)) {
      ofParts[result].push_back(selected);
      return;
    }
  }
  DeviceOpSpec spec = DeviceOpSpec::of(op)
                          .restrict(dims.row, rows.begin, rows.size())
                          .restrict(*dims.column, columns.begin, columns.size());
  spec = useBand(op, std::move(spec), dims, part);
  if (parts.size() == 1 && !group.getAxes(result).second && isOnlyOutput(result)) {
    outputs[result] = build(op, spec.withOutput(outputs[result], getTensorType(result)));
    return;
  }
  ofParts[result].push_back(
      build(op, spec.withOutput(Value(), getBandType(result, columns), op.getOutputMap())));
}

void BandBuilder::combine(DeviceOpInterface op) {
  Value result = op.getResultTensor();
  auto known = ofParts.find(result);
  if (known == ofParts.end() || group.getAxes(result).second)
    return;
  SmallVector<Value> values = std::move(known->second);
  ofParts.erase(known);
  if (values.size() == 1)
    return setRows(result, values.front());
  const Combiner combiner = op.getInfo().combiner;
  const bool isAdded = combiner == Combiner::Add;
  RankedTensorType type = getTensorType(values.front());
  const bool isNarrow = isAdded && !type.getElementType().isF32();
  RankedTensorType wideType = RankedTensorType::get(type.getShape(), builder.getF32Type());
  if (isNarrow)
    for (Value &value : values)
      value = buildOnElements(builder, op->getLoc(), OpFunc::Dl16tofp32, {value}, wideType);
  const OpFunc opFunc = isAdded                         ? OpFunc::Add
                        : combiner == Combiner::Maximum ? OpFunc::Maximum
                                                        : OpFunc::Minimum;
  Value all = values.front();
  for (Value value : llvm::drop_begin(values))
    all = buildOnElements(builder, op->getLoc(), opFunc, {all, value}, isNarrow ? wideType : type);
  if (!isNarrow)
    return setRows(result, all);
  wide[result] = all;
  // Who widens it takes what is there.
  if (outputs.contains(result) || llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !group.isPlainWidening(user);
      }))
    setRows(result, buildOnElements(builder, op->getLoc(), OpFunc::Fp32todl16, {all}, type));
}

void BandBuilder::buildRows(DeviceOpInterface op, Member dims) {
  Value result = op.getResultTensor();
  if (Value known = wide.lookup(op.getInputs()[0]); known && group.isPlainWidening(op))
    return setRows(result, known);
  DeviceOpSpec spec =
      useBand(op, DeviceOpSpec::of(op).restrict(dims.row, rows.begin, rows.size()), dims, 0);
  if (isOnlyOutput(result)) {
    outputs[result] = build(op, spec.withOutput(outputs[result], getTensorType(result)));
    return;
  }
  setRows(result, build(op, spec.withOutput(Value(), getBandType(result, {}), op.getOutputMap())));
}

void BandBuilder::flush() {
  // One part after the other: what one needs is done with when the next begins.
  for (size_t part = 0; part < parts.size(); ++part)
    for (auto [op, dims] : pending)
      buildPart(op, dims, part);
  for (auto [op, dims] : pending)
    combine(op);
  pending.clear();
}

void BandBuilder::run() {
  for (const auto &[operation, dims] : group.getMembers()) {
    auto op = cast<DeviceOpInterface>(operation);
    if (!dims.column || readsReduced(op))
      flush();
    if (dims.column)
      pending.emplace_back(op, dims);
    else
      buildRows(op, dims);
  }
  flush();
}

void RowGroup::build(OpBuilder &builder, ColumnRange rows, ArrayRef<ColumnPart> parts,
                     const BandForm &form, llvm::MapVector<Value, Value> &outputs) const {
  BandBuilder(*this, builder, rows, parts, form, outputs).run();
}
