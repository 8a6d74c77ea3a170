//===- Windows.cpp - Convolutions and pooling -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window is looked at tap by tap: a tap is the part of the padded input that one element of
// the kernel meets, a view. A convolution is one product, of all taps' channels side by side
// with the kernel, accumulated in f32 and rounded once; where windows do not overlap, the taps
// side by side are a view, too. Where every channel has kernels of its own, taps are multiplied
// and added up in f32. Pooling is the maximum or the sum of the taps.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include <limits>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

namespace {
/// Extents of the window's dims, which are an operand's last.
struct Window {
  SmallVector<int64_t> kernel, stride, front, back, dilation, counts; ///< counts: of windows

  unsigned getRank() const { return kernel.size(); }
  int64_t getNumTaps() const { return llvm::product_of(kernel); }
  /// How far the last window reaches, in padded elements.
  int64_t getReach(unsigned d) const {
    return (counts[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1;
  }
  /// Windows lie one behind the other, and cover what they begin with.
  bool isApart() const {
    return llvm::all_equal({ArrayRef(kernel), ArrayRef(stride)}) &&
           llvm::all_of(dilation, [](int64_t n) { return n == 1; }) &&
           llvm::all_of(llvm::concat<const int64_t>(front, back), [](int64_t n) { return n == 0; });
  }
};
} // namespace

/// Ints of operand \p i for \p rank dims, one for all or \p otherwise if it is not given or empty.
static std::optional<SmallVector<int64_t>> getForDims(Lowering &l, unsigned i, unsigned rank,
                                                      ArrayRef<int64_t> otherwise) {
  if (!l.isGiven(i))
    return SmallVector<int64_t>(otherwise);
  std::optional<SmallVector<int64_t>> values = l.getInts(i);
  if (!values)
    return std::nullopt;
  if (values->empty())
    return SmallVector<int64_t>(otherwise);
  if (values->size() == 1)
    values->resize(rank, values->front());
  if (values->size() != rank) {
    (void)l.refuse("operand #" + Twine(i) + " has no number for each dim of the window");
    return std::nullopt;
  }
  return values;
}

/// \p parts along \p dim; a single one is what it is.
static Value join(Lowering &l, ArrayRef<Value> parts, int64_t dim) {
  return parts.size() == 1 ? parts[0] : buildConcat(l.b, l.loc, parts, dim);
}

/// \p x with \p front and \p back elements of \p number around dim \p dim.
static Value buildPadded(Lowering &l, Value x, int64_t dim, int64_t front, int64_t back,
                         double number) {
  RankedTensorType type = getTensorType(x);
  SmallVector<Value> parts;
  auto add = [&](int64_t count) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = count;
    if (count > 0)
      parts.push_back(buildSplat(l, shape, number, type.getElementType()));
  };
  add(front);
  parts.push_back(x);
  add(back);
  return join(l, parts, dim);
}

/// \p x padded so that all windows lie inside.
static Value buildPadded(Lowering &l, Value x, const Window &window, double number) {
  for (unsigned d = 0; d < window.getRank(); ++d) {
    int64_t dim = getTensorType(x).getRank() - window.getRank() + d;
    int64_t left = window.getReach(d) - window.front[d] - getTensorType(x).getDimSize(dim);
    x = buildPadded(l, x, dim, window.front[d], std::max<int64_t>(left, 0), number);
  }
  return x;
}

/// What tap \p tap (row-major) of the windows meets in \p padded: a view with the counts of
/// windows as its last dims.
static Value buildTap(Lowering &l, Value padded, const Window &window, int64_t tap) {
  for (unsigned d = window.getRank(); d-- > 0;) {
    int64_t dim = getTensorType(padded).getRank() - window.getRank() + d;
    int64_t place = tap % window.kernel[d];
    tap /= window.kernel[d];
    padded =
        buildSlice(l, padded, dim, place * window.dilation[d], window.counts[d], window.stride[d]);
  }
  return padded;
}

/// \p value with its dims in the order \p order.
static Value buildPermuted(Lowering &l, Value value, ArrayRef<unsigned> order) {
  ArrayRef<int64_t> shape = getTensorType(value).getShape();
  SmallVector<int64_t> permuted;
  SmallVector<AffineExpr> exprs(order.size());
  for (auto [i, dim] : llvm::enumerate(order)) {
    permuted.push_back(shape[dim]);
    exprs[dim] = l.b.getAffineDimExpr(i);
  }
  return buildView(l.b, l.loc, value, AffineMap::get(order.size(), 0, exprs, l.b.getContext()),
                   permuted);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// A convolution of x [N, groups * C, sizes] with w [groups * O, C, kernel].
struct Convolution {
  Value x, w;
  int64_t batch, groups, inputs, outputs; ///< channels of one group
  Window window;
};
} // namespace

/// The windows of \p c as rows: [groups, N * counts, C * taps], by \p isTapFirst in the order
/// taps, channels, else channels, taps.
static Value buildColumns(Lowering &l, const Convolution &c, bool &isTapFirst) {
  const Window &window = c.window;
  unsigned rank = window.getRank();
  int64_t rows = c.batch * llvm::product_of(window.counts);
  isTapFirst = !window.isApart();
  SmallVector<int64_t> split = {c.batch, c.groups, c.inputs};
  if (!isTapFirst) {
    // [N, g, C, count, kernel, ...] to [g, N, counts, C, kernels].
    Value x = c.x;
    SmallVector<unsigned> order = {1, 0}, kernels = {2};
    for (unsigned d = 0; d < rank; ++d) {
      x = buildSlice(l, x, 2 + d, 0, window.counts[d] * window.kernel[d]);
      llvm::append_values(split, window.counts[d], window.kernel[d]);
      order.push_back(3 + 2 * d);
      kernels.push_back(4 + 2 * d);
    }
    llvm::append_range(order, kernels);
    x = buildPermuted(l, buildReshape(l.b, l.loc, x, split), order);
    return buildReshape(l.b, l.loc, x, {c.groups, rows, c.inputs * window.getNumTaps()});
  }
  Value padded = buildPadded(l, c.x, window, 0.0);
  llvm::append_range(split, window.counts);
  SmallVector<unsigned> order = {1, 0};
  for (unsigned d = 0; d < rank; ++d)
    order.push_back(3 + d);
  order.push_back(2);
  SmallVector<Value> taps;
  for (int64_t tap = 0; tap < window.getNumTaps(); ++tap) {
    Value part = buildReshape(l.b, l.loc, buildTap(l, padded, window, tap), split);
    taps.push_back(
        buildReshape(l.b, l.loc, buildPermuted(l, part, order), {c.groups, rows, c.inputs}));
  }
  return join(l, taps, 2);
}

/// Kernels as columns: [groups, O, C * taps] in that order.
static Value buildKernels(Lowering &l, const Convolution &c, bool isTapFirst) {
  int64_t taps = c.window.getNumTaps();
  Value w = buildReshape(l.b, l.loc, c.w, {c.groups, c.outputs, c.inputs, taps});
  if (isTapFirst)
    w = buildPermuted(l, w, {0, 1, 3, 2});
  return buildReshape(l.b, l.loc, w, {c.groups, c.outputs, c.inputs * taps});
}

/// Each channel by itself: the taps times their numbers of the kernel, added up in f32.
/// [N, groups, O, counts].
static Value buildDepthwise(Lowering &l, const Convolution &c) {
  const Window &window = c.window;
  Type element = getTensorType(c.x).getElementType(), f32 = l.b.getF32Type();
  Arithmetic m(l, f32);
  Value padded = buildPadded(l, c.x, window, 0.0), sum;
  SmallVector<int64_t> ofInput = {c.batch, c.groups, 1}, ofKernel = {c.groups, c.outputs};
  llvm::append_range(ofInput, window.counts);
  ofKernel.append(window.getRank(), 1);
  Value w = buildReshape(l.b, l.loc, c.w, {c.groups * c.outputs, window.getNumTaps()});
  for (int64_t tap = 0; tap < window.getNumTaps(); ++tap) {
    Value part = buildReshape(l.b, l.loc, buildTap(l, padded, window, tap), ofInput);
    Value factor = buildReshape(l.b, l.loc, buildSlice(l, w, 1, tap, 1), ofKernel);
    Value product = m.mul(m.widen(part), m.widen(factor));
    sum = sum ? m.add(sum, product) : product;
  }
  return m.convert(sum, element);
}

/// [groups * O, N * counts...] as rows of LinearOp or matmul, to [N, groups * O, counts].
static Value buildContraction(Lowering &l, const Convolution &c) {
  bool isTapFirst = false;
  Value columns = buildColumns(l, c, isTapFirst), kernels = buildKernels(l, c, isTapFirst);
  Type element = getTensorType(c.x).getElementType();
  int64_t rows = getTensorType(columns).getDimSize(1);
  Value product;
  if (c.groups == 1) {
    auto flat = [&](Value value) {
      return buildReshape(l.b, l.loc, value, getTensorType(value).getShape().drop_front());
    };
    product = LinearOp::create(l.b, l.loc, RankedTensorType::get({rows, c.outputs}, element),
                               flat(columns), flat(kernels), Value());
  } else {
    product =
        MatmulOp::create(l.b, l.loc, RankedTensorType::get({c.groups, rows, c.outputs}, element),
                         columns, buildPermuted(l, kernels, {0, 2, 1}));
  }
  // [g, N, counts, O] to [N, g, O, counts].
  SmallVector<int64_t> split = {c.groups, c.batch};
  llvm::append_range(split, c.window.counts);
  split.push_back(c.outputs);
  unsigned rank = c.window.getRank();
  SmallVector<unsigned> order = {1, 0, 2 + rank};
  for (unsigned d = 0; d < rank; ++d)
    order.push_back(2 + d);
  return buildPermuted(l, buildReshape(l.b, l.loc, product, split), order);
}

/// Takes a transposed convolution's input and kernel, [groups * C, O, kernel], for one of x with
/// zeros between its elements; false after refusing.
static bool transpose(Lowering &l, Convolution &c) {
  Window &window = c.window;
  for (unsigned d = 0; d < window.getRank(); ++d) {
    int64_t dim = 2 + d, stride = window.stride[d];
    SmallVector<int64_t> shape(getTensorType(c.x).getShape());
    if (stride > 1) {
      shape.insert(shape.begin() + dim + 1, 1);
      Value apart =
          buildPadded(l, buildReshape(l.b, l.loc, c.x, shape), dim + 1, 0, stride - 1, 0.0);
      shape.erase(shape.begin() + dim + 1);
      int64_t extent = shape[dim];
      shape[dim] = extent * stride;
      c.x =
          buildSlice(l, buildReshape(l.b, l.loc, apart, shape), dim, 0, (extent - 1) * stride + 1);
    }
    int64_t edge = window.dilation[d] * (window.kernel[d] - 1) - window.front[d];
    if (edge < 0) {
      (void)l.refuse("a transposed convolution with more padding than its kernel reaches");
      return false;
    }
    window.front[d] = window.back[d] = edge;
    window.stride[d] = 1;
  }
  // Backwards along the kernel's dims, outputs before inputs.
  int64_t taps = window.getNumTaps();
  Value w = buildReshape(l.b, l.loc, c.w, {c.groups, c.inputs, c.outputs, taps});
  SmallVector<Value> turned;
  for (int64_t tap = taps; tap-- > 0;)
    turned.push_back(buildSlice(l, w, 3, tap, 1));
  w = buildPermuted(l, join(l, turned, 3), {0, 2, 1, 3});
  c.w = buildReshape(l.b, l.loc, w, {c.groups * c.outputs, c.inputs, taps});
  return true;
}

namespace {
/// Where an operation has its numbers; -1: nowhere.
struct Positions {
  int stride, padding, dilation, transposed, groups;
};
} // namespace

static LogicalResult lowerConvolution(Lowering &l, Positions at) {
  Type type = l.getDeviceType();
  if (!type || !l.isTensor(1))
    return failure();
  Convolution c;
  c.x = l.getAs(0, type);
  c.w = c.x ? l.getAs(1, type) : Value();
  if (!c.w)
    return failure();
  ArrayRef<int64_t> x = getTensorType(c.x).getShape(), w = getTensorType(c.w).getShape(),
                    out = l.getResultType().getShape();
  if (x.size() != w.size() || x.size() != out.size() || x.size() < 3)
    return l.refuse("it takes a batch of inputs, each with its channels");
  unsigned rank = x.size() - 2;
  Window &window = c.window;
  window.kernel.assign(w.begin() + 2, w.end());
  window.counts.assign(out.begin() + 2, out.end());
  auto get = [&](int position, int64_t otherwise) {
    return getForDims(l, position, rank, SmallVector<int64_t>(rank, otherwise));
  };
  std::optional<SmallVector<int64_t>> stride = get(at.stride, 1), padding, dilation;
  if (stride && l.getNumOperands() > unsigned(at.padding) && !l.getString(at.padding).empty())
    return l.refuse("its padding is a word");
  padding = stride ? get(at.padding, 0) : std::nullopt;
  dilation = padding ? get(at.dilation, 1) : std::nullopt;
  std::optional<bool> transposed = !dilation           ? std::nullopt
                                   : at.transposed < 0 ? std::optional(false)
                                                       : l.getBool(at.transposed);
  std::optional<int64_t> groups = transposed ? l.getInt(at.groups) : std::nullopt;
  if (!groups)
    return failure();
  window.stride = *stride;
  window.front = window.back = *padding;
  window.dilation = *dilation;
  auto isPositive = [](int64_t n) { return n > 0; };
  if (!llvm::all_of(window.stride, isPositive) || !llvm::all_of(window.dilation, isPositive) ||
      !llvm::all_of(llvm::concat<const int64_t>(x, w, out), isPositive) || *groups < 1 ||
      x[1] % *groups || llvm::any_of(window.front, [](int64_t n) { return n < 0; }))
    return l.refuse("it has no elements, or strides and groups that do not fit");
  c.batch = x[0];
  c.groups = *groups;
  c.inputs = x[1] / c.groups;
  c.outputs = *transposed ? w[1] : w[0] / c.groups;
  if (out[0] != c.batch || out[1] != c.groups * c.outputs ||
      w[*transposed ? 0 : 1] != (*transposed ? x[1] : c.inputs))
    return l.refuse("the channels of input, kernel and result do not fit");
  if (*transposed && !transpose(l, c))
    return failure();
  bool isDepthwise = c.inputs == 1 && c.groups > 1;
  Value result = isDepthwise ? buildDepthwise(l, c) : buildContraction(l, c);
  result = buildReshape(l.b, l.loc, result, out);
  if (l.isGiven(2)) {
    Value bias = l.getAs(2, type);
    if (!bias)
      return failure();
    SmallVector<int64_t> shape(rank + 1, 1);
    shape[0] = out[1];
    result = Arithmetic(l, type).add(result, buildReshape(l.b, l.loc, bias, shape));
  }
  return l.replaceWith(result);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// The window of a pooling with its kernel as operand 1 over the last \p rank dims; nothing after
/// refusing. \p dilation: its operand, or -1.
static std::optional<Window> getPool(Lowering &l, unsigned rank, int dilation) {
  ArrayRef<int64_t> x = l.getTensorType(0).getShape(), out = l.getResultType().getShape();
  if (x.size() != out.size() || x.size() <= rank) {
    (void)l.refuse("operand and result do not fit");
    return std::nullopt;
  }
  Window window;
  SmallVector<int64_t> ones(rank, 1), zeros(rank, 0);
  auto take = [&](SmallVector<int64_t> &into, int position, ArrayRef<int64_t> otherwise) {
    auto values =
        position < 0 ? SmallVector<int64_t>(otherwise) : getForDims(l, position, rank, otherwise);
    if (values)
      into = *values;
    return values.has_value();
  };
  if (!take(window.kernel, 1, ones) || !take(window.stride, 2, window.kernel) ||
      !take(window.front, 3, zeros) || !take(window.dilation, dilation, ones))
    return std::nullopt;
  window.back = window.front;
  window.counts.assign(out.end() - rank, out.end());
  auto isPositive = [](int64_t n) { return n > 0; };
  constexpr int64_t kMostTaps = 1024; // of a program's size
  if (!llvm::all_of(
          llvm::concat<const int64_t>(window.kernel, window.stride, window.dilation, x, out),
          isPositive) ||
      window.getNumTaps() > kMostTaps) {
    (void)l.refuse("its windows are empty, or have more than " + Twine(kMostTaps) + " elements");
    return std::nullopt;
  }
  return window;
}

/// All taps of each window combined: \p padding stands around \p x, \p opFunc combines two taps,
/// \p reduction those of windows that lie one behind the other.
static Value buildCombined(Lowering &l, const Arithmetic &m, Value x, const Window &window,
                           double padding, StringRef opFunc, StringRef reduction) {
  unsigned rank = window.getRank();
  ArrayRef<int64_t> sizes = getTensorType(x).getShape().take_back(rank);
  bool isCovered = true; // a last window that is cut short is no part of a view
  for (unsigned d = 0; d < rank; ++d)
    isCovered &= window.counts[d] * window.kernel[d] <= sizes[d];
  if (window.isApart() && isCovered) {
    ArrayRef<int64_t> shape = getTensorType(x).getShape();
    SmallVector<int64_t> split(shape.drop_back(rank)), dims;
    for (unsigned d = 0; d < rank; ++d) {
      int64_t covered = window.counts[d] * window.kernel[d], dim = shape.size() - rank + d;
      x = buildSlice(l, x, dim, 0, covered);
      llvm::append_values(split, window.counts[d], window.kernel[d]);
      dims.push_back(split.size() - 1);
    }
    return buildReduction(l.b, l.loc, reduction, buildReshape(l.b, l.loc, x, split), dims,
                          /*keepDims=*/false);
  }
  Value padded = buildPadded(l, x, window, padding), all;
  for (int64_t tap = 0; tap < window.getNumTaps(); ++tap) {
    Value part = buildTap(l, padded, window, tap);
    all = all ? m.apply(opFunc, {all, part}) : part;
  }
  return all;
}

static LogicalResult lowerMaxPool(Lowering &l, unsigned rank) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<Window> window = x ? getPool(l, rank, 4) : std::nullopt;
  if (!window)
    return failure();
  Arithmetic m(l, type);
  return l.replaceWith(
      buildCombined(l, m, x, *window, -std::numeric_limits<double>::infinity(), "maximum", "max"));
}

/// How many elements each window along dim \p d counts: those of the input, or of the padding
/// around it, too (\p withPadding; what lies beyond that is never counted).
static SmallVector<int64_t> countElements(const Window &window, unsigned d, int64_t extent,
                                          bool withPadding) {
  SmallVector<int64_t> counts;
  for (int64_t i = 0; i < window.counts[d]; ++i) {
    int64_t begin = i * window.stride[d] - window.front[d], end = begin + window.kernel[d];
    int64_t first = withPadding ? -window.front[d] : 0;
    int64_t last = withPadding ? extent + window.front[d] : extent;
    counts.push_back(std::max<int64_t>(std::min(end, last) - std::max(begin, first), 1));
  }
  return counts;
}

// avg_pool(x, kernel, stride, padding, ceil, count_include_pad, divisor_override): the sum in
// f32 by the number of elements.
static LogicalResult lowerAvgPool(Lowering &l, unsigned rank) {
  Type type = l.getDeviceType(), f32 = l.b.getF32Type();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<Window> window = x ? getPool(l, rank, -1) : std::nullopt;
  std::optional<bool> withPadding = !window        ? std::nullopt
                                    : l.isGiven(5) ? l.getBool(5)
                                                   : std::optional(true);
  std::optional<double> divisor = withPadding ? l.getNumberOr(6, 0.0) : std::nullopt;
  if (!divisor)
    return failure();
  Arithmetic m(l, f32);
  Value sum = buildCombined(l, m, m.widen(x), *window, 0.0, "add", "sum");
  if (*divisor != 0.0)
    return l.replaceWith(m.convert(m.div(sum, *divisor), type));
  for (unsigned d = 0; d < rank; ++d) {
    int64_t extent = getTensorType(x).getDimSize(getTensorType(x).getRank() - rank + d);
    SmallVector<int64_t> counts = countElements(*window, d, extent, *withPadding);
    if (llvm::all_equal(counts)) {
      sum = m.div(sum, static_cast<double>(counts[0]));
      continue;
    }
    SmallVector<int64_t> shape(rank - d, 1);
    shape[0] = counts.size();
    SmallVector<float> numbers(counts.begin(), counts.end());
    auto constant = RankedTensorType::get(shape, f32);
    sum = m.div(
        sum, Value(ConstantOp::create(l.b, l.loc, constant,
                                      DenseElementsAttr::get(constant, ArrayRef<float>(numbers)))));
  }
  return l.replaceWith(m.convert(sum, type));
}

/// Windows of one size, where the result's sizes divide the operand's: a mean of dims apart.
static LogicalResult lowerAdaptiveAvgPool(Lowering &l, unsigned rank) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  if (!x)
    return failure();
  ArrayRef<int64_t> shape = getTensorType(x).getShape(), out = l.getResultType().getShape();
  if (shape.size() != out.size() || shape.size() <= rank)
    return l.refuse("operand and result do not fit");
  SmallVector<int64_t> split, dims;
  for (auto [d, sizes] : llvm::enumerate(llvm::zip_equal(shape, out))) {
    auto [extent, count] = sizes;
    if (count < 1 || extent % count)
      return l.refuse("its windows differ in size");
    split.push_back(count);
    if (d + rank >= shape.size()) {
      split.push_back(extent / count);
      dims.push_back(split.size() - 1);
    }
  }
  Arithmetic m(l, l.b.getF32Type());
  Value apart = buildReshape(l.b, l.loc, m.widen(x), split);
  Value sum = buildReduction(l.b, l.loc, "sum", apart, dims, /*keepDims=*/false);
  int64_t elements = llvm::product_of(shape) / llvm::product_of(out);
  return l.replaceWith(m.convert(m.div(sum, static_cast<double>(elements)), type));
}

void torch_lowering::addWindows(HandlerTable &table) {
  table["torch.aten.convolution"] = onTensor(
      [](Lowering &l) { return lowerConvolution(l, {3, 4, 5, /*transposed=*/6, /*groups=*/8}); });
  for (unsigned rank : {1, 2, 3}) {
    std::string digit = std::to_string(rank) + "d";
    table["torch.aten.conv" + digit] = onTensor([](Lowering &l) {
      return lowerConvolution(l, {3, 4, 5, /*transposed=*/-1, /*groups=*/6});
    });
    for (const char *suffix : {"", "_with_indices"})
      table["torch.aten.max_pool" + digit + suffix] =
          onTensor([rank](Lowering &l) { return lowerMaxPool(l, rank); });
    table["torch.aten.avg_pool" + digit] =
        onTensor([rank](Lowering &l) { return lowerAvgPool(l, rank); });
    for (const char *prefix : {"", "_"})
      table[std::string("torch.aten.") + prefix + "adaptive_avg_pool" + digit] =
          onTensor([rank](Lowering &l) { return lowerAdaptiveAvgPool(l, rank); });
  }
}
