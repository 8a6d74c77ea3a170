//===- KtdpDialect.cpp - Types and attributes of the ktdp dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration, syntax and rules of the memory space and the access tile, and what
// the header promises about grids and sets.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
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

void KtdpDialect::initialize() {
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

//===----------------------------------------------------------------------===//
// Grids and sets
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

IntegerSet mlir::ktdp::getBoxSet(ArrayRef<int64_t> sizes, MLIRContext *context) {
  // A set of no dims has no constraint; the class wants one.
  if (sizes.empty())
    return IntegerSet::get(0, 0, {getAffineConstantExpr(0, context)}, {true});
  SmallVector<AffineExpr> constraints;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    AffineExpr dim = getAffineDimExpr(i, context);
    constraints.push_back(dim);
    constraints.push_back(-dim + (size - 1));
  }
  SmallVector<bool> isEquality(constraints.size(), false);
  return IntegerSet::get(sizes.size(), 0, constraints, isEquality);
}

SmallVector<DimBounds> mlir::ktdp::getBounds(IntegerSet set) {
  using presburger::BoundType;
  SmallVector<DimBounds> bounds(set.getNumDims());
  FlatLinearValueConstraints constraints(set);
  if (constraints.isEmpty()) {
    bounds.assign(bounds.size(), {0, -1});
    return bounds;
  }
  for (auto [i, bound] : llvm::enumerate(bounds)) {
    bound.lower = constraints.getConstantBound64(BoundType::LB, i);
    bound.upper = constraints.getConstantBound64(BoundType::UB, i);
  }
  return bounds;
}
