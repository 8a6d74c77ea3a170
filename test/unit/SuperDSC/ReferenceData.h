//===- ReferenceData.h - Finding the reference data in tests ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the reference data is (SPYRE_TEST_DATA, else test/data of the source
// tree) and its descriptors as texts, for the tests of SuperDSC.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_SUPERDSC_REFERENCEDATA_H
#define SPYRE_TEST_UNIT_SUPERDSC_REFERENCEDATA_H

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace test {

inline std::filesystem::path getDataDir() {
  const char *dir = std::getenv("SPYRE_TEST_DATA");
  return dir ? std::filesystem::path(dir) : std::filesystem::path(SPYRE_SOURCE_DIR) / "test/data";
}

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// random_ops.json.gz: a list of {"case", "sdsc", "bundle"}.
inline nlohmann::ordered_json loadRandomOps() {
  std::string text;
  std::string path = (getDataDir() / "superdsc/random_ops.json.gz").string();
  if (gzFile file = gzopen(path.c_str(), "rb")) {
    std::vector<char> chunk(1 << 16);
    for (int n; (n = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0;)
      text.append(chunk.data(), static_cast<size_t>(n));
    gzclose(file);
  }
  return nlohmann::ordered_json::parse(text);
}

/// All folders below superdsc/ that hold a bundle.mlir, sorted.
inline std::vector<std::filesystem::path> getBundleDirs() {
  std::vector<std::filesystem::path> dirs;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(getDataDir() / "superdsc"))
    if (entry.path().filename() == "bundle.mlir")
      dirs.push_back(entry.path().parent_path());
  std::sort(dirs.begin(), dirs.end());
  return dirs;
}

/// Whether a case (its case.json, or the entry of random_ops) has an output with one
/// of the reference front end's mistakes; bundles have no case.json.
inline bool isFaulty(const nlohmann::ordered_json &caseJson) {
  return caseJson.is_object() && caseJson.contains("faults") && !caseJson["faults"].empty();
}
inline nlohmann::ordered_json loadCaseJson(const std::filesystem::path &dir) {
  std::filesystem::path file = dir / "case.json";
  return std::filesystem::exists(file) ? nlohmann::ordered_json::parse(readFile(file))
                                       : nlohmann::ordered_json();
}

/// (name, text) of every descriptor of the reference data.
inline std::vector<std::pair<std::string, std::string>> getAllDescriptors() {
  std::vector<std::pair<std::string, std::string>> result;
  for (const std::filesystem::path &dir : getBundleDirs())
    for (const auto &entry : std::filesystem::directory_iterator(dir)) {
      std::string name = entry.path().filename().string();
      if (name.rfind("sdsc_", 0) == 0 && name != "sdsc_spec.json")
        result.emplace_back(entry.path().string(), readFile(entry.path()));
    }
  nlohmann::ordered_json operations = loadRandomOps();
  for (size_t i = 0; i < operations.size(); ++i)
    result.emplace_back("random_ops " + std::to_string(i), operations[i]["sdsc"].dump());
  return result;
}

} // namespace test

#endif // SPYRE_TEST_UNIT_SUPERDSC_REFERENCEDATA_H
