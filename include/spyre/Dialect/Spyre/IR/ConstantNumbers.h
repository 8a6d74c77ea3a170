//===- ConstantNumbers.h - The numbers of a constant ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks have millions of numbers, of which few are different: they are read from the bytes, not
// made an APFloat each.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_CONSTANTNUMBERS_H
#define SPYRE_DIALECT_SPYRE_IR_CONSTANTNUMBERS_H

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

namespace mlir::spyre {

namespace detail {
template <typename Code, typename Visit>
bool anyOfCodes(ArrayRef<char> bytes, const llvm::fltSemantics &semantics, Visit visit) {
  Code last{};
  bool isFirst = true;
  for (size_t i = 0; i + sizeof(Code) <= bytes.size(); i += sizeof(Code)) {
    Code code;
    std::memcpy(&code, bytes.data() + i, sizeof(Code));
    // What is as the one before has been seen.
    if (!isFirst && code == last)
      continue;
    isFirst = false;
    last = code;
    if (visit(APFloat(semantics, APInt(8 * sizeof(Code), code))))
      return true;
  }
  return false;
}
} // namespace detail

/// The bytes of \p elements one behind the other, row-major; none if they are kept otherwise: truth
/// values, one number for all, or a resource that is not at hand.
inline ArrayRef<char> getElementBytes(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  return dense && !dense.isSplat() && !dense.getElementType().isInteger(1) ? dense.getRawData()
                                                                           : ArrayRef<char>();
}

/// True if the numbers of \p elements are at hand.
inline bool hasNumbers(ElementsAttr elements) {
  return isa<DenseFPElementsAttr>(elements) ||
         (isa<RunsAttr>(elements) && isa<FloatType>(elements.getElementType()));
}

/// True if \p visit, a function of an APFloat, is true of a number of \p all, whose numbers are at
/// hand; neighbours that are alike are asked about once.
template <typename Visit> bool anyOfNumbers(ElementsAttr all, Visit visit) {
  if (auto runs = dyn_cast<RunsAttr>(all)) {
    auto type = cast<FloatType>(runs.getElementType());
    return llvm::any_of(
        runs.getCodes(), [&, last = std::optional<uint64_t>()](uint64_t code) mutable {
          const bool isNew = last != code;
          last = code;
          return isNew && visit(APFloat(type.getFloatSemantics(), APInt(type.getWidth(), code)));
        });
  }
  auto elements = cast<DenseFPElementsAttr>(all);
  if (elements.empty())
    return false;
  if (elements.isSplat())
    return visit(elements.getSplatValue<APFloat>());
  const llvm::fltSemantics &semantics =
      cast<FloatType>(elements.getElementType()).getFloatSemantics();
  switch (elements.getElementType().getIntOrFloatBitWidth()) {
  case 16:
    return detail::anyOfCodes<uint16_t>(elements.getRawData(), semantics, visit);
  case 32:
    return detail::anyOfCodes<uint32_t>(elements.getRawData(), semantics, visit);
  default:
    return llvm::any_of(elements.getValues<APFloat>(), visit);
  }
}

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_CONSTANTNUMBERS_H
