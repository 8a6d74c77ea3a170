//===- TripPieces.cpp - The trips of a loop that was taken apart ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "TripPieces.h"

#include "FoldScalars.h"
#include "KnownIndices.h"
#include "spyre/Dialect/Torch/IR/TorchEffects.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"
#include "spyre/Host/Evaluate.h"

#include <map>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;
namespace host = ::spyre::host;
namespace names = mlir::torch_reader::names;

bool torch_lowering::isWork(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  return op->getNumOperands() > 0 && !torch_reader::isPacking(op) &&
         !host::isView({name.data(), name.size()});
}

Trips::Trips(Operation *loop, Operation *before, ArrayRef<Operation *> ends)
    : loop(loop), numTrips(static_cast<int64_t>(ends.size()) + 1) {
  Block *block = loop->getBlock();
  int64_t trip = 0, work = 0;
  auto isEnd = [&](Operation *op) {
    return trip < static_cast<int64_t>(ends.size()) && ends[trip] == op;
  };
  // Trips without operations end where the one before does.
  while (isEnd(before))
    ++trip;
  for (auto it = before ? std::next(before->getIterator()) : block->begin(); &*it != loop; ++it) {
    ops.push_back(&*it);
    trips[&*it] = trip;
    work += isWork(&*it);
    while (isEnd(&*it))
      ++trip;
  }
  tripsInPiece = numTrips;
  if (work <= kMostInPlace)
    return;
  tripsInPiece = std::max<int64_t>(kMostInPiece * numTrips / work, 1);
  // Rather less in a piece than a rest behind the last one.
  for (int64_t fewer = tripsInPiece; fewer > tripsInPiece / 2; --fewer)
    if (numTrips % fewer == 0) {
      tripsInPiece = fewer;
      break;
    }
}

void Trips::eraseDead() {
  SmallVector<Operation *> alive;
  for (Operation *op : llvm::reverse(ops)) {
    bool isDead = op->use_empty() && op->getNumResults() > 0 && op->getNumRegions() == 0 &&
                  op->getName().getDialectNamespace() == "torch" && !torch_reader::hasEffect(op) &&
                  !writesInPlace(op);
    if (isDead)
      op->erase();
    else
      alive.push_back(op);
  }
  ops.assign(alive.rbegin(), alive.rend());
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// What distinguishes slices of a trip: the tensor, the dim, how many elements, with or
/// without the dim, and how many such ones the trip has before.
using Site = std::tuple<void *, int64_t, int64_t, int64_t, bool, int64_t>;
/// A slice in each trip, in order.
using Reads = SmallVector<std::pair<Operation *, int64_t>>;
} // namespace

void Trips::cutReads() {
  if (tripsInPiece >= numTrips || ops.empty())
    return;
  std::map<Site, Reads> sites;
  llvm::DenseMap<Operation *, KnownIndices> known;
  std::map<Site, int64_t> seen; // in the present trip
  int64_t trip = -1;
  for (Operation *op : ops) {
    if (trips[op] != trip) {
      trip = trips[op];
      seen.clear();
    }
    std::optional<KnownIndices> read = getKnownRead(op);
    Value source = read ? op->getOperand(0) : Value();
    if (!read || (source.getDefiningOp() && trips.contains(source.getDefiningOp())))
      continue;
    const Slice &slice = read->slice;
    Site site{source.getAsOpaquePointer(), slice.dim, slice.count, slice.step, read->dropsDim, 0};
    std::get<5>(site) = seen[site]++;
    sites[site].emplace_back(op, trip);
    known.try_emplace(op, *read);
  }
  // In the order of the program, not of addresses.
  SmallVector<Reads> all;
  for (auto &[site, reads] : sites)
    all.push_back(std::move(reads));
  llvm::sort(all, [](const Reads &a, const Reads &b) {
    return a.front().first->isBeforeInBlock(b.front().first);
  });
  OpBuilder atStart(ops.front());
  for (const Reads &reads : all) {
    // One in each trip, at equal distances.
    if (static_cast<int64_t>(reads.size()) != numTrips)
      continue;
    auto getStart = [&](int64_t k) { return known.find(reads[k].first)->second.slice.start; };
    const KnownIndices &first = known.find(reads.front().first)->second;
    auto [dim, start, count, step] = first.slice;
    int64_t distance = getStart(1) - start;
    bool isEven = distance != 0;
    for (int64_t k = 0; k < numTrips; ++k)
      isEven &= reads[k].second == k && getStart(k) == start + k * distance;
    if (!isEven || step != 1)
      continue;
    for (int64_t begin = 0; begin < numTrips; begin += tripsInPiece) {
      int64_t last = std::min(begin + tripsInPiece, numTrips) - 1;
      int64_t low = std::min(getStart(begin), getStart(last)),
              high = std::max(getStart(begin), getStart(last)) + count;
      Operation *model = reads[begin].first;
      Value part =
          buildTorchSlice(atStart, model->getLoc(), model->getOperand(0), dim, low, high - low);
      for (int64_t k = begin; k <= last; ++k) {
        Operation *op = reads[k].first;
        OpBuilder builder(op);
        int64_t at = getStart(k) - low;
        Value slice = first.dropsDim ? buildTorchSelect(builder, op->getLoc(), part, dim, at)
                                     : buildTorchSlice(builder, op->getLoc(), part, dim, at, count);
        if (Operation *made = slice.getDefiningOp(); made && slice != part) {
          made->setAttr(kTripAttr, builder.getUnitAttr());
          trips[made] = k;
        }
        op->getResult(0).replaceAllUsesWith(slice);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
struct Writing {
  Operation *op;
  KnownIndices known;
};
/// Elements of the dim that is written that one writing gives: where they begin in it.
struct Run {
  int source; ///< number of the writing; -1: nobody writes them
  int64_t start, count;
};
} // namespace

static std::optional<SmallVector<int64_t>> getSizes(Value value) {
  std::optional<ArrayRef<int64_t>> shape = torch_reader::getTensorShape(value.getType());
  if (!shape || llvm::is_contained(*shape, ShapedType::kDynamic))
    return std::nullopt;
  return SmallVector<int64_t>(*shape);
}

static Value withSizes(OpBuilder &builder, OperationState &state, Value like,
                       ArrayRef<int64_t> shape, bool isOfTrip) {
  auto type = cast<torch_reader::ValueTensorType>(like.getType());
  state.addTypes(torch_reader::ValueTensorType::get(type.getContext(), /*hasSizes=*/true, shape,
                                                    type.getDtype(), type.getSparsity()));
  if (isOfTrip)
    state.addAttribute(kTripAttr, builder.getUnitAttr());
  return builder.create(state)->getResult(0);
}

/// \p parts one behind the other in dim \p dim.
static Value concatenate(OpBuilder &builder, Location loc, ArrayRef<Value> parts, int64_t dim,
                         bool isOfTrip) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<int64_t> shape = *getSizes(parts.front());
  for (Value part : parts.drop_front())
    shape[dim] += (*getSizes(part))[dim];
  MLIRContext *context = builder.getContext();
  OperationState list(loc, names::listConstruct);
  list.addOperands(parts);
  list.addTypes(torch_reader::ListType::get(
      context, torch_reader::ValueTensorType::get(context, /*hasSizes=*/false, {}, Type(), {})));
  if (isOfTrip)
    list.addAttribute(kTripAttr, builder.getUnitAttr());
  OperationState state(loc, "torch.aten.cat");
  state.addOperands(builder.create(list)->getResult(0));
  state.addOperands(buildConstantInt(builder, loc, dim));
  return withSizes(builder, state, parts.front(), shape, isOfTrip);
}

/// \p base with \p part from element \p start of dim \p dim on.
static Value scatter(OpBuilder &builder, Location loc, Value base, Value part, int64_t dim,
                     int64_t start) {
  SmallVector<int64_t> shape = *getSizes(base);
  int64_t count = (*getSizes(part))[dim];
  if (count == shape[dim])
    return part;
  OperationState state(loc, "torch.aten.slice_scatter");
  state.addOperands({base, part});
  for (int64_t number : {dim, start, start + count, int64_t(1)})
    state.addOperands(buildConstantInt(builder, loc, number));
  return withSizes(builder, state, base, shape, /*isOfTrip=*/true);
}

Value Trips::joinWrites(Value value) {
  // From the last writing back to what was there before.
  constexpr int64_t kMostElements = 1 << 20;
  SmallVector<Writing> writings;
  std::optional<SmallVector<int64_t>> shape = getSizes(value);
  Value base = value;
  while (Operation *op = shape ? base.getDefiningOp() : nullptr) {
    std::optional<KnownIndices> known =
        trips.contains(op) ? getKnownWrite(op) : std::optional<KnownIndices>();
    if (!known || known->slice.step != 1 || getSizes(op->getOperand(0)) != shape ||
        (!writings.empty() &&
         (known->slice.dim != writings.front().known.slice.dim || !base.hasOneUse())))
      break;
    // Of the very sizes: what index_put repeats stays.
    Value written = op->getOperand(known->written);
    SmallVector<int64_t> wanted = *shape;
    if (known->dropsDim)
      wanted.erase(wanted.begin() + known->slice.dim);
    else
      wanted[known->slice.dim] = known->slice.count;
    if (getSizes(written) != wanted || torch_reader::getTensorElementType(written.getType()) !=
                                           torch_reader::getTensorElementType(value.getType()))
      break;
    writings.push_back({op, *known});
    base = op->getOperand(0);
  }
  if (writings.size() < 2)
    return value;
  int64_t dim = writings.front().known.slice.dim, extent = (*shape)[dim];
  if (extent > kMostElements)
    return value;
  // The last writing of an element counts.
  SmallVector<std::pair<int, int64_t>> owners(extent, {-1, 0});
  for (int i = static_cast<int>(writings.size()); i-- > 0;)
    for (int64_t k = 0; k < writings[i].known.slice.count; ++k)
      owners[writings[i].known.slice.start + k] = {i, k};
  SmallVector<Run> runs;
  for (auto [source, at] : owners) {
    bool goesOn = !runs.empty() && runs.back().source == source &&
                  (source < 0 || runs.back().start + runs.back().count == at);
    if (goesOn)
      ++runs.back().count;
    else
      runs.push_back({source, at, 1});
  }

  Location loc = value.getLoc();
  /// What runs [begin, end) of one piece give, behind the last of their writings.
  auto buildPart = [&](size_t begin, size_t end) {
    Operation *last = writings[runs[begin].source].op;
    for (size_t i = begin + 1; i < end; ++i)
      if (Operation *op = writings[runs[i].source].op; last->isBeforeInBlock(op))
        last = op;
    OpBuilder builder(last->getContext());
    builder.setInsertionPointAfter(last);
    SmallVector<Value> parts;
    for (const Run &run : ArrayRef(runs).slice(begin, end - begin)) {
      const Writing &writing = writings[run.source];
      Value part = writing.op->getOperand(writing.known.written);
      if (writing.known.dropsDim) {
        SmallVector<int64_t> whole = *shape;
        whole[dim] = 1;
        OperationState state(loc, "torch.aten.unsqueeze");
        state.addOperands({part, buildConstantInt(builder, loc, dim)});
        part = withSizes(builder, state, part, whole, /*isOfTrip=*/true);
      }
      parts.push_back(buildTorchSlice(builder, loc, part, dim, run.start, run.count));
    }
    return concatenate(builder, loc, parts, dim, /*isOfTrip=*/true);
  };
  OpBuilder atEnd(loop);
  int64_t at = 0;
  for (size_t i = 0; i < runs.size();) {
    if (runs[i].source < 0) {
      at += runs[i++].count;
      continue;
    }
    int64_t start = at;
    SmallVector<Value> parts;
    while (i < runs.size() && runs[i].source >= 0) {
      size_t begin = i;
      int64_t piece = getPiece(writings[runs[i].source].op);
      for (;
           i < runs.size() && runs[i].source >= 0 && getPiece(writings[runs[i].source].op) == piece;
           ++i)
        at += runs[i].count;
      parts.push_back(buildPart(begin, i));
    }
    base = scatter(atEnd, loc, base, concatenate(atEnd, loc, parts, dim, /*isOfTrip=*/false), dim,
                   start);
  }
  return base;
}
