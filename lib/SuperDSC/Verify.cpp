//===- Verify.cpp - The rules that a descriptor keeps ---------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a rule; each cites its number in docs/developer/sdsc-rules.md.
//
//===----------------------------------------------------------------------===//

#include "spyre/SuperDSC/Verify.h"

#include <algorithm>
#include <set>

namespace spyre::sdsc {

namespace {

class Verifier {
public:
  Verifier(const Descriptor &descriptor) : d(descriptor) {}

  std::vector<Violation> run() {
    checkDims();
    checkCores();
    for (size_t i = 0; i < d.tensors.size(); ++i)
      checkTensor(static_cast<int>(i));
    checkCompute();
    checkReductionSplits();
    checkIndirection();
    checkMasks();
    std::stable_sort(violations.begin(), violations.end(),
                     [](const Violation &a, const Violation &b) { return a.rule < b.rule; });
    return std::move(violations);
  }

private:
  void report(int rule, std::string message, int tensor = -1) {
    violations.push_back({rule, std::move(message), tensor, /*isWarning=*/false});
  }
  static std::string str(int64_t value) { return std::to_string(value); }

  const LayoutClass *findLayout(const Tensor &tensor) const {
    for (const LayoutClass &layout : d.layouts)
      if (layout.label == tensor.label)
        return &layout;
    return nullptr;
  }
  const Dim *findDim(const std::string &name) const {
    std::optional<unsigned> position = d.findDim(name);
    return position ? &d.dims[*position] : nullptr;
  }
  /// The scale of \p dim in \p tensor; 0 if its class lacks the dim.
  int64_t getScale(const Tensor &tensor, const std::string &dim) const {
    const LayoutClass *layout = findLayout(tensor);
    for (size_t i = 0; layout && i < layout->dimOrder.size() && i < tensor.scale.size(); ++i)
      if (layout->dimOrder[i] == dim)
        return tensor.scale[i];
    return 0;
  }

  void checkDims() {
    for (const Dim &dim : d.dims)
      if (dim.size != dim.numSlices * dim.coreSize)
        report(2, "dim " + dim.name + ": " + str(dim.size) + " elements are not " +
                      str(dim.numSlices) + " slices of " + str(dim.coreSize));
    for (const LayoutClass &layout : d.layouts) {
      std::set<std::string> seen(layout.dimOrder.begin(), layout.dimOrder.end());
      if (seen.size() != layout.dimOrder.size())
        report(4, "layout class " + layout.label + " has a dim twice");
      std::set<std::string> sticks(layout.stickDims.begin(), layout.stickDims.end());
      for (const std::string &dim : sticks)
        if (!seen.count(dim))
          report(4, "layout class " + layout.label + " lacks its stick dim " + dim);
      if (layout.stickDims.empty())
        report(4, "layout class " + layout.label + " has no stick dim");
    }
  }

  void checkCores() {
    int64_t product = 1;
    for (const Dim &dim : d.dims)
      // More slices than any device has cores: enough to see that it is wrong.
      product = std::min<int64_t>(product * std::min<int64_t>(dim.numSlices, 1 << 20), 1 << 20);
    if (product != d.numCores)
      report(1, "the slices of all dims multiply to " + str(product) + " for " + str(d.numCores) +
                    " cores");
    std::set<std::vector<int64_t>> slices;
    for (size_t core = 0; core < d.coreToSlice.size(); ++core) {
      if (!slices.insert(d.coreToSlice[core]).second)
        report(3, "core " + str(static_cast<int64_t>(core)) +
                      " has the same work slice as another core");
      for (size_t i = 0; i < d.dims.size() && i < d.coreToSlice[core].size(); ++i)
        if (d.coreToSlice[core][i] < 0 || d.coreToSlice[core][i] >= d.dims[i].numSlices)
          report(3, "core " + str(static_cast<int64_t>(core)) + ", dim " + d.dims[i].name +
                        ": slice " + str(d.coreToSlice[core][i]) + " of " +
                        str(d.dims[i].numSlices));
    }
  }

  void checkTensor(int index) {
    const Tensor &tensor = d.tensors[static_cast<size_t>(index)];
    const LayoutClass *layout = findLayout(tensor);
    if (!layout) {
      report(5, "layout class " + tensor.label + " does not exist", index);
      return;
    }
    std::vector<std::string> own = tensor.dimOrder, shared = layout->dimOrder;
    std::sort(own.begin(), own.end());
    std::sort(shared.begin(), shared.end());
    if (own != shared)
      report(5, "its dims are not those of its layout class " + tensor.label, index);

    if (int64_t width = getWidthInBytes(tensor.format); width && tensor.wordLength != width)
      report(6,
             "word length " + str(tensor.wordLength) + " for a format of " + str(width) + " bytes",
             index);
    int64_t stick = 1;
    for (int64_t size : layout->stickSizes)
      stick *= std::min<int64_t>(size, 1 << 20);
    if (stick != getElementsPerStick(tensor.format))
      report(6,
             "a stick of " + str(stick) + " elements, " +
                 std::string(getFormatName(tensor.format)) + " has " +
                 str(getElementsPerStick(tensor.format)),
             index);

    for (size_t i = 0; i < layout->dimOrder.size() && i < tensor.scale.size(); ++i)
      checkScale(index, *layout, i);
    for (const DimCoordinate &coordinate : tensor.coordinates)
      checkFolds(index, coordinate);
    checkAddresses(index);
    for (const auto &[dim, gaps] : tensor.backGap) {
      size_t expected = tensor.component == Component::LX ? static_cast<size_t>(d.numCores) : 1;
      if (gaps.size() != expected)
        report(12,
               "the gap of dim " + dim + " has " + str(static_cast<int64_t>(gaps.size())) +
                   " entries, expected " + str(static_cast<int64_t>(expected)),
               index);
    }
  }

  void checkScale(int index, const LayoutClass &layout, size_t i) {
    const Tensor &tensor = d.tensors[static_cast<size_t>(index)];
    const std::string &name = layout.dimOrder[i];
    auto stick = std::find(layout.stickDims.begin(), layout.stickDims.end(), name);
    const Dim *dim = findDim(name);
    if (tensor.scale[i] == -2 && stick == layout.stickDims.end())
      report(7, "scale -2 on dim " + name + ", which is no stick dim", index);
    if (!dim || tensor.scale[i] != 1 || stick == layout.stickDims.end())
      return;
    int64_t size = layout.stickSizes[static_cast<size_t>(stick - layout.stickDims.begin())];
    if (dim->coreSize % size != 0)
      report(8,
             "dim " + name + ": a core's " + str(dim->coreSize) + " elements are no multiple of " +
                 "the stick's " + str(size),
             index);
  }

  void checkFolds(int index, const DimCoordinate &coordinate) {
    const Tensor &tensor = d.tensors[static_cast<size_t>(index)];
    const Dim *dim = findDim(coordinate.dim);
    if (static_cast<int64_t>(coordinate.folds.size()) != coordinate.elemArr + 3) {
      report(9,
             "dim " + coordinate.dim + ": " + str(static_cast<int64_t>(coordinate.folds.size())) +
                 " folds, expected elemArr + 3 = " + str(coordinate.elemArr + 3),
             index);
      return;
    }
    if (!dim || getScale(tensor, coordinate.dim) != 1)
      return;
    int64_t product = 1;
    for (const Fold &fold : coordinate.folds) {
      // Any product beyond the dim is wrong; stop before it can overflow.
      product *= std::min(fold.factor, dim->size + 1);
      if (product > dim->size)
        break;
    }
    if (product != dim->size)
      report(9,
             "dim " + coordinate.dim + ": the folds do not cover its " + str(dim->size) +
                 " elements",
             index);
  }

  void checkAddresses(int index) {
    const Tensor &tensor = d.tensors[static_cast<size_t>(index)];
    if (static_cast<int64_t>(tensor.startAddress.size()) != d.numCores)
      report(10, "it has no start address for each core", index);
    if (tensor.symbolicAddress && tensor.component == Component::LX)
      report(10, "an LX allocation has a concrete address", index);
    for (size_t core = 0; core < tensor.startAddress.size(); ++core) {
      int64_t address = tensor.startAddress[core];
      if ((address < 0) != tensor.symbolicAddress) {
        report(10,
               "core " + str(static_cast<int64_t>(core)) + ": " + str(address) +
                   (tensor.symbolicAddress ? " is no symbol id" : " is no address"),
               index);
        break;
      }
      if (address >= 0 && address % kStickInBytes != 0) {
        report(11,
               "core " + str(static_cast<int64_t>(core)) + ": the address " + str(address) +
                   " is no multiple of a stick",
               index);
        break;
      }
    }
  }

  void checkCompute() {
    if (d.tensors.size() > 8)
      report(13, str(static_cast<int64_t>(d.tensors.size())) + " operands; 8 are the most");
    if (d.outputs.size() != 1)
      report(13, str(static_cast<int64_t>(d.outputs.size())) + " outputs; there is one");
    std::set<unsigned> used;
    for (const auto *list : {&d.inputs, &d.outputs, &d.indexTensors})
      used.insert(list->begin(), list->end());
    for (size_t i = 0; i < d.tensors.size(); ++i)
      if (!used.count(static_cast<unsigned>(i)))
        report(13, "the operation does not use it", static_cast<int>(i));
    if (d.executionUnit != "pt" && d.executionUnit != "sfp")
      report(14, "unknown execution unit " + d.executionUnit);
  }

  void checkReductionSplits() {
    if (d.outputs.size() != 1)
      return;
    const Tensor &output = d.tensors[d.outputs.front()];
    std::string split;
    for (const Dim &dim : d.dims) {
      if (dim.numSlices == 1 || getScale(output, dim.name) == 1)
        continue;
      bool isRead = false;
      for (unsigned input : d.inputs)
        isRead |= input != d.outputs.front() && getScale(d.tensors[input], dim.name) == 1;
      if (!isRead)
        continue;
      if (!split.empty())
        violations.push_back({15,
                              "the reduced dims " + split + " and " + dim.name + " are both split",
                              /*tensor=*/-1, /*isWarning=*/true});
      split = dim.name;
    }
  }

  void checkIndirection() {
    for (size_t i = 0; i < d.tensors.size(); ++i) {
      const Tensor &tensor = d.tensors[i];
      bool isIndex =
          std::find(d.indexTensors.begin(), d.indexTensors.end(), i) != d.indexTensors.end();
      if (isIndex != (tensor.indirection == Indirection::IndexTensor))
        report(16,
               isIndex ? "used as index, but it is no index tensor"
                       : "index tensor not used as one",
               static_cast<int>(i));
      if ((tensor.indirection == Indirection::None) != tensor.relatedAllocation.empty()) {
        report(16, "index and value tensor name each other, others none", static_cast<int>(i));
        continue;
      }
      if (tensor.indirection == Indirection::None)
        continue;
      bool found = std::any_of(d.tensors.begin(), d.tensors.end(), [&](const Tensor &other) {
        return other.getAllocationName() == tensor.relatedAllocation &&
               other.indirection != Indirection::None && other.indirection != tensor.indirection;
      });
      if (!found)
        report(16, "its partner " + tensor.relatedAllocation + " does not exist",
               static_cast<int>(i));
    }
  }

  void checkMasks() {
    for (const Mask &mask : d.masks) {
      const Dim *dim = findDim(mask.dim);
      if (!dim || mask.firstInvalid < 0 || mask.count < 1 ||
          mask.firstInvalid > dim->size - mask.count)
        report(17, "the mask of dim " + mask.dim + ", " + str(mask.count) + " elements from " +
                       str(mask.firstInvalid) + ", is not inside the dim");
    }
    bool hasConstant =
        d.maskConstant >= 0 && d.maskConstant < static_cast<int64_t>(d.constants.size());
    if (!d.masks.empty() && !hasConstant)
      report(17, "masked elements have no constant to read as");
    if (d.masks.empty() && d.maskConstant != -1)
      report(17, "a mask constant, but no mask");
  }

  const Descriptor &d;
  std::vector<Violation> violations;
};

} // namespace

std::vector<Violation> verifyDescriptor(const Descriptor &descriptor) {
  return Verifier(descriptor).run();
}

} // namespace spyre::sdsc
