//===- JsonWriter.cpp - Writing JSON as a stream --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/JsonWriter.h"

#include "spyre/Support/JsonReader.h"

#include <cassert>
#include <charconv>
#include <cmath>
#include <ostream>

namespace spyre::json {

/// Bytes of the UTF-8 sequence at the start of \p text, 0 if it is invalid.
static size_t getSequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xC2 && first < 0xE0 ? 2
                  : (first & 0xF0) == 0xE0        ? 3
                  : first >= 0xF0 && first < 0xF5 ? 4
                                                  : 0;
  if (length == 0 || length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  // Overlong forms, surrogates, and values beyond U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90))
    return 0;
  return length;
}

std::string quote(std::string_view text) {
  static const char *digits = "0123456789abcdef";
  std::string result = "\"";
  for (size_t i = 0; i < text.size();) {
    unsigned char c = text[i];
    size_t length = getSequenceLength(text.substr(i));
    if (length == 0) {
      result += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    if (length == 1 && (c < 0x20 || c == 0x7F)) {
      result += "\\u00";
      result += digits[c >> 4];
      result += digits[c & 15];
    } else {
      if (c == '"' || c == '\\')
        result += '\\';
      result.append(text.substr(i, length));
    }
    i += length;
  }
  result += '"';
  return result;
}

Writer::Writer(std::ostream &os, bool pretty, const ExtraFields *extra)
    : os(os), pretty(pretty), extra(extra && !extra->empty() ? extra : nullptr) {}

Writer::~Writer() {
  assert(levels.empty() && "unclosed object or list");
  flush();
}

void Writer::flush() {
  os.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  buffer.clear();
}

void Writer::newLine() {
  if (!pretty)
    return;
  buffer += '\n';
  buffer.append(2 * levels.size(), ' ');
}

void Writer::separate() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (levels.empty())
    return;
  if (levels.back().count++ > 0)
    buffer += ',';
  newLine();
}

void Writer::key(std::string_view name) {
  assert(!levels.empty() && !levels.back().isArray && !afterKey && "key outside an object");
  separate();
  buffer += quote(name);
  buffer += pretty ? ": " : ":";
  afterKey = true;
  if (extra)
    pendingKey = name;
}

void Writer::scalar(std::string_view text) {
  separate();
  buffer += text;
  if (buffer.size() > (1u << 16))
    flush();
}

void Writer::value(std::string_view text) { scalar(quote(text)); }

void Writer::value(double number) {
  if (!std::isfinite(number)) {
    value(std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
    return;
  }
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof text, number);
  assert(error == std::errc() && "32 characters hold every double");
  scalar(std::string_view(text, static_cast<size_t>(end - text)));
}

void Writer::open(char bracket) {
  bool inArray = !levels.empty() && levels.back().isArray;
  separate();
  buffer += bracket;
  Level level;
  level.isArray = bracket == '[';
  level.pointerLength = pointer.size();
  if (hasPointerRoot)
    pointer =
        appendPointer(pointer, inArray ? std::to_string(levels.back().count - 1) : pendingKey);
  levels.push_back(level);
}

void Writer::setPointerRoot() {
  hasPointerRoot = extra != nullptr;
  rootDepth = levels.size();
  pointer.clear();
}

bool Writer::isReplaced(std::string_view name) const {
  return hasPointerRoot && extra->count(appendPointer(pointer, name));
}

void Writer::endObject() {
  if (hasPointerRoot) {
    std::string prefix = pointer + "/";
    for (auto it = extra->lower_bound(prefix); it != extra->end(); ++it) {
      if (it->first.compare(0, prefix.size(), prefix) != 0)
        break;
      std::string segment = it->first.substr(prefix.size());
      if (segment.find('/') != std::string::npos)
        continue;
      // Undo the pointer's escapes, "~1" before "~0".
      for (auto [from, to] : {std::pair<const char *, char>{"~1", '/'}, {"~0", '~'}})
        for (size_t at = 0; (at = segment.find(from, at)) != std::string::npos; ++at)
          segment.replace(at, 2, 1, to);
      key(segment);
      raw(it->second);
    }
  }
  close('}');
}

void Writer::close(char bracket) {
  assert(!levels.empty() && levels.back().isArray == (bracket == ']') && "unbalanced brackets");
  Level level = levels.back();
  levels.pop_back();
  if (level.count > 0)
    newLine();
  buffer += bracket;
  if (levels.size() < rootDepth)
    hasPointerRoot = false;
  if (hasPointerRoot)
    pointer.resize(std::min(level.pointerLength, pointer.size()));
  if (buffer.size() > (1u << 16))
    flush();
}

} // namespace spyre::json
