//===- Verify.cpp - The rules of a descriptor's structure -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What holds for every operation; the numbers are those of
// docs/formats/superdsc.md.
//
//===----------------------------------------------------------------------===//

#include "VerifyInternal.h"

#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/SuperDSC/Standard.h"

#include <algorithm>
#include <cstdlib>

namespace spyre::sdsc {

Verifier::Verifier(const Descriptor &descriptor, const Limits &limits)
    : d(descriptor), limits(limits), views(descriptor.tensors.size()) {
  for (size_t i = 0; i < views.size(); ++i) {
    const Tensor &tensor = d.tensors[i];
    View &view = views[i];
    view.scale.assign(d.dims.size(), 0);
    view.isStick.assign(d.dims.size(), false);
    for (const LayoutClass &layout : d.layouts)
      if (layout.label == tensor.label)
        view.layout = &layout;
    for (const std::string &name : tensor.dimOrder)
      if (std::optional<unsigned> dim = d.findDim(name))
        view.order.push_back(*dim);
    if (!view.layout)
      continue;
    for (size_t k = 0; k < view.layout->dimOrder.size() && k < tensor.scale.size(); ++k)
      if (std::optional<unsigned> dim = d.findDim(view.layout->dimOrder[k]))
        view.scale[*dim] = tensor.scale[k];
    for (const std::string &name : view.layout->stickDims)
      if (std::optional<unsigned> dim = d.findDim(name))
        view.isStick[*dim] = true;
  }
  hasOperands = d.outputs.size() == 1;
  for (const auto *list : {&d.inputs, &d.outputs, &d.indexTensors})
    for (unsigned tensor : *list)
      hasOperands &= tensor < d.tensors.size();
  if (hasOperands)
    for (unsigned input : d.inputs)
      if (input != d.outputs.front())
        dataInputs.push_back(input);
}

std::vector<Violation> Verifier::run() {
  checkRoot();
  checkDims();
  checkLayouts();
  checkCores();
  for (unsigned i = 0; i < d.tensors.size(); ++i)
    checkTensor(i);
  checkOperands();
  checkIndirection();
  checkMasks();
  checkSymbolicDims();
  checkWindows();
  checkPaddingKinds();
  checkPages();
  if (hasOperands) {
    checkReductionSplits();
    checkOperation();
  }
  std::stable_sort(violations.begin(), violations.end(),
                   [](const Violation &a, const Violation &b) { return a.rule < b.rule; });
  return std::move(violations);
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

std::string Verifier::join(const std::vector<std::string> &names) {
  std::string text = "[";
  for (size_t i = 0; i < names.size(); ++i)
    text += (i ? ", " : "") + names[i];
  return text + "]";
}

bool Verifier::isIndexTensor(unsigned tensor) const {
  return std::find(d.indexTensors.begin(), d.indexTensors.end(), tensor) != d.indexTensors.end();
}

std::vector<size_t> Verifier::getReducedDims() const {
  std::vector<size_t> result;
  for (size_t dim = 0; dim < d.dims.size(); ++dim) {
    bool isRead = std::any_of(dataInputs.begin(), dataInputs.end(),
                              [&](unsigned input) { return views[input].has(dim); });
    if (isRead && !outputView().has(dim))
      result.push_back(dim);
  }
  return result;
}

int64_t Verifier::getCoreExtent(unsigned tensor, size_t dim) const {
  if (!views[tensor].has(dim))
    return 1;
  const Tensor &t = d.tensors[tensor];
  // A shuffle's operands are divided on their own, which their folds tell.
  if (!t.coreToSlice.empty())
    for (const DimCoordinate &coordinate : t.coordinates)
      if (coordinate.dim == d.dims[dim].name && !coordinate.folds.empty() &&
          coordinate.folds[0].factor > 0)
        return d.dims[dim].size / coordinate.folds[0].factor;
  return d.dims[dim].coreSize;
}

int64_t Verifier::getExtentInBytes(unsigned tensor) const {
  const Tensor &t = d.tensors[tensor];
  const View &view = views[tensor];
  int64_t perStick = getElementsPerStick(t.format), width = getWidthInBytes(t.format);
  if (perStick < 1 || width < 1)
    return -1;
  bool isLX = t.component == MemorySpace::LX;
  int64_t unit = kStickInBytes, span = kStickInBytes;
  for (unsigned dim : view.order) {
    if (!view.has(dim))
      continue;
    int64_t onCore = getCoreExtent(tensor, dim), inMemory = isLX ? onCore : d.dims[dim].size;
    for (const auto &[name, gaps] : t.backGap) {
      if (name != d.dims[dim].name || gaps.empty())
        continue;
      int64_t gap = *std::max_element(gaps.begin(), gaps.end());
      if (gap < 0 || isGapPadding(d, t, name, gap))
        onCore = std::min(onCore, inMemory = std::max<int64_t>(inMemory - std::abs(gap), 1));
      else
        inMemory += gap;
    }
    if (view.isStick[dim]) {
      // What one stick holds of the dim; all of it unless the stick has two dims.
      int64_t held = 1;
      for (size_t k = 0; k < view.layout->stickDims.size(); ++k)
        if (view.layout->stickDims[k] == d.dims[dim].name)
          held = std::max<int64_t>(held * view.layout->stickSizes[k], 1);
      onCore = (onCore + held - 1) / held;
      inMemory = (inMemory + held - 1) / held;
    }
    if (onCore > 1 && __builtin_mul_overflow(onCore, unit, &span))
      return -1;
    if (__builtin_mul_overflow(std::max<int64_t>(inMemory, 1), unit, &unit))
      return -1;
  }
  return isLX ? unit : span;
}

//===----------------------------------------------------------------------===//
// Dims, layout classes, cores
//===----------------------------------------------------------------------===//

/// Rules 2, 22, 23.
void Verifier::checkDims() {
  for (const Dim &dim : d.dims) {
    if (dim.size != dim.numSlices * dim.coreSize)
      report(2,
             "dim " + dim.name + ": " + str(dim.size) + " elements are not " + str(dim.numSlices) +
                 " slices of " + str(dim.coreSize),
             -1, dim.name);
    if (dim.epilogueSize && *dim.epilogueSize != dim.coreSize)
      report(22,
             "dim " + dim.name + ": the last slice has " + str(*dim.epilogueSize) +
                 " elements, the others " + str(dim.coreSize) + "; work is divided equally",
             -1, dim.name);
    if (dim.coreSize > dim.size)
      report(23,
             "dim " + dim.name + ": a slice of " + str(dim.coreSize) + " elements of only " +
                 str(dim.size),
             -1, dim.name);
  }
  if (d.steadyStage != d.epilogueStage)
    report(22, "the symbolic dims or windows of the steady state (ss_) and the epilogue (el_) "
               "differ");
}

/// Rule 4. A dim may occur more than once in a stick (a stick of [8, 2, 8]).
void Verifier::checkLayouts() {
  for (const LayoutClass &layout : d.layouts) {
    std::set<std::string> seen;
    for (const std::string &dim : layout.dimOrder)
      if (!seen.insert(dim).second)
        report(4, "layout class " + layout.label + " has a dim twice", -1, dim);
    for (const std::string &dim : std::set(layout.stickDims.begin(), layout.stickDims.end()))
      if (!seen.count(dim))
        report(4, "layout class " + layout.label + " lacks its stick dim " + dim, -1, dim);
    if (layout.stickDims.empty())
      report(4, "layout class " + layout.label + " has no stick dim");
  }
}

/// Rules 1, 3, 20, 21, 57.
void Verifier::checkCores() {
  int64_t product = 1;
  for (const Dim &dim : d.dims)
    // More slices than any device has cores: enough to see that it is wrong.
    product = std::min<int64_t>(product * std::min<int64_t>(dim.numSlices, 1 << 20), 1 << 20);
  if (product != d.numCores)
    report(1, "the slices of all dims multiply to " + str(product) + " for " + str(d.numCores) +
                  " cores");
  std::set<std::vector<int64_t>> slices;
  for (size_t core = 0; core < d.coreToSlice.size(); ++core) {
    const std::vector<int64_t> &own = d.coreToSlice[core];
    if (!slices.insert(own).second)
      report(3, "core " + str(static_cast<int64_t>(core)) +
                    " has the same work slice as another core");
    for (size_t i = 0; i < d.dims.size() && i < own.size(); ++i)
      if (own[i] < 0 || own[i] >= d.dims[i].numSlices)
        report(3,
               "core " + str(static_cast<int64_t>(core)) + ", dim " + d.dims[i].name + ": slice " +
                   str(own[i]) + " of " + str(d.dims[i].numSlices),
               -1, d.dims[i].name);
  }
  if (d.numCores < 1 || (limits.numCores > 0 && d.numCores > limits.numCores))
    report(20, str(d.numCores) + " cores; the device has " + str(limits.numCores));
  if (!d.coreIds.empty()) {
    if (static_cast<int64_t>(d.coreIds.size()) != d.numCores)
      report(21, "coreIdsUsed_ has " + str(static_cast<int64_t>(d.coreIds.size())) +
                     " entries, numCoresUsed_ is " + str(d.numCores));
    else
      for (size_t i = 0; i < d.coreIds.size(); ++i)
        if (d.coreIds[i] != static_cast<int64_t>(i)) {
          report(21, "coreIdsUsed_ has core " + str(d.coreIds[i]) + " in place of core " +
                         str(static_cast<int64_t>(i)) +
                         "; the maps of the descriptor name the cores from 0 upwards");
          break;
        }
  }
  int64_t corelets = std::max<int64_t>(limits.numCoreletsPerCore, 1);
  bool isKnown = limits.numCoreletsPerCore > 0;
  if (d.corelets.label != "corelet")
    report(57, "coreletFoldProp_ is labelled " + d.corelets.label);
  if (d.numCorelets < 1 || (isKnown && d.numCorelets > corelets))
    report(57, str(d.numCorelets) + " corelets used; a core has " + str(corelets));
  if (d.corelets.factor < 1 || (isKnown && d.corelets.factor > corelets))
    report(57, "a corelet fold of " + str(d.corelets.factor) + "; a core has " + str(corelets) +
                   " corelets");
  for (size_t i = 0; i < d.tensors.size(); ++i)
    if (d.tensors[i].addressCorelets != 1 && d.tensors[i].addressCorelets != d.corelets.factor)
      report(57,
             "its addresses have a corelet fold of " + str(d.tensors[i].addressCorelets) +
                 ", the descriptor one of " + str(d.corelets.factor),
             static_cast<int>(i));
}

/// Rules 53, 54, 58.
void Verifier::checkRoot() {
  for (const std::string *target : {&d.target, &d.operationTarget}) {
    static const char *const known[] = {"senulator", "sentient", "senpcfg", "sentf", "host"};
    if (!target->empty() &&
        std::find(std::begin(known), std::end(known), *target) == std::end(known))
      report(53, "unknown target " + *target +
                     "; it is one of senulator, sentient, senpcfg, sentf, host");
  }
  if (d.dataOps && !d.dataOps->empty())
    report(54, str(static_cast<int64_t>(d.dataOps->size())) +
                   " data operations (dataOpdscs_) beside an operation (dscs_); exactly one of "
                   "the two lists is not empty");
  if (!d.folds.isStandard())
    report(58, "sdscFolds_ and sdscFoldProps_ are one time fold of factor 1 in every known file; "
               "these have another meaning");
  int64_t numDataOps = d.dataOps ? static_cast<int64_t>(d.dataOps->size()) : 0;
  for (size_t core = 0; core < d.schedule.size(); ++core) {
    int64_t numRuns = 0;
    for (const ScheduleStep &step : d.schedule[core]) {
      if (step[0] < -1 || step[0] >= numDataOps || step[1] < -1 || step[1] > 0)
        report(58, "core " + str(static_cast<int64_t>(core)) + " is scheduled to run operation " +
                       str(step[1]) + " and data operation " + str(step[0]) +
                       ", which do not exist");
      numRuns += step[1] == 0;
    }
    if (numRuns != 1)
      report(58, "core " + str(static_cast<int64_t>(core)) + " is scheduled to run the operation " +
                     str(numRuns) + " times; once is right");
  }
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Rules 5, 6, 12 and those of the parts.
void Verifier::checkTensor(unsigned index) {
  const Tensor &tensor = d.tensors[index];
  const LayoutClass *layout = views[index].layout;
  int position = static_cast<int>(index);
  if (!layout) {
    report(5, "layout class " + tensor.label + " does not exist", position);
    return;
  }
  std::vector<std::string> own = tensor.dimOrder, shared = layout->dimOrder;
  std::sort(own.begin(), own.end());
  std::sort(shared.begin(), shared.end());
  if (own != shared)
    report(5, "its dims are not those of its layout class " + tensor.label, position);

  if (int64_t width = getWidthInBytes(tensor.format); width && tensor.wordLength != width)
    report(6, "word length " + str(tensor.wordLength) + " for a format of " + str(width) + " bytes",
           position);
  int64_t stick = 1;
  for (int64_t size : layout->stickSizes)
    stick = std::min<int64_t>(stick * std::min<int64_t>(size, 1 << 20), 1 << 20);
  if (stick != getElementsPerStick(tensor.format))
    report(6,
           "a stick of " + str(stick) + " elements, " + std::string(getFormatName(tensor.format)) +
               " has " + str(getElementsPerStick(tensor.format)),
           position);
  checkScales(index);
  for (const DimCoordinate &coordinate : tensor.coordinates)
    checkFolds(index, coordinate);
  checkAddresses(index);
  for (const auto &[dim, gaps] : tensor.backGap) {
    size_t expected = tensor.component == MemorySpace::LX ? static_cast<size_t>(d.numCores) : 1;
    if (gaps.size() != expected)
      report(12,
             "the gap of dim " + dim + " has " + str(static_cast<int64_t>(gaps.size())) +
                 " entries, expected " + str(static_cast<int64_t>(expected)),
             position, dim);
    checkNegativeGap(index, dim, gaps);
  }
  checkMemory(index);
}

/// Rule 61.
void Verifier::checkNegativeGap(unsigned index, const std::string &dim,
                                const std::vector<int64_t> &gaps) {
  auto negative = std::find_if(gaps.begin(), gaps.end(), [](int64_t gap) { return gap < 0; });
  if (negative == gaps.end())
    return;
  int position = static_cast<int>(index);
  const OpFuncInfo *info = lookupOpFunc(d.opFunc);
  if (!info || info->stickRule != StickRule::Cast)
    report(61, "the gap of dim " + dim + " is " + str(*negative) + "; only a cast may lack memory",
           position, dim);
  std::optional<unsigned> found = d.findDim(dim);
  if (!found)
    return;
  if (d.dims[*found].numSlices != 1)
    report(61, "dim " + dim + " lacks memory at its end and is divided", position, dim);
  if (*negative <= -d.dims[*found].size)
    report(61, "the gap of dim " + dim + ", " + str(*negative) + ", leaves none of its elements",
           position, dim);
}

/// Rules 7, 8.
void Verifier::checkScales(unsigned index) {
  const View &view = views[index];
  const LayoutClass &layout = *view.layout;
  for (size_t dim = 0; dim < d.dims.size(); ++dim) {
    const std::string &name = d.dims[dim].name;
    if (view.scale[dim] == -2 && !view.isStick[dim])
      report(7, "scale -2 on dim " + name + ", which is no stick dim", static_cast<int>(index),
             name);
    if (!view.has(dim) || !view.isStick[dim])
      continue;
    int64_t size = 1;
    for (size_t k = 0; k < layout.stickDims.size() && k < layout.stickSizes.size(); ++k)
      if (layout.stickDims[k] == name)
        size = std::min<int64_t>(size * std::min<int64_t>(layout.stickSizes[k], 1 << 20), 1 << 20);
    if (size > 0 && d.dims[dim].coreSize % size != 0 &&
        !mayEndInsideStick(d, d.tensors[index], d.dims[dim]))
      report(8,
             "dim " + name + ": a core's " + str(d.dims[dim].coreSize) +
                 " elements are no multiple of the stick's " + str(size),
             static_cast<int>(index), name);
  }
}

/// Rules 9, 56.
void Verifier::checkFolds(unsigned index, const DimCoordinate &coordinate) {
  int position = static_cast<int>(index);
  std::optional<unsigned> dim = d.findDim(coordinate.dim);
  int64_t numFolds = static_cast<int64_t>(coordinate.folds.size());
  if (numFolds != coordinate.elemArr + 3) {
    report(9,
           "dim " + coordinate.dim + ": " + str(numFolds) +
               " folds, expected elemArr + 3 = " + str(coordinate.elemArr + 3),
           position, coordinate.dim);
    return;
  }
  static const char *const spatial[] = {"core_fold", "corelet_fold", "row_fold"};
  for (size_t i = 0; i < coordinate.folds.size(); ++i) {
    std::string expected = i < 3 ? spatial[i] : "elem_arr_" + str(numFolds - 1 - int64_t(i));
    if (coordinate.folds[i].label != expected) {
      report(56,
             "dim " + coordinate.dim + ": fold " + str(static_cast<int64_t>(i)) + " is labelled " +
                 coordinate.folds[i].label + ", expected " + expected,
             position, coordinate.dim);
      break;
    }
  }
  if (!dim || !views[index].has(*dim))
    return;
  int64_t product = 1, size = d.dims[*dim].size;
  // A last stick that is a part of one is counted, or it is not.
  int64_t perStick = coordinate.folds.back().factor;
  if (coordinate.folds.size() == 5 && perStick > 0 && d.dims[*dim].coreSize % perStick != 0 &&
      mayEndInsideStick(d, d.tensors[index], d.dims[*dim])) {
    int64_t whole = d.dims[*dim].coreSize / perStick, sticks = coordinate.folds[3].factor;
    if (coordinate.folds[0].factor != d.dims[*dim].numSlices ||
        (sticks != whole && sticks != whole + 1))
      report(9, "dim " + coordinate.dim + ": the folds do not cover its " + str(size) + " elements",
             position, coordinate.dim);
    return;
  }
  for (const Fold &fold : coordinate.folds) {
    // Any product beyond the dim is wrong; stop before it can overflow.
    product *= std::min(fold.factor, size + 1);
    if (product > size)
      break;
  }
  if (product != size)
    report(9, "dim " + coordinate.dim + ": the folds do not cover its " + str(size) + " elements",
           position, coordinate.dim);
}

/// Rules 10, 11.
void Verifier::checkAddresses(unsigned index) {
  const Tensor &tensor = d.tensors[index];
  int position = static_cast<int>(index);
  if (static_cast<int64_t>(tensor.startAddress.size()) != d.numCores)
    report(10, "it has no start address for each core", position);
  if (tensor.symbolicAddress && tensor.component == MemorySpace::LX)
    report(10, "an LX allocation has a concrete address", position);
  for (size_t core = 0; core < tensor.startAddress.size(); ++core) {
    int64_t address = tensor.startAddress[core];
    if ((address < 0) != tensor.symbolicAddress) {
      report(10,
             "core " + str(static_cast<int64_t>(core)) + ": " + str(address) +
                 (tensor.symbolicAddress ? " is no symbol id" : " is no address"),
             position);
      break;
    }
    if (address >= 0 && address % kStickInBytes != 0) {
      report(11,
             "core " + str(static_cast<int64_t>(core)) + ": the address " + str(address) +
                 " is no multiple of a stick",
             position);
      break;
    }
  }
}

/// Rules 24, 25, 52.
void Verifier::checkMemory(unsigned index) {
  const Tensor &tensor = d.tensors[index];
  int position = static_cast<int>(index);
  bool isLX = tensor.component == MemorySpace::LX;
  if (!(isLX ? tensor.presentInLx : tensor.presentInHbm))
    report(52,
           std::string("it is allocated in ") + (isLX ? "lx" : "hbm") +
               ", which memOrg_ does not mark as present",
           position);
  int64_t limit = isLX ? limits.lxInBytes : limits.spanInBytes;
  if (limit <= 0)
    return;
  int64_t extent = getExtentInBytes(index);
  if (extent < 0 && (getWidthInBytes(tensor.format) < 1 || getElementsPerStick(tensor.format) < 1))
    return; // of unknown width: rule 30 or the emulator refuses the format
  if (!isLX) {
    if (extent < 0 || extent > limit)
      report(24,
             "one core addresses a span of " + (extent < 0 ? "more than 2^63" : str(extent)) +
                 " bytes, the device " + str(limit) + "; divide an outer dim among more cores",
             position);
    return;
  }
  for (size_t core = 0; core < tensor.startAddress.size(); ++core) {
    int64_t address = tensor.startAddress[core];
    if (address < 0)
      continue;
    if (extent < 0 || extent > limit || address > limit - extent) {
      report(25,
             "core " + str(static_cast<int64_t>(core)) + ": " +
                 (extent < 0 ? "more than 2^63" : str(extent)) + " bytes from " + str(address) +
                 " leave the LX of " + str(limit) + " bytes",
             position);
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Rules 13, 14, 59, 60.
void Verifier::checkOperands() {
  if (d.tensors.size() > 8)
    report(13, str(static_cast<int64_t>(d.tensors.size())) + " operands; 8 are the most");
  if (d.outputs.size() != 1)
    report(13, str(static_cast<int64_t>(d.outputs.size())) + " outputs; there is one");
  std::set<unsigned> used;
  for (const auto *list : {&d.inputs, &d.outputs, &d.indexTensors})
    for (unsigned tensor : *list) {
      used.insert(tensor);
      if (tensor >= d.tensors.size())
        report(59, "the operation names tensor " + str(tensor) + " of " +
                       str(static_cast<int64_t>(d.tensors.size())));
    }
  std::set<std::string> names;
  for (size_t i = 0; i < d.tensors.size(); ++i) {
    if (!used.count(static_cast<unsigned>(i)))
      report(13, "the operation does not use it", static_cast<int>(i));
    if (!names.insert(d.tensors[i].name).second)
      report(60, "another tensor is named " + d.tensors[i].name + " too", static_cast<int>(i));
  }
  if (d.executionUnit != "pt" && d.executionUnit != "sfp")
    report(14, "unknown execution unit " + d.executionUnit);
}

/// Rule 15.
void Verifier::checkReductionSplits() {
  std::string split;
  for (size_t dim : getReducedDims()) {
    if (d.dims[dim].numSlices == 1)
      continue;
    const std::string &name = d.dims[dim].name;
    if (!split.empty())
      warn(15, "the reduced dims " + split + " and " + name + " are both split", -1, name);
    split = name;
  }
}

/// Rule 16.
void Verifier::checkIndirection() {
  for (unsigned i = 0; i < d.tensors.size(); ++i) {
    const Tensor &tensor = d.tensors[i];
    int position = static_cast<int>(i);
    bool isIndex = isIndexTensor(i);
    if (isIndex != (tensor.indirection == Indirection::IndexTensor))
      report(16,
             isIndex ? "used as index, but it is no index tensor" : "index tensor not used as one",
             position);
    if ((tensor.indirection == Indirection::None) != tensor.relatedAllocation.empty()) {
      report(16, "index and value tensor name each other, others none", position);
      continue;
    }
    if (tensor.indirection == Indirection::None)
      continue;
    auto partner = std::find_if(d.tensors.begin(), d.tensors.end(), [&](const Tensor &other) {
      return other.indirection != Indirection::None && other.indirection != tensor.indirection &&
             other.getAllocationName() == tensor.relatedAllocation;
    });
    if (partner == d.tensors.end())
      report(16, "its partner " + tensor.relatedAllocation + " does not exist", position);
    else if (partner->relatedAllocation != tensor.getAllocationName())
      report(16,
             "its partner " + tensor.relatedAllocation + " names " + partner->relatedAllocation +
                 " in its turn",
             position);
  }
}

/// Rule 17.
void Verifier::checkMasks() {
  for (const Mask &mask : d.masks) {
    const Dim *dim = findDim(mask.dim);
    if (!dim || mask.firstInvalid < 0 || mask.count < 1 ||
        mask.firstInvalid > dim->size - mask.count)
      report(17,
             "the mask of dim " + mask.dim + ", " + str(mask.count) + " elements from " +
                 str(mask.firstInvalid) + ", is not inside the dim",
             -1, mask.dim);
  }
  bool hasConstant =
      d.maskConstant >= 0 && d.maskConstant < static_cast<int64_t>(d.constants.size());
  if (!d.masks.empty() && !hasConstant)
    report(17, "masked elements have no constant to read as");
  if (d.masks.empty() && d.maskConstant != -1)
    report(17, "a mask constant, but no mask");
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

std::vector<Violation> verifyDescriptor(const Descriptor &descriptor, const Limits &limits) {
  return Verifier(descriptor, limits).run();
}

std::string toString(const Violation &violation, const Descriptor &descriptor) {
  std::string text = "SDSC-" + std::to_string(violation.rule) + ": descriptor " +
                     std::to_string(descriptor.index) + "_" + descriptor.opFunc;
  if (violation.tensor >= 0 && static_cast<size_t>(violation.tensor) < descriptor.tensors.size())
    text += ", " + descriptor.tensors[static_cast<size_t>(violation.tensor)].name;
  if (!violation.dim.empty())
    text += ", dim " + violation.dim;
  return text + ": " + violation.message;
}

} // namespace spyre::sdsc
