//===- Elementwise.h - Element by element, with PyTorch's types -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One element of the result from one of each operand. Operands are arrays, which broadcast,
// or numbers. As in PyTorch they are brought to one type first: that of the arrays, where an
// array of rank 0 and a number only count if they are of a higher kind (bool, integer,
// float, complex). Integers among themselves stay integers but for what divides or takes
// roots, which is f32 then. f16 and bf16 are computed in f32, and a number beside them is
// rounded to f32, in comparisons and remainders to their own type.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_HOST_ELEMENTWISE_H
#define SPYRE_LIB_HOST_ELEMENTWISE_H

#include "Call.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace spyre::host {

/// The types that a function is defined for: it is called with int64_t, with float and
/// double, with std::complex<double>.
enum Domain : unsigned { Integers = 1, Floats = 2, Complexes = 4 };

/// How a number beside arrays is rounded.
enum class NumberRounding { ToComputed, ToCommon };

/// An operand in the common type.
struct Operand {
  Array array;
  bool isNumber = false;
  Ints strides; ///< along the result's dims
};

/// Arguments \p which of \p call in their common type, which \p common becomes; integers and
/// bools become floats unless \p allowsIntegers. Nothing, and a reason, if one is no array or
/// number or does not broadcast.
std::optional<std::vector<Operand>> getOperands(Call &call, std::span<const size_t> which,
                                                HostType &common, NumberRounding rounding,
                                                bool allowsIntegers = true);

/// The type that \p type has in PyTorch's promotion with \p other of the same rank.
HostType promote(HostType type, HostType other);

namespace detail {
/// Elements that are computed at a time.
inline constexpr int64_t kChunk = 256;

/// Elements of an operand for elements \p first to before \p first + \p count of an array of
/// \p shape. For int64_t, float, double and std::complex<double>.
template <typename T>
void readChunk(const Operand &operand, const Ints &shape, int64_t first, int64_t count, T *values);

/// The way back. What values are kept in until then: int64_t, double, std::complex<double>.
template <typename T> void storeChunk(Array &result, int64_t first, int64_t count, const T *values);

template <typename V> struct Kept {
  using type = std::conditional_t<std::is_integral_v<V>, int64_t,
                                  std::conditional_t<std::is_floating_point_v<V>, double, V>>;
};
template <typename V> struct Kept<std::optional<V>> : Kept<V> {};

/// \p function, of values of type T, for every element of the result.
template <typename T, size_t N, typename F>
bool mapTyped(Call &call, const std::vector<Operand> &operands, const F &function) {
  std::array<std::array<T, kChunk>, N> values;
  auto compute = [&](int64_t i) {
    return [&]<size_t... K>(std::index_sequence<K...>) {
      return function(values[K][i]...);
    }(std::make_index_sequence<N>());
  };
  using V = std::decay_t<decltype(compute(0))>;
  std::array<typename Kept<V>::type, kChunk> kept;
  for (int64_t first = 0, n = call.result.getNumElements(); first < n; first += kChunk) {
    int64_t count = std::min(kChunk, n - first);
    for (size_t k = 0; k < N; ++k)
      readChunk<T>(operands[k], call.result.shape, first, count, values[k].data());
    for (int64_t i = 0; i < count; ++i) {
      V value = compute(i);
      if constexpr (std::is_same_v<V, std::optional<T>>) {
        if (!value)
          return call.refuse("an integer is divided by zero, or raised to a negative power");
        kept[i] = *value;
      } else {
        kept[i] = value;
      }
    }
    storeChunk(call.result, first, count, kept.data());
  }
  return true;
}
} // namespace detail

/// Fills the result with \p function of arguments \p which.
template <unsigned D, size_t N, typename F>
bool map(Call &call, const std::array<size_t, N> &which, const F &function,
         NumberRounding rounding = NumberRounding::ToComputed) {
  HostType common;
  std::optional<std::vector<Operand>> operands =
      getOperands(call, which, common, rounding, (D & Integers) != 0);
  if (!operands)
    return false;
  const Array &first = operands->front().array;
  if (first.isInteger()) {
    if constexpr (D & Integers)
      return detail::mapTyped<int64_t, N>(call, *operands, function);
    return call.refuse("is not defined for integers");
  }
  if (first.isComplex()) {
    if constexpr (D & Complexes)
      return detail::mapTyped<std::complex<double>, N>(call, *operands, function);
    return call.refuse("is not defined for complex numbers");
  }
  if constexpr (D & Floats) {
    return common == HostType::Float64 ? detail::mapTyped<double, N>(call, *operands, function)
                                       : detail::mapTyped<float, N>(call, *operands, function);
  } else {
    return call.refuse("floats have no bits");
  }
}

/// A table entry: \p function of the first arguments.
template <unsigned D, typename F> Function unary(F function) {
  return [function](Call &call) { return map<D, 1>(call, {0}, function); };
}
template <unsigned D, typename F>
Function binary(F function, NumberRounding rounding = NumberRounding::ToComputed) {
  return [=](Call &call) { return map<D, 2>(call, {0, 1}, function, rounding); };
}

} // namespace spyre::host

#endif // SPYRE_LIB_HOST_ELEMENTWISE_H
