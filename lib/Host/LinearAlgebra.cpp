//===- LinearAlgebra.cpp - Determinants and norms of matrices -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determinants by elimination with pivots, in double, and the norms of matrices that need no
// singular values.
//
//===----------------------------------------------------------------------===//

#include "Contractions.h"

#include <cmath>

namespace spyre::host {

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

/// Both triangles of a matrix's factors in its place, and the row that each step took (from
/// 1). Returns the sign of the permutation.
template <typename T> static int factorize(T *matrix, int64_t n, Ints &pivots) {
  int sign = 1;
  pivots.assign(n, 0);
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(matrix[i * n + k]) > std::abs(matrix[pivot * n + k]))
        pivot = i;
    pivots[k] = pivot + 1;
    if (pivot != k) {
      std::swap_ranges(matrix + k * n, matrix + (k + 1) * n, matrix + pivot * n);
      sign = -sign;
    }
    if (matrix[k * n + k] == T(0))
      continue;
    for (int64_t i = k + 1; i < n; ++i) {
      T factor = matrix[i * n + k] /= matrix[k * n + k];
      for (int64_t j = k + 1; j < n; ++j)
        matrix[i * n + j] -= factor * matrix[k * n + j];
    }
  }
  return sign;
}

/// Results: the sign and the logarithm of the magnitude if \p isLog, else the determinant; the
/// factors and the pivots behind it.
static Function determinant(bool isLog) {
  return [isLog](Call &call) {
    const Array &source = call.getArray(0);
    size_t rank = source.shape.size(), values = isLog ? 2 : 1;
    if (call.isOk() &&
        (rank < 2 || source.shape[rank - 1] != source.shape[rank - 2] || source.isInteger()))
      return call.refuse("needs square matrices of floats");
    if (!call.isOk() || !call.expectResults(values + 2))
      return false;
    int64_t n = source.shape.back();
    Ints batch(source.shape.begin(), source.shape.end() - 2), rows = batch;
    rows.push_back(n);
    for (size_t k = 0; k < call.results.size(); ++k)
      if (!call.expectShape(k < values ? batch : k == values ? source.shape : rows, k))
        return false;
    Array factors = castTo(source, getWideType(source));
    Ints pivots;
    visit(factors, [&](auto &numbers) {
      using T = std::decay_t<decltype(numbers.front())>;
      if constexpr (!isInteger<T>)
        for (int64_t b = 0, count = getProduct(batch, 0, batch.size()); b < count; ++b) {
          T *matrix = numbers.data() + b * n * n;
          T sign = T(factorize(matrix, n, pivots)), product = sign;
          double magnitude = 0;
          for (int64_t k = 0; k < n; ++k) {
            T pivot = matrix[k * n + k];
            product *= pivot;
            sign *= pivot == T(0) ? pivot : pivot / std::abs(pivot);
            magnitude += std::log(std::abs(pivot));
          }
          call.result.set(b, isLog ? sign : product);
          if (isLog && call.results.size() > 1)
            call.results[1].set(b, magnitude);
          for (int64_t i = 0; call.results.size() > values && i < n * n; ++i)
            call.results[values].set(b * n * n + i, matrix[i]);
          for (int64_t i = 0; call.results.size() > values + 1 && i < n; ++i)
            call.results[values + 1].set(b * n + i, pivots[i]);
        }
    });
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The norms that are sums: of all squares ("fro"), or the largest or smallest sum of a
/// column (1, -1) or a row (inf, -inf). Without dims, of all elements, or of the last two.
static bool matrixNorm(Call &call) {
  const Array &source = call.getArray(0);
  std::string name = call.getText(1);
  double order = call.isGiven(1) && name.empty() ? call.getNumber(1) : 2;
  bool isPlain = !call.isGiven(1) || name == "fro", keepsDims = call.getBool(3, false);
  size_t rank = source.shape.size();
  if (!call.isOk() || source.isInteger())
    return call.refuse("is defined for floats");
  Ints named = call.isGiven(2) ? call.getInts(2) : Ints();
  if (named.empty() && !isPlain && rank == 2)
    named = {0, 1};
  for (int64_t &dim : named)
    dim = static_cast<int64_t>(call.checkDim(dim, rank));
  bool isVector = named.size() == 1 || (named.empty() && (isPlain || rank == 1));
  if (!call.isOk() || named.size() > 2 || (named.empty() && !isVector) ||
      (named.size() == 2 && named[0] == named[1]) || (!name.empty() && name != "fro"))
    return call.refuse("needs one or two dims and a norm that sums make");
  Ints dims = named;
  for (size_t d = 0; named.empty() && d < std::max<size_t>(rank, 1); ++d)
    dims.push_back(static_cast<int64_t>(d));
  Ints shape;
  for (size_t d = 0; d < rank; ++d) {
    bool isReduced = std::count(dims.begin(), dims.end(), static_cast<int64_t>(d));
    if (!isReduced || keepsDims)
      shape.push_back(isReduced ? 1 : source.shape[d]);
  }
  if (!call.expectShape(shape))
    return false;
  if (isVector || isPlain) {
    Argument::List list(dims.begin(), dims.end());
    std::vector<Argument> arguments = {source, order, rank ? Argument(list) : Argument(),
                                       keepsDims};
    auto norm = evaluate("aten.linalg_vector_norm", arguments, call.result.dtype, shape);
    if (auto *why = std::get_if<std::string>(&norm))
      return call.refuse(*why);
    call.result = std::move(std::get<Array>(norm));
    return true;
  }
  if (std::fabs(order) != 1 && !std::isinf(order))
    return call.refuse("a norm of singular values is not supported");
  // Sums along one dim, then the extreme of them along the other.
  bool alongRows = std::isinf(order), isLargest = order > 0;
  int64_t summed = alongRows ? named[1] : named[0], kept = alongRows ? named[0] : named[1];
  int64_t rows = source.shape[kept], inner = getStrides(source.shape)[summed],
          step = getStrides(source.shape)[kept];
  if (rows == 0)
    return call.refuse("has no element to choose from");
  Lanes lanes(source.shape, dims);
  for (int64_t l = 0; l < lanes.getCount(); ++l) {
    double best = 0;
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < source.shape[summed]; ++i)
        sum += std::abs(source.getComplex(lanes.bases[l] + r * step + i * inner));
      if (r == 0 || std::isnan(sum) || (!std::isnan(best) && (sum > best) == isLargest))
        best = sum;
    }
    call.result.set(l, best);
  }
  return true;
}

void addLinearAlgebra(Table &table) {
  addAll(table, {"aten._linalg_det", "aten.linalg_det", "aten.det"}, determinant(false));
  addAll(table, {"aten._linalg_slogdet", "aten.linalg_slogdet", "aten.slogdet"}, determinant(true));
  addAll(table, {"aten.linalg_norm", "aten.linalg_norm.ord_str"}, matrixNorm);
}

} // namespace spyre::host
