//===- KtdpInterTile.cpp - Data between compute tiles -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Syntax and rules of the operation that produces and of those that deliver. What
// needs the members of sets is in ktir-check-legality.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::ktdp;

/// Rules of a set over tiles: one dim, at most so many symbols.
static LogicalResult verifyTileSet(Operation *op, StringRef name, IntegerSet set,
                                   unsigned maxSymbols, StringRef form) {
  if (set.getNumDims() != 1 || set.getNumSymbols() > maxSymbols)
    return op->emitOpError() << name << " must be a set " << form << ", but has "
                             << set.getNumDims() << " dims and " << set.getNumSymbols()
                             << " symbols";
  if (!isAffine(set))
    return op->emitOpError() << name
                             << " multiplies unknowns, or divides by what is no positive number";
  return success();
}

/// The terminator yields one value a role, of the partials' types.
static LogicalResult verifyYield(Operation *op, Block &block, TypeRange partials) {
  Operation *yield = block.getTerminator();
  if (yield->getNumOperands() != partials.size())
    return yield->emitOpError() << "yields " << yield->getNumOperands()
                                << " values, the future has " << partials.size() << " roles";
  for (auto [i, type, partial] : llvm::enumerate(yield->getOperandTypes(), partials))
    if (type != partial)
      return yield->emitOpError() << "yields " << type << " for role " << i
                                  << ", whose partials are " << partial;
  return success();
}

static SmallVector<Type> getTypes(ArrayRef<RankedTensorType> types) {
  return SmallVector<Type>(types.begin(), types.end());
}

//===----------------------------------------------------------------------===//
// ktdp.inter_tile_produce
//===----------------------------------------------------------------------===//

ParseResult InterTileProduceOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name = getProducerTilesPerGroupAttrName(state.name);
  SMLoc loc;
  Attribute set;
  TileFutureType type;
  Region *body = state.addRegion();
  if (parser.parseKeyword(name.getValue()) || parser.parseEqual() ||
      parser.getCurrentLocation(&loc) || parser.parseAttribute(set) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  if (state.attributes.get(name))
    return parser.emitError(loc) << name.getValue() << " is given twice";
  state.addAttribute(name, set);
  if (failed(
          verifyInherentAttrs(state.name, state.attributes, [&] { return parser.emitError(loc); })))
    return failure();
  // Earlier texts name the partials' types before the arrow.
  if (succeeded(parser.parseOptionalColon())) {
    SmallVector<Type> partials;
    if (parser.parseTypeList(partials))
      return failure();
  }
  if (parser.parseArrow() || parser.parseCustomTypeWithFallback(type) || parser.parseRegion(*body))
    return failure();
  if (!body->empty())
    ensureTerminator(*body, parser.getBuilder(), state.location);
  state.addTypes(type);
  return success();
}

void InterTileProduceOp::print(OpAsmPrinter &printer) {
  StringAttr name = getProducerTilesPerGroupAttrName();
  printer << ' ' << name.getValue() << " = " << getProducerTilesPerGroupAttr();
  printer.printOptionalAttrDict((*this)->getAttrs(), {name});
  printer << " -> " << getFuture().getType() << ' ';
  printer.printRegion(getBody());
}

LogicalResult InterTileProduceOp::verify() {
  return verifyTileSet(*this, "producer_tiles_per_group", getProducerTilesPerGroup(), 1, "(i)[g]");
}

LogicalResult InterTileProduceOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || !block.getArgument(0).getType().isIndex())
    return emitOpError() << "the region takes one index, the number of the group";
  return verifyYield(*this, block, getTypes(getFuture().getType().getPartialTypes()));
}

//===----------------------------------------------------------------------===//
// Syntax of deliveries
//===----------------------------------------------------------------------===//

/// `[0, 2]` becomes the array of numbers that dims are; anything else stays.
static Attribute toDims(Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  SmallVector<int64_t> numbers;
  if (list)
    for (Attribute element : list) {
      auto number = dyn_cast<IntegerAttr>(element);
      if (!number || number.getValue().getSignificantBits() > 64)
        return attribute;
      numbers.push_back(number.getValue().getSExtValue());
    }
  return list ? DenseI64ArrayAttr::get(attribute.getContext(), numbers) : attribute;
}

/// `(%future) name = value, ..., identity(%v : T) {...} : type -> types region`, with the
/// names in any order.
static ParseResult parseDelivery(OpAsmParser &parser, OperationState &state, bool folds) {
  OpAsmParser::UnresolvedOperand future;
  SmallVector<OpAsmParser::UnresolvedOperand> identities;
  SmallVector<Type> identityTypes, results;
  SMLoc identityLoc;
  auto parseItem = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    Attribute value;
    if (parser.parseKeyword(&name))
      return failure();
    if (folds && name == "identity") {
      if (!identities.empty())
        return parser.emitError(loc) << "identity is given twice";
      identityLoc = loc;
      return failure(parser.parseLParen() || parser.parseOperandList(identities) ||
                     parser.parseColonTypeList(identityTypes) || parser.parseRParen());
    }
    if (!llvm::is_contained(llvm::map_range(state.name.getAttributeNames(),
                                            [](StringAttr known) { return known.getValue(); }),
                            name))
      return parser.emitError(loc) << "'" << state.name << "' has no '" << name << "'";
    if (state.attributes.get(name))
      return parser.emitError(loc) << name << " is given twice";
    if (parser.parseEqual() || parser.parseAttribute(value))
      return failure();
    state.addAttribute(name, toDims(value));
    return success();
  };
  SMLoc loc;
  TileFutureType type;
  if (parser.parseLParen() || parser.parseOperand(future) || parser.parseRParen() ||
      parser.getCurrentLocation(&loc) || parser.parseCommaSeparatedList(parseItem) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      failed(state.name.verifyInherentAttrs(state.attributes,
                                            [&] { return parser.emitError(loc); })) ||
      parser.parseColon() || parser.parseCustomTypeWithFallback(type) || parser.parseArrow())
    return failure();
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseTypeList(results) || parser.parseRParen())
      return failure();
  } else if (parser.parseTypeList(results)) {
    return failure();
  }
  state.addTypes(results);
  if (parser.resolveOperand(future, type, state.operands) ||
      parser.resolveOperands(identities, identityTypes, identityLoc, state.operands))
    return failure();
  if (!folds)
    return success();
  Region *combiner = state.addRegion();
  return parser.parseRegion(*combiner);
}

static void printDelivery(OpAsmPrinter &printer, DeliveryOpInterface op) {
  // The order of the texts; no operation has all of them.
  static constexpr StringLiteral kOrder[] = {
      "consumer_tiles_per_group", "scatter_dimensions", "gather_dimensions",
      "split_dimensions",         "concat_dimensions",  "producer_dependency_per_consumer"};
  printer << '(' << op.getFuture() << ')';
  StringRef separator = " ";
  for (StringRef name : kOrder) {
    Attribute value = op->getAttr(name);
    if (!value)
      continue;
    printer << separator << name << " = ";
    if (auto dims = dyn_cast<DenseI64ArrayAttr>(value))
      printer << '[' << dims.asArrayRef() << ']';
    else
      printer << value;
    separator = ", ";
  }
  ValueRange identities = op.getIdentities();
  if (!identities.empty())
    printer << separator << "identity(" << identities << " : " << identities.getTypes() << ')';
  printer.printOptionalAttrDict(op->getAttrs(),
                                SmallVector<StringRef>(std::begin(kOrder), std::end(kOrder)));
  printer << " : ";
  printer.printStrippedAttrOrType(op.getFuture().getType());
  printer << " -> " << op->getResultTypes();
  if (Region *region = op.getFoldRegion()) {
    printer << ' ';
    printer.printRegion(*region);
  }
}

//===----------------------------------------------------------------------===//
// Rules of deliveries
//===----------------------------------------------------------------------===//

/// A list of dims is not empty, ascends, and names dims of the partials (R9, R12).
static LogicalResult verifyDims(DeliveryOpInterface op, StringRef rule, ArrayRef<int64_t> dims) {
  for (auto [i, dim] : llvm::enumerate(dims)) {
    for (RankedTensorType partial : op.getPartialTypes())
      if (dim < 0 || dim >= partial.getRank())
        return op->emitOpError() << rule << ": there is no dim " << dim << " in " << partial;
    if (i && dim <= dims[i - 1])
      return op->emitOpError() << rule << ": dims must ascend, but " << dim << " follows "
                               << dims[i - 1];
  }
  return success();
}

/// The result of a role is its partial with other sizes along the dims of the lists.
static LogicalResult verifyResult(DeliveryOpInterface op, RankedTensorType partial,
                                  RankedTensorType result) {
  if (partial.getRank() != result.getRank() || partial.getElementType() != result.getElementType())
    return op->emitOpError() << "delivers " << result << " of partials " << partial
                             << "; rank and element type stay";
  for (int64_t dim = 0; dim < partial.getRank(); ++dim) {
    int64_t from = partial.getDimSize(dim), to = result.getDimSize(dim);
    bool isSplit = llvm::is_contained(op.getSplitDims(), dim);
    bool isConcat = llvm::is_contained(op.getConcatDims(), dim);
    if (ShapedType::isDynamic(from) || ShapedType::isDynamic(to) || (isSplit && isConcat))
      continue;
    if (!isSplit && !isConcat && from != to)
      return op->emitOpError() << "delivers " << result << " of partials " << partial << "; dim "
                               << dim << " keeps its size";
    if (isSplit && from != to && (to == 0 || from % to))
      return op->emitOpError() << "R9: size " << from << " of dim " << dim
                               << " has no equal shares of " << to;
    if (isConcat && from != to && (from == 0 || to % from))
      return op->emitOpError() << "R12: size " << to << " of dim " << dim
                               << " is not made of partials of " << from;
  }
  return success();
}

/// \p takesSplit, \p takesConcat: the operation has such a list, which is not empty.
static LogicalResult verifyDelivery(DeliveryOpInterface op, bool takesSplit, bool takesConcat) {
  ArrayRef<RankedTensorType> partials = op.getPartialTypes();
  if (failed(verifyTileSet(op, "consumer_tiles_per_group", op.getConsumerTilesPerGroup(), 1,
                           "(i)[g]")))
    return failure();
  if (std::optional<IntegerSet> dependency = op.getDependency())
    if (failed(verifyTileSet(op, "producer_dependency_per_consumer", *dependency, 2,
                             "(p)[c] or (p)[c, g]")))
      return failure();
  if (takesSplit && op.getSplitDims().empty())
    return op->emitOpError() << "R9: there is no dim to split along";
  if (takesConcat && op.getConcatDims().empty())
    return op->emitOpError() << "R12: there is no dim to put partials side by side along";
  if (failed(verifyDims(op, "R9", op.getSplitDims())) ||
      failed(verifyDims(op, "R12", op.getConcatDims())))
    return failure();
  if (op->getNumResults() != partials.size())
    return op->emitOpError() << "has " << op->getNumResults() << " results, the future has "
                             << partials.size() << " roles";
  for (auto [partial, type] : llvm::zip_equal(partials, op->getResultTypes()))
    if (failed(verifyResult(op, partial, cast<RankedTensorType>(type))))
      return failure();
  if (!op.getFoldRegion())
    return success();
  if (op.getIdentities().size() != partials.size())
    return op->emitOpError() << "R11: has " << op.getIdentities().size()
                             << " identities, the future has " << partials.size() << " roles";
  for (auto [i, partial, identity] : llvm::enumerate(partials, op.getIdentities()))
    if (identity.getType() != partial)
      return op->emitOpError() << "R11: identity " << i << " is " << identity.getType()
                               << ", the partials are " << partial;
  return success();
}

/// The region takes two partials a role and yields one.
static LogicalResult verifyCombiner(DeliveryOpInterface op) {
  SmallVector<Type> partials = getTypes(op.getPartialTypes()), arguments = partials;
  llvm::append_range(arguments, partials);
  Block &block = op.getFoldRegion()->front();
  if (block.getArgumentTypes() != TypeRange(arguments))
    return op->emitOpError() << "the region takes two values of each partial's type";
  return verifyYield(op, block, partials);
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

ParseResult InterTileConsumeOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseDelivery(parser, state, /*folds=*/false);
}
void InterTileConsumeOp::print(OpAsmPrinter &printer) { printDelivery(printer, *this); }
LogicalResult InterTileConsumeOp::verify() { return verifyDelivery(*this, false, false); }

ParseResult InterTileReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseDelivery(parser, state, /*folds=*/true);
}
void InterTileReduceOp::print(OpAsmPrinter &printer) { printDelivery(printer, *this); }
LogicalResult InterTileReduceOp::verify() { return verifyDelivery(*this, false, false); }
LogicalResult InterTileReduceOp::verifyRegions() { return verifyCombiner(*this); }

ParseResult InterTileReduceScatterOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseDelivery(parser, state, /*folds=*/true);
}
void InterTileReduceScatterOp::print(OpAsmPrinter &printer) { printDelivery(printer, *this); }
LogicalResult InterTileReduceScatterOp::verify() { return verifyDelivery(*this, true, false); }
LogicalResult InterTileReduceScatterOp::verifyRegions() { return verifyCombiner(*this); }

ParseResult InterTileGatherOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseDelivery(parser, state, /*folds=*/false);
}
void InterTileGatherOp::print(OpAsmPrinter &printer) { printDelivery(printer, *this); }
LogicalResult InterTileGatherOp::verify() { return verifyDelivery(*this, false, true); }

ParseResult InterTileAllToAllOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseDelivery(parser, state, /*folds=*/false);
}
void InterTileAllToAllOp::print(OpAsmPrinter &printer) { printDelivery(printer, *this); }
LogicalResult InterTileAllToAllOp::verify() { return verifyDelivery(*this, true, true); }

ParseResult InterTileScatterOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseDelivery(parser, state, /*folds=*/false);
}
void InterTileScatterOp::print(OpAsmPrinter &printer) { printDelivery(printer, *this); }
LogicalResult InterTileScatterOp::verify() { return verifyDelivery(*this, true, false); }
