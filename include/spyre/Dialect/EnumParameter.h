//===- EnumParameter.h - Enumerations as attribute parameters ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Enumerations of the MLIR-free libraries are parameters of attributes and types as they
// are: this file reads and prints them by their names (spyre/Support/EnumNames.h).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_ENUMPARAMETER_H
#define SPYRE_DIALECT_ENUMPARAMETER_H

#include "spyre/Support/EnumNames.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include <type_traits>

namespace mlir {

/// The bare name of a value; an error lists the names.
template <typename Enum>
struct FieldParser<Enum, std::enable_if_t<::spyre::NamedEnum<Enum>, Enum>> {
  static FailureOr<Enum> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (std::optional<Enum> value = ::spyre::parseName<Enum>({name.data(), name.size()}))
      return *value;
    InFlightDiagnostic diag = parser.emitError(loc) << "'" << name << "' is none of ";
    llvm::interleaveComma(::spyre::EnumNames<Enum>::kNames, diag,
                          [&](std::string_view known) { diag << "'" << StringRef(known) << "'"; });
    return diag;
  }
};

} // namespace mlir

// Found through the stream, wherever the enumeration stands.
namespace llvm {

template <::spyre::NamedEnum Enum> raw_ostream &operator<<(raw_ostream &os, Enum value) {
  return os << StringRef(::spyre::getName(value));
}

} // namespace llvm

#endif // SPYRE_DIALECT_ENUMPARAMETER_H
