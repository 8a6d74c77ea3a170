//===- DescriptorExtensions.cpp - Fields that few descriptors have --------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DescriptorExtensions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sdsc;

namespace sd = ::spyre::sdsc;

/// One attribute an element; null for an empty list.
template <typename List, typename Fn>
static ArrayAttr buildList(Builder &b, const List &list, Fn fn) {
  if (list.empty())
    return {};
  return b.getArrayAttr(
      llvm::map_to_vector(list, [&](const auto &entry) -> Attribute { return fn(entry); }));
}

template <typename AttrT, typename Out, typename Fn>
static void readList(std::optional<ArrayAttr> list, Out &out, Fn fn) {
  if (list)
    for (AttrT entry : list->getAsRange<AttrT>())
      out.push_back(fn(entry));
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

static ArrayAttr buildSymbolic(Builder &b, const std::vector<sd::SymbolicExtent> &extents) {
  return buildList(b, extents, [&](const sd::SymbolicExtent &extent) {
    return SymbolicAttr::get(b.getContext(), b.getStringAttr(extent.dim), extent.maxSize,
                             extent.granularity);
  });
}

static sd::SymbolicExtent readSymbolic(SymbolicAttr attribute) {
  return {attribute.getDim().str(), attribute.getMaxSize(), attribute.getGranularity()};
}

static ArrayAttr buildWindows(Builder &b, const std::vector<sd::PaddedWindow> &windows) {
  return buildList(b, windows, [&](const sd::PaddedWindow &window) {
    ArrayRef<int64_t> unneeded;
    if (window.unneeded)
      unneeded = *window.unneeded;
    return WindowAttr::get(b.getContext(), b.getStringAttr(window.dim),
                           b.getStringAttr(window.windowDim), window.padFront, window.padBack,
                           window.totalSize, window.stride, window.dilation, unneeded);
  });
}

static sd::PaddedWindow readWindow(WindowAttr attribute) {
  sd::PaddedWindow window;
  window.dim = attribute.getDim().str();
  window.windowDim = attribute.getWindowDim().str();
  window.padFront = attribute.getPadFront();
  window.padBack = attribute.getPadBack();
  window.totalSize = attribute.getTotalSize();
  window.stride = attribute.getStride();
  window.dilation = attribute.getDilation();
  if (ArrayRef<int64_t> unneeded = attribute.getUnneeded(); unneeded.size() == 3)
    window.unneeded = {unneeded[0], unneeded[1], unneeded[2]};
  return window;
}

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

namespace {
struct SpellingName {
  StringLiteral name;
  bool sd::Spelling::*flag;
};
} // namespace

static constexpr SpellingName kSpellings[] = {
    {"dim_underscore", &sd::Spelling::dimUnderscore},
    {"window_dim_underscore", &sd::Spelling::windowDimUnderscore},
    {"symbols_as_text", &sd::Spelling::symbolsAsText},
    {"empty_constants_as_object", &sd::Spelling::emptyConstantsAsObject},
    {"constants_as_text", &sd::Spelling::constantsAsText},
    {"constants_without_list", &sd::Spelling::constantsWithoutList},
};

//===----------------------------------------------------------------------===//
// Both ways
//===----------------------------------------------------------------------===//

void mlir::sdsc::buildExtensions(Builder &b, const sd::Descriptor &d, DescriptorOp::Properties &p) {
  MLIRContext *context = b.getContext();
  p.dim_symbols = buildList(b, d.dimSymbols, [&](const sd::DimSymbols &entry) {
    return SymbolsAttr::get(context, b.getStringAttr(entry.dim), entry.symbols);
  });
  p.windows = buildWindows(b, d.windows);
  p.steady_symbolic = buildSymbolic(b, d.steadyStage.symbolicDims);
  p.steady_windows = buildWindows(b, d.steadyStage.windows);
  p.last_symbolic = buildSymbolic(b, d.epilogueStage.symbolicDims);
  p.last_windows = buildWindows(b, d.epilogueStage.windows);
  if (!d.target.empty())
    p.target = b.getStringAttr(d.target);
  if (!d.operationTarget.empty())
    p.operation_target = b.getStringAttr(d.operationTarget);
  auto buildProperty = [&](const sd::FoldProperty &property) {
    return FoldPropertyAttr::get(context, property.factor, b.getStringAttr(property.label));
  };
  if (const sd::Descriptor usual; d.corelets != usual.corelets)
    p.corelet_fold = buildProperty(d.corelets);
  if (d.numCorelets != 1)
    p.num_corelets = b.getI64IntegerAttr(d.numCorelets);
  if (!d.coreIds.empty())
    p.core_ids = b.getDenseI64ArrayAttr(d.coreIds);
  if (!d.folds.isStandard()) {
    // Present even if empty: absent means the usual ones.
    auto always = [&](ArrayAttr list) { return list ? list : b.getArrayAttr({}); };
    p.bundle_folds = always(buildList(b, d.folds.folds, [&](const sd::Fold &fold) {
      return FoldAttr::get(context, b.getStringAttr(fold.label), fold.factor, fold.alpha,
                           fold.beta);
    }));
    p.bundle_fold_properties = always(buildList(b, d.folds.properties, buildProperty));
    SmallVector<NamedAttribute> data;
    for (const auto &[coordinate, value] : d.folds.data)
      data.push_back(b.getNamedAttr(coordinate, b.getStringAttr(value)));
    p.bundle_fold_data = b.getDictionaryAttr(data);
  }
  p.schedule = buildList(b, d.schedule, [&](const std::vector<sd::ScheduleStep> &steps) {
    SmallVector<int64_t> flat;
    for (const sd::ScheduleStep &step : steps)
      flat.append(step.begin(), step.end());
    return b.getDenseI64ArrayAttr(flat);
  });
  if (d.dataOps)
    p.data_ops = b.getArrayAttr(llvm::map_to_vector(
        *d.dataOps, [&](const std::string &text) -> Attribute { return b.getStringAttr(text); }));
  SmallVector<Attribute> spelling;
  for (const SpellingName &entry : kSpellings)
    if (d.spelling.*entry.flag)
      spelling.push_back(b.getStringAttr(entry.name));
  if (!spelling.empty())
    p.spelling = b.getArrayAttr(spelling);
}

void mlir::sdsc::readExtensions(DescriptorOp op, sd::Descriptor &d) {
  readList<SymbolsAttr>(op.getDimSymbols(), d.dimSymbols, [](SymbolsAttr entry) {
    return sd::DimSymbols{entry.getDim().str(), entry.getSymbols().vec()};
  });
  readList<WindowAttr>(op.getWindows(), d.windows, readWindow);
  readList<SymbolicAttr>(op.getSteadySymbolic(), d.steadyStage.symbolicDims, readSymbolic);
  readList<WindowAttr>(op.getSteadyWindows(), d.steadyStage.windows, readWindow);
  readList<SymbolicAttr>(op.getLastSymbolic(), d.epilogueStage.symbolicDims, readSymbolic);
  readList<WindowAttr>(op.getLastWindows(), d.epilogueStage.windows, readWindow);
  d.target = op.getTarget().value_or("").str();
  d.operationTarget = op.getOperationTarget().value_or("").str();
  auto readProperty = [](FoldPropertyAttr property) {
    return sd::FoldProperty{property.getFactor(), property.getLabel().str()};
  };
  if (std::optional<FoldPropertyAttr> property = op.getCoreletFold())
    d.corelets = readProperty(*property);
  if (std::optional<uint64_t> count = op.getNumCorelets())
    d.numCorelets = static_cast<int64_t>(*count);
  if (std::optional<ArrayRef<int64_t>> ids = op.getCoreIds())
    d.coreIds = ids->vec();
  if (op.getBundleFolds() || op.getBundleFoldProperties() || op.getBundleFoldData()) {
    d.folds = {{}, {}, {}};
    readList<FoldAttr>(op.getBundleFolds(), d.folds.folds, [](FoldAttr fold) {
      return sd::Fold{fold.getAlpha(), fold.getBeta(), fold.getFactor(), fold.getLabel().str()};
    });
    readList<FoldPropertyAttr>(op.getBundleFoldProperties(), d.folds.properties, readProperty);
    if (std::optional<DictionaryAttr> data = op.getBundleFoldData())
      for (NamedAttribute entry : *data)
        d.folds.data.emplace_back(entry.getName().str(),
                                  cast<StringAttr>(entry.getValue()).getValue().str());
  }
  readList<DenseI64ArrayAttr>(op.getSchedule(), d.schedule, [](DenseI64ArrayAttr flat) {
    std::vector<sd::ScheduleStep> steps;
    for (int64_t i = 0; i + 3 < flat.size(); i += 4)
      steps.push_back({flat[i], flat[i + 1], flat[i + 2], flat[i + 3]});
    return steps;
  });
  if (op.getDataOps())
    readList<StringAttr>(op.getDataOps(), d.dataOps.emplace(),
                         [](StringAttr text) { return text.str(); });
  if (std::optional<ArrayAttr> spelling = op.getSpelling())
    for (StringAttr name : spelling->getAsRange<StringAttr>())
      for (const SpellingName &entry : kSpellings)
        if (name == entry.name)
          d.spelling.*entry.flag = true;
}
