//===- DescriptorJsonWriter.cpp - A descriptor to sdsc_<i>.json -----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the fields in the reference's order, token by token.
// Source of names and order: SuperDSC reference, sections 1 and 8.
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
  void writeStage(std::string_view name);
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
  void writePresence(std::string_view memory) {
    w.key(memory);
    w.beginObject();
    w.field("isPresent", 1);
    w.endObject();
  }
  /// The three folds of per-core data; the \p mapped one is a map, others constant.
  void writeCoreFolds(int mapped) {
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
    writeFactor(1, "corelet");
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
  w.key("sdscFoldProps_");
  w.beginArray();
  writeFactor(1, "time");
  w.endArray();
  w.key("sdscFolds_");
  w.beginObject();
  w.key("dim_prop_func");
  w.beginArray();
  w.beginObject();
  w.key("Affine");
  w.beginObject();
  w.field("alpha_", 1);
  w.field("beta_", 0);
  w.endObject();
  w.endObject();
  w.endArray();
  w.key("dim_prop_attr");
  w.beginArray();
  writeFactor(1, "time");
  w.endArray();
  w.key("data_");
  w.beginObject();
  w.field("[0]", "0");
  w.endObject();
  w.endObject();
  w.key("coreFoldProp_");
  writeFactor(d.numCores, "core");
  w.key("coreletFoldProp_");
  writeFactor(1, "corelet");
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
  w.key("coreIdToDscSchedule");
  w.beginObject();
  for (int64_t core = 0; core < d.numCores; ++core) {
    w.key(std::to_string(core));
    w.beginArray();
    w.beginArray();
    for (int entry : {-1, 0, 0, 0})
      w.value(entry);
    w.endArray();
    w.endArray();
  }
  w.endObject();

  w.key("dscs_");
  w.beginArray();
  w.beginObject();
  w.key(d.opFunc);
  writeDsc();
  w.endObject();
  w.endArray();
  w.endObject();
  w.endObject();
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
  w.field("numCoreletsUsed_", 1);
  w.key("coreIdsUsed_");
  w.beginArray();
  for (int64_t core = 0; core < d.numCores; ++core)
    w.value(core);
  w.endArray();

  w.key("N_");
  w.beginObject();
  w.field("name_", "n");
  for (const Dim &dim : d.dims)
    w.field(dim.name + "_", dim.size);
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
  w.key("dataStageParam_");
  w.beginObject();
  w.key("0");
  w.beginObject();
  writeStage("ss_");
  writeStage("el_");
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

void DescriptorWriter::writeStage(std::string_view name) {
  w.key(name);
  w.beginObject();
  w.field("name_", "core");
  for (const Dim &dim : d.dims)
    w.field(dim.name + "_", dim.coreSize);
  if (options.form == Form::August2026)
    for (const char *field : {"symbolicDimInfo_", "maxSymbolicVolume_", "coreletSplit_",
                              "rowSplit_", "peSfpSplit_", "paddingSizes_"})
      if (!w.isReplaced(field))
        w.rawField(field, "{}");
  w.endObject();
}

void DescriptorWriter::writeNode(const Tensor &tensor, size_t index) {
  const char *component = tensor.component == Component::LX ? "lx" : "hbm";
  w.beginObject();
  w.field("nodeType_", "allocate");
  if (!w.isReplaced("name_"))
    w.field("name_", "allocate-" + tensor.name + "_" + component);
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
  writeCoreFolds(/*mapped=*/0);
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
      bool perCore = gaps.size() != 1 || tensor.component == Component::LX;
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
    w.field("padding", coordinate.padding);
    w.key("folds");
    w.beginObject();
    w.key("dim_prop_func");
    w.beginArray();
    for (const Fold &fold : coordinate.folds) {
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
    for (const Fold &fold : coordinate.folds)
      writeFactor(fold.factor, fold.label);
    w.endArray();
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
    // A string, not an object: reference, section 6, number 11.
    w.value("{}");
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
    writeCoreFolds(/*mapped=*/2);
    w.key("data_");
    w.beginObject();
    w.key("[0, 0, 0]");
    w.beginArray();
    w.value(constant.bits);
    w.endArray();
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
