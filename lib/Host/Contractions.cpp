//===- Contractions.cpp - Products of matrices ----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of products, in double (int64, complex double), rounded once after what is added to
// them.
//
//===----------------------------------------------------------------------===//

#include "Contractions.h"

#include <algorithm>

namespace spyre::host {

HostType getWideType(const Array &array) {
  return array.isFloat()     ? HostType::Float64
         : array.isComplex() ? HostType::Complex128
                             : HostType::Int64;
}

/// A shape's last two dims as a matrix and those before as its batch; \p isLeft: a vector is
/// a row, else a column.
static Ints toMatrix(const Ints &shape, bool isLeft) {
  if (shape.size() > 1)
    return shape;
  return isLeft ? Ints{1, shape[0]} : Ints{shape[0], 1};
}

std::optional<Array> multiplyArrays(Call &call, const Array &left, const Array &right) {
  if (call.isOk() && (left.shape.empty() || right.shape.empty()))
    call.refuse("multiplies no tensor of rank 0");
  if (!call.isOk())
    return std::nullopt;
  Ints x = toMatrix(left.shape, true), y = toMatrix(right.shape, false);
  int64_t m = x[x.size() - 2], k = x.back(), n = y.back();
  Ints xBatch(x.begin(), x.end() - 2), yBatch(y.begin(), y.end() - 2);
  std::optional<Ints> batch = broadcast(xBatch, yBatch);
  if (!batch || y[y.size() - 2] != k) {
    call.refuse("shapes " + toString(left.shape) + " and " + toString(right.shape) +
                " do not multiply");
    return std::nullopt;
  }
  Ints shape = *batch, xSteps = getBroadcastStrides(xBatch, batch->size()),
       ySteps = getBroadcastStrides(yBatch, batch->size());
  if (left.shape.size() > 1)
    shape.push_back(m);
  if (right.shape.size() > 1)
    shape.push_back(n);
  if (!countElements(shape)) {
    call.refuse("the product has too many elements");
    return std::nullopt;
  }
  Array wide;
  wide.dtype = promote(getWideType(left), getWideType(right));
  Array a = castTo(left, wide.dtype), b = castTo(right, wide.dtype);
  Array product = makeArray(wide.dtype, shape);
  int64_t matrices = getProduct(*batch, 0, batch->size());
  visit(product, [&](auto &into) {
    using T = std::decay_t<decltype(into.front())>;
    Odometer at(*batch);
    for (int64_t i = 0; i < matrices; ++i, at.advance())
      multiplyMatrices<T>(getElements<T>(a).data() + getIndex(xSteps, at.get()) * m * k,
                          getElements<T>(b).data() + getIndex(ySteps, at.get()) * k * n,
                          into.data() + i * m * n, m, n, k);
  });
  return product;
}

Array transposeMatrix(const Array &matrix) {
  int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  Array turned = makeArray(matrix.dtype, {columns, rows});
  for (int64_t i = 0, n = matrix.getNumElements(); i < n; ++i)
    turned.copy(i % columns * rows + i / columns, matrix, i);
  return turned;
}

namespace {
/// result = beta * summand + alpha * product, the summand broadcast.
struct Combination {
  Array summand;
  Array alpha, beta; ///< of rank 0
};
} // namespace

static bool finish(Call &call, const std::optional<Array> &product,
                   const Combination *combination = nullptr) {
  if (!product || !call.expectShape(product->shape))
    return false;
  int64_t count = product->getNumElements();
  if (!combination) {
    for (int64_t i = 0; i < count; ++i)
      call.result.copy(i, *product, i);
    return true;
  }
  Array summand = castTo(combination->summand, product->dtype),
        alpha = castTo(combination->alpha, product->dtype),
        beta = castTo(combination->beta, product->dtype);
  std::optional<Ints> both = broadcast(summand.shape, product->shape);
  if (!both || *both != product->shape)
    return call.refuse("a summand of shape " + toString(summand.shape) + " does not broadcast to " +
                       toString(product->shape));
  Ints strides = getBroadcastStrides(summand.shape, product->shape.size());
  Odometer at(product->shape);
  visit(*product, [&](const auto &products) {
    using T = std::decay_t<decltype(products.front())>;
    T a = getElements<T>(alpha).front(), b = getElements<T>(beta).front();
    for (int64_t i = 0; i < count; ++i, at.advance()) {
      T value = multiply(a, products[i]);
      // Times 0 the summand is not looked at.
      if (b != T(0))
        value = add(value, multiply(b, getElements<T>(summand)[getIndex(strides, at.get())]));
      call.result.set(i, value);
    }
  });
  return true;
}

/// The same with \p bias added, if there is one.
static bool finishWithBias(Call &call, const std::optional<Array> &product, const Array *bias) {
  if (!bias)
    return finish(call, product);
  Array one = makeArray(HostType::Int64, {});
  one.integers[0] = 1;
  Combination combination{*bias, one, one};
  return finish(call, product, &combination);
}

/// Arguments \p first and the next of these ranks, 0 for any.
static Function product(size_t leftRank, size_t rightRank) {
  return [=](Call &call) {
    const Array &x = call.getArray(0), &y = call.getArray(1);
    if (call.isOk() &&
        ((leftRank && x.shape.size() != leftRank) || (rightRank && y.shape.size() != rightRank)))
      return call.refuse("needs tensors of ranks " + std::to_string(leftRank) + " and " +
                         std::to_string(rightRank));
    return finish(call, multiplyArrays(call, x, y));
  };
}

/// beta * argument 0 + alpha * the product of arguments 1 and 2; \p sumsBatch: the products
/// of a batch are added up.
static Function addProduct(size_t leftRank, size_t rightRank, bool sumsBatch) {
  return [=](Call &call) {
    const Array &x = call.getArray(1), &y = call.getArray(2);
    Array one = makeArray(HostType::Int64, {});
    one.integers[0] = 1;
    Combination combination{call.getArray(0), call.isGiven(4) ? call.getValue(4) : one,
                            call.isGiven(3) ? call.getValue(3) : one};
    if (call.isOk() && (x.shape.size() != leftRank || y.shape.size() != rightRank))
      return call.refuse("needs tensors of ranks " + std::to_string(leftRank) + " and " +
                         std::to_string(rightRank));
    if (call.isOk() &&
        (combination.alpha.getNumElements() != 1 || combination.beta.getNumElements() != 1))
      return call.refuse("needs numbers as factors");
    std::optional<Array> product = multiplyArrays(call, x, y);
    if (product && sumsBatch) {
      Array total = makeArray(product->dtype, {product->shape[1], product->shape[2]});
      visit(total, [&](auto &sums) {
        using T = std::decay_t<decltype(sums.front())>;
        const std::vector<T> &parts = getElements<T>(*product);
        for (size_t i = 0; i < parts.size(); ++i)
          sums[i % sums.size()] = add(sums[i % sums.size()], parts[i]);
      });
      product = std::move(total);
    }
    return finish(call, product, &combination);
  };
}

static bool linear(Call &call) {
  const Array &x = call.getArray(0), &weight = call.getArray(1);
  const Array *bias = call.getArrayOrNone(2);
  if (!call.isOk() || weight.shape.empty() || weight.shape.size() > 2)
    return call.refuse("needs a weight of rank 1 or 2");
  std::optional<Array> product =
      multiplyArrays(call, x, weight.shape.size() == 2 ? transposeMatrix(weight) : weight);
  return finishWithBias(call, product, bias);
}

/// Every element of a vector times every one of the other.
static bool outer(Call &call) {
  Array x = call.getArray(0), y = call.getArray(1);
  if (!call.isOk() || x.shape.size() != 1 || y.shape.size() != 1)
    return call.refuse("needs tensors of ranks 1 and 1");
  x.shape.push_back(1);
  y.shape.insert(y.shape.begin(), 1);
  return finish(call, multiplyArrays(call, x, y));
}

/// (x * y) scaled by row and column, and a bias.
static bool multiplyScaled(Call &call) {
  const Array &x = call.getArray(0), &y = call.getArray(1), *bias = call.getArrayOrNone(4);
  if (call.isGiven(5))
    return call.refuse("a scale of the result is not supported");
  std::optional<Array> product = multiplyArrays(call, x, y);
  for (size_t i : {2, 3}) {
    const Array &scale = call.getArray(i);
    if (!product || !call.isOk() || !product->isFloat() || !scale.isFloat())
      return call.refuse("is defined for floats");
    std::optional<Ints> both = broadcast(scale.shape, product->shape);
    if (!both || *both != product->shape)
      return call.refuse("a scale of shape " + toString(scale.shape) + " does not broadcast to " +
                         toString(product->shape));
    Ints strides = getBroadcastStrides(scale.shape, product->shape.size());
    Odometer at(product->shape);
    for (double &number : product->numbers) {
      number *= scale.numbers[getIndex(strides, at.get())];
      at.advance();
    }
  }
  return finishWithBias(call, product, bias);
}

/// The sum over some dims of the product of three tensors, each with new dims of one element
/// where its list says so.
static bool trilinear(Call &call) {
  Array operands[3] = {call.getArray(0), call.getArray(1), call.getArray(2)};
  Ints all;
  for (size_t k = 0; k < 3; ++k) {
    Ints added = call.getInts(3 + k);
    std::sort(added.begin(), added.end());
    for (int64_t dim : added) {
      if (dim < 0 || dim > static_cast<int64_t>(operands[k].shape.size()))
        return call.refuse("a dim does not exist");
      operands[k].shape.insert(operands[k].shape.begin() + dim, 1);
    }
    std::optional<Ints> both = broadcast(all, operands[k].shape);
    if (!call.isOk() || !both || !operands[k].isFloat() || !countElements(*both))
      return call.refuse("needs floats that broadcast");
    all = *both;
  }
  Ints summed = call.getInts(6), shape;
  for (int64_t &dim : summed)
    dim = static_cast<int64_t>(call.checkDim(dim, all.size()));
  for (size_t d = 0; d < all.size(); ++d)
    if (!std::count(summed.begin(), summed.end(), static_cast<int64_t>(d)))
      shape.push_back(all[d]);
  if (!call.expectShape(shape))
    return false;
  Lanes lanes(all, summed);
  Ints strides = getStrides(all), steps[3];
  for (size_t k = 0; k < 3; ++k)
    steps[k] = getBroadcastStrides(operands[k].shape, all.size());
  for (int64_t l = 0; l < lanes.getCount(); ++l) {
    double sum = 0;
    for (int64_t i = 0; i < lanes.getSize(); ++i) {
      int64_t rest = lanes.bases[l] + lanes.offsets[i], places[3] = {};
      for (size_t d = 0; d < all.size(); ++d) {
        for (size_t k = 0; k < 3; ++k)
          places[k] += rest / strides[d] * steps[k][d];
        rest %= strides[d];
      }
      sum += operands[0].numbers[places[0]] * operands[1].numbers[places[1]] *
             operands[2].numbers[places[2]];
    }
    call.result.set(l, sum);
  }
  return true;
}

void addContractions(Table &table) {
  addAttention(table);
  addLinearAlgebra(table);
  addSignals(table);
  table["aten._trilinear"] = trilinear;
  addAll(table, {"aten.mm", "aten._int_mm"}, product(2, 2));
  table["aten.bmm"] = product(3, 3);
  table["aten.mv"] = product(2, 1);
  table["aten.dot"] = product(1, 1);
  table["aten.matmul"] = product(0, 0);
  table["aten.linear"] = linear;
  addAll(table, {"aten.outer", "aten.ger"}, outer);
  table["aten.addmm"] = addProduct(2, 2, false);
  table["aten.baddbmm"] = addProduct(3, 3, false);
  table["aten.addbmm"] = addProduct(3, 3, true);
  table["aten.addmv"] = addProduct(2, 1, false);
  table["aten._scaled_mm"] = multiplyScaled;
}

} // namespace spyre::host
