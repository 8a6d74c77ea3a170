//===- JsonWriter.h - Writing JSON as a stream ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes JSON token by token without a document in memory: compact, or indented
// by two. Additional fields (JSON pointer -> JSON text) can be woven in, which
// is how readers' unknown fields survive. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_JSONWRITER_H
#define SPYRE_SUPPORT_JSONWRITER_H

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spyre::json {

class Writer {
public:
  using ExtraFields = std::map<std::string, std::string>;

  /// \p extra: fields to add at the end of the object that their JSON pointer
  /// names. Pointers are relative to the place where pointers start, see
  /// setPointerRoot.
  Writer(std::ostream &os, bool pretty, const ExtraFields *extra = nullptr);
  ~Writer();
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  void beginObject() { open('{'); }
  void endObject();
  void beginArray() { open('['); }
  void endArray() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char *text) { value(std::string_view(text)); }
  void value(const std::string &text) { value(std::string_view(text)); }
  void value(bool truth) { scalar(truth ? "true" : "false"); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void value(T number) {
    scalar(std::to_string(number));
  }
  /// Shortest text that reads back as \p number; an infinity or NaN as a string.
  void value(double number);
  void null() { scalar("null"); }
  /// Text that is JSON already.
  void raw(std::string_view json) { scalar(json); }

  template <typename T> void field(std::string_view name, const T &content) {
    key(name);
    value(content);
  }
  void rawField(std::string_view name, std::string_view json) {
    key(name);
    raw(json);
  }
  template <typename List> void listField(std::string_view name, const List &list) {
    key(name);
    beginArray();
    for (const auto &element : list)
      value(element);
    endArray();
  }

  /// The innermost open object is where the extra fields' pointers start.
  void setPointerRoot();
  /// True if an extra field replaces the field \p name of the open object.
  bool isReplaced(std::string_view name) const;

private:
  struct Level {
    bool isArray = false;
    int64_t count = 0;
    size_t pointerLength = 0; ///< of the enclosing level
  };

  void open(char bracket);
  void close(char bracket);
  void separate();
  void scalar(std::string_view text);
  void newLine();
  void flush();

  std::ostream &os;
  bool pretty;
  const ExtraFields *extra;
  bool hasPointerRoot = false;
  size_t rootDepth = 0; ///< number of open levels when the pointer root was set
  bool afterKey = false;
  std::vector<Level> levels;
  std::string pendingKey; ///< last key written, the next container's segment
  std::string pointer;    ///< of the innermost open container, if extra is used
  std::string buffer;
};

/// \p text as a JSON string with quotes; bytes that are not UTF-8 become U+FFFD.
std::string quote(std::string_view text);

} // namespace spyre::json

#endif // SPYRE_SUPPORT_JSONWRITER_H
