//===- ShortArguments.cpp - Whether -i and -o fit to a bundle ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layouts of one memory fit if the one's dims are the other's, taken apart or put
// together: the distances at which dims begin (in sticks) are then a part of the
// other's. What lies in the stick is the innermost dim. An operand may be a part of its
// argument; then some other access, or a loop, reaches the rest.
//
//===----------------------------------------------------------------------===//

#include "ShortArguments.h"

#include "spyre/SuperDSC/Standard.h"

#include <algorithm>

using namespace spyre;
using namespace spyre::tools;
using artifact::ArgumentSpec;
using runtime::Error;

namespace {

/// What the descriptors say of one argument.
struct Access {
  std::string where; ///< descriptor and tensor
  DataFormat format = DataFormat::SEN169_FP16;
  bool anyOf32Bits = false;         ///< integers may be relabelled
  std::vector<int64_t> extents;     ///< in memory, innermost first, sticks counted as one
  int64_t numSticks = 1;            ///< along the dim in the stick
  int64_t stickDistance = 1;        ///< of neighbours among them, in sticks
  std::vector<int64_t> logicalSize; ///< outermost first, as the default layout has it
  bool isWhole = true;              ///< false: a part whose place in the whole is not known
  bool reachesOn = false;           ///< it starts elsewhere, or moves
  bool isPadded = false;            ///< a contraction's size is rounded up to whole sticks
};

std::string toText(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "a number" : text;
}

/// The distances, in sticks, at which dims of these extents begin; the last is the size.
std::vector<int64_t> getDistances(const std::vector<int64_t> &extents) {
  std::vector<int64_t> distances;
  int64_t distance = 1;
  for (int64_t extent : extents)
    if (extent != 1)
      distances.push_back(distance *= extent);
  return distances;
}

/// Whether dims at \p some are dims at \p others put together, up to \p end.
bool isCoarser(const std::vector<int64_t> &some, const std::vector<int64_t> &others, int64_t end) {
  return std::all_of(some.begin(), some.end(), [&](int64_t distance) {
    return distance >= end || std::find(others.begin(), others.end(), distance) != others.end();
  });
}

/// How \p tensor lies in memory; nothing if that cannot be told.
std::optional<Access> describe(const sdsc::Descriptor &descriptor, const sdsc::Tensor &tensor,
                               const std::string &file) {
  auto label = std::find_if(descriptor.layouts.begin(), descriptor.layouts.end(),
                            [&](const auto &layout) { return layout.label == tensor.label; });
  if (tensor.component != MemorySpace::HBM || label == descriptor.layouts.end() ||
      label->dimOrder.size() != tensor.scale.size() || label->stickDims.size() != 1 ||
      label->stickSizes.size() != 1 || label->stickSizes.front() < 1)
    return std::nullopt;
  Access access;
  access.where = file + " (" + tensor.name + ")";
  access.format = tensor.format;
  access.isPadded = descriptor.opFunc.compare(0, 11, "batchmatmul") == 0;
  access.anyOf32Bits =
      descriptor.opFunc == "identity" || tensor.indirection != sdsc::Indirection::None;
  for (const sdsc::DimCoordinate &coordinate : tensor.coordinates)
    if (coordinate.padding != sdsc::PaddingKind::NoPad)
      return std::nullopt;
  std::vector<int64_t> sizes; ///< in elements, innermost first
  int stick = -1;
  for (const std::string &name : tensor.dimOrder) {
    std::optional<unsigned> dim = descriptor.findDim(name);
    auto inLabel = std::find(label->dimOrder.begin(), label->dimOrder.end(), name);
    if (!dim || inLabel == label->dimOrder.end())
      return std::nullopt;
    if (tensor.scale[inLabel - label->dimOrder.begin()] != 1)
      continue;
    size_t place = &name - tensor.dimOrder.data();
    if (tensor.indirection == sdsc::Indirection::ValueTensor && place < tensor.maxDimSizes.size() &&
        tensor.maxDimSizes[place] != -1) {
      access.isWhole = false; // as long as the table, which the descriptor does not say
      break;
    }
    int64_t size = descriptor.dims[*dim].size;
    for (const auto &[gapDim, gaps] : tensor.backGap)
      if (gapDim == name && !gaps.empty())
        size += sdsc::isGapPadding(descriptor, tensor, name, gaps.front()) ? -gaps.front()
                                                                           : gaps.front();
    bool inStick = name == label->stickDims.front();
    int64_t perStick = inStick ? label->stickSizes.front() : 1;
    int64_t extent = std::max<int64_t>(1, (size + perStick - 1) / perStick);
    if (inStick) {
      stick = static_cast<int>(sizes.size());
      access.numSticks = extent;
      for (int64_t inner : access.extents)
        access.stickDistance *= inner;
    }
    sizes.push_back(size);
    access.extents.push_back(extent);
  }
  // Default layouts are [o1, ..., sticks, o0, lanes].
  std::vector<int64_t> &logical = access.logicalSize;
  logical.assign(sizes.rbegin(), sizes.rend());
  if (stick >= 0) {
    logical.erase(logical.end() - 1 - stick);
    if (stick == 1 && !logical.empty())
      std::rotate(logical.begin(), logical.end() - 1, logical.end());
    logical.push_back(sizes[stick]);
  }
  return access;
}

/// All accesses to argument \p position.
void collect(const runtime::Bundle &bundle, const std::vector<artifact::Step> &steps,
             int64_t position, std::vector<Access> &accesses) {
  for (const artifact::Step &step : steps) {
    if (const auto *loop = std::get_if<artifact::Loop>(&step.content)) {
      collect(bundle, loop->body, position, accesses);
      continue;
    }
    const auto &launch = std::get<artifact::Launch>(step.content);
    auto found = bundle.descriptors.find(launch.descriptor);
    if (found == bundle.descriptors.end())
      continue;
    for (const sdsc::Tensor &tensor : found->second.tensors) {
      if (!tensor.symbolicAddress || tensor.startAddress.empty())
        continue;
      for (const auto &[id, address] : launch.symbols) {
        if (id != tensor.startAddress.front() || address.base != position)
          continue;
        std::optional<Access> access = describe(found->second, tensor, launch.descriptor);
        if (!access) {
          // It may reach anything.
          accesses.emplace_back().isWhole = false;
          break;
        }
        access->reachesOn = address.offsetInBytes != 0 ||
                            std::any_of(address.strideInBytes.begin(), address.strideInBytes.end(),
                                        [](int64_t stride) { return stride != 0; });
        accesses.push_back(std::move(*access));
        break;
      }
    }
  }
}

/// Formats that may stand for one another.
bool haveSameNumbers(DataFormat given, const Access &access) {
  return given == access.format ||
         (access.anyOf32Bits && getWidthInBytes(given) == 4 && getWidthInBytes(access.format) == 4);
}

std::optional<std::string> findMistake(const ArgumentSpec &spec,
                                       const std::vector<Access> &accesses) {
  std::vector<int64_t> given(spec.deviceSize.rbegin() + 1, spec.deviceSize.rend());
  std::vector<int64_t> distances = getDistances(given);
  int64_t size = distances.empty() ? 1 : distances.back(), reached = 0;
  bool reachesOn = false;
  const Access *largest = nullptr;
  // Of a default layout: the sticks of a row are all rows apart.
  size_t stickPlace = spec.shape.size() > 1 ? 1 : 0;
  int64_t numSticks = stickPlace < given.size() ? given[stickPlace] : 1;
  int64_t stickDistance = stickPlace == 1 ? given[0] : 1;
  auto isPermuted = [&](const Access &access) {
    return std::is_permutation(access.logicalSize.begin(), access.logicalSize.end(),
                               spec.shape.begin(), spec.shape.end());
  };
  auto say = [&](const Access &access) {
    return access.where + " reads " + toText(access.logicalSize) + ", not " + toText(spec.shape) +
           (isPermuted(access) ? ": the sizes are in another order" : "");
  };
  for (const Access &access : accesses) {
    if (access.where.empty()) {
      reachesOn = true;
      continue;
    }
    if (!haveSameNumbers(spec.deviceFormat, access))
      return access.where + " reads " + std::string(getFormatName(access.format)) + ", not " +
             std::string(getFormatName(spec.deviceFormat)) + ", the device's format of " +
             std::string(getHostTypeName(spec.dtype));
    std::vector<int64_t> needed = getDistances(access.extents);
    int64_t end = needed.empty() ? 1 : needed.back();
    if (!access.isWhole)
      end = size;
    reachesOn |= access.reachesOn || !access.isWhole;
    int64_t common = std::min(end, size);
    // The dim in the stick is the innermost one, or a part of it; and no dim goes on from
    // the rows of one stick to the next one.
    bool hasOtherSticks = access.numSticks > 1 &&
                          (access.numSticks > numSticks || access.stickDistance != stickDistance);
    hasOtherSticks |= numSticks > 1 && stickDistance > 1 && common > stickDistance &&
                      std::find(needed.begin(), needed.end(), stickDistance) == needed.end();
    if (end > size || hasOtherSticks ||
        (!isCoarser(needed, distances, common) && !isCoarser(distances, needed, common))) {
      if (!access.isPadded || isPermuted(access))
        return say(access);
      reachesOn = true;
      continue;
    }
    if (end > reached) {
      reached = end;
      largest = &access;
    }
  }
  if (!reachesOn && largest && reached < size)
    return say(*largest) + "; if it reads a part on purpose, describe the arguments with --bind";
  return std::nullopt;
}

} // namespace

std::optional<Error>
spyre::tools::checkShortArguments(const runtime::Bundle &bundle,
                                  const std::vector<std::pair<bool, std::string>> &texts) {
  const std::vector<ArgumentSpec> &specs = bundle.spec.arguments;
  for (size_t k = 0; k < specs.size() && k < texts.size(); ++k) {
    std::vector<Access> accesses;
    collect(bundle, bundle.plan.steps, int64_t(k), accesses);
    if (std::optional<std::string> mistake = findMistake(specs[k], accesses))
      return Error{std::string(texts[k].first ? "-o " : "-i ") + texts[k].second + " (" +
                   specs[k].array + "): " + *mistake};
  }
  return std::nullopt;
}
