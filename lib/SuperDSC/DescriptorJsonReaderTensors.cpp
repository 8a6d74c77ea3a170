//===- DescriptorJsonReaderTensors.cpp - Tensors of a descriptor file -----===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// primaryDsInfo_, scheduleTree_ with labeledDs_, constantInfo_ and computeOp_.
// Field names and order: docs/formats/superdsc-rules.md, section 1.
//
//===----------------------------------------------------------------------===//

#include "DescriptorJsonReader.h"

#include "spyre/SuperDSC/Standard.h"

#include <algorithm>

namespace spyre::sdsc {

void DescriptorReader::readLayouts(const Cursor &infos) {
  for (auto &[label, info] : infos.fields()) {
    ObjectReader object(info, d);
    LayoutClass layout;
    layout.label = label;
    Cursor order = object.at("layoutDimOrder_"), sticks = object.at("stickDimOrder_");
    layout.dimOrder = order.getStrings();
    for (const std::string &dim : layout.dimOrder)
      readDimName(order, dim);
    layout.stickDims = sticks.getStrings();
    for (const std::string &dim : layout.stickDims)
      readDimName(sticks, dim);
    Cursor sizes = object.at("stickSize_");
    for (const Cursor &size : sizes.elements())
      layout.stickSizes.push_back(size.getInt(1, kMaxSize));
    if (sizes.isValid() && layout.stickSizes.size() != layout.stickDims.size())
      sizes.fail("expected a size for each of " + std::to_string(layout.stickDims.size()) +
                 " stick dims");
    d.layouts.push_back(std::move(layout));
  }
}

void DescriptorReader::readTensor(const Cursor &node, const Cursor &labeled, unsigned position) {
  Tensor tensor;
  const LayoutClass *layout = nullptr;
  {
    ObjectReader object(labeled, d);
    object.at("ldsIdx_").getInt(position, position);
    tensor.name = object.at("dsName_").getString();
    Cursor label = object.at("dsType_");
    tensor.label = label.getString();
    for (const LayoutClass &candidate : d.layouts)
      if (candidate.label == tensor.label)
        layout = &candidate;
    if (!layout)
      label.fail("unknown layout class \"" + tensor.label + "\": it is not in primaryDsInfo_");
    Cursor scale = object.at("scale_");
    for (const Cursor &element : scale.elements())
      tensor.scale.push_back(element.getInt(-2, 1));
    if (scale.isValid() && layout && tensor.scale.size() != layout->dimOrder.size())
      scale.fail("expected a scale for each of " + std::to_string(layout->dimOrder.size()) +
                 " dims of layout class \"" + tensor.label + "\"");
    tensor.wordLength = object.at("wordLength").getInt(1, 64);
    tensor.format = readFormat(object.at("dataFormat_"));
    tensor.presentInHbm = tensor.presentInLx = false;
    for (auto &[memory, presence] : object.at("memOrg_").fields()) {
      presence.expect(R"({"isPresent":1})");
      if (memory == "hbm")
        tensor.presentInHbm = true;
      else if (memory == "lx")
        tensor.presentInLx = true;
      else
        presence.fail("unknown memory \"" + memory + "\"");
    }
  }

  ObjectReader object(node, d);
  object.expect("nodeType_", "\"allocate\"");
  object.expect("prev_", "\"\"");
  object.at("ldsIdx_").getInt(position, position);
  Cursor component = object.at("component_");
  std::string where = component.getString();
  if (where == "lx")
    tensor.component = MemorySpace::LX;
  else if (where != "hbm")
    component.fail("unknown component \"" + where + "\"");
  std::string name = object.at("name_").getString();
  if (name != tensor.getAllocationName())
    tensor.unusualAllocationName = name;
  if (std::optional<Cursor> symbolic = object.find("isStartAddrSymbolic_")) {
    tensor.symbolicAddress = symbolic->getInt(0, 1) == 1;
    if (!tensor.symbolicAddress)
      object.keep(*symbolic);
  }
  Cursor order = object.at("layoutDimOrder_");
  tensor.dimOrder = order.getStrings();
  for (const std::string &dim : tensor.dimOrder)
    readDimName(order, dim);
  Cursor maxSizes = object.at("maxDimSizes_");
  for (const Cursor &size : maxSizes.elements())
    tensor.maxDimSizes.push_back(size.getInt(-1, kMaxSize));
  if (maxSizes.isValid() && tensor.maxDimSizes.size() != tensor.dimOrder.size())
    maxSizes.fail("expected an entry for each of " + std::to_string(tensor.dimOrder.size()) +
                  " dims");

  Cursor indirection = object.at("indirectAllocType_");
  std::string kind = indirection.getString();
  if (kind == "index_tensor")
    tensor.indirection = Indirection::IndexTensor;
  else if (kind == "value_tensor")
    tensor.indirection = Indirection::ValueTensor;
  else if (kind != "no_indirection")
    indirection.fail("unknown indirection \"" + kind + "\"");
  if (std::optional<Cursor> partner = object.find("relatedIndirectAccessAlloc_"))
    tensor.relatedAllocation = partner->getString();
  if (tensor.indirection == Indirection::IndexTensor)
    object.expect("indexTensorType_", "\"index\"");

  readAddresses(object.at("startAddressCoreCorelet_"), tensor);
  if (std::optional<Cursor> gaps = object.find("backGapCore_"))
    readBackGap(*gaps, tensor);
  readCoordinates(object.at("coordinates_"), tensor);
  d.tensors.push_back(std::move(tensor));
}

void DescriptorReader::readAddresses(const Cursor &addresses, Tensor &tensor) {
  ObjectReader object(addresses, d);
  object.expect("dim_prop_func", R"([{"Map":{}},{"Const":{}},{"Const":{}}])");
  tensor.addressCorelets = readCoreFolds(object.at("dim_prop_attr"));
  tensor.startAddress.assign(static_cast<size_t>(d.numCores), 0);
  forEachCore(object.at("data_"), "[", ", 0, 0]", [&](size_t core, const Cursor &address) {
    tensor.startAddress[core] = address.getIntOrDecimalString();
  });
}

void DescriptorReader::readBackGap(const Cursor &gaps, Tensor &tensor) {
  auto checked = [](const Cursor &gap) {
    int64_t value = gap.getIntOrDecimalString();
    if (value < -kMaxSize || value > kMaxSize)
      gap.fail("gap out of range");
    return value;
  };
  for (auto &[dim, entries] : gaps.fields()) {
    std::vector<int64_t> values;
    if (entries.isObject() && entries.find("-1")) {
      if (entries.fields().size() != 1)
        entries.fail("expected one gap for all cores (\"-1\") or one a core");
      values.push_back(checked(*entries.find("-1")));
    } else {
      values.assign(static_cast<size_t>(d.numCores), 0);
      forEachCore(entries, "", "",
                  [&](size_t core, const Cursor &gap) { values[core] = checked(gap); });
    }
    tensor.backGap.emplace_back(readDimName(entries, dim), std::move(values));
  }
}

void DescriptorReader::readCoordinates(const Cursor &coordinates, Tensor &tensor) {
  ObjectReader object(coordinates, d);
  for (auto &[dim, info] : object.at("coordInfo").fields()) {
    ObjectReader fields(info, d);
    DimCoordinate coordinate;
    coordinate.dim = readDimName(info, dim);
    coordinate.spatial = fields.at("spatial").getInt(0, 16);
    coordinate.temporal = fields.at("temporal").getInt(0, 16);
    coordinate.elemArr = fields.at("elemArr").getInt(0, 16);
    Cursor padding = fields.at("padding");
    std::string kind = padding.getString();
    std::optional<PaddingKind> parsed = parsePaddingKind(kind);
    if (!parsed)
      padding.fail("unknown padding kind \"" + kind + "\"");
    coordinate.padding = parsed.value_or(PaddingKind::NoPad);
    readFolds(fields.at("folds"), coordinate);
    tensor.coordinates.push_back(std::move(coordinate));
  }
  Cursor slices = object.at("coreIdToWkSlice_");
  if (!slices.isObject() || slices.fields().empty()) {
    slices.fields();
    return;
  }
  tensor.coreToSlice.resize(static_cast<size_t>(d.numCores));
  forEachCore(slices, "", "", [&](size_t core, const Cursor &entry) {
    for (auto &[dim, slice] : entry.fields())
      tensor.coreToSlice[core].emplace_back(readDimName(slice, dim), slice.getInt(0, kMaxCores));
  });
}

void DescriptorReader::readFolds(const Cursor &folds, DimCoordinate &coordinate) {
  ObjectReader object(folds, d);
  Cursor functions = object.at("dim_prop_func"), attributes = object.at("dim_prop_attr");
  std::vector<Cursor> funcs = functions.elements(), attrs = attributes.elements();
  size_t expected = static_cast<size_t>(coordinate.elemArr) + 3;
  if (functions.isValid() && funcs.size() != expected)
    functions.fail("expected " + std::to_string(expected) + " folds (elemArr + 3), found " +
                   std::to_string(funcs.size()));
  if (attributes.isValid() && attrs.size() != expected)
    attributes.fail("expected " + std::to_string(expected) + " folds (elemArr + 3), found " +
                    std::to_string(attrs.size()));
  for (size_t i = 0; i < std::min(funcs.size(), attrs.size()); ++i)
    coordinate.folds.push_back(readFold(funcs[i], attrs[i]));
}

Fold DescriptorReader::readFold(const Cursor &function, const Cursor &attribute) {
  Fold fold;
  ObjectReader func(function, d);
  ObjectReader affine(func.at("Affine"), d);
  fold.alpha = affine.at("alpha_").getInt(-kMaxSize, kMaxSize);
  fold.beta = affine.at("beta_").getInt(-kMaxSize, kMaxSize);
  ObjectReader attr(attribute, d);
  fold.label = attr.at("label_").getString();
  // No whole stick where all that there is is a part of one (an index tensor of less than
  // 32 indices a core).
  fold.factor = attr.at("factor_").getInt(fold.label == "elem_arr_1" ? 0 : 1, kMaxSize);
  return fold;
}

void DescriptorReader::readConstants(const Cursor &constants) {
  constexpr int64_t kMaxBits = 0xFFFFFFFFll;
  // "{}" as a string is what the reference writes when there are none.
  if (constants.isString()) {
    constants.expect("\"{}\"");
    return;
  }
  auto entries = constants.fields();
  d.spelling.emptyConstantsAsObject = entries.empty();
  for (size_t i = 0; i < entries.size(); ++i) {
    const Cursor &entry = entries[i].second;
    if (entries[i].first != std::to_string(i))
      entry.fail("constants are numbered from \"0\" upwards");
    ObjectReader object(entry, d);
    Constant constant;
    constant.format = readFormat(object.at("dataFormat_"));
    constant.name = object.at("name_").getString();
    ObjectReader data(object.at("data_"), d);
    data.expect("dim_prop_func", R"([{"Const":{}},{"Const":{}},{"Map":{}}])");
    constant.corelets = readCoreFolds(data.at("dim_prop_attr"));
    Cursor map = data.at("data_");
    if (map.isObject() && map.fields().size() != 1)
      map.fail("expected one entry \"[0, 0, 0]\"");
    Cursor bits = map.at("[0, 0, 0]");
    // A list of a number, a list of a decimal text (the newer form), or that text alone.
    bool isAlone = bits.isString();
    std::vector<Cursor> values = isAlone ? std::vector<Cursor>{bits} : bits.elements();
    if (bits.isValid() && values.size() != 1)
      bits.fail("expected one value");
    if (!values.empty()) {
      bool isText = values[0].isString();
      if (i > 0 &&
          (isText != d.spelling.constantsAsText || isAlone != d.spelling.constantsWithoutList))
        bits.fail("constants of one descriptor are spelled in one way");
      d.spelling.constantsAsText = isText;
      d.spelling.constantsWithoutList = isAlone;
      int64_t value = isText ? values[0].getIntOrDecimalString() : values[0].getInt(0, kMaxBits);
      if (value < 0 || value > kMaxBits)
        values[0].fail("expected the 32 bits of a constant as a number from 0 to " +
                       std::to_string(kMaxBits));
      else
        constant.bits = static_cast<uint32_t>(value);
    }
    d.constants.push_back(std::move(constant));
  }
}

std::vector<unsigned> DescriptorReader::readTensorRefs(const Cursor &list) {
  std::vector<unsigned> result;
  for (const Cursor &entry : list.elements()) {
    std::string text = entry.getString();
    size_t suffix = text.rfind("-idx");
    std::optional<int64_t> index;
    if (suffix != std::string::npos)
      index = json::parseDecimal(std::string_view(text).substr(suffix + 4));
    if (!index || *index < 0 || *index >= static_cast<int64_t>(d.tensors.size()) ||
        text != d.tensors[static_cast<size_t>(*index)].name + "-idx" + std::to_string(*index)) {
      entry.fail("\"" + text + "\" names no entry of labeledDs_ (\"<dsName_>-idx<ldsIdx_>\")");
      return result;
    }
    result.push_back(static_cast<unsigned>(*index));
  }
  return result;
}

void DescriptorReader::readCompute(const Cursor &compute) {
  ObjectReader object(compute, d);
  d.executionUnit = object.at("exUnit").getString();
  Cursor name = object.at("opFuncName");
  if (name.isValid() && name.getString() != d.opFunc)
    name.fail("\"" + name.getString() + "\" differs from the root key's \"" + d.opFunc + "\"");
  {
    ObjectReader attributes(object.at("attributes_"), d);
    d.format = readFormat(attributes.at("dataFormat_"));
    d.fidelity = attributes.at("fidelity_").getString();
  }
  object.expect("location", "\"Inner\"");
  d.inputs = readTensorRefs(object.at("inputLabeledDs"));
  d.outputs = readTensorRefs(object.at("outputLabeledDs"));
  if (std::optional<Cursor> indices = object.find("indirectAccessIndexLabeledDs"))
    d.indexTensors = readTensorRefs(*indices);
}

} // namespace spyre::sdsc
