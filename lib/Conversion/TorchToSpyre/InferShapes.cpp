//===- InferShapes.cpp - Sizes of a result from its operands --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule a kind of operation; which operations are of a kind is in tables at the end.
// Facts: PyTorch's documentation of each operation. A rule answers nothing where an
// operand is not as the documentation says: the lowering refuses it by name.
//
//===----------------------------------------------------------------------===//

#include "InferShapes.h"

#include "ShapeRules.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

bool torch_lowering::hasUnknownSizes(Type type) {
  std::optional<ArrayRef<int64_t>> sizes = torch_reader::getTensorShape(type);
  return sizes && llvm::is_contained(*sizes, ShapedType::kDynamic);
}

Type torch_lowering::refineTensorType(Type type, ArrayRef<int64_t> shape) {
  auto tensor = dyn_cast<torch_reader::ValueTensorType>(type);
  if (!tensor || (tensor.getHasSizes() && tensor.getSizes().size() != shape.size()))
    return {};
  Shape sizes(shape);
  if (tensor.getHasSizes())
    for (auto [said, known] : llvm::zip(tensor.getSizes(), sizes)) {
      if (known == ShapedType::kDynamic)
        known = said;
      else if (known < 0 || (said != ShapedType::kDynamic && said != known))
        return {};
    }
  return torch_reader::ValueTensorType::get(type.getContext(), /*hasSizes=*/true, sizes,
                                            tensor.getDtype(), tensor.getSparsity());
}

std::optional<SmallVector<Shape>> Operands::getShapes(unsigned i) const {
  std::optional<OperandRange> elements =
      i < size() ? torch_reader::getListElements(op->getOperand(i)) : std::nullopt;
  if (!elements)
    return std::nullopt;
  SmallVector<Shape> shapes;
  for (Value element : *elements) {
    std::optional<Shape> shape = getShape(element);
    if (!shape)
      return std::nullopt;
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

std::optional<Shapes> torch_lowering::one(std::optional<Shape> shape) {
  return shape ? std::optional(Shapes{std::move(*shape)}) : std::nullopt;
}

std::optional<int64_t> torch_lowering::getProduct(ArrayRef<int64_t> shape) {
  std::optional<int64_t> product = 1;
  for (int64_t size : shape)
    if (!product || !(product = llvm::checkedMul(*product, size)))
      return std::nullopt;
  return product;
}

std::optional<Shape> torch_lowering::broadcast(const Shape &a, const Shape &b) {
  const Shape &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  for (size_t i = 0, lead = longer.size() - shorter.size(); i < shorter.size(); ++i) {
    int64_t &size = result[lead + i];
    if (size == 1)
      size = shorter[i];
    else if (shorter[i] != 1 && shorter[i] != size)
      return std::nullopt;
  }
  return result;
}

std::optional<Shape> torch_lowering::broadcastAll(ArrayRef<Shape> shapes) {
  std::optional<Shape> result = Shape();
  for (const Shape &shape : shapes)
    if (!(result = broadcast(*result, shape)))
      return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Elements one by one
//===----------------------------------------------------------------------===//

/// All tensor operands broadcast.
static std::optional<Shapes> inferPointwise(const Operands &o) {
  SmallVector<Shape> shapes;
  for (unsigned i = 0; i < o.size(); ++i)
    if (o.isTensor(i)) {
      std::optional<Shape> shape = o.getShape(i);
      if (!shape)
        return std::nullopt;
      shapes.push_back(std::move(*shape));
    }
  return shapes.empty() ? std::nullopt : one(broadcastAll(shapes));
}

/// Operand #0's shape.
static std::optional<Shapes> inferSame(const Operands &o) { return one(o.getShape(0)); }
/// Operand #1's or #2's shape: expand_as, gather.
static std::optional<Shapes> inferAsSecond(const Operands &o) { return one(o.getShape(1)); }
static std::optional<Shapes> inferAsThird(const Operands &o) { return one(o.getShape(2)); }
/// Both results as operand #0: sort.
static std::optional<Shapes> inferSameTwice(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  return shape ? std::optional(Shapes{*shape, *shape}) : std::nullopt;
}

/// The list at operand #0 or #1: full, new_zeros.
static std::optional<Shapes> inferSizesGiven(const Operands &o) {
  return one(o.isTensor(0) ? o.getInts(1) : o.getInts(0));
}

/// arange.start_step(start, end, step), arange.start(start, end), arange(end).
static std::optional<Shapes> inferArange(const Operands &o) {
  StringRef name = torch_reader::getShortName(o.op);
  bool hasStart = name != "aten.arange", hasStep = name == "aten.arange.start_step";
  std::optional<int64_t> start = hasStart ? o.getInt(0) : 0, end = o.getInt(hasStart ? 1 : 0),
                         step = hasStep ? o.getInt(2) : 1;
  if (!start || !end || !step || *step == 0)
    return std::nullopt;
  std::optional<int64_t> way = llvm::checkedSub(*end, *start);
  if (!way || *step == INT64_MIN || *way == INT64_MIN)
    return std::nullopt;
  bool isEmpty = *way == 0 || (*way > 0) != (*step > 0);
  return one(Shape{isEmpty ? 0 : (std::abs(*way) - 1) / std::abs(*step) + 1});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static std::optional<Shape> reduce(const Shape &shape, ArrayRef<int64_t> dims, bool keep) {
  auto rank = static_cast<int64_t>(shape.size());
  SmallVector<bool> isReduced(rank, dims.empty());
  for (int64_t dim : dims) {
    // PyTorch takes dims 0 and -1 of a scalar.
    std::optional<int64_t> at = Operands::normalize(dim, std::max<int64_t>(rank, 1));
    if (!at)
      return std::nullopt;
    if (rank > 0)
      isReduced[*at] = true;
  }
  Shape result;
  for (int64_t i = 0; i < rank; ++i)
    if (!isReduced[i])
      result.push_back(shape[i]);
    else if (keep)
      result.push_back(1);
  return result;
}

/// Dims (a list, a number or none: all) at operand \p dimsAt, keepdim at \p keepAt.
static std::optional<Shape> reduceBy(const Operands &o, unsigned dimsAt, unsigned keepAt) {
  std::optional<Shape> shape = o.getShape(0);
  std::optional<bool> keep = keepAt < o.size() ? o.getBool(keepAt) : false;
  Shape dims;
  if (std::optional<Shape> list = o.getInts(dimsAt))
    dims = std::move(*list);
  else if (std::optional<int64_t> dim = o.getInt(dimsAt))
    dims = {*dim};
  else if (!o.isNone(dimsAt))
    return std::nullopt;
  return shape && keep ? reduce(*shape, dims, *keep) : std::nullopt;
}

/// (x, dims, keepdim): sum, mean, amax, all.dim, max.dim, argmax, …; two results alike.
static std::optional<Shapes> inferReduction(const Operands &o) {
  std::optional<Shape> shape = reduceBy(o, 1, 2);
  return shape ? std::optional(Shapes{*shape, *shape}) : std::nullopt;
}
/// (x, dims, correction, keepdim): var.correction, std.correction, var_mean.correction.
/// (x, ord, dims, keepdim): linalg_vector_norm, norm.ScalarOpt_dim.
static std::optional<Shapes> inferCorrected(const Operands &o) {
  std::optional<Shape> shape = reduceBy(o, 1, 3);
  return shape ? std::optional(Shapes{*shape, *shape}) : std::nullopt;
}
static std::optional<Shapes> inferNorm(const Operands &o) { return one(reduceBy(o, 2, 3)); }
/// All of operand #0.
static std::optional<Shapes> inferScalar(const Operands &) { return Shapes{Shape()}; }

/// topk(x, k, dim, …), kthvalue is a reduction.
static std::optional<Shapes> inferTopk(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  std::optional<int64_t> k = o.getInt(1), dim = shape ? o.getDim(2, shape->size()) : std::nullopt;
  if (!k || !dim || *k < 0)
    return std::nullopt;
  (*shape)[*dim] = *k;
  return Shapes{*shape, *shape};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Rules by the name without overload, or with it where overloads differ.
static llvm::StringMap<Rule> makeTable() {
  llvm::StringMap<Rule> table;
  auto add = [&](Rule rule, StringRef names) {
    SmallVector<StringRef> list;
    names.split(list, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef name : list)
      table[name] = rule;
  };
  add(inferPointwise,
      "add sub mul div rsub pow maximum minimum fmod remainder floor_divide atan2 where lerp "
      "addcmul addcdiv eq ne lt le gt ge logical_and logical_or logical_xor logical_not "
      "bitwise_and bitwise_or bitwise_xor bitwise_not neg abs exp exp2 expm1 log log2 log10 "
      "log1p sqrt rsqrt reciprocal sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh "
      "erf erfc sigmoid relu relu6 silu gelu mish elu selu celu leaky_relu hardtanh hardsigmoid "
      "hardswish softplus softsign log_sigmoid threshold square sign sgn floor ceil round trunc "
      "frac isnan isinf isfinite clamp clamp_min clamp_max fmax fmin xlogy copysign hypot "
      "nan_to_num masked_fill logaddexp");
  add(inferSame,
      "clone contiguous detach alias to _to_copy type_as dropout softmax _softmax _log_softmax "
      "log_softmax cumsum cumprod tril triu flip roll zeros_like ones_like full_like empty_like "
      "rand_like randn_like fill zero copy layer_norm native_layer_norm batch_norm "
      "native_batch_norm group_norm native_group_norm rms_norm index_put scatter scatter_add "
      "scatter_reduce slice_scatter select_scatter masked_scatter lift_fresh_copy argsort "
      "logcumsumexp prims.convert_element_type prims.view_of bernoulli uniform index_fill "
      "index_add index_copy diagonal_scatter prelu bucketize tensor_static_info_cast "
      "copy.to_vtensor bitwise_left_shift bitwise_right_shift");
  add(inferAsSecond, "expand_as view_as reshape_as");
  add(inferAsThird, "gather");
  add(inferSameTwice, "sort cummax cummin");
  add(inferSizesGiven, "full zeros ones empty rand randn new_full new_zeros new_ones new_empty");
  add(inferArange, "arange");
  add(inferReduction,
      "sum.dim_IntList mean.dim amax amin all.dim any.dim argmax argmin max.dim min.dim "
      "prod.dim_int logsumexp any.dims all.dims median.dim mode");
  add(inferCorrected,
      "var.correction std.correction var_mean.correction std_mean.correction var.dim std.dim "
      "var_mean.dim");
  add(inferNorm, "linalg_vector_norm norm.ScalarOpt_dim");
  add(inferScalar,
      "sum.default mean.default max.default min.default prod.default all.default any.default "
      "scalar_tensor prim.NumToTensor");
  add(inferTopk, "topk");
  add(inferView, "view reshape _unsafe_view _reshape_alias");
  add(inferExpand, "expand broadcast_to");
  add(inferPermute, "permute");
  add(inferTranspose, "transpose.int swapaxes swapdims");
  add(inferMoveDim, "movedim.int");
  add(inferT, "t numpy_T mT");
  add(inferUnsqueeze, "unsqueeze");
  add(inferSqueeze, "squeeze squeeze.dim squeeze.dims prims.squeeze");
  add(inferSlice, "slice.Tensor");
  add(inferSelect, "select.int");
  add(inferFlatten, "flatten.using_ints");
  add(inferUnflatten, "unflatten.int");
  add(inferCat, "cat");
  add(inferStack, "stack");
  add(inferRepeat, "repeat tile");
  add(inferPad,
      "constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
      "replication_pad2d replication_pad3d");
  add(inferIndexSelect, "index_select");
  add(inferEmbedding, "embedding");
  add(inferIndex, "index.Tensor index.Tensor_hacked_twin");
  add(inferMatmul, "mm bmm matmul mv dot");
  add(inferAddmm, "addmm baddbmm");
  add(inferLinear, "linear");
  add(inferConvolution, "convolution");
  add(inferPool, "max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices "
                 "avg_pool1d avg_pool2d avg_pool3d");
  add(inferAdaptivePool,
      "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
      "_adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d");
  return table;
}

static Rule getRule(Operation *op) {
  static const llvm::StringMap<Rule> table = makeTable();
  StringRef name = torch_reader::getOperatorName(op);
  name.consume_front("aten.");
  if (Rule rule = table.lookup(name))
    return rule;
  // `sum` alone takes all dims, `sum.dim_IntList` some; most overloads are alike.
  if (Rule rule = table.lookup((name + ".default").str()))
    return rule;
  return table.lookup(name.rsplit('.').first);
}

void torch_lowering::inferResultShapes(Operation *op) {
  if (llvm::none_of(op->getResultTypes(), hasUnknownSizes))
    return;
  Rule rule = getRule(op);
  std::optional<Shapes> shapes = rule ? rule(Operands(op)) : std::nullopt;
  if (!shapes)
    return;
  for (auto [result, shape] : llvm::zip(op->getResults(), *shapes))
    if (Type type = refineTensorType(result.getType(), shape))
      result.setType(type);
}
