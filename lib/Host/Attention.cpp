//===- Attention.cpp - Scaled dot-product attention -----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax(scale * query key^T + mask) value, row by row in double, rounded once.
//
//===----------------------------------------------------------------------===//

#include "Contractions.h"

#include <cmath>

namespace spyre::host {

namespace {
/// Leading dims of an operand, broadcast to those of the result; \p group: as many
/// neighbours in the last of them share one matrix.
struct Batch {
  Ints strides;
  int64_t group = 1;

  int64_t locate(const Ints &at) const {
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d)
      index += (d + 1 == at.size() ? at[d] / group : at[d]) * strides[d];
    return index;
  }
};
} // namespace

static Ints getLeading(const Ints &shape) { return Ints(shape.begin(), shape.end() - 2); }

/// Where the matrices of an operand are for those of a batch; nothing, and a reason, if its
/// leading dims do not broadcast.
static std::optional<Batch> getBatch(Call &call, const Ints &shape, const Ints &batch,
                                     bool isGrouped) {
  Ints leading = getLeading(shape);
  Batch found;
  if (isGrouped && !leading.empty() && !batch.empty() && leading.back() > 0 &&
      batch.back() % leading.back() == 0) {
    found.group = batch.back() / leading.back();
    leading.back() = batch.back();
  }
  std::optional<Ints> both = broadcast(leading, batch);
  if (!both || *both != batch) {
    call.refuse("an operand of shape " + toString(shape) + " does not broadcast to the batch " +
                toString(batch));
    return std::nullopt;
  }
  Ints own = getLeading(shape), strides = getStrides(own);
  int64_t size = shape[shape.size() - 2] * shape.back();
  found.strides.assign(batch.size(), 0);
  for (size_t d = 0; d < own.size(); ++d)
    if (own[d] != 1)
      found.strides[batch.size() - own.size() + d] = strides[d] * size;
  return found;
}

/// One row: \p scores become what each row of the value counts, and are applied.
static void attend(std::vector<double> &scores, const double *values, int64_t width,
                   std::vector<double> &row) {
  double largest = -INFINITY, sum = 0;
  for (double score : scores)
    largest = std::isnan(score) || score > largest ? score : largest;
  std::fill(row.begin(), row.end(), 0.0);
  // A row that sees nothing is zero.
  if (largest == -INFINITY)
    return;
  for (size_t j = 0; j < scores.size(); ++j) {
    double weight = std::exp(scores[j] - largest);
    sum += weight;
    for (int64_t c = 0; c < width; ++c)
      row[c] += weight * values[static_cast<int64_t>(j) * width + c];
  }
  for (double &number : row)
    number /= sum;
}

static bool attention(Call &call) {
  const Array &query = call.getArray(0), &key = call.getArray(1), &value = call.getArray(2);
  const Array *mask = call.getArrayOrNone(3);
  double dropout = call.getNumber(4, 0);
  bool isCausal = call.getBool(5, false), isGrouped = call.getBool(7, false);
  if (!call.isOk())
    return false;
  if (dropout != 0)
    return call.refuse("draws random numbers in training");
  for (const Array *operand : {&query, &key, &value})
    if (operand->shape.size() < 2 || !operand->isFloat())
      return call.refuse("needs tensors of floats of rank 2 or more");
  int64_t rows = query.shape[query.shape.size() - 2], inner = query.shape.back(),
          seen = key.shape[key.shape.size() - 2], width = value.shape.back();
  if (key.shape.back() != inner || value.shape[value.shape.size() - 2] != seen)
    return call.refuse("shapes " + toString(query.shape) + ", " + toString(key.shape) + " and " +
                       toString(value.shape) + " do not multiply");
  double scale = call.getNumber(6, 1 / std::sqrt(static_cast<double>(inner)));
  Ints batch = getLeading(query.shape), shape = batch;
  if (!isGrouped)
    if (std::optional<Ints> both = broadcast(batch, getLeading(key.shape)))
      shape = batch = *both;
  shape.insert(shape.end(), {rows, width});
  if (!call.expectShape(shape))
    return false;
  std::optional<Batch> queries = getBatch(call, query.shape, batch, false),
                       keys = getBatch(call, key.shape, batch, isGrouped),
                       values = getBatch(call, value.shape, batch, isGrouped);
  if (!queries || !keys || !values)
    return false;
  Ints scoresShape = batch, maskSteps;
  scoresShape.insert(scoresShape.end(), {rows, seen});
  if (mask) {
    std::optional<Ints> both = broadcast(mask->shape, scoresShape);
    if (!both || *both != scoresShape || mask->isComplex())
      return call.refuse("a mask of shape " + toString(mask->shape) + " does not broadcast to " +
                         toString(scoresShape));
    maskSteps = getBroadcastStrides(mask->shape, scoresShape.size());
  }
  Odometer at(batch);
  std::vector<double> scores(seen), row(width);
  for (int64_t b = 0, matrices = getProduct(batch, 0, batch.size()); b < matrices;
       ++b, at.advance()) {
    const double *q = query.numbers.data() + queries->locate(at.get());
    const double *k = key.numbers.data() + keys->locate(at.get());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < seen; ++j) {
        double score = 0;
        for (int64_t c = 0; c < inner; ++c)
          score += q[i * inner + c] * k[j * inner + c];
        score *= scale;
        if (mask) {
          int64_t place = i * maskSteps[batch.size()] + j * maskSteps.back();
          for (size_t d = 0; d < batch.size(); ++d)
            place += at.get()[d] * maskSteps[d];
          double bias = mask->getNumber(place);
          score = mask->dtype != HostType::Bool ? score + bias : bias != 0 ? score : -INFINITY;
        }
        scores[j] = isCausal && j > i ? -INFINITY : score;
      }
      attend(scores, value.numbers.data() + values->locate(at.get()), width, row);
      for (int64_t c = 0; c < width; ++c)
        call.result.set((b * rows + i) * width + c, row[c]);
    }
  }
  return true;
}

void addAttention(Table &table) { table["aten.scaled_dot_product_attention"] = attention; }

} // namespace spyre::host
