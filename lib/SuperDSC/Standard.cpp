//===- Standard.cpp - What a descriptor's other fields determine ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/SuperDSC/Standard.h"

#include "spyre/OpFunc/OpFuncTable.h"

#include <algorithm>

namespace spyre::sdsc {

std::vector<std::vector<int64_t>> getStandardCoreToSlice(const std::vector<Dim> &dims,
                                                         const std::vector<unsigned> &coreOrder,
                                                         int64_t numCores) {
  std::vector<std::vector<int64_t>> result;
  for (int64_t core = 0; core < numCores; ++core) {
    std::vector<int64_t> slices(dims.size(), 0);
    int64_t rest = core;
    for (unsigned dim : coreOrder) {
      slices[dim] = rest % dims[dim].numSlices;
      rest /= dims[dim].numSlices;
    }
    result.push_back(std::move(slices));
  }
  return result;
}

std::vector<DimCoordinate> getStandardCoordinates(const Descriptor &descriptor,
                                                  const Tensor &tensor) {
  std::vector<DimCoordinate> result;
  for (const LayoutClass &layout : descriptor.layouts) {
    if (layout.label != tensor.label)
      continue;
    for (size_t i = 0; i < layout.dimOrder.size() && i < tensor.scale.size(); ++i) {
      std::optional<unsigned> position = descriptor.findDim(layout.dimOrder[i]);
      if (!position)
        return {};
      const Dim &dim = descriptor.dims[*position];
      auto stick = std::find(layout.stickDims.begin(), layout.stickDims.end(), dim.name);
      bool isStick = stick != layout.stickDims.end();
      // A stick of two dims has fewer elements of each.
      int64_t perStick = getElementsPerStick(tensor.format);
      if (size_t position = stick - layout.stickDims.begin();
          layout.stickDims.size() > 1 && position < layout.stickSizes.size())
        perStick = std::max<int64_t>(1, layout.stickSizes[position]);
      bool isPresent = tensor.scale[i] == 1;
      int64_t size = isPresent ? dim.coreSize : 1;
      int64_t slices = isPresent ? dim.numSlices : 1;
      DimCoordinate coordinate;
      coordinate.dim = dim.name;
      coordinate.elemArr = isStick ? 2 : 1;
      if (!isStick)
        coordinate.folds = {{size, 0, slices, "core_fold"},
                            {0, 0, 1, "corelet_fold"},
                            {0, 0, 1, "row_fold"},
                            {1, 0, size, "elem_arr_0"}};
      else if (tensor.scale[i] == -2)
        coordinate.folds = {{perStick, 0, 1, "core_fold"},
                            {0, 0, 1, "corelet_fold"},
                            {0, 0, 1, "row_fold"},
                            {perStick, 0, 1, "elem_arr_1"},
                            {0, 0, perStick, "elem_arr_0"}};
      else
        coordinate.folds = {{size, 0, slices, "core_fold"},
                            {0, 0, 1, "corelet_fold"},
                            {0, 0, 1, "row_fold"},
                            {perStick, 0, size / perStick, "elem_arr_1"},
                            {1, 0, perStick, "elem_arr_0"}};
      result.push_back(std::move(coordinate));
    }
    return result;
  }
  return result;
}

bool isGapPadding(const Descriptor &descriptor, const Tensor &tensor, const std::string &dim,
                  int64_t gap) {
  const OpFuncInfo *info = lookupOpFunc(descriptor.opFunc);
  if (!info || info->stickRule != StickRule::Restickify)
    return false;
  int64_t stickSize = 0;
  for (const LayoutClass &layout : descriptor.layouts)
    for (size_t i = 0; i < layout.stickDims.size(); ++i)
      if (layout.stickDims[i] == dim) {
        if (layout.label == tensor.label)
          return false;
        stickSize = layout.stickSizes[i];
      }
  return gap < stickSize;
}

static bool isCast(const Descriptor &descriptor) {
  const OpFuncInfo *info = lookupOpFunc(descriptor.opFunc);
  return info && info->stickRule == StickRule::Cast;
}

bool mayEndInsideStick(const Descriptor &descriptor, const Tensor &tensor, const Dim &dim) {
  return (tensor.indirection == Indirection::IndexTensor &&
          dim.coreSize < getElementsPerStick(tensor.format)) ||
         (dim.numSlices == 1 && isCast(descriptor));
}

void padPartialSticks(Descriptor &descriptor) {
  if (!isCast(descriptor))
    return;
  auto roundUp = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  for (Dim &dim : descriptor.dims) {
    if (dim.numSlices != 1 || dim.size < 1)
      continue;
    // Elements of the dim in a stick of each tensor; 0 where it is in none.
    std::vector<int64_t> inStick;
    int64_t padded = dim.size;
    for (const Tensor &tensor : descriptor.tensors) {
      int64_t elements = 0;
      for (const LayoutClass &layout : descriptor.layouts)
        for (size_t i = 0; i < layout.stickDims.size() && i < layout.stickSizes.size(); ++i)
          if (layout.label == tensor.label && layout.stickDims[i] == dim.name)
            elements = layout.stickSizes[i];
      inStick.push_back(elements);
      if (elements > 0 && elements <= kStickInBytes)
        padded = roundUp(padded, elements);
    }
    if (padded == dim.size)
      continue;
    for (size_t i = 0; i < inStick.size(); ++i) {
      if (inStick[i] <= 0)
        continue;
      Tensor &tensor = descriptor.tensors[i];
      auto entry = std::find_if(tensor.backGap.begin(), tensor.backGap.end(),
                                [&](const auto &gap) { return gap.first == dim.name; });
      int64_t gap = entry == tensor.backGap.end() || entry->second.empty() ? 0 : entry->second[0];
      int64_t missing = roundUp(dim.size, inStick[i]) + gap - padded;
      if (entry != tensor.backGap.end())
        tensor.backGap.erase(entry);
      size_t cores = tensor.component == MemorySpace::LX ? size_t(descriptor.numCores) : 1;
      if (missing != 0)
        tensor.backGap.push_back({dim.name, std::vector<int64_t>(cores, missing)});
    }
    // What counted a last part of a stick, or did not, counts whole sticks now.
    for (size_t i = 0; i < inStick.size(); ++i)
      for (DimCoordinate &coordinate : descriptor.tensors[i].coordinates) {
        if (inStick[i] <= 0 || coordinate.dim != dim.name || coordinate.folds.size() != 5)
          continue;
        Fold &sticks = coordinate.folds[3];
        int64_t whole = dim.size / inStick[i];
        if (sticks.factor != whole && sticks.factor != roundUp(dim.size, inStick[i]) / inStick[i])
          continue; // wrong already, which the rules of verification say
        coordinate.folds[0].alpha = padded;
        sticks.factor = padded / inStick[i];
      }
    dim.size = dim.coreSize = padded;
  }
}

std::pair<bool, bool> getStandardMemories(const Tensor &tensor) {
  if (tensor.component == MemorySpace::LX)
    return {false, true};
  if (tensor.indirection == Indirection::IndexTensor)
    return {true, false};
  return {true, true};
}

static constexpr std::pair<PaddingKind, std::string_view> kPaddingNames[] = {
    {PaddingKind::NoPad, "nopad"},
    {PaddingKind::LoweredPadded, "lowered_padded"},
    {PaddingKind::PaddedNoZeroPad, "padded_nozeropad"},
    {PaddingKind::PaddedWithZeroPad, "padded_wzeropad"},
    {PaddingKind::PaddedFullSpan, "padded_fullspan"},
    {PaddingKind::PaddedFullSpanWithUnneeded, "padded_fullspan_wunneeded"}};

std::string_view getPaddingName(PaddingKind kind) {
  for (const auto &[candidate, name] : kPaddingNames)
    if (candidate == kind)
      return name;
  return "nopad";
}

std::optional<PaddingKind> parsePaddingKind(std::string_view name) {
  for (const auto &[kind, candidate] : kPaddingNames)
    if (candidate == name)
      return kind;
  return std::nullopt;
}

bool BundleFolds::isStandard() const {
  BundleFolds standard;
  return properties == standard.properties && folds == standard.folds && data == standard.data;
}

bool operator==(const Fold &a, const Fold &b) {
  return a.alpha == b.alpha && a.beta == b.beta && a.factor == b.factor && a.label == b.label;
}

bool operator==(const DimCoordinate &a, const DimCoordinate &b) {
  return a.dim == b.dim && a.spatial == b.spatial && a.temporal == b.temporal &&
         a.elemArr == b.elemArr && a.padding == b.padding && a.folds == b.folds;
}

} // namespace spyre::sdsc
