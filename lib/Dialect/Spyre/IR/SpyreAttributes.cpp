//===- SpyreAttributes.cpp - Layouts, placements, distributions -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Syntax and rules of the attributes. What a layout means is in lib/Layout; this
// file only converts and reports.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/EnumParameter.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Layout/TensorLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

using namespace mlir;
using namespace mlir::spyre;

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/Spyre/IR/SpyreAttributes.cpp.inc"

void SpyreDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "spyre/Dialect/Spyre/IR/SpyreAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::optional<::spyre::HostType> mlir::spyre::getHostType(Type type) {
  using ::spyre::HostType;
  if (type.isF16())
    return HostType::Float16;
  if (type.isBF16())
    return HostType::BFloat16;
  if (type.isF32())
    return HostType::Float32;
  if (type.isF64())
    return HostType::Float64;
  if (isa<Float8E4M3FNType>(type))
    return HostType::Float8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return HostType::Float8E5M2;
  if (isa<Float8E4M3FNUZType>(type))
    return HostType::Float8E4M3FNUZ;
  if (isa<Float8E5M2FNUZType>(type))
    return HostType::Float8E5M2FNUZ;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() == 1)
      return HostType::Bool;
    if (integer.isUnsigned())
      return integer.getWidth() == 8 ? std::optional(HostType::UInt8) : std::nullopt;
    switch (integer.getWidth()) {
    case 8:
      return HostType::Int8;
    case 16:
      return HostType::Int16;
    case 32:
      return HostType::Int32;
    case 64:
      return HostType::Int64;
    default:
      return std::nullopt;
    }
  }
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return HostType::Complex64;
    if (complex.getElementType().isF64())
      return HostType::Complex128;
  }
  return std::nullopt;
}

Type mlir::spyre::getElementType(MLIRContext *context, ::spyre::HostType type) {
  using ::spyre::HostType;
  Builder b(context);
  switch (type) {
  case HostType::Float16:
    return b.getF16Type();
  case HostType::BFloat16:
    return b.getBF16Type();
  case HostType::Float32:
    return b.getF32Type();
  case HostType::Float64:
    return b.getF64Type();
  case HostType::Int8:
    return b.getI8Type();
  case HostType::Int16:
    return b.getIntegerType(16);
  case HostType::Int32:
    return b.getI32Type();
  case HostType::Int64:
    return b.getI64Type();
  case HostType::UInt8:
    return b.getIntegerType(8, /*isSigned=*/false);
  case HostType::Bool:
    return b.getI1Type();
  case HostType::Float8E4M3FN:
    return b.getType<Float8E4M3FNType>();
  case HostType::Float8E5M2:
    return b.getType<Float8E5M2Type>();
  case HostType::Float8E4M3FNUZ:
    return b.getType<Float8E4M3FNUZType>();
  case HostType::Float8E5M2FNUZ:
    return b.getType<Float8E5M2FNUZType>();
  case HostType::Complex64:
    return ComplexType::get(b.getF32Type());
  case HostType::Complex128:
    return ComplexType::get(b.getF64Type());
  }
  llvm_unreachable("all host types are covered");
}

std::optional<::spyre::DataFormat> mlir::spyre::getDeviceFormat(Type elementType) {
  std::optional<::spyre::HostType> host = getHostType(elementType);
  return host ? ::spyre::getDeviceFormat(*host) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> deviceSizes, dimOrder, stick;
  Arrangement arrangement = Arrangement::Standard;
  auto parseList = [&](SmallVectorImpl<int64_t> &list) {
    return parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Square, [&]() { return parser.parseInteger(list.emplace_back()); });
  };
  SMLoc loc = parser.getCurrentLocation();
  StringRef formatName;
  SMLoc formatLoc;
  if (parser.parseLess() || parseList(deviceSizes) || parser.parseComma() ||
      parser.parseKeyword("order") || parseList(dimOrder) || parser.parseComma())
    return {};
  formatLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&formatName))
    return {};
  std::optional<::spyre::DataFormat> format = ::spyre::parseFormat(formatName);
  if (!format) {
    parser.emitError(formatLoc) << "'" << formatName << "' is no data format of the device";
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return {};
    if (key == "stick") {
      // Pairs [dim, elements], kept flat.
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
            int64_t dim, elements;
            if (parser.parseLSquare() || parser.parseInteger(dim) || parser.parseComma() ||
                parser.parseInteger(elements) || parser.parseRSquare())
              return failure();
            stick.append({dim, elements});
            return success();
          }))
        return {};
    } else if (key == "arrangement") {
      FailureOr<Arrangement> parsed = FieldParser<Arrangement>::parse(parser);
      if (failed(parsed))
        return {};
      arrangement = *parsed;
    } else {
      parser.emitError(keyLoc) << "expected 'stick' or 'arrangement', got '" << key << "'";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), deviceSizes, dimOrder, *format,
                                       stick, arrangement);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<[" << getDeviceSizes() << "], order [" << getDimOrder() << "], "
          << StringRef(::spyre::getFormatName(getFormat()));
  if (!getStick().empty()) {
    printer << ", stick [";
    for (unsigned i = 0; i < getStick().size(); i += 2)
      printer << (i ? ", [" : "[") << getStick()[i] << ", " << getStick()[i + 1] << "]";
    printer << "]";
  }
  if (getArrangement() != Arrangement::Standard)
    printer << ", arrangement " << getArrangement();
  printer << ">";
}

LogicalResult RunsAttr::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType type,
                               ArrayRef<int64_t> counts, ArrayRef<int64_t> ends,
                               ArrayRef<uint64_t> codes) {
  if (!type || !type.hasStaticShape() || type.getRank() == 0 || type.getNumElements() == 0)
    return emitError() << "runs are for tensors of one dim at least, with elements";
  Type element = type.getElementType();
  if (!element.isInteger(1) && (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() > 64))
    return emitError() << "runs are of floats or truth values, not of " << element;
  const int64_t columns = type.getShape().back(), rows = type.getNumElements() / columns;
  if (std::ssize(counts) != rows)
    return emitError() << "there are runs for " << counts.size() << " rows, and the tensor has "
                       << rows;
  if (ends.size() != codes.size())
    return emitError() << "there are " << ends.size() << " ends and " << codes.size() << " codes";
  const unsigned width = element.getIntOrFloatBitWidth();
  if (width < 64 && llvm::any_of(codes, [&](uint64_t code) { return code >> width != 0; }))
    return emitError() << "a code has more than " << width << " bits";
  size_t at = 0;
  for (auto [row, count] : llvm::enumerate(counts)) {
    int64_t before = 0;
    for (int64_t i = 0; i < count && at < ends.size(); ++i, ++at) {
      if (ends[at] <= before || ends[at] > columns)
        return emitError() << "row " << row << ": run " << i << " ends before column " << ends[at]
                           << ", after one that ends before " << before << " of " << columns;
      before = ends[at];
    }
    if (count < 1 || before != columns)
      return emitError() << "the runs of row " << row << " end before column " << before << " of "
                         << columns;
  }
  if (at != ends.size())
    return emitError() << "there are " << ends.size() << " runs, and the rows have " << at;
  return success();
}

ElementsAttr RunsAttr::getElements(RankedTensorType type, ArrayRef<int64_t> counts,
                                   ArrayRef<int64_t> ends, ArrayRef<uint64_t> codes) {
  RunsAttr runs = RunsAttr::get(type, counts, ends, codes);
  if (type.getNumElements() > kFewElements && !llvm::all_equal(codes))
    return runs;
  SmallVector<char> bytes = runs.getBytes();
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> values = llvm::map_to_vector(bytes, [](char byte) { return byte != 0; });
  return DenseElementsAttr::get(type, ArrayRef<bool>(values));
}

void RunsAttr::forEachRow(
    llvm::function_ref<void(int64_t, ArrayRef<int64_t>, ArrayRef<uint64_t>)> visit) const {
  size_t at = 0;
  for (auto [row, count] : llvm::enumerate(getCounts())) {
    visit(row, getEnds().slice(at, count), getCodes().slice(at, count));
    at += count;
  }
}

SmallVector<char> RunsAttr::getBytes() const {
  const size_t width = llvm::divideCeil(getType().getElementTypeBitWidth(), 8);
  SmallVector<char> bytes(width * size_t(getType().getNumElements()));
  char *next = bytes.data();
  forEachRow([&](int64_t, ArrayRef<int64_t> ends, ArrayRef<uint64_t> codes) {
    int64_t begin = 0;
    for (auto [end, code] : llvm::zip_equal(ends, codes)) {
      for (; begin < end; ++begin, next += width)
        std::memcpy(next, &code, width);
    }
  });
  return bytes;
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> deviceSizes, ArrayRef<int64_t> dimOrder,
                                 ::spyre::DataFormat format, ArrayRef<int64_t> stick,
                                 Arrangement arrangement) {
  if (deviceSizes.size() < 2)
    return emitError() << "a layout has at least two device sizes, the last the stick's";
  if (llvm::any_of(deviceSizes, [](int64_t size) { return size < 0; }))
    return emitError() << "device sizes must not be negative";
  int64_t elements = ::spyre::getElementsPerStick(format);
  // One device size a dim of the stick.
  size_t stickRank = std::max<size_t>(1, stick.size() / 2);
  if (deviceSizes.size() <= stickRank)
    return emitError() << "a stick of " << stickRank << " dims needs more than "
                       << deviceSizes.size() << " device sizes";
  int64_t inStick = 1;
  for (int64_t size : deviceSizes.take_back(stickRank))
    inStick *= std::min<int64_t>(size, elements + 1);
  if (inStick != elements)
    return emitError() << "the innermost device size" << (stickRank > 1 ? "s hold " : " is ")
                       << inStick << ", but a stick of "
                       << StringRef(::spyre::getFormatName(format)) << " has " << elements
                       << " elements";
  SmallVector<bool> seen;
  for (auto [i, dim] : llvm::enumerate(dimOrder)) {
    bool last = i + 1 == dimOrder.size();
    if (dim == -1 && last)
      continue;
    if (dim < 0 || dim >= static_cast<int64_t>(dimOrder.size()))
      return emitError() << "order names dim " << dim << " of a tensor of rank "
                         << dimOrder.size() - (dimOrder.back() == -1);
    seen.resize(std::max<size_t>(seen.size(), dim + 1));
    if (seen[dim])
      return emitError() << "order names dim " << dim << " twice";
    seen[dim] = true;
  }
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  // MLIR's parser asks even where it has refused the element type, with a message.
  if (!elementType)
    return failure();
  size_t rank = getDimOrder().size() - isSparse();
  if (rank != shape.size())
    return emitError() << "the layout orders " << rank << " dims, the tensor has " << shape.size();
  ::spyre::layout::TensorLayout layout = getTensorLayout(shape);
  if (std::vector<std::string> messages = ::spyre::layout::verify(layout); !messages.empty())
    return emitError() << messages.front();
  std::vector<int64_t> expected = ::spyre::layout::getDeviceSizes(layout);
  if (ArrayRef<int64_t>(expected) != getDeviceSizes())
    return emitError() << "device sizes [" << getDeviceSizes()
                       << "] do not hold the tensor in this order; they should be ["
                       << ArrayRef<int64_t>(expected) << "]";
  std::optional<::spyre::HostType> host = getHostType(elementType);
  if (!host)
    return emitError() << "element type " << elementType << " has no place on the device";
  return success();
}

::spyre::layout::TensorLayout LayoutAttr::getTensorLayout(ArrayRef<int64_t> shape) const {
  ::spyre::layout::TensorLayout layout;
  layout.shape.assign(shape.begin(), shape.end());
  layout.dimOrder.assign(getDimOrder().begin(), getDimOrder().end());
  layout.format = getFormat();
  for (unsigned i = 0; i < getStick().size(); i += 2)
    layout.stick.push_back({static_cast<int>(getStick()[i]), getStick()[i + 1]});
  // What the device sizes hold beyond the shape is padding.
  std::vector<::spyre::layout::DeviceDim> plain = ::spyre::layout::getDeviceDims(layout);
  if (plain.size() != getDeviceSizes().size())
    return layout;
  std::vector<int64_t> inMemory(shape.size(), 1), needed(shape.size(), 1);
  for (auto [dim, size] : llvm::zip_equal(plain, getDeviceSizes())) {
    if (dim.dim < 0)
      continue;
    inMemory[dim.dim] *= size;
    needed[dim.dim] *= dim.size;
  }
  if (inMemory == needed)
    return layout;
  layout.paddedShape = layout.shape;
  for (size_t i = 0; i < shape.size(); ++i)
    if (inMemory[i] > needed[i])
      layout.paddedShape[i] = inMemory[i];
  return layout;
}

LayoutAttr LayoutAttr::get(MLIRContext *context, const ::spyre::layout::TensorLayout &layout,
                           Arrangement arrangement) {
  std::vector<int64_t> deviceSizes = ::spyre::layout::getDeviceSizes(layout);
  SmallVector<int64_t> order(layout.dimOrder.begin(), layout.dimOrder.end()), stick;
  for (const ::spyre::layout::StickDim &part : layout.stick)
    stick.append({part.dim, part.elements});
  return get(context, deviceSizes, order, layout.format, stick, arrangement);
}

LayoutAttr LayoutAttr::getDefault(MLIRContext *context, ArrayRef<int64_t> shape,
                                  ::spyre::DataFormat format) {
  return get(context, ::spyre::layout::getDefaultLayout(
                          std::vector<int64_t>(shape.begin(), shape.end()), format));
}

LayoutAttr LayoutAttr::withArrangement(Arrangement arrangement) const {
  return get(getContext(), getDeviceSizes(), getDimOrder(), getFormat(), getStick(), arrangement);
}

int64_t LayoutAttr::getSizeInBytes() const {
  int64_t sticks = 1;
  for (int64_t size : getDeviceSizes().drop_back())
    sticks *= size;
  return sticks * ::spyre::kStickInBytes;
}

//===----------------------------------------------------------------------===//
// PlacementAttr, DistributionAttr
//===----------------------------------------------------------------------===//

LogicalResult PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                    PlacementKind kind, int64_t addressInBytes) {
  if (addressInBytes < 0 || addressInBytes % ::spyre::kStickInBytes)
    return emitError() << "address " << addressInBytes
                       << " is not a non-negative multiple of 128 bytes";
  return success();
}

LogicalResult DistributionAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t cores,
                                       ArrayRef<int64_t> slices, AffineMap map) {
  // Every core's slice is computed below; descriptors have the same limit.
  constexpr int64_t kMaxCores = 4096;
  if (cores < 1)
    return emitError() << "a distribution needs at least one core";
  if (cores > kMaxCores)
    return emitError() << "a distribution over " << cores << " cores: no more than " << kMaxCores
                       << " are supported";
  if (map.getNumDims() != 1 || map.getNumSymbols() != 0)
    return emitError() << "the map goes from the core's number to a slice a dim";
  if (map.getNumResults() != slices.size())
    return emitError() << "the map names " << map.getNumResults() << " slices, but there are "
                       << slices.size() << " dims";
  Builder b(map.getContext());
  // Without dims there is nothing to look up (and constantFold fails).
  for (int64_t core = 0; core < cores && !slices.empty(); ++core) {
    SmallVector<Attribute> results;
    if (failed(map.constantFold({b.getIndexAttr(core)}, results)))
      return emitError() << "the map is undefined for core " << core;
    for (auto [dim, result] : llvm::enumerate(results)) {
      int64_t slice = cast<IntegerAttr>(result).getInt();
      if (slice < 0 || slice >= slices[dim])
        return emitError() << "core " << core << " holds slice " << slice << " of dim " << dim
                           << ", which has " << slices[dim];
    }
  }
  return success();
}
