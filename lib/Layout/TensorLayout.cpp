//===- TensorLayout.cpp - Where a tensor's elements sit -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything about a layout follows from its device dims: each is one digit of
// one logical coordinate. Source of the rules: docs/formats/superdsc-rules.md, e.0;
// docs/device.md, section 6.
//
//===----------------------------------------------------------------------===//

#include "spyre/Layout/TensorLayout.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace spyre::layout {

namespace {

/// Rounded up; a sum of the two might not fit.
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

int64_t getExtentInMemory(const TensorLayout &layout, int dim) {
  return layout.paddedShape.empty() ? layout.shape[dim] : layout.paddedShape[dim];
}

std::vector<int64_t> getHostStrides(const TensorLayout &layout,
                                    const std::vector<int64_t> &hostStrides) {
  return hostStrides.empty() ? getRowMajorStrides(layout.shape) : hostStrides;
}

/// One way to fix the digits of a logical dim so that they form a box.
struct DigitBox {
  std::vector<int64_t> begin; ///< a value a digit, outermost first
  std::vector<int64_t> size;
};

/// Cuts 0 <= x < extent into boxes of the digits of \p radices (outermost first,
/// the first one unbounded): whole leading digits, then the tail of the last one.
std::vector<DigitBox> getDigitBoxes(int64_t extent, const std::vector<int64_t> &radices) {
  std::vector<DigitBox> boxes;
  size_t count = radices.size();
  std::vector<int64_t> fixed(count, 0);
  int64_t rest = extent;
  for (size_t i = 0; i < count && rest > 0; ++i) {
    int64_t unit = 1;
    for (size_t j = i + 1; j < count; ++j)
      unit *= radices[j];
    int64_t whole = rest / unit;
    if (whole > 0) {
      DigitBox box{fixed, std::vector<int64_t>(count, 1)};
      box.begin[i] = 0;
      box.size[i] = whole;
      for (size_t j = i + 1; j < count; ++j) {
        box.begin[j] = 0;
        box.size[j] = radices[j];
      }
      boxes.push_back(std::move(box));
    }
    fixed[i] = whole;
    rest -= whole * unit;
  }
  return boxes;
}

} // namespace

std::vector<std::string> verify(const TensorLayout &layout) {
  std::vector<std::string> problems;
  int rank = int(layout.shape.size());
  int64_t elementsPerStick = getElementsPerStick(layout.format);
  for (int d = 0; d < rank; ++d)
    if (layout.shape[d] < 0)
      problems.push_back("dim " + std::to_string(d) + " has the negative extent " +
                         std::to_string(layout.shape[d]));

  bool sparse = isSparse(layout);
  std::vector<int> order = layout.dimOrder;
  if (sparse)
    order.pop_back();
  if (int(order.size()) != rank)
    problems.push_back("the dim order has " + std::to_string(order.size()) + " dims, the shape " +
                       std::to_string(rank));
  std::vector<bool> seen(rank, false);
  for (int dim : order) {
    if (dim < 0 || dim >= rank)
      problems.push_back("the dim order names dim " + std::to_string(dim) +
                         " of a tensor of rank " + std::to_string(rank));
    else if (seen[dim])
      problems.push_back("the dim order names dim " + std::to_string(dim) + " twice");
    else
      seen[dim] = true;
  }

  if (!layout.paddedShape.empty()) {
    if (int(layout.paddedShape.size()) != rank)
      problems.push_back("the padded shape has " + std::to_string(layout.paddedShape.size()) +
                         " dims, the shape " + std::to_string(rank));
    else
      for (int d = 0; d < rank; ++d)
        if (layout.paddedShape[d] < layout.shape[d])
          problems.push_back("dim " + std::to_string(d) + " is padded to " +
                             std::to_string(layout.paddedShape[d]) + ", less than its extent " +
                             std::to_string(layout.shape[d]));
  }

  if (!layout.stick.empty()) {
    if (sparse)
      problems.push_back("a sparse layout has no stick dims");
    int64_t product = 1;
    for (const StickDim &stickDim : layout.stick) {
      if (stickDim.dim < 0 || stickDim.dim >= rank)
        problems.push_back("the stick names dim " + std::to_string(stickDim.dim) +
                           " of a tensor of rank " + std::to_string(rank));
      if (stickDim.elements < 1) {
        problems.push_back("the stick has " + std::to_string(stickDim.elements) +
                           " elements of dim " + std::to_string(stickDim.dim));
        return problems;
      }
      product *= stickDim.elements;
    }
    if (product != elementsPerStick)
      problems.push_back("the stick's dims hold " + std::to_string(product) +
                         " elements, a stick of " + std::string(getFormatName(layout.format)) +
                         " holds " + std::to_string(elementsPerStick));
  }
  if (!problems.empty())
    return problems;

  // Sizes of memory must not overflow: 2^56 bytes are beyond any device.
  int64_t total = 1;
  for (int64_t size : getDeviceSizes(layout)) {
    if (size != 0 && total > (int64_t(1) << 56) / size) {
      problems.push_back("the tensor is larger than 2^56 elements");
      break;
    }
    total *= size;
  }
  return problems;
}

TensorLayout getDefaultLayout(std::vector<int64_t> shape, DataFormat format) {
  TensorLayout layout;
  layout.dimOrder.resize(shape.size());
  std::iota(layout.dimOrder.begin(), layout.dimOrder.end(), 0);
  layout.shape = std::move(shape);
  layout.format = format;
  return layout;
}

TensorLayout getSparseLayout(std::vector<int64_t> shape, DataFormat format) {
  TensorLayout layout = getDefaultLayout(std::move(shape), format);
  layout.dimOrder.push_back(-1);
  return layout;
}

bool isSparse(const TensorLayout &layout) {
  return !layout.dimOrder.empty() && layout.dimOrder.back() == -1;
}

std::vector<StickDim> getStickDims(const TensorLayout &layout) {
  if (!layout.stick.empty())
    return layout.stick;
  if (layout.dimOrder.empty() || isSparse(layout))
    return {};
  return {{layout.dimOrder.back(), getElementsPerStick(layout.format)}};
}

int64_t getElementsInStick(const TensorLayout &layout, int dim) {
  int64_t elements = 1;
  for (const StickDim &stickDim : getStickDims(layout))
    if (stickDim.dim == dim)
      elements *= stickDim.elements;
  return elements;
}

std::vector<DeviceDim> getDeviceDims(const TensorLayout &layout) {
  std::vector<DeviceDim> dims;
  int64_t elementsPerStick = getElementsPerStick(layout.format);
  std::vector<StickDim> stick = getStickDims(layout);

  // Outside of the stick: each dim counts its sticks' worth.
  auto addOuter = [&](int dim) {
    if (dim == -1) {
      dims.push_back({-1, 1, 0, 1});
      return;
    }
    int64_t inside = getElementsInStick(layout, dim);
    dims.push_back({dim, inside, 0, ceilDiv(getExtentInMemory(layout, dim), inside)});
  };
  const std::vector<int> &order = layout.dimOrder;
  if (order.size() < 2) {
    addOuter(order.empty() ? -1 : order[0]);
  } else {
    // The leading dim moves innermost, the stick's count in front of it.
    for (size_t i = 1; i < order.size(); ++i)
      addOuter(order[i]);
    addOuter(order[0]);
  }

  if (stick.empty()) {
    dims.push_back({-1, 1, 0, elementsPerStick});
    return dims;
  }
  for (size_t i = 0; i < stick.size(); ++i) {
    int64_t inside = 1;
    for (size_t j = i + 1; j < stick.size(); ++j)
      if (stick[j].dim == stick[i].dim)
        inside *= stick[j].elements;
    dims.push_back({stick[i].dim, inside, stick[i].elements, stick[i].elements});
  }
  return dims;
}

std::vector<int64_t> getDeviceSizes(const TensorLayout &layout) {
  std::vector<int64_t> sizes;
  for (const DeviceDim &dim : getDeviceDims(layout))
    sizes.push_back(dim.size);
  return sizes;
}

int64_t getNumElementsInMemory(const TensorLayout &layout) {
  int64_t count = 1;
  for (int64_t size : getDeviceSizes(layout))
    count *= size;
  return count;
}

int64_t getSizeInBytes(const TensorLayout &layout) {
  // The device dims end with whole sticks.
  return getNumElementsInMemory(layout) / getElementsPerStick(layout.format) * kStickInBytes;
}

std::vector<int64_t> getStrideMap(const TensorLayout &layout,
                                  const std::vector<int64_t> &hostStrides) {
  std::vector<int64_t> strides = getHostStrides(layout, hostStrides);
  std::vector<int64_t> map;
  for (const DeviceDim &dim : getDeviceDims(layout))
    map.push_back(dim.dim == -1 || layout.shape[dim.dim] == 1 ? -1
                                                              : strides[dim.dim] * dim.divisor);
  return map;
}

std::variant<IndexMap, LayoutError> getDeviceCoordinates(const TensorLayout &layout,
                                                         const IndexMap &logical) {
  if (logical.results.size() != layout.shape.size())
    return LayoutError{"the access map has " + std::to_string(logical.results.size()) +
                       " results for a tensor of rank " + std::to_string(layout.shape.size())};
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    auto [min, max] = getRange(logical.results[d], logical.extents);
    if (min <= max && (min < 0 || max >= getExtentInMemory(layout, int(d))))
      return LayoutError{"dim " + std::to_string(d) + " is accessed from " + std::to_string(min) +
                             " to " + std::to_string(max) + ", its extent in memory is " +
                             std::to_string(getExtentInMemory(layout, int(d))),
                         int(d)};
  }
  IndexMap coordinates;
  coordinates.extents = logical.extents;
  for (const DeviceDim &dim : getDeviceDims(layout)) {
    if (dim.dim == -1) {
      coordinates.results.push_back({});
      continue;
    }
    IndexExpr value = simplify(logical.results[dim.dim], logical.extents);
    for (bool isModulus : {false, true}) {
      int64_t divisor = isModulus ? dim.modulus : dim.divisor;
      if (divisor == (isModulus ? 0 : 1))
        continue;
      std::optional<DivMod> parts = divide(value, logical.extents, divisor);
      if (!parts)
        return LayoutError{"dim " + std::to_string(dim.dim) + " is accessed at " +
                               toString(logical.results[dim.dim]) +
                               ", which starts or splits inside a stick of " +
                               std::to_string(getElementsInStick(layout, dim.dim)) + " elements",
                           dim.dim};
      value = isModulus ? std::move(parts->remainder) : std::move(parts->quotient);
    }
    coordinates.results.push_back(std::move(value));
  }
  return coordinates;
}

std::variant<IndexMap, LayoutError> getDeviceOffset(const TensorLayout &layout,
                                                    const IndexMap &logical) {
  std::variant<IndexMap, LayoutError> coordinates = getDeviceCoordinates(layout, logical);
  IndexMap *map = std::get_if<IndexMap>(&coordinates);
  if (!map)
    return coordinates;
  map->results = {linearize(*map, getRowMajorStrides(getDeviceSizes(layout)))};
  return coordinates;
}

int64_t getDeviceOffset(const TensorLayout &layout, const std::vector<int64_t> &point) {
  int64_t offset = 0;
  for (const DeviceDim &dim : getDeviceDims(layout)) {
    int64_t coordinate = dim.dim == -1 ? 0 : point[dim.dim] / dim.divisor;
    if (dim.modulus != 0)
      coordinate %= dim.modulus;
    offset = offset * dim.size + coordinate;
  }
  return offset;
}

std::vector<DmaTransfer> getDmaTransfers(const TensorLayout &layout,
                                         const std::vector<int64_t> &hostStrides) {
  std::vector<int64_t> strides = getHostStrides(layout, hostStrides);
  std::vector<DeviceDim> dims = getDeviceDims(layout);
  std::vector<int64_t> deviceStrides = getRowMajorStrides(getDeviceSizes(layout));

  DmaTransfer whole;
  for (size_t i = 0; i < dims.size(); ++i) {
    whole.ranges.push_back(1);
    whole.deviceStrides.push_back(deviceStrides[i]);
    whole.hostStrides.push_back(dims[i].dim == -1 ? 0 : strides[dims[i].dim] * dims[i].divisor);
  }
  std::vector<DmaTransfer> transfers{whole};
  for (int d = 0; d < int(layout.shape.size()); ++d) {
    // The device dims of this logical dim, most significant digit first.
    std::vector<size_t> digits;
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i].dim == d)
        digits.push_back(i);
    std::sort(digits.begin(), digits.end(),
              [&](size_t a, size_t b) { return dims[a].divisor > dims[b].divisor; });
    std::vector<int64_t> radices;
    for (size_t digit : digits)
      radices.push_back(dims[digit].modulus);
    std::vector<DmaTransfer> next;
    for (const DmaTransfer &transfer : transfers)
      for (const DigitBox &box : getDigitBoxes(layout.shape[d], radices)) {
        DmaTransfer part = transfer;
        for (size_t i = 0; i < digits.size(); ++i) {
          part.ranges[digits[i]] = box.size[i];
          part.deviceOffset += box.begin[i] * part.deviceStrides[digits[i]];
          part.hostOffset += box.begin[i] * part.hostStrides[digits[i]];
        }
        next.push_back(std::move(part));
      }
    transfers = std::move(next);
  }
  return transfers;
}

} // namespace spyre::layout
