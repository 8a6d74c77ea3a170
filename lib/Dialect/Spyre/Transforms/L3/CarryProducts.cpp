//===- CarryProducts.cpp - Products whose sums go on from part to part ------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of what another product makes, element by element (the two of an MLP): a loop over
// the dim between them needs neither what lies between nor the weights as a whole, if the second
// adds up its parts. They are added in f32. So are those of a product by itself whose contracted
// dim is longer than a core reaches: there is no other way to compute it.
//
//===----------------------------------------------------------------------===//

#include "PartCarrier.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/FarParts.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;
namespace layout = ::spyre::layout;

/// True if what is in \p buffer depends on what \p product writes.
static bool dependsOn(Value buffer, DeviceOpInterface product) {
  SmallVector<Value> work{buffer};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers())
      if (auto writer = dyn_cast<DeviceOpInterface>(user);
          writer && writer.getDestination() == value) {
        if (writer == product)
          return true;
        llvm::append_range(work, writer.getInputs());
      }
  }
  return false;
}

/// True if coordinate \p along of \p buffer is a dim that a product writes, seen through
/// operations on single elements. Not if they also read what is known once all of the dim is
/// (the statistics of a norm): no loop makes part after part then.
static bool isMadeByProduct(Value buffer, unsigned along) {
  SmallVector<std::pair<Value, unsigned>> work{{buffer, along}};
  llvm::SmallPtrSet<Value, 8> seen;
  SmallVector<Value> others;
  while (!work.empty()) {
    auto [value, coordinate] = work.pop_back_val();
    DeviceOpInterface writer = seen.insert(value).second ? getOnlyWriter(value) : nullptr;
    if (!writer)
      continue;
    std::optional<unsigned> dim = getPlainDim(writer.getOutputMap().getResult(coordinate));
    if (!dim)
      continue;
    if (isMatmul(writer) && llvm::none_of(others, [&, product = writer](Value other) {
          return dependsOn(other, product);
        }))
      return true;
    if (isMatmul(writer))
      continue;
    if (isReduction(writer) || isRestickify(writer) || writer.getGather())
      continue;
    for (auto [i, input] : llvm::enumerate(writer.getInputs())) {
      const size_t numFound = work.size();
      for (auto [r, expr] : llvm::enumerate(writer.getInputMap(i).getResults()))
        if (getPlainDim(expr) == dim)
          work.emplace_back(input, r);
      if (work.size() == numFound)
        others.push_back(input);
    }
  }
  return false;
}

/// A type like that of \p buffer with f32 elements; null if casts between them are not of
/// whole sticks.
static BufferType getWideType(Value buffer) {
  auto type = cast<BufferType>(buffer.getType());
  layout::TensorLayout memory = type.getTensorLayout();
  std::vector<layout::StickDim> sticks = layout::getStickDims(memory);
  const int64_t elements = ::spyre::getElementsPerStick(memory.format);
  if (!memory.paddedShape.empty() || !memory.stick.empty() || sticks.size() != 1 ||
      memory.shape[sticks.front().dim] % elements)
    return {};
  memory.format = ::spyre::DataFormat::IEEE_FP32;
  MLIRContext *context = type.getContext();
  return BufferType::get(context, type.getShape(), Float32Type::get(context),
                         LayoutAttr::get(context, memory), MemorySpace::HBM);
}

/// True if a core would reach too far for a factor of \p product along \p reduced, however little
/// it has of the other dims.
static bool isBeyondReach(DeviceOpInterface product, unsigned reduced) {
  PlanningModel model(product);
  const PlannedOp &planned = model.describe(product);
  return planned.error.empty() &&
         !::spyre::planning::isWithinReach(planned.problem, reduced, product.getExtents()[reduced]);
}

bool mlir::spyre::carryProduct(func::FuncOp func, DeviceOpInterface product, int64_t number) {
  Value result = product.getDestination();
  if (product->hasAttr(kCarriedAttr) || !getElementType(result).isF16() ||
      getOnlyWriter(result) != product)
    return false;
  SmallVector<unsigned> reduced = getReducedDims(product);
  BufferType wide = getWideType(result);
  if (reduced.size() != 1 || !wide)
    return false;
  bool isChained = false;
  for (auto [r, expr] : llvm::enumerate(product.getInputMap(0).getResults()))
    isChained |= getPlainDim(expr) == reduced.front() && isMadeByProduct(product.getInputs()[0], r);
  if (!isChained && !isBeyondReach(product, reduced.front()))
    return false;

  SmallVector<AffineExpr> dims;
  CarriedRows::Space space = CarriedRows::getSpace(product, dims);
  Location loc = product->getLoc();
  PartCarrier carrier(func, number);
  carrier.builder.setInsertionPoint(product);
  Value part = carrier.allocLike(result, loc), widePart = carrier.alloc(wide, loc),
        sum = carrier.alloc(wide, loc);
  product->replaceUsesOfWith(result, part);
  carrier.mark(product);
  carrier.builder.setInsertionPointAfter(product);
  carrier.mark(carrier.buildOn(space, loc, OpFunc::Dl16tofp32, {part}, {AffineMap()}, widePart));
  carrier.combine(space, loc, product.getInfo(), sum, widePart);
  carrier.buildOn(space, loc, OpFunc::Fp32todl16, {sum}, {AffineMap()}, result);
  return true;
}
