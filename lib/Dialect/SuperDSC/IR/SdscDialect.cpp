//===- SdscDialect.cpp - The sdsc dialect's types and attributes ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"
#include "spyre/Dialect/EnumParameter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdsc;

#include "spyre/Dialect/SuperDSC/IR/SdscDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscAttributes.cpp.inc"

void SdscDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "spyre/Dialect/SuperDSC/IR/SdscTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "spyre/Dialect/SuperDSC/IR/SdscAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "spyre/Dialect/SuperDSC/IR/SdscOps.cpp.inc"
      >();
}

/// A name as it occurs in the files; quoted if it is no keyword.
static ParseResult parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

static void printName(AsmPrinter &printer, StringAttr name) {
  printer.printKeywordOrString(name.getValue());
}

//===----------------------------------------------------------------------===//
// #sdsc.format
//===----------------------------------------------------------------------===//

Attribute FormatAttr::parse(AsmParser &parser, Type) {
  FormatAttr format;
  if (parser.parseLess() || parseName(parser, format) || parser.parseGreater())
    return {};
  return format;
}

void FormatAttr::print(AsmPrinter &printer) const {
  printer << '<' << StringRef(::spyre::getFormatName(getValue())) << '>';
}

ParseResult FormatAttr::parseName(AsmParser &parser, FormatAttr &format) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  std::optional<::spyre::DataFormat> value = ::spyre::parseFormat(name);
  if (!value)
    return parser.emitError(loc) << "'" << name << "' is no data format of the device";
  format = FormatAttr::get(parser.getContext(), *value);
  return success();
}

//===----------------------------------------------------------------------===//
// #sdsc.dim
//===----------------------------------------------------------------------===//

Attribute DimAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringAttr name;
  int64_t size = 0, slices = 0, coreSize = 0, lastSize = 0;
  if (parser.parseLess() || parseName(parser, name) || parser.parseEqual() ||
      parser.parseInteger(size) || parser.parseKeyword("in") || parser.parseInteger(slices))
    return {};
  if (size < 1 || slices < 1)
    return parser.emitError(loc, "extent and slices must be positive"), Attribute();
  coreSize = size / slices;
  if (succeeded(parser.parseOptionalKeyword("core")) && parser.parseInteger(coreSize))
    return {};
  bool hasLast = succeeded(parser.parseOptionalKeyword("last"));
  if (hasLast && parser.parseInteger(lastSize))
    return {};
  if (coreSize < 1 || (hasLast && lastSize < 1))
    return parser.emitError(loc, "the size of a slice must be positive"), Attribute();
  bool isSymbolic = succeeded(parser.parseOptionalKeyword("symbolic"));
  if (parser.parseGreater())
    return {};
  return DimAttr::get(parser.getContext(), name, size, slices, coreSize, lastSize, isSymbolic);
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printName(printer, getName());
  printer << " = " << getSize() << " in " << getNumSlices();
  if (getNumSlices() == 0 || getCoreSize() != getSize() / getNumSlices())
    printer << " core " << getCoreSize();
  if (getLastSize() != 0)
    printer << " last " << getLastSize();
  if (getIsSymbolic())
    printer << " symbolic";
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #sdsc.layout
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  StringAttr label;
  SmallVector<StringAttr> order, sticks;
  SmallVector<int64_t> sizes;
  if (parser.parseLess() || parseName(parser, label) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseName(parser, order.emplace_back()); }) ||
      parser.parseComma() || parser.parseKeyword("stick") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&]() -> ParseResult {
                                       return failure(parseName(parser, sticks.emplace_back()) ||
                                                      parser.parseColon() ||
                                                      parser.parseInteger(sizes.emplace_back()));
                                     }) ||
      parser.parseGreater())
    return {};
  return LayoutAttr::get(parser.getContext(), label, order, sticks, sizes);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printName(printer, getLabel());
  printer << ", [";
  llvm::interleaveComma(getDimOrder(), printer, [&](StringAttr dim) { printName(printer, dim); });
  printer << "], stick [";
  llvm::interleaveComma(llvm::zip(getStickDims(), getStickSizes()), printer, [&](auto stick) {
    printName(printer, std::get<0>(stick));
    printer << " : " << std::get<1>(stick);
  });
  printer << "]>";
}

//===----------------------------------------------------------------------===//
// #sdsc.coordinate
//===----------------------------------------------------------------------===//

static ParseResult parsePadding(AsmParser &parser, ::spyre::sdsc::PaddingKind &padding) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<::spyre::sdsc::PaddingKind> kind =
      ::spyre::sdsc::parsePaddingKind({name.data(), name.size()});
  if (!kind)
    return parser.emitError(loc) << "'" << name << "' is no kind of padding";
  padding = *kind;
  return success();
}

Attribute CoordinateAttr::parse(AsmParser &parser, Type) {
  StringAttr dim;
  ::spyre::sdsc::PaddingKind padding = ::spyre::sdsc::PaddingKind::NoPad;
  SmallVector<StringAttr> labels;
  SmallVector<int64_t> factors, alphas, betas;
  int64_t spatial = 3, temporal = 0;
  auto parseFold = [&]() -> ParseResult {
    if (parseName(parser, labels.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(factors.emplace_back()) || parser.parseStar() ||
        parser.parseInteger(alphas.emplace_back()))
      return failure();
    betas.push_back(0);
    if (succeeded(parser.parseOptionalPlus()))
      return parser.parseInteger(betas.back());
    return success();
  };
  if (parser.parseLess() || parseName(parser, dim) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFold))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult parsed = success();
    if (key == "spatial")
      parsed = parser.parseInteger(spatial);
    else if (key == "temporal")
      parsed = parser.parseInteger(temporal);
    else if (key == "padding")
      parsed = parsePadding(parser, padding);
    else
      parsed = parser.emitError(loc) << "unknown key '" << key << "'";
    if (parsed)
      return {};
  }
  if (parser.parseGreater())
    return {};
  // elemArr is determined: the folds beyond core, corelet and row.
  return CoordinateAttr::get(parser.getContext(), dim, spatial, temporal,
                             static_cast<int64_t>(labels.size()) - 3, padding, labels, factors,
                             alphas, betas);
}

void CoordinateAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printName(printer, getDim());
  printer << ", [";
  llvm::interleaveComma(llvm::zip(getLabels(), getFactors(), getAlphas(), getBetas()), printer,
                        [&](auto fold) {
                          printName(printer, std::get<0>(fold));
                          printer << " : " << std::get<1>(fold) << " * " << std::get<2>(fold);
                          if (std::get<3>(fold) != 0)
                            printer << " + " << std::get<3>(fold);
                        });
  printer << ']';
  if (getSpatial() != 3)
    printer << ", spatial = " << getSpatial();
  if (getTemporal() != 0)
    printer << ", temporal = " << getTemporal();
  if (getPadding() != ::spyre::sdsc::PaddingKind::NoPad)
    printer << ", padding = " << StringRef(::spyre::sdsc::getPaddingName(getPadding()));
  printer << '>';
}

AffineMap CoordinateAttr::getAffineMap() const {
  AffineExpr sum = getAffineConstantExpr(0, getContext());
  for (unsigned i = 0; i < getAlphas().size(); ++i)
    sum = sum + getAffineDimExpr(i, getContext()) * getAlphas()[i] + getBetas()[i];
  return AffineMap::get(getAlphas().size(), 0, sum);
}

//===----------------------------------------------------------------------===//
// #sdsc.gap
//===----------------------------------------------------------------------===//

Attribute GapAttr::parse(AsmParser &parser, Type) {
  StringAttr dim;
  SmallVector<int64_t> gaps;
  if (parser.parseLess() || parseName(parser, dim) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(gaps.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return GapAttr::get(parser.getContext(), dim, gaps);
}

void GapAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printName(printer, getDim());
  printer << ", [";
  llvm::interleaveComma(getGaps(), printer);
  printer << "]>";
}
