//===- SpyreDeviceOps.cpp - What all device operations share -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One syntax, one verifier, one set of effects for every device operation, and the
// generic builder. Facts about a single operation come from the OpFunc table.
//
// Syntax:
//   spyre.add (d0 = 128 / 32, d1 = 256) loops(%i) ins(%x[d0 + s0 * 8, d1], %y[d1])
//       outs(%o[d0, d1]) constants {eps = 1.0 : f64} : !x, !y -> !o
//   spyre.identity (d0 = 64, d1 = 256) ins(%index[d0], %table[0, d1]) outs(%o[d0, d1])
//       gather(1[0] by 0) : !index, !table -> !o
//   %r = spyre.add (d0 = 128, d1 = 256) ins(%x[d0, d1], %y[d1]) -> [d0, d1] : tx, ty -> tr
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spyre;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

namespace {
/// Names d0, d1, ..., s0, ... of one op's maps while it is parsed.
struct MapNames {
  SmallVector<std::string> storage;
  SmallVector<std::pair<StringRef, AffineExpr>> names;
  unsigned numDims = 0, numSymbols = 0;

  MapNames(MLIRContext *context, unsigned dims, unsigned symbols)
      : numDims(dims), numSymbols(symbols) {
    storage.reserve(dims + symbols);
    for (unsigned i = 0; i < dims; ++i) {
      storage.push_back("d" + std::to_string(i));
      names.emplace_back(storage.back(), getAffineDimExpr(i, context));
    }
    for (unsigned i = 0; i < symbols; ++i) {
      storage.push_back("s" + std::to_string(i));
      names.emplace_back(storage.back(), getAffineSymbolExpr(i, context));
    }
  }
};
} // namespace

static ParseResult parseMap(OpAsmParser &parser, const MapNames &names, AffineMap &map) {
  SmallVector<AffineExpr> results;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
        return parser.parseAffineExpr(names.names, results.emplace_back());
      }))
    return failure();
  map = AffineMap::get(names.numDims, names.numSymbols, results, parser.getContext());
  return success();
}

ParseResult mlir::spyre::detail::parseDeviceOp(OpAsmParser &parser, OperationState &state) {
  Builder &b = parser.getBuilder();
  SmallVector<int64_t> extents, splits;
  bool anySplit = false;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        StringRef name;
        if (parser.parseKeyword(&name))
          return failure();
        std::string expected = "d" + std::to_string(extents.size());
        if (name != expected)
          return parser.emitError(loc) << "iteration dims are named in order: expected '"
                                       << expected << "', got '" << name << "'";
        if (parser.parseEqual() || parser.parseInteger(extents.emplace_back()))
          return failure();
        splits.push_back(1);
        if (succeeded(parser.parseOptionalSlash())) {
          anySplit = true;
          return parser.parseInteger(splits.back());
        }
        return success();
      }))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("k_fast")))
    state.addAttribute("kFast", b.getUnitAttr());

  SmallVector<OpAsmParser::UnresolvedOperand> loops;
  if (succeeded(parser.parseOptionalKeyword("loops")) &&
      parser.parseOperandList(loops, AsmParser::Delimiter::Paren))
    return failure();
  MapNames names(parser.getContext(), extents.size(), loops.size());

  SmallVector<OpAsmParser::UnresolvedOperand> inputs, outputs;
  SmallVector<Attribute> maps;
  auto parseOperandWithMap =
      [&](SmallVectorImpl<OpAsmParser::UnresolvedOperand> &list) -> ParseResult {
    AffineMap map;
    if (parser.parseOperand(list.emplace_back()) || parseMap(parser, names, map))
      return failure();
    maps.push_back(AffineMapAttr::get(map));
    return success();
  };
  if (parser.parseKeyword("ins") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&]() { return parseOperandWithMap(inputs); }))
    return failure();
  bool hasOutput = succeeded(parser.parseOptionalKeyword("outs"));
  if (hasOutput) {
    if (parser.parseLParen() || parseOperandWithMap(outputs) || parser.parseRParen())
      return failure();
  } else {
    AffineMap map;
    if (parser.parseArrow() || parseMap(parser, names, map))
      return failure();
    maps.push_back(AffineMapAttr::get(map));
  }
  if (succeeded(parser.parseOptionalKeyword("gather"))) {
    SmallVector<int64_t> gather(3);
    if (parser.parseLParen() || parser.parseInteger(gather[0]) || parser.parseLSquare() ||
        parser.parseInteger(gather[1]) || parser.parseRSquare() || parser.parseKeyword("by") ||
        parser.parseInteger(gather[2]) || parser.parseRParen())
      return failure();
    state.addAttribute("gather", b.getDenseI64ArrayAttr(gather));
  }
  if (succeeded(parser.parseOptionalKeyword("constants"))) {
    DictionaryAttr constants;
    if (parser.parseAttribute(constants))
      return failure();
    state.addAttribute("constants", constants);
  }
  SMLoc typesLoc;
  SmallVector<Type> inputTypes;
  Type outputType;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColon())
    return failure();
  typesLoc = parser.getCurrentLocation();
  if (!inputs.empty() && parser.parseTypeList(inputTypes))
    return failure();
  if (parser.parseArrow() || parser.parseType(outputType))
    return failure();

  if (parser.resolveOperands(inputs, inputTypes, typesLoc, state.operands))
    return failure();
  if (hasOutput && parser.resolveOperand(outputs[0], outputType, state.operands))
    return failure();
  if (parser.resolveOperands(loops, b.getIndexType(), state.operands))
    return failure();
  if (isa<RankedTensorType>(outputType))
    state.addTypes(outputType);
  state.addAttribute("extents", b.getDenseI64ArrayAttr(extents));
  if (anySplit)
    state.addAttribute("splits", b.getDenseI64ArrayAttr(splits));
  state.addAttribute("maps", b.getArrayAttr(maps));
  state.addAttribute(
      "operandSegmentSizes",
      b.getDenseI32ArrayAttr({static_cast<int32_t>(inputs.size()), static_cast<int32_t>(hasOutput),
                              static_cast<int32_t>(loops.size())}));
  return success();
}

void mlir::spyre::detail::printDeviceOp(OpAsmPrinter &printer, DeviceOpInterface op) {
  printer << " (";
  // A division into one slice is one by hand, too, and has to be seen.
  bool isWhole = llvm::all_of(op.getSplits(), [](int64_t split) { return split == 1; });
  for (auto [i, extent] : llvm::enumerate(op.getExtents())) {
    printer << (i ? ", d" : "d") << i << " = " << extent;
    if (i < op.getSplits().size() && (op.getSplits()[i] != 1 || (isWhole && i == 0)))
      printer << " / " << op.getSplits()[i];
  }
  printer << ")";
  if (op.getKFast())
    printer << " k_fast";
  if (!op.getLoopVariables().empty())
    printer << " loops(" << op.getLoopVariables() << ")";
  auto printMap = [&](AffineMap map) {
    printer << "[";
    llvm::interleaveComma(map.getResults(), printer, [&](AffineExpr e) { printer << e; });
    printer << "]";
  };
  printer << " ins(";
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    printer << (i ? ", " : "") << input;
    printMap(op.getInputMap(i));
  }
  printer << ")";
  Type destinationType = op.getDestination().getType();
  if (Value output = op.getOutput()) {
    printer << " outs(" << output;
    printMap(op.getOutputMap());
    printer << ")";
  } else {
    printer << " -> ";
    printMap(op.getOutputMap());
  }
  if (std::optional<ArrayRef<int64_t>> gather = op.getGather(); gather && gather->size() == 3)
    printer << " gather(" << (*gather)[0] << "[" << (*gather)[1] << "] by " << (*gather)[2] << ")";
  if (DictionaryAttr constants = op.getConstantsAttr())
    printer << " constants " << constants;
  printer.printOptionalAttrDict(op->getAttrs(), {"extents", "splits", "kFast", "maps", "constants",
                                                 "gather", "operandSegmentSizes"});
  printer << " : ";
  llvm::interleaveComma(op.getInputs().getTypes(), printer);
  printer << (op.getInputs().empty() ? "-> " : " -> ") << destinationType;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> mlir::spyre::getShape(Value value) {
  if (auto buffer = dyn_cast<BufferType>(value.getType()))
    return buffer.getShape();
  return cast<RankedTensorType>(value.getType()).getShape();
}

Type mlir::spyre::getElementType(Value value) {
  if (auto buffer = dyn_cast<BufferType>(value.getType()))
    return buffer.getElementType();
  return cast<RankedTensorType>(value.getType()).getElementType();
}

LayoutAttr mlir::spyre::getLayout(Value value) {
  if (auto buffer = dyn_cast<BufferType>(value.getType()))
    return buffer.getLayout();
  return dyn_cast_or_null<LayoutAttr>(cast<RankedTensorType>(value.getType()).getEncoding());
}

SmallVector<DeviceOpInterface> mlir::spyre::getWriters(DeviceOpInterface op) {
  SmallVector<DeviceOpInterface> writers;
  for (DeviceOpInterface next = op; next;) {
    writers.push_back(next);
    Value written = next.getResultTensor();
    next = nullptr;
    for (Operation *user : written.getUsers())
      if (auto device = dyn_cast<DeviceOpInterface>(user); device && device.getOutput() == written)
        next = device;
  }
  return writers;
}

Value mlir::spyre::getRootBuffer(Value buffer) {
  while (auto alias = buffer.getDefiningOp<ReinterpretOp>())
    buffer = alias.getSource();
  return buffer;
}

/// Trip count of the scf.for whose induction variable \p value is; nothing if
/// the bounds are not constants.
static std::optional<int64_t> getTripCountOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || loop.getInductionVar() != value)
    return std::nullopt;
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *lower != 0 || *step != 1 || *upper < 0)
    return std::nullopt;
  return *upper;
}

std::optional<SmallVector<int64_t>> mlir::spyre::getTripCounts(DeviceOpInterface op) {
  SmallVector<int64_t> counts;
  for (Value variable : op.getLoopVariables()) {
    std::optional<int64_t> count = getTripCountOf(variable);
    if (!count)
      return std::nullopt;
    counts.push_back(*count);
  }
  return counts;
}

/// Whether operations of \p category make one element of several.
static bool reducesDims(::spyre::OpCategory category) {
  return category == ::spyre::OpCategory::Reduction ||
         category == ::spyre::OpCategory::Batchmatmul || category == ::spyre::OpCategory::Scan;
}

static LogicalResult verifyMaps(DeviceOpInterface op) {
  unsigned numInputs = op.getInputs().size();
  if (op.getMaps().size() != numInputs + 1)
    return op->emitOpError() << "has " << op.getMaps().size() << " access maps for " << numInputs
                             << " inputs and one output";
  std::optional<SmallVector<int64_t>> tripCounts = getTripCounts(op);
  if (!tripCounts)
    return op->emitOpError() << "loop variables must be those of 'scf.for' from constant 0 to a "
                                "constant in steps of 1";
  SmallVector<int64_t> ranges(op.getExtents());
  ranges.append(*tripCounts);
  for (unsigned i = 0; i <= numInputs; ++i) {
    AffineMap map = op.getMap(i);
    auto where = [&]() -> std::string {
      return i < numInputs ? "input #" + std::to_string(i) : std::string("the output");
    };
    if (map.getNumDims() != op.getNumDims() || map.getNumSymbols() != op.getLoopVariables().size())
      return op->emitOpError() << "access map of " << where() << " is over " << map.getNumDims()
                               << " dims and " << map.getNumSymbols() << " symbols, the op has "
                               << op.getNumDims() << " and " << op.getLoopVariables().size();
    Value operand = i < numInputs ? op.getInputs()[i] : op.getDestination();
    ArrayRef<int64_t> shape = getShape(operand);
    if (map.getNumResults() != shape.size())
      return op->emitOpError() << "access map of " << where() << " gives " << map.getNumResults()
                               << " coordinates, its shape has " << shape.size();
    if (i == numInputs && !reducesDims(op.getInfo().category))
      for (unsigned d = 0; d < op.getNumDims(); ++d)
        if (op.getExtents()[d] > 1 && !map.isFunctionOfDim(d))
          return op->emitOpError() << "reduces nothing, but d" << d << " of extent "
                                   << op.getExtents()[d] << " is in no coordinate of its output";
    if (llvm::is_contained(ranges, 0))
      continue; // no point, nothing to be out of bounds
    FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, ranges);
    if (failed(index))
      return op->emitOpError() << "access map of " << where()
                               << " is no sum of digits "
                                  "c * ((d floordiv k) mod m)";
    for (auto [dim, expr] : llvm::enumerate(index->results)) {
      auto [low, high] = getRange(expr, ranges);
      if (low < 0 || high >= shape[dim])
        return op->emitOpError() << "access map of " << where() << " reaches coordinates " << low
                                 << ".." << high << " of dim " << dim << ", whose extent is "
                                 << shape[dim];
    }
  }
  return success();
}

static LogicalResult verifyGather(DeviceOpInterface op, ArrayRef<int64_t> gather) {
  int64_t numInputs = op.getInputs().size();
  if (gather.size() != 3)
    return op->emitOpError() << "a gather names its table, a dim of it and its index";
  int64_t table = gather[0], dim = gather[1], index = gather[2];
  if (table < 0 || table >= numInputs || index < 0 || index >= numInputs || table == index)
    return op->emitOpError() << "gathers from input #" << table << " by input #" << index
                             << "; two of its " << numInputs << " inputs are needed";
  // No pass before bufferization knows that the table is read elsewhere than its map says.
  if (op.getResultTensor())
    return op->emitOpError() << "a gather works on buffers";
  AffineMap map = op.getMap(table);
  if (dim < 0 || dim >= map.getNumResults())
    return op->emitOpError() << "gathers along dim " << dim << " of input #" << table
                             << ", which has " << map.getNumResults();
  if (auto constant = dyn_cast<AffineConstantExpr>(map.getResult(dim));
      !constant || constant.getValue() != 0)
    return op->emitOpError() << "the access map of input #" << table << " must be 0 at dim " << dim
                             << ", which the index addresses";
  auto element = dyn_cast<IntegerType>(getElementType(op.getInputs()[index]));
  if (!element || (element.getWidth() != 32 && element.getWidth() != 64))
    return op->emitOpError() << "an index has 32-bit or 64-bit integers, input #" << index
                             << " has " << getElementType(op.getInputs()[index]);
  return success();
}

/// Whether any operation of the table has a constant called \p name.
static bool isConstantName(StringRef name) {
  static const llvm::StringSet<> names = [] {
    llvm::StringSet<> set;
    for (const ::spyre::OpFuncInfo &info : ::spyre::getOpFuncTable())
      for (const auto &constant : info.constants)
        set.insert(StringRef(constant));
    return set;
  }();
  return names.contains(name);
}

LogicalResult mlir::spyre::detail::verifyDeviceOp(DeviceOpInterface op) {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  std::optional<ArrayRef<int64_t>> gather = op.getGather();
  int64_t numInputs = static_cast<int64_t>(op.getInputs().size()) - gather.has_value();
  if (numInputs != info.numInputs)
    return op->emitOpError() << "takes " << info.numInputs << " inputs, got " << numInputs
                             << (gather ? " beside the index" : "");

  // Level: all tensors, or all buffers.
  Value output = op.getOutput(), result = op.getResultTensor();
  if (!output && !result)
    return op->emitOpError() << "needs 'outs' (buffers) or a result (tensors)";
  bool buffers = !result;
  for (Value input : op.getInputs())
    if (isa<BufferType>(input.getType()) != buffers)
      return op->emitOpError() << "mixes tensors and buffers";
  if (output && isa<BufferType>(output.getType()) != buffers)
    return op->emitOpError() << "mixes tensors and buffers";
  if (output && result && output.getType() != result.getType())
    return op->emitOpError() << "its result must have the type of 'outs', which it updates";
  if (!buffers && !op.getSplits().empty() &&
      llvm::any_of(op.getLoopVariables(), [](Value) { return true; }))
    return op->emitOpError() << "loop variables belong to buffers";

  for (auto [i, extent] : llvm::enumerate(op.getExtents()))
    if (extent < 0)
      return op->emitOpError() << "extent of d" << i << " is negative";
  if (!op.getSplits().empty()) {
    if (op.getSplits().size() != op.getExtents().size())
      return op->emitOpError() << "has work slices for " << op.getSplits().size() << " of "
                               << op.getExtents().size() << " dims";
    for (auto [i, split] : llvm::enumerate(op.getSplits()))
      if (split < 1)
        return op->emitOpError() << "d" << i << " is cut into " << split << " work slices";
  }
  if (DictionaryAttr constants = op.getConstantsAttr()) {
    for (NamedAttribute constant : constants) {
      if (!isa<FloatAttr, IntegerAttr, BoolAttr>(constant.getValue()))
        return op->emitOpError() << "constant '" << constant.getName().getValue()
                                 << "' must be a number";
      // Constants of other operations are carried along: a descriptor may list what its
      // operation does not read. What no operation has is a mistake.
      StringRef name = constant.getName().getValue();
      if (!isConstantName(name))
        return op->emitOpError() << "has no constant '" << name << "'";
    }
  }
  for (const auto &name : info.constants) {
    DictionaryAttr constants = op.getConstantsAttr();
    if (!constants || !constants.contains(StringRef(name)))
      return op->emitOpError() << "needs the constant '" << StringRef(name) << "'";
  }
  if (failed(verifyMaps(op)))
    return failure();
  return gather ? verifyGather(op, *gather) : success();
}

void mlir::spyre::detail::getDeviceOpEffects(
    DeviceOpInterface op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (op.getResultTensor())
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BufferType>(operand.get().getType()))
      continue;
    if (operand.get() == op.getOutput() && operand.getOperandNumber() == op.getInputs().size())
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

StringRef mlir::spyre::getOperationName(::spyre::OpFunc opFunc) {
  // "spyre." + mnemonic of every specified record, made once; spellings of another record
  // ("sumnonstick") are no operations.
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const ::spyre::OpFuncInfo &info : ::spyre::getOpFuncTable())
      list.push_back(info.specified && info.baseName == info.name
                         ? ("spyre." + StringRef(info.mnemonic)).str()
                         : std::string());
    return list;
  }();
  return names[static_cast<size_t>(opFunc)];
}
