//===- ReferenceTest.cpp - Layouts and alignment against the reference ----===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device sizes, stride maps, device coordinates, and the aligned iteration space
// and accesses of every tensor of all reference operations.
//
//===----------------------------------------------------------------------===//

#include "../SuperDSC/EmitCases.h"
#include "RandomViews.h"

#include "spyre/Layout/Alignment.h"

#include <gtest/gtest.h>

#include <set>

using namespace spyre;
using namespace spyre::layout;
using test::Json;
using test::Shape;

namespace {

struct ReferenceOp {
  std::string name;
  Json op;
  std::set<int64_t> faults;
};

const std::vector<ReferenceOp> &getOps() {
  static const std::vector<ReferenceOp> ops = [] {
    std::vector<ReferenceOp> list;
    for (const test::ReferenceCase &entry : test::loadReferenceCases()) {
      std::vector<Json> found;
      test::collectOps(entry.content["specs"], found);
      for (const Json &op : found)
        list.push_back({entry.name, op, {entry.faults.begin(), entry.faults.end()}});
    }
    return list;
  }();
  return ops;
}

TEST(LayoutReference, SizesAndStrideMaps) {
  int tensors = 0;
  for (const ReferenceOp &entry : getOps())
    for (size_t i = 0; i < entry.op["args"].size(); ++i) {
      const Json &tensor = entry.op["host"]["tensors"][i];
      TensorLayout layout = test::getLayout(tensor, entry.op["args"][i]);
      EXPECT_TRUE(verify(layout).empty()) << entry.name;
      EXPECT_EQ(getDeviceSizes(layout), tensor["layout_device_size"].get<Shape>()) << entry.name;
      EXPECT_EQ(getStrideMap(layout, tensor["host_stride"].get<Shape>()),
                tensor["layout_stride_map"].get<Shape>())
          << entry.name;
      ++tensors;
    }
  EXPECT_GT(tensors, 900);
}

/// Points of a box: the corners and some in between.
std::vector<Shape> getSamples(const Shape &extents, unsigned seed) {
  test::Generator generator(seed);
  std::vector<Shape> points;
  for (int i = 0; i < 60; ++i) {
    Shape point;
    for (int64_t extent : extents)
      point.push_back(i == 0 ? 0 : i == 1 ? extent - 1 : generator.pick(0, extent - 1));
    points.push_back(point);
  }
  return points;
}

TEST(LayoutReference, DeviceCoordinates) {
  int tensors = 0;
  for (const ReferenceOp &entry : getOps()) {
    test::HostOp host = test::getHostOp(entry.op);
    for (size_t i = 0; i < entry.op["args"].size(); ++i) {
      const Json &tensor = entry.op["host"]["tensors"][i];
      TensorLayout layout = test::getLayout(tensor, entry.op["args"][i]);
      auto [access, indirect] = test::getAccess(tensor, host);
      ASSERT_TRUE(access) << entry.name << ": " << tensor["index"];
      auto answer = getDeviceCoordinates(layout, *access);
      ASSERT_TRUE(std::holds_alternative<IndexMap>(answer)) << entry.name;
      // Fault 12: the reference adds the offset of a row slice to the place in
      // the stick as well.
      if (entry.faults.count(12))
        continue;
      for (const Shape &point : getSamples(host.extents, unsigned(tensors))) {
        std::map<std::string, int64_t> values;
        for (size_t s = 0; s < host.symbols.size(); ++s)
          values[host.symbols[s]] = point[s];
        Shape expected;
        for (const Json &text : tensor["raw_device_coordinates"])
          expected.push_back(test::ExpressionEvaluator(values).evaluate(text));
        ASSERT_EQ(evaluate(std::get<IndexMap>(answer), point), expected)
            << entry.name << " tensor " << i;
      }
      ++tensors;
    }
  }
  EXPECT_GT(tensors, 900);
}

/// The reference's text of a coordinate.
std::string getText(const Alignment &alignment, const AlignedAccess &access, size_t c,
                    const std::vector<std::string> &symbols) {
  const AlignedCoordinate &coordinate = access.coordinates[c];
  if (coordinate.kind == CoordinateKind::Constant)
    return std::to_string(coordinate.offset);
  if (coordinate.kind == CoordinateKind::Indirect)
    return "IndirectAccess(arg0)";
  const AlignedDim &dim = alignment.dims[size_t(coordinate.dim)];
  std::string name = dim.source != -1 && dim.unit == 1 ? symbols[size_t(dim.source)] : dim.name;
  std::string elements = std::to_string(access.getElementsInStick(coordinate.dim));
  if (coordinate.kind == CoordinateKind::Count)
    name = "floor(" + name + "/" + elements + ")";
  if (coordinate.kind == CoordinateKind::Within)
    name = "Mod(" + name + ", " + elements + ")";
  return coordinate.offset == 0 ? name : name + " + " + std::to_string(coordinate.offset);
}

TEST(LayoutReference, Alignment) {
  int ops = 0, cut = 0;
  for (const ReferenceOp &entry : getOps()) {
    // A unit dim that is kept has another layout than the host part says.
    if (entry.faults.count(12) || entry.op["op_info"].contains("shared_weight_unit_bmm"))
      continue;
    test::HostOp host = test::getHostOp(entry.op);
    std::vector<AlignDim> dims;
    for (size_t i = 0; i < host.extents.size(); ++i)
      dims.push_back({host.extents[i], host.splits[i], false});
    std::vector<AlignAccess> accesses;
    for (size_t i = 0; i < entry.op["args"].size(); ++i) {
      const Json &tensor = entry.op["host"]["tensors"][i];
      TensorLayout layout = test::getLayout(tensor, entry.op["args"][i]);
      auto [access, indirect] = test::getAccess(tensor, host);
      AlignAccess aligned;
      aligned.deviceSizes = getDeviceSizes(layout);
      aligned.coordinates = std::get<IndexMap>(getDeviceCoordinates(layout, *access)).results;
      std::vector<DeviceDim> deviceDims = getDeviceDims(layout);
      for (size_t d = 0; d < deviceDims.size(); ++d)
        if (indirect != -1 && deviceDims[d].dim == indirect)
          aligned.indirectDim = int(d);
      accesses.push_back(std::move(aligned));
    }
    // The emission drops these splits (restickify of an unaligned dim).
    if (entry.op["op"] == "ReStickifyOpHBM")
      for (const AlignAccess &access : accesses)
        for (const Digit &digit : access.coordinates.back().digits)
          if (dims[digit.input].extent % access.deviceSizes.back() != 0)
            dims[digit.input].split = 1;
    auto answer = align(dims, accesses);
    ASSERT_TRUE(std::holds_alternative<Alignment>(answer))
        << entry.name << ": " << std::get<AlignError>(answer).message;
    const Alignment &alignment = std::get<Alignment>(answer);
    const Json &space = entry.op["iteration_space"];
    ASSERT_EQ(alignment.dims.size(), space.size()) << entry.name;
    for (size_t d = 0; d < space.size(); ++d) {
      const AlignedDim &dim = alignment.dims[d];
      std::string name =
          dim.source != -1 && dim.unit == 1 ? host.symbols[size_t(dim.source)] : dim.name;
      EXPECT_EQ(name, space[d]["sym"].get<std::string>()) << entry.name;
      EXPECT_EQ(dim.size, space[d]["size"].get<int64_t>()) << entry.name;
      if (entry.op["op"] != "ReStickifyOpHBM")
        EXPECT_EQ(dim.split, space[d]["split"].get<int64_t>()) << entry.name;
      cut += dim.unit != 1 || dim.source == -1;
    }
    for (size_t i = 0; i < accesses.size(); ++i) {
      const Json &arg = entry.op["args"][i];
      EXPECT_EQ(alignment.accesses[i].deviceSizes, arg["device_size"].get<Shape>())
          << entry.name << " tensor " << i;
      std::vector<std::string> texts;
      for (size_t c = 0; c < alignment.accesses[i].coordinates.size(); ++c)
        texts.push_back(getText(alignment, alignment.accesses[i], c, host.symbols));
      EXPECT_EQ(texts, arg["device_coordinates"].get<std::vector<std::string>>())
          << entry.name << " tensor " << i;
    }
    ++ops;
  }
  EXPECT_GT(ops, 340);
  EXPECT_GT(cut, 3);
}

} // namespace
