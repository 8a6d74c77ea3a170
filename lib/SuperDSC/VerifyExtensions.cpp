//===- VerifyExtensions.cpp - Rules of what is rarely used ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symbolic dims, padded windows, paged value tensors (none of which the reference
// front end emits) and the relayout in LX.
// Source of the rules: docs/formats/superdsc-rules.md, section 7.
//
//===----------------------------------------------------------------------===//

#include "VerifyInternal.h"

#include <algorithm>
#include <map>

namespace spyre::sdsc {

/// Rules 43 to 45.
void Verifier::checkSymbolicDims() {
  std::set<std::string> mapped;
  std::set<int64_t> symbols;
  for (const DimSymbols &entry : d.dimSymbols) {
    if (!mapped.insert(entry.dim).second)
      report(43, "dim " + entry.dim + " is mapped to symbols twice", -1, entry.dim);
    if (entry.symbols.size() != 1)
      report(43,
             "dim " + entry.dim + " has " + str(static_cast<int64_t>(entry.symbols.size())) +
                 " symbols; a dim has one",
             -1, entry.dim);
    for (int64_t symbol : entry.symbols) {
      if (symbol >= 0)
        report(43, "dim " + entry.dim + ": " + str(symbol) + " is no symbol id (negative)", -1,
               entry.dim);
      symbols.insert(symbol);
    }
  }
  for (size_t i = 0; i < d.tensors.size() && !symbols.empty(); ++i)
    for (int64_t address : d.tensors[i].startAddress)
      if (address < 0 && symbols.count(address)) {
        report(43, "symbol " + str(address) + " is a dim's and an address's", static_cast<int>(i));
        break;
      }

  // A difference between the two stages is rule 22's.
  std::set<std::string> sized;
  for (const SymbolicExtent &extent : d.steadyStage.symbolicDims) {
    sized.insert(extent.dim);
    const Dim *dim = findDim(extent.dim);
    if (!mapped.count(extent.dim))
      report(43, "dim " + extent.dim + " has a symbolic extent, but no symbol", -1, extent.dim);
    if (!dim)
      continue;
    if (extent.granularity < 1 || extent.maxSize % extent.granularity != 0)
      report(44,
             "dim " + extent.dim + ": the granularity " + str(extent.granularity) +
                 " does not divide the largest extent " + str(extent.maxSize) +
                 "; both are those of one slice, so the slices divide the granularity of the dim",
             -1, extent.dim);
    if (extent.maxSize != dim->coreSize)
      report(44,
             "dim " + extent.dim + ": the largest extent of one slice is " + str(extent.maxSize) +
                 ", its size " + str(dim->coreSize),
             -1, extent.dim);
    if (dim->numSlices == 1)
      continue;
    for (unsigned i = 0; i < d.tensors.size(); ++i)
      if (views[i].has(static_cast<size_t>(dim - d.dims.data())) &&
          d.tensors[i].component == MemorySpace::HBM && !d.tensors[i].symbolicAddress)
        report(45,
               "its symbolic dim " + extent.dim +
                   " is split, so the start addresses of the cores are symbolic",
               static_cast<int>(i), extent.dim);
  }
  for (const std::string &dim : mapped)
    if (!sized.count(dim))
      report(44, "symbolic dim " + dim + " has no largest extent and granularity", -1, dim);
}

/// Rules 40, 46, 47.
void Verifier::checkWindows() {
  checkWindowStage(d.windows, /*isCoreStage=*/false);
  checkWindowStage(d.steadyStage.windows, /*isCoreStage=*/true);
  std::set<std::string> whole, core;
  for (const PaddedWindow &window : d.windows)
    whole.insert(window.dim);
  for (const PaddedWindow &window : d.steadyStage.windows)
    core.insert(window.dim);
  for (const std::string &dim : whole)
    if (!core.count(dim))
      report(46, "dim " + dim + " is padded in N_, but not in the stages", -1, dim);
  for (const std::string &dim : core)
    if (!whole.count(dim))
      report(46, "dim " + dim + " is padded in the stages, but not in N_", -1, dim);
  if (d.windows.empty())
    return;
  const OpFuncInfo *info = lookupOpFunc(d.opFunc);
  if (info && info->category == OpCategory::Pooling) {
    std::set<std::string> dims;
    for (const PaddedWindow &window : d.windows) {
      dims.insert(window.dim);
      dims.insert(window.windowDim);
    }
    for (size_t dim = 0; dim < d.dims.size(); ++dim)
      for (unsigned i = 0; i < d.tensors.size(); ++i)
        if (views[i].isStick[dim] && dims.count(d.dims[dim].name))
          report(40, "its stick holds dim " + d.dims[dim].name + " of the window",
                 static_cast<int>(i), d.dims[dim].name);
  } else if (info && info->category != OpCategory::Convolution) {
    report(46, d.opFunc + " has no windows; only pooling and convolution have");
  }
}

void Verifier::checkWindowStage(const std::vector<PaddedWindow> &windows, bool isCoreStage) {
  std::string where = isCoreStage ? " (core stage)" : " (N_)";
  for (const PaddedWindow &window : windows) {
    const Dim *dim = findDim(window.dim), *extent = findDim(window.windowDim);
    auto fail = [&](int rule, const std::string &message) {
      report(rule, "dim " + window.dim + where + ": " + message, -1, window.dim);
    };
    if (!extent)
      fail(46, "its window dim " + window.windowDim + " does not exist");
    bool isSplit = isCoreStage && dim && dim->numSlices > 1;
    if (isSplit && (window.padFront != -1 || window.padBack != -1))
      fail(47, "it is split, so the padding in front and behind is -1, found " +
                   str(window.padFront) + " and " + str(window.padBack));
    if (!isSplit && (window.padFront < 0 || window.padBack < 0))
      fail(47, "it is not split, so the padding is known, found " + str(window.padFront) + " and " +
                   str(window.padBack));
    if (window.stride < 1 || window.dilation < 1) {
      fail(46, "stride " + str(window.stride) + " and dilation " + str(window.dilation) +
                   " are at least 1");
      continue;
    }
    if (!dim || !extent || !window.totalSize)
      continue;
    // What the windows read, and what is left of the padded input.
    int64_t outputs = isCoreStage ? dim->coreSize : dim->size;
    int64_t strides, reach, read;
    if (__builtin_mul_overflow(outputs - 1, window.stride, &strides) ||
        __builtin_mul_overflow(extent->size - 1, window.dilation, &reach) ||
        __builtin_add_overflow(strides, reach, &read) || read > (int64_t(1) << 60)) {
      fail(46, "its extent is out of range");
      continue;
    }
    read += 1;
    int64_t unneeded = window.unneeded ? (*window.unneeded)[0] : 0;
    if (read > *window.totalSize)
      fail(46, str(outputs) + " windows of " + str(extent->size) + " read " + str(read) +
                   " elements, its total size is " + str(*window.totalSize));
    else if (window.unneeded && read + unneeded != *window.totalSize)
      fail(46, "the windows read " + str(read) + " of " + str(*window.totalSize) +
                   " elements, so " + str(*window.totalSize - read) + " are not needed, not " +
                   str(unneeded));
    else if (!window.unneeded && *window.totalSize - read >= window.stride)
      fail(46, "the windows read " + str(read) + " of " + str(*window.totalSize) +
                   " elements, which is a window too few");
  }
}

/// Rule 48.
void Verifier::checkPaddingKinds() {
  const OpFuncInfo *info = lookupOpFunc(d.opFunc);
  bool isConvolution = info && info->category == OpCategory::Convolution;
  for (size_t i = 0; i < d.tensors.size(); ++i)
    for (const DimCoordinate &coordinate : d.tensors[i].coordinates) {
      auto window = std::find_if(d.windows.begin(), d.windows.end(),
                                 [&](const PaddedWindow &w) { return w.dim == coordinate.dim; });
      auto fail = [&](const std::string &message) {
        report(48, "dim " + coordinate.dim + ": " + message, static_cast<int>(i), coordinate.dim);
      };
      std::string kind(getPaddingName(coordinate.padding));
      if (window == d.windows.end()) {
        if (coordinate.padding != PaddingKind::NoPad)
          fail("padding kind " + kind + ", but the dim has no window");
        continue;
      }
      bool isInput = std::find(dataInputs.begin(), dataInputs.end(), i) != dataInputs.end();
      if (!isConvolution || !isInput || coordinate.padding == PaddingKind::NoPad)
        continue;
      bool isPadded = window->padFront > 0 || window->padBack > 0;
      PaddingKind expected =
          isPadded ? PaddingKind::PaddedNoZeroPad : PaddingKind::PaddedFullSpanWithUnneeded;
      if (coordinate.padding != expected)
        fail("padding kind " + kind + "; a convolution " + (isPadded ? "with" : "without") +
             " padding wants " + std::string(getPaddingName(expected)));
    }
}

/// Rule 55.
void Verifier::checkPages() {
  for (unsigned i = 0; i < d.tensors.size(); ++i) {
    const Tensor &tensor = d.tensors[i];
    for (size_t k = 0; k < tensor.maxDimSizes.size(); ++k) {
      int64_t size = tensor.maxDimSizes[k];
      if (size == -1)
        continue;
      std::string name = k < tensor.dimOrder.size() ? tensor.dimOrder[k] : "";
      const Dim *dim = findDim(name);
      if (size < 1)
        report(55, "dim " + name + ": a page of " + str(size) + " elements", static_cast<int>(i),
               name);
      else if (tensor.indirection != Indirection::ValueTensor)
        report(55,
               "dim " + name + ": a page size of " + str(size) +
                   ", but the tensor is not addressed through an index tensor",
               static_cast<int>(i), name);
      else if (dim && dim->size % size != 0)
        report(55,
               "dim " + name + ": its " + str(dim->size) + " elements are no whole pages of " +
                   str(size),
               static_cast<int>(i), name);
    }
  }
}

/// Rules 49 to 51.
void Verifier::checkShuffle() {
  if (dataInputs.size() != 1 || d.tensors.size() != 2)
    report(49, "a shuffle has one input and one output");
  for (unsigned i = 0; i < d.tensors.size(); ++i) {
    int position = static_cast<int>(i);
    if (d.tensors[i].component != MemorySpace::LX)
      report(49, "a shuffle moves data from LX to LX", position);
    if (d.tensors[i].coreToSlice.empty())
      report(49, "a shuffle's operand has a division of its own (coreIdToWkSlice_)", position);
    else
      checkShuffleCoverage(i);
  }
  if (dataInputs.size() != 1)
    return;
  unsigned in = dataInputs[0], out = d.outputs.front();
  if (d.tensors[in].component != MemorySpace::LX || d.tensors[out].component != MemorySpace::LX)
    return;
  int64_t inBytes = getExtentInBytes(in), outBytes = getExtentInBytes(out);
  if (inBytes < 0 || outBytes < 0)
    return; // rule 25
  const std::vector<int64_t> &starts = d.tensors[in].startAddress;
  for (size_t core = 0; core < starts.size() && core < output().startAddress.size(); ++core) {
    int64_t from = starts[core], to = output().startAddress[core];
    if (from < 0 || to < 0 || from - outBytes >= to || to - inBytes >= from)
      continue;
    report(50,
           "core " + str(static_cast<int64_t>(core)) + ": the result at " + str(to) +
               " overlaps the input of " + str(inBytes) + " bytes at " + str(from),
           static_cast<int>(out));
    break;
  }
}

void Verifier::checkShuffleCoverage(unsigned index) {
  const Tensor &tensor = d.tensors[index];
  int position = static_cast<int>(index);
  bool isOutput = index == d.outputs.front();
  std::map<std::string, int64_t> slicesOf;
  int64_t pieces = 1;
  for (const DimCoordinate &coordinate : tensor.coordinates)
    if (!coordinate.folds.empty()) {
      int64_t factor = coordinate.folds[0].factor;
      slicesOf[coordinate.dim] = factor;
      pieces = std::min<int64_t>(pieces * std::min<int64_t>(factor, 1 << 20), 1 << 20);
    }
  std::map<std::vector<int64_t>, int64_t> owners;
  for (size_t core = 0; core < tensor.coreToSlice.size(); ++core) {
    std::vector<std::pair<std::string, int64_t>> sorted = tensor.coreToSlice[core];
    std::sort(sorted.begin(), sorted.end());
    std::vector<int64_t> piece;
    for (const auto &[dim, slice] : sorted) {
      auto count = slicesOf.find(dim);
      int64_t slices = count == slicesOf.end() ? 1 : count->second;
      if (slice < 0 || slice >= slices)
        report(51,
               "core " + str(static_cast<int64_t>(core)) + ", dim " + dim + ": slice " +
                   str(slice) + " of " + str(slices),
               position, dim);
      piece.push_back(slice);
    }
    ++owners[piece];
  }
  int64_t covered = static_cast<int64_t>(owners.size());
  if (covered != pieces) {
    report(51,
           "the cores hold " + str(covered) + " of its " + str(pieces) +
               " pieces; the division covers all of it",
           position);
    return;
  }
  // Each piece once (all-to-all), or each as often as any other (all-gather).
  int64_t copies = owners.begin()->second;
  for (const auto &[piece, count] : owners)
    if (isOutput && count != copies) {
      report(51,
             "a piece is on " + str(count) + " cores and another on " + str(copies) +
                 "; the pieces are on one core each, or all on the same number of cores",
             position);
      break;
    }
}

} // namespace spyre::sdsc
