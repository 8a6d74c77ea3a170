//===- Npz.cpp - Reading and writing NumPy's .npy and .npz ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header of .npy is a Python dictionary in one fixed form, so a few searches
// replace a parser. Of zip only what NumPy writes is read: members stored or
// deflated, found through the central directory, 64-bit sizes included.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Npz.h"

#include "spyre/Support/AtomicDirectory.h"
#include "spyre/Support/ReadFile.h"

#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <ostream>

using namespace spyre;
using namespace spyre::npz;

namespace {

constexpr int64_t kMaxBytes = int64_t(1) << 40;

template <typename T> T readLE(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= T(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return value;
}

template <typename T> void appendLE(std::string &out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<char>((uint64_t(value) >> (8 * i)) & 0xff));
}

/// The text after 'key': in a .npy header, or nothing.
std::optional<std::string_view> findValue(std::string_view header, std::string_view key) {
  std::string quoted = "'" + std::string(key) + "':";
  size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    return std::nullopt;
  header.remove_prefix(at + quoted.size());
  while (!header.empty() && header.front() == ' ')
    header.remove_prefix(1);
  return header;
}

/// Swaps \p data from column-major to row-major order.
std::vector<uint8_t> toRowMajor(const uint8_t *data, const std::vector<int64_t> &shape,
                                int64_t width, int64_t count) {
  std::vector<uint8_t> out(count * width);
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<int64_t> stride(shape.size(), 1);
  for (size_t d = 1; d < shape.size(); ++d)
    stride[d] = stride[d - 1] * shape[d - 1];
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      from += index[d] * stride[d];
    std::memcpy(&out[i * width], data + from * width, width);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return out;
}

std::variant<std::string, Error> inflateMember(std::string_view bytes, uint64_t size) {
  // Deflate cannot expand more than about 1032 times.
  if (size > bytes.size() * 1100 + 1024 || size > uint64_t(kMaxBytes))
    return Error{"a member claims an impossible size"};
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return Error{"zlib cannot start"};
  size_t in = 0, done = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    constexpr size_t kChunk = size_t(1) << 30;
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data() + in));
    stream.avail_in = static_cast<uInt>(std::min(kChunk, bytes.size() - in));
    stream.next_out = reinterpret_cast<Bytef *>(out.data() + done);
    stream.avail_out = static_cast<uInt>(std::min(kChunk, out.size() - done));
    uInt hadIn = stream.avail_in, hadOut = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    in += hadIn - stream.avail_in;
    done += hadOut - stream.avail_out;
    if (status == Z_OK && hadIn == stream.avail_in && hadOut == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || done != size)
    return Error{"a compressed member is damaged"};
  return out;
}

std::optional<Error> writeFile(const std::string &file, const std::string &bytes) {
  auto content = [&](std::ostream &os) {
    os.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  if (auto message = writeFileAtomically(file, content))
    return Error{*message};
  return std::nullopt;
}

std::variant<std::string, Error> readBytes(const std::string &file) {
  auto bytes = readFile(file);
  if (auto *failure = std::get_if<ReadFailure>(&bytes))
    return Error{failure->message};
  return std::move(std::get<std::string>(bytes));
}

uint32_t checksum(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size();) {
    size_t n = std::min<size_t>(bytes.size() - at, size_t(1) << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef *>(bytes.data() + at), static_cast<uInt>(n));
    at += n;
  }
  return static_cast<uint32_t>(crc);
}

struct Member {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t compressed = 0, size = 0, offset = 0;
};

/// The central directory's entry at \p at; advances \p at past it.
std::optional<Member> readEntry(std::string_view bytes, size_t &at) {
  if (at + 46 > bytes.size() || readLE<uint32_t>(bytes, at) != 0x02014b50)
    return std::nullopt;
  Member member;
  member.method = readLE<uint16_t>(bytes, at + 10);
  member.crc = readLE<uint32_t>(bytes, at + 16);
  member.compressed = readLE<uint32_t>(bytes, at + 20);
  member.size = readLE<uint32_t>(bytes, at + 24);
  member.offset = readLE<uint32_t>(bytes, at + 42);
  size_t nameSize = readLE<uint16_t>(bytes, at + 28), extraSize = readLE<uint16_t>(bytes, at + 30);
  size_t commentSize = readLE<uint16_t>(bytes, at + 32);
  // A name gets ".npy" when it is written, and its size has 16 bits.
  constexpr size_t kLongestName = 4096;
  if (nameSize > kLongestName || at + 46 + nameSize + extraSize + commentSize > bytes.size())
    return std::nullopt;
  member.name = bytes.substr(at + 46, nameSize);
  std::string_view extra = bytes.substr(at + 46 + nameSize, extraSize);
  while (extra.size() >= 4) {
    size_t id = readLE<uint16_t>(extra, 0), length = readLE<uint16_t>(extra, 2);
    if (4 + length > extra.size())
      break;
    if (id == 1) {
      size_t field = 4;
      for (uint64_t *value : {&member.size, &member.compressed, &member.offset})
        if (*value == 0xffffffffu && field + 8 <= 4 + length) {
          *value = readLE<uint64_t>(extra, field);
          field += 8;
        }
    }
    extra.remove_prefix(4 + length);
  }
  at += 46 + nameSize + extraSize + commentSize;
  return member;
}

} // namespace

int64_t spyre::npz::getWidthInBytes(std::string_view type) {
  for (std::string_view known :
       {"b1", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "c8", "c16"})
    if (type == known)
      return std::stoll(std::string(type.substr(1)));
  return 0;
}

std::variant<Array, Error> spyre::npz::parseNpy(std::string_view bytes) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY")
    return Error{"not a .npy file"};
  int major = static_cast<uint8_t>(bytes[6]);
  size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start || major < 1 || major > 3)
    return Error{"unknown .npy version"};
  size_t length = major == 1 ? readLE<uint16_t>(bytes, 8) : readLE<uint32_t>(bytes, 8);
  if (start + length > bytes.size())
    return Error{"truncated .npy header"};
  std::string_view header = bytes.substr(start, length);
  auto descr = findValue(header, "descr"), order = findValue(header, "fortran_order"),
       shape = findValue(header, "shape");
  if (!descr || !order || !shape || descr->size() < 4 || (*descr)[0] != '\'' || (*shape)[0] != '(')
    return Error{"malformed .npy header"};
  Array array;
  size_t quote = descr->find('\'', 1);
  if (quote == std::string_view::npos)
    return Error{"malformed .npy header"};
  std::string_view type = descr->substr(1, quote - 1);
  char byteOrder = type.empty() ? '?' : type[0];
  array.type = type.substr(type.empty() ? 0 : 1);
  // Two raw bytes are how ml_dtypes stores a bfloat16, one byte a float8.
  if (array.type == "V2")
    array.type = "u2";
  if (array.type == "V1")
    array.type = "u1";
  int64_t width = getWidthInBytes(array.type);
  if (width == 0 || (byteOrder != '<' && byteOrder != '|' && !(byteOrder == '=')))
    return Error{"element type '" + std::string(type) + "' is not supported",
                 /*isUnsupportedType=*/true};
  int64_t count = 1;
  for (size_t at = 1; at < shape->size() && (*shape)[at] != ')';) {
    if ((*shape)[at] == ' ' || (*shape)[at] == ',') {
      ++at;
      continue;
    }
    int64_t value = 0;
    size_t digits = 0;
    while (at < shape->size() && (*shape)[at] >= '0' && (*shape)[at] <= '9' && digits < 14)
      value = value * 10 + ((*shape)[at++] - '0'), ++digits;
    if (digits == 0 || digits == 14)
      return Error{"malformed shape in a .npy header"};
    array.shape.push_back(value);
    if (value != 0 && count > kMaxBytes / value)
      return Error{"an array is too large"};
    count *= value;
  }
  std::string_view data = bytes.substr(start + length);
  if (count > int64_t(data.size()) / width)
    return Error{"truncated .npy data: " + std::to_string(count) + " elements of " +
                 std::to_string(width) + " bytes, but " + std::to_string(data.size()) + " bytes"};
  const auto *from = reinterpret_cast<const uint8_t *>(data.data());
  if (order->substr(0, 4) == "True" && array.shape.size() > 1)
    array.data = toRowMajor(from, array.shape, width, count);
  else
    array.data.assign(from, from + count * width);
  return array;
}

std::string spyre::npz::serializeNpy(const Array &array) {
  std::string header = "{'descr': '";
  header += getWidthInBytes(array.type) == 1 ? '|' : '<';
  header += array.type + "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < array.shape.size(); ++d)
    header += (d ? ", " : "") + std::to_string(array.shape[d]);
  header += array.shape.size() == 1 ? ",), }" : "), }";
  // The data begin at a multiple of 64, as NumPy writes them.
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  appendLE<uint16_t>(out, static_cast<uint16_t>(header.size()));
  out += header;
  out.append(reinterpret_cast<const char *>(array.data.data()), array.data.size());
  return out;
}

std::variant<Archive, Error> spyre::npz::parseNpz(std::string_view bytes) {
  if (bytes.size() < 22)
    return Error{"not a .npz file"};
  size_t end = bytes.rfind(std::string_view("PK\x05\x06", 4));
  if (end == std::string_view::npos || end + 22 > bytes.size())
    return Error{"not a .npz file, or truncated"};
  uint64_t count = readLE<uint16_t>(bytes, end + 10), at = readLE<uint32_t>(bytes, end + 16);
  if ((at == 0xffffffffu || count == 0xffff) && end >= 20 &&
      readLE<uint32_t>(bytes, end - 20) == 0x07064b50) {
    uint64_t end64 = readLE<uint64_t>(bytes, end - 12);
    if (end64 + 56 > bytes.size() || end64 > bytes.size() ||
        readLE<uint32_t>(bytes, end64) != 0x06064b50)
      return Error{"damaged zip directory"};
    count = readLE<uint64_t>(bytes, end64 + 32);
    at = readLE<uint64_t>(bytes, end64 + 48);
  }
  Archive archive;
  size_t cursor = at;
  for (uint64_t i = 0; i < count; ++i) {
    std::optional<Member> member = cursor < bytes.size() ? readEntry(bytes, cursor) : std::nullopt;
    if (!member)
      return Error{"damaged zip directory"};
    size_t local = member->offset;
    if (local > bytes.size() || local + 30 > bytes.size() ||
        readLE<uint32_t>(bytes, local) != 0x04034b50)
      return Error{"member '" + member->name + "' is damaged"};
    size_t data =
        local + 30 + readLE<uint16_t>(bytes, local + 26) + readLE<uint16_t>(bytes, local + 28);
    if (data > bytes.size() || member->compressed > bytes.size() - data)
      return Error{"member '" + member->name + "' is truncated"};
    std::string_view raw = bytes.substr(data, member->compressed);
    std::string inflated;
    if (member->method == 8) {
      auto result = inflateMember(raw, member->size);
      if (auto *error = std::get_if<Error>(&result))
        return Error{"member '" + member->name + "': " + error->message};
      inflated = std::move(std::get<std::string>(result));
      raw = inflated;
    } else if (member->method != 0) {
      return Error{"member '" + member->name + "' uses an unknown compression"};
    }
    if (checksum(raw) != member->crc)
      return Error{"member '" + member->name + "' is damaged (wrong checksum)"};
    auto array = parseNpy(raw);
    // Text beside the numbers (names of dtypes, notes) is nobody's mistake; who
    // asks for it as an array hears of its type.
    if (auto *error = std::get_if<Error>(&array); error && error->isUnsupportedType)
      array = Array{"?", {}, {}};
    if (auto *error = std::get_if<Error>(&array))
      return Error{"member '" + member->name + "': " + error->message};
    std::string name = member->name;
    if (name.size() >= 4 && name.compare(name.size() - 4, 4, ".npy") == 0)
      name.resize(name.size() - 4);
    archive.emplace_back(std::move(name), std::move(std::get<Array>(array)));
  }
  return archive;
}

std::string spyre::npz::serializeNpz(const Archive &archive) {
  std::string out, directory;
  for (const auto &[name, array] : archive) {
    std::string data = serializeNpy(array);
    std::string file = name + ".npy";
    uint32_t crc = checksum(data);
    uint64_t offset = out.size();
    // Sizes always in the 64-bit extra field: one form for all arrays.
    std::string common;
    appendLE<uint16_t>(common, 45);
    appendLE<uint16_t>(common, 0);  // flags
    appendLE<uint16_t>(common, 0);  // stored
    appendLE<uint16_t>(common, 0);  // time
    appendLE<uint16_t>(common, 33); // 1980-01-01
    appendLE<uint32_t>(common, crc);
    appendLE<uint32_t>(common, 0xffffffffu);
    appendLE<uint32_t>(common, 0xffffffffu);
    appendLE<uint16_t>(common, static_cast<uint16_t>(file.size()));
    appendLE<uint32_t>(out, 0x04034b50);
    out += common;
    appendLE<uint16_t>(out, 20);
    out += file;
    appendLE<uint16_t>(out, 1);
    appendLE<uint16_t>(out, 16);
    appendLE<uint64_t>(out, data.size());
    appendLE<uint64_t>(out, data.size());
    out += data;
    appendLE<uint32_t>(directory, 0x02014b50);
    appendLE<uint16_t>(directory, 45);
    directory += common;
    appendLE<uint16_t>(directory, 28); // extra
    appendLE<uint16_t>(directory, 0);  // comment
    appendLE<uint16_t>(directory, 0);  // disk
    appendLE<uint16_t>(directory, 0);  // internal attributes
    appendLE<uint32_t>(directory, 0);  // external attributes
    appendLE<uint32_t>(directory, 0xffffffffu);
    directory += file;
    appendLE<uint16_t>(directory, 1);
    appendLE<uint16_t>(directory, 24);
    appendLE<uint64_t>(directory, data.size());
    appendLE<uint64_t>(directory, data.size());
    appendLE<uint64_t>(directory, offset);
  }
  uint64_t start = out.size(), count = archive.size();
  out += directory;
  uint64_t end64 = out.size();
  appendLE<uint32_t>(out, 0x06064b50);
  appendLE<uint64_t>(out, 44);
  appendLE<uint16_t>(out, 45);
  appendLE<uint16_t>(out, 45);
  appendLE<uint32_t>(out, 0);
  appendLE<uint32_t>(out, 0);
  appendLE<uint64_t>(out, count);
  appendLE<uint64_t>(out, count);
  appendLE<uint64_t>(out, directory.size());
  appendLE<uint64_t>(out, start);
  appendLE<uint32_t>(out, 0x07064b50);
  appendLE<uint32_t>(out, 0);
  appendLE<uint64_t>(out, end64);
  appendLE<uint32_t>(out, 1);
  appendLE<uint32_t>(out, 0x06054b50);
  appendLE<uint32_t>(out, 0);
  appendLE<uint16_t>(out, static_cast<uint16_t>(std::min<uint64_t>(count, 0xffff)));
  appendLE<uint16_t>(out, static_cast<uint16_t>(std::min<uint64_t>(count, 0xffff)));
  appendLE<uint32_t>(out, 0xffffffffu);
  appendLE<uint32_t>(out, 0xffffffffu);
  appendLE<uint16_t>(out, 0);
  return out;
}

std::variant<Archive, Error> spyre::npz::readNpz(const std::string &file) {
  auto bytes = readBytes(file);
  if (auto *error = std::get_if<Error>(&bytes))
    return *error;
  auto archive = parseNpz(std::get<std::string>(bytes));
  if (auto *error = std::get_if<Error>(&archive))
    return Error{file + ": " + error->message};
  return archive;
}

std::variant<Array, Error> spyre::npz::readNpy(const std::string &file) {
  auto bytes = readBytes(file);
  if (auto *error = std::get_if<Error>(&bytes))
    return *error;
  auto array = parseNpy(std::get<std::string>(bytes));
  if (auto *error = std::get_if<Error>(&array))
    return Error{file + ": " + error->message};
  return array;
}

std::optional<Error> spyre::npz::writeNpz(const std::string &file, const Archive &archive) {
  return writeFile(file, serializeNpz(archive));
}

std::optional<Error> spyre::npz::writeNpy(const std::string &file, const Array &array) {
  return writeFile(file, serializeNpy(array));
}

const Array *spyre::npz::lookup(const Archive &archive, std::string_view name) {
  for (const auto &[key, array] : archive)
    if (key == name)
      return &array;
  return nullptr;
}
