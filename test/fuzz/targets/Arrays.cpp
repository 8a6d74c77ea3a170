//===- Arrays.cpp - Fuzzer of .npz and .npy files ------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes as an archive or an array: an error, or arrays that are written and read again
// the same. Compressed members must not unpack to more than the reader's limit.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Npz.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>

using namespace spyre::npz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  auto archive = parseNpz(bytes);
  if (auto *arrays = std::get_if<Archive>(&archive)) {
    std::erase_if(*arrays, [](const auto &member) { return member.second.type == "?"; });
    std::string text = serializeNpz(*arrays);
    auto again = parseNpz(text);
    if (!std::get_if<Archive>(&again) || serializeNpz(std::get<Archive>(again)) != text) {
      std::cerr << "the archive does not survive its file\n";
      std::abort();
    }
  }
  auto array = parseNpy(bytes);
  if (const auto *one = std::get_if<Array>(&array)) {
    std::string text = serializeNpy(*one);
    auto again = parseNpy(text);
    if (!std::get_if<Array>(&again) || serializeNpy(std::get<Array>(again)) != text) {
      std::cerr << "the array does not survive its file\n";
      std::abort();
    }
  }
  return 0;
}
