//===- SpyreOps.cpp - Allocation, views, constants, composites -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Syntax, rules and folders of the operations that are not device operations.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/EnumParameter.h"
#include "spyre/Dialect/Spyre/IR/AffineConversion.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spyre;

//===----------------------------------------------------------------------===//
// AllocOp
//===----------------------------------------------------------------------===//

ParseResult AllocOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef kindName;
  if (succeeded(parser.parseOptionalKeyword(&kindName, {"lx", "pool", "hbm"}))) {
    int64_t address;
    if (parser.parseLParen() || parser.parseInteger(address) || parser.parseRParen())
      return failure();
    auto placement =
        PlacementAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                  *::spyre::parseName<PlacementKind>(kindName), address);
    if (!placement)
      return failure();
    state.addAttribute("placement", placement);
  }
  if (succeeded(parser.parseOptionalKeyword("holding"))) {
    // Without the attribute's name, which would swallow the type's colon.
    auto distribution = dyn_cast_or_null<DistributionAttr>(DistributionAttr::parse(parser, {}));
    if (!distribution)
      return failure();
    state.addAttribute("distribution", distribution);
  }
  Type type;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  state.addTypes(type);
  return success();
}

void AllocOp::print(OpAsmPrinter &printer) {
  if (PlacementAttr placement = getPlacementAttr())
    printer << " " << placement.getKind() << "(" << placement.getAddressInBytes() << ")";
  if (DistributionAttr distribution = getDistributionAttr()) {
    printer << " holding";
    distribution.print(printer);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"placement", "distribution"});
  printer << " : " << getType();
}

LogicalResult AllocOp::verify() {
  bool isLx = getType().getSpace() == MemorySpace::LX;
  if (PlacementAttr placement = getPlacementAttr())
    if ((placement.getKind() == PlacementKind::LX) != isLx)
      return emitOpError() << "is placed in " << StringRef(::spyre::getName(placement.getKind()))
                           << ", but its type says "
                           << StringRef(::spyre::getName(getType().getSpace()));
  if (DistributionAttr distribution = getDistributionAttr()) {
    if (!isLx)
      return emitOpError() << "only an LX buffer is distributed over cores";
    if (distribution.getSlices().size() != getType().getShape().size())
      return emitOpError() << "distribution cuts " << distribution.getSlices().size()
                           << " dims, the buffer has " << getType().getShape().size();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ReinterpretOp
//===----------------------------------------------------------------------===//

/// What keeps \p from and \p to from being the same bytes; empty: nothing.
static std::string compareMemory(const ::spyre::layout::TensorLayout &from,
                                 const ::spyre::layout::TensorLayout &to) {
  if (from.dimOrder.empty() || from.dimOrder.back() < 0 || !from.stick.empty() || !to.stick.empty())
    return "needs one dim in the stick on both sides";
  if (from.dimOrder != to.dimOrder)
    return "cannot change the order of the dims";
  int64_t fromWidth = ::spyre::getWidthInBits(from.format),
          toWidth = ::spyre::getWidthInBits(to.format);
  int stick = from.dimOrder.back();
  auto getExtent = [](const ::spyre::layout::TensorLayout &layout, int dim) {
    return layout.paddedShape.empty() ? layout.shape[dim] : layout.paddedShape[dim];
  };
  for (int dim = 0, rank = static_cast<int>(from.shape.size()); dim < rank; ++dim) {
    int64_t have = dim == stick ? fromWidth : 1, want = dim == stick ? toWidth : 1;
    if (from.shape[dim] * have != to.shape[dim] * want ||
        (dim != stick && getExtent(from, dim) != getExtent(to, dim)))
      return "changes the bits along dim " + std::to_string(dim);
  }
  if (getSizeInBytes(from) != getSizeInBytes(to))
    return "changes the size in memory";
  return {};
}

LogicalResult ReinterpretOp::verify() {
  Value source = getSource(), result = getResult();
  if (isa<BufferType>(source.getType()) != isa<BufferType>(result.getType()))
    return emitOpError() << "makes no tensor of a buffer, nor a buffer of a tensor";
  LayoutAttr from = getLayout(source), to = getLayout(result);
  if (!from || !to)
    return emitOpError() << "needs operands with a layout";
  if (auto buffer = dyn_cast<BufferType>(source.getType()))
    if (buffer.getSpace() != cast<BufferType>(result.getType()).getSpace())
      return emitOpError() << "cannot change the memory space";
  if (from.getArrangement() != Arrangement::Standard ||
      to.getArrangement() != Arrangement::Standard)
    return emitOpError() << "needs the standard arrangement of elements";
  if (getShape(source).size() != getShape(result).size())
    return emitOpError() << "cannot change the rank";
  std::string difference =
      compareMemory(from.getTensorLayout(getShape(source)), to.getTensorLayout(getShape(result)));
  if (!difference.empty())
    return emitOpError() << difference;
  return success();
}

//===----------------------------------------------------------------------===//
// ViewOp
//===----------------------------------------------------------------------===//

// spyre.view %x[d1, d0] : tensor<4x8xf16> -> tensor<8x4xf16>
ParseResult ViewOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand source;
  SMLoc mapLoc = parser.getCurrentLocation();
  if (parser.parseOperand(source))
    return failure();
  // The number of dims is the result's rank, known only at the end: offer names
  // for every rank that can occur.
  constexpr unsigned kMaxRank = 16;
  SmallVector<std::string> storage;
  SmallVector<std::pair<StringRef, AffineExpr>> names;
  for (unsigned i = 0; i < kMaxRank; ++i)
    storage.push_back("d" + std::to_string(i));
  for (unsigned i = 0; i < kMaxRank; ++i)
    names.emplace_back(storage[i], getAffineDimExpr(i, parser.getContext()));
  SmallVector<AffineExpr> results;
  Type sourceType, resultType;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&]() { return parser.parseAffineExpr(names, results.emplace_back()); }) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(sourceType) ||
      parser.parseArrow() || parser.parseType(resultType) ||
      parser.resolveOperand(source, sourceType, state.operands))
    return failure();
  auto ranked = dyn_cast<RankedTensorType>(resultType);
  if (!ranked)
    return parser.emitError(mapLoc) << "a view's result is a ranked tensor";
  for (AffineExpr result : results)
    for (unsigned i = ranked.getRank(); i < kMaxRank; ++i)
      if (result.isFunctionOfDim(i))
        return parser.emitError(mapLoc)
               << "d" << i << " is beyond the result's rank " << ranked.getRank();
  state.addAttribute(
      "map", AffineMapAttr::get(AffineMap::get(ranked.getRank(), 0, results, parser.getContext())));
  state.addTypes(resultType);
  return success();
}

void ViewOp::print(OpAsmPrinter &printer) {
  printer << " " << getSource() << "[";
  llvm::interleaveComma(getMap().getResults(), printer, [&](AffineExpr e) { printer << e; });
  printer << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"map"});
  printer << " : " << getSource().getType() << " -> " << getType();
}

LogicalResult ViewOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (source.getElementType() != result.getElementType())
    return emitOpError() << "changes the element type";
  AffineMap map = getMap();
  if (static_cast<int64_t>(map.getNumDims()) != result.getRank() ||
      static_cast<int64_t>(map.getNumResults()) != source.getRank() || map.getNumSymbols())
    return emitOpError() << "needs a map from " << result.getRank() << " to " << source.getRank()
                         << " dims";
  if (llvm::is_contained(result.getShape(), 0))
    return success();
  FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, result.getShape());
  if (failed(index))
    return emitOpError() << "map is no sum of digits c * ((d floordiv k) mod m)";
  for (auto [dim, expr] : llvm::enumerate(index->results)) {
    auto [low, high] = getRange(expr, result.getShape());
    if (low < 0 || high >= source.getDimSize(dim))
      return emitOpError() << "reaches coordinates " << low << ".." << high << " of dim " << dim
                           << ", whose extent is " << source.getDimSize(dim);
  }
  return success();
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType() && getMap().isIdentity())
    return getSource();
  // Views compose.
  if (auto inner = getSource().getDefiningOp<ViewOp>()) {
    auto type = cast<RankedTensorType>(getType());
    if (llvm::is_contained(type.getShape(), 0))
      return {};
    FailureOr<::spyre::layout::IndexMap> composed =
        toIndexMap(inner.getMap().compose(getMap()), type.getShape());
    // A part of rows that were joined is read from the joined rows.
    if (failed(composed) || !::spyre::layout::canSplitInputs(simplify(*composed)))
      return {};
    setMap(toAffineMap(*composed, type.getRank(), getContext()));
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// ConstantOp, ConvertOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getShapedType());
  auto type = cast<RankedTensorType>(getType());
  if (value.getShape() != type.getShape() || value.getElementType() != type.getElementType())
    return emitOpError() << "value is " << value << ", result is " << type;
  return success();
}

LogicalResult ConvertOp::verify() {
  if (cast<RankedTensorType>(getSource().getType()).getShape() !=
      cast<RankedTensorType>(getType()).getShape())
    return emitOpError() << "changes the shape";
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

static LogicalResult verifyAlongDim(Operation *op, Value source, Type result, int64_t dim) {
  auto type = cast<RankedTensorType>(source.getType());
  if (type.getShape() != cast<RankedTensorType>(result).getShape())
    return op->emitOpError() << "changes the shape";
  if (dim < 0 || dim >= type.getRank())
    return op->emitOpError() << "dim " << dim << " does not exist; the tensor has "
                             << type.getRank();
  return success();
}

LogicalResult SoftmaxOp::verify() {
  return verifyAlongDim(*this, getSource(), getType(), getDim());
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyAlongDim(*this, getSource(), getType(), getDim());
}

LogicalResult RmsNormOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  if (source.getShape() != cast<RankedTensorType>(getType()).getShape())
    return emitOpError() << "changes the shape";
  int64_t rank = getNormalizedRank();
  if (rank < 1 || rank > source.getRank())
    return emitOpError() << "normalises the last " << rank << " of " << source.getRank() << " dims";
  if (Value weight = getWeight())
    if (cast<RankedTensorType>(weight.getType()).getShape() != source.getShape().take_back(rank))
      return emitOpError() << "weight must have the shape of the normalised dims";
  return success();
}

LogicalResult LinearOp::verify() {
  auto x = cast<RankedTensorType>(getSource().getType());
  auto w = cast<RankedTensorType>(getWeight().getType());
  auto r = cast<RankedTensorType>(getType());
  if (x.getRank() < 1 || w.getRank() != 2 || r.getRank() != x.getRank())
    return emitOpError() << "needs x [..., K], weight [N, K] and result [..., N]";
  if (x.getShape().back() != w.getDimSize(1))
    return emitOpError() << "contracts " << x.getShape().back() << " with " << w.getDimSize(1)
                         << " elements";
  if (r.getShape().drop_back() != x.getShape().drop_back() ||
      r.getShape().back() != w.getDimSize(0))
    return emitOpError() << "result must be [..., N]";
  if (Value bias = getBias())
    if (cast<RankedTensorType>(bias.getType()).getShape() != w.getShape().take_front(1))
      return emitOpError() << "bias must be [N]";
  return success();
}

LogicalResult MatmulOp::verify() {
  auto l = cast<RankedTensorType>(getLhs().getType());
  auto r = cast<RankedTensorType>(getRhs().getType());
  auto o = cast<RankedTensorType>(getType());
  if (l.getRank() < 2 || r.getRank() < 2 || o.getRank() != std::max(l.getRank(), r.getRank()))
    return emitOpError() << "needs operands of rank 2 or more";
  if (l.getShape().back() != r.getDimSize(r.getRank() - 2))
    return emitOpError() << "contracts " << l.getShape().back() << " with "
                         << r.getDimSize(r.getRank() - 2) << " elements";
  if (o.getDimSize(o.getRank() - 2) != l.getDimSize(l.getRank() - 2) ||
      o.getShape().back() != r.getShape().back())
    return emitOpError() << "result must be [..., M, N]";
  for (int64_t i = 0; i < o.getRank() - 2; ++i)
    for (RankedTensorType operand : {l, r}) {
      int64_t dim = i - (o.getRank() - operand.getRank());
      if (dim >= 0 && operand.getDimSize(dim) != 1 && operand.getDimSize(dim) != o.getDimSize(i))
        return emitOpError() << "batch dim " << i << " does not broadcast";
    }
  return success();
}

LogicalResult ConcatOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  auto dim = static_cast<int64_t>(getDim());
  if (getSources().empty())
    return emitOpError() << "joins nothing";
  if (dim < 0 || dim >= result.getRank())
    return emitOpError() << "dim " << dim << " does not exist; the result has " << result.getRank();
  int64_t extent = 0;
  for (auto [i, source] : llvm::enumerate(getSources())) {
    auto type = cast<RankedTensorType>(source.getType());
    bool fits =
        type.getRank() == result.getRank() && type.getElementType() == result.getElementType();
    for (int64_t d = 0; fits && d < result.getRank(); ++d)
      fits = d == dim || type.getDimSize(d) == result.getDimSize(d);
    if (!fits)
      return emitOpError() << "source #" << i << " of type " << type
                           << " differs from the result in more than dim " << dim;
    extent += type.getDimSize(dim);
  }
  if (extent != result.getDimSize(dim))
    return emitOpError() << "sources have " << extent << " elements along dim " << dim
                         << ", the result has " << result.getDimSize(dim);
  return success();
}
