//===- Comparisons.cpp - Truth values: comparing, combining, choosing -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bool is 1 or 0 in a 16-bit lane of the device, so that `and` is a product, `or` a
// maximum, `not` a comparison with 0, `any` and `all` are reductions (Reductions.cpp),
// and a cast to a float costs nothing. Comparisons are of 16-bit values; where the
// program compares f32, the island rules round operands once. Infinity and NaN are one
// code, so what asks for NaN cannot be answered and is refused.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"
#include "HostCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "spyre/Numerics/DL16.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// \p value as PyTorch rounds it to \p type.
static double roundTo(double value, Type type) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

double torch_lowering::roundDown(double value, Type type) {
  value = roundTo(value, type);
  if (!isHalf(type) || !std::isfinite(value))
    return value;
  uint16_t code = ::spyre::encodeDL16(static_cast<float>(value), ::spyre::DL16Overflow::Saturate);
  double rounded = ::spyre::decodeDL16(code);
  if (rounded <= value)
    return rounded;
  // The next code below: a smaller magnitude above zero, a larger one from zero on.
  if (rounded > 0.0)
    return ::spyre::decodeDL16(code - 1);
  uint16_t magnitude = (code & 0x7fff) + 1;
  return magnitude == ::spyre::kDL16InfinityCode ? -INFINITY : -::spyre::decodeDL16(magnitude);
}

double torch_lowering::roundUp(double value, Type type) { return -roundDown(-value, type); }

Value torch_lowering::buildBound(Lowering &l, double number, double rounded, Type type) {
  Value bound = buildScalar(l.b, l.loc, rounded, type);
  if (double given = roundTo(number, type); given != rounded)
    bound.getDefiningOp()->setAttr(kBoundAttr, l.b.getF64FloatAttr(given));
  return bound;
}

namespace {
struct Comparison {
  const char *torch, *opFunc;
  /// How a bound that DL16 does not hold is rounded: x > c holds for the same DL16
  /// numbers x if c is rounded down.
  enum { Nearest, Down, Up } rounding;
};
constexpr Comparison kComparisons[] = {
    {"eq", "equal", Comparison::Nearest},    {"ne", "notequal", Comparison::Nearest},
    {"gt", "greaterthan", Comparison::Down}, {"ge", "greaterequal", Comparison::Up},
    {"lt", "lesserthan", Comparison::Up},    {"le", "lesserequal", Comparison::Down},
};
} // namespace

static bool isBool(Type type) { return type.isInteger(1); }

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Type in which a comparison of operands 0 and 1 happens: a tensor with dims
/// outranks a 0-d tensor, which outranks a number; the wider float wins. Bools are
/// compared as they are.
static Type getPromotedType(Lowering &l) {
  auto rankOf = [&](unsigned i) { return l.getTensorType(i).getRank() > 0 ? 2 : 1; };
  Type type;
  int best = 0;
  for (unsigned i = 0; i < 2; ++i) {
    if (!l.isTensor(i))
      continue;
    Type element = l.getTensorType(i).getElementType();
    bool isMoreFloat = type && isa<FloatType>(element) && !isa<FloatType>(type);
    bool isLessFloat = type && isa<FloatType>(type) && !isa<FloatType>(element);
    if (!type || isMoreFloat || (rankOf(i) > best && !isLessFloat)) {
      type = element;
    } else if (rankOf(i) == best && element != type && !isLessFloat) {
      if (isHalf(element) && isHalf(type))
        type = Float32Type::get(element.getContext());
      else if (element.isF32() || element.isF64())
        type = element;
    }
    best = std::max(best, rankOf(i));
  }
  if (type && (isHalf(type) || type.isF32() || isBool(type)))
    return type;
  (void)l.refuse("the device does not compare in " + (type ? toString(type) : "numbers"));
  return {};
}

/// True for an argument that is at most moved and converted. What the device has computed
/// holds infinities only: there NaN is no number of its own.
static bool comesFromOutside(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!passesOperandOn(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

static LogicalResult lowerCompare(Lowering &l, const Comparison &entry) {
  if (l.getNumOperands() < 2)
    return l.refuse("operand #1 is missing");
  Type type = getPromotedType(l);
  if (!type)
    return failure();
  bool equality = entry.rounding == Comparison::Nearest;
  if (equality && l.isTensor(1) && l.getTensor(0) == l.getTensor(1))
    return l.refuse("asks for NaN, which the device does not tell from infinity");
  Value operands[2];
  for (unsigned i = 0; i < 2; ++i) {
    std::optional<double> number;
    if (!l.isTensor(i)) {
      number = l.getNumber(i);
      if (!number)
        return failure();
    } else if (l.getTensorType(i).getRank() == 0) {
      number = getScalarConstant(l.getTensor(i));
    }
    if (number && isBool(type)) {
      // Any number beside 0 and 1.
      operands[i] = buildScalar(l.b, l.loc, *number, l.b.getF16Type());
    } else if (number) {
      auto rounding = entry.rounding;
      if (i == 0 && !equality) // c < x is x > c
        rounding = rounding == Comparison::Down ? Comparison::Up : Comparison::Down;
      double bound = rounding == Comparison::Down ? roundDown(*number, type)
                     : rounding == Comparison::Up ? roundUp(*number, type)
                                                  : roundTo(*number, type);
      if (std::isnan(bound))
        return l.refuse("compares with NaN, which the device does not tell from infinity");
      // Below all others, and above -infinity, a NaN is no other than an infinity.
      bool isStrict = StringRef(entry.opFunc).ends_with("than");
      if (bound == std::numeric_limits<double>::infinity() && !isStrict &&
          comesFromOutside(l.op->getOperand(1 - i)))
        return l.refuse("compares with infinity, which the device does not tell from NaN");
      operands[i] = buildBound(l, *number, bound, type);
    } else {
      operands[i] = l.getAs(i, type);
    }
    if (!operands[i])
      return failure();
  }
  return l.replaceWith(buildPointwise(l.b, l.loc, entry.opFunc, operands, l.getResultType()));
}

/// |x| is no more than the largest number: not infinite, and no NaN, which is the same.
static LogicalResult lowerIsfinite(Lowering &l) {
  Type type = l.getTensorType(0).getElementType();
  if (!isHalf(type) && !type.isF32())
    return l.refuse("the device compares floats only");
  Arithmetic m(l, type);
  // f16's largest number is 65536 on the device; beyond are numbers that f16 has not.
  double largest = type.isF32()   ? double(std::numeric_limits<float>::max())
                   : type.isF16() ? 65536.0
                                  : ::spyre::kDL16MaxFinite;
  return l.replaceWith(m.compare("lesserequal", m.unary("abs", l.getTensor(0)), largest));
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

static Value buildTruth(Lowering &l, Value x) {
  Type type = getTensorType(x).getElementType();
  if (isBool(type))
    return x;
  return Arithmetic(l, type).compare("notequal", x, 0.0);
}

Value torch_lowering::getTruth(Lowering &l, unsigned i) {
  if (!l.isTensor(i)) {
    std::optional<double> number = l.getNumber(i);
    return number ? buildScalar(l.b, l.loc, *number != 0.0, l.b.getI1Type()) : Value();
  }
  Type type = l.getTensorType(i).getElementType();
  if (isBool(type) || isHalf(type) || type.isF32())
    return buildTruth(l, l.getTensor(i));
  (void)l.refuse("operand #" + Twine(i) + " has no truth value on the device: its elements are " +
                 toString(type));
  return {};
}

/// `and`, `or`, `xor` of two truth values. bitwise_* are those of bools only.
static LogicalResult lowerLogical(Lowering &l, StringRef opFunc) {
  if (!isBool(l.getResultType().getElementType()))
    return l.refuse("the device combines bits of bools only");
  Value x = getTruth(l, 0), y = x ? getTruth(l, 1) : Value();
  if (!y)
    return failure();
  return l.replaceWith(buildPointwise(l.b, l.loc, opFunc, {x, y}, l.getResultType()));
}

static LogicalResult lowerNot(Lowering &l) {
  if (!isBool(l.getResultType().getElementType()))
    return l.refuse("the device inverts bits of bools only");
  Value x = getTruth(l, 0);
  if (!x)
    return failure();
  Value zero = buildScalar(l.b, l.loc, 0.0, l.b.getI1Type());
  return l.replaceWith(buildPointwise(l.b, l.loc, "equal", {x, zero}, l.getResultType()));
}

//===----------------------------------------------------------------------===//
// Choices and casts
//===----------------------------------------------------------------------===//

/// Operand \p x where operand \p condition is true, else operand \p y.
static LogicalResult lowerSelect(Lowering &l, unsigned condition, unsigned x, unsigned y) {
  Type type = l.getResultType().getElementType();
  if (!isBool(type) && !l.getDeviceType())
    return failure();
  if (!l.isTensor(condition) || !isBool(l.getTensorType(condition).getElementType()))
    return l.refuse("the condition must be a bool tensor");
  if (std::max(x, y) >= l.getNumOperands())
    return l.refuse("operand #" + Twine(std::max(x, y)) + " is missing");
  auto get = [&](unsigned i) { return isBool(type) ? getTruth(l, i) : l.getAs(i, type); };
  Value first = get(x), second = first ? get(y) : Value();
  if (!second)
    return failure();
  return l.replaceWith(buildPointwise(l.b, l.loc, "where3", {l.getTensor(condition), first, second},
                                      l.getResultType()));
}

/// Casts from and to bool, and those around f64 statistics.
/// f32 numbers as f16 has them: what rounds beyond its largest number is infinite. The
/// device's format goes on to 2^33, and its number next to 65504 is 65536.
static Value buildF16Overflow(Lowering &l, Value x) {
  Arithmetic m(l, l.b.getF32Type());
  // The first number that rounds up; neighbours there are 2^-8 apart.
  Value beyond = m.add(m.sub(m.unary("abs", x), 65520.0), 0x1p-10);
  Value infinite = m.mul(x, std::numeric_limits<double>::infinity());
  return m.select(m.maximum(beyond, 0.0), infinite, x);
}

/// True if \p op shows an argument to the caller as it is, in another type.
static bool isArgumentAsResult(Lowering &l) {
  Value source = l.getTensor(0);
  while (auto view = source.getDefiningOp<ViewOp>())
    source = view.getSource();
  return isa<BlockArgument>(source) &&
         llvm::any_of(l.op->getUsers(), llvm::IsaPred<func::ReturnOp>);
}

static LogicalResult lowerCast(Lowering &l, const Handler &otherwise) {
  Type from = l.getTensorType(0).getElementType(), to = l.getResultType().getElementType();
  // A cast by itself is exact; inside a program only the range of its numbers counts.
  if (from.isF32() && to.isF16() && isArgumentAsResult(l) &&
      l.getTensorType(0).getShape() == l.getResultType().getShape())
    return l.replaceWith(buildConvert(l.b, l.loc, buildF16Overflow(l, l.getTensor(0)), to));
  auto computes = [](Type type) { return isHalf(type) || type.isF32(); };
  if ((from.isF64() && computes(to)) || (to.isF64() && computes(from)))
    if (!getScalarConstant(l.getTensor(0)) && statisticsAreNarrow(l.op))
      return l.replaceWith(buildConvert(l.b, l.loc, l.getTensor(0), to));
  bool isNumber = l.getTensorType(0).getRank() == 0 && getScalarConstant(l.getTensor(0));
  if (from == to || isNumber || (!isBool(from) && !isBool(to)))
    return otherwise(l);
  if (l.getTensorType(0).getShape() != l.getResultType().getShape())
    return l.refuse("changes the shape");
  if (isBool(to)) {
    Value truth = getTruth(l, 0);
    return truth ? l.replaceWith(truth) : failure();
  }
  if (!isHalf(to) && !to.isF32())
    return lowerIntegerCast(l);
  return l.replaceWith(buildConvert(l.b, l.loc, l.getTensor(0), to));
}

void torch_lowering::addComparisons(HandlerTable &table) {
  for (const Comparison &entry : kComparisons)
    for (const char *form : {".Tensor", ".Scalar"})
      table[("torch.aten." + Twine(entry.torch) + form).str()] =
          onTensor([&entry](Lowering &l) { return lowerCompare(l, entry); });
  table["torch.aten.isfinite"] = onTensor(lowerIsfinite);
  struct Logical {
    const char *torch, *opFunc;
  };
  for (const Logical &entry : {Logical{"torch.aten.logical_and", "mul"},
                               {"torch.aten.logical_or", "maximum"},
                               {"torch.aten.logical_xor", "notequal"},
                               {"torch.aten.bitwise_and.Tensor", "mul"},
                               {"torch.aten.bitwise_or.Tensor", "maximum"},
                               {"torch.aten.bitwise_xor.Tensor", "notequal"},
                               {"torch.aten.bitwise_and.Scalar", "mul"},
                               {"torch.aten.bitwise_or.Scalar", "maximum"},
                               {"torch.aten.bitwise_xor.Scalar", "notequal"},
                               {"torch.aten.__and__.Tensor", "mul"},
                               {"torch.aten.__or__.Tensor", "maximum"}})
    table[entry.torch] = onTensor([entry](Lowering &l) { return lowerLogical(l, entry.opFunc); });
  for (const char *name : {"torch.aten.logical_not", "torch.aten.bitwise_not"})
    table[name] = onTensor(lowerNot);
  for (const char *name : {"torch.aten.where.self", "torch.aten.where.ScalarSelf",
                           "torch.aten.where.ScalarOther", "torch.aten.where.Scalar"})
    table[name] = [](Lowering &l) { return lowerSelect(l, 0, 1, 2); };
  for (const char *name : {"torch.aten.masked_fill.Scalar", "torch.aten.masked_fill.Tensor"})
    table[name] = onTensor([](Lowering &l) { return lowerSelect(l, 1, 2, 0); });
  for (const char *name :
       {"torch.prims.convert_element_type", "torch.aten.to.dtype", "torch.aten.to.dtype_layout",
        "torch.aten._to_copy", "torch.aten.type_as", "torch.aten.to.other"}) {
    Handler otherwise = table.lookup(name);
    table[name] = onTensor([otherwise](Lowering &l) { return lowerCast(l, otherwise); });
  }
}
