//===- LayoutCopies.cpp - Copies that make operands readable --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "LayoutCopies.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

static int64_t getElements(Value value) {
  return ::spyre::getElementsPerStick(getLayout(value).getFormat());
}

static RankedTensorType getRanked(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Logical order with \p stick (a logical dim, or -1: sparse) moved to the end.
static std::vector<int> getOrderWithStick(int64_t rank, int64_t stick) {
  std::vector<int> order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != stick)
      order.push_back(d);
  order.push_back(stick);
  return order;
}

LayoutAttr mlir::spyre::makeLayout(RankedTensorType type, int64_t stick) {
  ::spyre::layout::TensorLayout layout;
  layout.shape.assign(type.getShape().begin(), type.getShape().end());
  layout.format = *getDeviceFormat(type.getElementType());
  if (type.getRank() > 0)
    layout.dimOrder = getOrderWithStick(type.getRank(), stick);
  return LayoutAttr::get(type.getContext(), layout);
}

void mlir::spyre::setLayout(Value value, LayoutAttr layout) {
  RankedTensorType type = getRanked(value);
  value.setType(RankedTensorType::get(type.getShape(), type.getElementType(), layout));
}

int64_t mlir::spyre::getNumElementsInMemory(Value value, int64_t stick) {
  auto type = RankedTensorType::get(getShape(value), getRanked(value).getElementType());
  return ::spyre::layout::getNumElementsInMemory(
      makeLayout(type, stick).getTensorLayout(type.getShape()));
}

bool mlir::spyre::canRestickify(Value value) {
  ::spyre::DataFormat format = getLayout(value).getFormat();
  return ::spyre::lookupForm(::spyre::getOpFuncInfo(::spyre::OpFunc::Restickify),
                             std::span(&format, 1)) != nullptr;
}

//===----------------------------------------------------------------------===//
// Single movements
//===----------------------------------------------------------------------===//

void LayoutCopies::setInsertionAfter(Value value) {
  if (Operation *def = value.getDefiningOp())
    builder.setInsertionPointAfter(def);
  else {
    // Behind the numbers that fills read.
    Block &body = func.getBody().front();
    Block::iterator it = body.begin();
    while (it != body.end() && isa<ConstantOp>(*it))
      ++it;
    builder.setInsertionPoint(&body, it);
  }
}

Value LayoutCopies::getZero(Type elementType) {
  Value &zero = zeros[elementType];
  if (!zero) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&func.getBody().front());
    auto type = RankedTensorType::get({}, elementType);
    auto encoded = RankedTensorType::get({}, elementType, makeLayout(type, -1));
    auto value = DenseElementsAttr::get(type, builder.getZeroAttr(elementType));
    zero = ConstantOp::create(builder, func.getLoc(), encoded, value);
    tails.update(zero.getDefiningOp());
  }
  return zero;
}

Value LayoutCopies::buildIdentity(Location loc, Value source, ArrayRef<int64_t> extents,
                                  AffineMap from, RankedTensorType resultType, AffineMap to,
                                  Value init) {
  DeviceOpSpec spec = DeviceOpSpec::copy(source, extents, from, to);
  DeviceOpInterface op = buildDeviceOp(builder, loc, spec.withOutput(init, resultType));
  tails.update(op);
  return op.getResultTensor();
}

Value LayoutCopies::getPadded(Value value, int64_t dim) {
  if (Value known = padded.lookup({value, dim}))
    return known;
  RankedTensorType type = getRanked(value);
  LayoutAttr layout = getLayout(value);
  int64_t extent = type.getDimSize(dim);
  auto whole = static_cast<int64_t>(llvm::alignTo(extent, getElements(value)));
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = whole;
  auto paddedType = RankedTensorType::get(shape, type.getElementType());
  paddedType = RankedTensorType::get(shape, type.getElementType(),
                                     makeLayout(paddedType, getStickDim(layout)));
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(value);

  unsigned rank = type.getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  if (extent == whole) // whole sticks already; what lies behind is not read
    return padded[{value, dim}] =
               buildIdentity(value.getLoc(), value, shape, identity, paddedType, identity);
  // Zeros beyond the value, then the value.
  auto fill = [&] { return buildZeros(value.getLoc(), paddedType, dim, extent); };
  if (writeInto(value, paddedType, fill))
    return padded[{value, dim}] = value;
  Value filled = fill();
  return padded[{value, dim}] = buildIdentity(value.getLoc(), value, type.getShape(), identity,
                                              paddedType, identity, filled);
}

Value LayoutCopies::buildZeros(Location loc, RankedTensorType type, int64_t dim, int64_t begin) {
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<int64_t> rest(type.getShape());
  rest[dim] -= begin;
  SmallVector<AffineExpr> shifted(identity.getResults());
  shifted[dim] = shifted[dim] + begin;
  return buildIdentity(loc, getZero(type.getElementType()), rest,
                       AffineMap::get(type.getRank(), 0, builder.getContext()), type,
                       AffineMap::get(type.getRank(), 0, shifted, builder.getContext()));
}

bool LayoutCopies::canGrow(Value value) const {
  // A caller does not expect a longer tensor, nor does who updates it.
  return isThorough && llvm::all_of(value.getUses(), [&](OpOperand &use) {
           auto reader = dyn_cast<DeviceOpInterface>(use.getOwner());
           return reader && reader.getOutput() != value;
         });
}

bool LayoutCopies::writeInto(Value value, RankedTensorType paddedType, function_ref<Value()> fill) {
  auto writer = value.getDefiningOp<DeviceOpInterface>();
  if (!writer || !canGrow(value) || writer.getOutput() || isRestickify(writer) ||
      !getLayout(value).getTensorLayout(getShape(value)).paddedShape.empty())
    return false;
  builder.setInsertionPoint(writer);
  if (Value filled = fill()) {
    unsigned numInputs = writer.getInputs().size();
    writer->insertOperands(numInputs, filled);
    writer->setAttr("operandSegmentSizes",
                    builder.getDenseI32ArrayAttr({static_cast<int32_t>(numInputs), 1, 0}));
  }
  value.setType(paddedType);
  tails.update(writer);
  return true;
}

bool LayoutCopies::growStickDim(Value value, int64_t dim, int64_t extent) {
  RankedTensorType type = getRanked(value);
  SmallVector<int64_t> shape(type.getShape());
  auto begin =
      static_cast<int64_t>(llvm::alignTo(std::exchange(shape[dim], extent), getElements(value)));
  auto grown = RankedTensorType::get(shape, type.getElementType());
  grown = RankedTensorType::get(shape, type.getElementType(), makeLayout(grown, dim));
  OpBuilder::InsertionGuard guard(builder);
  return writeInto(value, grown, [&] {
    return begin < extent ? buildZeros(value.getLoc(), grown, dim, begin) : Value();
  });
}

Value LayoutCopies::buildRestickify(Location loc, Value source, int64_t newStick) {
  RankedTensorType type = getRanked(source);
  LayoutAttr layout = getLayout(source);
  int64_t elements = getElements(source);
  int64_t oldStick = getStickDim(layout);
  // The dim that leaves the stick is padded in memory: whole sticks are written.
  ::spyre::layout::TensorLayout target;
  target.shape.assign(type.getShape().begin(), type.getShape().end());
  target.format = layout.getFormat();
  target.dimOrder = getOrderWithStick(type.getRank(), newStick);
  target.paddedShape = target.shape;
  for (int64_t dim : {newStick, oldStick})
    target.paddedShape[dim] = static_cast<int64_t>(llvm::alignTo(target.shape[dim], elements));
  if (!mlir::spyre::canRestickify(source) && !failed) {
    failed = true;
    emitError(loc) << "a value of type "
                   << RankedTensorType::get(type.getShape(), type.getElementType())
                   << " would have to be moved to another stick dim; that is not supported but for "
                      "16-bit values";
  }
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  DeviceOpSpec spec =
      DeviceOpSpec::move(OpFunc::Restickify, source, type.getShape(), identity, identity);
  spec.resultType = RankedTensorType::get(type.getShape(), type.getElementType(),
                                          LayoutAttr::get(builder.getContext(), target));
  DeviceOpInterface op = buildDeviceOp(builder, loc, spec);
  tails.update(op);
  return op.getResultTensor();
}

Value LayoutCopies::getWithStick(Value value, int64_t dim) {
  if (getStickDim(getLayout(value)) == dim)
    return value;
  auto key = std::make_pair(value, dim);
  if (Value known = restickified.lookup(key))
    return known;
  RankedTensorType type = getRanked(value);
  if (undecided.erase(value)) {
    // The caller lays a weight out as its first reader wants it.
    setLayout(value,
              makeLayout(RankedTensorType::get(type.getShape(), type.getElementType()), dim));
    return value;
  }
  Value source = value;
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    // The host lays a constant out as its readers want it.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(constant);
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    auto laidOut =
        RankedTensorType::get(type.getShape(), type.getElementType(), makeLayout(plain, dim));
    auto copy = ConstantOp::create(builder, constant.getLoc(), laidOut, constant.getValue());
    copy->setDiscardableAttrs(constant->getDiscardableAttrDictionary());
    tails.update(copy);
    return restickified[key] = copy.getResult();
  }
  if (getStickDim(getLayout(value)) < 0) {
    // A sparse tensor gets a unit dim for its stick, so that one dim can leave it.
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(1);
    auto unit = RankedTensorType::get(shape, type.getElementType());
    unit = RankedTensorType::get(shape, type.getElementType(), makeLayout(unit, shape.size() - 1));
    OpBuilder::InsertionGuard guard(builder);
    setInsertionAfter(value);
    unsigned rank = type.getRank();
    AffineMap identity = builder.getMultiDimIdentityMap(rank);
    source = buildIdentity(value.getLoc(), value, type.getShape(), identity, unit,
                           identity.insertResult(builder.getAffineConstantExpr(0), rank));
  }
  if (!canRestickify(value))
    return restickified[key] = moveWide(source, dim);
  if (getShape(source)[dim] % getElements(value))
    source = getPadded(source, dim);
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(source);
  return restickified[key] = buildRestickify(value.getLoc(), source, dim);
}

LayoutAttr LayoutCopies::getLayoutWithStick(Value value, int64_t dim) const {
  int64_t stick = getStickDim(getLayout(value));
  if (stick == dim)
    return getLayout(value);
  RankedTensorType type = getRanked(value);
  LayoutAttr plain = makeLayout(RankedTensorType::get(type.getShape(), type.getElementType()), dim);
  if (stick < 0 || value.getDefiningOp<ConstantOp>() || undecided.contains(value))
    return plain;
  if (!canRestickify(value))
    return getWideLayoutWithStick(value, dim);
  // Both dims are padded to whole blocks (buildRestickify).
  ::spyre::layout::TensorLayout padded = plain.getTensorLayout(type.getShape());
  padded.paddedShape = padded.shape;
  for (int64_t d : {dim, stick})
    padded.paddedShape[d] =
        static_cast<int64_t>(llvm::alignTo(padded.shape[d], getElements(value)));
  return LayoutAttr::get(type.getContext(), padded);
}

int64_t LayoutCopies::getWithStickCost(Value value, int64_t dim) const {
  int64_t stick = getStickDim(getLayout(value));
  if (stick == dim || restickified.count({value, dim}) || value.getDefiningOp<ConstantOp>() ||
      undecided.contains(value))
    return 0;
  if (!canRestickify(value))
    return getWideCost(value, dim);
  int64_t elements = getElements(value);
  // What is moved: whole blocks of stick by stick.
  int64_t moved = stick < 0 ? elements : 1;
  for (auto [d, extent] : llvm::enumerate(getShape(value)))
    moved *= static_cast<int64_t>(d) == dim || static_cast<int64_t>(d) == stick
                 ? static_cast<int64_t>(llvm::alignTo(extent, elements))
                 : extent;
  int64_t copies = 1 + (stick < 0) + (getShape(value)[dim] % elements != 0);
  return copies * (2 * moved + kCopyOverhead);
}

Value LayoutCopies::getSpread(Value value) {
  if (Value known = spread.lookup(value))
    return known;
  RankedTensorType type = getRanked(value);
  LayoutAttr layout = getLayout(value);
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape{getElements(value)};
  llvm::append_range(shape, type.getShape());
  auto wide = RankedTensorType::get(shape, type.getElementType());
  wide = RankedTensorType::get(shape, type.getElementType(),
                               makeLayout(wide, getStickDim(layout) + 1));
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(value);
  Value repeated = buildIdentity(value.getLoc(), value, shape,
                                 builder.getMultiDimIdentityMap(rank + 1).getSubMap(
                                     llvm::to_vector(llvm::seq<unsigned>(1, rank + 1))),
                                 wide, builder.getMultiDimIdentityMap(rank + 1));
  return spread[value] = getWithStick(repeated, 0);
}

bool LayoutCopies::canReadSpread(Value value, AffineMap map, ArrayRef<int64_t> extents) const {
  SmallVector<int64_t> shape{getElements(value)};
  llvm::append_range(shape, getShape(value));
  auto wide = RankedTensorType::get(shape, getRanked(value).getElementType());
  AffineExpr lane = getAffineConstantExpr(0, map.getContext());
  return getStickAccess(shape, makeLayout(wide, 0), map.insertResult(lane, 0), extents).kind ==
         StickAccess::Lane0;
}

int64_t LayoutCopies::getSpreadCost(Value value) const {
  if (spread.count(value))
    return 0;
  if (!canMove(value))
    return kNoFormCost;
  int64_t elements = getElements(value);
  return (canRestickify(value) ? 2 : kWidePasses) *
         (2 * elements * getNumElementsInMemory(value, getStickDim(getLayout(value))) +
          kCopyOverhead);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Attribute LayoutCopies::getPartKey(AffineMap map, ArrayRef<int64_t> extents, int64_t stick,
                                   bool zeroTail) const {
  Builder b(map.getContext());
  return b.getArrayAttr({AffineMapAttr::get(map), b.getDenseI64ArrayAttr(extents),
                         b.getI64IntegerAttr(stick), b.getBoolAttr(zeroTail)});
}

LayoutCopies::Cut LayoutCopies::planCut(Value value, AffineMap map, ArrayRef<int64_t> extents,
                                        int64_t stick, bool zeroTail) const {
  int64_t elements = getElements(value);
  // Elements of the box with `dim` in the stick, and what another restickify costs.
  auto boxSize = [&](int64_t dim) {
    int64_t size = dim < 0 ? elements : 1;
    for (auto [d, extent] : llvm::enumerate(extents))
      size *= static_cast<int64_t>(d) == dim ? static_cast<int64_t>(llvm::alignTo(extent, elements))
                                             : extent;
    return size;
  };
  auto restickifyCost = [&](int64_t from, int64_t to) {
    if (!canMove(value))
      return kNoFormCost / elements;
    int64_t size = from < 0 ? elements : 1;
    for (auto [d, extent] : llvm::enumerate(extents))
      size *= static_cast<int64_t>(d) == from || static_cast<int64_t>(d) == to
                  ? static_cast<int64_t>(llvm::alignTo(extent, elements))
                  : extent;
    int64_t copies = 1 + (from < 0) + (to >= 0 && extents[to] % elements != 0);
    if (!canRestickify(value))
      copies += kWidePasses;
    return copies * (2 * size + kCopyOverhead);
  };
  std::optional<Cut> best;
  auto offer = [&](Cut cut) {
    cut.cost += 2 * boxSize(cut.middle) + kCopyOverhead;
    if (cut.middle != stick)
      cut.cost += stick >= 0 ? restickifyCost(cut.middle, stick)
                             : elements * restickifyCost(cut.middle, -1);
    if (!best || cut.cost < best->cost)
      best = cut;
  };
  RankedTensorType plain =
      RankedTensorType::get(getShape(value), getRanked(value).getElementType());
  int64_t current = getStickDim(getLayout(value));
  for (int64_t logical = 0, rank = plain.getRank(); logical < rank; ++logical) {
    LayoutAttr layout = getLayoutWithStick(value, logical);
    StickAccess access = getStickAccess(plain.getShape(), layout, map, extents);
    if (access.kind != StickAccess::Dim)
      continue;
    // What lies behind a part in its last stick is copied with it.
    if (zeroTail && static_cast<int64_t>(access.dim) == stick && extents[stick] % elements)
      continue;
    offer({access.dim, logical, getWithStickCost(value, logical)});
  }
  Cut single;
  if (current < 0 &&
      getStickAccess(plain.getShape(), getLayout(value), map, extents).kind == StickAccess::Lane0)
    offer(single);
  else if (current >= 0 && !best) {
    single.cost = getSpreadCost(value);
    offer(single);
  }
  return best ? *best : single;
}

/// The first coordinate and the number of places, whole steps included, that \p expr
/// takes; nothing where it is a dim plus a constant, or no sum of steps.
static std::optional<std::pair<int64_t, int64_t>>
getSteppedRange(const ::spyre::layout::IndexExpr &expr, ArrayRef<int64_t> extents) {
  if (expr.digits.empty() || (expr.digits.size() == 1 && expr.digits.front().coefficient == 1))
    return std::nullopt;
  int64_t places = 1;
  for (const ::spyre::layout::Digit &digit : expr.digits) {
    if (digit.divisor != 1 || digit.modulus != 0 || digit.coefficient < 1)
      return std::nullopt;
    places = std::max(places, digit.coefficient * extents[digit.input]);
  }
  return std::make_pair(expr.constant, places);
}

Value LayoutCopies::splitSteps(Value value, AffineMap &map, ArrayRef<int64_t> extents, unsigned dim,
                               const ::spyre::layout::IndexExpr &expr) {
  std::vector<::spyre::layout::Digit> digits = expr.digits;
  llvm::sort(digits, [](const auto &a, const auto &b) { return a.coefficient > b.coefficient; });
  if (digits.size() < 2 || digits[0].coefficient % digits[1].coefficient == 0 ||
      llvm::any_of(digits, [](const auto &d) {
        return d.divisor != 1 || d.modulus != 0 || d.coefficient < 1;
      }))
    return {};
  // [..., n, ...] at c * a + rest becomes [..., a, rest, ...].
  int64_t rest = 1, count = extents[digits[0].input];
  AffineExpr outer = builder.getAffineDimExpr(digits[0].input);
  for (size_t i = 1; i < digits.size(); ++i)
    rest += digits[i].coefficient * (extents[digits[i].input] - 1);
  if (rest > digits[0].coefficient)
    return {}; // the runs overlap
  SmallVector<int64_t> box;
  SmallVector<AffineExpr> from, read;
  for (unsigned d = 0; d < map.getNumResults(); ++d) {
    AffineExpr place = builder.getAffineDimExpr(box.size());
    if (d != dim) {
      from.push_back(place);
      read.push_back(map.getResult(d));
      box.push_back(getShape(value)[d]);
      continue;
    }
    from.push_back(place * digits[0].coefficient + builder.getAffineDimExpr(box.size() + 1) +
                   expr.constant);
    read.push_back(outer);
    read.push_back(map.getResult(d) - outer * digits[0].coefficient - expr.constant);
    box.push_back(count);
    box.push_back(rest);
  }
  int64_t stick = -1;
  for (auto [d, extent] : llvm::enumerate(box))
    if (d != dim && d != dim + 1 && (stick < 0 || extent > box[stick]))
      stick = d;
  Part part = getPart(value, AffineMap::get(box.size(), 0, from, builder.getContext()), box, stick);
  map = part.map.compose(AffineMap::get(map.getNumDims(), 0, read, builder.getContext()));
  return part.value;
}

Value LayoutCopies::getRegion(Value value, AffineMap &map, ArrayRef<int64_t> extents) {
  FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, extents);
  if (mlir::failed(index))
    return {};
  RankedTensorType type = getRanked(value);
  unsigned rank = type.getRank();
  for (unsigned dim = 0; dim < rank; ++dim)
    if (Value split = splitSteps(value, map, extents, dim, index->results[dim]))
      return split;
  SmallVector<int64_t> box(type.getShape()), shape(type.getShape());
  SmallVector<AffineExpr> from, rest;
  llvm::SmallBitVector stepped(rank);
  bool changes = false;
  for (unsigned dim = 0; dim < rank; ++dim) {
    AffineExpr d = builder.getAffineDimExpr(dim);
    from.push_back(d);
    rest.push_back(map.getResult(dim));
    auto range = getSteppedRange(index->results[dim], extents);
    if (!range)
      continue;
    auto [low, high] = ::spyre::layout::getRange(index->results[dim], index->extents);
    stepped.set(dim);
    box[dim] = high - low + 1;
    shape[dim] = range->second;
    from.back() = d + range->first;
    rest.back() = map.getResult(dim) - range->first;
    changes = true;
  }
  if (!changes)
    return {};
  // The largest other dim is in the stick while the runs are cut out.
  int64_t stick = -1;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (!stepped[dim] && (stick < 0 || box[dim] > box[stick]))
      stick = dim;
  Part part = getPart(value, AffineMap::get(rank, 0, from, builder.getContext()), box, stick);
  Value zero = getZero(type.getElementType());
  auto grown = RankedTensorType::get(shape, type.getElementType());
  grown = RankedTensorType::get(shape, type.getElementType(), makeLayout(grown, stick));
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(part.value);
  map = AffineMap::get(map.getNumDims(), 0, rest, builder.getContext());
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  // Copies of the whole read what lies behind the last step, too.
  Value filled;
  if (shape != box)
    filled = buildIdentity(value.getLoc(), zero, shape,
                           AffineMap::get(rank, 0, builder.getContext()), grown, identity);
  Value region = buildIdentity(value.getLoc(), part.value, box, part.map, grown, identity, filled);
  regions.insert(region);
  return region;
}

bool LayoutCopies::needsRegion(Value value, AffineMap map, ArrayRef<int64_t> extents,
                               const Cut &cut) const {
  // A copy that is a region already has been made as readable as can be.
  if (regions.contains(value) || (cut.middle >= 0 && cut.cost < kNoFormCost))
    return false;
  return getStickDim(getLayout(value)) >= 0 ||
         getStickAccess(getShape(value), getLayout(value), map, extents).kind ==
             StickAccess::Unreadable;
}

int64_t LayoutCopies::getPartCost(Value value, AffineMap map, ArrayRef<int64_t> extents,
                                  int64_t stick, bool zeroTail) const {
  if (parts.count({value, getPartKey(map, extents, stick, zeroTail)}))
    return 0;
  Cut cut = planCut(value, map, extents, stick, zeroTail);
  // Cutting the runs out first (getRegion) takes about as much again.
  if (needsRegion(value, map, extents, cut))
    if (FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, extents); succeeded(index))
      for (const ::spyre::layout::IndexExpr &expr : index->results)
        if (getSteppedRange(expr, extents) && canMove(value))
          return 6 *
                 (getNumElementsInMemory(value, getStickDim(getLayout(value))) + kCopyOverhead) * 2;
  return cut.cost;
}

Part LayoutCopies::getPart(Value value, AffineMap map, ArrayRef<int64_t> extents, int64_t stick,
                           bool zeroTail) {
  auto key = std::make_pair(value, getPartKey(map, extents, stick, zeroTail));
  if (auto known = parts.find(key); known != parts.end())
    return known->second;
  Cut cut = planCut(value, map, extents, stick, zeroTail);
  Value source = value;
  AffineMap from = map;
  if (needsRegion(value, map, extents, cut))
    if (Value region = getRegion(value, from, extents)) {
      Part part = getPart(region, from, extents, stick, zeroTail);
      return parts[key] = part;
    }
  Location loc = value.getLoc();
  if (cut.middle >= 0) {
    source = getWithStick(value, cut.logical);
    if (getRanked(source).getRank() > getRanked(value).getRank())
      from = map.insertResult(builder.getAffineConstantExpr(0), map.getNumResults());
  } else if (getStickDim(getLayout(value)) >= 0) {
    source = getSpread(value);
    from = map.insertResult(builder.getAffineConstantExpr(0), 0);
  }
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(source);
  unsigned rank = extents.size();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  auto boxType = RankedTensorType::get(extents, getRanked(value).getElementType());
  boxType =
      RankedTensorType::get(extents, boxType.getElementType(), makeLayout(boxType, cut.middle));
  Value box = buildIdentity(loc, source, extents, from, boxType, identity);
  Part part{box, identity};
  if (cut.middle != stick && stick >= 0) {
    part.value = getWithStick(box, stick);
    if (getRanked(part.value).getRank() > static_cast<int64_t>(rank))
      part.map = identity.insertResult(builder.getAffineConstantExpr(0), rank);
  } else if (cut.middle != stick) {
    part.value = getSpread(box);
    part.map = identity.insertResult(builder.getAffineConstantExpr(0), 0);
  }
  return parts[key] = part;
}
