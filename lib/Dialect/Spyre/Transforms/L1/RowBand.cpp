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

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Combiner;
using ::spyre::OpFunc;

namespace {
class BandBuilder {
public:
  BandBuilder(const RowGroup &group, OpBuilder &builder, ColumnRange rows,
              ArrayRef<ColumnPart> parts, RowGroup::CutMask cutMask,
              llvm::MapVector<Value, Value> &outputs)
      : group(group), builder(builder), rows(rows), parts(parts), cutMask(cutMask),
        outputs(outputs) {}

  void run();

private:
  using Member = RowGroup::Member;

  /// Whether a member reads what others of \p pending reduce, which needs all parts.
  bool readsReduced(Operation *op) const;
  void flush();
  void buildPart(DeviceOpInterface op, Member dims, size_t part);
  void combine(DeviceOpInterface op);
  void buildRows(DeviceOpInterface op, Member dims);
  /// \p spec with operands of the group replaced by those of this band, of column part \p part.
  DeviceOpSpec useBand(DeviceOpInterface op, DeviceOpSpec spec, size_t part);
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
  RowGroup::CutMask cutMask;
  llvm::MapVector<Value, Value> &outputs;
  SmallVector<std::pair<DeviceOpInterface, Member>> pending; ///< that have columns
  DenseMap<Value, SmallVector<Value>> ofParts;
  DenseMap<Value, Value> ofRows;
  DenseMap<Value, Value> wide; ///< f32 forms of 16-bit values of `ofRows`
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

DeviceOpSpec BandBuilder::useBand(DeviceOpInterface op, DeviceOpSpec spec, size_t part) {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (op == group.getMasking() && i == group.getMask() && cutMask) {
      spec = spec.withOperand(i, cutMask(parts[part].columns), op.getInputMap(i));
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

void BandBuilder::buildPart(DeviceOpInterface op, Member dims, size_t part) {
  Value result = op.getResultTensor();
  const ColumnRange columns = parts[part].columns;
  if (op == group.getMasking() && parts[part].isClear)
    if (std::optional<unsigned> kept = group.findUnmasked()) {
      ofParts[result].push_back(ofParts.at(op.getInputs()[*kept])[part]);
      return;
    }
  DeviceOpSpec spec = DeviceOpSpec::of(op)
                          .restrict(dims.row, rows.begin, rows.size())
                          .restrict(*dims.column, columns.begin, columns.size());
  spec = useBand(op, std::move(spec), part);
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
      useBand(op, DeviceOpSpec::of(op).restrict(dims.row, rows.begin, rows.size()), 0);
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
                     CutMask cutMask, llvm::MapVector<Value, Value> &outputs) const {
  BandBuilder(*this, builder, rows, parts, cutMask, outputs).run();
}
