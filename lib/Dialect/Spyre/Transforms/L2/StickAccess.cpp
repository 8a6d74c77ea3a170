//===- StickAccess.cpp - How an operation meets its operands' sticks -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Layout/Alignment.h"
#include "spyre/OpFunc/MatmulRole.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::spyre;

bool mlir::spyre::isMatmul(DeviceOpInterface op) {
  return op.getInfo().category == ::spyre::OpCategory::Batchmatmul;
}

bool mlir::spyre::isReduction(DeviceOpInterface op) {
  return op.getInfo().category == ::spyre::OpCategory::Reduction;
}

bool mlir::spyre::isRestickify(DeviceOpInterface op) {
  return op.getOpFunc() == ::spyre::OpFunc::Restickify;
}

bool mlir::spyre::isRelayout(DeviceOpInterface op) {
  return op.getInfo().costClass == ::spyre::CostClass::Shuffle;
}

int64_t mlir::spyre::getStickDim(LayoutAttr layout) {
  return layout.getDimOrder().empty() ? -1 : layout.getDimOrder().back();
}

llvm::SmallBitVector mlir::spyre::getUsedDims(AffineMap map) {
  llvm::SmallBitVector used(map.getNumDims());
  for (AffineExpr result : map.getResults())
    result.walk([&](AffineExpr e) {
      if (auto dim = dyn_cast<AffineDimExpr>(e))
        used.set(dim.getPosition());
    });
  return used;
}

MatmulDims mlir::spyre::getMatmulDims(DeviceOpInterface op) {
  llvm::SmallBitVector x = getUsedDims(op.getInputMap(0)), y = getUsedDims(op.getInputMap(1)),
                       o = getUsedDims(op.getOutputMap());
  MatmulDims dims;
  for (unsigned d = 0; d < op.getNumDims(); ++d)
    switch (::spyre::getMatmulRole(x[d], y[d], o[d])) {
    case ::spyre::MatmulRole::K:
      dims.reduction.push_back(d);
      break;
    case ::spyre::MatmulRole::N:
      dims.generated.push_back(d);
      break;
    case ::spyre::MatmulRole::M:
      dims.preserved.push_back(d);
      break;
    case ::spyre::MatmulRole::Batch:
      dims.noReuse.push_back(d);
      break;
    case ::spyre::MatmulRole::None:
      break;
    }
  return dims;
}

/// Coordinate \p expr without what loop variables add to it: they only shift the
/// origin; how they do it is checked where tiles are made.
static ::spyre::layout::IndexExpr dropLoops(const ::spyre::layout::IndexExpr &expr,
                                            unsigned numDims) {
  ::spyre::layout::IndexExpr result = expr;
  llvm::erase_if(result.digits,
                 [&](const ::spyre::layout::Digit &digit) { return digit.input >= numDims; });
  return result;
}

/// Why the device cannot step through \p places places by coordinate \p expr (without
/// loops), or an empty string. It can where the places are [outer, ..., inner] and
/// every digit is one of these dims, the others being constants. Nothing depends on
/// the size of the outermost device dim (\p isOutermost). The rule of lib/Layout's
/// alignment for one coordinate.
static std::string checkSteps(const ::spyre::layout::IndexExpr &expr, ArrayRef<int64_t> extents,
                              int64_t places, bool isOutermost) {
  std::vector<::spyre::layout::Digit> digits = expr.digits;
  llvm::sort(digits, [](const auto &a, const auto &b) { return a.coefficient > b.coefficient; });
  int64_t constant = expr.constant;
  for (const ::spyre::layout::Digit &digit : digits) {
    if (digit.divisor != 1 || digit.modulus != 0)
      return "takes an iteration dim apart";
    int64_t step = digit.coefficient;
    if (step < 1)
      return "moves backwards with an iteration dim";
    if (isOutermost && &digit == &digits.front())
      places = static_cast<int64_t>(llvm::alignTo(places, step));
    if (places % step)
      return "moves in steps of " + std::to_string(step) + ", which do not divide " +
             std::to_string(places);
    if (constant / step + extents[digit.input] > places / step)
      return "mixes iteration dims that do not fit into each other";
    constant %= step;
    places = step;
  }
  return {};
}

/// Places in memory of each logical dim (sticks for the one in the stick), and the
/// dim that no other one is outside of.
static std::pair<SmallVector<int64_t>, int64_t> getPlaces(ArrayRef<int64_t> shape,
                                                          LayoutAttr layout) {
  ::spyre::layout::TensorLayout tensor = layout.getTensorLayout(shape);
  SmallVector<int64_t> places(
      ArrayRef<int64_t>(tensor.paddedShape.empty() ? tensor.shape : tensor.paddedShape));
  int64_t stickDim = getStickDim(layout), outermost = -1;
  if (stickDim >= 0)
    places[stickDim] =
        llvm::divideCeil(places[stickDim], ::spyre::getElementsPerStick(layout.getFormat()));
  for (const ::spyre::layout::DeviceDim &dim : ::spyre::layout::getDeviceDims(tensor)) {
    if (dim.size == 1)
      continue;
    outermost = dim.dim;
    break;
  }
  return {places, outermost};
}

StickAccess mlir::spyre::getStickAccess(ArrayRef<int64_t> shape, LayoutAttr layout, AffineMap map,
                                        ArrayRef<int64_t> ranges) {
  StickAccess access;
  int64_t elements = ::spyre::getElementsPerStick(layout.getFormat());
  if (!layout.getStick().empty()) {
    access.reason = "its stick has two dims";
    return access;
  }
  int64_t stickDim = getStickDim(layout);
  FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, ranges);
  if (failed(index)) {
    access.reason = "its access map is no sum of digits";
    return access;
  }
  auto [places, outermost] = getPlaces(shape, layout);
  for (auto [dim, expr] : llvm::enumerate(index->results)) {
    if (static_cast<int64_t>(dim) == stickDim)
      continue;
    std::string why = checkSteps(dropLoops(expr, map.getNumDims()), ranges, places[dim],
                                 static_cast<int64_t>(dim) == outermost);
    if (!why.empty()) {
      access.reason = "coordinate " + std::to_string(dim) + " " + why;
      return access;
    }
  }
  if (stickDim < 0) {
    access.kind = StickAccess::Lane0;
    return access;
  }
  const ::spyre::layout::IndexExpr &expr = index->results[stickDim];
  if (expr.constant % elements) {
    access.reason = "it starts inside a stick, at element " + std::to_string(expr.constant);
    return access;
  }
  // One dim may run along the sticks; all others move by whole sticks.
  ::spyre::layout::IndexExpr sticks;
  sticks.constant = expr.constant / elements;
  access.kind = StickAccess::Lane0;
  for (::spyre::layout::Digit digit : expr.digits) {
    bool isLoop = digit.input >= map.getNumDims();
    if (!isLoop && digit.coefficient == 1 && digit.divisor == 1 && digit.modulus == 0 &&
        access.kind == StickAccess::Lane0) {
      access.kind = StickAccess::Dim;
      access.dim = digit.input;
      continue;
    }
    if (digit.coefficient % elements) {
      access.kind = StickAccess::Unreadable;
      access.reason = isLoop ? "a loop moves it by part of a stick"
                             : "coordinate " + std::to_string(stickDim) +
                                   " moves by part of a stick with d" + std::to_string(digit.input);
      return access;
    }
    digit.coefficient /= elements;
    if (!isLoop)
      sticks.digits.push_back(digit);
  }
  SmallVector<int64_t> extents(ranges);
  if (access.kind == StickAccess::Dim) {
    extents[access.dim] = llvm::divideCeil(extents[access.dim], elements);
    sticks.digits.push_back({access.dim, 1, 0, 1});
  }
  std::string why =
      checkSteps(sticks, extents, places[stickDim], /*isOutermost=*/stickDim == outermost);
  if (!why.empty()) {
    access.kind = StickAccess::Unreadable;
    access.reason = "coordinate " + std::to_string(stickDim) + " " + why;
  }
  return access;
}

/// True if what \p op writes in \p value starts on a stick and ends on one or at the
/// logical end of the stick dim; \p access is the output's.
static bool endsOnStick(Value value, LayoutAttr layout, AffineMap map, const StickAccess &access,
                        ArrayRef<int64_t> ranges) {
  int64_t elements = ::spyre::getElementsPerStick(layout.getFormat());
  int64_t stickDim = getStickDim(layout);
  if (stickDim < 0)
    return true;
  int64_t extent = access.kind == StickAccess::Dim ? ranges[access.dim] : 1;
  if (extent % elements == 0)
    return true;
  FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, ranges);
  assert(succeeded(index) && "the access was readable");
  const ::spyre::layout::IndexExpr &expr = index->results[stickDim];
  unsigned others = llvm::count_if(expr.digits, [&](const ::spyre::layout::Digit &digit) {
    return access.kind != StickAccess::Dim || digit.input != access.dim;
  });
  return others == 0 && expr.constant + extent == getShape(value)[stickDim];
}

bool mlir::spyre::isWritable(Value value, LayoutAttr layout, AffineMap map,
                             ArrayRef<int64_t> ranges) {
  StickAccess access = getStickAccess(getShape(value), layout, map, ranges);
  return access.kind != StickAccess::Unreadable && endsOnStick(value, layout, map, access, ranges);
}

/// Why the device cannot name the coordinates of all operands together; empty if it
/// can. Only mixed coordinates need the full answer.
static std::string checkAlignment(DeviceOpInterface op, ArrayRef<int64_t> ranges) {
  namespace layout = ::spyre::layout;
  unsigned numDims = op.getNumDims();
  bool mixed = false;
  std::vector<layout::AlignAccess> accesses;
  for (unsigned i = 0, e = op.getInputs().size(); i <= e; ++i) {
    Value value = i < e ? op.getInputs()[i] : op.getDestination();
    FailureOr<layout::IndexMap> map = toIndexMap(op.getMap(i), ranges);
    assert(succeeded(map) && "the access was readable");
    layout::IndexMap access;
    access.extents.assign(ranges.begin(), ranges.begin() + numDims);
    for (const layout::IndexExpr &expr : map->results) {
      access.results.push_back(dropLoops(expr, numDims));
      mixed |= access.results.back().digits.size() > 1 ||
               (access.results.back().digits.size() == 1 &&
                access.results.back().digits.front().coefficient != 1);
    }
    auto coordinates =
        layout::getDeviceCoordinates(getLayout(value).getTensorLayout(getShape(value)), access);
    if (auto *error = std::get_if<layout::LayoutError>(&coordinates))
      return error->message;
    accesses.push_back({layout::getDeviceSizes(getLayout(value).getTensorLayout(getShape(value))),
                        std::get<layout::IndexMap>(coordinates).results});
  }
  if (!mixed)
    return {};
  std::vector<layout::AlignDim> dims;
  for (int64_t extent : op.getExtents())
    dims.push_back({extent});
  auto aligned = layout::align(dims, accesses);
  if (auto *error = std::get_if<layout::AlignError>(&aligned))
    return error->message;
  return {};
}

/// All operations that write what \p op writes, itself included; nothing if the caller
/// sees it too.
static std::optional<SmallVector<DeviceOpInterface>> getAllWriters(DeviceOpInterface op) {
  SmallVector<DeviceOpInterface> writers;
  Value value = op.getDestination();
  if (!op.getResultTensor()) { // a buffer
    if (isa<BlockArgument>(value))
      return std::nullopt;
    for (Operation *user : value.getUsers())
      if (auto device = dyn_cast<DeviceOpInterface>(user); device && device.getOutput() == value)
        writers.push_back(device);
    return writers;
  }
  DeviceOpInterface first = op;
  while (Value init = first.getOutput()) {
    first = init.getDefiningOp<DeviceOpInterface>();
    if (!first)
      return std::nullopt;
  }
  SmallVector<DeviceOpInterface> chain = getWriters(first);
  for (DeviceOpInterface writer : chain)
    if (!llvm::all_of(writer.getResultTensor().getUsers(), llvm::IsaPred<DeviceOpInterface>))
      return std::nullopt;
  return chain;
}

/// True if no other operation writes the lanes between the end of what \p op writes and
/// the end of the stick.
static bool ownsItsLastStick(DeviceOpInterface op) {
  std::optional<SmallVector<DeviceOpInterface>> writers = getAllWriters(op);
  LayoutAttr layout = getLayout(op.getDestination());
  int64_t stickDim = getStickDim(layout),
          elements = ::spyre::getElementsPerStick(layout.getFormat());
  if (!writers)
    return false;
  // Where a writer starts and ends along each dim, in all iterations of its loops.
  using Box = SmallVector<std::pair<int64_t, int64_t>>;
  auto boxOf = [&](DeviceOpInterface writer) -> std::optional<Box> {
    std::optional<SmallVector<int64_t>> tripCounts = getTripCounts(writer);
    if (!tripCounts)
      return std::nullopt;
    SmallVector<int64_t> ranges(writer.getExtents());
    ranges.append(*tripCounts);
    FailureOr<::spyre::layout::IndexMap> map = toIndexMap(writer.getOutputMap(), ranges);
    if (failed(map))
      return std::nullopt;
    // Where loops move its own end, there are several.
    if (writer == op &&
        llvm::any_of(map->results[stickDim].digits, [&](const ::spyre::layout::Digit &digit) {
          return digit.input >= writer.getNumDims();
        }))
      return std::nullopt;
    Box box;
    for (const ::spyre::layout::IndexExpr &expr : map->results) {
      auto [low, high] = getRange(expr, ranges);
      box.emplace_back(low, high + 1);
    }
    return box;
  };
  std::optional<Box> own = boxOf(op);
  if (!own)
    return false;
  int64_t &end = (*own)[stickDim].second;
  end = static_cast<int64_t>(llvm::alignTo(end, elements));
  return llvm::all_of(*writers, [&](DeviceOpInterface writer) {
    std::optional<Box> other = writer == op ? std::nullopt : boxOf(writer);
    return writer == op ||
           (other && llvm::any_of(llvm::zip_equal(*own, *other), [](const auto &spans) {
              auto [mine, others] = spans;
              return others.first >= mine.second || others.second <= mine.first;
            }));
  });
}

StickAccess mlir::spyre::checkSticks(DeviceOpInterface op) {
  StickAccess whole;
  std::optional<SmallVector<int64_t>> tripCounts = getTripCounts(op);
  if (!tripCounts) {
    whole.reason = "its loops have no constant bounds";
    return whole;
  }
  SmallVector<int64_t> ranges(op.getExtents());
  ranges.append(*tripCounts);

  auto accessOf = [&](unsigned i) {
    Value value = i < op.getInputs().size() ? op.getInputs()[i] : op.getDestination();
    StickAccess access = getStickAccess(getShape(value), getLayout(value), op.getMap(i), ranges);
    if (access.kind == StickAccess::Unreadable)
      access.reason =
          (i < op.getInputs().size() ? "input #" + std::to_string(i) : std::string("the output")) +
          " cannot be accessed: " + access.reason;
    return access;
  };
  auto fail = [&](std::string reason) {
    whole.kind = StickAccess::Unreadable;
    whole.reason = std::move(reason);
    return whole;
  };
  unsigned numInputs = op.getInputs().size();
  SmallVector<StickAccess> accesses;
  for (unsigned i = 0; i <= numInputs; ++i) {
    accesses.push_back(accessOf(i));
    if (accesses.back().kind == StickAccess::Unreadable)
      return accesses.back();
  }
  const StickAccess &output = accesses.back();
  if (!endsOnStick(op.getDestination(), getLayout(op.getDestination()), op.getOutputMap(), output,
                   ranges) &&
      !ownsItsLastStick(op))
    return fail("the output region ends inside a stick before the tensor's end; the lanes beyond "
                "it would be overwritten");
  if (std::string why = checkAlignment(op, ranges); !why.empty())
    return fail(why);

  const ::spyre::StickRule rule = op.getInfo().stickRule;
  if (rule == ::spyre::StickRule::StickReduction || rule == ::spyre::StickRule::NonStickReduction) {
    llvm::SmallBitVector read = getUsedDims(op.getInputMap(0));
    for (unsigned d = 0; d < op.getNumDims(); ++d)
      if (op.getExtents()[d] > 1 && !read[d])
        return fail("input #0 has no dim d" + std::to_string(d) +
                    ", which the reduction runs over; it has to be repeated in memory");
  }
  if (rule == ::spyre::StickRule::Matmul || rule == ::spyre::StickRule::Matmul8) {
    MatmulDims dims = getMatmulDims(op);
    auto is = [&](const StickAccess &access, ArrayRef<unsigned> among) {
      return access.kind == StickAccess::Lane0 || llvm::is_contained(among, access.dim);
    };
    if (!is(accesses[0], dims.reduction))
      return fail("input #0 of a contraction must have a reduced dim in its stick");
    if (!is(accesses[1], dims.generated))
      return fail("input #1 of a contraction must have a generated dim in its stick");
    if (!is(output, dims.generated))
      return fail("the output of a contraction must have a generated dim in its stick");
    whole = output;
    return whole;
  }
  if (rule == ::spyre::StickRule::Restickify) {
    // One dim leaves the stick, another enters it; either may be a unit dim.
    return output;
  }
  // Everything else: one dim in all sticks, or lane 0 where it is not used.
  whole.kind = StickAccess::Lane0;
  for (unsigned i = 0; i <= numInputs; ++i) {
    if (accesses[i].kind != StickAccess::Dim)
      continue;
    if (whole.kind == StickAccess::Dim && whole.dim != accesses[i].dim)
      return fail("d" + std::to_string(whole.dim) + " lies in the stick of one operand and d" +
                  std::to_string(accesses[i].dim) + " in that of another");
    whole.kind = StickAccess::Dim;
    whole.dim = accesses[i].dim;
  }
  if (whole.kind != StickAccess::Dim)
    return whole;
  if (rule == ::spyre::StickRule::TopK)
    for (unsigned i : {0u, numInputs})
      if (!getUsedDims(op.getMap(i))[whole.dim])
        return fail("d" + std::to_string(whole.dim) +
                    ", along which the operation sorts, lies in a stick");
  for (unsigned i = 0; i <= numInputs; ++i) {
    if (accesses[i].kind == StickAccess::Dim || !getUsedDims(op.getMap(i))[whole.dim])
      continue;
    return fail("d" + std::to_string(whole.dim) +
                " lies in the stick of one operand, but outside that of " +
                (i < numInputs ? "input #" + std::to_string(i) : std::string("the output")));
  }
  return whole;
}
