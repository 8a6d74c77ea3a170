//===- JsonReader.cpp - Reading JSON with exact errors --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/JsonReader.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace spyre::json {

/// Deep enough for every format of this project, shallow enough for recursion.
static constexpr int kMaxDepth = 64;

/// Line:column of the first bracket that nests too deep, or empty.
static std::string findTooDeep(std::string_view text) {
  int depth = 0;
  int64_t line = 1, column = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    ++column;
    if (c == '\n') {
      ++line;
      column = 0;
    }
    if (inString) {
      if (c == '\\') {
        ++i;
        ++column;
      } else if (c == '"') {
        inString = false;
      }
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth)
        return std::to_string(line) + ":" + std::to_string(column);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return {};
}

/// Splits the library's "[json.exception…] parse error at line 1, column 5: …".
static Error toError(const std::string &what) {
  Error error;
  size_t line = what.find("at line ");
  size_t comma = line == std::string::npos ? line : what.find(", column ", line);
  size_t colon = comma == std::string::npos ? comma : what.find(": ", comma);
  if (colon == std::string::npos) {
    size_t bracket = what.find("] ");
    error.message = bracket == std::string::npos ? what : what.substr(bracket + 2);
    return error;
  }
  error.where =
      what.substr(line + 8, comma - line - 8) + ":" + what.substr(comma + 9, colon - comma - 9);
  error.message = what.substr(colon + 2);
  return error;
}

namespace {

/// Builds the document. The library's own builder looks every key up in its object's
/// list, which takes hours for an object of a million fields.
class Builder : public nlohmann::json_sax<Document> {
public:
  Document root;
  std::optional<Error> error;
  bool isTooDeep = false;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &) override { return false; } // not in JSON texts
  bool key(string_t &name) override {
    pendingKey = std::move(name);
    return true;
  }
  bool start_object(size_t) override {
    if (!open(Document::value_t::object))
      return false;
    // Growing copies the names: they are const in the library's list.
    Document::object_t::Container &fields = containers.back()->get_ref<Document::object_t &>();
    fields.reserve(kUsualFields);
    return true;
  }
  bool start_array(size_t) override { return open(Document::value_t::array); }
  bool end_array() override {
    containers.pop_back();
    return true;
  }
  bool end_object() override {
    names.clear();
    for (const auto &[name, value] : containers.back()->get_ref<const Document::object_t &>())
      names.push_back(name);
    std::sort(names.begin(), names.end());
    auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
      error = Error{getPointer(), "field \"" + std::string(*twice) + "\" occurs twice"};
      return false;
    }
    containers.pop_back();
    return true;
  }
  bool parse_error(size_t, const std::string &, const Document::exception &exception) override {
    error = toError(exception.what());
    // A number beyond every double; the library says no place for it.
    if (error->where.empty() && !containers.empty() && containers.back()->is_object())
      error->where = appendPointer(containers.size() == 1 ? "" : getPointer(), pendingKey);
    return false;
  }

private:
  Document *insert(Document value) {
    if (containers.empty())
      return &(root = std::move(value));
    Document &parent = *containers.back();
    if (parent.is_array()) {
      auto &elements = parent.get_ref<Document::array_t &>();
      return &elements.emplace_back(std::move(value));
    }
    Document::object_t::Container &fields = parent.get_ref<Document::object_t &>();
    return &fields.emplace_back(std::move(pendingKey), std::move(value)).second;
  }
  bool add(Document value) {
    insert(std::move(value));
    return true;
  }
  /// The containers stay where they are while they are open: only the innermost grows.
  bool open(Document container) {
    isTooDeep = containers.size() == kMaxDepth;
    if (isTooDeep)
      return false;
    containers.push_back(insert(std::move(container)));
    return true;
  }
  /// Of the innermost open container.
  std::string getPointer() const {
    std::string pointer;
    for (size_t i = 0; i + 1 < containers.size(); ++i) {
      const Document &parent = *containers[i];
      pointer = appendPointer(
          pointer, parent.is_array() ? std::to_string(parent.size() - 1)
                                     : parent.get_ref<const Document::object_t &>().back().first);
    }
    return pointer.empty() ? "/" : pointer;
  }

  static constexpr size_t kUsualFields = 8;

  std::vector<Document *> containers;
  std::vector<std::string_view> names; ///< of the object that ends
  std::string pendingKey;
};

} // namespace

std::variant<Document, Error> parse(std::string_view text) {
  try {
    Builder builder;
    if (Document::sax_parse(text.begin(), text.end(), &builder))
      return std::move(builder.root);
    if (builder.isTooDeep)
      return Error{findTooDeep(text),
                   "nested deeper than " + std::to_string(kMaxDepth) + " levels"};
    return builder.error.value_or(Error{"", "not a JSON text"});
  } catch (const std::exception &exception) {
    return toError(exception.what());
  }
}

std::string appendPointer(std::string_view pointer, std::string_view segment) {
  std::string result(pointer);
  result += '/';
  for (char c : segment) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += c;
  }
  return result;
}

std::optional<int64_t> parseDecimal(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// Where the values of a document are. Few readers ever ask, so it is found out at the
/// first question, for all of them at once: a file may have a million unknown fields.
struct Cursor::Places {
  struct Place {
    const Document *parent;
    std::string_view name; ///< in an object
    size_t index;          ///< in a list
  };

  explicit Places(const Document &root) : root(root) {}

  void add(const Document &parent) {
    size_t index = 0;
    if (parent.is_object())
      for (const auto &[name, value] : parent.get_ref<const Document::object_t &>())
        addChild(value, {&parent, name, index++});
    else if (parent.is_array())
      for (const Document &value : parent)
        addChild(value, {&parent, {}, index++});
  }
  void addChild(const Document &value, Place place) {
    known.emplace(&value, place);
    add(value);
  }

  std::string getPointer(const Document *node) {
    if (known.empty())
      add(root);
    std::vector<const Place *> path;
    for (auto it = known.find(node); it != known.end(); it = known.find(it->second.parent))
      path.push_back(&it->second);
    std::string pointer;
    for (auto place = path.rbegin(); place != path.rend(); ++place)
      pointer =
          appendPointer(pointer, (*place)->parent->is_object() ? std::string((*place)->name)
                                                               : std::to_string((*place)->index));
    return pointer;
  }

  const Document &root;
  std::unordered_map<const Document *, Place> known;
};

Cursor::Cursor(const Document &document, std::optional<Error> &sink)
    : node(&document), sink(&sink), places(std::make_shared<Places>(document)) {}

std::string Cursor::getPointer() const { return node ? places->getPointer(node) : std::string(); }

void Cursor::fail(std::string message) const {
  if (!node || sink->has_value())
    return;
  std::string pointer = getPointer();
  *sink = Error{pointer.empty() ? "/" : pointer, std::move(message)};
}

const char *Cursor::typeName() const {
  switch (node->type()) {
  case Document::value_t::null:
    return "null";
  case Document::value_t::object:
    return "an object";
  case Document::value_t::array:
    return "a list";
  case Document::value_t::string:
    return "a string";
  case Document::value_t::boolean:
    return "a boolean";
  case Document::value_t::number_integer:
  case Document::value_t::number_unsigned:
    return "an integer";
  case Document::value_t::number_float:
    return "a number with a fraction or beyond 64 bits";
  default:
    return "something else";
  }
}

Cursor Cursor::at(std::string_view key) const {
  if (!isValid())
    return Cursor(nullptr, *this);
  if (!node->is_object()) {
    fail(std::string("expected an object, found ") + typeName());
    return Cursor(nullptr, *this);
  }
  auto it = node->find(key);
  if (it == node->end()) {
    fail("missing field \"" + std::string(key) + "\"");
    return Cursor(nullptr, *this);
  }
  return Cursor(&*it, *this);
}

std::optional<Cursor> Cursor::find(std::string_view key) const {
  if (!isValid() || !node->is_object())
    return std::nullopt;
  auto it = node->find(key);
  if (it == node->end())
    return std::nullopt;
  return Cursor(&*it, *this);
}

std::vector<std::pair<std::string, Cursor>> Cursor::fields() const {
  std::vector<std::pair<std::string, Cursor>> result;
  if (!isValid())
    return result;
  if (!node->is_object()) {
    fail(std::string("expected an object, found ") + typeName());
    return result;
  }
  result.reserve(node->size());
  for (auto it = node->begin(); it != node->end(); ++it)
    result.emplace_back(it.key(), Cursor(&it.value(), *this));
  return result;
}

std::vector<Cursor> Cursor::elements() const {
  std::vector<Cursor> result;
  if (!isValid())
    return result;
  if (!node->is_array()) {
    fail(std::string("expected a list, found ") + typeName());
    return result;
  }
  result.reserve(node->size());
  for (const Document &element : *node)
    result.push_back(Cursor(&element, *this));
  return result;
}

int64_t Cursor::getInt(int64_t min, int64_t max) const {
  if (!isValid())
    return 0;
  int64_t value = 0;
  if (node->is_number_unsigned()) {
    uint64_t raw = node->get<uint64_t>();
    if (raw > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail("integer out of range: " + std::to_string(raw));
      return 0;
    }
    value = static_cast<int64_t>(raw);
  } else if (node->is_number_integer()) {
    value = node->get<int64_t>();
  } else {
    fail(std::string("expected an integer, found ") + typeName());
    return 0;
  }
  if (value < min || value > max) {
    fail("integer out of range: " + std::to_string(value) + " is not in [" + std::to_string(min) +
         ", " + std::to_string(max) + "]");
    return 0;
  }
  return value;
}

int64_t Cursor::getIntOrDecimalString() const {
  if (!isString())
    return getInt();
  std::string text = getString();
  if (std::optional<int64_t> value = parseDecimal(text))
    return *value;
  fail("expected a decimal integer in the string, found \"" + text + "\"");
  return 0;
}

bool Cursor::getBool() const {
  if (!isValid())
    return false;
  if (!node->is_boolean()) {
    fail(std::string("expected a boolean, found ") + typeName());
    return false;
  }
  return node->get<bool>();
}

double Cursor::getDouble() const {
  if (!isValid())
    return 0;
  if (!node->is_number()) {
    fail(std::string("expected a number, found ") + typeName());
    return 0;
  }
  return node->get<double>();
}

std::string Cursor::getString() const {
  if (!isValid())
    return {};
  if (!node->is_string()) {
    fail(std::string("expected a string, found ") + typeName());
    return {};
  }
  return node->get_ref<const std::string &>();
}

std::vector<std::string> Cursor::getStrings() const {
  std::vector<std::string> result;
  for (const Cursor &element : elements())
    result.push_back(element.getString());
  return result;
}

std::vector<int64_t> Cursor::getInts() const {
  std::vector<int64_t> result;
  for (const Cursor &element : elements())
    result.push_back(element.getInt());
  return result;
}

void Cursor::expect(std::string_view expected) const {
  if (!isValid())
    return;
  // Nearly always the same text; comparing that is much cheaper than parsing.
  if (node->is_string()
          ? expected.size() == node->get_ref<const std::string &>().size() + 2 &&
                expected.substr(1, expected.size() - 2) == node->get_ref<const std::string &>()
          : node->dump() == expected)
    return;
  // Only ever called with a reader's own text; ordered objects are compared as
  // unordered ones.
  nlohmann::json want = nlohmann::json::parse(expected, nullptr, false);
  nlohmann::json have = nlohmann::json::parse(node->dump(), nullptr, false);
  if (want != have) {
    std::string found = node->dump();
    if (found.size() > 80)
      found = found.substr(0, 77) + "...";
    fail("unsupported value " + found + ", only " + std::string(expected) + " is");
  }
}

} // namespace spyre::json
