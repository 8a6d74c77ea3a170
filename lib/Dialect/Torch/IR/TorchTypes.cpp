//===- TorchTypes.cpp - Types of the reader's torch dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text to type and back. Inside another torch type the prefix `!torch.` is left out:
// `!torch.list<optional<vtensor<[2],f16>>>`.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Torch/IR/TorchDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::torch_reader;

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/Torch/IR/TorchTypes.cpp.inc"

// Text and class of the types without parameters.
#define TORCH_PLAIN_TYPES(X)                                                                       \
  X("int", IntType)                                                                                \
  X("float", torch_reader::FloatType)                                                              \
  X("bool", BoolType)                                                                              \
  X("none", torch_reader::NoneType)                                                                \
  X("str", StringType)                                                                             \
  X("Device", DeviceType)                                                                          \
  X("number", NumberType)                                                                          \
  X("any", AnyType)                                                                                \
  X("Generator", GeneratorType)                                                                    \
  X("LinearParams", LinearParamsType)                                                              \
  X("qint8", QInt8Type)                                                                            \
  X("quint8", QUInt8Type)                                                                          \
  X("qint16", QInt16Type)                                                                          \
  X("qint32", QInt32Type)

void TorchDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "spyre/Dialect/Torch/IR/TorchTypes.cpp.inc"
      >();
}

namespace {
/// Types nest by recursion; garbage must not exhaust the stack.
constexpr unsigned maxTypeDepth = 64;
thread_local unsigned typeDepth = 0;
struct DepthGuard {
  DepthGuard() { ++typeDepth; }
  ~DepthGuard() { --typeDepth; }
};
} // namespace

static Type parseTorchType(AsmParser &parser);

static bool isElementType(Type type) {
  if (isa<IntegerType, mlir::FloatType, IndexType, QInt8Type, QUInt8Type, QInt16Type, QInt32Type>(
          type))
    return true;
  if (auto complex = dyn_cast<ComplexType>(type))
    return isa<mlir::FloatType>(complex.getElementType());
  // Quantised types and the like of other dialects.
  return !isa<TorchDialect, BuiltinDialect>(type.getDialect());
}

/// After the keyword: nothing, or `<[2,?],f16>` and its other forms.
template <typename TensorT> static Type parseTensor(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  if (failed(parser.parseOptionalLess()))
    return TensorT::get(context, false, {}, Type(), Attribute());
  bool hasSizes = false;
  SmallVector<int64_t> sizes;
  if (failed(parser.parseOptionalStar())) {
    hasSizes = true;
    auto parseSize = [&]() -> ParseResult {
      if (succeeded(parser.parseOptionalQuestion())) {
        sizes.push_back(ShapedType::kDynamic);
        return success();
      }
      SMLoc loc = parser.getCurrentLocation();
      int64_t size = 0;
      if (parser.parseInteger(size))
        return failure();
      if (size < 0)
        return parser.emitError(loc, "a size of a tensor cannot be negative, it is ") << size;
      sizes.push_back(size);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize,
                                       " in the sizes of a torch tensor"))
      return {};
  }
  if (parser.parseComma())
    return {};
  Type dtype;
  if (failed(parser.parseOptionalKeyword("unk"))) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseType(dtype))
      return {};
    if (!isElementType(dtype)) {
      parser.emitError(loc, "a torch tensor cannot have elements of type ") << dtype;
      return {};
    }
  }
  Attribute sparsity;
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(sparsity))
    return {};
  if (parser.parseGreater())
    return {};
  return TensorT::get(context, hasSizes, sizes, dtype, sparsity);
}

static ParseResult parseContained(AsmParser &parser, SmallVectorImpl<Type> &types) {
  if (parser.parseLess())
    return failure();
  if (succeeded(parser.parseOptionalGreater()))
    return success();
  auto parseOne = [&]() -> ParseResult {
    types.push_back(parseTorchType(parser));
    return success(static_cast<bool>(types.back()));
  };
  return failure(failed(parser.parseCommaSeparatedList(parseOne)) || failed(parser.parseGreater()));
}

static Type parseTorchType(AsmParser &parser) {
  DepthGuard guard;
  SMLoc loc = parser.getCurrentLocation();
  if (typeDepth > maxTypeDepth) {
    parser.emitError(loc, "torch types are nested more than ") << maxTypeDepth << " deep";
    return {};
  }
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return {};
  MLIRContext *context = parser.getContext();
#define X(text, Class)                                                                             \
  if (keyword == text)                                                                             \
    return Class::get(context);
  TORCH_PLAIN_TYPES(X)
#undef X
  if (keyword == "vtensor")
    return parseTensor<ValueTensorType>(parser);
  if (keyword == "tensor")
    return parseTensor<NonValueTensorType>(parser);
  if (keyword == "nn.Module") {
    std::string name;
    if (parser.parseLess() || parser.parseString(&name) || parser.parseGreater())
      return {};
    return NnModuleType::get(context, name);
  }
  bool single = keyword == "list" || keyword == "optional";
  if (!single && keyword != "tuple" && keyword != "union" && keyword != "dict") {
    parser.emitError(loc, "unknown torch type '") << keyword << "'";
    return {};
  }
  std::string kind = keyword.str();
  SmallVector<Type> types;
  if (parseContained(parser, types))
    return {};
  size_t wanted = single ? 1 : 2;
  if ((single || kind == "dict") && types.size() != wanted) {
    parser.emitError(loc, "torch type '")
        << kind << "' takes " << wanted << (single ? " type" : " types") << ", not "
        << types.size();
    return {};
  }
  if (kind == "list")
    return ListType::get(context, types[0]);
  if (kind == "optional")
    return OptionalType::get(context, types[0]);
  if (kind == "dict")
    return DictType::get(context, types[0], types[1]);
  if (kind == "union")
    return UnionType::get(context, types);
  return torch_reader::TupleType::get(context, types);
}

static void printTorchType(Type type, AsmPrinter &printer);

template <typename TensorT>
static void printTensor(TensorT type, StringRef keyword, AsmPrinter &printer) {
  printer << keyword;
  if (!type.getHasSizes() && !type.getDtype() && !type.getSparsity())
    return;
  printer << "<";
  if (type.getHasSizes()) {
    printer << "[";
    llvm::interleave(
        type.getSizes(),
        [&](int64_t size) {
          if (ShapedType::isDynamic(size))
            printer << "?";
          else
            printer << size;
        },
        [&] { printer << ","; });
    printer << "]";
  } else {
    printer << "*";
  }
  printer << ",";
  if (type.getDtype())
    printer.printType(type.getDtype());
  else
    printer << "unk";
  if (type.getSparsity()) {
    printer << ",";
    printer.printAttribute(type.getSparsity());
  }
  printer << ">";
}

static void printContained(StringRef keyword, ArrayRef<Type> types, AsmPrinter &printer) {
  printer << keyword << "<";
  llvm::interleaveComma(types, printer.getStream(),
                        [&](Type type) { printTorchType(type, printer); });
  printer << ">";
}

static void printTorchType(Type type, AsmPrinter &printer) {
#define X(text, Class)                                                                             \
  if (isa<Class>(type)) {                                                                          \
    printer << text;                                                                               \
    return;                                                                                        \
  }
  TORCH_PLAIN_TYPES(X)
#undef X
  TypeSwitch<Type>(type)
      .Case([&](ValueTensorType t) { printTensor(t, "vtensor", printer); })
      .Case([&](NonValueTensorType t) { printTensor(t, "tensor", printer); })
      .Case([&](ListType t) { printContained("list", t.getContainedType(), printer); })
      .Case([&](OptionalType t) { printContained("optional", t.getContainedType(), printer); })
      .Case([&](torch_reader::TupleType t) {
        printContained("tuple", t.getContainedTypes(), printer);
      })
      .Case([&](UnionType t) { printContained("union", t.getContainedTypes(), printer); })
      .Case(
          [&](DictType t) { printContained("dict", {t.getKeyType(), t.getValueType()}, printer); })
      .Case([&](NnModuleType t) {
        printer << "nn.Module<";
        printer.printString(t.getClassName());
        printer << ">";
      });
}

Type TorchDialect::parseType(DialectAsmParser &parser) const { return parseTorchType(parser); }

void TorchDialect::printType(Type type, DialectAsmPrinter &printer) const {
  printTorchType(type, printer);
}
