//===- AlignmentTest.cpp - Alignment against enumeration ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After alignment every operand must still find every element where it is, all
// coordinates must have the simple forms, and slices must cover the iteration
// space exactly once.
//
//===----------------------------------------------------------------------===//

#include "RandomViews.h"

#include "spyre/Layout/Alignment.h"

#include <gtest/gtest.h>

using namespace spyre;
using namespace spyre::layout;
using test::Generator;
using test::Shape;

namespace {

AlignAccess makeAccess(const TensorLayout &layout, IndexMap coordinates) {
  AlignAccess access;
  access.deviceSizes = getDeviceSizes(layout);
  access.coordinates = std::move(coordinates.results);
  access.stickRank = std::max<unsigned>(1, unsigned(layout.stick.size()));
  return access;
}

int64_t evaluateAligned(const Alignment &alignment, const AlignedAccess &access,
                        const Shape &point) {
  int64_t flat = 0;
  for (size_t c = 0; c < access.coordinates.size(); ++c) {
    const AlignedCoordinate &coordinate = access.coordinates[c];
    int64_t value = 0;
    if (coordinate.dim != -1) {
      const AlignedDim &dim = alignment.dims[size_t(coordinate.dim)];
      value = dim.source == -1 ? 0 : point[size_t(dim.source)] / dim.unit % dim.size;
      if (coordinate.kind == CoordinateKind::Count)
        value /= access.getElementsInStick(coordinate.dim);
      if (coordinate.kind == CoordinateKind::Within)
        value %= access.deviceSizes[c];
    }
    value += coordinate.offset;
    EXPECT_LT(value, access.deviceSizes[c]);
    flat = flat * access.deviceSizes[c] + value;
  }
  return flat;
}

TEST(Alignment, KeepsEveryElement) {
  Generator generator(21);
  int aligned = 0, refused = 0, split = 0;
  for (int round = 0; round < 6000; ++round) {
    // Two views of different tensors over one iteration space, one more by a
    // random permutation of whole dims.
    test::View first = generator.makeBase(generator.makeShape(3, 1500));
    for (int depth = 0; depth < 2; ++depth)
      if (auto next = generator.flip() ? generator.reshape(first) : generator.step(first))
        first = std::move(*next);
    test::View second = generator.makeBase(first.shape);
    if (auto next = generator.permute(second))
      second.map = *invert(next->map, second.base);
    std::vector<AlignDim> dims;
    for (int64_t extent : first.shape)
      dims.push_back({extent, 1, false});
    TensorLayout layoutA = generator.makeLayout(first.base);
    Shape permuted;
    for (const IndexExpr &expr : second.map.results)
      permuted.push_back(getRange(expr, second.map.extents).second + 1);
    TensorLayout layoutB = generator.makeLayout(permuted);
    if (layoutA.stick.size() > 2 || layoutB.stick.size() > 2)
      continue; // a dim twice in a stick has no SuperDSC form
    auto a = getDeviceCoordinates(layoutA, first.map);
    auto b = getDeviceCoordinates(layoutB, second.map);
    if (!std::holds_alternative<IndexMap>(a) || !std::holds_alternative<IndexMap>(b))
      continue;
    auto answer = align(dims, {makeAccess(layoutA, std::get<IndexMap>(a)),
                               makeAccess(layoutB, std::get<IndexMap>(b))});
    if (!std::holds_alternative<Alignment>(answer)) {
      ++refused;
      continue;
    }
    ++aligned;
    const Alignment &alignment = std::get<Alignment>(answer);
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t product = 1;
      for (const AlignedDim &dim : alignment.dims)
        if (dim.source == int(i))
          product *= dim.size;
      ASSERT_EQ(product, dims[i].extent);
    }
    split += std::any_of(alignment.dims.begin(), alignment.dims.end(),
                         [](const AlignedDim &dim) { return dim.unit != 1; });
    ASSERT_EQ(alignment.accesses[0].coordinates.size(), alignment.accesses[1].coordinates.size());
    test::forEachPoint(first.shape, [&](const Shape &point) {
      ASSERT_EQ(evaluateAligned(alignment, alignment.accesses[0], point),
                getDeviceOffset(layoutA, evaluate(first.map, point)));
      ASSERT_EQ(evaluateAligned(alignment, alignment.accesses[1], point),
                getDeviceOffset(layoutB, evaluate(second.map, point)));
    });
  }
  EXPECT_GT(aligned, 2000);
  EXPECT_GT(split, 100);
  EXPECT_GT(refused, 0);
}

TEST(Alignment, SplitsGoToTheOutermostSegments) {
  // x.view(256, 4096) of a [2,128,4096] tensor beside a [256,4096] one.
  TensorLayout x = getDefaultLayout({2, 128, 4096}, DataFormat::SEN169_FP16);
  TensorLayout y = getDefaultLayout({256, 4096}, DataFormat::SEN169_FP16);
  Shape extents{256, 4096};
  auto view = delinearize(linearize(makeIdentity(extents), {4096, 1}), extents, x.shape,
                          getRowMajorStrides(x.shape));
  ASSERT_TRUE(view);
  auto answer =
      align({{256, 32, false}, {4096, 1, false}},
            {makeAccess(x, std::get<IndexMap>(getDeviceCoordinates(x, *view))),
             makeAccess(y, std::get<IndexMap>(getDeviceCoordinates(y, makeIdentity(extents))))});
  ASSERT_TRUE(std::holds_alternative<Alignment>(answer));
  const Alignment &alignment = std::get<Alignment>(answer);
  ASSERT_EQ(alignment.dims.size(), 3u);
  EXPECT_EQ(alignment.dims[0].size, 128);
  EXPECT_EQ(alignment.dims[0].split, 16);
  EXPECT_EQ(alignment.dims[1].size, 2);
  EXPECT_EQ(alignment.dims[1].split, 2);
  EXPECT_EQ(alignment.accesses[0].deviceSizes, (Shape{128, 64, 2, 64}));
  EXPECT_EQ(alignment.accesses[1].deviceSizes, (Shape{64, 2, 128, 64}));
}

TEST(Alignment, StickDimsAreSplitInSticks) {
  // 130 elements are three sticks.
  TensorLayout layout = getDefaultLayout({130}, DataFormat::SEN169_FP16);
  AlignAccess access =
      makeAccess(layout, std::get<IndexMap>(getDeviceCoordinates(layout, makeIdentity({130}))));
  auto answer = align({{130, 3, false}}, {access, access});
  ASSERT_TRUE(std::holds_alternative<Alignment>(answer));
  EXPECT_EQ(std::get<Alignment>(answer).dims.front().split, 3);
  answer = align({{130, 2, false}}, {access, access});
  ASSERT_TRUE(std::holds_alternative<AlignError>(answer));
  EXPECT_EQ(std::get<AlignError>(answer).message,
            "iteration dim 0 (extent 130) cannot be split in 2 equal slices");
}

TEST(Alignment, RefusesOffsetsAndHalvesInASticks) {
  TensorLayout layout = getDefaultLayout({64, 64}, DataFormat::SEN169_FP16);
  IndexMap map{{64, 32}, {makeInput(0), makeInput(1, 1, 32)}};
  auto answer = align({{64, 1, false}, {32, 1, false}},
                      {makeAccess(layout, std::get<IndexMap>(getDeviceCoordinates(layout, map)))});
  ASSERT_TRUE(std::holds_alternative<AlignError>(answer));
  EXPECT_EQ(
      std::get<AlignError>(answer).message,
      "the stick is accessed at d1 + 32: a slice must start on a stick and have no gaps in it");
  map = {{64, 2, 32}, {makeInput(0), add(makeInput(1, 32), makeInput(2))}};
  answer = align({{64, 1, false}, {2, 1, false}, {32, 1, false}},
                 {makeAccess(layout, std::get<IndexMap>(getDeviceCoordinates(layout, map)))});
  ASSERT_TRUE(std::holds_alternative<AlignError>(answer));
  EXPECT_EQ(std::get<AlignError>(answer).message,
            "several iteration dims share one stick: 32*d1 + d2");
}

} // namespace
