//===- Binding.cpp - What the arguments of a kernel are ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Binding.h"

#include "spyre/Support/JsonReader.h"

#include <algorithm>
#include <cstring>

using namespace spyre;
using namespace spyre::ktir;

std::variant<KernelBinding, std::string> spyre::ktir::readKernelBinding(std::string_view text) {
  auto describeError = [](const json::Error &error) {
    return error.where.empty() ? error.message : error.where + ": " + error.message;
  };
  auto parsed = json::parse(text);
  if (auto *error = std::get_if<json::Error>(&parsed))
    return describeError(*error);
  std::optional<json::Error> error;
  json::Cursor root(std::get<json::Document>(parsed), error);
  KernelBinding binding;
  for (const auto &[key, field] : root.fields())
    if (key != "version" && key != "kernel" && key != "arrays" && key != "arguments" &&
        key != "comment")
      field.fail("there is no such field");
  if (auto version = root.find("version"))
    version->expect("\"1.0\"");
  if (auto kernel = root.find("kernel"))
    binding.kernel = kernel->getString();
  for (const json::Cursor &entry : root.at("arrays").elements()) {
    KernelArray array;
    for (const auto &[key, field] : entry.fields())
      if (key != "name" && key != "role" && key != "dtype" && key != "shape" && key != "strides" &&
          key != "address" && key != "tile")
        field.fail("there is no such field");
    array.name = entry.at("name").getString();
    for (const KernelArray &other : binding.arrays)
      if (other.name == array.name)
        entry.fail("there are two arrays '" + array.name + "'");
    if (auto type = parseHostType(entry.at("dtype").getString()))
      array.type = *type;
    else
      entry.at("dtype").fail("there is no such type");
    if (!getMemoryElement(array.type, ElementKind::IEEE16))
      entry.at("dtype").fail("kernels have no such numbers");
    array.shape = entry.at("shape").getInts();
    if (countElements(array.shape) < 0)
      entry.at("shape").fail("no array has these sizes");
    if (auto role = entry.find("role")) {
      std::string name = role->getString();
      if (name == "output")
        array.role = ArrayRole::Output;
      else if (name == "input_output")
        array.role = ArrayRole::InputOutput;
      else if (name != "input")
        role->fail("must be \"input\", \"output\" or \"input_output\"");
    }
    if (auto strides = entry.find("strides")) {
      array.strides = strides->getInts();
      if (array.strides.size() != array.shape.size())
        strides->fail("must have a number a dim");
      for (int64_t stride : array.strides)
        if (stride < 0 || stride > (int64_t(1) << 40))
          strides->fail("a stride cannot be " + std::to_string(stride));
    }
    if (auto address = entry.find("address"))
      array.address = address->getInt(0, int64_t(1) << 48);
    if (auto tile = entry.find("tile"))
      array.tile = tile->getInt(0, 4095);
    if (array.tile >= 0 && !array.address)
      entry.fail("an array in LX needs its address");
    binding.arrays.push_back(std::move(array));
  }
  for (const json::Cursor &entry : root.at("arguments").elements()) {
    if (entry.isString()) {
      std::string name = entry.getString();
      if (std::none_of(binding.arrays.begin(), binding.arrays.end(),
                       [&](const KernelArray &array) { return array.name == name; }))
        entry.fail("there is no array '" + name + "'");
      binding.arguments.emplace_back(std::move(name));
    } else if (entry.isNumber() && entry.getNode()->is_number_float()) {
      binding.arguments.emplace_back(entry.getDouble());
    } else {
      binding.arguments.emplace_back(entry.getInt());
    }
  }
  if (error)
    return describeError(*error);
  return binding;
}

std::optional<Element> spyre::ktir::getMemoryElement(HostType type, ElementKind f16) {
  switch (type) {
  case HostType::Float16:
    return Element{f16, 16};
  case HostType::BFloat16:
    return Element{ElementKind::BF16, 16};
  case HostType::Float32:
    return kF32;
  case HostType::Bool:
    return kBool;
  case HostType::Int8:
  case HostType::UInt8:
    return Element{ElementKind::Int, 8};
  case HostType::Int16:
    return Element{ElementKind::Int, 16};
  case HostType::Int32:
    return Element{ElementKind::Int, 32};
  case HostType::Int64:
    return kIndex;
  default:
    return std::nullopt;
  }
}

namespace {
/// Elements that the array reaches over in memory, or -1.
int64_t getReach(const KernelArray &array) {
  if (countElements(array.shape) <= 0)
    return countElements(array.shape);
  Shape strides = array.strides.empty() ? getRowMajorStrides(array.shape) : array.strides;
  int64_t reach = 1;
  for (size_t d = 0; d < strides.size(); ++d)
    if (__builtin_mul_overflow(strides[d], array.shape[d] - 1, &strides[d]) ||
        __builtin_add_overflow(reach, strides[d], &reach))
      return -1;
  return reach;
}

/// Calls \p visit with each row: the first element's number and place, and how far apart
/// elements are in memory.
template <typename Visit> void forEachRow(const KernelArray &array, Visit visit) {
  int64_t count = countElements(array.shape);
  if (count <= 0)
    return;
  Shape strides = array.strides.empty() ? getRowMajorStrides(array.shape) : array.strides;
  if (array.shape.empty())
    return visit(0, 0, 1, 1);
  int64_t length = array.shape.back();
  Shape point(array.shape.size(), 0);
  for (int64_t first = 0; first < count; first += length) {
    int64_t place = 0;
    for (size_t d = 0; d + 1 < point.size(); ++d)
      place += point[d] * strides[d];
    visit(first, place, length, strides.back());
    for (size_t d = point.size() - 1; d-- > 0;) {
      if (++point[d] < array.shape[d])
        break;
      point[d] = 0;
    }
  }
}

/// The host's own form of a type is what memory holds, f16 aside.
Element getHostElement(HostType type) { return *getMemoryElement(type, ElementKind::IEEE16); }
} // namespace

std::string spyre::ktir::placeArrays(const KernelBinding &binding, const ArrayBytes &inputs,
                                     bool addressesInBytes, int64_t memoryLimitInBytes,
                                     int64_t lxInBytes, PlacedArrays &placed) {
  // Where nothing else is said, the first array lies here, and a stick is between arrays.
  constexpr int64_t kFirst = 0x10000;
  int64_t next = kFirst, end = 0;
  for (const KernelArray &array : binding.arrays)
    if (array.address && array.tile < 0) {
      Element element = *getMemoryElement(array.type, placed.f16);
      int64_t unit = addressesInBytes ? 1 : element.getBytes();
      next = std::max(next, *array.address * unit + getReach(array) * element.getBytes());
    }
  for (const KernelArray &array : binding.arrays) {
    Element element = *getMemoryElement(array.type, placed.f16);
    int64_t unit = addressesInBytes ? 1 : element.getBytes(), reach = getReach(array);
    int64_t limit = array.tile < 0 ? memoryLimitInBytes : lxInBytes;
    if (reach < 0 || reach > limit)
      return array.name + ": the array does not fit in memory";
    int64_t size = reach * element.getBytes();
    int64_t address = array.address ? *array.address * unit
                                    : (next + kStickInBytes - 1) / kStickInBytes * kStickInBytes;
    if (address + size > limit)
      return array.name + ": bytes " + std::to_string(address) + ".." +
             std::to_string(address + size - 1) + " are outside of the " + std::to_string(limit) +
             " bytes of memory";
    placed.byteOf[array.name] = address;
    if (array.tile >= 0) {
      if (!placed.lx.count(array.tile)) {
        placed.lx[array.tile] = Memory(lxInBytes);
        placed.lx[array.tile].markNothingWritten();
      }
      continue;
    }
    if (!array.address)
      next = address + size + kStickInBytes;
    end = std::max(end, (address + size + kStickInBytes - 1) / kStickInBytes * kStickInBytes);
  }
  placed.memory = Memory(end);
  placed.memory.markNothingWritten();
  for (const KernelArray &array : binding.arrays) {
    if (!array.isInput())
      continue;
    auto found = inputs.find(array.name);
    Element element = *getMemoryElement(array.type, placed.f16), host = getHostElement(array.type);
    int64_t width = element.getBytes();
    if (found == inputs.end())
      return array.name + ": the input is missing";
    if (static_cast<int64_t>(found->second.size()) != countElements(array.shape) * width)
      return array.name + ": the input has not the shape " + toString(array.shape);
    Memory &memory = array.tile < 0 ? placed.memory : placed.lx[array.tile];
    const uint8_t *bytes = found->second.data();
    std::vector<float> numbers;
    std::vector<uint8_t> codes;
    forEachRow(array, [&](int64_t first, int64_t place, int64_t count, int64_t stride) {
      const uint8_t *source = bytes + first * width;
      if (element != host) {
        numbers.resize(count);
        codes.resize(count * width);
        decode(host, source, numbers.data(), count);
        encode(element, numbers.data(), codes.data(), count);
        source = codes.data();
      }
      int64_t address = placed.byteOf[array.name] + place * width;
      for (int64_t i = 0; i < (stride == 1 ? 1 : count); ++i) {
        int64_t piece = stride == 1 ? count * width : width;
        std::memcpy(memory.bytes.data() + address + i * stride * width, source + i * width, piece);
        memory.markWritten(address + i * stride * width, piece);
      }
    });
  }
  return "";
}

std::string spyre::ktir::fetchArrays(const KernelBinding &binding, const PlacedArrays &placed,
                                     bool isChecked, ArrayBytes &outputs) {
  for (const KernelArray &array : binding.arrays) {
    if (!array.isOutput())
      continue;
    Element element = *getMemoryElement(array.type, placed.f16), host = getHostElement(array.type);
    int64_t width = element.getBytes(), base = placed.byteOf.at(array.name), missing = -1;
    const Memory &memory = array.tile < 0 ? placed.memory : placed.lx.at(array.tile);
    std::vector<uint8_t> bytes(countElements(array.shape) * width);
    std::vector<float> numbers;
    forEachRow(array, [&](int64_t first, int64_t place, int64_t count, int64_t stride) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t address = base + (place + i * stride) * width;
        std::memcpy(bytes.data() + (first + i) * width, memory.bytes.data() + address, width);
        if (isChecked && missing < 0 && memory.findUnwritten(address, width) >= 0)
          missing = first + i;
      }
    });
    if (missing >= 0)
      return array.name + ": nobody has written element " + std::to_string(missing);
    if (element != host) {
      int64_t count = countElements(array.shape);
      numbers.resize(count);
      decode(element, bytes.data(), numbers.data(), count);
      encode(host, numbers.data(), bytes.data(), count);
    }
    outputs[array.name] = std::move(bytes);
  }
  return "";
}
