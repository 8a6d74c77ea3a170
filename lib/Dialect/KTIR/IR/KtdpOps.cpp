//===- KtdpOps.cpp - Operations of the ktdp dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders, rules and the subscript syntax. Subscripts have a parser of their own:
// upstream's affine subscripts do not read `%a#1`.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::ktdp;

#define GET_OP_CLASSES
#include "spyre/Dialect/KTIR/IR/KtdpOps.cpp.inc"

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
  if (grid && grid->size() != count)
    return emitOpError() << "has " << count << " results, the function's grid has " << grid->size()
                         << " dims";
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
        type.getShape(), strides, getBoxSet(type.getShape(), context),
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
  IntegerSet set = getCoordinateSet();
  if (set.getNumDims() != rank)
    return emitOpError() << "coordinate_set has " << set.getNumDims() << " dims for a view of rank "
                         << rank;
  if (set.getNumSymbols() != getSizes().size())
    return emitOpError() << "coordinate_set has " << set.getNumSymbols() << " symbols for "
                         << getSizes().size() << " dynamic sizes";
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

namespace {
/// Reads `[e0, e1, ...]`: sums, products with numbers, floordiv, ceildiv and mod by
/// numbers over SSA values. A value is known by name and result number.
class SubscriptParser {
public:
  explicit SubscriptParser(OpAsmParser &parser) : parser(parser), context(parser.getContext()) {}

  ParseResult parse() {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parseSum(results.emplace_back()); });
  }

  AffineMap getMap() { return AffineMap::get(values.size(), 0, results, context); }

  SmallVector<OpAsmParser::UnresolvedOperand> values;

private:
  ParseResult parseSum(AffineExpr &sum) {
    if (parseProduct(sum))
      return failure();
    while (true) {
      AffineExpr term;
      if (succeeded(parser.parseOptionalPlus())) {
        if (parseProduct(term))
          return failure();
        sum = sum + term;
      } else if (succeeded(parser.parseOptionalMinus())) {
        if (parseProduct(term))
          return failure();
        sum = sum - term;
      } else {
        return success();
      }
    }
  }

  ParseResult parseProduct(AffineExpr &product) {
    if (parseFactor(product))
      return failure();
    while (true) {
      SMLoc loc = parser.getCurrentLocation();
      AffineExpr factor;
      if (succeeded(parser.parseOptionalStar())) {
        if (parseFactor(factor))
          return failure();
        if (!product.isSymbolicOrConstant() && !factor.isSymbolicOrConstant())
          return parser.emitError(loc) << "a subscript multiplies by numbers only";
        product = product * factor;
        continue;
      }
      StringRef keyword;
      if (failed(parser.parseOptionalKeyword(&keyword, {"floordiv", "ceildiv", "mod"})))
        return success();
      int64_t divisor;
      if (parser.parseInteger(divisor))
        return failure();
      if (divisor <= 0)
        return parser.emitError(loc) << "a subscript divides by positive numbers only";
      product = keyword == "mod"       ? product % divisor
                : keyword == "ceildiv" ? product.ceilDiv(divisor)
                                       : product.floorDiv(divisor);
    }
  }

  ParseResult parseFactor(AffineExpr &factor) {
    if (succeeded(parser.parseOptionalLParen()))
      return failure(parseSum(factor) || parser.parseRParen());
    int64_t number;
    OptionalParseResult integer = parser.parseOptionalInteger(number);
    if (integer.has_value()) {
      factor = getAffineConstantExpr(number, context);
      return *integer;
    }
    if (succeeded(parser.parseOptionalMinus())) {
      if (parseFactor(factor))
        return failure();
      factor = -factor;
      return success();
    }
    OpAsmParser::UnresolvedOperand value;
    if (parser.parseOperand(value))
      return failure();
    auto *it = llvm::find_if(values, [&](const OpAsmParser::UnresolvedOperand &known) {
      return known.name == value.name && known.number == value.number;
    });
    factor = getAffineDimExpr(it - values.begin(), context);
    if (it == values.end())
      values.push_back(value);
    return success();
  }

  OpAsmParser &parser;
  MLIRContext *context;
  SmallVector<AffineExpr> results;
};

/// Prints what SubscriptParser reads. A value is printed as an operand, with its
/// result number.
class SubscriptPrinter {
public:
  SubscriptPrinter(OpAsmPrinter &printer, ValueRange values) : printer(printer), values(values) {}

  void print(AffineMap map) {
    printer << '[';
    llvm::interleaveComma(map.getResults(), printer, [&](AffineExpr e) { printSum(e); });
    printer << ']';
  }

private:
  void printSum(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || binary.getKind() != AffineExprKind::Add)
      return printProduct(expr);
    printSum(binary.getLHS());
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (constant && constant.getValue() < 0 &&
        constant.getValue() != std::numeric_limits<int64_t>::min()) {
      printer << " - " << -constant.getValue();
      return;
    }
    printer << " + ";
    printSum(binary.getRHS());
  }

  void printProduct(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return printLeaf(expr);
    if (binary.getKind() == AffineExprKind::Add) {
      printer << '(';
      printSum(expr);
      printer << ')';
      return;
    }
    printProduct(binary.getLHS());
    switch (binary.getKind()) {
    case AffineExprKind::Mul:
      printer << " * ";
      break;
    case AffineExprKind::Mod:
      printer << " mod ";
      break;
    case AffineExprKind::FloorDiv:
      printer << " floordiv ";
      break;
    default:
      printer << " ceildiv ";
      break;
    }
    printLeaf(binary.getRHS());
  }

  void printLeaf(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      printer << constant.getValue();
    else if (auto dim = dyn_cast<AffineDimExpr>(expr))
      printer.printOperand(values[dim.getPosition()]);
    else if (isa<AffineBinaryOpExpr>(expr)) {
      printer << '(';
      printSum(expr);
      printer << ')';
    }
  }

  OpAsmPrinter &printer;
  ValueRange values;
};
} // namespace

ParseResult ConstructAccessTileOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand base;
  SmallVector<OpAsmParser::UnresolvedOperand> symbols;
  SubscriptParser subscripts(parser);
  Type baseType;
  if (parser.parseOperand(base) || subscripts.parse())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("symbols")) &&
      parser.parseOperandList(symbols, AsmParser::Delimiter::Paren))
    return failure();
  SMLoc attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(state.attributes) ||
      failed(verifyInherentAttrs(state.name, state.attributes,
                                 [&] { return parser.emitError(attributesLoc); })))
    return failure();
  if (parser.parseColonType(baseType) || parser.parseArrow())
    return failure();
  // Both `!ktdp.access_tile<...>` and `<...>`.
  AccessTileType tile;
  if (parser.parseCustomTypeWithFallback(tile))
    return failure();
  Builder &b = parser.getBuilder();
  if (state.attributes.get("base_map"))
    return parser.emitError(parser.getNameLoc()) << "base_map is written as subscripts";
  state.addAttribute(getBaseMapAttrName(state.name), AffineMapAttr::get(subscripts.getMap()));
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
  SubscriptPrinter(printer, getIndices()).print(getBaseMap());
  if (!getSymbols().empty())
    printer << " symbols(" << getSymbols() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getBaseMapAttrName(), getOperandSegmentSizesAttrName()});
  printer << " : " << getBase().getType() << " -> " << getResult().getType();
}

LogicalResult ConstructAccessTileOp::verify() {
  auto base = cast<ShapedType>(getBase().getType());
  AffineMap map = getBaseMap(), order = getAccessTileOrder();
  IntegerSet set = getAccessTileSet();
  size_t rank = base.getRank();
  if (map.getNumResults() != rank)
    return emitOpError() << "has " << map.getNumResults() << " subscripts for a base of rank "
                         << rank;
  if (map.getNumDims() != getIndices().size() || map.getNumSymbols())
    return emitOpError() << "base_map takes " << map.getNumInputs() << " values, there are "
                         << getIndices().size();
  if (set.getNumDims() != rank)
    return emitOpError() << "access_tile_set has " << set.getNumDims()
                         << " dims for a base of rank " << rank;
  if (set.getNumSymbols() != getSymbols().size())
    return emitOpError() << "access_tile_set has " << set.getNumSymbols() << " symbols, "
                         << getSymbols().size() << " are given";
  if (order.getNumDims() != rank || order.getNumSymbols() || !order.isPermutation())
    return emitOpError() << "access_tile_order is no permutation of " << rank << " dims";
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  if (shape.size() != rank)
    return emitOpError() << "makes a tile of rank " << shape.size() << " of a set of " << rank
                         << " dims";
  SmallVector<DimBounds> bounds = getBounds(set);
  for (auto [i, dim] : llvm::enumerate(bounds)) {
    if (!dim.lower || !dim.upper)
      continue;
    int64_t extent = *dim.upper - *dim.lower + 1;
    if (!base.isDynamicDim(i) && extent > base.getDimSize(i))
      return emitOpError() << "access_tile_set has " << extent << " places along dim " << i
                           << ", the base has " << base.getDimSize(i);
  }
  // Dim k of the tile is the dim that the order's result k names.
  for (auto [k, size] : llvm::enumerate(shape)) {
    const DimBounds &dim = bounds[order.getDimPosition(k)];
    if (ShapedType::isDynamic(size) || !dim.lower || !dim.upper)
      continue;
    if (*dim.upper - *dim.lower + 1 != size)
      return emitOpError() << "dim " << k << " of the tile has size " << size << ", its set "
                           << *dim.upper - *dim.lower + 1 << " places";
  }
  return success();
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
