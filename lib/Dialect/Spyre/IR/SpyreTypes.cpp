//===- SpyreTypes.cpp - Buffers -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Syntax and rules of !spyre.buffer.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/EnumParameter.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spyre;

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/Spyre/IR/SpyreTypes.cpp.inc"

void SpyreDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "spyre/Dialect/Spyre/IR/SpyreTypes.cpp.inc"
      >();
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  LayoutAttr layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() || parser.parseAttribute(layout) ||
      parser.parseComma())
    return {};
  FailureOr<MemorySpace> space = FieldParser<MemorySpace>::parse(parser);
  if (failed(space) || parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(loc, parser.getContext(), shape, elementType, layout,
                                       *space);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType() << ", " << getLayout() << ", " << getSpace() << ">";
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType, LayoutAttr layout,
                                 MemorySpace space) {
  return layout.verifyEncoding(shape, elementType, emitError);
}
