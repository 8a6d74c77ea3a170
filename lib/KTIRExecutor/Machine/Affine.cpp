//===- Affine.cpp - Index arithmetic at run time ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. Bounds of sets come from their linear constraints, one dim at a time
// with what is known of the others, until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Affine.h"

using namespace spyre::ktir;

static int64_t floorDivide(int64_t a, int64_t b) {
  if (b == -1) // the smallest number has no negative
    return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

int64_t Expression::evaluate(std::span<const int64_t> inputs) const {
  if (linear)
    return linear->evaluate(inputs);
  constexpr size_t kDepth = 64;
  int64_t few[kDepth];
  std::vector<int64_t> many(steps.size() > kDepth ? steps.size() : 0);
  int64_t *stack = many.empty() ? few : many.data();
  size_t top = 0;
  for (const Step &step : steps) {
    switch (step.code) {
    case Code::Input:
      stack[top++] = inputs[step.number];
      continue;
    case Code::Constant:
      stack[top++] = step.number;
      continue;
    default:
      break;
    }
    int64_t b = stack[--top], a = stack[top - 1];
    int64_t &result = stack[top - 1];
    switch (step.code) {
    case Code::Add:
      result = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      break;
    case Code::Multiply:
      result = static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      break;
    case Code::Mod:
      result = b > 0 ? (a % b + b) % b : 0;
      break;
    case Code::FloorDiv:
      result = b > 0 ? floorDivide(a, b) : 0;
      break;
    default:
      result = b > 0 ? a / b + (a % b > 0) : 0;
      break;
    }
  }
  return stack[0];
}

bool Expression::uses(int64_t i) const {
  for (const Step &step : steps)
    if (step.code == Code::Input && step.number == i)
      return true;
  return false;
}

bool Set::contains(std::span<const int64_t> dimsAndSymbols) const {
  for (const Constraint &constraint : constraints) {
    int64_t value = constraint.expression.evaluate(dimsAndSymbols);
    if (constraint.isEquality ? value != 0 : value < 0)
      return false;
  }
  return true;
}

std::optional<std::vector<Bounds>> Set::getBounds(std::span<const int64_t> symbols) const {
  std::vector<std::optional<int64_t>> lower(numDims), upper(numDims);
  // Bounds `dim` by coefficient * dim + rest >= 0, where rest is at most its value at the
  // bounds that help.
  auto tighten = [&](const Linear &linear, int64_t sign) {
    bool changed = false;
    for (int64_t dim = 0; dim < numDims; ++dim) {
      int64_t coefficient =
          static_cast<int64_t>(sign * static_cast<__int128>(linear.coefficients[dim]));
      if (coefficient == 0)
        continue;
      __int128 rest = static_cast<__int128>(sign) * linear.constant;
      bool known = true;
      for (int64_t other = 0; other < numDims + numSymbols && known; ++other) {
        int64_t factor =
            static_cast<int64_t>(sign * static_cast<__int128>(linear.coefficients[other]));
        if (other == dim || factor == 0)
          continue;
        if (other >= numDims) {
          rest += static_cast<__int128>(factor) * symbols[other - numDims];
          continue;
        }
        const std::optional<int64_t> &bound = factor > 0 ? upper[other] : lower[other];
        known = bound.has_value();
        if (known)
          rest += static_cast<__int128>(factor) * *bound;
      }
      if (!known)
        continue;
      // A bound beyond what a coordinate can be is none.
      constexpr int64_t kFar = int64_t(1) << 62;
      if (rest > kFar || rest < -kFar || coefficient == INT64_MIN)
        continue;
      int64_t near = static_cast<int64_t>(rest);
      if (coefficient > 0) {
        int64_t bound = -floorDivide(near, coefficient);
        if (!lower[dim] || bound > *lower[dim]) {
          lower[dim] = bound;
          changed = true;
        }
      } else {
        int64_t bound = floorDivide(near, -coefficient);
        if (!upper[dim] || bound < *upper[dim]) {
          upper[dim] = bound;
          changed = true;
        }
      }
    }
    return changed;
  };
  for (int64_t round = 0; round < numDims + 2; ++round) {
    bool changed = false;
    for (const Constraint &constraint : constraints)
      if (constraint.expression.linear) {
        changed |= tighten(*constraint.expression.linear, 1);
        if (constraint.isEquality)
          changed |= tighten(*constraint.expression.linear, -1);
      }
    if (!changed)
      break;
  }
  std::vector<Bounds> bounds(numDims);
  for (int64_t dim = 0; dim < numDims; ++dim) {
    if (!lower[dim] || !upper[dim])
      return std::nullopt;
    bounds[dim] = {*lower[dim], *upper[dim]};
  }
  return bounds;
}
