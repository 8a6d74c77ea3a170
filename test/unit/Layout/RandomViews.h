//===- RandomViews.h - Random shapes, views and layouts ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generators for the tests of lib/Layout. A view carries two independent
// descriptions of the same thing: the library's map, and the list of the base
// elements that it shows, made by moving numbers around.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_LAYOUT_RANDOMVIEWS_H
#define SPYRE_TEST_UNIT_LAYOUT_RANDOMVIEWS_H

#include "spyre/Layout/TensorLayout.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace test {

using Shape = std::vector<int64_t>;

inline int64_t getVolume(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// Calls \p visit(point) for every point of the box, row-major.
template <typename Visit> void forEachPoint(const Shape &extents, Visit visit) {
  if (getVolume(extents) == 0)
    return;
  Shape point(extents.size(), 0);
  while (true) {
    visit(point);
    size_t d = extents.size();
    while (d > 0 && ++point[d - 1] == extents[d - 1])
      point[--d] = 0;
    if (d == 0)
      return;
  }
}

inline int64_t flatten(const Shape &point, const Shape &shape) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + point[d];
  return flat;
}

/// A view of a dense base tensor.
struct View {
  Shape base;
  Shape shape;
  std::vector<int64_t> elements; ///< flat base index of each element, row-major
  spyre::layout::IndexMap map;   ///< from the view's points to base coordinates
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  bool flip(int percent = 50) { return pick(0, 99) < percent; }
  template <typename T> const T &pickOne(const std::vector<T> &list) {
    return list[size_t(pick(0, int64_t(list.size()) - 1))];
  }

  Shape makeShape(unsigned maxRank, int64_t maxVolume) {
    static const Shape sizes{1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, 32, 64, 96, 100, 128, 130};
    while (true) {
      Shape shape(size_t(pick(0, maxRank)));
      for (int64_t &size : shape)
        size = pickOne(sizes);
      if (getVolume(shape) <= maxVolume)
        return shape;
    }
  }

  View makeBase(const Shape &shape) {
    View view{shape, shape, std::vector<int64_t>(size_t(getVolume(shape))),
              spyre::layout::makeIdentity(shape)};
    std::iota(view.elements.begin(), view.elements.end(), 0);
    return view;
  }

  /// A random step of torch's view operations. Nothing: the library says that the
  /// map is no sum of digits.
  std::optional<View> step(const View &view) {
    switch (pick(0, 3)) {
    case 0:
      return permute(view);
    case 1:
      return slice(view);
    case 2:
      return expand(view);
    default:
      return reshape(view);
    }
  }

  std::optional<View> permute(const View &view) {
    std::vector<unsigned> order(view.shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Shape shape;
    for (unsigned dim : order)
      shape.push_back(view.shape[dim]);
    View next = gather(view, shape, [&](const Shape &point) {
      Shape old(point.size());
      for (size_t d = 0; d < order.size(); ++d)
        old[order[d]] = point[d];
      return old;
    });
    next.map = spyre::layout::permuteInputs(view.map, order);
    return next;
  }

  std::optional<View> slice(const View &view) {
    if (view.shape.empty())
      return view;
    size_t dim = size_t(pick(0, int64_t(view.shape.size()) - 1));
    int64_t stride = flip(70) ? 1 : pick(2, 4);
    int64_t start = pick(0, view.shape[dim] - 1);
    if (flip())
      start = start / 64 * 64;
    int64_t count = pick(1, (view.shape[dim] - 1 - start) / stride + 1);
    Shape shape = view.shape;
    shape[dim] = count;
    spyre::layout::IndexMap inner = spyre::layout::makeIdentity(shape);
    inner.results[dim] = spyre::layout::makeInput(unsigned(dim), stride, start);
    View next = gather(view, shape, [&](Shape point) {
      point[dim] = point[dim] * stride + start;
      return point;
    });
    return compose(view, std::move(next), inner);
  }

  std::optional<View> expand(const View &view) {
    Shape shape = view.shape;
    spyre::layout::IndexMap inner;
    std::vector<bool> expanded(shape.size(), false);
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == 1 && flip()) {
        shape[d] = pick(1, 4);
        expanded[d] = true;
      }
    inner = spyre::layout::makeIdentity(shape);
    for (size_t d = 0; d < shape.size(); ++d)
      if (expanded[d])
        inner.results[d] = {};
    View next = gather(view, shape, [&](Shape point) {
      for (size_t d = 0; d < point.size(); ++d)
        if (expanded[d])
          point[d] = 0;
      return point;
    });
    return compose(view, std::move(next), inner);
  }

  std::optional<View> reshape(const View &view) {
    // A random factorisation of the volume.
    Shape shape;
    int64_t rest = getVolume(view.shape);
    while (rest != 1 && shape.size() < 3) {
      Shape divisors;
      for (int64_t d = 1; d <= rest; ++d)
        if (rest % d == 0)
          divisors.push_back(d);
      shape.push_back(pickOne(divisors));
      rest /= shape.back();
    }
    if (rest != 1)
      shape.push_back(rest);
    View next = view;
    next.shape = shape;
    auto inner = spyre::layout::delinearize(
        spyre::layout::linearize(spyre::layout::makeIdentity(shape),
                                 spyre::layout::getRowMajorStrides(shape)),
        shape, view.shape, spyre::layout::getRowMajorStrides(view.shape));
    if (!inner)
      return std::nullopt;
    return compose(view, std::move(next), *inner);
  }

  /// A valid layout of \p shape; rank 0 has one only.
  spyre::layout::TensorLayout makeLayout(const Shape &shape) {
    using spyre::DataFormat;
    spyre::layout::TensorLayout layout = spyre::layout::getDefaultLayout(
        shape, pickOne(std::vector<DataFormat>{DataFormat::SEN169_FP16, DataFormat::IEEE_FP32,
                                               DataFormat::SEN143_FP8}));
    if (shape.empty())
      return layout;
    if (flip())
      std::shuffle(layout.dimOrder.begin(), layout.dimOrder.end(), random);
    if (flip(20)) {
      layout.paddedShape = shape;
      for (int64_t &size : layout.paddedShape)
        size += pick(0, 3);
    }
    if (flip(15)) {
      layout.dimOrder.push_back(-1);
    } else if (shape.size() >= 2 && flip(25)) {
      // [a, b, ...] with the last dim of the order innermost.
      int64_t elements = spyre::getElementsPerStick(layout.format);
      int other = layout.dimOrder[0], last = layout.dimOrder.back();
      int64_t outer = flip() ? 2 : 4;
      layout.stick = {{other, outer}, {last, elements / outer}};
      if (flip(30))
        layout.stick = {{last, 2}, {other, outer}, {last, elements / outer / 2}};
    }
    return layout;
  }

  std::mt19937 random;

private:
  template <typename ToOld> View gather(const View &view, const Shape &shape, ToOld toOld) {
    View next;
    next.base = view.base;
    next.shape = shape;
    forEachPoint(shape, [&](const Shape &point) {
      next.elements.push_back(view.elements[size_t(flatten(toOld(point), view.shape))]);
    });
    return next;
  }

  std::optional<View> compose(const View &view, View next, const spyre::layout::IndexMap &inner) {
    auto map = spyre::layout::compose(view.map, inner);
    if (!map)
      return std::nullopt;
    next.map = std::move(*map);
    return next;
  }
};

} // namespace test

#endif // SPYRE_TEST_UNIT_LAYOUT_RANDOMVIEWS_H
