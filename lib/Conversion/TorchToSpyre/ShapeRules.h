//===- ShapeRules.h - What a rule of shapes is made of ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a rule of InferShapes.cpp's table asks for operands, and the rules that are in files
// of their own.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_SHAPERULES_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_SHAPERULES_H

#include "InferShapes.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::spyre::torch_lowering {

/// The operands of an operation as a rule asks for them.
class Operands {
public:
  explicit Operands(Operation *op) : op(op) {}

  unsigned size() const { return op->getNumOperands(); }
  bool isTensor(unsigned i) const {
    return i < size() && torch_reader::isTensor(op->getOperand(i).getType());
  }
  /// None, or left out at the end.
  bool isNone(unsigned i) const { return i >= size() || torch_reader::isNone(op->getOperand(i)); }
  std::optional<Shape> getShape(unsigned i) const {
    return i < size() ? getShape(op->getOperand(i)) : std::nullopt;
  }
  std::optional<int64_t> getInt(unsigned i) const {
    return i < size() ? torch_reader::getConstantInt(op->getOperand(i)) : std::nullopt;
  }
  std::optional<bool> getBool(unsigned i) const {
    return i < size() ? torch_reader::getConstantBool(op->getOperand(i)) : std::nullopt;
  }
  std::optional<Shape> getInts(unsigned i) const {
    return i < size() ? torch_reader::getIntList(op->getOperand(i)) : std::nullopt;
  }
  /// A list of ints for \p count dims, where one may stand for all; an empty one is
  /// \p otherwise.
  std::optional<Shape> getIntsForDims(unsigned i, size_t count, const Shape &otherwise) const {
    std::optional<Shape> ints = getInts(i);
    if (ints && ints->empty())
      return otherwise;
    if (ints && ints->size() == 1)
      ints->assign(count, ints->front());
    return ints && ints->size() == count ? ints : std::nullopt;
  }
  /// Operand \p i, a dim of a tensor of \p rank dims.
  std::optional<int64_t> getDim(unsigned i, int64_t rank) const {
    std::optional<int64_t> dim = getInt(i);
    return dim ? normalize(*dim, rank) : std::nullopt;
  }
  /// The shapes of a list of tensors.
  std::optional<SmallVector<Shape>> getShapes(unsigned i) const;

  static std::optional<Shape> getShape(Value value) {
    std::optional<ArrayRef<int64_t>> sizes = torch_reader::getTensorShape(value.getType());
    if (!sizes || llvm::is_contained(*sizes, ShapedType::kDynamic))
      return std::nullopt;
    return Shape(*sizes);
  }
  static std::optional<int64_t> normalize(int64_t dim, int64_t rank) {
    if (dim < -rank || dim >= rank)
      return std::nullopt;
    return dim < 0 ? dim + rank : dim;
  }

  Operation *const op;
};

using Shapes = SmallVector<Shape>;
/// Shapes of the first results.
using Rule = std::optional<Shapes> (*)(const Operands &);

std::optional<Shapes> one(std::optional<Shape> shape);
/// The number of elements; nothing if it is not one.
std::optional<int64_t> getProduct(ArrayRef<int64_t> shape);
std::optional<Shape> broadcast(const Shape &a, const Shape &b);
std::optional<Shape> broadcastAll(ArrayRef<Shape> shapes);

// Views and copies: ShapeRulesOfMovement.cpp.
std::optional<Shapes> inferView(const Operands &o);
std::optional<Shapes> inferExpand(const Operands &o);
std::optional<Shapes> inferPermute(const Operands &o);
std::optional<Shapes> inferTranspose(const Operands &o);
std::optional<Shapes> inferMoveDim(const Operands &o);
std::optional<Shapes> inferT(const Operands &o);
std::optional<Shapes> inferUnsqueeze(const Operands &o);
std::optional<Shapes> inferSqueeze(const Operands &o);
std::optional<Shapes> inferSlice(const Operands &o);
std::optional<Shapes> inferSelect(const Operands &o);
std::optional<Shapes> inferFlatten(const Operands &o);
std::optional<Shapes> inferUnflatten(const Operands &o);
std::optional<Shapes> inferCat(const Operands &o);
std::optional<Shapes> inferStack(const Operands &o);
std::optional<Shapes> inferRepeat(const Operands &o);
std::optional<Shapes> inferPad(const Operands &o);
std::optional<Shapes> inferIndexSelect(const Operands &o);
std::optional<Shapes> inferEmbedding(const Operands &o);
std::optional<Shapes> inferIndex(const Operands &o);

// Contractions and windows: ShapeRulesOfWindows.cpp.
std::optional<Shapes> inferMatmul(const Operands &o);
std::optional<Shapes> inferAddmm(const Operands &o);
std::optional<Shapes> inferLinear(const Operands &o);
std::optional<Shapes> inferConvolution(const Operands &o);
std::optional<Shapes> inferPool(const Operands &o);
std::optional<Shapes> inferAdaptivePool(const Operands &o);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_SHAPERULES_H
