//===- Reductions.cpp - torch operations that reduce dims -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of reductions: torch name, OpFunc, where the dims and keepdim stand; and
// what is made of several. max.dim and min.dim are their values; indices have no device
// form.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "spyre/Numerics/DL16.h"

#include <limits>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

namespace {
struct Reduction {
  const char *torch, *opFunc;
  int dims = -1;     ///< operand with the dims (an int or a list), -1: all dims
  int keepDims = -1; ///< operand with keepdim, -1: false
};
constexpr Reduction kReductions[] = {
    {"torch.aten.amax", "max", 1, 2}, {"torch.aten.amin", "min", 1, 2},
    {"torch.aten.max", "max"},        {"torch.aten.max.dim", "max", 1, 2},
    {"torch.aten.mean", "mean"},      {"torch.aten.mean.dim", "mean", 1, 2},
    {"torch.aten.min", "min"},        {"torch.aten.min.dim", "min", 1, 2},
    {"torch.aten.sum", "sum"},        {"torch.aten.sum.dim_IntList", "sum", 1, 2},
    {"torch.prims.sum", "sum", 1},
};
constexpr Reduction kTruths[] = {
    {"torch.aten.all", "min"},
    {"torch.aten.all.dim", "min", 1, 2},
    {"torch.aten.all.dims", "min", 1, 2},
    {"torch.aten.any", "max"},
    {"torch.aten.any.dim", "max", 1, 2},
    {"torch.aten.any.dims", "max", 1, 2},
};
} // namespace

std::optional<ReducedDims> torch_lowering::getReducedDims(Lowering &l, int dimsOperand,
                                                          int keepDimsOperand) {
  RankedTensorType type = l.getTensorType(0);
  int64_t rank = type.getRank();
  ReducedDims result;
  if (dimsOperand >= 0 && l.isGiven(dimsOperand)) {
    std::optional<SmallVector<int64_t>> given = l.getInts(dimsOperand);
    if (!given)
      return std::nullopt;
    for (int64_t dim : *given) {
      std::optional<int64_t> normal = l.normalizeDim(dim, std::max<int64_t>(rank, 1));
      if (!normal)
        return std::nullopt;
      result.dims.push_back(*normal);
    }
  }
  if (result.dims.empty()) // PyTorch: no dims means all of them
    llvm::append_range(result.dims, llvm::seq<int64_t>(0, rank));
  llvm::sort(result.dims);
  result.dims.erase(llvm::unique(result.dims), result.dims.end());
  if (rank == 0)
    result.dims.clear();
  if (keepDimsOperand >= 0 && l.isGiven(keepDimsOperand)) {
    std::optional<bool> given = l.getBool(keepDimsOperand);
    if (!given)
      return std::nullopt;
    result.keepDims = *given;
  }
  for (int64_t dim : result.dims)
    result.numElements *= type.getDimSize(dim);
  return result;
}

/// What is left where nothing is reduced: 0 of a sum, NaN of a mean, false of any and true
/// of all; null after refusing the others.
static Value buildEmptyReduction(Lowering &l, StringRef opFunc) {
  RankedTensorType type = l.getResultType();
  TypedAttr number;
  if (type.getElementType().isInteger(1))
    number = l.b.getBoolAttr(opFunc == "min");
  else if (opFunc == "sum" && isa<FloatType>(type.getElementType()))
    number = l.b.getFloatAttr(type.getElementType(), 0.0);
  else if (opFunc == "mean" && isa<FloatType>(type.getElementType()))
    number = l.b.getFloatAttr(type.getElementType(), std::numeric_limits<double>::quiet_NaN());
  if (!number) {
    (void)l.refuse("a reduction of no elements has no value");
    return {};
  }
  return ConstantOp::create(l.b, l.loc, type, DenseElementsAttr::get(type, Attribute(number)));
}

/// \p x reduced, after refusing what the device cannot: null.
static Value buildReduced(Lowering &l, StringRef opFunc, Value x, const ReducedDims &dims) {
  if (dims.dims.empty())
    return x;
  if (dims.numElements == 0)
    return buildEmptyReduction(l, opFunc);
  return buildReduction(l.b, l.loc, opFunc, x, dims.dims, dims.keepDims);
}

static LogicalResult lowerReduction(Lowering &l, const Reduction &entry) {
  if (l.op->getNumResults() == 2 && !l.op->getResult(1).use_empty())
    return lowerExtremeWithPlace(l, StringRef(entry.opFunc) == "max");
  // A bool's extrema are bools.
  bool isExtremum = StringRef(entry.opFunc) == "max" || StringRef(entry.opFunc) == "min";
  bool isBool = isExtremum && l.getResultType().getElementType().isInteger(1);
  Type type = isBool ? l.getResultType().getElementType() : l.getComputeType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<ReducedDims> dims;
  if (x)
    dims = getReducedDims(l, entry.dims, entry.keepDims);
  Value value = dims ? buildReduced(l, entry.opFunc, x, *dims) : Value();
  return value ? l.replaceWith(value) : failure();
}

/// any and all: the largest and the smallest truth value.
static LogicalResult lowerAnyAll(Lowering &l, const Reduction &entry) {
  if (!l.getResultType().getElementType().isInteger(1))
    return l.refuse("its result must be bool");
  Value x = getTruth(l, 0);
  std::optional<ReducedDims> dims;
  if (x)
    dims = getReducedDims(l, entry.dims, entry.keepDims);
  Value value = dims ? buildReduced(l, entry.opFunc, x, *dims) : Value();
  return value ? l.replaceWith(value) : failure();
}

/// aminmax(x, dim, keepdim): both.
static LogicalResult lowerAminmax(Lowering &l) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<ReducedDims> dims;
  if (x)
    dims = getReducedDims(l, 1, 2);
  Value low = dims ? buildReduced(l, "min", x, *dims) : Value();
  return low ? l.replaceWith({low, buildReduced(l, "max", x, *dims)}) : failure();
}

// m + log(sum exp(x - m)), m the maximum brought into the finite range, so that neither
// -inf nor inf leaves a difference of infinities.
static LogicalResult lowerLogsumexp(Lowering &l) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<ReducedDims> dims;
  if (x)
    dims = getReducedDims(l, 1, 2);
  if (!dims)
    return failure();
  Arithmetic m(l, type);
  ReducedDims kept = *dims;
  kept.keepDims = true;
  Value maximum = buildReduced(l, "max", x, kept);
  if (!maximum)
    return failure();
  double finite = isHalf(type) ? ::spyre::kDL16MaxFinite : std::numeric_limits<float>::max();
  maximum = m.clip(maximum, -finite, finite);
  Value sum = buildReduced(l, "sum", m.unary("exp", m.sub(x, maximum)), kept);
  Value value = m.add(maximum, m.unary("log", sum));
  return l.replaceWith(buildReshape(l.b, l.loc, value, l.getResultType().getShape()));
}

namespace {
/// Where the operands of a norm stand.
struct Norm {
  const char *torch;
  int order, dims, keepDims;
};
constexpr Norm kNorms[] = {
    {"torch.aten.linalg_vector_norm", 1, 2, 3},
    {"torch.aten.norm.Scalar", 1, -1, -1},
    {"torch.aten.norm.ScalarOpt_dim", 1, 2, 3},
    {"torch.aten.frobenius_norm.dim", -1, 1, 2},
};
} // namespace

/// x^exponent for x >= 0 and an exponent above 0: whole powers by products, the rest by
/// square roots, as many as the result has bits. No logarithm, which has 16 bits only.
static Value buildRealPower(const Arithmetic &m, Value x, double exponent, int bits) {
  double whole = std::floor(exponent), rest = exponent - whole;
  Value result = whole > 0 ? buildPower(m, x, static_cast<unsigned>(whole)) : Value();
  for (Value root = x; rest > 0 && bits > 0; --bits) {
    root = m.unary("sqrt", root);
    rest *= 2;
    if (rest < 1)
      continue;
    rest -= 1;
    result = result ? m.mul(result, root) : root;
  }
  return result ? result : m.constant(1.0);
}

// Any other order p: with M the largest |x| (the smallest for p < 0), M (sum (|x|/M)^p)^(1/p),
// which no size of x overflows.
static Value buildGeneralNorm(Lowering &l, Value x, double order, ReducedDims dims) {
  Type type = getTensorType(x).getElementType();
  Arithmetic here(l, type), m(l, l.b.getF32Type());
  dims.keepDims = true;
  double p = std::abs(order);
  // A power that is left out is off by 2^-bits log(x), which is 17 at most for f16.
  int bits = isHalf(type) ? 18 : 28;
  x = here.unary("abs", x);
  Value extreme = buildReduced(l, order > 0 ? "max" : "min", x, dims);
  if (!extreme)
    return {};
  x = m.widen(x);
  extreme = m.widen(extreme);
  Value ratio = order > 0 ? m.div(x, extreme) : m.div(extreme, x);
  Value sum = buildReduced(l, "sum", buildRealPower(m, ratio, p, bits), dims);
  Value root = buildRealPower(m, sum, 1.0 / p, bits);
  Value norm = order > 0 ? m.mul(extreme, root) : m.div(extreme, root);
  return m.select(extreme, norm, 0.0);
}

/// Norms in f32: squares of f16 numbers overflow 16 bits.
static LogicalResult lowerNorm(Lowering &l, const Norm &entry) {
  Type type = l.getDeviceType(), f32 = l.b.getF32Type();
  std::optional<double> order = 2.0;
  if (type && entry.order >= 0)
    order = l.getNumberOr(entry.order, 2.0);
  Value x = type && order ? l.getAs(0, type) : Value();
  std::optional<ReducedDims> dims;
  if (x)
    dims = getReducedDims(l, entry.dims, entry.keepDims);
  if (!dims)
    return failure();
  Arithmetic m(l, f32);
  Value value;
  if (std::isinf(*order)) {
    Arithmetic half(l, type);
    value = buildReduced(l, *order > 0 ? "max" : "min", half.unary("abs", x), *dims);
  } else if (*order == 1.0) {
    value = buildReduced(l, "sum", m.unary("abs", m.widen(x)), *dims);
  } else if (*order == 2.0) {
    x = m.widen(x);
    value = buildReduced(l, "sum", m.mul(x, x), *dims);
    value = value ? m.unary("sqrt", value) : value;
  } else if (*order == 0.0) {
    value = buildReduced(l, "sum", m.select(m.widen(x), 1.0, 0.0), *dims);
  } else if (std::abs(*order) >= 0.5 && std::abs(*order) <= 16.0) {
    value = buildGeneralNorm(l, x, *order, *dims);
    value = value ? buildReshape(l.b, l.loc, value, l.getResultType().getShape()) : value;
  } else {
    return l.refuse("the device has no norm of this order");
  }
  return value ? l.replaceWith(m.convert(value, type)) : failure();
}

void torch_lowering::addReductions(HandlerTable &table) {
  for (const Reduction &entry : kReductions)
    table[entry.torch] = onTensor([&entry](Lowering &l) { return lowerReduction(l, entry); });
  for (const Reduction &entry : kTruths)
    table[entry.torch] = onTensor([&entry](Lowering &l) { return lowerAnyAll(l, entry); });
  for (const Norm &entry : kNorms)
    table[entry.torch] = onTensor([&entry](Lowering &l) { return lowerNorm(l, entry); });
  table["torch.aten.aminmax"] = onTensor(lowerAminmax);
  table["torch.aten.logsumexp"] = onTensor(lowerLogsumexp);
}
