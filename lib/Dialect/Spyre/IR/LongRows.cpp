//===- LongRows.cpp - Reductions of rows that are too long ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/LongRows.h"

#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Combiner;

/// A row is long if so many do not fit into a scratchpad: what is done to it needs it several
/// times.
static constexpr int64_t kRowsInLX = 4;

bool mlir::spyre::combinesParts(DeviceOpInterface op) {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  const bool isLinear =
      info.combiner == Combiner::Add &&
      (info.scaleLaw == ::spyre::ScaleLaw::First || info.scaleLaw == ::spyre::ScaleLaw::Each);
  return info.category == ::spyre::OpCategory::Reduction &&
         (isLinear || info.combiner == Combiner::Maximum || info.combiner == Combiner::Minimum);
}

bool mlir::spyre::isLongReduction(DeviceOpInterface op, const ::spyre::Device &device) {
  if (!combinesParts(op))
    return false;
  int64_t all = 1, row = 1;
  AffineMap written = op.getOutputMap();
  for (auto [dim, extent] : llvm::enumerate(op.getExtents())) {
    all *= extent;
    row *= written.isFunctionOfDim(dim) ? 1 : extent;
  }
  if (row == 1)
    return false;
  const int64_t bytes = getElementType(op.getInputs()[0]).getIntOrFloatBitWidth() / 8;
  return row * bytes * kRowsInLX > device.getUsableLXInBytes() ||
         all * bytes > device.getSpanLimitInBytes();
}

bool mlir::spyre::isSumOfDeviations(DeviceOpInterface op, const ::spyre::Device &device) {
  if (op.getInfo().combiner != Combiner::Add || !isLongReduction(op, device))
    return false;
  auto square = op.getInputs()[0].getDefiningOp<DeviceOpInterface>();
  if (!square || square.getInfo().shiftLaw != ::spyre::ShiftLaw::AddOther ||
      square.getInputs()[0] != square.getInputs()[1])
    return false;
  auto difference = square.getInputs()[0].getDefiningOp<DeviceOpInterface>();
  return difference && difference.getInfo().secondShiftLaw == ::spyre::ShiftLaw::ShiftBack;
}
