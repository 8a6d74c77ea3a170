//===- Exchanges.cpp - Inter-tile operations --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A producer puts its partials on the board; a consumer takes those it depends on, or
// waits. Partials are folded and assembled in ascending order of the producers' numbers.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <algorithm>

using namespace spyre::ktir;

namespace {
/// The group of \p tile and its place in it; (-1, -1) if it is in none.
std::pair<int64_t, int64_t> findTile(const std::vector<std::vector<int64_t>> &groups,
                                     int64_t tile) {
  for (size_t g = 0; g < groups.size(); ++g) {
    auto it = std::find(groups[g].begin(), groups[g].end(), tile);
    if (it != groups[g].end())
      return {g, it - groups[g].begin()};
  }
  return {-1, -1};
}

/// Copies a box of \p sizes between two tensors at the given corners.
void copyBox(const Shape &sizes, const Tensor &from, const Shape &fromCorner, Tensor &to,
             const Shape &toCorner) {
  if (countElements(sizes) <= 0)
    return;
  Shape fromStrides = getRowMajorStrides(from.shape), toStrides = getRowMajorStrides(to.shape);
  Shape point(sizes.size(), 0);
  while (true) {
    int64_t source = 0, target = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      source += (fromCorner[d] + point[d]) * fromStrides[d];
      target += (toCorner[d] + point[d]) * toStrides[d];
    }
    int64_t count = sizes.empty() ? 1 : sizes.back();
    if (from.element.isFloat())
      std::copy_n(from.floats.begin() + source, count, to.floats.begin() + target);
    else
      std::copy_n(from.ints.begin() + source, count, to.ints.begin() + target);
    size_t d = sizes.empty() ? 0 : sizes.size() - 1;
    while (d > 0 && ++point[d - 1] == sizes[d - 1])
      point[--d] = 0;
    if (d == 0)
      return;
  }
}

/// How often each of \p dims is divided so that \p count pieces come out: by what \p ratio
/// says of a dim, or all along a single one. Empty: they do not.
Shape getFactors(const std::vector<int64_t> &dims, int64_t count,
                 const std::vector<int64_t> &ratios) {
  if (dims.size() == 1)
    return {count};
  int64_t product = 1;
  for (int64_t ratio : ratios)
    product *= ratio;
  return product == count ? ratios : Shape();
}

/// The digits of \p number in the mixed radix \p factors, the first one slowest.
Shape getDigits(int64_t number, const Shape &factors) {
  Shape digits(factors.size());
  for (size_t k = factors.size(); k-- > 0;) {
    digits[k] = number % factors[k];
    number /= factors[k];
  }
  return digits;
}
} // namespace

Flow Executor::executeExchange() {
  switch (in.opcode) {
  case Opcode::ProduceTest:
    return produceTest();
  case Opcode::Produce:
    return produce();
  default:
    return receive();
  }
}

/// Results: the group's number, the future. numbers: the exchange.
Flow Executor::produceTest() {
  auto future = std::make_shared<Future>();
  future->exchange = in.numbers[0];
  future->occurrence = tile.occurrences[in.numbers[0]]++;
  tile.slots[in.results[1]] = Datum::of(std::move(future));
  int64_t group = findTile(in.exchange.producers, tile.number).first;
  if (group < 0)
    next = in.target;
  else
    tile.slots[in.results[0]] = Datum::of(in.exchange.groups[group]);
  return Flow::Next;
}

/// Operands: the future, partials.
Flow Executor::produce() {
  const Future &future = slot(0).as<Future>();
  Board::Partials partials;
  for (size_t i = 1; i < in.operands.size(); ++i)
    partials.values.push_back(slot(i).object);
  ++tile.clocks[tile.number];
  partials.clocks = tile.clocks;
  run.board.entries[{future.exchange, future.occurrence}].ofTile[tile.number] = std::move(partials);
  return Flow::Next;
}

Flow Executor::receive() {
  const Exchange &exchange = in.exchange;
  auto [group, place] = findTile(exchange.consumers, tile.number);
  size_t numRoles = in.results.size();
  if (group < 0) {
    // What other tiles have here is undefined: numbers that show.
    for (size_t r = 0; r < numRoles; ++r) {
      Shape shape = in.shapes[r];
      std::replace(shape.begin(), shape.end(), kDynamic, int64_t(0));
      set(r, std::make_shared<Tensor>(in.elements[r], shape));
    }
    return Flow::Next;
  }
  const Future &future = slot(0).as<Future>();
  const std::vector<int64_t> &sources = exchange.dependencies.empty()
                                            ? exchange.producers[group]
                                            : exchange.dependencies[group][place];
  Board::Entry &entry = run.board.entries[{future.exchange, future.occurrence}];
  for (int64_t source : sources)
    if (!entry.ofTile.count(source)) {
      tile.waitsFor = "compute tile " + std::to_string(source);
      return Flow::Waits;
    }
  std::vector<std::vector<std::shared_ptr<Object>>> partials;
  for (int64_t source : sources) {
    const Board::Partials &found = entry.ofTile[source];
    partials.push_back(found.values);
    for (size_t t = 0; t < tile.clocks.size(); ++t)
      tile.clocks[t] = std::max(tile.clocks[t], found.clocks[t]);
    if (source != tile.number)
      for (const auto &value : found.values)
        tile.stats.exchangedInBytes += static_cast<Tensor &>(*value).getBytes();
  }
  int64_t numConsumers = 0;
  for (const auto &consumers : exchange.consumers)
    numConsumers += consumers.size();
  if (++entry.numReceived == numConsumers)
    run.board.entries.erase({future.exchange, future.occurrence});

  std::vector<std::shared_ptr<Object>> folded;
  if (exchange.isFold) {
    if (!fold(partials, folded))
      return Flow::Failed;
    partials = {folded};
  }
  if (partials.empty())
    return fail("the tile has no producer to take from");
  bool isScatter = !exchange.scatterDims.empty(), isGather = !exchange.gatherDims.empty();
  int64_t numPieces = exchange.consumers[group].size(), numParts = partials.size();
  for (size_t r = 0; r < numRoles; ++r) {
    const Tensor &first = static_cast<Tensor &>(*partials[0][r]);
    if (!isScatter && !isGather) {
      set(r, std::make_shared<Tensor>(first));
      continue;
    }
    // The piece of each partial, and where it goes in the result.
    Shape piece = first.shape, corner(piece.size(), 0);
    auto ratioOf = [&](int64_t a, int64_t b) { return b > 0 && a % b == 0 ? a / b : 0; };
    if (isScatter) {
      std::vector<int64_t> ratios;
      for (int64_t d : exchange.scatterDims)
        ratios.push_back(ratioOf(first.shape[d], in.shapes[r][d]));
      Shape factors = getFactors(exchange.scatterDims, numPieces, ratios);
      if (factors.empty())
        return fail("the scattered dims do not have " + std::to_string(numPieces) + " pieces");
      Shape digits = getDigits(place, factors);
      for (size_t k = 0; k < digits.size(); ++k) {
        int64_t d = exchange.scatterDims[k];
        if (first.shape[d] % factors[k] != 0)
          return fail("dim " + std::to_string(d) + " of " + toString(first.shape) +
                      " does not divide into " + std::to_string(factors[k]) + " pieces");
        piece[d] = first.shape[d] / factors[k];
        corner[d] = digits[k] * piece[d];
      }
    }
    Shape shape = piece, factors;
    if (isGather) {
      std::vector<int64_t> ratios;
      for (int64_t d : exchange.gatherDims)
        ratios.push_back(ratioOf(in.shapes[r][d], piece[d]));
      factors = getFactors(exchange.gatherDims, numParts, ratios);
      if (factors.empty())
        return fail("the gathered dims do not have " + std::to_string(numParts) + " pieces");
      for (size_t k = 0; k < factors.size(); ++k)
        shape[exchange.gatherDims[k]] *= factors[k];
    }
    for (size_t d = 0; d < shape.size(); ++d)
      if (in.shapes[r][d] != kDynamic && in.shapes[r][d] != shape[d])
        return fail("the assembled value has the shape " + toString(shape) + ", the result " +
                    toString(in.shapes[r]));
    auto result = std::make_shared<Tensor>(first.element, shape);
    for (int64_t j = 0; j < numParts; ++j) {
      const Tensor &part = static_cast<Tensor &>(*partials[j][r]);
      if (part.shape != first.shape)
        return fail("partials have the shapes " + toString(first.shape) + " and " +
                    toString(part.shape));
      Shape target(shape.size(), 0), digits = getDigits(j, factors);
      for (size_t k = 0; k < factors.size(); ++k)
        target[exchange.gatherDims[k]] = digits[k] * piece[exchange.gatherDims[k]];
      copyBox(piece, part, corner, *result, target);
    }
    set(r, std::move(result));
  }
  return Flow::Next;
}

/// identity, then each partial: acc = combiner(acc, partial).
bool Executor::fold(const std::vector<std::vector<std::shared_ptr<Object>>> &partials,
                    std::vector<std::shared_ptr<Object>> &result) {
  std::vector<Datum> sums;
  for (size_t r = 0; r < in.results.size(); ++r)
    sums.push_back(slot(1 + r));
  for (const auto &partial : partials) {
    std::vector<Datum> arguments = sums, next;
    for (const auto &value : partial)
      arguments.push_back(Datum::of(value));
    for (size_t i = 1 + sums.size(); i < in.operands.size(); ++i)
      arguments.push_back(slot(i));
    if (!runCombiner(run, tile, *in.combiner, arguments, next))
      return false;
    sums = std::move(next);
  }
  for (const Datum &sum : sums)
    result.push_back(sum.object);
  return true;
}
