//===- DescriptorJsonReader.h - The reader of descriptor files --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State of reading one file, shared by its two halves: DescriptorJsonReader.cpp
// reads what is about the whole operation, DescriptorJsonReaderTensors.cpp its
// layout classes, tensors, constants and the compute operation.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_SUPERDSC_DESCRIPTORJSONREADER_H
#define SPYRE_LIB_SUPERDSC_DESCRIPTORJSONREADER_H

#include "spyre/SuperDSC/DescriptorJson.h"

#include "spyre/Support/JsonReader.h"

#include <set>

namespace spyre::sdsc {

using json::Cursor;

/// Extents and sizes: products of two of them still fit 64 bits.
inline constexpr int64_t kMaxSize = int64_t(1) << 40;
inline constexpr int64_t kMaxCores = 4096;
inline constexpr int64_t kNewestVersion = 1;

/// Reads the fields of one object and keeps account of which are known.
class ObjectReader {
public:
  ObjectReader(Cursor object, Descriptor &descriptor) : object(object), descriptor(descriptor) {}
  /// Unknown fields go to the descriptor on destruction.
  ~ObjectReader() {
    if (!object.isObject() || object.getNode()->size() == known.size())
      return;
    for (auto &[name, cursor] : object.fields())
      if (!known.count(name))
        keep(cursor);
  }
  ObjectReader(const ObjectReader &) = delete;
  ObjectReader &operator=(const ObjectReader &) = delete;

  Cursor at(const std::string &name) {
    known.insert(name);
    return object.at(name);
  }
  std::optional<Cursor> find(const std::string &name) {
    std::optional<Cursor> field = object.find(name);
    if (field)
      known.insert(name);
    return field;
  }
  void expect(const std::string &name, std::string_view value) { at(name).expect(value); }
  void keep(const Cursor &field) {
    // The first pointer segment is the root key.
    if (!field.isValid())
      return;
    std::string pointer = field.getPointer();
    size_t slash = pointer.find('/', 1);
    if (slash != std::string::npos)
      descriptor.unknownFields[pointer.substr(slash)] = field.getNode()->dump();
  }

private:
  Cursor object;
  Descriptor &descriptor;
  std::set<std::string> known;
};

class DescriptorReader {
public:
  DescriptorReader(Cursor root, Descriptor &descriptor) : root(root), d(descriptor) {}
  void read();

private:
  void readRoot(const std::string &key, const Cursor &body);
  void readProvenance(const Cursor &handle, Provenance &provenance);
  void readDsc(const Cursor &dsc);
  void readStages(const Cursor &stages);
  void readStage(const Cursor &stage, bool isEpilogue);
  void sizeSymbolicDims(const Cursor &stages);
  std::vector<PaddedWindow> readWindows(const Cursor &windows);
  void readDimSymbols(const Cursor &mapping);
  void readBundleFolds(const Cursor &properties, const Cursor &folds);
  void readSchedule(const Cursor &schedule);
  FoldProperty readFoldProperty(const Cursor &property);
  /// The attributes of per-core data; returns the factor of the corelet fold.
  int64_t readCoreFolds(const Cursor &attributes);
  void readLayouts(const Cursor &infos);
  void readTensor(const Cursor &node, const Cursor &labeled, unsigned position);
  void readAddresses(const Cursor &addresses, Tensor &tensor);
  void readBackGap(const Cursor &gaps, Tensor &tensor);
  void readCoordinates(const Cursor &coordinates, Tensor &tensor);
  void readFolds(const Cursor &folds, DimCoordinate &coordinate);
  Fold readFold(const Cursor &function, const Cursor &attribute);
  void readConstants(const Cursor &constants);
  void readCompute(const Cursor &compute);
  std::vector<unsigned> readTensorRefs(const Cursor &list);

  /// The name of a dim, an error if the operation has none of that name.
  std::string readDimName(const Cursor &where, const std::string &name);
  /// The same where a file may add an underscore to the name.
  std::string readSpelledDimName(const Cursor &where, const std::string &name);
  DataFormat readFormat(const Cursor &field);
  /// Calls \p entry with (core, cursor) for the keys of \p object, which must be
  /// the cores 0..P-1 in any order, spelled prefix + core + suffix.
  template <typename Fn>
  void forEachCore(const Cursor &object, const std::string &prefix, const std::string &suffix,
                   Fn entry);

  Cursor root;
  Descriptor &d;
};

template <typename Fn>
void DescriptorReader::forEachCore(const Cursor &object, const std::string &prefix,
                                   const std::string &suffix, Fn entry) {
  auto fields = object.fields();
  if (object.isValid() && static_cast<int64_t>(fields.size()) != d.numCores) {
    object.fail("expected an entry for each of " + std::to_string(d.numCores) + " cores, found " +
                std::to_string(fields.size()));
    return;
  }
  for (auto &[key, cursor] : fields) {
    std::optional<int64_t> core;
    if (key.size() > prefix.size() + suffix.size() && key.compare(0, prefix.size(), prefix) == 0 &&
        key.compare(key.size() - suffix.size(), suffix.size(), suffix) == 0)
      core = json::parseDecimal(
          std::string_view(key).substr(prefix.size(), key.size() - prefix.size() - suffix.size()));
    // As many distinct keys as cores, all in range: each core occurs once.
    if (!core || *core < 0 || *core >= d.numCores ||
        key != prefix + std::to_string(*core) + suffix) {
      object.fail("\"" + key + "\" is no core of 0.." + std::to_string(d.numCores - 1));
      return;
    }
    entry(static_cast<size_t>(*core), cursor);
  }
}

} // namespace spyre::sdsc

#endif // SPYRE_LIB_SUPERDSC_DESCRIPTORJSONREADER_H
