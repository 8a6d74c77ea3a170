//===- ConstantData.cpp - Elements of a constant as a NumPy array ---------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/ConstantData.h"

#include "spyre/Dialect/Spyre/IR/ConstantNumbers.h"

#include "mlir/IR/BuiltinTypes.h"

#include <complex>

using namespace mlir;

/// NumPy's type of \p type, empty if there is none.
static std::string getNumpyType(Type type) {
  if (type.isInteger(1))
    return "b1";
  if (type.isF16() || type.isF32() || type.isF64())
    return "f" + std::to_string(type.getIntOrFloatBitWidth() / 8);
  if (type.isBF16())
    return "u2";
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return "u1";
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return part.isF16() ? "u4" : part.isF32() ? "c8" : part.isF64() ? "c16" : "";
  }
  if (type.isInteger(8) || type.isInteger(16) || type.isInteger(32) || type.isInteger(64))
    return "i" + std::to_string(type.getIntOrFloatBitWidth() / 8);
  return {};
}

namespace spyre::compiler {

std::optional<npz::Array> toArray(ElementsAttr data) {
  ShapedType type = data.getShapedType();
  Type element = type.getElementType();
  npz::Array array;
  array.type = getNumpyType(element);
  if (array.type.empty())
    return std::nullopt;
  array.shape.assign(type.getShape().begin(), type.getShape().end());
  auto width = static_cast<size_t>(npz::getWidthInBytes(array.type));
  auto count = static_cast<size_t>(type.getNumElements());
  if (auto runs = dyn_cast<mlir::spyre::RunsAttr>(data)) {
    SmallVector<char> bytes = runs.getBytes();
    array.data.assign(bytes.begin(), bytes.end());
    return array;
  }
  if (ArrayRef<char> bytes = mlir::spyre::getElementBytes(data); bytes.size() == count * width) {
    array.data.assign(bytes.begin(), bytes.end());
    return array;
  }
  auto dense = dyn_cast<DenseElementsAttr>(data);
  if (!dense)
    return std::nullopt;
  array.data.reserve(count * width);
  auto append = [&](const APInt &bits) {
    uint64_t value = bits.getZExtValue();
    size_t bytes = isa<ComplexType>(element) ? width / 2 : width;
    for (size_t i = 0; i < bytes; ++i)
      array.data.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  if (auto complex = dyn_cast<ComplexType>(element)) {
    for (const std::complex<APFloat> &value : dense.getValues<std::complex<APFloat>>()) {
      append(value.real().bitcastToAPInt());
      append(value.imag().bitcastToAPInt());
    }
  } else if (isa<FloatType>(element))
    for (const APFloat &value : dense.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (const APInt &value : dense.getValues<APInt>())
      append(value);
  return array;
}

} // namespace spyre::compiler
