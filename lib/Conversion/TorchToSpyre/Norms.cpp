//===- Norms.cpp - Statistics and normalisation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Means, variances and what is normalised by them are computed in f32 (precision
// contract: never at DL16), the variance from centred values. The device's exx2,
// layernormscale and layernormnorm compute it as mean x^2 - (mean x)^2, which loses
// everything where the mean is large beside the deviation (2^12 times it in f32), so
// they are not used.
//
// An error of the mean moves the centred values. The sum is divided, not multiplied by
// 1/n: for equal 16-bit values of up to 2^13 elements it is exact, as is the quotient,
// and a constant row becomes exactly 0.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

namespace {
/// Mean and variance along dims, which stay with extent 1; all in f32.
struct Moments {
  Value mean, centred, variance;
};
} // namespace

/// \p x (f32) reduced to its mean.
static Value buildMean(Lowering &l, const Arithmetic &m, Value x, const ReducedDims &dims) {
  auto reduce = [&](StringRef opFunc) {
    return buildReduction(l.b, l.loc, opFunc, x, dims.dims, /*keepDims=*/true);
  };
  if (llvm::isPowerOf2_64(dims.numElements)) // the factor is exact
    return reduce("mean");
  return m.div(reduce("sum"), static_cast<double>(dims.numElements));
}

/// The moments of \p x, the variance with divisor n - \p correction; nothing after refusing.
static std::optional<Moments> buildMoments(Lowering &l, Value x, const ReducedDims &dims,
                                           double correction) {
  double divisor = static_cast<double>(dims.numElements) - correction;
  if (dims.numElements == 0 || !(divisor > 0)) {
    (void)l.refuse("a variance needs more elements than its correction");
    return std::nullopt;
  }
  Arithmetic m(l, l.b.getF32Type());
  x = m.widen(x);
  Moments moments;
  if (dims.dims.empty()) { // of a number
    moments.mean = x;
    moments.centred = m.sub(x, x);
    moments.variance = m.mul(moments.centred, moments.centred);
    return moments;
  }
  moments.mean = buildMean(l, m, x, dims);
  moments.centred = m.sub(x, moments.mean);
  Value square = m.mul(moments.centred, moments.centred);
  Value sum = buildReduction(l.b, l.loc, "sum", square, dims.dims, /*keepDims=*/true);
  moments.variance = m.mul(sum, 1.0 / divisor);
  return moments;
}

namespace {
/// Which results an operation has.
struct Variance {
  const char *torch;
  bool root = false; ///< standard deviation
  bool withMean = false;
  int dims = 1, correction = 2, keepDims = 3;
  bool unbiased = false; ///< the correction is a bool
};
constexpr Variance kVariances[] = {
    {"torch.aten.var.correction"},
    {"torch.aten.std.correction", true},
    {"torch.aten.var_mean.correction", false, true},
    {"torch.aten.std_mean.correction", true, true},
    {"torch.aten.var", false, false, -1, 1, -1, true},
    {"torch.aten.std", true, false, -1, 1, -1, true},
    {"torch.aten.var_mean", false, true, -1, 1, -1, true},
    {"torch.aten.var.dim", false, false, 1, 2, 3, true},
    {"torch.aten.std.dim", true, false, 1, 2, 3, true},
    {"torch.aten.var_mean.dim", false, true, 1, 2, 3, true},
};
} // namespace

static LogicalResult lowerVariance(Lowering &l, const Variance &entry) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<double> correction = 1.0;
  if (x && l.isGiven(entry.correction)) {
    if (entry.unbiased) {
      std::optional<bool> given = l.getBool(entry.correction);
      correction = given ? std::optional(*given ? 1.0 : 0.0) : std::nullopt;
    } else {
      correction = l.getNumber(entry.correction);
    }
  }
  std::optional<ReducedDims> dims;
  if (x && correction)
    dims = getReducedDims(l, entry.dims, entry.keepDims);
  std::optional<Moments> moments;
  if (dims)
    moments = buildMoments(l, x, *dims, *correction);
  if (!moments)
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  auto finish = [&](Value value) {
    return m.convert(buildReshape(l.b, l.loc, value, l.getResultType().getShape()), type);
  };
  SmallVector<Value> results{
      finish(entry.root ? m.unary("sqrt", moments->variance) : moments->variance)};
  if (entry.withMean)
    results.push_back(finish(moments->mean));
  return l.replaceWith(results);
}

/// Operand \p i, if given, as f32; nothing (and the reason set) if it has not \p shape.
static std::optional<Value> getParameter(Lowering &l, unsigned i, ArrayRef<int64_t> shape) {
  if (!l.isGiven(i))
    return Value();
  if (!l.isTensor(i) || l.getTensorType(i).getShape() != shape) {
    (void)l.refuse("operand #" + Twine(i) + " must have the normalised dims");
    return std::nullopt;
  }
  Value value = l.getAs(i, l.b.getF32Type());
  return value ? std::optional(value) : std::nullopt;
}

// layer_norm(x, normalized_shape, weight, bias, eps, cudnn_enable), and native_layer_norm,
// whose further results are the mean and 1/sqrt(variance + eps).
static LogicalResult lowerLayerNorm(Lowering &l) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<SmallVector<int64_t>> normalized;
  if (x)
    normalized = l.getInts(1);
  if (!normalized)
    return failure();
  RankedTensorType xType = getTensorType(x);
  int64_t rank = normalized->size();
  if (xType.getShape() != l.getResultType().getShape() || rank < 1 || rank > xType.getRank() ||
      xType.getShape().take_back(rank) != ArrayRef<int64_t>(*normalized))
    return l.refuse("normalized_shape must be the operand's last dims");
  std::optional<Value> weight = getParameter(l, 2, *normalized);
  std::optional<Value> bias = weight ? getParameter(l, 3, *normalized) : std::nullopt;
  std::optional<double> epsilon = bias ? l.getNumberOr(4, 1e-5) : std::nullopt;
  if (!epsilon)
    return failure();
  ReducedDims dims;
  dims.dims = llvm::to_vector(llvm::seq<int64_t>(xType.getRank() - rank, xType.getRank()));
  dims.numElements = ShapedType::getNumElements(*normalized);
  std::optional<Moments> moments = buildMoments(l, x, dims, 0.0);
  if (!moments)
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  Value scale = m.unary("rsqrt", m.add(moments->variance, *epsilon));
  Value result = m.mul(moments->centred, scale);
  if (*weight)
    result = m.mul(result, *weight);
  if (*bias)
    result = m.add(result, *bias);
  SmallVector<Value> results{m.convert(result, type)};
  for (auto [i, value] : {std::pair(1u, moments->mean), std::pair(2u, scale)})
    if (i < l.op->getNumResults())
      results.push_back(m.convert(value, l.getResultType(i).getElementType()));
  return l.replaceWith(results);
}

/// A value of one element a channel (dim 1 of \p rank dims).
static Value buildPerChannel(Lowering &l, Value value, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = getTensorType(value).getDimSize(0);
  return buildReshape(l.b, l.loc, value, shape);
}

// group_norm(x, groups, weight, bias, eps, cudnn_enable); native_group_norm(x, weight, bias,
// N, C, HxW, groups, eps). Channels of a group and all dims after them share moments.
static LogicalResult lowerGroupNorm(Lowering &l, int groupsOperand, int weightOperand,
                                    int epsilonOperand) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<int64_t> groups = x ? l.getInt(groupsOperand) : std::nullopt;
  std::optional<double> epsilon = groups ? l.getNumberOr(epsilonOperand, 1e-5) : std::nullopt;
  if (!epsilon)
    return failure();
  RankedTensorType xType = getTensorType(x);
  if (xType.getRank() < 2 || *groups < 1 || xType.getDimSize(1) % *groups ||
      xType.getShape() != l.getResultType().getShape())
    return l.refuse("the groups must divide the channels (dim 1)");
  int64_t batch = xType.getDimSize(0), channels = xType.getDimSize(1);
  if (xType.getNumElements() == 0)
    return l.refuse("a variance needs more elements than its correction");
  std::optional<Value> weight = getParameter(l, weightOperand, {channels});
  std::optional<Value> bias =
      weight ? getParameter(l, weightOperand + 1, {channels}) : std::nullopt;
  if (!bias)
    return failure();
  int64_t groupSize = xType.getNumElements() / batch / *groups;
  ReducedDims dims;
  dims.dims = {2};
  dims.numElements = groupSize;
  std::optional<Moments> moments =
      buildMoments(l, buildReshape(l.b, l.loc, x, {batch, *groups, groupSize}), dims, 0.0);
  if (!moments)
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  Value scale = m.unary("rsqrt", m.add(moments->variance, *epsilon));
  Value result = buildReshape(l.b, l.loc, m.mul(moments->centred, scale), xType.getShape());
  if (*weight)
    result = m.mul(result, buildPerChannel(l, *weight, xType.getRank()));
  if (*bias)
    result = m.add(result, buildPerChannel(l, *bias, xType.getRank()));
  SmallVector<Value> results{m.convert(result, type)};
  for (auto [i, value] : {std::pair(1u, moments->mean), std::pair(2u, scale)})
    if (i < l.op->getNumResults())
      results.push_back(m.convert(buildReshape(l.b, l.loc, value, {batch, *groups}),
                                  l.getResultType(i).getElementType()));
  return l.replaceWith(results);
}

// batch_norm(x, weight, bias, mean, variance, training, momentum, eps, cudnn_enabled) and
// _native_batch_norm_legit_no_training(x, weight, bias, mean, variance, momentum, eps), with
// given moments: one factor and one summand a channel, in f32.
static LogicalResult lowerBatchNorm(Lowering &l, int trainingOperand, int epsilonOperand) {
  Type type = l.getDeviceType(), f32 = l.b.getF32Type();
  Value x = type ? l.getAs(0, type) : Value();
  if (!x)
    return failure();
  if (trainingOperand >= 0) {
    std::optional<bool> training = l.getBool(trainingOperand);
    if (!training)
      return failure();
    if (*training)
      return l.refuse("only batch_norm with given moments (evaluation) runs on the device");
  }
  std::optional<double> epsilon = l.getNumber(epsilonOperand);
  if (!epsilon)
    return failure();
  RankedTensorType xType = getTensorType(x);
  if (xType.getRank() < 2 || xType.getShape() != l.getResultType().getShape())
    return l.refuse("needs channels in dim 1");
  int64_t channels = xType.getDimSize(1);
  Value parameters[4]; // weight, bias, mean, variance
  for (unsigned i = 0; i < 4; ++i) {
    std::optional<Value> parameter = getParameter(l, i + 1, {channels});
    if (!parameter)
      return failure();
    parameters[i] = *parameter;
  }
  auto [weight, bias, mean, variance] = parameters;
  if (!mean || !variance)
    return l.refuse("needs a mean and a variance");
  Arithmetic m(l, f32);
  Value scale = m.unary("rsqrt", m.add(variance, *epsilon));
  if (weight)
    scale = m.mul(scale, weight);
  Value result = m.mul(m.sub(m.widen(x), buildPerChannel(l, mean, xType.getRank())),
                       buildPerChannel(l, scale, xType.getRank()));
  if (bias)
    result = m.add(result, buildPerChannel(l, bias, xType.getRank()));
  return l.replaceWith(m.convert(result, type));
}

//===----------------------------------------------------------------------===//
// f64 statistics
//===----------------------------------------------------------------------===//

// What exporters write for the variance of an f32 value: f64 between two casts. The exact
// rule is that of spyre-resolve-precision; here the f64 values around `op` may only be
// made by operations that it knows, so that others end in the report.
bool torch_lowering::statisticsAreNarrow(Operation *op) {
  auto isF64 = [](Value value) {
    Type element = torch_reader::isTensor(value.getType())
                       ? torch_reader::getTensorElementType(value.getType())
                       : Type();
    return element && element.isF64();
  };
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> waiting{op};
  while (!waiting.empty()) {
    Operation *next = waiting.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    StringRef name = torch_reader::getShortName(next);
    bool isCast =
        llvm::is_contained({"prims.convert_element_type", "aten.to.dtype", "aten._to_copy"}, name);
    if (!isCast && !llvm::is_contained({"aten.sum.dim_IntList", "aten.mean.dim", "aten.div.Scalar",
                                        "aten.sub.Tensor", "aten.mul.Tensor", "aten.add.Scalar",
                                        "aten.pow.Tensor_Scalar", "aten.square", "aten.sqrt",
                                        "aten.rsqrt", "aten.squeeze.dim", "aten.view"},
                                       name))
      return false;
    for (Value operand : next->getOperands())
      if (isF64(operand)) {
        if (!operand.getDefiningOp())
          return false;
        waiting.push_back(operand.getDefiningOp());
      }
    for (Value result : next->getResults())
      if (isF64(result))
        for (Operation *user : result.getUsers()) {
          if (user->hasTrait<OpTrait::IsTerminator>())
            return false;
          waiting.push_back(user);
        }
  }
  return true;
}

void torch_lowering::addNorms(HandlerTable &table) {
  for (const Variance &entry : kVariances)
    table[entry.torch] = onTensor([&entry](Lowering &l) { return lowerVariance(l, entry); });
  for (const char *name : {"torch.aten.layer_norm", "torch.aten.native_layer_norm"})
    table[name] = onTensor(lowerLayerNorm);
  table["torch.aten.group_norm"] = onTensor([](Lowering &l) { return lowerGroupNorm(l, 1, 2, 4); });
  table["torch.aten.native_group_norm"] =
      onTensor([](Lowering &l) { return lowerGroupNorm(l, 6, 1, 7); });
  table["torch.aten.batch_norm"] = onTensor([](Lowering &l) { return lowerBatchNorm(l, 5, 7); });
  table["torch.aten._native_batch_norm_legit_no_training"] =
      onTensor([](Lowering &l) { return lowerBatchNorm(l, -1, 6); });
}
