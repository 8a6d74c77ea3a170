//===- Binding.h - What the arguments of a kernel are -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel takes addresses and numbers. A binding says which arrays lie behind the
// addresses: it is read from a small JSON file (docs/formats/ktir-binding.md), places
// arrays in memory and brings results back. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_BINDING_H
#define SPYRE_KTIREXECUTOR_MACHINE_BINDING_H

#include "spyre/KTIRExecutor/Machine/Memory.h"
#include "spyre/Numerics/Formats.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre::ktir {

enum class ArrayRole : uint8_t { Input, Output, InputOutput };

struct KernelArray {
  std::string name;
  ArrayRole role = ArrayRole::Input;
  HostType type = HostType::Float16;
  Shape shape;
  Shape strides; ///< in elements; empty: row-major
  /// In the unit of the kernel's addresses; absent: the next free stick.
  std::optional<int64_t> address;
  /// The compute tile whose LX holds it; -1: device memory.
  int64_t tile = -1;

  bool isInput() const { return role != ArrayRole::Output; }
  bool isOutput() const { return role != ArrayRole::Input; }
};

struct KernelBinding {
  /// Of several kernels in a file; empty: the only one.
  std::string kernel;
  std::vector<KernelArray> arrays;
  /// An array's name stands for its address.
  std::vector<std::variant<int64_t, double, std::string>> arguments;
};

/// Reads a binding; a message with its place if it is wrong.
std::variant<KernelBinding, std::string> readKernelBinding(std::string_view text);

/// Dense row-major host arrays by name.
using ArrayBytes = std::map<std::string, std::vector<uint8_t>>;

/// The element that holds host numbers of \p type in a kernel's memory; nothing where the
/// machine has none. \p f16: what f16 is there.
std::optional<Element> getMemoryElement(HostType type, ElementKind f16);

/// The arrays of a binding in memory.
struct PlacedArrays {
  Memory memory;
  std::map<int64_t, Memory> lx;          ///< by compute tile
  std::map<std::string, int64_t> byteOf; ///< addresses by array
  ElementKind f16 = ElementKind::IEEE16;
};

/// Places the arrays of \p binding and fills the inputs. \p addressesInBytes: the kernel's
/// unit. Nothing else counts as written. A message if they do not fit.
std::string placeArrays(const KernelBinding &binding, const ArrayBytes &inputs,
                        bool addressesInBytes, int64_t memoryLimitInBytes, int64_t lxInBytes,
                        PlacedArrays &placed);

/// The results of \p binding as host arrays. With \p isChecked elements that nobody has written
/// are an error.
std::string fetchArrays(const KernelBinding &binding, const PlacedArrays &placed, bool isChecked,
                        ArrayBytes &outputs);

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_BINDING_H
