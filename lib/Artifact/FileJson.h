//===- FileJson.h - What all of the runtime's files share -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Versions, sizes and the reading frame of plan.json, launch_spec.json and
// program.json. Private to lib/Artifact.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_ARTIFACT_FILEJSON_H
#define SPYRE_LIB_ARTIFACT_FILEJSON_H

#include "spyre/Artifact/Plan.h"
#include "spyre/Support/JsonReader.h"

namespace spyre::artifact {

/// Refuses what is newer than \p newest; older versions do not exist yet.
inline void checkVersion(const json::Cursor &root, int64_t newest) {
  json::Cursor version = root.at("version");
  int64_t value = version.getInt(1);
  if (version.isValid() && value > newest)
    version.fail("version " + std::to_string(value) + " is newer than the newest that this build " +
                 "reads, " + std::to_string(newest));
}

template <typename T, typename Fn>
std::variant<T, FileError> readDocument(std::string_view text, Fn read) {
  auto parsed = json::parse(text);
  if (auto *error = std::get_if<json::Error>(&parsed))
    return FileError{error->where, error->message};
  std::optional<json::Error> error;
  T result;
  read(json::Cursor(std::get<json::Document>(parsed), error), result);
  if (error)
    return FileError{error->where, error->message};
  return result;
}

/// A list of sizes, each at least \p min, with a product of at most 2^48.
inline std::vector<int64_t> readSizes(const json::Cursor &field, int64_t min) {
  std::vector<int64_t> sizes;
  int64_t product = 1;
  for (const json::Cursor &element : field.elements()) {
    int64_t size = element.getInt(min, kMaxSize);
    sizes.push_back(size);
    if (size > 0 && product > kMaxSize / size)
      field.fail("too large: more than 2^48 elements");
    else if (size > 0)
      product *= size;
  }
  return sizes;
}

} // namespace spyre::artifact

#endif // SPYRE_LIB_ARTIFACT_FILEJSON_H
