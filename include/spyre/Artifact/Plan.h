//===- Plan.h - What the runtime executes for one bundle --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `plan.json` (a bundle's launches, loops and address expressions) and
// `launch_spec.json` (what each argument must be) as data. The compiler and the
// Loader write them, the runtime core reads nothing else of a bundle's program.
// MLIR-free. File formats: docs/formats/plan.md and docs/formats/launch_spec.md.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_ARTIFACT_PLAN_H
#define SPYRE_ARTIFACT_PLAN_H

#include "spyre/Numerics/Formats.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre::artifact {

/// No size, address or count in a file is larger.
inline constexpr int64_t kMaxSize = int64_t(1) << 48;

/// A byte address: base + offset + sum of strides[l] * (variable of the l-th
/// enclosing loop, outermost first).
struct AddressExpr {
  /// Position among the addresses that the bundle function takes; -1: the pool; -2:
  /// absolute; -3: no address but the size of a symbolic dim, number offsetInBytes.
  enum : int64_t { kPool = -1, kAbsolute = -2, kSize = -3 };
  int64_t base = kAbsolute;
  int64_t offsetInBytes = 0;
  std::vector<int64_t> strideInBytes; ///< one a loop; trailing zeros left out
};

/// One sdsc_execute: a descriptor and the addresses bound to its symbol ids.
struct Launch {
  std::string descriptor;                               ///< file name inside the bundle directory
  std::vector<std::pair<int64_t, AddressExpr>> symbols; ///< (negative id, address)
};

struct Step;

/// How often a loop runs: a number, or what sizes that the launch tells make of it,
/// ceil((constant + sum of factor * size) / divisor); not at all if that is negative.
struct TripCount {
  TripCount(int64_t constant = 0) : constant(constant) {}

  int64_t constant;
  std::vector<std::pair<int64_t, int64_t>> terms; ///< (number of the size, factor)
  int64_t divisor = 1;
  bool operator==(const TripCount &) const = default;

  bool isConstant() const { return terms.empty(); }
  /// With \p sizes for the plan's size parameters.
  int64_t evaluate(const std::vector<int64_t> &sizes) const;
};

/// A loop: its body runs \c count times, variable 0, 1, ...
struct Loop {
  TripCount count;
  std::vector<Step> body;
};

struct Step {
  std::variant<Launch, Loop> content;
};

/// A parameter that is the size of a symbolic dim: a multiple of the granularity, between
/// bounds.
struct SizeParameter {
  std::string name;
  int64_t position = 0; ///< addresses, without the pool, that stand before it
  int64_t granularity = 1, maxValue = 1, minValue = 1;
};

struct Plan {
  /// The newest that is read. A plan is written as version 1 if that can say it: without
  /// smallest sizes and trip counts that depend on sizes.
  static constexpr int64_t kVersion = 2;
  std::string name;         ///< the function's name
  int64_t numArguments = 0; ///< parameters that are addresses, without the pool
  std::vector<SizeParameter> sizes;
  bool hasPool = false;    ///< a pool parameter stands before them
  int64_t poolInBytes = 0; ///< 0 if the artefact does not say
  std::vector<Step> steps;
};

enum class Role { Input, Output, InputOutput, Constant };

/// One entry of launch_spec.json or of a --bind file.
struct ArgumentSpec {
  Role role = Role::Input;
  std::string array;  ///< "in0", "out1"; empty for constants
  std::string result; ///< InputOutput: the result it becomes
  std::vector<int64_t> shape;
  HostType dtype = HostType::Float16;
  std::optional<std::vector<int64_t>> strideInElements; ///< host; absent: contiguous
  std::vector<int64_t> deviceSize;
  std::vector<int64_t> strideMap;
  DataFormat deviceFormat = DataFormat::SEN169_FP16;
  std::optional<double> value;    ///< Constant: every lane of its stick
  std::string elementArrangement; ///< empty: standard
  /// Tail promise of what the device leaves or expects ("zero", "unknown", ...).
  std::string tail;
  /// 16-bit floats: what comes out as the largest f16 number is an overflow (the device's
  /// format has no number between it and 65536).
  bool overflowIsInfinite = false;
  /// The shape the caller sees where it differs from \c shape; empty otherwise.
  std::vector<int64_t> view;
};

struct LaunchSpec {
  static constexpr int64_t kVersion = 1;
  std::string kernelName;
  int64_t poolInBytes = 0;
  bool symbolicArguments = true;
  std::vector<ArgumentSpec> arguments;
};

/// What is wrong with a plan or a launch spec.
struct FileError {
  std::string where; ///< JSON pointer, or line:column of a syntax error
  std::string message;
};

std::variant<Plan, FileError> readPlan(std::string_view json);
void writePlan(const Plan &plan, std::ostream &os, bool pretty);
std::variant<LaunchSpec, FileError> readLaunchSpec(std::string_view json);
void writeLaunchSpec(const LaunchSpec &spec, std::ostream &os, bool pretty);

} // namespace spyre::artifact

#endif // SPYRE_ARTIFACT_PLAN_H
