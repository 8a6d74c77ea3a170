//===- KtdpOps.cpp - Operations of the ktdp dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders, syntax, rules and folders of views, tiles, loads and stores.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "Subscripts.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::ktdp;

#define GET_OP_CLASSES
#include "spyre/Dialect/KTIR/IR/KtdpOps.cpp.inc"

/// A set or map whose numbers can be worked with.
template <typename SetOrMap>
static LogicalResult verifyAffine(Operation *op, StringRef name, SetOrMap value) {
  if (isAffine(value))
    return success();
  return op->emitOpError() << name
                           << " multiplies unknowns, or divides by what is no positive number";
}

/// What direct and indirect tiles share: the order is a permutation of the set's dims,
/// and the tile has the set's box in that order as its shape, or as many places as a set
/// that is no box has points.
static LogicalResult verifyTile(Operation *op, AccessTileType tile, StringRef setName,
                                IntegerSet set, StringRef orderName, AffineMap order,
                                size_t numSymbols) {
  size_t rank = set.getNumDims();
  if (set.getNumSymbols() != numSymbols)
    return op->emitOpError() << setName << " has " << set.getNumSymbols() << " symbols, "
                             << numSymbols << " are given";
  if (failed(verifyAffine(op, setName, set)))
    return failure();
  if (order.getNumDims() != rank || order.getNumSymbols() || !order.isPermutation())
    return op->emitOpError() << orderName << " is no permutation of " << rank << " dims";
  ArrayRef<int64_t> shape = tile.getShape();
  if (shape.size() != rank)
    return op->emitOpError() << "makes a tile of rank " << shape.size() << " of a set of " << rank
                             << " dims";
  // A set with gaps has its points in the tile one after another: only their number counts.
  if (!isBox(set)) {
    std::optional<int64_t> points = countPoints(set);
    if (points && tile.hasStaticShape() && tile.getNumElements() != *points)
      return op->emitOpError() << "has a tile of " << tile.getNumElements() << " places, "
                               << setName << " has " << *points;
    return success();
  }
  SmallVector<DimBounds> bounds = getBounds(set);
  // Dim k of the tile is the dim that the order's result k names.
  for (auto [k, size] : llvm::enumerate(shape)) {
    std::optional<int64_t> extent = bounds[order.getDimPosition(k)].getExtent();
    if (!ShapedType::isDynamic(size) && extent && *extent != size)
      return op->emitOpError() << "dim " << k << " of the tile has size " << size << ", its set "
                               << *extent << " places";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ktdp.get_compute_tile_id
//===----------------------------------------------------------------------===//

LogicalResult GetComputeTileIdOp::verify() {
  size_t count = getCoordinates().size();
  if (count < 1 || count > 3)
    return emitOpError() << "has " << count << " results; a grid has one to three dims";
  auto function = (*this)->getParentOfType<FunctionOpInterface>();
  if (!function || !function->hasAttr(kGridAttr))
    return success();
  std::optional<SmallVector<int64_t>> grid = getGrid(function);
  if (!grid)
    return success();
  if (count > grid->size())
    return emitOpError() << "has " << count << " results, the function's grid has " << grid->size()
                         << " dims";
  for (auto [i, size] : llvm::enumerate(ArrayRef(*grid).drop_front(count)))
    if (size != 1)
      return emitOpError() << "has " << count << " results, the function's grid has "
                           << grid->size() << " dims and " << size << " compute tiles along dim "
                           << count + i;
  return success();
}

//===----------------------------------------------------------------------===//
// ktdp.construct_memory_view
//===----------------------------------------------------------------------===//

void ConstructMemoryViewOp::build(OpBuilder &builder, OperationState &state, MemRefType type,
                                  Value offset, ArrayRef<int64_t> strides, MemorySpaceKind space) {
  assert(type.hasStaticShape() && "dynamic sizes have operands");
  MLIRContext *context = builder.getContext();
  build(builder, state, type, offset, /*sizes=*/ValueRange(), /*strides=*/ValueRange(),
        builder.getDenseI64ArrayAttr(type.getShape()), builder.getDenseI64ArrayAttr(strides),
        IntegerSetAttr::get(getBoxSet(type.getShape(), context)),
        MemorySpaceAttr::get(context, space, -1));
}

LogicalResult ConstructMemoryViewOp::verify() {
  MemRefType type = getType();
  size_t rank = type.getRank();
  auto checkList = [&](StringRef name, ArrayRef<int64_t> numbers, size_t operands) {
    if (numbers.size() != rank) {
      emitOpError() << "has " << numbers.size() << " " << name << " for a view of rank " << rank;
      return false;
    }
    if (static_cast<size_t>(llvm::count(numbers, ShapedType::kDynamic)) != operands) {
      emitOpError() << "has " << operands << " operands for its dynamic " << name;
      return false;
    }
    for (int64_t number : numbers)
      if (number < 0 && !ShapedType::isDynamic(number)) {
        emitOpError() << name << " cannot be negative, but there is " << number;
        return false;
      }
    return true;
  };
  if (!checkList("sizes", getStaticSizes(), getSizes().size()) ||
      !checkList("strides", getStaticStrides(), getStrides().size()))
    return failure();
  if (getStaticSizes() != type.getShape())
    return emitOpError() << "sizes are not the shape of " << type;
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return emitOpError() << "the memref type has neither layout nor memory space; strides and "
                            "space are the operation's";
  std::optional<IntegerSet> set = getCoordinateSet();
  if (!set)
    return success();
  if (set->getNumDims() != rank)
    return emitOpError() << "coordinate_set has " << set->getNumDims()
                         << " dims for a view of rank " << rank;
  if (set->getNumSymbols() != getSizes().size())
    return emitOpError() << "coordinate_set has " << set->getNumSymbols() << " symbols for "
                         << getSizes().size() << " dynamic sizes";
  return verifyAffine(*this, "coordinate_set", *set);
}

IntegerSet ConstructMemoryViewOp::getOwnedSet() {
  std::optional<IntegerSet> set = getCoordinateSet();
  return set ? *set : getBoxSet(getStaticSizes(), getContext());
}

//===----------------------------------------------------------------------===//
// ktdp.construct_distributed_memory_view
//===----------------------------------------------------------------------===//

LogicalResult ConstructDistributedMemoryViewOp::verify() {
  if (getParts().empty())
    return emitOpError() << "has no parts";
  auto type = cast<MemRefType>(getResult().getType());
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return emitOpError() << "the memref type has neither layout nor memory space; they are the "
                            "parts'";
  for (auto [i, value] : llvm::enumerate(getParts())) {
    auto part = cast<MemRefType>(value.getType());
    if (part.getElementType() != type.getElementType() || part.getRank() != type.getRank())
      return emitOpError() << "part " << i << " is " << value.getType()
                           << ", which is not of the rank and element type of " << type;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!part.isDynamicDim(dim) && !type.isDynamicDim(dim) &&
          part.getDimSize(dim) > type.getDimSize(dim))
        return emitOpError() << "part " << i << " has " << part.getDimSize(dim)
                             << " places along dim " << dim << ", the view has "
                             << type.getDimSize(dim);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ktdp.construct_access_tile
//===----------------------------------------------------------------------===//

void ConstructAccessTileOp::build(OpBuilder &builder, OperationState &state, Value base,
                                  AffineMap baseMap, ValueRange indices, ArrayRef<int64_t> shape) {
  MLIRContext *context = builder.getContext();
  build(builder, state, AccessTileType::get(context, shape), base, indices,
        /*symbols=*/ValueRange(), AffineMapAttr::get(baseMap),
        IntegerSetAttr::get(getBoxSet(shape, context)),
        AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(shape.size(), context)));
}

/// `symbols(...)`, an attribute dictionary and `:`. Attributes of a wrong kind are told at
/// once: what follows relies on them.
static ParseResult parseSymbolsAndAttributes(OpAsmParser &parser, OperationState &state,
                                             SmallVectorImpl<SubscriptParser::Operand> &symbols) {
  if (succeeded(parser.parseOptionalKeyword("symbols")) &&
      parser.parseOperandList(symbols, AsmParser::Delimiter::Paren))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseOptionalAttrDict(state.attributes) ||
                 failed(state.name.verifyInherentAttrs(state.attributes,
                                                       [&] { return parser.emitError(loc); })) ||
                 parser.parseColon());
}

/// Adds attributes that the syntax writes in another way than in the dictionary.
static ParseResult addWritten(OpAsmParser &parser, OperationState &state, StringAttr name,
                              StringRef how, Attribute value) {
  if (state.attributes.get(name))
    return parser.emitError(parser.getNameLoc()) << name.getValue() << " is written as " << how;
  state.addAttribute(name, value);
  return success();
}

ParseResult ConstructAccessTileOp::parse(OpAsmParser &parser, OperationState &state) {
  SubscriptParser::Operand base;
  SmallVector<SubscriptParser::Operand> symbols;
  SubscriptParser subscripts(parser);
  Type baseType;
  // Both `!ktdp.access_tile<...>` and `<...>`.
  AccessTileType tile;
  if (parser.parseOperand(base) || subscripts.parseDirect() ||
      parseSymbolsAndAttributes(parser, state, symbols) || parser.parseType(baseType) ||
      parser.parseArrow() || parser.parseCustomTypeWithFallback(tile))
    return failure();
  Builder &b = parser.getBuilder();
  if (addWritten(parser, state, getBaseMapAttrName(state.name), "subscripts",
                 AffineMapAttr::get(subscripts.getMaps().front())))
    return failure();
  state.addAttribute(getOperandSegmentSizesAttrName(state.name),
                     b.getDenseI32ArrayAttr({1, static_cast<int32_t>(subscripts.values.size()),
                                             static_cast<int32_t>(symbols.size())}));
  state.addTypes(tile);
  Type index = b.getIndexType();
  return failure(parser.resolveOperand(base, baseType, state.operands) ||
                 parser.resolveOperands(subscripts.values, index, state.operands) ||
                 parser.resolveOperands(symbols, index, state.operands));
}

void ConstructAccessTileOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBase();
  SmallVector<Value> values(getIndices());
  SubscriptPrinter(printer, values).printList(getBaseMap());
  if (!getSymbols().empty())
    printer << " symbols(" << getSymbols() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getBaseMapAttrName(), getOperandSegmentSizesAttrName()});
  printer << " : " << getBase().getType() << " -> " << getResult().getType();
}

LogicalResult ConstructAccessTileOp::verify() {
  auto base = cast<ShapedType>(getBase().getType());
  AffineMap map = getBaseMap();
  IntegerSet set = getAccessTileSet();
  size_t rank = base.getRank();
  if (map.getNumResults() != rank)
    return emitOpError() << "has " << map.getNumResults() << " subscripts for a base of rank "
                         << rank;
  if (map.getNumDims() != getIndices().size() || map.getNumSymbols())
    return emitOpError() << "base_map takes " << map.getNumInputs() << " values, there are "
                         << getIndices().size();
  if (failed(verifyAffine(*this, "base_map", map)))
    return failure();
  if (set.getNumDims() != rank)
    return emitOpError() << "access_tile_set has " << set.getNumDims()
                         << " dims for a base of rank " << rank;
  for (auto [i, dim] : llvm::enumerate(getBounds(set))) {
    std::optional<int64_t> extent = dim.getExtent();
    if (extent && !base.isDynamicDim(i) && *extent > base.getDimSize(i))
      return emitOpError() << "access_tile_set has " << *extent << " places along dim " << i
                           << ", the base has " << base.getDimSize(i);
  }
  return verifyTile(*this, getResult().getType(), "access_tile_set", set, "access_tile_order",
                    getAccessTileOrder(), getSymbols().size());
}

//===----------------------------------------------------------------------===//
// ktdp.construct_indirect_access_tile
//===----------------------------------------------------------------------===//

ParseResult ConstructIndirectAccessTileOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<SubscriptParser::Operand> variables, symbols;
  SmallVector<Location> locations;
  SubscriptParser::Operand base;
  if (parser.parseKeyword("intermediate_variables") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&] {
                                       SMLoc loc = parser.getCurrentLocation();
                                       locations.push_back(parser.getEncodedSourceLoc(loc));
                                       return parser.parseOperand(variables.emplace_back());
                                     }) ||
      parser.parseOperand(base))
    return failure();
  for (auto [i, variable] : llvm::enumerate(variables))
    for (const SubscriptParser::Operand &other : ArrayRef(variables).take_front(i))
      if (other.name == variable.name && other.number == variable.number)
        return parser.emitError(variable.location) << "a variable is named twice";
  SubscriptParser subscripts(parser, variables);
  SmallVector<Type> types;
  AccessTileType tile;
  SMLoc typesLoc;
  if (subscripts.parseMixed() || parseSymbolsAndAttributes(parser, state, symbols) ||
      parser.getCurrentLocation(&typesLoc) || parser.parseTypeList(types) || parser.parseArrow() ||
      parser.parseCustomTypeWithFallback(tile))
    return failure();
  if (types.size() != 1 + subscripts.views.size())
    return parser.emitError(typesLoc) << "there are " << types.size() << " types for a base and "
                                      << subscripts.views.size() << " index views";
  Builder &b = parser.getBuilder();
  if (addWritten(parser, state, getPerDimSubscriptKindsAttrName(state.name), "subscripts",
                 b.getBoolArrayAttr(subscripts.isIndirect)) ||
      addWritten(parser, state, getPerDimSubscriptMapsAttrName(state.name), "subscripts",
                 b.getAffineMapArrayAttr(subscripts.getMaps())))
    return failure();
  state.addAttribute(getOperandSegmentSizesAttrName(state.name),
                     b.getDenseI32ArrayAttr({1, static_cast<int32_t>(subscripts.views.size()),
                                             static_cast<int32_t>(subscripts.values.size()),
                                             static_cast<int32_t>(symbols.size())}));
  state.addTypes(tile);
  Type index = b.getIndexType();
  Region *region = state.addRegion();
  Block &block = region->emplaceBlock();
  for (Location location : locations)
    block.addArgument(index, location);
  ensureTerminator(*region, b, state.location);
  return failure(parser.resolveOperand(base, types.front(), state.operands) ||
                 parser.resolveOperands(subscripts.views, ArrayRef(types).drop_front(), typesLoc,
                                        state.operands) ||
                 parser.resolveOperands(subscripts.values, index, state.operands) ||
                 parser.resolveOperands(symbols, index, state.operands));
}

void ConstructIndirectAccessTileOp::print(OpAsmPrinter &printer) {
  printer << " intermediate_variables(" << getVariables().getArguments() << ") " << getBase()
          << '[';
  SmallVector<Value> values(getCaptured());
  llvm::append_range(values, getVariables().getArguments());
  SubscriptPrinter subscripts(printer, values);
  auto view = getIndexViews().begin();
  for (unsigned i = 0, e = getPerDimSubscriptMaps().size(); i < e; ++i) {
    printer << (i ? ", " : "");
    if (isIndirect(i)) {
      printer << "ind(" << *view++;
      subscripts.printList(getSubscript(i));
    } else {
      printer << '(';
      subscripts.print(getSubscript(i).getResult(0));
    }
    printer << ')';
  }
  printer << ']';
  if (!getSymbols().empty())
    printer << " symbols(" << getSymbols() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(), {getPerDimSubscriptKindsAttrName(),
                                                      getPerDimSubscriptMapsAttrName(),
                                                      getOperandSegmentSizesAttrName()});
  printer << " : " << getBase().getType();
  for (Value index : getIndexViews())
    printer << ", " << index.getType();
  printer << " -> " << getResult().getType();
}

LogicalResult ConstructIndirectAccessTileOp::verify() {
  auto base = cast<ShapedType>(getBase().getType());
  size_t rank = base.getRank(), numDims = getPerDimSubscriptMaps().size();
  if (numDims != rank || getPerDimSubscriptKinds().size() != rank)
    return emitOpError() << "has " << numDims << " subscripts and "
                         << getPerDimSubscriptKinds().size() << " kinds for a base of rank "
                         << rank;
  auto view = getIndexViews().begin();
  size_t numInputs = getCaptured().size() + getNumVariables();
  for (unsigned i = 0; i < rank; ++i) {
    AffineMap map = getSubscript(i);
    if (map.getNumDims() != numInputs || map.getNumSymbols())
      return emitOpError() << "subscript " << i << " takes " << map.getNumInputs()
                           << " values, there are " << getCaptured().size() << " captured ones and "
                           << getNumVariables() << " variables";
    if (failed(verifyAffine(*this, "a subscript", map)))
      return failure();
    size_t numResults = 1;
    if (isIndirect(i)) {
      if (view == getIndexViews().end())
        return emitOpError() << "subscript " << i << " has no index view";
      auto type = cast<MemRefType>((*view++).getType());
      if (!type.getElementType().isIntOrIndex())
        return emitOpError() << "the index view of subscript " << i << " holds "
                             << type.getElementType() << ", which is no integer";
      numResults = type.getRank();
    }
    if (map.getNumResults() != numResults)
      return emitOpError() << "subscript " << i << " has " << map.getNumResults()
                           << " expressions, " << numResults << " are needed";
  }
  if (view != getIndexViews().end())
    return emitOpError() << "has more index views than indirect subscripts";
  if (getVariablesSpaceSet().getNumDims() != getNumVariables())
    return emitOpError() << "variables_space_set has " << getVariablesSpaceSet().getNumDims()
                         << " dims for " << getNumVariables() << " variables";
  return verifyTile(*this, getResult().getType(), "variables_space_set", getVariablesSpaceSet(),
                    "variables_space_order", getVariablesSpaceOrder(), getSymbols().size());
}

LogicalResult ConstructIndirectAccessTileOp::verifyRegions() {
  Block &block = getVariables().front();
  if (!llvm::all_of(block.getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError() << "variables are of type index";
  if (!llvm::hasSingleElement(block))
    return emitOpError() << "the block of the variables computes nothing";
  return success();
}

void ConstructIndirectAccessTileOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &view : getIndexViewsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &view);
}

//===----------------------------------------------------------------------===//
// ktdp.load, ktdp.store
//===----------------------------------------------------------------------===//

static LogicalResult verifyValue(Operation *op, Type type, AccessTileType tile) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getShape() != tile.getShape())
    return op->emitOpError() << tensor << " has not the shape of " << tile;
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyValue(*this, getResult().getType(), getTile().getType());
}

LogicalResult StoreOp::verify() {
  return verifyValue(*this, getValue().getType(), getTile().getType());
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value tile, Type elementType) {
  auto type = cast<AccessTileType>(tile.getType());
  build(builder, state, RankedTensorType::get(type.getShape(), elementType), tile);
}

//===----------------------------------------------------------------------===//
// ktdp.runtime_arg_extract
//===----------------------------------------------------------------------===//

/// The fact that \p kind asks for; nothing for the value, or where the type lacks it.
static std::optional<int64_t> getFact(RuntimeArgType type, ExtractKind kind) {
  switch (kind) {
  case ExtractKind::Granularity:
    return type.getGranularity();
  case ExtractKind::Upperbound:
    return type.getUpperbound();
  case ExtractKind::Value:
    break;
  }
  return std::nullopt;
}

LogicalResult RuntimeArgExtractOp::inferReturnTypes(MLIRContext *context,
                                                    std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RuntimeArgType>(adaptor.getArgument().getType());
  if (!type)
    return failure();
  if (adaptor.getKind() == ExtractKind::Value) {
    types.push_back(type.getUnderlyingType());
    return success();
  }
  if (!getFact(type, adaptor.getKind()))
    return emitOptionalError(location, "the argument's type has no ",
                             stringifyExtractKind(adaptor.getKind()));
  types.push_back(IndexType::get(context));
  return success();
}

OpFoldResult RuntimeArgExtractOp::fold(FoldAdaptor) {
  std::optional<int64_t> fact = getFact(getArgument().getType(), getKind());
  return fact ? OpFoldResult(IntegerAttr::get(IndexType::get(getContext()), *fact))
              : OpFoldResult();
}
