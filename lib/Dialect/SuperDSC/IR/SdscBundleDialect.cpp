//===- SdscBundleDialect.cpp - The sdscbundle dialect ---------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"

#include "spyre/Numerics/Formats.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdscbundle;

#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscBundleTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscBundleAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscBundleOps.cpp.inc"

void SdscBundleDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "spyre/Dialect/SuperDSC/IR/SdscBundleTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "spyre/Dialect/SuperDSC/IR/SdscBundleAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "spyre/Dialect/SuperDSC/IR/SdscBundleOps.cpp.inc"
      >();
}

bool mlir::sdscbundle::isSizeType(Type type) {
  auto argument = dyn_cast<InputArgType>(type);
  return argument && argument.isSize();
}

unsigned mlir::sdscbundle::getNumAddresses(Operation *function) {
  return llvm::count_if(cast<FunctionOpInterface>(function).getArgumentTypes(),
                        [](Type type) { return !isSizeType(type); });
}

bool mlir::sdscbundle::isPlainFileName(StringRef name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(StringRef("/\\\0", 3)) == StringRef::npos;
}

LogicalResult SdscBundleDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << "cannot carry '" << name << "': it belongs to the bundle function";
  if (name == kArgumentsAttr) {
    auto array = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!array || !llvm::all_of(array, llvm::IsaPred<ArgumentAttr>))
      return op->emitOpError() << "'" << name << "' must be an array of #sdscbundle.argument";
    return success();
  }
  if (name == kPoolBytesAttr) {
    auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!bytes || bytes.getValue().isNegative())
      return op->emitOpError() << "'" << name << "' must be a number of bytes";
    return success();
  }
  if (name == kHasPoolAttr && isa<UnitAttr>(attribute.getValue()))
    return success();
  if (name == kNumbersAttr) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    size_t arguments = getNumAddresses(op) - op->hasAttr(kHasPoolAttr);
    if (!numbers || static_cast<size_t>(numbers.size()) != arguments)
      return op->emitOpError() << "'" << name << "' must be an array<i64> of " << arguments
                               << " numbers, one an argument";
    llvm::SmallDenseSet<int64_t> seen;
    for (int64_t number : numbers.asArrayRef())
      if (number < 0 || !seen.insert(number).second)
        return op->emitOpError() << "'" << name << "' has " << number
                                 << ", which is negative or there twice";
    return success();
  }
  return op->emitOpError() << "has no attribute '" << name << "' of this kind";
}

//===----------------------------------------------------------------------===//
// #sdscbundle.argument
//===----------------------------------------------------------------------===//

static ParseResult parseSizes(AsmParser &parser, DenseI64ArrayAttr &sizes) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(values.emplace_back()); }))
    return failure();
  sizes = DenseI64ArrayAttr::get(parser.getContext(), values);
  return success();
}

Attribute ArgumentAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef role;
  StringAttr array, result, dtype, deviceDtype, arrangement, tail, overflow;
  DenseI64ArrayAttr shape, stride, deviceSize, strideMap, view;
  FloatAttr value;
  if (parser.parseLess() || parser.parseKeyword(&role))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    StringAttr *text = llvm::StringSwitch<StringAttr *>(key)
                           .Case("array", &array)
                           .Case("result", &result)
                           .Case("dtype", &dtype)
                           .Case("device_dtype", &deviceDtype)
                           .Case("element_arrangement", &arrangement)
                           .Case("tail", &tail)
                           .Case("overflow", &overflow)
                           .Default(nullptr);
    DenseI64ArrayAttr *sizes = llvm::StringSwitch<DenseI64ArrayAttr *>(key)
                                   .Case("shape", &shape)
                                   .Case("stride", &stride)
                                   .Case("device_size", &deviceSize)
                                   .Case("stride_map", &strideMap)
                                   .Case("view", &view)
                                   .Default(nullptr);
    ParseResult parsed = success();
    if (text)
      parsed = parser.parseAttribute(*text);
    else if (sizes)
      parsed = parseSizes(parser, *sizes);
    else if (key == "value")
      parsed = parser.parseAttribute(value, Float64Type::get(parser.getContext()));
    else
      parsed = parser.emitError(keyLoc) << "unknown key '" << key << "'";
    if (parsed)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ArgumentAttr>(
      loc, parser.getContext(), StringAttr::get(parser.getContext(), role), array, result, shape,
      dtype, stride, deviceSize, strideMap, deviceDtype, value, arrangement, tail, overflow, view);
}

void ArgumentAttr::print(AsmPrinter &printer) const {
  printer << '<' << getRole().getValue();
  auto printText = [&](StringRef key, StringAttr text) {
    if (text)
      printer << ", " << key << " = " << text;
  };
  auto printSizes = [&](StringRef key, DenseI64ArrayAttr sizes) {
    if (!sizes)
      return;
    printer << ", " << key << " = [";
    llvm::interleaveComma(sizes.asArrayRef(), printer);
    printer << ']';
  };
  printText("array", getArray());
  printText("result", getResult());
  printSizes("shape", getShape());
  printText("dtype", getDtype());
  printSizes("stride", getStride());
  printSizes("device_size", getDeviceSize());
  printSizes("stride_map", getStrideMap());
  printText("device_dtype", getDeviceDtype());
  if (getValue()) {
    printer << ", value = ";
    printer.printAttributeWithoutType(getValue());
  }
  printText("element_arrangement", getElementArrangement());
  printText("tail", getTail());
  printText("overflow", getOverflow());
  printSizes("view", getView());
  printer << '>';
}

LogicalResult ArgumentAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr role,
                                   StringAttr array, StringAttr result, DenseI64ArrayAttr shape,
                                   StringAttr dtype, DenseI64ArrayAttr stride,
                                   DenseI64ArrayAttr deviceSize, DenseI64ArrayAttr strideMap,
                                   StringAttr deviceDtype, FloatAttr value, StringAttr, StringAttr,
                                   StringAttr overflow, DenseI64ArrayAttr) {
  if (overflow && overflow != "infinite")
    return emitError() << "overflow is \"infinite\" or absent";
  bool isConstant = role == "constant", isInOut = role == "input_output";
  if (!isConstant && !isInOut && role != "input" && role != "output")
    return emitError() << "unknown role " << role;
  if (!shape || !dtype || !deviceSize || !strideMap || !deviceDtype)
    return emitError() << "an argument has shape, dtype, device_size, stride_map and device_dtype";
  if (isConstant != static_cast<bool>(value))
    return emitError() << "value belongs to constants, and only to them";
  if (isConstant == static_cast<bool>(array))
    return emitError() << "array belongs to all arguments but constants";
  if (isInOut != static_cast<bool>(result))
    return emitError() << "result belongs to input_output arguments, and only to them";
  if (!::spyre::parseHostType(dtype.getValue()))
    return emitError() << "unknown dtype " << dtype;
  if (!::spyre::parseFormat(deviceDtype.getValue()))
    return emitError() << "unknown data format " << deviceDtype;
  if (stride && stride.size() != shape.size())
    return emitError() << "stride and shape differ in rank";
  if (strideMap.size() != deviceSize.size())
    return emitError() << "stride_map and device_size differ in rank";
  if (llvm::any_of(shape.asArrayRef(), [](int64_t size) { return size < 0; }) ||
      llvm::any_of(deviceSize.asArrayRef(), [](int64_t size) { return size < 1; }))
    return emitError() << "sizes cannot be negative, device sizes not zero";
  return success();
}

//===----------------------------------------------------------------------===//
// !sdscbundle.input_arg, sdscbundle.device_mem_allocate
//===----------------------------------------------------------------------===//

LogicalResult InputArgType::verify(function_ref<InFlightDiagnostic()> emitError, Type,
                                   int64_t granularity, int64_t maxValue) {
  if (granularity == 0 && maxValue == 0)
    return success();
  if (granularity < 1 || maxValue < granularity || maxValue % granularity != 0)
    return emitError() << "a size has a granularity of at least 1, which divides its max_value; "
                          "found granularity "
                       << granularity << ", max_value " << maxValue;
  return success();
}

LogicalResult DeviceMemAllocateOp::verify() {
  constexpr int64_t kMostBytes = int64_t(14) << 30;
  int64_t bytes = static_cast<int64_t>(getBytes());
  if (bytes < 1 || bytes > kMostBytes)
    return emitOpError() << "allocates " << bytes << " bytes; one allocation has 1 to "
                         << kMostBytes << " (14 GiB), larger buffers one of their own each";
  if (!isa_and_nonnull<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError() << "stands in the bundle's function itself, not in a loop";
  return success();
}

//===----------------------------------------------------------------------===//
// sdscbundle.input_arg_extract
//===----------------------------------------------------------------------===//

LogicalResult InputArgExtractOp::verify() {
  if (getInput().getType().getElementType() != getResult().getType())
    return emitOpError() << "extracts " << getResult().getType() << " from "
                         << getInput().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// sdscbundle.sdsc_execute
//===----------------------------------------------------------------------===//

ParseResult SdscExecuteOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseOperandList(operands, AsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return parser.resolveOperands(operands, parser.getBuilder().getIndexType(), result.operands);
}

/// Printed as the reference writes it, quotes and missing blanks included.
void SdscExecuteOp::print(OpAsmPrinter &printer) {
  printer << " (" << getAddresses() << ") {sdsc_filename=" << getSdscFilenameAttr();
  if (std::optional<ArrayAttr> ids = getSymbolIds()) {
    printer << ", \"symbol_ids\"=[";
    llvm::interleaveComma(getSymbolIdValues(), printer);
    printer << ']';
  }
  for (NamedAttribute attribute : (*this)->getDiscardableAttrs()) {
    printer << ", ";
    printer.printKeywordOrString(attribute.getName().getValue());
    if (!isa<UnitAttr>(attribute.getValue()))
      printer << " = " << attribute.getValue();
  }
  printer << '}';
}

SmallVector<int64_t> SdscExecuteOp::getSymbolIdValues() {
  SmallVector<int64_t> ids;
  if (std::optional<ArrayAttr> attribute = getSymbolIds())
    for (Attribute id : *attribute)
      ids.push_back(cast<IntegerAttr>(id).getInt());
  return ids;
}

StringRef SdscExecuteOp::getDescriptorSymbol() {
  StringRef name = getSdscFilename();
  name.consume_back(".json");
  return name;
}

LogicalResult SdscExecuteOp::verify() {
  if (!isPlainFileName(getSdscFilename()))
    return emitOpError() << "names the file " << getSdscFilenameAttr()
                         << ", which is not directly inside the bundle directory";
  SmallVector<int64_t> ids = getSymbolIdValues();
  if (ids.size() != getAddresses().size())
    return emitOpError() << "has " << getAddresses().size() << " addresses for " << ids.size()
                         << " symbol ids";
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t id : ids) {
    if (id >= 0)
      return emitOpError() << "has the symbol id " << id << "; ids are negative";
    if (!seen.insert(id).second)
      return emitOpError() << "has the symbol id " << id << " twice";
  }
  return success();
}
