//===- Affine.h - Index arithmetic at run time ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Affine expressions and integer sets over numbered inputs (dims, then symbols), as
// the machine evaluates them. What is linear is kept as coefficients as well, so that
// an access follows a run of points without evaluating each. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_AFFINE_H
#define SPYRE_KTIREXECUTOR_MACHINE_AFFINE_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace spyre::ktir {

/// c0 x0 + c1 x1 + ... + constant over all inputs.
struct Linear {
  std::vector<int64_t> coefficients;
  int64_t constant = 0;

  int64_t evaluate(std::span<const int64_t> inputs) const {
    uint64_t sum = constant; // what does not fit wraps around
    for (size_t i = 0; i < coefficients.size(); ++i)
      sum += static_cast<uint64_t>(coefficients[i]) * static_cast<uint64_t>(inputs[i]);
    return static_cast<int64_t>(sum);
  }
};

/// One expression: code for a stack of numbers, and its linear form if it has one.
struct Expression {
  enum class Code : uint8_t { Input, Constant, Add, Multiply, Mod, FloorDiv, CeilDiv };
  struct Step {
    Code code;
    int64_t number = 0; ///< of the input, or the constant
  };
  std::vector<Step> steps;
  std::optional<Linear> linear;

  /// Division by what is not positive gives 0; the readers refuse it where it is constant.
  int64_t evaluate(std::span<const int64_t> inputs) const;
  /// True if input \p i has a part in it.
  bool uses(int64_t i) const;
};

struct Map {
  int64_t numInputs = 0;
  std::vector<Expression> results;
};

/// Inclusive bounds; empty if upper is below lower.
struct Bounds {
  int64_t lower = 0, upper = -1;
  int64_t getExtent() const {
    return upper < lower ? 0
                         : static_cast<int64_t>(static_cast<uint64_t>(upper) -
                                                static_cast<uint64_t>(lower) + 1);
  }
};

struct Set {
  int64_t numDims = 0, numSymbols = 0;
  struct Constraint {
    Expression expression;
    bool isEquality = false;
  };
  std::vector<Constraint> constraints;
  /// Each constraint bounds one dim: the set is the box of getBounds().
  bool isBox = false;

  bool contains(std::span<const int64_t> dimsAndSymbols) const;
  /// A box around the set for the given symbols, or nothing if a dim has no bounds.
  std::optional<std::vector<Bounds>> getBounds(std::span<const int64_t> symbols) const;
};

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_AFFINE_H
