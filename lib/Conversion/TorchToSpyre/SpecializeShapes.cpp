//===- SpecializeShapes.cpp - One program for one set of shapes -----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exporter binds each tensor's sizes to expressions of symbols. The arguments' shapes
// give the symbols their values; these, and shape inference where nothing is bound, give
// every tensor its sizes. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "FoldScalars.h"
#include "InferShapes.h"
#include "UnrollLoops.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESPECIALIZESHAPES
#include "spyre/Conversion/TorchToSpyre/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;
namespace names = torch_reader::names;

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

namespace {
/// factor * unknown + constant, where `unknown` is a symbol without a value.
struct Linear {
  int64_t factor = 0, constant = 0;
  Value unknown;
};

/// A dim of an argument.
struct Place {
  unsigned argument = 0;
  size_t dim = 0;
};

class Symbols {
public:
  /// Takes the sizes \p shape of an argument, of which \p bind speaks: gives values to
  /// the symbols that they tell. True if one has got a value.
  bool solve(Operation *bind, ArrayRef<int64_t> shape, unsigned argument);
  /// An error if \p shape is not what \p bind says.
  LogicalResult check(Operation *bind, ArrayRef<int64_t> shape, unsigned argument) const;
  /// An error if a symbol is less than its min_val or more than its max_val.
  LogicalResult checkRanges(func::FuncOp func) const;
  /// Value of \p expression, if it is known.
  std::optional<int64_t> evaluate(AffineExpr expression, ValueRange symbols) const;
  std::optional<int64_t> get(Value symbol) const {
    auto known = values.find(symbol);
    return known == values.end() ? std::nullopt : std::optional(known->second);
  }

private:
  std::optional<Linear> getLinear(AffineExpr expression, ValueRange symbols) const;
  /// \p expression with the symbols' names.
  static std::string print(AffineExpr expression, ValueRange symbols);
  /// "s0 = 4 in dim 1 of argument #2", for each symbol of \p expression.
  std::string explain(AffineExpr expression, ValueRange symbols) const;

  llvm::MapVector<Value, int64_t> values;
  llvm::DenseMap<Value, Place> places;
};
} // namespace

static std::string getSymbolName(Value symbol) {
  Operation *op = torch_reader::getDefiningOp(symbol, names::symbolicInt);
  auto name = op ? op->getAttrOfType<StringAttr>("symbol_name") : StringAttr();
  return name ? name.str() : "a symbol";
}

static AffineMap getMap(Operation *bind) {
  auto map = bind->getAttrOfType<AffineMapAttr>("shape_expressions");
  return map ? map.getValue() : AffineMap();
}

/// a <op> b for the division-like kinds, as affine maps define them.
static std::optional<int64_t> divide(AffineExprKind kind, int64_t a, int64_t b) {
  if (b < 1)
    return std::nullopt;
  int64_t floor = a / b - (a % b < 0);
  switch (kind) {
  case AffineExprKind::FloorDiv:
    return floor;
  case AffineExprKind::CeilDiv:
    return floor + (a % b != 0);
  default:
    return a - floor * b;
  }
}

std::optional<Linear> Symbols::getLinear(AffineExpr expression, ValueRange symbols) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return Linear{0, constant.getValue(), {}};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    if (symbol.getPosition() >= symbols.size())
      return std::nullopt;
    Value value = symbols[symbol.getPosition()];
    if (std::optional<int64_t> known = get(value))
      return Linear{0, *known, {}};
    return Linear{1, 0, value};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  std::optional<Linear> a = binary ? getLinear(binary.getLHS(), symbols) : std::nullopt,
                        b = binary ? getLinear(binary.getRHS(), symbols) : std::nullopt;
  if (!a || !b)
    return std::nullopt;
  std::optional<int64_t> factor, constant;
  if (binary.getKind() == AffineExprKind::Add) {
    if (a->unknown && b->unknown && a->unknown != b->unknown)
      return std::nullopt;
    factor = llvm::checkedAdd(a->factor, b->factor);
    constant = llvm::checkedAdd(a->constant, b->constant);
  } else if (binary.getKind() == AffineExprKind::Mul) {
    if (a->unknown && b->unknown)
      return std::nullopt;
    if (b->unknown)
      std::swap(a, b);
    factor = llvm::checkedMul(a->factor, b->constant);
    constant = llvm::checkedMul(a->constant, b->constant);
  } else {
    if (a->unknown || b->unknown)
      return std::nullopt;
    factor = 0;
    constant = divide(binary.getKind(), a->constant, b->constant);
  }
  if (!factor || !constant)
    return std::nullopt;
  Value unknown = a->unknown ? a->unknown : b->unknown;
  return Linear{*factor, *constant, *factor == 0 ? Value() : unknown};
}

std::optional<int64_t> Symbols::evaluate(AffineExpr expression, ValueRange symbols) const {
  std::optional<Linear> linear = getLinear(expression, symbols);
  return linear && !linear->unknown ? std::optional(linear->constant) : std::nullopt;
}

bool Symbols::solve(Operation *bind, ArrayRef<int64_t> shape, unsigned argument) {
  ValueRange symbols = bind->getOperands().drop_front();
  AffineMap map = getMap(bind);
  bool found = false;
  for (size_t dim = 0; map && dim < std::min<size_t>(map.getNumResults(), shape.size()); ++dim) {
    std::optional<Linear> linear = getLinear(map.getResult(dim), symbols);
    if (!linear || !linear->unknown || shape[dim] == ShapedType::kDynamic)
      continue;
    std::optional<int64_t> rest = llvm::checkedSub(shape[dim], linear->constant);
    if (!rest || *rest % linear->factor != 0) // check() reports it
      continue;
    values[linear->unknown] = *rest / linear->factor;
    places[linear->unknown] = {argument, dim};
    found = true;
  }
  return found;
}

std::string Symbols::print(AffineExpr expression, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbol.getPosition() < symbols.size() ? getSymbolName(symbols[symbol.getPosition()])
                                                 : "?";
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return "?";
  auto isSum = [](AffineExpr expr) { return expr.getKind() == AffineExprKind::Add; };
  auto part = [&](AffineExpr expr) {
    std::string text = print(expr, symbols);
    return isSum(expr) && !isSum(expression) ? "(" + text + ")" : text;
  };
  StringRef sign = isSum(expression)                                  ? " + "
                   : expression.getKind() == AffineExprKind::Mul      ? " * "
                   : expression.getKind() == AffineExprKind::FloorDiv ? " floordiv "
                   : expression.getKind() == AffineExprKind::CeilDiv  ? " ceildiv "
                                                                      : " mod ";
  return part(binary.getLHS()) + sign.str() + part(binary.getRHS());
}

std::string Symbols::explain(AffineExpr expression, ValueRange symbols) const {
  llvm::SetVector<Value> used;
  expression.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      if (symbol.getPosition() < symbols.size())
        used.insert(symbols[symbol.getPosition()]);
  });
  std::string text;
  for (Value symbol : used) {
    std::optional<int64_t> value = get(symbol);
    if (!value)
      continue;
    text += (text.empty() ? "" : ", ") + getSymbolName(symbol) + " = " + std::to_string(*value);
    if (auto place = places.find(symbol); place != places.end())
      text += " in dim " + std::to_string(place->second.dim) + " of argument #" +
              std::to_string(place->second.argument);
  }
  return text;
}

LogicalResult Symbols::check(Operation *bind, ArrayRef<int64_t> shape, unsigned argument) const {
  ValueRange symbols = bind->getOperands().drop_front();
  AffineMap map = getMap(bind);
  if (!map || map.getNumResults() != shape.size())
    return success();
  bool ok = true;
  for (auto [dim, expression] : llvm::enumerate(map.getResults())) {
    if (shape[dim] == ShapedType::kDynamic)
      continue;
    std::optional<Linear> linear = getLinear(expression, symbols);
    std::optional<int64_t> wanted;
    if (linear && !linear->unknown)
      wanted = linear->constant;
    if (wanted ? *wanted == shape[dim] : !linear)
      continue;
    InFlightDiagnostic error = emitError(bind->getOperand(0).getLoc())
                               << "argument #" << argument << " has size " << shape[dim]
                               << " in dim " << dim << ", the program wants "
                               << print(expression, symbols);
    if (wanted)
      error << " = " << *wanted;
    if (std::string why = explain(expression, symbols); !why.empty())
      error << " (" << why << ")";
    ok = false;
  }
  return success(ok);
}

LogicalResult Symbols::checkRanges(func::FuncOp func) const {
  bool ok = true;
  for (auto [symbol, value] : values) {
    Operation *op = torch_reader::getDefiningOp(symbol, names::symbolicInt);
    auto least = op ? op->getAttrOfType<IntegerAttr>("min_val") : IntegerAttr();
    auto most = op ? op->getAttrOfType<IntegerAttr>("max_val") : IntegerAttr();
    bool isLow = least && APInt(64, value, true).slt(least.getValue().sextOrTrunc(64));
    bool isHigh = most && APInt(64, value, true).sgt(most.getValue().sextOrTrunc(64));
    if (!isLow && !isHigh)
      continue;
    const Place place = places.lookup(symbol);
    emitError(func.getArgument(place.argument).getLoc())
        << "argument #" << place.argument << " makes " << getSymbolName(symbol) << " = " << value
        << " by dim " << place.dim << ", the program wants at " << (isLow ? "least " : "most ")
        << toString((isLow ? least : most).getValue(), 10, /*Signed=*/true);
    ok = false;
  }
  return success(ok);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SpecializeShapesPass : mlir::spyre::impl::SpyreSpecializeShapesBase<SpecializeShapesPass> {
  using SpyreSpecializeShapesBase::SpyreSpecializeShapesBase;

  void runOnOperation() override;

private:
  /// Gives the arguments of \p func the shapes of the option.
  LogicalResult setArguments(func::FuncOp func);
  LogicalResult specialize(func::FuncOp func);
  /// Folds and infers in \p block, from the front.
  LogicalResult process(Block &block);

  /// Takes loops apart.
  std::optional<LoopUnroller> loops;
  /// The arguments' sizes are known: what is unknown now stays so.
  bool isFinal = true;
};

/// `4x3`, `scalar` (no dims) or `?` (nothing is said).
struct GivenShape {
  std::optional<Shape> sizes;
};
} // namespace

static std::optional<GivenShape> parseShape(StringRef text) {
  if (text == "?")
    return GivenShape{};
  Shape shape;
  if (text == "scalar")
    return GivenShape{shape};
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t size;
    if (part.getAsInteger(10, size) || size < 0)
      return std::nullopt;
    shape.push_back(size);
  }
  return GivenShape{shape};
}

std::string mlir::spyre::toShapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

static std::string toList(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream, [&](int64_t size) {
    if (size == ShapedType::kDynamic)
      stream << "?";
    else
      stream << size;
  });
  return "[" + text + "]";
}

LogicalResult SpecializeShapesPass::setArguments(func::FuncOp func) {
  if (shapes.size() != func.getNumArguments())
    return emitError(func.getLoc())
           << "the shapes of " << shapes.size() << (shapes.size() == 1 ? " array" : " arrays")
           << " are given, '" << func.getName() << "' has " << func.getNumArguments()
           << (func.getNumArguments() == 1 ? " argument" : " arguments");
  bool ok = true;
  for (auto [i, text] : llvm::enumerate(shapes)) {
    BlockArgument argument = func.getArgument(i);
    std::optional<GivenShape> given = parseShape(text);
    if (!given)
      return emitError(argument.getLoc()) << "'" << text << "' is no shape: 4x3, scalar or ?";
    if (!given->sizes || !torch_reader::isTensor(argument.getType()))
      continue;
    if (Type type = refineTensorType(argument.getType(), *given->sizes)) {
      argument.setType(type);
      continue;
    }
    InFlightDiagnostic error = emitError(argument.getLoc())
                               << "argument #" << i << " has shape " << toList(*given->sizes)
                               << ", the program wants ";
    if (std::optional<ArrayRef<int64_t>> wanted = torch_reader::getTensorShape(argument.getType()))
      error << toList(*wanted);
    else
      error << argument.getType();
    ok = false;
  }
  return success(ok);
}

/// The branch of \p op that a constant condition takes; null if it is none, or it ends
/// otherwise than with as many values as \p op gives.
static Block *getTakenBranch(Operation *op) {
  if (!torch_reader::isOp(op, names::primIf) || op->getNumOperands() != 1 ||
      op->getNumRegions() != 2)
    return nullptr;
  std::optional<bool> condition = torch_reader::getConstantBool(op->getOperand(0));
  if (!condition)
    return nullptr;
  Region &region = op->getRegion(*condition ? 0 : 1);
  if (!llvm::hasSingleElement(region) || region.front().empty())
    return nullptr;
  Operation &last = region.front().back();
  bool fits = torch_reader::isOp(&last, "torch.prim.If.yield") &&
              last.getNumOperands() == op->getNumResults();
  return fits ? &region.front() : nullptr;
}

/// Puts what \p branch does in the place of \p op, the `if` around it.
static void takeBranch(Operation *op, Block *branch) {
  Operation *yield = &branch->back();
  op->getBlock()->getOperations().splice(op->getIterator(), branch->getOperations(),
                                         branch->begin(), yield->getIterator());
  op->replaceAllUsesWith(yield->getOperands());
  op->erase();
}

LogicalResult SpecializeShapesPass::process(Block &block) {
  OpBuilder builder(&getContext());
  bool ok = true;
  for (auto next = block.begin(); next != block.end();) {
    Operation *op = &*next++;
    Operation *previous = op->getPrevNode();
    LoopUnroller::Outcome outcome = loops->visit(op, isFinal);
    if (outcome == LoopUnroller::Outcome::Replaced)
      next = previous ? std::next(previous->getIterator()) : block.begin();
    ok &= outcome != LoopUnroller::Outcome::Refused;
    if (outcome != LoopUnroller::Outcome::Unchanged ||
        op->getName().getDialectNamespace() != "torch")
      continue;
    if (Block *branch = getTakenBranch(op)) {
      Operation *before = op->getPrevNode();
      takeBranch(op, branch);
      next = before ? std::next(before->getIterator()) : block.begin();
      continue;
    }
    bool isAssertion = torch_reader::isOp(op, names::runtimeAssert) ||
                       torch_reader::isOp(op, "torch.aten._assert_scalar");
    if (isAssertion && op->getNumOperands() > 0) {
      std::optional<double> holds = torch_reader::getConstantNumber(op->getOperand(0));
      if (holds && *holds == 0) {
        auto message = op->getAttrOfType<StringAttr>("message");
        std::optional<StringRef> text = op->getNumOperands() > 1
                                            ? torch_reader::getConstantString(op->getOperand(1))
                                            : std::nullopt;
        ok = false;
        emitError(op->getLoc()) << "with these sizes the program's assertion does not hold: "
                                << (message ? message.getValue() : text.value_or("no message"));
      } else if (holds) {
        op->erase();
      }
      continue;
    }
    if (foldScalars(op, builder))
      continue;
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        ok &= succeeded(process(inner));
    inferResultShapes(op);
  }
  return success(ok);
}

LogicalResult SpecializeShapesPass::specialize(func::FuncOp func) {
  Symbols symbols;
  SmallVector<Operation *> binds, ofArguments;
  func.walk([&](Operation *op) {
    if (!torch_reader::isOp(op, names::bindSymbolicShape) || op->getNumOperands() == 0)
      return;
    auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
    bool isOfFunction = argument && argument.getOwner() == &func.getBody().front();
    (isOfFunction ? ofArguments : binds).push_back(op);
  });
  auto getShape = [](Operation *bind) {
    return torch_reader::getTensorShape(bind->getOperand(0).getType())
        .value_or(ArrayRef<int64_t>());
  };
  auto getNumber = [](Operation *bind) {
    return cast<BlockArgument>(bind->getOperand(0)).getArgNumber();
  };
  // An expression of several symbols is solved when the others are known.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *bind : ofArguments)
      changed |= symbols.solve(bind, getShape(bind), getNumber(bind));
  }
  bool ok = true;
  for (Operation *bind : ofArguments)
    ok &= succeeded(symbols.check(bind, getShape(bind), getNumber(bind)));
  if (!ok || failed(symbols.checkRanges(func)))
    return failure();

  // What is bound, whatever its operation is.
  for (Operation *bind : binds) {
    Value value = bind->getOperand(0);
    AffineMap map = getMap(bind);
    std::optional<ArrayRef<int64_t>> said = torch_reader::getTensorShape(value.getType());
    if (!map || (said && said->size() != map.getNumResults()))
      continue;
    Shape shape;
    for (AffineExpr expression : map.getResults()) {
      std::optional<int64_t> size = symbols.evaluate(expression, bind->getOperands().drop_front());
      if (size && *size < 0)
        return emitError(value.getLoc()) << "with these sizes a tensor of the program would have "
                                         << *size << " elements in a dim";
      shape.push_back(size.value_or(ShapedType::kDynamic));
    }
    if (Type type = refineTensorType(value.getType(), shape))
      value.setType(type);
  }
  // Symbols are numbers that the program may compute with.
  OpBuilder builder(&getContext());
  func.walk([&](Operation *op) {
    if (!torch_reader::isOp(op, names::symbolicInt) || op->getNumResults() != 1)
      return;
    std::optional<int64_t> size = symbols.get(op->getResult(0));
    auto isNumber = [](OpOperand &use) {
      return !torch_reader::isOp(use.getOwner(), names::bindSymbolicShape);
    };
    if (!size || llvm::none_of(op->getUses(), isNumber))
      return;
    builder.setInsertionPoint(op);
    op->getResult(0).replaceUsesWithIf(buildConstantInt(builder, op->getLoc(), *size), isNumber);
  });
  if (failed(process(func.getBody().front())))
    return failure();
  binds.append(ofArguments);
  for (Operation *bind : binds)
    if (!hasUnknownSizes(bind->getOperand(0).getType()))
      bind->erase();
  func.walk([](Operation *op) {
    if (torch_reader::isOp(op, names::symbolicInt) && op->use_empty())
      op->erase();
  });
  // What the function returns now.
  SmallVector<Type> results(func.getResultTypes());
  for (auto ret : func.getBody().front().getOps<func::ReturnOp>())
    results.assign(ret.getOperandTypes().begin(), ret.getOperandTypes().end());
  func.setFunctionType(
      FunctionType::get(&getContext(), func.getBody().front().getArgumentTypes(), results));
  return success();
}

void SpecializeShapesPass::runOnOperation() {
  loops.emplace(getOperation());
  for (auto func : getOperation().getOps<func::FuncOp>()) {
    // Others are called, with the types that they have. Several blocks are none of torch's.
    if (func.isExternal() || !func.isPublic() || !llvm::hasSingleElement(func.getBody()))
      continue;
    bool isDynamic = llvm::any_of(func.getArgumentTypes(), hasUnknownSizes);
    if (isDynamic && !shapes.empty() && failed(setArguments(func)))
      return signalPassFailure();
    isFinal = llvm::none_of(func.getArgumentTypes(), hasUnknownSizes);
    if (failed(specialize(func)))
      return signalPassFailure();
  }
  loops->eraseUncalled();
}
