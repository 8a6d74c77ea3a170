//===- TensorLayout.h - Where a tensor's elements sit -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device layout of a tensor: what `#spyre.layout` means. MLIR-free.
// Source of the rules: docs/formats/superdsc-rules.md, e.0;
// docs/device.md, section 6.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LAYOUT_TENSORLAYOUT_H
#define SPYRE_LAYOUT_TENSORLAYOUT_H

#include "spyre/Layout/IndexMap.h"
#include "spyre/Numerics/Formats.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spyre::layout {

/// One dim of a stick, outermost first: [reduction 2, generated 64] of fp8 has
/// two of them.
struct StickDim {
  int dim = 0;           ///< logical dim
  int64_t elements = 64; ///< of that dim in one stick
  bool operator==(const StickDim &) const = default;
};

/// Where the elements of a logical tensor sit on the device.
struct TensorLayout {
  std::vector<int64_t> shape; ///< logical extents, the host's shape
  /// Logical dims outer to inner; the last is the stick dim. A trailing -1: no
  /// dim in the stick, one element a stick ("sparse"). Empty for rank 0.
  std::vector<int> dimOrder;
  DataFormat format = DataFormat::SEN169_FP16;
  /// Extents in memory, one a logical dim, each >= shape; empty: the shape.
  std::vector<int64_t> paddedShape;
  /// The stick's dims where they are not just (last of dimOrder, elements a stick).
  std::vector<StickDim> stick;
  bool operator==(const TensorLayout &) const = default;
};

/// One device dim, outer to inner: (coordinate of \c dim floordiv divisor) mod
/// modulus, with \c size places in memory.
struct DeviceDim {
  int dim = -1;        ///< logical dim; -1: synthetic, its coordinate is 0
  int64_t divisor = 1; ///< of the logical coordinate
  int64_t modulus = 0; ///< 0: no mod (the outermost part of the logical dim)
  int64_t size = 1;
  bool operator==(const DeviceDim &) const = default;
};

/// Why coordinates cannot be computed, and for which logical dim (-1: none).
struct LayoutError {
  std::string message;
  int dim = -1;
};

/// One strided copy between a dense host array and the device.
struct DmaTransfer {
  int64_t hostOffset = 0;   ///< elements
  int64_t deviceOffset = 0; ///< elements
  std::vector<int64_t> ranges;
  std::vector<int64_t> deviceStrides; ///< elements
  std::vector<int64_t> hostStrides;   ///< elements
  bool operator==(const DmaTransfer &) const = default;
};

/// Everything that is wrong with \p layout; empty: it is valid. The functions
/// below need a valid layout.
std::vector<std::string> verify(const TensorLayout &layout);

/// The default layout of \p shape (docs/device.md, section 6).
TensorLayout getDefaultLayout(std::vector<int64_t> shape, DataFormat format);
/// The default layout with one element a stick.
TensorLayout getSparseLayout(std::vector<int64_t> shape, DataFormat format);

/// True if no logical dim is in the stick.
bool isSparse(const TensorLayout &layout);
/// The logical dims in the stick, outermost first, with their elements; empty if
/// there is none.
std::vector<StickDim> getStickDims(const TensorLayout &layout);
/// Elements of logical dim \p dim in one stick; 1 if it is not in the stick.
int64_t getElementsInStick(const TensorLayout &layout, int dim);

/// The device dims, outer to inner.
std::vector<DeviceDim> getDeviceDims(const TensorLayout &layout);
/// Their sizes, e.g. f16 [5,100,150] -> [100,3,5,64]. Memory is row-major over them.
std::vector<int64_t> getDeviceSizes(const TensorLayout &layout);
/// Elements of memory (padding included) and bytes.
int64_t getNumElementsInMemory(const TensorLayout &layout);
int64_t getSizeInBytes(const TensorLayout &layout);

/// Host elements per step of each device dim, -1 for synthetic and size-1 dims,
/// for a host array with \p hostStrides (empty: dense row-major).
std::vector<int64_t> getStrideMap(const TensorLayout &layout,
                                  const std::vector<int64_t> &hostStrides = {});

/// Device coordinates (one a device dim) of the logical coordinates \p logical.
/// An error if a coordinate leaves the layout or starts inside a stick in a way
/// that is no sum of digits.
std::variant<IndexMap, LayoutError> getDeviceCoordinates(const TensorLayout &layout,
                                                         const IndexMap &logical);
/// Flat device element index of the logical coordinates \p logical.
std::variant<IndexMap, LayoutError> getDeviceOffset(const TensorLayout &layout,
                                                    const IndexMap &logical);
/// Flat device element index of one logical point.
int64_t getDeviceOffset(const TensorLayout &layout, const std::vector<int64_t> &point);

/// The copies that move exactly the logical elements (no padding): one, and one
/// more for every tail. \p hostStrides as in getStrideMap.
std::vector<DmaTransfer> getDmaTransfers(const TensorLayout &layout,
                                         const std::vector<int64_t> &hostStrides = {});

} // namespace spyre::layout

#endif // SPYRE_LAYOUT_TENSORLAYOUT_H
