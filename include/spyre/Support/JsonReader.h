//===- JsonReader.h - Reading JSON with exact errors ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cursor over a parsed JSON document for readers of file formats. The first
// error is kept, with its JSON pointer; after it every access yields a harmless
// default, so that a reader is straight-line code without a branch a field.
// Nothing throws, and the nesting depth is limited, so hostile files are safe.
// MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_JSONREADER_H
#define SPYRE_SUPPORT_JSONREADER_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spyre::json {

using Document = nlohmann::ordered_json;

/// What is wrong, and where: a JSON pointer, or "line:column" of a syntax error.
struct Error {
  std::string where;
  std::string message;
};

/// Parses \p text. Errors: syntax, invalid UTF-8, nesting deeper than 64.
std::variant<Document, Error> parse(std::string_view text);

/// One place in a document. Invalid after an error; then every accessor
/// returns a default.
class Cursor {
public:
  /// The root of \p document; errors go to \p sink (the first one stays).
  Cursor(const Document &document, std::optional<Error> &sink);

  bool isValid() const { return node != nullptr && !sink->has_value(); }
  /// The JSON pointer of this place; "" for the root. The first call reads the document.
  std::string getPointer() const;
  const Document *getNode() const { return node; }

  /// Records \p message as this place's error unless there is one already.
  void fail(std::string message) const;

  bool isObject() const { return isValid() && node->is_object(); }
  bool isArray() const { return isValid() && node->is_array(); }
  bool isString() const { return isValid() && node->is_string(); }
  bool isNull() const { return isValid() && node->is_null(); }
  bool isNumber() const { return isValid() && node->is_number(); }

  /// The field \p key, an error if this is no object or lacks it.
  Cursor at(std::string_view key) const;
  /// The field \p key, or nothing.
  std::optional<Cursor> find(std::string_view key) const;
  /// All fields in file order; an error if this is no object.
  std::vector<std::pair<std::string, Cursor>> fields() const;
  /// All elements; an error if this is no array.
  std::vector<Cursor> elements() const;

  int64_t getInt(int64_t min = std::numeric_limits<int64_t>::min(),
                 int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// An integer, or a decimal integer in a string.
  int64_t getIntOrDecimalString() const;
  bool getBool() const;
  double getDouble() const;
  std::string getString() const;
  std::vector<std::string> getStrings() const;
  std::vector<int64_t> getInts() const;

  /// An error unless this equals the JSON text \p expected.
  void expect(std::string_view expected) const;

private:
  struct Places;

  Cursor(const Document *node, const Cursor &from)
      : node(node), sink(from.sink), places(from.places) {}
  const char *typeName() const;

  const Document *node;
  std::optional<Error> *sink;
  std::shared_ptr<Places> places; ///< of all cursors of the document
};

/// Appends \p segment to the JSON pointer \p pointer, with the escapes of RFC 6901.
std::string appendPointer(std::string_view pointer, std::string_view segment);

/// Parses a decimal integer that fills all of \p text.
std::optional<int64_t> parseDecimal(std::string_view text);

} // namespace spyre::json

#endif // SPYRE_SUPPORT_JSONREADER_H
