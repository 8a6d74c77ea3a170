//===- TensorLayoutTest.cpp - Layouts against enumeration -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Published examples, the rule of the default layout written down again, and
// enumeration of all elements of random layouts (padded, sparse, several dims in
// a stick) under random views.
//
//===----------------------------------------------------------------------===//

#include "RandomViews.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace spyre;
using namespace spyre::layout;
using test::Generator;
using test::Shape;

namespace {

TEST(TensorLayout, PublishedExamples) {
  TensorLayout layout = getDefaultLayout({5, 100, 150}, DataFormat::SEN169_FP16);
  EXPECT_EQ(getDeviceSizes(layout), (Shape{100, 3, 5, 64}));
  EXPECT_EQ(getStrideMap(layout), (Shape{150, 64, 15000, 1}));
  layout.dimOrder = {1, 0, 2};
  EXPECT_EQ(getDeviceSizes(layout), (Shape{5, 3, 100, 64}));
  EXPECT_EQ(getStrideMap(layout), (Shape{15000, 64, 150, 1}));

  layout = getDefaultLayout({1024, 256}, DataFormat::SEN169_FP16);
  EXPECT_EQ(getDeviceSizes(layout), (Shape{4, 1024, 64}));
  EXPECT_EQ(getSizeInBytes(layout), 1024 * 256 * 2);
  std::vector<DmaTransfer> transfers = getDmaTransfers(layout);
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers[0].ranges, (Shape{4, 1024, 64}));
  EXPECT_EQ(transfers[0].deviceStrides, (Shape{65536, 64, 1}));
  EXPECT_EQ(transfers[0].hostStrides, (Shape{64, 256, 1}));

  EXPECT_EQ(getDeviceSizes(getDefaultLayout({}, DataFormat::SEN169_FP16)), (Shape{1, 64}));
  EXPECT_EQ(getDeviceSizes(getDefaultLayout({}, DataFormat::IEEE_FP32)), (Shape{1, 32}));
  EXPECT_EQ(getDeviceSizes(getSparseLayout({128, 1}, DataFormat::SEN169_FP16)),
            (Shape{1, 1, 128, 64}));
  EXPECT_EQ(getSizeInBytes(getDefaultLayout({0, 64}, DataFormat::SEN169_FP16)), 0);
}

TEST(TensorLayout, TwoDimensionalStick) {
  // The second operand of an fp8 contraction: [reduction 2, generated 64].
  TensorLayout layout = getDefaultLayout({512, 256}, DataFormat::SEN143_FP8);
  layout.stick = {{0, 2}, {1, 64}};
  EXPECT_TRUE(verify(layout).empty());
  EXPECT_EQ(getDeviceSizes(layout), (Shape{4, 256, 2, 64}));
  EXPECT_EQ(getDeviceOffset(layout, {3, 65}), ((1 * 256 + 1) * 2 + 1) * 64 + 1);
  EXPECT_EQ(getElementsInStick(layout, 0), 2);
  EXPECT_EQ(getElementsInStick(layout, 1), 64);
}

/// The rule, written down from the text (docs/formats/superdsc-rules.md, e.0).
Shape getExpectedSizes(const Shape &shape, std::vector<int> order, int64_t e) {
  auto size = [&](size_t i) { return shape[size_t(order[i])]; };
  auto sticks = [&](size_t i) { return order[i] == -1 ? 1 : (size(i) + e - 1) / e; };
  size_t n = order.size();
  if (n == 0)
    return {1, e};
  if (n == 1)
    return {sticks(0), e};
  if (n == 2)
    return {sticks(1), size(0), e};
  Shape sizes;
  for (size_t i = 1; i + 1 < n; ++i)
    sizes.push_back(size(i));
  sizes.push_back(sticks(n - 1));
  sizes.push_back(size(0));
  sizes.push_back(e);
  return sizes;
}

TEST(TensorLayout, DefaultRule) {
  Generator generator(11);
  for (int round = 0; round < 1000; ++round) {
    Shape shape = generator.makeShape(4, 100000);
    TensorLayout layout = generator.makeLayout(shape);
    layout.paddedShape.clear();
    layout.stick.clear();
    ASSERT_TRUE(verify(layout).empty());
    EXPECT_EQ(getDeviceSizes(layout),
              getExpectedSizes(shape, layout.dimOrder, getElementsPerStick(layout.format)));
  }
}

TEST(TensorLayout, EveryElementHasItsOwnPlace) {
  Generator generator(12);
  for (int round = 0; round < 1500; ++round) {
    Shape shape = generator.makeShape(4, 3000);
    TensorLayout layout = generator.makeLayout(shape);
    ASSERT_TRUE(verify(layout).empty()) << verify(layout).front();
    int64_t size = getNumElementsInMemory(layout);
    EXPECT_EQ(getSizeInBytes(layout) % kStickInBytes, 0);
    std::map<int64_t, int64_t> places; // device offset -> host element
    test::forEachPoint(shape, [&](const Shape &point) {
      int64_t offset = getDeviceOffset(layout, point);
      ASSERT_GE(offset, 0);
      ASSERT_LT(offset, size);
      ASSERT_TRUE(places.emplace(offset, test::flatten(point, shape)).second);
    });

    // The transfers move exactly these elements.
    std::map<int64_t, int64_t> moved;
    for (const DmaTransfer &transfer : getDmaTransfers(layout))
      test::forEachPoint(transfer.ranges, [&](const Shape &point) {
        int64_t device = transfer.deviceOffset, host = transfer.hostOffset;
        for (size_t d = 0; d < point.size(); ++d) {
          device += point[d] * transfer.deviceStrides[d];
          host += point[d] * transfer.hostStrides[d];
        }
        ASSERT_TRUE(moved.emplace(device, host).second);
      });
    ASSERT_EQ(moved, places);

    // host offset = dot(device coordinates, stride map).
    auto coordinates = getDeviceCoordinates(layout, makeIdentity(shape));
    ASSERT_TRUE(std::holds_alternative<IndexMap>(coordinates));
    Shape strideMap = getStrideMap(layout);
    test::forEachPoint(shape, [&](const Shape &point) {
      Shape device = evaluate(std::get<IndexMap>(coordinates), point);
      int64_t host = 0;
      for (size_t d = 0; d < device.size(); ++d)
        host += strideMap[d] == -1 ? 0 : device[d] * strideMap[d];
      ASSERT_EQ(host, test::flatten(point, shape));
      ASSERT_EQ(test::flatten(device, getDeviceSizes(layout)), getDeviceOffset(layout, point));
    });
  }
}

TEST(TensorLayout, StridedHostArrays) {
  Generator generator(13);
  for (int round = 0; round < 300; ++round) {
    Shape shape = generator.makeShape(3, 2000);
    TensorLayout layout = generator.makeLayout(shape);
    // Strides of a permuted array with holes.
    std::vector<unsigned> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator.random);
    Shape strides(shape.size());
    int64_t unit = generator.pick(1, 2);
    for (unsigned dim : order) {
      strides[dim] = unit;
      unit *= shape[dim] + generator.pick(0, 1);
    }
    std::map<int64_t, int64_t> expected, moved;
    test::forEachPoint(shape, [&](const Shape &point) {
      int64_t host = 0;
      for (size_t d = 0; d < point.size(); ++d)
        host += point[d] * strides[d];
      expected.emplace(getDeviceOffset(layout, point), host);
    });
    for (const DmaTransfer &transfer : getDmaTransfers(layout, strides))
      test::forEachPoint(transfer.ranges, [&](const Shape &point) {
        int64_t device = transfer.deviceOffset, host = transfer.hostOffset;
        for (size_t d = 0; d < point.size(); ++d) {
          device += point[d] * transfer.deviceStrides[d];
          host += point[d] * transfer.hostStrides[d];
        }
        moved.emplace(device, host);
      });
    if (!shape.empty())
      EXPECT_EQ(moved, expected);
  }
}

TEST(TensorLayout, DeviceCoordinatesOfViews) {
  Generator generator(14);
  int computed = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    test::View view = generator.makeBase(generator.makeShape(3, 1500));
    for (int depth = 0; depth < 3; ++depth)
      if (auto next = generator.step(view))
        view = std::move(*next);
    TensorLayout layout = generator.makeLayout(view.base);
    auto answer = getDeviceOffset(layout, view.map);
    if (!std::holds_alternative<IndexMap>(answer)) {
      ++refused;
      continue;
    }
    ++computed;
    test::forEachPoint(view.shape, [&](const Shape &point) {
      ASSERT_EQ(evaluate(std::get<IndexMap>(answer), point).front(),
                getDeviceOffset(layout, evaluate(view.map, point)));
    });
  }
  EXPECT_GT(computed, refused * 3);
}

TEST(TensorLayout, RefusesWhatLeavesTheTensor) {
  TensorLayout layout = getDefaultLayout({64, 128}, DataFormat::SEN169_FP16);
  IndexMap map{{64, 128}, {makeInput(0, 1, 1), makeInput(1)}};
  auto answer = getDeviceCoordinates(layout, map);
  ASSERT_TRUE(std::holds_alternative<LayoutError>(answer));
  EXPECT_EQ(std::get<LayoutError>(answer).message,
            "dim 0 is accessed from 1 to 64, its extent in memory is 64");
  map = {{64, 64}, {makeInput(0), makeInput(1, 1, 32)}};
  answer = getDeviceCoordinates(layout, map);
  ASSERT_TRUE(std::holds_alternative<LayoutError>(answer));
  EXPECT_EQ(std::get<LayoutError>(answer).message,
            "dim 1 is accessed at d1 + 32, which starts or splits inside a stick of 64 elements");
}

TEST(TensorLayout, VerifyNamesEveryProblem) {
  TensorLayout layout;
  layout.shape = {4, -1};
  layout.dimOrder = {0, 0};
  layout.paddedShape = {3, 5};
  EXPECT_EQ(verify(layout),
            (std::vector<std::string>{"dim 1 has the negative extent -1",
                                      "the dim order names dim 0 twice",
                                      "dim 0 is padded to 3, less than its extent 4"}));
  layout = getDefaultLayout({4, 64}, DataFormat::SEN169_FP16);
  layout.dimOrder = {0, 2, 1};
  EXPECT_EQ(verify(layout),
            (std::vector<std::string>{"the dim order has 3 dims, the shape 2",
                                      "the dim order names dim 2 of a tensor of rank 2"}));
  layout.dimOrder = {0, 1};
  layout.stick = {{0, 2}, {1, 64}};
  EXPECT_EQ(verify(layout),
            (std::vector<std::string>{
                "the stick's dims hold 128 elements, a stick of SEN169_FP16 holds 64"}));
  layout = getDefaultLayout({int64_t(1) << 40, int64_t(1) << 30}, DataFormat::SEN169_FP16);
  EXPECT_EQ(verify(layout), (std::vector<std::string>{"the tensor is larger than 2^56 elements"}));
  layout = getDefaultLayout({4, 64}, DataFormat::SEN169_FP16);
  layout.paddedShape = {INT64_MAX, INT64_MAX};
  EXPECT_EQ(verify(layout), (std::vector<std::string>{"the tensor is larger than 2^56 elements"}));
}

} // namespace
