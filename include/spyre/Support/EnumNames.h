//===- EnumNames.h - Names of enumerators ------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An enumeration whose values occur in texts says their names once, next to itself:
//
//   template <> struct EnumNames<Color> {
//     static constexpr std::string_view kNames[] = {"red", "blue"};
//   };
//
// in the order of its values, which count from 0. Dialects, files and messages read it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_ENUMNAMES_H
#define SPYRE_SUPPORT_ENUMNAMES_H

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace spyre {

/// Names of the values of Enum: kNames of its specialisation.
template <typename Enum> struct EnumNames;

template <typename Enum>
concept NamedEnum = requires { EnumNames<Enum>::kNames; };

/// The name of \p value.
template <NamedEnum Enum> constexpr std::string_view getName(Enum value) {
  return EnumNames<Enum>::kNames[static_cast<size_t>(value)];
}

/// The value named \p name, or nothing.
template <NamedEnum Enum> constexpr std::optional<Enum> parseName(std::string_view name) {
  for (size_t i = 0; i < std::size(EnumNames<Enum>::kNames); ++i)
    if (EnumNames<Enum>::kNames[i] == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

/// "a, b and c": all names from value \p first on, for messages.
template <NamedEnum Enum> std::string listNames(Enum first) {
  const auto &names = EnumNames<Enum>::kNames;
  std::string text;
  for (size_t i = static_cast<size_t>(first), n = std::size(names); i < n; ++i) {
    if (!text.empty())
      text += i + 1 == n ? " and " : ", ";
    text += names[i];
  }
  return text;
}

} // namespace spyre

#endif // SPYRE_SUPPORT_ENUMNAMES_H
