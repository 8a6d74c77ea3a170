//===- Descriptor.cpp - Fuzzer of sdsc_<i>.json --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes as a descriptor: an error, or a descriptor that is verified, written in both
// forms, and read again with the same content.
//
//===----------------------------------------------------------------------===//

#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/SuperDSC/Verify.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace spyre::sdsc;

static std::string write(const Descriptor &descriptor, Form form) {
  std::ostringstream os;
  WriteOptions options;
  options.form = form;
  writeDescriptor(descriptor, os, options);
  return os.str();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto result = readDescriptor({reinterpret_cast<const char *>(data), size}, "input");
  const auto *descriptor = std::get_if<Descriptor>(&result);
  if (!descriptor)
    return 0;
  (void)verifyDescriptor(*descriptor);
  for (Form form : {Form::June2026, Form::August2026}) {
    std::string text = write(*descriptor, form);
    auto again = readDescriptor(text, "output");
    const auto *same = std::get_if<Descriptor>(&again);
    if (!same || write(*same, form) != text) {
      std::cerr << "the descriptor does not survive its file:\n" << text << "\n";
      if (const auto *error = std::get_if<ReadError>(&again))
        std::cerr << error->where << ": " << error->message << "\n";
      std::abort();
    }
  }
  return 0;
}
