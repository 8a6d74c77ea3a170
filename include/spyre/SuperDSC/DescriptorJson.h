//===- DescriptorJson.h - Reading and writing sdsc_<i>.json -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file form of a descriptor. Both published forms are read; the writer
// streams, it never builds a DOM. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPERDSC_DESCRIPTORJSON_H
#define SPYRE_SUPERDSC_DESCRIPTORJSON_H

#include "spyre/SuperDSC/Descriptor.h"

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre::sdsc {

/// Published forms of the file (docs/formats/superdsc-rules.md, section 8).
enum class Form { June2026, August2026 };

struct WriteOptions {
  Form form = Form::August2026;
  bool pretty = false;    ///< indent by 2, as the reference front end does
  bool provenance = true; ///< write debug_handle_ if the descriptor has one (newer form only)
  /// Of bundle.mlir: the body makes the pool (`device_mem_allocate`), no parameter passes it.
  bool poolInBody = false;
};

/// What is wrong with a file, and where: a JSON pointer, or line and column for
/// a syntax error.
struct ReadError {
  std::string where;
  std::string message;
};

/// Parses \p text. \p fileName only appears in messages.
/// Errors: syntax, a missing or mistyped field, a tensor that names an unknown
/// layout class or dim, a number out of range, a newer version. Never throws.
std::variant<Descriptor, ReadError> readDescriptor(std::string_view text,
                                                   const std::string &fileName);

/// The unknown fields of many descriptors, so that a caller reports each once.
class UnknownFields {
public:
  void add(const Descriptor &descriptor, const std::string &fileName);
  bool empty() const { return fields.empty(); }
  /// One message a field, such as "unknown field /dscs_/*/*/extra_ of sdsc_0.json and
  /// 3 more files is kept as it is"; places in lists and the operation's name are "*".
  std::vector<std::string> getMessages() const;

private:
  struct Seen {
    std::string firstFile;
    int64_t numFiles = 0;
  };
  std::map<std::string, Seen> fields;
};

/// Writes \p descriptor to \p os. Precondition: the descriptor is consistent in
/// its counts (an entry a core, scales and coordinates in the label's order), as
/// the reader and the emission make it. Whether it was written completely is for
/// the caller to see in the stream's state.
void writeDescriptor(const Descriptor &descriptor, std::ostream &os, const WriteOptions &options);

} // namespace spyre::sdsc

#endif // SPYRE_SUPERDSC_DESCRIPTORJSON_H
