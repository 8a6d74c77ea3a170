//===- Version.cpp - The version that everything carries ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Version.h"

#include <cstdio>
#include <string_view>

const char *spyre::getVersion() { return SPYRE_VERSION; }

bool spyre::printVersionIfAsked(int argc, char **argv) {
  if (argc != 2 || std::string_view(argv[1]) != "--version")
    return false;
  std::string_view name = argv[0];
  name = name.substr(name.rfind('/') + 1); // npos + 1 is 0
  std::printf("%.*s %s\n", static_cast<int>(name.size()), name.data(), getVersion());
  return true;
}
