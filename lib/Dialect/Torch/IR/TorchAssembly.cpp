//===- TorchAssembly.cpp - Text of torch operations -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and prints any `torch.…` operation. Most have one form:
//   torch.x %a, %b {attributes} : types -> types
// where either list of types may stand in parentheses. Those with a form of their
// own have a line in `getForm`. The printer writes what torch-mlir writes, and
// leaves an operation that is not built as its form needs to the generic printer.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::torch_reader;

namespace {
enum class Form {
  Generic,
  GenericParens, ///< prints operand types in parentheses
  GenericTo,     ///< `: type to type`
  Constant,
  Literal,
  CustomOperator,
  SymbolicInt,
  BindSymbolicShape,
  CopyToValueTensor,
  CopyToTensor,
  Overwrite,
  If,
  Loop,
  LoopCondition,
  RuntimeAssert,
  GlobalSlot,
  GlobalSlotGet,
  GlobalSlotSet,
  ModuleInitializer,
  InitializeGlobalSlots,
};
using Operand = OpAsmParser::UnresolvedOperand;
} // namespace

static Form getForm(StringRef name) {
  return llvm::StringSwitch<Form>(name)
      .Cases({names::constantInt, names::constantFloat, names::constantBool, names::constantStr,
              names::constantNone, names::constantDevice, names::constantNumber},
             Form::Constant)
      .Cases({names::valueTensorLiteral, names::tensorLiteral}, Form::Literal)
      .Cases({names::listConstruct, names::dictConstruct}, Form::GenericParens)
      .Cases({names::derefine, names::staticInfoCast}, Form::GenericTo)
      .Case(names::customOperator, Form::CustomOperator)
      .Case(names::symbolicInt, Form::SymbolicInt)
      .Case(names::bindSymbolicShape, Form::BindSymbolicShape)
      .Case(names::copyToValueTensor, Form::CopyToValueTensor)
      .Case(names::copyToTensor, Form::CopyToTensor)
      .Case(names::overwriteTensor, Form::Overwrite)
      .Case(names::primIf, Form::If)
      .Case(names::primLoop, Form::Loop)
      .Case(names::loopCondition, Form::LoopCondition)
      .Case(names::runtimeAssert, Form::RuntimeAssert)
      .Case(names::globalSlot, Form::GlobalSlot)
      .Case(names::globalSlotGet, Form::GlobalSlotGet)
      .Case(names::globalSlotSet, Form::GlobalSlotSet)
      .Case(names::moduleInitializer, Form::ModuleInitializer)
      .Case(names::initializeGlobalSlots, Form::InitializeGlobalSlots)
      .Default(Form::Generic);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Types without or in parentheses; none at all before an arrow.
static ParseResult parseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  if (failed(parser.parseOptionalLParen()))
    return parser.parseTypeList(types);
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  return failure(failed(parser.parseTypeList(types)) || failed(parser.parseRParen()));
}

/// `: types -> types`, the whole or the second part left out where there is nothing.
static ParseResult parseSignature(OpAsmParser &parser, SMLoc loc, ArrayRef<Operand> operands,
                                  OperationState &state) {
  SmallVector<Type> operandTypes;
  auto parseResults = [&] { return parseTypes(parser, state.types); };
  if (succeeded(parser.parseOptionalColon())) {
    if (succeeded(parser.parseOptionalArrow())) {
      if (parseResults())
        return failure();
    } else {
      if (parseTypes(parser, operandTypes))
        return failure();
      if (succeeded(parser.parseOptionalArrow()) || succeeded(parser.parseOptionalKeyword("to")))
        if (parseResults())
          return failure();
    }
  } else if (!operands.empty()) {
    return parser.emitError(parser.getCurrentLocation(), "expected ':' and the types of '")
           << state.name.getStringRef() << "'";
  }
  return parser.resolveOperands(operands, operandTypes, loc, state.operands);
}

static ParseResult parseGeneric(OpAsmParser &parser, OperationState &state) {
  SmallVector<Operand> operands;
  SMLoc loc = parser.getCurrentLocation();
  return failure(failed(parser.parseOperandList(operands)) ||
                 failed(parser.parseOptionalAttrDict(state.attributes)) ||
                 failed(parseSignature(parser, loc, operands, state)));
}

static ParseResult parseConstant(OpAsmParser &parser, OperationState &state) {
  MLIRContext *context = parser.getContext();
  Builder builder(context);
  StringRef name = state.name.getStringRef();
  Attribute value;
  Type type;
  if (name == names::constantInt) {
    int64_t number = 0;
    if (parser.parseInteger(number))
      return failure();
    value = builder.getI64IntegerAttr(number);
    type = IntType::get(context);
  } else if (name == names::constantFloat) {
    FloatAttr number;
    if (parser.parseAttribute(number, builder.getF64Type()))
      return failure();
    value = number;
    type = torch_reader::FloatType::get(context);
  } else if (name == names::constantBool) {
    BoolAttr flag;
    if (parser.parseAttribute(flag))
      return failure();
    value = flag;
    type = BoolType::get(context);
  } else if (name == names::constantNone) {
    type = torch_reader::NoneType::get(context);
  } else if (name == names::constantNumber) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseAttribute(value))
      return failure();
    if (!isa<IntegerAttr, FloatAttr>(value))
      return parser.emitError(loc, "expected a number");
    type = NumberType::get(context);
  } else {
    StringAttr text;
    if (parser.parseAttribute(text))
      return failure();
    value = text;
    type = name == names::constantStr ? Type(StringType::get(context))
                                      : Type(DeviceType::get(context));
  }
  if (value)
    state.addAttribute("value", value);
  state.addTypes(type);
  return parser.parseOptionalAttrDict(state.attributes);
}

static ParseResult parseLiteral(OpAsmParser &parser, OperationState &state) {
  ElementsAttr value;
  Type type;
  if (parser.parseLParen() || parser.parseAttribute(value, "value", state.attributes) ||
      parser.parseRParen() || parser.parseOptionalAttrDict(state.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonType(type))
    return failure();
  if (!isTensor(type))
    return parser.emitError(loc, "expected a torch tensor type, not ") << type;
  state.addTypes(type);
  return success();
}

static ParseResult parseRegions(OpAsmParser &parser, OperationState &state) {
  do {
    auto region = std::make_unique<Region>();
    OptionalParseResult parsed = parser.parseOptionalRegion(*region);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed))
      return failure();
    state.addRegion(std::move(region));
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

static ParseResult parseCustomOperator(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  SmallVector<Operand> operands;
  if (parser.parseAttribute(name, "name", state.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  return failure(failed(parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren)) ||
                 failed(parser.parseOptionalAttrDict(state.attributes)) ||
                 failed(parseSignature(parser, loc, operands, state)) ||
                 failed(parseRegions(parser, state)));
}

static ParseResult parseSymbolicInt(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  Type type;
  if (parser.parseAttribute(name, "symbol_name", state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  state.addTypes(type);
  return success();
}

static ParseResult parseBindSymbolicShape(OpAsmParser &parser, OperationState &state) {
  Operand tensor;
  SmallVector<Operand> symbols;
  AffineMapAttr map;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(tensor) || parser.parseComma() ||
      parser.parseOperandList(symbols, OpAsmParser::Delimiter::Square) || parser.parseComma())
    return failure();
  SMLoc mapLoc = parser.getCurrentLocation();
  if (parser.parseAttribute(map, "shape_expressions", state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  if (map.getValue().getNumDims() != 0 || map.getValue().getNumSymbols() != symbols.size())
    return parser.emitError(mapLoc, "the map must have no dims and ")
           << symbols.size() << " symbols, one for each symbolic integer";
  SmallVector<Type> symbolTypes(symbols.size(), IntType::get(parser.getContext()));
  return failure(failed(parser.resolveOperand(tensor, type, state.operands)) ||
                 failed(parser.resolveOperands(symbols, symbolTypes, loc, state.operands)));
}

/// The same tensor type in the other of the two families; null if not a tensor.
static Type getOtherTensor(Type type) {
  if (auto t = dyn_cast<ValueTensorType>(type))
    return NonValueTensorType::get(t.getContext(), t.getHasSizes(), t.getSizes(), t.getDtype(),
                                   t.getSparsity());
  if (auto t = dyn_cast<NonValueTensorType>(type))
    return ValueTensorType::get(t.getContext(), t.getHasSizes(), t.getSizes(), t.getDtype(),
                                t.getSparsity());
  return {};
}

/// Only the result type is written.
static ParseResult parseCopy(OpAsmParser &parser, OperationState &state) {
  Operand operand;
  Type type;
  if (parser.parseOperand(operand) || parser.parseOptionalAttrDict(state.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonType(type))
    return failure();
  bool toValue = state.name.getStringRef() == names::copyToValueTensor;
  if (toValue ? !isa<ValueTensorType>(type) : !isa<NonValueTensorType>(type))
    return parser.emitError(loc, "expected ")
           << (toValue ? "!torch.vtensor" : "!torch.tensor") << ", not " << type;
  state.addTypes(type);
  return parser.resolveOperand(operand, getOtherTensor(type), state.operands);
}

static ParseResult parseOverwrite(OpAsmParser &parser, OperationState &state) {
  SmallVector<Operand> operands(2);
  SMLoc loc = parser.getCurrentLocation();
  return failure(failed(parser.parseOperand(operands[0])) ||
                 failed(parser.parseKeyword("overwrites")) ||
                 failed(parser.parseOperand(operands[1])) ||
                 failed(parser.parseOptionalAttrDict(state.attributes)) ||
                 failed(parseSignature(parser, loc, operands, state)));
}

static ParseResult parseIf(OpAsmParser &parser, OperationState &state) {
  Operand condition;
  if (parser.parseOperand(condition) || parser.parseArrow() || parseTypes(parser, state.types) ||
      parser.resolveOperand(condition, BoolType::get(parser.getContext()), state.operands) ||
      parser.parseRegion(*state.addRegion()) || parser.parseKeyword("else") ||
      parser.parseRegion(*state.addRegion()))
    return failure();
  return parser.parseOptionalAttrDict(state.attributes);
}

static ParseResult parseLoop(OpAsmParser &parser, OperationState &state) {
  SmallVector<Operand> operands(2), initial;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(operands[0]) || parser.parseComma() || parser.parseOperand(operands[1]) ||
      parser.parseComma() || parser.parseKeyword("init") ||
      parser.parseOperandList(initial, OpAsmParser::Delimiter::Paren) ||
      parser.parseRegion(*state.addRegion()) || parser.parseOptionalAttrDict(state.attributes))
    return failure();
  operands.append(initial);
  return parseSignature(parser, loc, operands, state);
}

static ParseResult parseLoopCondition(OpAsmParser &parser, OperationState &state) {
  Operand condition;
  SmallVector<Operand> next;
  SmallVector<Type> types;
  if (parser.parseOperand(condition) || parser.parseComma() || parser.parseKeyword("iter") ||
      parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(next) || (!next.empty() && parser.parseColonTypeList(types)) ||
      parser.parseRParen() || parser.parseOptionalAttrDict(state.attributes))
    return failure();
  return failure(failed(parser.resolveOperand(condition, BoolType::get(parser.getContext()),
                                              state.operands)) ||
                 failed(parser.resolveOperands(next, types, loc, state.operands)));
}

static ParseResult parseRuntimeAssert(OpAsmParser &parser, OperationState &state) {
  Operand condition;
  StringAttr message;
  return failure(
      failed(parser.parseOperand(condition)) || failed(parser.parseComma()) ||
      failed(parser.parseAttribute(message, "message", state.attributes)) ||
      failed(parser.parseOptionalAttrDict(state.attributes)) ||
      failed(parser.resolveOperand(condition, BoolType::get(parser.getContext()), state.operands)));
}

static ParseResult parseGlobalSlot(OpAsmParser &parser, OperationState &state) {
  std::string visibility;
  StringAttr name;
  Type type;
  if (succeeded(parser.parseOptionalString(&visibility)))
    state.addAttribute("sym_visibility", StringAttr::get(parser.getContext(), visibility));
  if (parser.parseSymbolName(name, "sym_name", state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  state.addAttribute("typeBound", TypeAttr::get(type));
  return success();
}

static ParseResult parseGlobalSlotAccess(OpAsmParser &parser, OperationState &state) {
  FlatSymbolRefAttr slot;
  Operand value;
  Type type;
  bool isSet = state.name.getStringRef() == names::globalSlotSet;
  if (parser.parseAttribute(slot, "slot", state.attributes) ||
      (isSet && (parser.parseEqual() || parser.parseOperand(value))) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  if (isSet)
    return parser.resolveOperand(value, type, state.operands);
  state.addTypes(type);
  return success();
}

static ParseResult parseInitializeGlobalSlots(OpAsmParser &parser, OperationState &state) {
  SmallVector<Attribute> slots;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseLSquare())
    return failure();
  while (failed(parser.parseOptionalRSquare())) {
    FlatSymbolRefAttr slot;
    Operand value;
    Type type;
    if (parser.parseAttribute(slot) || parser.parseLParen() || parser.parseOperand(value) ||
        parser.parseColonType(type) || parser.parseRParen() ||
        parser.resolveOperand(value, type, state.operands))
      return failure();
    slots.push_back(slot);
  }
  state.addAttribute("slotSymNames", ArrayAttr::get(parser.getContext(), slots));
  return success();
}

static ParseResult parseOperation(OpAsmParser &parser, OperationState &state) {
  switch (getForm(state.name.getStringRef())) {
  case Form::Generic:
  case Form::GenericParens:
  case Form::GenericTo:
    return parseGeneric(parser, state);
  case Form::Constant:
    return parseConstant(parser, state);
  case Form::Literal:
    return parseLiteral(parser, state);
  case Form::CustomOperator:
    return parseCustomOperator(parser, state);
  case Form::SymbolicInt:
    return parseSymbolicInt(parser, state);
  case Form::BindSymbolicShape:
    return parseBindSymbolicShape(parser, state);
  case Form::CopyToValueTensor:
  case Form::CopyToTensor:
    return parseCopy(parser, state);
  case Form::Overwrite:
    return parseOverwrite(parser, state);
  case Form::If:
    return parseIf(parser, state);
  case Form::Loop:
    return parseLoop(parser, state);
  case Form::LoopCondition:
    return parseLoopCondition(parser, state);
  case Form::RuntimeAssert:
    return parseRuntimeAssert(parser, state);
  case Form::GlobalSlot:
    return parseGlobalSlot(parser, state);
  case Form::GlobalSlotGet:
  case Form::GlobalSlotSet:
    return parseGlobalSlotAccess(parser, state);
  case Form::ModuleInitializer:
    return failure(failed(parser.parseRegion(*state.addRegion())) ||
                   failed(parser.parseOptionalAttrDict(state.attributes)));
  case Form::InitializeGlobalSlots:
    return parseInitializeGlobalSlots(parser, state);
  }
  return failure();
}

std::optional<Dialect::ParseOpHook> TorchDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(parseOperation);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// \p op is built so that its form can be printed and read again.
static bool isPrintable(Operation *op, Form form) {
  unsigned operands = op->getNumOperands(), results = op->getNumResults();
  auto has = [&](unsigned wantedOperands, unsigned wantedResults, unsigned regions = 0) {
    return operands == wantedOperands && results == wantedResults && op->getNumRegions() == regions;
  };
  StringRef name = op->getName().getStringRef();
  if (op->getNumSuccessors() != 0)
    return false;
  switch (form) {
  case Form::Generic:
  case Form::GenericParens:
  case Form::GenericTo:
    return op->getNumRegions() == 0;
  case Form::Constant: {
    if (!has(0, 1))
      return false;
    Attribute value = op->getAttr("value");
    Type type = op->getResult(0).getType();
    if (name == names::constantInt)
      return isa<IntType>(type) && value && isa<IntegerAttr>(value) &&
             cast<IntegerAttr>(value).getType().isSignlessInteger(64);
    if (name == names::constantFloat)
      return isa<torch_reader::FloatType>(type) && value && isa<FloatAttr>(value) &&
             cast<FloatAttr>(value).getType().isF64();
    if (name == names::constantBool)
      return isa<BoolType>(type) && value && isa<BoolAttr>(value);
    if (name == names::constantNone)
      return isa<torch_reader::NoneType>(type) && !value;
    if (name == names::constantNumber)
      return isa<NumberType>(type) && value && isa<IntegerAttr, FloatAttr>(value);
    bool isText =
        value && isa<StringAttr>(value) && isa<mlir::NoneType>(cast<StringAttr>(value).getType());
    return isText && (name == names::constantStr ? isa<StringType>(type) : isa<DeviceType>(type));
  }
  case Form::Literal:
    return has(0, 1) && op->getAttrOfType<ElementsAttr>("value") &&
           isTensor(op->getResult(0).getType());
  case Form::CustomOperator:
    return static_cast<bool>(op->getAttrOfType<StringAttr>("name"));
  case Form::SymbolicInt:
    return has(0, 1) && op->getAttrOfType<StringAttr>("symbol_name");
  case Form::BindSymbolicShape: {
    auto map = op->getAttrOfType<AffineMapAttr>("shape_expressions");
    return map && operands > 0 && has(operands, 0) && map.getValue().getNumDims() == 0 &&
           map.getValue().getNumSymbols() == operands - 1 &&
           llvm::all_of(llvm::drop_begin(op->getOperandTypes()),
                        [](Type type) { return isa<IntType>(type); });
  }
  case Form::CopyToValueTensor:
  case Form::CopyToTensor:
    return has(1, 1) && getOtherTensor(op->getResult(0).getType()) == op->getOperand(0).getType() &&
           isa<ValueTensorType>(op->getResult(0).getType()) == (form == Form::CopyToValueTensor);
  case Form::Overwrite:
    return has(2, 0);
  case Form::If:
    return has(1, results, 2) && isa<BoolType>(op->getOperand(0).getType());
  case Form::Loop:
    return operands >= 2 && has(operands, results, 1);
  case Form::LoopCondition:
    return operands >= 1 && has(operands, 0) && isa<BoolType>(op->getOperand(0).getType());
  case Form::RuntimeAssert:
    return has(1, 0) && isa<BoolType>(op->getOperand(0).getType()) &&
           op->getAttrOfType<StringAttr>("message");
  case Form::GlobalSlot:
    return has(0, 0) && op->getAttrOfType<StringAttr>("sym_name") &&
           op->getAttrOfType<TypeAttr>("typeBound") &&
           (!op->hasAttr("sym_visibility") || op->getAttrOfType<StringAttr>("sym_visibility"));
  case Form::GlobalSlotGet:
    return has(0, 1) && op->getAttrOfType<FlatSymbolRefAttr>("slot");
  case Form::GlobalSlotSet:
    return has(1, 0) && op->getAttrOfType<FlatSymbolRefAttr>("slot");
  case Form::ModuleInitializer:
    return has(0, 0, 1);
  case Form::InitializeGlobalSlots: {
    auto slots = op->getAttrOfType<ArrayAttr>("slotSymNames");
    return slots && has(slots.size(), 0) &&
           llvm::all_of(slots, [](Attribute slot) { return isa<FlatSymbolRefAttr>(slot); });
  }
  }
  return false;
}

static void printParens(OpAsmPrinter &p, TypeRange types) {
  p << "(";
  llvm::interleaveComma(types, p.getStream(), [&](Type type) { p.printType(type); });
  p << ")";
}

static void printGeneric(Operation *op, OpAsmPrinter &p, Form form) {
  if (op->getNumOperands() != 0) {
    p << " ";
    p.printOperands(op->getOperands());
  }
  p.printOptionalAttrDict(op->getAttrs());
  bool parens = form == Form::GenericParens;
  if (op->getNumOperands() == 0 && op->getNumResults() == 0)
    return;
  p << " : ";
  if (parens)
    printParens(p, op->getOperandTypes());
  else
    llvm::interleaveComma(op->getOperandTypes(), p.getStream(), [&](Type t) { p.printType(t); });
  if (op->getNumResults() == 0)
    return;
  p << (op->getNumOperands() == 0 && !parens ? "" : " ")
    << (form == Form::GenericTo ? "to " : "-> ");
  llvm::interleaveComma(op->getResultTypes(), p.getStream(), [&](Type t) { p.printType(t); });
}

static void printConstant(Operation *op, OpAsmPrinter &p) {
  if (Attribute value = op->getAttr("value")) {
    p << " ";
    if (op->getName().getStringRef() == names::constantNumber)
      p.printAttribute(value);
    else
      p.printAttributeWithoutType(value);
  }
  p.printOptionalAttrDict(op->getAttrs(), {"value"});
}

static void printCustomOperator(Operation *op, OpAsmPrinter &p) {
  p << " ";
  p.printAttributeWithoutType(op->getAttr("name"));
  p << "(";
  p.printOperands(op->getOperands());
  p << ")";
  p.printOptionalAttrDict(op->getAttrs(), {"name"});
  p << " : ";
  printParens(p, op->getOperandTypes());
  p << " -> ";
  if (op->getNumResults() == 1)
    p.printType(op->getResult(0).getType());
  else
    printParens(p, op->getResultTypes());
  p << (op->getNumRegions() ? " " : "");
  llvm::interleaveComma(op->getRegions(), p.getStream(), [&](Region &r) { p.printRegion(r); });
}

static void printSymbolicInt(Operation *op, OpAsmPrinter &p) {
  p << " ";
  p.printAttributeWithoutType(op->getAttr("symbol_name"));
  auto low = op->getAttrOfType<IntegerAttr>("min_val");
  auto high = op->getAttrOfType<IntegerAttr>("max_val");
  bool bounds = low && high && op->getAttrs().size() == 3 && low.getType().isSignlessInteger(64) &&
                high.getType().isSignlessInteger(64);
  if (bounds)
    p << " {min_val = " << low.getInt() << ", max_val = " << high.getInt() << "}";
  else
    p.printOptionalAttrDict(op->getAttrs(), {"symbol_name"});
  p << " : ";
  p.printType(op->getResult(0).getType());
}

static void printBindSymbolicShape(Operation *op, OpAsmPrinter &p) {
  p << " " << op->getOperand(0) << ", [";
  p.printOperands(op->getOperands().drop_front());
  // In place, not as an alias at the top, as torch-mlir has it.
  p << "], affine_map<";
  op->getAttrOfType<AffineMapAttr>("shape_expressions").getValue().print(p.getStream());
  p << ">";
  p.printOptionalAttrDict(op->getAttrs(), {"shape_expressions"});
  p << " : ";
  p.printType(op->getOperand(0).getType());
}

static void printLoop(Operation *op, OpAsmPrinter &p) {
  p << " " << op->getOperand(0) << ", " << op->getOperand(1) << ", init(";
  p.printOperands(op->getOperands().drop_front(2));
  p << ") ";
  p.printRegion(op->getRegion(0));
  p.printOptionalAttrDict(op->getAttrs());
  p << " : ";
  printParens(p, op->getOperandTypes());
  p << " -> ";
  printParens(p, op->getResultTypes());
}

static void printInitializeGlobalSlots(Operation *op, OpAsmPrinter &p) {
  p.printOptionalAttrDict(op->getAttrs(), {"slotSymNames"});
  p << " [";
  for (auto [slot, value] :
       llvm::zip_equal(op->getAttrOfType<ArrayAttr>("slotSymNames"), op->getOperands())) {
    p.printNewline();
    p << "  ";
    p.printAttribute(slot);
    p << "(" << value << " : ";
    p.printType(value.getType());
    p << ")";
  }
  p.printNewline();
  p << "]";
}

/// The short forms, each a few words around operands and one type.
static void printShort(Operation *op, OpAsmPrinter &p, Form form) {
  auto printOneType = [&](Type type) {
    p << " : ";
    p.printType(type);
  };
  switch (form) {
  case Form::Literal:
    p << "(";
    p.printAttribute(op->getAttr("value"));
    p << ")";
    p.printOptionalAttrDict(op->getAttrs(), {"value"});
    return printOneType(op->getResult(0).getType());
  case Form::CopyToValueTensor:
  case Form::CopyToTensor:
    p << " " << op->getOperand(0);
    p.printOptionalAttrDict(op->getAttrs());
    return printOneType(op->getResult(0).getType());
  case Form::Overwrite:
    p << " " << op->getOperand(0) << " overwrites " << op->getOperand(1);
    p.printOptionalAttrDict(op->getAttrs());
    printOneType(op->getOperand(0).getType());
    p << ", ";
    return p.printType(op->getOperand(1).getType());
  case Form::If:
    p << " " << op->getOperand(0) << " -> ";
    printParens(p, op->getResultTypes());
    p << " ";
    p.printRegion(op->getRegion(0));
    p << " else ";
    p.printRegion(op->getRegion(1));
    return p.printOptionalAttrDict(op->getAttrs());
  case Form::LoopCondition: {
    p << " " << op->getOperand(0) << ", iter(";
    OperandRange next = op->getOperands().drop_front();
    p.printOperands(next);
    if (!next.empty()) {
      p << " : ";
      llvm::interleaveComma(next.getTypes(), p.getStream(), [&](Type t) { p.printType(t); });
    }
    p << ")";
    return p.printOptionalAttrDict(op->getAttrs());
  }
  case Form::RuntimeAssert:
    p << " " << op->getOperand(0) << ", ";
    p.printAttributeWithoutType(op->getAttr("message"));
    return p.printOptionalAttrDict(op->getAttrs(), {"message"});
  case Form::GlobalSlot:
    p << " ";
    if (Attribute visibility = op->getAttr("sym_visibility")) {
      p.printAttributeWithoutType(visibility);
      p << " ";
    }
    p.printSymbolName(op->getAttrOfType<StringAttr>("sym_name").getValue());
    p.printOptionalAttrDict(op->getAttrs(), {"sym_visibility", "sym_name", "typeBound"});
    return printOneType(op->getAttrOfType<TypeAttr>("typeBound").getValue());
  case Form::GlobalSlotGet:
  case Form::GlobalSlotSet:
    p << " ";
    p.printAttribute(op->getAttr("slot"));
    if (form == Form::GlobalSlotSet)
      p << " = " << op->getOperand(0);
    p.printOptionalAttrDict(op->getAttrs(), {"slot"});
    return printOneType(form == Form::GlobalSlotSet ? op->getOperand(0).getType()
                                                    : op->getResult(0).getType());
  case Form::ModuleInitializer:
    p << " ";
    p.printRegion(op->getRegion(0));
    return p.printOptionalAttrDict(op->getAttrs());
  default:
    return;
  }
}

static void printOperation(Operation *op, OpAsmPrinter &p, Form form) {
  switch (form) {
  case Form::Generic:
  case Form::GenericParens:
  case Form::GenericTo:
    return printGeneric(op, p, form);
  case Form::Constant:
    return printConstant(op, p);
  case Form::CustomOperator:
    return printCustomOperator(op, p);
  case Form::SymbolicInt:
    return printSymbolicInt(op, p);
  case Form::BindSymbolicShape:
    return printBindSymbolicShape(op, p);
  case Form::Loop:
    return printLoop(op, p);
  case Form::InitializeGlobalSlots:
    return printInitializeGlobalSlots(op, p);
  default:
    return printShort(op, p, form);
  }
}

llvm::unique_function<void(Operation *, OpAsmPrinter &)>
TorchDialect::getOperationPrinter(Operation *op) const {
  Form form = getForm(op->getName().getStringRef());
  if (!isPrintable(op, form))
    return {};
  return [form](Operation *printed, OpAsmPrinter &p) { printOperation(printed, p, form); };
}
