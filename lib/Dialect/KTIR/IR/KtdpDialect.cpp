//===- KtdpDialect.cpp - Types and attributes of the ktdp dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration, syntax and rules of attributes and types, and what the header promises
// about grids and futures.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ktdp;

#include "spyre/Dialect/KTIR/IR/KtdpDialect.cpp.inc"
#include "spyre/Dialect/KTIR/IR/KtdpEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/KtdpAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/KtdpTypes.cpp.inc"

#include "spyre/Dialect/KTIR/IR/KtdpInterfaces.cpp.inc"

namespace {
/// Futures in bytecode. Their text is no way to carry them: the scan for the end of a
/// type's text takes the `>` of `>=` in a set for a bracket. In files the set has an alias.
struct KtdpBytecode : BytecodeDialectInterface {
  explicit KtdpBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  LogicalResult writeType(Type type, DialectBytecodeWriter &writer) const override {
    auto future = dyn_cast<TileFutureType>(type);
    if (!future)
      return failure();
    writer.writeTypes(future.getPartialTypes());
    writer.writeAttribute(future.getGroups());
    return success();
  }

  Type readType(DialectBytecodeReader &reader) const override {
    SmallVector<RankedTensorType> partials;
    IntegerSetAttr groups;
    if (failed(reader.readTypes(partials)) || failed(reader.readAttribute(groups)))
      return {};
    return TileFutureType::getChecked([&] { return reader.emitError(); }, getContext(), partials,
                                      groups);
  }
};
} // namespace

void KtdpDialect::initialize() {
  addInterfaces<KtdpBytecode>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "spyre/Dialect/KTIR/IR/KtdpTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "spyre/Dialect/KTIR/IR/KtdpAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "spyre/Dialect/KTIR/IR/KtdpOps.cpp.inc"
      >();
}

Operation *KtdpDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult KtdpDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kPoolBytesAttr) {
    auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<FunctionOpInterface>(op) || !bytes || bytes.getValue().isNegative())
      return op->emitOpError() << "attribute '" << kPoolBytesAttr
                               << "' must be a number of bytes on a function";
    return success();
  }
  if (attribute.getName() != kAddressUnitAttr)
    return op->emitOpError() << "has no attribute '" << attribute.getName().getValue() << "'";
  if (!isa<ModuleOp>(op))
    return op->emitOpError() << "cannot carry '" << kAddressUnitAttr << "': it is the module's";
  auto unit = dyn_cast<StringAttr>(attribute.getValue());
  if (!unit || (unit.getValue() != "bytes" && unit.getValue() != "elements"))
    return op->emitOpError() << "attribute '" << kAddressUnitAttr
                             << "' must be \"bytes\" or \"elements\"";
  return success();
}

//===----------------------------------------------------------------------===//
// #ktdp.memory_space
//===----------------------------------------------------------------------===//

/// `, <keyword> = N` and the closing bracket. -1 where there is no number.
static ParseResult parseIdAndClose(AsmParser &parser, StringRef keyword, int32_t &id) {
  id = -1;
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseKeyword(keyword) || parser.parseEqual() || parser.parseInteger(id))
      return failure();
  return parser.parseGreater();
}

Attribute MemorySpaceAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  int32_t id;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  std::optional<MemorySpaceKind> kind = symbolizeMemorySpaceKind(name);
  if (!kind) {
    parser.emitError(loc) << "unknown memory space '" << name << "'; there are global and ct_local";
    return {};
  }
  if (parseIdAndClose(parser, "ct_id", id))
    return {};
  return parser.getChecked<MemorySpaceAttr>(loc, parser.getContext(), *kind, id);
}

/// The spelling of earlier texts: `<HBM>`, `<LX>`, `<LX, core = 7>`.
static Attribute parseOldMemorySpace(DialectAsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  int32_t id;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  if (name != "HBM" && name != "LX") {
    parser.emitError(loc) << "memory space '" << name
                          << "' has no counterpart among global (HBM) and ct_local (LX)";
    return {};
  }
  if (parseIdAndClose(parser, "core", id))
    return {};
  return parser.getChecked<MemorySpaceAttr>(
      loc, parser.getContext(), name == "HBM" ? MemorySpaceKind::Global : MemorySpaceKind::CtLocal,
      id);
}

void MemorySpaceAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyMemorySpaceKind(getKind());
  if (getCtId() >= 0)
    printer << ", ct_id = " << getCtId();
  printer << '>';
}

LogicalResult MemorySpaceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                      MemorySpaceKind kind, int32_t ctId) {
  if (ctId < -1)
    return emitError() << "a compute tile's number cannot be negative";
  if (ctId >= 0 && kind != MemorySpaceKind::CtLocal)
    return emitError() << "only ct_local memory belongs to a compute tile";
  return success();
}

Attribute KtdpDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result = generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (result.has_value())
    return attribute;
  if (mnemonic == "spyre_memory_space")
    return parseOldMemorySpace(parser);
  parser.emitError(loc) << "unknown attribute '" << mnemonic << "' in dialect 'ktdp'";
  return {};
}

void KtdpDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (failed(generatedAttributePrinter(attribute, printer)))
    llvm_unreachable("an attribute of another dialect");
}

//===----------------------------------------------------------------------===//
// !ktdp.access_tile
//===----------------------------------------------------------------------===//

Type AccessTileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true))
    return {};
  if (parser.parseType(elementType) || parser.parseGreater())
    return {};
  return parser.getChecked<AccessTileType>(loc, parser.getContext(), shape, elementType);
}

void AccessTileType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape())
    if (ShapedType::isDynamic(size))
      printer << "?x";
    else
      printer << size << 'x';
  printer << getElementType() << '>';
}

LogicalResult AccessTileType::verify(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t>, Type elementType) {
  if (!isa<IndexType>(elementType))
    return emitError() << "tile element type must be 'index'";
  return success();
}

AccessTileType AccessTileType::cloneWith(std::optional<ArrayRef<int64_t>> shape,
                                         Type elementType) const {
  return get(getContext(), shape.value_or(getShape()), elementType);
}

//===----------------------------------------------------------------------===//
// !ktdp.runtime_arg
//===----------------------------------------------------------------------===//

Type RuntimeArgType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type underlying;
  std::optional<int64_t> granularity, upperbound;
  if (parser.parseLess() || parser.parseType(underlying))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keywordLoc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return {};
    std::optional<int64_t> *fact = keyword == "granularity"  ? &granularity
                                   : keyword == "upperbound" ? &upperbound
                                                             : nullptr;
    if (!fact) {
      parser.emitError(keywordLoc)
          << "a runtime argument has no '" << keyword << "'; there are granularity and upperbound";
      return {};
    }
    if (*fact) {
      parser.emitError(keywordLoc) << "'" << keyword << "' is given twice";
      return {};
    }
    int64_t number;
    if (parser.parseEqual() || parser.parseInteger(number))
      return {};
    *fact = number;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<RuntimeArgType>(loc, parser.getContext(), underlying, granularity,
                                           upperbound);
}

void RuntimeArgType::print(AsmPrinter &printer) const {
  printer << '<' << getUnderlyingType();
  if (getGranularity())
    printer << ", granularity=" << *getGranularity();
  if (getUpperbound())
    printer << ", upperbound=" << *getUpperbound();
  printer << '>';
}

LogicalResult RuntimeArgType::verify(function_ref<InFlightDiagnostic()> emitError, Type underlying,
                                     std::optional<int64_t> granularity,
                                     std::optional<int64_t> upperbound) {
  if (!underlying.isIntOrIndexOrFloat())
    return emitError() << "a runtime argument is an index, an integer or a float, not "
                       << underlying;
  if (granularity && *granularity <= 0)
    return emitError() << "the granularity must be positive";
  if (upperbound && *upperbound <= 0)
    return emitError() << "the upperbound must be positive";
  return success();
}

//===----------------------------------------------------------------------===//
// !ktdp.tile_future
//===----------------------------------------------------------------------===//

Type TileFutureType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<RankedTensorType> partials;
  auto parsePartial = [&] { return parser.parseType(partials.emplace_back()); };
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalLParen())) {
    if (failed(parser.parseOptionalRParen()) &&
        (parser.parseCommaSeparatedList(parsePartial) || parser.parseRParen()))
      return {};
  } else if (parsePartial()) {
    return {};
  }
  IntegerSetAttr groups;
  if (parser.parseComma() || parser.parseKeyword("groups") || parser.parseEqual() ||
      parser.parseAttribute(groups) || parser.parseGreater())
    return {};
  return parser.getChecked<TileFutureType>(loc, parser.getContext(), partials, groups);
}

void TileFutureType::print(AsmPrinter &printer) const {
  printer << "<(" << getPartialTypes() << "), groups = " << getGroups() << '>';
}

LogicalResult TileFutureType::verify(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<RankedTensorType> partials, IntegerSetAttr groups) {
  if (partials.empty())
    return emitError() << "a future carries one tensor at least";
  IntegerSet set = groups.getValue();
  if (set.getNumDims() != 1 || set.getNumSymbols())
    return emitError() << "groups must be a set (g) of one dim and no symbols";
  return success();
}

//===----------------------------------------------------------------------===//
// Grids and futures
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> mlir::ktdp::getGrid(Operation *function) {
  Attribute attribute = function->getAttr(kGridAttr);
  if (!attribute)
    return SmallVector<int64_t>{1, 1, 1};
  SmallVector<int64_t> grid;
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list || list.empty() || list.size() > 3)
    return std::nullopt;
  for (Attribute element : list) {
    auto size = dyn_cast<IntegerAttr>(element);
    if (!size || !size.getValue().isStrictlyPositive() || size.getValue().getActiveBits() > 31)
      return std::nullopt;
    grid.push_back(size.getValue().getSExtValue());
  }
  return grid;
}

int64_t mlir::ktdp::getNumTiles(ArrayRef<int64_t> grid, int64_t limit) {
  int64_t numTiles = 1;
  for (int64_t size : grid)
    numTiles = std::min(numTiles * size, limit + 1);
  return numTiles;
}

InterTileProduceOp mlir::ktdp::getProducer(DeliveryOpInterface delivery) {
  return delivery.getFuture().getDefiningOp<InterTileProduceOp>();
}
