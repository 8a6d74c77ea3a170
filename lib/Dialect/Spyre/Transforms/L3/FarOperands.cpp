//===- FarOperands.cpp - Operands in a layout within reach -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stick stays what it is, so that the copy moves whole sticks and can be cut along all dims;
// what changes is the order of the others. The first of them lies inside of all others in memory:
// where that is in the way, a dim of one element takes its place.
//
//===----------------------------------------------------------------------===//

#include "FarOperands.h"

#include "CarriedRows.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/FarParts.h"

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

/// Of more dims not all orders are looked at.
static constexpr size_t kMostDims = 6;

/// \p memory with a dim of one element in front.
static layout::TensorLayout addUnitDim(layout::TensorLayout memory) {
  for (int &dim : memory.dimOrder)
    dim += dim >= 0;
  memory.dimOrder.insert(memory.dimOrder.begin(), 0);
  memory.shape.insert(memory.shape.begin(), 1);
  if (!memory.paddedShape.empty())
    memory.paddedShape.insert(memory.paddedShape.begin(), 1);
  return memory;
}

/// \p memory with its dims in the order of which a core has to reach least for operand \p number of
/// \p problem, which accesses it by \p access; nothing if no order is within reach.
static std::optional<layout::TensorLayout> findOrder(layout::TensorLayout memory,
                                                     const layout::Access &access,
                                                     const planning::DivisionProblem &problem,
                                                     unsigned number) {
  std::optional<layout::TensorLayout> best;
  int64_t least = 0;
  std::vector<int> &order = memory.dimOrder;
  std::sort(order.begin(), order.end() - 1);
  do {
    auto operand = planning::makeOperand(access, memory, problem.operands[number].isOutput);
    if (!std::holds_alternative<planning::DivisionOperand>(operand))
      continue;
    planning::DivisionProblem other = problem;
    other.operands = {std::move(std::get<planning::DivisionOperand>(operand))};
    const int64_t span = planning::getLeastSpanInBytes(other, other.operands.front());
    if (span <= problem.spanLimitInBytes && (!best || span < least)) {
      best = memory;
      least = span;
    }
  } while (std::next_permutation(order.begin(), order.end() - 1));
  return best;
}

/// The same, with a dim of one element in front if that is needed: descriptors have names for few
/// dims.
static std::optional<layout::TensorLayout> findLayout(layout::TensorLayout memory,
                                                      layout::Access access,
                                                      const planning::DivisionProblem &problem,
                                                      unsigned number) {
  if (memory.shape.size() > kMostDims || !memory.stick.empty() || memory.shape.empty())
    return std::nullopt;
  if (auto found = findOrder(memory, access, problem, number))
    return found;
  access.map.results.insert(access.map.results.begin(), layout::IndexExpr());
  return findOrder(addUnitDim(std::move(memory)), access, problem, number);
}

static Value alloc(OpBuilder &builder, Location loc, Type element,
                   const layout::TensorLayout &memory) {
  MLIRContext *context = builder.getContext();
  auto type = BufferType::get(context, ArrayRef<int64_t>(memory.shape), element,
                              LayoutAttr::get(context, memory), MemorySpace::HBM);
  return AllocOp::create(builder, loc, type, PlacementAttr(), DistributionAttr());
}

/// \p map into a tensor of \p memory, which findLayout has made.
static AffineMap mapInto(const layout::TensorLayout &memory, AffineMap map) {
  if (map.getNumResults() == memory.shape.size())
    return map;
  SmallVector<AffineExpr> results{getAffineConstantExpr(0, map.getContext())};
  llvm::append_range(results, map.getResults());
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
}

static bool canCopy(::spyre::DataFormat format) {
  return ::spyre::lookupForm(::spyre::getOpFuncInfo(::spyre::OpFunc::Identity),
                             std::span(&format, 1)) != nullptr;
}

/// Puts a copy of input \p number and an operation that reads it in the place of \p op.
static std::optional<SmallVector<DeviceOpInterface>>
copyInput(DeviceOpInterface op, const PlannedOp &planned, unsigned number) {
  Value input = op.getInputs()[number];
  auto type = cast<BufferType>(input.getType());
  auto memory =
      findLayout(type.getTensorLayout(), planned.accesses[number], planned.problem, number);
  if (!memory || !canCopy(memory->format))
    return std::nullopt;
  OpBuilder builder(op);
  Value copy = alloc(builder, op->getLoc(), type.getElementType(), *memory);
  AffineMap same = builder.getMultiDimIdentityMap(type.getRank());
  DeviceOpInterface first =
      buildDeviceOp(builder, op->getLoc(),
                    DeviceOpSpec::copy(input, type.getShape(), same, mapInto(*memory, same))
                        .withOutput(copy, Type()));
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  DeviceOpInterface second = buildDeviceOp(
      builder, op->getLoc(), spec.withOperand(number, copy, mapInto(*memory, spec.maps[number])));
  op->erase();
  return SmallVector<DeviceOpInterface>{first, second};
}

/// The same with the result: in a buffer of the points that \p op writes, and copied from there.
static std::optional<SmallVector<DeviceOpInterface>> copyOutput(DeviceOpInterface op,
                                                                const PlannedOp &planned) {
  auto type = cast<BufferType>(op.getDestination().getType());
  StickAccess access =
      getStickAccess(type.getShape(), type.getLayout(), op.getOutputMap(), op.getExtents());
  // What it also reads is not in the copy.
  if (access.kind != StickAccess::Dim || llvm::is_contained(op.getInputs(), op.getDestination()) ||
      !canCopy(type.getLayout().getFormat()))
    return std::nullopt;
  SmallVector<AffineExpr> dims;
  const CarriedRows::Space space = CarriedRows::getSpace(op, dims);
  layout::TensorLayout memory =
      layout::getDefaultLayout(std::vector<int64_t>(space.extents.begin(), space.extents.end()),
                               type.getLayout().getFormat());
  memory.dimOrder.clear();
  layout::Access written = planned.accesses.back();
  written.map.results.clear();
  SmallVector<AffineExpr> results;
  int stick = 0;
  for (auto [d, expr] : llvm::enumerate(dims)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue;
    const int number = static_cast<int>(dim.getPosition());
    (d == access.dim ? (void)(stick = number) : memory.dimOrder.push_back(number));
    written.map.results.push_back(layout::makeInput(d));
    results.push_back(getAffineDimExpr(d, op->getContext()));
    // What a restickify writes ends on a stick, in memory.
    const planning::DivisionDim &divided = planned.problem.dims[d];
    if (isRestickify(op))
      memory.paddedShape.push_back(llvm::alignTo(divided.extent, divided.elementsPerStick));
  }
  memory.dimOrder.push_back(stick);
  if (memory.paddedShape == memory.shape)
    memory.paddedShape.clear();
  const unsigned number = op.getInputs().size();
  auto found = findLayout(std::move(memory), std::move(written), planned.problem, number);
  if (!found)
    return std::nullopt;
  OpBuilder builder(op);
  Value copy = alloc(builder, op->getLoc(), type.getElementType(), *found);
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  AffineMap place = AffineMap::get(op.getNumDims(), 0, results, op->getContext());
  DeviceOpInterface first =
      buildDeviceOp(builder, op->getLoc(), spec.withOutput(copy, Type(), mapInto(*found, place)));
  AffineMap same = builder.getMultiDimIdentityMap(space.extents.size());
  DeviceOpInterface second =
      buildDeviceOp(builder, op->getLoc(),
                    DeviceOpSpec::copy(copy, space.extents, mapInto(*found, same), space.place)
                        .withOutput(spec.output, Type()));
  op->erase();
  return SmallVector<DeviceOpInterface>{first, second};
}

std::optional<SmallVector<DeviceOpInterface>>
mlir::spyre::copyFarOperand(DeviceOpInterface op, const PlannedOp &planned) {
  if (!op.getLoopVariables().empty() || op.getGather())
    return std::nullopt;
  const planning::DivisionProblem &problem = planned.problem;
  for (auto [number, operand] : llvm::enumerate(problem.operands))
    if (operand.isInDeviceMemory &&
        planning::getLeastSpanInBytes(problem, operand) > problem.spanLimitInBytes)
      return operand.isOutput ? copyOutput(op, planned) : copyInput(op, planned, number);
  return std::nullopt;
}
