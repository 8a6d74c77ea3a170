//===- DescriptorJsonReader.cpp - sdsc_<i>.json to a descriptor -----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads both published forms. What the Descriptor does not hold is either
// constant in all known files (any other value is refused by name, because it
// would mean something that nothing here models), or kept in unknownFields.
// Field names and order: docs/formats/superdsc-rules.md, section 1.
//
//===----------------------------------------------------------------------===//

#include "DescriptorJsonReader.h"

#include "spyre/SuperDSC/Standard.h"

#include <algorithm>

namespace spyre::sdsc {

/// Objects of a stage that are empty in all known files.
static const char *const kStageObjects[] = {"maxSymbolicVolume_", "coreletSplit_", "rowSplit_",
                                            "peSfpSplit_"};

std::string DescriptorReader::readDimName(const Cursor &where, const std::string &name) {
  if (!d.findDim(name))
    where.fail("unknown dim \"" + name + "\": it is not in N_");
  return name;
}

std::string DescriptorReader::readSpelledDimName(const Cursor &where, const std::string &name) {
  if (!d.findDim(name) && !name.empty() && name.back() == '_') {
    d.spelling.dimUnderscore = true;
    return readDimName(where, name.substr(0, name.size() - 1));
  }
  return readDimName(where, name);
}

DataFormat DescriptorReader::readFormat(const Cursor &field) {
  std::string name = field.getString();
  std::optional<DataFormat> format = parseFormat(name);
  if (!format)
    field.fail("unknown data format \"" + name + "\"");
  return format.value_or(DataFormat::SEN169_FP16);
}

void DescriptorReader::read() {
  auto fields = root.fields();
  if (!root.isValid())
    return;
  for (auto &[key, cursor] : fields)
    if (key == "version" || key == "version_") {
      if (cursor.getInt(1) > kNewestVersion)
        cursor.fail("version " + std::to_string(cursor.getInt()) +
                    " is newer than this reader's, " + std::to_string(kNewestVersion));
      cursor.fail("the root has one field, \"<index>_<operation>\", and no version");
      return;
    }
  if (fields.size() != 1) {
    root.fail("the root has one field, \"<index>_<operation>\"; found " +
              std::to_string(fields.size()));
    return;
  }
  readRoot(fields[0].first, fields[0].second);
}

void DescriptorReader::readRoot(const std::string &key, const Cursor &body) {
  size_t underscore = key.find('_');
  std::optional<int64_t> index;
  if (underscore != std::string::npos)
    index = json::parseDecimal(std::string_view(key).substr(0, underscore));
  if (!index || *index < 0 || underscore + 1 == key.size() ||
      key != std::to_string(*index) + key.substr(underscore)) {
    body.fail("the root key is \"<index>_<operation>\", found \"" + key + "\"");
    return;
  }
  d.index = *index;
  d.opFunc = key.substr(underscore + 1);

  ObjectReader object(body, d);
  if (std::optional<Cursor> handle = object.find("debug_handle_")) {
    if (handle->isNull())
      object.keep(*handle);
    else
      readProvenance(*handle, d.provenance.emplace());
  }
  readBundleFolds(object.at("sdscFoldProps_"), object.at("sdscFolds_"));
  d.numCores = object.at("numCoresUsed_").getInt(1, kMaxCores);
  object.expect("coreFoldProp_",
                R"({"factor_":)" + std::to_string(d.numCores) + R"(,"label_":"core"})");
  d.corelets = readFoldProperty(object.at("coreletFoldProp_"));
  if (std::optional<Cursor> target = object.find("target_"))
    d.target = target->getString();
  if (std::optional<Cursor> dataOps = object.find("dataOpdscs_")) {
    d.dataOps.emplace();
    for (const Cursor &entry : dataOps->elements())
      if (entry.isValid())
        d.dataOps->push_back(entry.getNode()->dump());
  }
  forEachCore(object.at("coreIdToDsc_"), "", "",
              [](size_t, const Cursor &dsc) { dsc.getInt(0, 0); });
  readSchedule(object.at("coreIdToDscSchedule"));

  // The dims come from N_, which knows their order; the root's maps refer to them.
  std::vector<Cursor> dscs = object.at("dscs_").elements();
  Cursor list = object.at("dscs_");
  if (!list.isValid())
    return;
  if (dscs.empty() && d.dataOps && !d.dataOps->empty()) {
    list.fail("a descriptor of data operations (dataOpdscs_) alone is not supported");
    return;
  }
  if (dscs.size() != 1) {
    list.fail("expected one operation, found " + std::to_string(dscs.size()));
    return;
  }
  auto operations = dscs[0].fields();
  if (!dscs[0].isValid())
    return;
  if (operations.size() != 1 || operations[0].first != d.opFunc) {
    dscs[0].fail("expected one field \"" + d.opFunc + "\", as in the root key");
    return;
  }
  const Cursor &dsc = operations[0].second;
  Cursor slices = object.at("numWkSlicesPerDim_");
  for (auto &[name, size] : dsc.at("N_").fields()) {
    if (name == "name_" || name == "paddingSizes_" || name.size() < 2 || name.back() != '_')
      continue;
    Dim dim;
    dim.name = name.substr(0, name.size() - 1);
    // -1 is a symbolic dim, or one that the operation does not have at all.
    if (size.isNumber() && size.getNode()->is_number_integer() && size.getInt() == -1) {
      if (!slices.find(dim.name))
        continue;
      dim.isUnsized = true;
    } else {
      dim.size = size.getInt(1, kMaxSize);
    }
    d.dims.push_back(std::move(dim));
  }

  std::set<std::string> seen;
  for (auto &[name, count] : slices.fields())
    if (seen.insert(readDimName(count, name)).second)
      if (std::optional<unsigned> dim = d.findDim(name))
        d.dims[*dim].numSlices = count.getInt(1, kMaxCores);
  if (slices.isValid() && seen.size() != d.dims.size())
    slices.fail("expected the " + std::to_string(d.dims.size()) + " dims of N_");

  d.coreToSlice.assign(static_cast<size_t>(d.numCores), std::vector<int64_t>(d.dims.size(), 0));
  forEachCore(object.at("coreIdToWkSlice_"), "", "", [&](size_t core, const Cursor &entry) {
    auto dims = entry.fields();
    if (entry.isValid() && dims.size() != d.dims.size())
      entry.fail("expected the " + std::to_string(d.dims.size()) + " dims of N_");
    for (auto &[name, slice] : dims) {
      readDimName(slice, name);
      std::optional<unsigned> dim = d.findDim(name);
      if (!slice.isValid() || !dim)
        return;
      d.coreToSlice[core][*dim] = slice.getInt(0, d.dims[*dim].numSlices - 1);
      if (core == 0)
        d.coreOrder.push_back(*dim);
    }
  });
  readDsc(dsc);
}

FoldProperty DescriptorReader::readFoldProperty(const Cursor &property) {
  ObjectReader object(property, d);
  FoldProperty result;
  result.factor = object.at("factor_").getInt(1, kMaxSize);
  result.label = object.at("label_").getString();
  return result;
}

void DescriptorReader::readBundleFolds(const Cursor &properties, const Cursor &folds) {
  d.folds.properties.clear();
  for (const Cursor &property : properties.elements())
    d.folds.properties.push_back(readFoldProperty(property));
  ObjectReader object(folds, d);
  d.folds.folds.clear();
  Cursor functions = object.at("dim_prop_func"), attributes = object.at("dim_prop_attr");
  std::vector<Cursor> funcs = functions.elements(), attrs = attributes.elements();
  if (attributes.isValid() && attrs.size() != funcs.size())
    attributes.fail("expected as many as dim_prop_func has, " + std::to_string(funcs.size()));
  for (size_t i = 0; i < std::min(funcs.size(), attrs.size()); ++i)
    d.folds.folds.push_back(readFold(funcs[i], attrs[i]));
  d.folds.data.clear();
  for (auto &[coordinate, value] : object.at("data_").fields())
    d.folds.data.emplace_back(coordinate, value.getString());
}

void DescriptorReader::readSchedule(const Cursor &schedule) {
  static const std::vector<ScheduleStep> standard = {{-1, 0, 0, 0}};
  d.schedule.resize(static_cast<size_t>(d.numCores));
  bool isStandard = true;
  forEachCore(schedule, "", "", [&](size_t core, const Cursor &steps) {
    for (const Cursor &step : steps.elements()) {
      std::vector<int64_t> numbers = step.getInts();
      if (step.isValid() && numbers.size() != 4)
        step.fail("expected four numbers: data operation, operation, synchronisation before and "
                  "after");
      if (!step.isValid())
        return;
      d.schedule[core].push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
    }
    isStandard &= d.schedule[core] == standard;
  });
  if (isStandard)
    d.schedule.clear();
}

int64_t DescriptorReader::readCoreFolds(const Cursor &attributes) {
  std::vector<Cursor> entries = attributes.elements();
  if (attributes.isValid() && entries.size() != 3) {
    attributes.fail("expected three folds: core, corelet, time");
    return 1;
  }
  if (!attributes.isValid())
    return 1;
  entries[0].expect(R"({"factor_":)" + std::to_string(d.numCores) + R"(,"label_":"core"})");
  FoldProperty corelet = readFoldProperty(entries[1]);
  if (entries[1].isValid() && (corelet.label != "corelet" || corelet.factor > kMaxCores))
    entries[1].fail("expected the corelet fold");
  entries[2].expect(R"({"factor_":1,"label_":"time"})");
  return corelet.factor;
}

void DescriptorReader::readProvenance(const Cursor &handle, Provenance &provenance) {
  ObjectReader object(handle, d);
  provenance.id = object.at("id").getString();
  Cursor source = object.at("source");
  if (source.isValid() && !source.isNull()) {
    ObjectReader fields(source, d);
    provenance.file = fields.at("file").getString();
    provenance.startLine = fields.at("start_line").getInt();
    provenance.startCol = fields.at("start_col").getInt();
    Cursor endLine = fields.at("end_line"), endCol = fields.at("end_col");
    if (endLine.isValid() && !endLine.isNull())
      provenance.endLine = endLine.getInt();
    if (endCol.isValid() && !endCol.isNull())
      provenance.endCol = endCol.getInt();
  }
  Cursor atenOp = object.at("aten_op");
  if (!atenOp.isNull())
    provenance.atenOp = atenOp.getString();
  provenance.irChain = object.at("ir_chain").getStrings();
  // The parser limits the nesting, so the recursion ends.
  for (const Cursor &fused : object.at("fused_from").elements())
    readProvenance(fused, provenance.fusedFrom.emplace_back());
  for (const Cursor &step : object.at("transform_history").elements()) {
    ObjectReader fields(step, d);
    provenance.transformHistory.push_back({fields.at("kind").getString(),
                                           fields.at("pass_name").getString(),
                                           fields.at("reason").getString()});
  }
}

void DescriptorReader::readDsc(const Cursor &dsc) {
  ObjectReader object(dsc, d);
  object.at("numCoresUsed_").getInt(d.numCores, d.numCores);
  d.numCorelets = object.at("numCoreletsUsed_").getInt(1, kMaxCores);
  if (std::optional<Cursor> target = object.find("target_"))
    d.operationTarget = target->getString();
  d.coreIds = object.at("coreIdsUsed_").getInts();
  bool areStandard = static_cast<int64_t>(d.coreIds.size()) == d.numCores;
  for (size_t i = 0; i < d.coreIds.size(); ++i)
    areStandard &= d.coreIds[i] == static_cast<int64_t>(i);
  if (areStandard)
    d.coreIds.clear();

  {
    ObjectReader sizes(object.at("N_"), d);
    sizes.expect("name_", "\"n\"");
    for (const Dim &dim : d.dims)
      sizes.find(dim.name + "_");
    if (std::optional<Cursor> windows = sizes.find("paddingSizes_"))
      d.windows = readWindows(*windows);
  }
  if (std::optional<Cursor> mapping = object.find("dimToSymbolMapping_"))
    readDimSymbols(*mapping);
  for (auto &[name, ranges] : object.at("coordinateMasking_").fields())
    for (const Cursor &range : ranges.elements()) {
      std::vector<Cursor> bounds = range.elements();
      if (range.isValid() && bounds.size() != 2)
        range.fail("expected [first invalid element, count]");
      if (!range.isValid())
        return;
      d.masks.push_back({readDimName(ranges, name), bounds[0].getInt(0, kMaxSize),
                         bounds[1].getInt(0, kMaxSize)});
    }
  readStages(object.at("dataStageParam_"));
  readLayouts(object.at("primaryDsInfo_"));

  Cursor tree = object.at("scheduleTree_"), labeled = object.at("labeledDs_");
  std::vector<Cursor> nodes = tree.elements(), entries = labeled.elements();
  if (labeled.isValid() && nodes.size() != entries.size())
    labeled.fail("expected an entry for each of " + std::to_string(nodes.size()) +
                 " nodes of scheduleTree_, found " + std::to_string(entries.size()));
  for (size_t i = 0; i < std::min(nodes.size(), entries.size()); ++i)
    readTensor(nodes[i], entries[i], static_cast<unsigned>(i));

  readConstants(object.at("constantInfo_"));
  d.maskConstant =
      object.at("maskingConstId_")
          .getInt(-1, std::max<int64_t>(static_cast<int64_t>(d.constants.size()) - 1, -1));
  Cursor operations = object.at("computeOp_");
  std::vector<Cursor> computeOps = operations.elements();
  if (operations.isValid() && computeOps.size() != 1)
    operations.fail("expected one operation, found " + std::to_string(computeOps.size()));
  if (!computeOps.empty())
    readCompute(computeOps[0]);
}

void DescriptorReader::readStages(const Cursor &stages) {
  ObjectReader object(stages, d);
  ObjectReader stage(object.at("0"), d);
  readStage(stage.at("ss_"), /*isEpilogue=*/false);
  readStage(stage.at("el_"), /*isEpilogue=*/true);
  sizeSymbolicDims(stages);
}

void DescriptorReader::readStage(const Cursor &stage, bool isEpilogue) {
  ObjectReader object(stage, d);
  object.expect("name_", "\"core\"");
  for (Dim &dim : d.dims) {
    Cursor size = object.at(dim.name + "_");
    if (dim.isUnsized) {
      size.getInt(-1, -1);
      continue;
    }
    int64_t value = size.getInt(1, kMaxSize);
    if (!isEpilogue)
      dim.coreSize = value;
    else if (value != dim.coreSize)
      dim.epilogueSize = value;
  }
  Stage &result = isEpilogue ? d.epilogueStage : d.steadyStage;
  if (std::optional<Cursor> infos = object.find("symbolicDimInfo_"))
    for (auto &[dim, info] : infos->fields()) {
      ObjectReader fields(info, d);
      SymbolicExtent extent;
      extent.dim = readSpelledDimName(info, dim);
      extent.maxSize = fields.at("maxSize_").getInt(1, kMaxSize);
      extent.granularity = fields.at("granularity_").getInt(1, kMaxSize);
      result.symbolicDims.push_back(std::move(extent));
    }
  if (std::optional<Cursor> windows = object.find("paddingSizes_"))
    result.windows = readWindows(*windows);
  // Absent in the older form.
  for (const char *name : kStageObjects)
    if (std::optional<Cursor> field = object.find(name))
      if (!field->isObject() || !field->fields().empty())
        object.keep(*field);
}

/// Dims whose size the file leaves open get the largest that it allows.
void DescriptorReader::sizeSymbolicDims(const Cursor &stages) {
  for (Dim &dim : d.dims) {
    if (!dim.isUnsized)
      continue;
    auto extent =
        std::find_if(d.steadyStage.symbolicDims.begin(), d.steadyStage.symbolicDims.end(),
                     [&](const SymbolicExtent &candidate) { return candidate.dim == dim.name; });
    if (extent == d.steadyStage.symbolicDims.end()) {
      stages.fail("dim \"" + dim.name + "\" has the size -1, but no entry in symbolicDimInfo_");
      return;
    }
    dim.coreSize = extent->maxSize;
    // numSlices is limited too, so the product is far from overflow.
    dim.size = extent->maxSize * dim.numSlices;
  }
}

std::vector<PaddedWindow> DescriptorReader::readWindows(const Cursor &windows) {
  std::vector<PaddedWindow> result;
  for (auto &[dim, entry] : windows.fields()) {
    ObjectReader object(entry, d);
    PaddedWindow window;
    window.dim = readSpelledDimName(entry, dim);
    window.padFront = object.at("padFront_").getInt(-1, kMaxSize);
    window.padBack = object.at("padBack_").getInt(-1, kMaxSize);
    Cursor total = object.at("totalSize_");
    if (total.isString())
      total.expect("\"N/A\"");
    else
      window.totalSize = total.getInt(1, kMaxSize);
    window.stride = object.at("stride_").getInt(1, kMaxSize);
    window.dilation = object.at("dilation_").getInt(1, kMaxSize);
    window.windowDim = object.at("windowDim_").getString();
    if (window.windowDim.size() > 1 && window.windowDim.back() == '_') {
      d.spelling.windowDimUnderscore = true;
      window.windowDim.pop_back();
    }
    if (object.find("unneededPad_"))
      window.unneeded = {object.at("unneededPad_").getInt(0, kMaxSize),
                         object.at("unneededPadFront_").getInt(0, kMaxSize),
                         object.at("unneededPadBack_").getInt(0, kMaxSize)};
    result.push_back(std::move(window));
  }
  return result;
}

void DescriptorReader::readDimSymbols(const Cursor &mapping) {
  for (auto &[dim, symbols] : mapping.fields()) {
    DimSymbols entry;
    entry.dim = readSpelledDimName(symbols, dim);
    for (const Cursor &symbol : symbols.elements()) {
      d.spelling.symbolsAsText |= symbol.isString();
      entry.symbols.push_back(symbol.getIntOrDecimalString());
    }
    d.dimSymbols.push_back(std::move(entry));
  }
}

std::variant<Descriptor, ReadError> readDescriptor(std::string_view text,
                                                   const std::string &fileName) {
  auto report = [&](const json::Error &error) {
    std::string prefix = fileName.empty() ? "" : fileName + ": ";
    return ReadError{error.where, prefix + error.message};
  };
  auto parsed = json::parse(text);
  if (auto *error = std::get_if<json::Error>(&parsed))
    return report(*error);
  std::optional<json::Error> error;
  Descriptor descriptor;
  DescriptorReader(Cursor(std::get<json::Document>(parsed), error), descriptor).read();
  if (error)
    return report(*error);
  return descriptor;
}

/// \p pointer with "*" for places in lists, cores and the operation's name.
static std::string generalise(const std::string &pointer, const std::string &opFunc) {
  std::string result;
  for (size_t begin = 0; begin < pointer.size();) {
    size_t end = std::min(pointer.find('/', begin + 1), pointer.size());
    std::string segment = pointer.substr(begin + 1, end - begin - 1);
    bool isPlace = segment == opFunc || json::parseDecimal(segment).has_value();
    result += '/';
    result += isPlace ? "*" : segment;
    begin = end;
  }
  return result;
}

void UnknownFields::add(const Descriptor &descriptor, const std::string &fileName) {
  std::set<std::string> own;
  for (const auto &[pointer, text] : descriptor.unknownFields)
    own.insert(generalise(pointer, descriptor.opFunc));
  for (const std::string &field : own) {
    Seen &seen = fields[field];
    if (seen.numFiles++ == 0)
      seen.firstFile = fileName;
  }
}

std::vector<std::string> UnknownFields::getMessages() const {
  // A file may hold any number of them; nobody reads more.
  constexpr size_t most = 100;
  std::vector<std::string> messages;
  for (const auto &[field, seen] : fields) {
    if (messages.size() == most) {
      messages.push_back(std::to_string(fields.size() - most) +
                         " more unknown fields are kept as they are");
      break;
    }
    std::string where = seen.firstFile;
    if (seen.numFiles > 1)
      where += " and " + std::to_string(seen.numFiles - 1) + " more file" +
               (seen.numFiles > 2 ? "s" : "");
    messages.push_back("unknown field " + field + " of " + where + " is kept as it is");
  }
  return messages;
}

} // namespace spyre::sdsc
