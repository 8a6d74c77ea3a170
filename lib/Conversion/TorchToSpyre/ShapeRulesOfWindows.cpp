//===- ShapeRulesOfWindows.cpp - Shapes of products and pools -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See InferShapes.cpp.
//
//===----------------------------------------------------------------------===//

#include "ShapeRules.h"

#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// \p a @ \p b as torch.matmul has it.
static std::optional<Shape> multiply(Shape a, Shape b) {
  if (a.empty() || b.empty())
    return std::nullopt;
  bool isRow = a.size() == 1, isColumn = b.size() == 1;
  if (isRow)
    a.insert(a.begin(), 1);
  if (isColumn)
    b.push_back(1);
  if (a.back() != b[b.size() - 2])
    return std::nullopt;
  std::optional<Shape> result =
      broadcast(Shape(ArrayRef(a).drop_back(2)), Shape(ArrayRef(b).drop_back(2)));
  if (!result)
    return std::nullopt;
  if (!isRow)
    result->push_back(a[a.size() - 2]);
  if (!isColumn)
    result->push_back(b.back());
  return result;
}

std::optional<Shapes> torch_lowering::inferMatmul(const Operands &o) {
  std::optional<Shape> a = o.getShape(0), b = o.getShape(1);
  return a && b ? one(multiply(*a, *b)) : std::nullopt;
}

/// addmm(c, a, b, …) and baddbmm.
std::optional<Shapes> torch_lowering::inferAddmm(const Operands &o) {
  std::optional<Shape> a = o.getShape(1), b = o.getShape(2);
  return a && b ? one(multiply(*a, *b)) : std::nullopt;
}

/// linear(x, weight, …).
std::optional<Shapes> torch_lowering::inferLinear(const Operands &o) {
  std::optional<Shape> x = o.getShape(0), weight = o.getShape(1);
  if (!x || !weight || x->empty() || weight->empty() || weight->size() > 2 ||
      x->back() != weight->back())
    return std::nullopt;
  x->pop_back();
  if (weight->size() == 2)
    x->push_back(weight->front());
  return one(x);
}

/// Places of a window of \p kernel elements, \p dilation apart, over \p size elements
/// with \p padding more on both sides; with \p ceil the last one may stick out.
static std::optional<int64_t> countWindows(int64_t size, int64_t kernel, int64_t stride,
                                           int64_t padding, int64_t dilation, bool ceil) {
  // What is larger than any tensor is refused, so that nothing overflows.
  constexpr int64_t kLimit = int64_t(1) << 31;
  for (int64_t value : {size, kernel, stride, padding, dilation})
    if (value < 0 || value > kLimit)
      return std::nullopt;
  if (kernel < 1 || stride < 1 || dilation < 1)
    return std::nullopt;
  int64_t way = size + 2 * padding - dilation * (kernel - 1) - 1;
  if (way < 0)
    return std::nullopt;
  int64_t count = (way + (ceil ? stride - 1 : 0)) / stride + 1;
  // The last window has to start inside, padding before the elements included.
  if (ceil && (count - 1) * stride >= size + padding)
    --count;
  return count;
}

/// convolution(x, weight, bias, stride, padding, dilation, transposed, output padding,
/// groups).
std::optional<Shapes> torch_lowering::inferConvolution(const Operands &o) {
  std::optional<Shape> x = o.getShape(0), weight = o.getShape(1);
  std::optional<bool> transposed = o.getBool(6);
  std::optional<int64_t> groups = o.getInt(8);
  if (!x || !weight || x->size() != weight->size() || x->size() < 3 || !transposed || !groups)
    return std::nullopt;
  size_t rank = x->size() - 2;
  std::optional<Shape> stride = o.getIntsForDims(3, rank, Shape(rank, 1)),
                       padding = o.getIntsForDims(4, rank, Shape(rank, 0)),
                       dilation = o.getIntsForDims(5, rank, Shape(rank, 1)),
                       more = o.getIntsForDims(7, rank, Shape(rank, 0));
  if (!stride || !padding || !dilation || !more)
    return std::nullopt;
  (*x)[1] = *transposed ? (*weight)[1] * *groups : (*weight)[0];
  for (size_t i = 0; i < rank; ++i) {
    int64_t &size = (*x)[2 + i];
    if (*transposed) {
      size = (size - 1) * (*stride)[i] - 2 * (*padding)[i] +
             (*dilation)[i] * ((*weight)[2 + i] - 1) + (*more)[i] + 1;
      if (size < 0)
        return std::nullopt;
      continue;
    }
    std::optional<int64_t> count =
        countWindows(size, (*weight)[2 + i], (*stride)[i], (*padding)[i], (*dilation)[i], false);
    if (!count)
      return std::nullopt;
    size = *count;
  }
  return one(x);
}

/// max_poolNd(x, kernel, stride, padding, dilation, ceil), avg_poolNd(x, kernel, stride,
/// padding, ceil, …); the second result of …_with_indices is like the first.
std::optional<Shapes> torch_lowering::inferPool(const Operands &o) {
  StringRef name = torch_reader::getShortName(o.op);
  bool isMax = name.starts_with("aten.max_pool");
  size_t digit = name.find("_pool");
  size_t rank = name[digit + 5] - '0';
  std::optional<Shape> x = o.getShape(0), kernel = o.getIntsForDims(1, rank, {});
  if (!x || !kernel || kernel->size() != rank || (x->size() != rank + 1 && x->size() != rank + 2))
    return std::nullopt;
  std::optional<Shape> stride = o.getIntsForDims(2, rank, *kernel),
                       padding = o.getIntsForDims(3, rank, Shape(rank, 0)),
                       dilation =
                           isMax ? o.getIntsForDims(4, rank, Shape(rank, 1)) : Shape(rank, 1);
  std::optional<bool> ceil = o.getBool(isMax ? 5 : 4);
  if (!stride || !padding || !dilation || !ceil)
    return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    int64_t &size = (*x)[x->size() - rank + i];
    std::optional<int64_t> count =
        countWindows(size, (*kernel)[i], (*stride)[i], (*padding)[i], (*dilation)[i], *ceil);
    if (!count)
      return std::nullopt;
    size = *count;
  }
  return Shapes{*x, *x};
}

/// adaptive_avg_poolNd(x, sizes) and adaptive_max_poolNd.
std::optional<Shapes> torch_lowering::inferAdaptivePool(const Operands &o) {
  std::optional<Shape> x = o.getShape(0), sizes = o.getInts(1);
  if (!x || !sizes || sizes->size() >= x->size())
    return std::nullopt;
  llvm::copy(*sizes, x->end() - sizes->size());
  return Shapes{*x, *x};
}
