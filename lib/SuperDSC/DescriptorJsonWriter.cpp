//===- DescriptorJsonWriter.cpp - A descriptor to sdsc_<i>.json -----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the fields in the reference's order, token by token.
// Source of names and order: docs/formats/superdsc-rules.md, sections 1 and 8.
//
//===----------------------------------------------------------------------===//

#include "spyre/SuperDSC/DescriptorJson.h"

#include "spyre/Support/JsonWriter.h"

#include <cassert>

namespace spyre::sdsc {

namespace {

class DescriptorWriter {
public:
  DescriptorWriter(const Descriptor &descriptor, std::ostream &os, const WriteOptions &options)
      : d(descriptor), options(options), w(os, options.pretty, &descriptor.unknownFields) {}

  void write();

private:
  void writeProvenance(const Provenance &provenance);
  void writeDsc();
  void writeStage(std::string_view name, const Stage &stage, bool isEpilogue);
  void writeSymbolicDims(const std::vector<SymbolicExtent> &extents);
  void writeWindows(const std::vector<PaddedWindow> &windows);
  void writeDimSymbols();
  void writeBundleFolds();
  void writeSchedule();
  void writeFolds(const std::vector<Fold> &folds);
  void writeNode(const Tensor &tensor, size_t index);
  void writeCoordinates(const Tensor &tensor);
  void writeLabeled(const Tensor &tensor, size_t index);
  void writeConstants();
  void writeCompute();

  void writeFactor(int64_t factor, std::string_view label) {
    w.beginObject();
    w.field("factor_", factor);
    w.field("label_", label);
    w.endObject();
  }
  std::string spellDim(const std::string &dim) const {
    return d.spelling.dimUnderscore ? dim + "_" : dim;
  }
  void writePresence(std::string_view memory) {
    w.key(memory);
    w.beginObject();
    w.field("isPresent", 1);
    w.endObject();
  }
  /// The three folds of per-core data; the \p mapped one is a map, others constant.
  void writeCoreFolds(int mapped, int64_t corelets) {
    w.key("dim_prop_func");
    w.beginArray();
    for (int i = 0; i < 3; ++i) {
      w.beginObject();
      w.rawField(i == mapped ? "Map" : "Const", "{}");
      w.endObject();
    }
    w.endArray();
    w.key("dim_prop_attr");
    w.beginArray();
    writeFactor(d.numCores, "core");
    writeFactor(corelets, "corelet");
    writeFactor(1, "time");
    w.endArray();
  }
  void writeRefs(std::string_view name, const std::vector<unsigned> &tensors) {
    w.key(name);
    w.beginArray();
    for (unsigned tensor : tensors) {
      assert(tensor < d.tensors.size() && "reference to a tensor that is not there");
      w.value(d.tensors[tensor].name + "-idx" + std::to_string(tensor));
    }
    w.endArray();
  }

  const Descriptor &d;
  const WriteOptions &options;
  json::Writer w;
};

} // namespace

void DescriptorWriter::write() {
  w.beginObject();
  w.key(std::to_string(d.index) + "_" + d.opFunc);
  w.beginObject();
  w.setPointerRoot();
  if (options.form == Form::August2026 && options.provenance && d.provenance) {
    w.key("debug_handle_");
    writeProvenance(*d.provenance);
  }
  writeBundleFolds();
  w.key("coreFoldProp_");
  writeFactor(d.numCores, "core");
  w.key("coreletFoldProp_");
  writeFactor(d.corelets.factor, d.corelets.label);
  w.field("numCoresUsed_", d.numCores);

  w.key("coreIdToDsc_");
  w.beginObject();
  for (int64_t core = 0; core < d.numCores; ++core)
    w.field(std::to_string(core), 0);
  w.endObject();
  w.key("numWkSlicesPerDim_");
  w.beginObject();
  for (const Dim &dim : d.dims)
    w.field(dim.name, dim.numSlices);
  w.endObject();
  w.key("coreIdToWkSlice_");
  w.beginObject();
  assert(static_cast<int64_t>(d.coreToSlice.size()) == d.numCores && "an entry a core");
  assert(d.coreOrder.size() == d.dims.size() && "every dim once");
  for (size_t core = 0; core < d.coreToSlice.size(); ++core) {
    w.key(std::to_string(core));
    w.beginObject();
    for (unsigned dim : d.coreOrder)
      w.field(d.dims[dim].name, d.coreToSlice[core][dim]);
    w.endObject();
  }
  w.endObject();
  writeSchedule();
  if (!d.target.empty())
    w.field("target_", d.target);

  w.key("dscs_");
  w.beginArray();
  w.beginObject();
  w.key(d.opFunc);
  writeDsc();
  w.endObject();
  w.endArray();
  if (d.dataOps) {
    w.key("dataOpdscs_");
    w.beginArray();
    for (const std::string &text : *d.dataOps)
      w.raw(text);
    w.endArray();
  }
  w.endObject();
  w.endObject();
}

void DescriptorWriter::writeBundleFolds() {
  w.key("sdscFoldProps_");
  w.beginArray();
  for (const FoldProperty &property : d.folds.properties)
    writeFactor(property.factor, property.label);
  w.endArray();
  w.key("sdscFolds_");
  w.beginObject();
  writeFolds(d.folds.folds);
  w.key("data_");
  w.beginObject();
  for (const auto &[coordinate, value] : d.folds.data)
    w.field(coordinate, value);
  w.endObject();
  w.endObject();
}

void DescriptorWriter::writeSchedule() {
  static const std::vector<ScheduleStep> standard = {{-1, 0, 0, 0}};
  w.key("coreIdToDscSchedule");
  w.beginObject();
  for (size_t core = 0; core < static_cast<size_t>(d.numCores); ++core) {
    w.key(std::to_string(core));
    w.beginArray();
    for (const ScheduleStep &step : core < d.schedule.size() ? d.schedule[core] : standard) {
      w.beginArray();
      for (int64_t number : step)
        w.value(number);
      w.endArray();
    }
    w.endArray();
  }
  w.endObject();
}

/// The functions and attributes of \p folds, in an open object.
void DescriptorWriter::writeFolds(const std::vector<Fold> &folds) {
  w.key("dim_prop_func");
  w.beginArray();
  for (const Fold &fold : folds) {
    w.beginObject();
    w.key("Affine");
    w.beginObject();
    w.field("alpha_", fold.alpha);
    w.field("beta_", fold.beta);
    w.endObject();
    w.endObject();
  }
  w.endArray();
  w.key("dim_prop_attr");
  w.beginArray();
  for (const Fold &fold : folds)
    writeFactor(fold.factor, fold.label);
  w.endArray();
}

void DescriptorWriter::writeProvenance(const Provenance &p) {
  w.beginObject();
  w.field("id", p.id);
  w.key("source");
  if (p.file.empty()) {
    w.null();
  } else {
    w.beginObject();
    w.field("file", p.file);
    w.field("start_line", p.startLine);
    w.field("start_col", p.startCol);
    w.key("end_line");
    p.endLine ? w.value(*p.endLine) : w.null();
    w.key("end_col");
    p.endCol ? w.value(*p.endCol) : w.null();
    w.endObject();
  }
  w.key("aten_op");
  p.atenOp.empty() ? w.null() : w.value(p.atenOp);
  w.listField("ir_chain", p.irChain);
  w.key("fused_from");
  w.beginArray();
  for (const Provenance &fused : p.fusedFrom)
    writeProvenance(fused);
  w.endArray();
  w.key("transform_history");
  w.beginArray();
  for (const auto &[kind, passName, reason] : p.transformHistory) {
    w.beginObject();
    w.field("kind", kind);
    w.field("pass_name", passName);
    w.field("reason", reason);
    w.endObject();
  }
  w.endArray();
  w.endObject();
}

void DescriptorWriter::writeDsc() {
  w.beginObject();
  w.field("numCoresUsed_", d.numCores);
  w.field("numCoreletsUsed_", d.numCorelets);
  w.key("coreIdsUsed_");
  w.beginArray();
  for (int64_t core : d.coreIds)
    w.value(core);
  for (int64_t core = 0; d.coreIds.empty() && core < d.numCores; ++core)
    w.value(core);
  w.endArray();
  if (!d.operationTarget.empty())
    w.field("target_", d.operationTarget);

  w.key("N_");
  w.beginObject();
  w.field("name_", "n");
  for (const Dim &dim : d.dims)
    w.field(dim.name + "_", dim.isUnsized ? -1 : dim.size);
  if (!d.windows.empty())
    writeWindows(d.windows);
  w.endObject();
  w.key("coordinateMasking_");
  w.beginObject();
  for (size_t i = 0; i < d.masks.size();) {
    const std::string &dim = d.masks[i].dim;
    w.key(dim);
    w.beginArray();
    for (; i < d.masks.size() && d.masks[i].dim == dim; ++i) {
      w.beginArray();
      w.value(d.masks[i].firstInvalid);
      w.value(d.masks[i].count);
      w.endArray();
    }
    w.endArray();
  }
  w.endObject();
  w.field("maskingConstId_", d.maskConstant);
  if (!d.dimSymbols.empty())
    writeDimSymbols();
  w.key("dataStageParam_");
  w.beginObject();
  w.key("0");
  w.beginObject();
  writeStage("ss_", d.steadyStage, /*isEpilogue=*/false);
  writeStage("el_", d.epilogueStage, /*isEpilogue=*/true);
  w.endObject();
  w.endObject();

  w.key("primaryDsInfo_");
  w.beginObject();
  for (const LayoutClass &layout : d.layouts) {
    w.key(layout.label);
    w.beginObject();
    w.listField("layoutDimOrder_", layout.dimOrder);
    w.listField("stickDimOrder_", layout.stickDims);
    w.listField("stickSize_", layout.stickSizes);
    w.endObject();
  }
  w.endObject();
  w.key("scheduleTree_");
  w.beginArray();
  for (size_t i = 0; i < d.tensors.size(); ++i)
    writeNode(d.tensors[i], i);
  w.endArray();
  w.key("labeledDs_");
  w.beginArray();
  for (size_t i = 0; i < d.tensors.size(); ++i)
    writeLabeled(d.tensors[i], i);
  w.endArray();
  writeConstants();
  writeCompute();
  w.endObject();
}

void DescriptorWriter::writeStage(std::string_view name, const Stage &stage, bool isEpilogue) {
  w.key(name);
  w.beginObject();
  w.field("name_", "core");
  for (const Dim &dim : d.dims)
    w.field(dim.name + "_", dim.isUnsized ? -1
                            : isEpilogue  ? dim.epilogueSize.value_or(dim.coreSize)
                                          : dim.coreSize);
  bool all = options.form == Form::August2026;
  if (all || !stage.symbolicDims.empty())
    writeSymbolicDims(stage.symbolicDims);
  if (all)
    for (const char *field : {"maxSymbolicVolume_", "coreletSplit_", "rowSplit_", "peSfpSplit_"})
      if (!w.isReplaced(field))
        w.rawField(field, "{}");
  if (all || !stage.windows.empty())
    writeWindows(stage.windows);
  w.endObject();
}

void DescriptorWriter::writeSymbolicDims(const std::vector<SymbolicExtent> &extents) {
  w.key("symbolicDimInfo_");
  w.beginObject();
  for (const SymbolicExtent &extent : extents) {
    w.key(spellDim(extent.dim));
    w.beginObject();
    w.field("maxSize_", extent.maxSize);
    w.field("granularity_", extent.granularity);
    w.endObject();
  }
  w.endObject();
}

void DescriptorWriter::writeWindows(const std::vector<PaddedWindow> &windows) {
  w.key("paddingSizes_");
  w.beginObject();
  for (const PaddedWindow &window : windows) {
    w.key(spellDim(window.dim));
    w.beginObject();
    w.field("padFront_", window.padFront);
    w.field("padBack_", window.padBack);
    if (window.unneeded) {
      w.field("unneededPad_", (*window.unneeded)[0]);
      w.field("unneededPadFront_", (*window.unneeded)[1]);
      w.field("unneededPadBack_", (*window.unneeded)[2]);
    }
    w.key("totalSize_");
    window.totalSize ? w.value(*window.totalSize) : w.value("N/A");
    w.field("stride_", window.stride);
    w.field("dilation_", window.dilation);
    w.field("windowDim_", window.windowDim + (d.spelling.windowDimUnderscore ? "_" : ""));
    w.endObject();
  }
  w.endObject();
}

void DescriptorWriter::writeDimSymbols() {
  w.key("dimToSymbolMapping_");
  w.beginObject();
  for (const DimSymbols &entry : d.dimSymbols) {
    w.key(spellDim(entry.dim));
    w.beginArray();
    for (int64_t symbol : entry.symbols)
      d.spelling.symbolsAsText ? w.value(std::to_string(symbol)) : w.value(symbol);
    w.endArray();
  }
  w.endObject();
}

void DescriptorWriter::writeNode(const Tensor &tensor, size_t index) {
  const char *component = tensor.component == MemorySpace::LX ? "lx" : "hbm";
  w.beginObject();
  w.field("nodeType_", "allocate");
  w.field("name_", tensor.getAllocationName());
  w.field("prev_", "");
  w.field("ldsIdx_", index);
  w.field("component_", component);
  if (tensor.symbolicAddress)
    w.field("isStartAddrSymbolic_", 1);
  w.listField("layoutDimOrder_", tensor.dimOrder);
  w.listField("maxDimSizes_", tensor.maxDimSizes);
  switch (tensor.indirection) {
  case Indirection::None:
    w.field("indirectAllocType_", "no_indirection");
    break;
  case Indirection::IndexTensor:
    w.field("indirectAllocType_", "index_tensor");
    break;
  case Indirection::ValueTensor:
    w.field("indirectAllocType_", "value_tensor");
    break;
  }
  if (!tensor.relatedAllocation.empty())
    w.field("relatedIndirectAccessAlloc_", tensor.relatedAllocation);
  if (tensor.indirection == Indirection::IndexTensor)
    w.field("indexTensorType_", "index");

  w.key("startAddressCoreCorelet_");
  w.beginObject();
  writeCoreFolds(/*mapped=*/0, tensor.addressCorelets);
  w.key("data_");
  w.beginObject();
  assert(static_cast<int64_t>(tensor.startAddress.size()) == d.numCores && "an address a core");
  for (size_t core = 0; core < tensor.startAddress.size(); ++core)
    w.field("[" + std::to_string(core) + ", 0, 0]", std::to_string(tensor.startAddress[core]));
  w.endObject();
  w.endObject();
  if (!tensor.backGap.empty()) {
    w.key("backGapCore_");
    w.beginObject();
    for (const auto &[dim, gaps] : tensor.backGap) {
      w.key(dim);
      w.beginObject();
      // One entry stands for all cores; an LX gap is given a core, one core too.
      bool perCore = gaps.size() != 1 || tensor.component == MemorySpace::LX;
      for (size_t core = 0; core < gaps.size(); ++core)
        w.field(perCore ? std::to_string(core) : "-1", std::to_string(gaps[core]));
      w.endObject();
    }
    w.endObject();
  }
  writeCoordinates(tensor);
  w.endObject();
}

void DescriptorWriter::writeCoordinates(const Tensor &tensor) {
  w.key("coordinates_");
  w.beginObject();
  w.key("coordInfo");
  w.beginObject();
  for (const DimCoordinate &coordinate : tensor.coordinates) {
    w.key(coordinate.dim);
    w.beginObject();
    w.field("spatial", coordinate.spatial);
    w.field("temporal", coordinate.temporal);
    w.field("elemArr", coordinate.elemArr);
    w.field("padding", getPaddingName(coordinate.padding));
    w.key("folds");
    w.beginObject();
    writeFolds(coordinate.folds);
    w.endObject();
    w.endObject();
  }
  w.endObject();
  w.key("coreIdToWkSlice_");
  w.beginObject();
  for (size_t core = 0; core < tensor.coreToSlice.size(); ++core) {
    w.key(std::to_string(core));
    w.beginObject();
    for (const auto &[dim, slice] : tensor.coreToSlice[core])
      w.field(dim, slice);
    w.endObject();
  }
  w.endObject();
  w.endObject();
}

void DescriptorWriter::writeLabeled(const Tensor &tensor, size_t index) {
  w.beginObject();
  w.field("ldsIdx_", index);
  w.field("dsName_", tensor.name);
  w.field("dsType_", tensor.label);
  w.listField("scale_", tensor.scale);
  w.field("wordLength", tensor.wordLength);
  w.field("dataFormat_", getFormatName(tensor.format));
  w.key("memOrg_");
  w.beginObject();
  if (tensor.presentInHbm)
    writePresence("hbm");
  if (tensor.presentInLx)
    writePresence("lx");
  w.endObject();
  w.endObject();
}

void DescriptorWriter::writeConstants() {
  w.key("constantInfo_");
  if (d.constants.empty()) {
    // A string, not an object: docs/formats/superdsc-rules.md, section 6, fault 11.
    d.spelling.emptyConstantsAsObject ? w.raw("{}") : w.value("{}");
    return;
  }
  w.beginObject();
  for (size_t i = 0; i < d.constants.size(); ++i) {
    const Constant &constant = d.constants[i];
    w.key(std::to_string(i));
    w.beginObject();
    w.field("dataFormat_", getFormatName(constant.format));
    w.field("name_", constant.name);
    w.key("data_");
    w.beginObject();
    writeCoreFolds(/*mapped=*/2, constant.corelets);
    w.key("data_");
    w.beginObject();
    w.key("[0, 0, 0]");
    auto writeBits = [&] {
      d.spelling.constantsAsText ? w.value(std::to_string(constant.bits)) : w.value(constant.bits);
    };
    if (d.spelling.constantsWithoutList) {
      writeBits();
    } else {
      w.beginArray();
      writeBits();
      w.endArray();
    }
    w.endObject();
    w.endObject();
    w.endObject();
  }
  w.endObject();
}

void DescriptorWriter::writeCompute() {
  w.key("computeOp_");
  w.beginArray();
  w.beginObject();
  w.field("exUnit", d.executionUnit);
  w.field("opFuncName", d.opFunc);
  w.key("attributes_");
  w.beginObject();
  w.field("dataFormat_", getFormatName(d.format));
  w.field("fidelity_", d.fidelity);
  w.endObject();
  w.field("location", "Inner");
  writeRefs("inputLabeledDs", d.inputs);
  writeRefs("outputLabeledDs", d.outputs);
  if (!d.indexTensors.empty())
    writeRefs("indirectAccessIndexLabeledDs", d.indexTensors);
  w.endObject();
  w.endArray();
}

void writeDescriptor(const Descriptor &descriptor, std::ostream &os, const WriteOptions &options) {
  DescriptorWriter(descriptor, os, options).write();
}

} // namespace spyre::sdsc
