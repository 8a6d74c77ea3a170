//===- SdscOps.cpp - The sdsc dialect's operations ------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assembly and verifiers. The verifiers check what the conversion to a
// descriptor relies on: names that refer to something, lengths that fit. The
// format's own rules are sdsc-verify's.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/EnumParameter.h"
#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"

#include "spyre/Numerics/Formats.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::sdsc;

static ParseResult parseFormat(OpAsmParser &parser, FormatAttr &format) {
  return FormatAttr::parseName(parser, format);
}

static void printFormat(OpAsmPrinter &printer, Operation *, FormatAttr format) {
  printer << StringRef(::spyre::getFormatName(format.getValue()));
}

static ParseResult parseComponent(OpAsmParser &parser, ComponentAttr &component) {
  FailureOr<::spyre::MemorySpace> value = FieldParser<::spyre::MemorySpace>::parse(parser);
  if (failed(value))
    return failure();
  component = ComponentAttr::get(parser.getContext(), *value);
  return success();
}

#define GET_OP_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscOps.cpp.inc"

static ParseResult parseNames(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        std::string text;
        if (parser.parseKeywordOrString(&text))
          return failure();
        values.push_back(parser.getBuilder().getStringAttr(text));
        return success();
      }))
    return failure();
  names = parser.getBuilder().getArrayAttr(values);
  return success();
}

static void printNames(OpAsmPrinter &printer, ArrayAttr names) {
  printer << '[';
  llvm::interleaveComma(names, printer, [&](Attribute name) {
    if (auto text = dyn_cast<StringAttr>(name))
      printer.printKeywordOrString(text.getValue());
    else
      printer << name;
  });
  printer << ']';
}

static ParseResult parseNumbers(OpAsmParser &parser, DenseI64ArrayAttr &numbers) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(values.emplace_back()); }))
    return failure();
  numbers = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printNumbers(OpAsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

/// `[<…>, <…>]` for an array of attributes of one class.
template <typename AttrT> static ParseResult parseAttrList(OpAsmParser &parser, ArrayAttr &list) {
  SmallVector<Attribute> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        Attribute value = AttrT::parse(parser, {});
        values.push_back(value);
        return success(static_cast<bool>(value));
      }))
    return failure();
  list = parser.getBuilder().getArrayAttr(values);
  return success();
}

template <typename AttrT> static void printAttrList(OpAsmPrinter &printer, ArrayAttr list) {
  printer << '[';
  llvm::interleaveComma(list, printer, [&](Attribute value) {
    if (auto typed = dyn_cast<AttrT>(value))
      typed.print(printer);
    else
      printer << value;
  });
  printer << ']';
}

/// The product of all slices, or 0 if it is beyond any device.
static int64_t getNumSlices(ArrayAttr dims) {
  int64_t product = 1;
  for (Attribute attribute : dims)
    if (auto dim = dyn_cast<DimAttr>(attribute)) {
      if (dim.getNumSlices() < 1 || dim.getNumSlices() > (1 << 20) || product > (1 << 20))
        return 0;
      product *= dim.getNumSlices();
    }
  return product;
}

//===----------------------------------------------------------------------===//
// sdsc.descriptor
//===----------------------------------------------------------------------===//

ParseResult DescriptorOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  int64_t index = 0;
  ArrayAttr dims, layouts;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parser.parseKeyword("index") || parser.parseInteger(index) || parser.parseKeyword("dims") ||
      parseAttrList<DimAttr>(parser, dims))
    return failure();
  int64_t cores = getNumSlices(dims);
  if (succeeded(parser.parseOptionalKeyword("cores")) && parser.parseInteger(cores))
    return failure();
  if (parser.parseKeyword("layouts") || parseAttrList<LayoutAttr>(parser, layouts) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute(getIndexAttrName(result.name), builder.getI64IntegerAttr(index));
  result.addAttribute(getCoresAttrName(result.name), builder.getI64IntegerAttr(cores));
  result.addAttribute(getDimsAttrName(result.name), dims);
  result.addAttribute(getLayoutsAttrName(result.name), layouts);
  Region *body = result.addRegion();
  if (parser.parseRegion(*body))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void DescriptorOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " index " << getIndex() << " dims ";
  printAttrList<DimAttr>(printer, getDims());
  if (static_cast<int64_t>(getCores()) != getNumSlices(getDims()))
    printer << " cores " << getCores();
  printer << " layouts ";
  printAttrList<LayoutAttr>(printer, getLayouts());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getIndexAttrName(), getCoresAttrName(),
                            getDimsAttrName(), getLayoutsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult DescriptorOp::verify() {
  if (static_cast<int64_t>(getIndex()) < 0)
    return emitOpError() << "has a negative index";
  int64_t cores = getCores();
  if (cores < 1 || cores > 4096)
    return emitOpError() << "runs on " << cores << " cores";
  llvm::StringSet<> dimNames, labels;
  for (Attribute attribute : getDims()) {
    auto dim = dyn_cast<DimAttr>(attribute);
    if (!dim)
      return emitOpError() << "'dims' holds " << attribute << " where #sdsc.dim is expected";
    if (dim.getName().empty() || !dimNames.insert(dim.getName()).second)
      return emitOpError() << "has the dim " << dim.getName() << " twice, or without a name";
    if (dim.getSize() < 1 || dim.getNumSlices() < 1 || dim.getCoreSize() < 1)
      return emitOpError() << "has a dim with a size that is not positive: " << dim;
  }
  auto isDim = [&](StringAttr name) { return dimNames.contains(name.getValue()); };
  for (Attribute attribute : getLayouts()) {
    auto layout = dyn_cast<LayoutAttr>(attribute);
    if (!layout)
      return emitOpError() << "'layouts' holds " << attribute << " where #sdsc.layout is expected";
    if (!labels.insert(layout.getLabel()).second)
      return emitOpError() << "has the layout class " << layout.getLabel() << " twice";
    if (!llvm::all_of(layout.getDimOrder(), isDim) || !llvm::all_of(layout.getStickDims(), isDim))
      return emitOpError() << "has a layout class with a dim that the operation lacks: " << layout;
    if (layout.getStickDims().size() != layout.getStickSizes().size())
      return emitOpError() << "has a layout class without a size for each stick dim: " << layout;
  }
  int64_t numDims = getDims().size();
  if (std::optional<ArrayRef<int64_t>> order = getCoreOrder()) {
    SmallVector<int64_t> sorted(*order);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, numDims)))
      return emitOpError() << "'core_order' is no permutation of the dims' positions";
  }
  if (std::optional<ArrayRef<int64_t>> slices = getCoreToSlice())
    if (static_cast<int64_t>(slices->size()) != cores * numDims)
      return emitOpError() << "'core_to_slice' has " << slices->size() << " entries, expected "
                           << cores << " cores x " << numDims << " dims";
  // Dims that the rare fields name.
  auto checkDims = [&]<typename AttrT>(std::optional<ArrayAttr> list, AttrT) -> LogicalResult {
    for (Attribute entry : list.value_or(ArrayAttr::get(getContext(), {})))
      if (!isDim(cast<AttrT>(entry).getDim()))
        return emitOpError() << "has " << entry << " of a dim that the operation lacks";
    return success();
  };
  if (failed(checkDims(getDimSymbols(), SymbolsAttr())) ||
      failed(checkDims(getSteadySymbolic(), SymbolicAttr())) ||
      failed(checkDims(getLastSymbolic(), SymbolicAttr())) ||
      failed(checkDims(getWindows(), WindowAttr())) ||
      failed(checkDims(getSteadyWindows(), WindowAttr())) ||
      failed(checkDims(getLastWindows(), WindowAttr())))
    return failure();
  for (std::optional<ArrayAttr> list : {getWindows(), getSteadyWindows(), getLastWindows()})
    for (Attribute window : list.value_or(ArrayAttr::get(getContext(), {})))
      if (size_t count = cast<WindowAttr>(window).getUnneeded().size(); count != 0 && count != 3)
        return emitOpError() << "has a window with " << count << " unneeded sizes; there are three";
  if (std::optional<ArrayAttr> schedule = getSchedule()) {
    if (static_cast<int64_t>(schedule->size()) != cores)
      return emitOpError() << "'schedule' is of " << schedule->size() << " cores, expected "
                           << cores;
    for (Attribute steps : *schedule)
      if (cast<DenseI64ArrayAttr>(steps).size() % 4 != 0)
        return emitOpError() << "'schedule' has steps that are not four numbers each";
  }
  if (std::optional<DictionaryAttr> data = getBundleFoldData())
    for (NamedAttribute entry : *data)
      if (!isa<StringAttr>(entry.getValue()))
        return emitOpError() << "'bundle_fold_data' maps " << entry.getName() << " to no text";
  if (std::optional<DictionaryAttr> fields = getUnknownFields())
    for (NamedAttribute field : *fields)
      if (!isa<StringAttr>(field.getValue()))
        return emitOpError() << "'unknown_fields' maps " << field.getName()
                             << " to something that is no JSON text";
  return success();
}

LogicalResult DescriptorOp::verifyRegions() {
  llvm::StringSet<> dimNames;
  llvm::StringMap<LayoutAttr> layouts;
  for (Attribute dim : getDims())
    dimNames.insert(cast<DimAttr>(dim).getName());
  for (Attribute layout : getLayouts())
    layouts[cast<LayoutAttr>(layout).getLabel()] = cast<LayoutAttr>(layout);
  size_t cores = getCores();
  auto isDim = [&](Attribute name) {
    auto text = dyn_cast<StringAttr>(name);
    return text && dimNames.contains(text.getValue());
  };

  Operation *compute = nullptr;
  int64_t numConstants = 0;
  for (Operation &op : getBody().front()) {
    if (isa<ConstantOp>(op)) {
      ++numConstants;
    } else if (auto mask = dyn_cast<MaskOp>(op)) {
      if (!dimNames.contains(mask.getDim()))
        return mask.emitOpError() << "masks the dim \"" << mask.getDim()
                                  << "\", which the operation lacks";
    } else if (auto allocate = dyn_cast<AllocateOp>(op)) {
      auto layout = layouts.find(allocate.getLabel());
      if (layout == layouts.end())
        return allocate.emitOpError() << "names the layout class \"" << allocate.getLabel()
                                      << "\", which the descriptor lacks";
      if (allocate.getScale().size() != layout->second.getDimOrder().size())
        return allocate.emitOpError()
               << "has " << allocate.getScale().size() << " scales for "
               << layout->second.getDimOrder().size() << " dims of its layout class";
      if (!llvm::all_of(allocate.getDimOrder(), isDim) ||
          (allocate.getSliceDims() && !llvm::all_of(*allocate.getSliceDims(), isDim)))
        return allocate.emitOpError() << "has a dim that the operation lacks";
      size_t addresses = allocate.getStartAddress().size();
      if (addresses != 1 && addresses != cores)
        return allocate.emitOpError() << "has " << addresses << " start addresses for " << cores
                                      << " cores (one stands for all)";
      if (std::optional<ArrayRef<int64_t>> slices = allocate.getCoreToSlice())
        if (!allocate.getSliceDims() || slices->size() != cores * allocate.getSliceDims()->size())
          return allocate.emitOpError() << "has a 'core_to_slice' that does not fit 'slice_dims'";
      for (Attribute gap : allocate.getBackGap().value_or(ArrayAttr::get(getContext(), {})))
        if (!isDim(cast<GapAttr>(gap).getDim()) || (cast<GapAttr>(gap).getGaps().size() != 1 &&
                                                    cast<GapAttr>(gap).getGaps().size() != cores))
          return allocate.emitOpError() << "has a gap of an unknown dim or of the wrong length";
      for (Attribute coordinate :
           allocate.getCoordinates().value_or(ArrayAttr::get(getContext(), {})))
        if (!isDim(cast<CoordinateAttr>(coordinate).getDim()))
          return allocate.emitOpError() << "has a coordinate of a dim that the operation lacks";
    } else if (isa<ComputeOp>(op)) {
      if (compute)
        return op.emitOpError() << "is the second one of its descriptor";
      compute = &op;
    } else {
      return op.emitOpError() << "cannot stand in a descriptor";
    }
  }
  if (!compute)
    return emitOpError() << "has no sdsc.compute";
  if (std::optional<uint64_t> mask = cast<ComputeOp>(compute).getMaskConstant())
    if (static_cast<int64_t>(*mask) < 0 || static_cast<int64_t>(*mask) >= numConstants)
      return compute->emitOpError()
             << "masks with constant " << static_cast<int64_t>(*mask) << " of " << numConstants;
  return success();
}

//===----------------------------------------------------------------------===//
// sdsc.allocate
//===----------------------------------------------------------------------===//

ParseResult AllocateOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name, label;
  FormatAttr format;
  ComponentAttr component;
  ArrayAttr dimOrder;
  DenseI64ArrayAttr scale, addresses;
  if (parser.parseAttribute(name) || parseComponent(parser, component) ||
      parser.parseAttribute(label) || parseNames(parser, dimOrder) ||
      parser.parseKeyword("scale") || parseNumbers(parser, scale) || parseFormat(parser, format))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("symbolic")))
    result.addAttribute(getSymbolicAttrName(result.name), builder.getUnitAttr());
  if (parser.parseKeyword("at") || parseNumbers(parser, addresses) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.addAttribute(getNameAttrName(result.name), name);
  result.addAttribute(getComponentAttrName(result.name), component);
  result.addAttribute(getLabelAttrName(result.name), label);
  result.addAttribute(getDimOrderAttrName(result.name), dimOrder);
  result.addAttribute(getScaleAttrName(result.name), scale);
  result.addAttribute(getFormatAttrName(result.name), format);
  result.addAttribute(getStartAddressAttrName(result.name), addresses);
  result.addTypes(AllocationType::get(parser.getContext()));
  return success();
}

void AllocateOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << ' ' << getComponent() << ' ' << getLabelAttr() << ' ';
  printNames(printer, getDimOrder());
  printer << " scale ";
  printNumbers(printer, getScale());
  printer << ' ';
  printFormat(printer, *this, getFormatAttr());
  if (getSymbolic())
    printer << " symbolic";
  printer << " at ";
  printNumbers(printer, getStartAddress());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getNameAttrName(), getComponentAttrName(), getLabelAttrName(),
                                 getDimOrderAttrName(), getScaleAttrName(), getFormatAttrName(),
                                 getSymbolicAttrName(), getStartAddressAttrName()});
}

void AllocateOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), getName()); }

LogicalResult AllocateOp::verify() {
  for (int64_t scale : getScale())
    if (scale != 1 && scale != -1 && scale != -2)
      return emitOpError() << "has the scale " << scale << "; 1, -1 and -2 exist";
  if (std::optional<ArrayRef<int64_t>> sizes = getMaxDimSizes())
    if (sizes->size() != getDimOrder().size())
      return emitOpError() << "has " << sizes->size() << " 'max_dim_sizes' for "
                           << getDimOrder().size() << " dims";
  if (getWordLength() && static_cast<int64_t>(*getWordLength()) < 1)
    return emitOpError() << "has a word length that is not positive";
  for (Attribute coordinate : getCoordinates().value_or(ArrayAttr::get(getContext(), {})))
    if (cast<CoordinateAttr>(coordinate).getLabels().size() < 3)
      return emitOpError() << "has a coordinate without core, corelet and row fold: " << coordinate;
  if (std::optional<ArrayAttr> memories = getMemories())
    for (Attribute memory : *memories) {
      auto text = dyn_cast<StringAttr>(memory);
      if (!text || (text != "hbm" && text != "lx"))
        return emitOpError() << "'memories' holds \"hbm\" and \"lx\" only";
    }
  return success();
}

//===----------------------------------------------------------------------===//
// sdsc.constant
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  FormatAttr format;
  int64_t bits = 0;
  if (parser.parseAttribute(name, getNameAttrName(result.name), result.attributes) ||
      parseFormat(parser, format) || parser.parseInteger(bits) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.addAttribute(getFormatAttrName(result.name), format);
  result.addAttribute(getBitsAttrName(result.name), parser.getBuilder().getI64IntegerAttr(bits));
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << ' ';
  printFormat(printer, *this, getFormatAttr());
  printer << " 0x";
  printer.getStream() << llvm::utohexstr(getBits());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getNameAttrName(), getFormatAttrName(), getBitsAttrName()});
}

LogicalResult ConstantOp::verify() {
  if (getBits() > 0xFFFFFFFFull)
    return emitOpError() << "has more than 32 bits";
  return success();
}
