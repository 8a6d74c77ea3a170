//===- Lowering.h - One torch operation on its way to L1 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a lowering sees of the operation that it lowers, the tables of lowerings, and
// the way to say no: `refuse` gives the reason that the report prints.
//
// To add an operation, add a line to the table of its kind:
//   Pointwise.cpp     one device operation an element, with broadcasting
//   Composites.cpp    several device operations an element (activations, powers, ...)
//   Functions.cpp     trigonometric, hyperbolic and error functions
//   Comparisons.cpp   comparisons, bool, selection, casts from and to bool
//   Reductions.cpp    reductions
//   Norms.cpp         statistics and normalisation
//   Views.cpp         the same elements, indexed differently; copies; casts
//   Contractions.cpp  matrix products; softmax and others that stay whole for a while
//   Attention.cpp     scaled dot product attention
//   KnownIndices.cpp  reading and writing at indices
//   Windows.cpp       convolutions and pooling
//   Integers.cpp      casts of integers, places of extremes
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_LOWERING_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_LOWERING_H

#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>
#include <string>

namespace mlir::spyre::torch_lowering {

/// The tensor type of a torch type; null where L1 has none, with the reason in
/// \p why.
RankedTensorType convertTensorType(Type type, std::string *why = nullptr);

/// `count` elements of dim `dim`: every `step`-th one from `start` on.
struct Slice {
  int64_t dim = 0, start = 0, count = 0, step = 1;
};

/// One operation while it is lowered.
class Lowering {
public:
  Lowering(Operation *op, ArrayRef<Value> operands, ArrayRef<Type> resultTypes,
           ConversionPatternRewriter &b)
      : op(op), b(b), loc(op->getLoc()), operands(operands), resultTypes(resultTypes) {}

  Operation *const op;
  ConversionPatternRewriter &b;
  const Location loc;

  unsigned getNumOperands() const { return operands.size(); }
  /// Operand \p i is a tensor (not a number, list or none).
  bool isTensor(unsigned i) const;
  bool isNone(unsigned i) const;
  Value getTensor(unsigned i) const { return operands[i]; }
  RankedTensorType getTensorType(unsigned i) const {
    return cast<RankedTensorType>(operands[i].getType());
  }
  /// Constants; nothing (and the reason set) where the program computes them.
  std::optional<int64_t> getInt(unsigned i);
  std::optional<bool> getBool(unsigned i);
  std::optional<SmallVector<int64_t>> getInts(unsigned i);
  /// An int, float or bool constant, or a 0-d tensor made of one.
  std::optional<double> getNumber(unsigned i);
  /// A string constant, or an empty string.
  StringRef getString(unsigned i) const;

  RankedTensorType getResultType(unsigned i = 0) const {
    return cast<RankedTensorType>(resultTypes[i]);
  }
  /// Dim \p dim of a tensor of \p rank, counted from the end if negative; nothing
  /// (and the reason set) if it does not exist.
  std::optional<int64_t> normalizeDim(int64_t dim, int64_t rank);

  /// Index \p index of dim \p dim of a tensor of \p type, counted from the end if
  /// negative; nothing (and the reason set) outside of it.
  std::optional<int64_t> normalizeIndex(int64_t index, RankedTensorType type, int64_t dim);
  /// The slice of operand 0 by the operands dim (number \p first), start, end and step, which
  /// are counted from the end if negative and clamped, as PyTorch reads them; none: all.
  /// Nothing (and the reason set) where they are unknown or the step is not positive.
  std::optional<Slice> getSlice(unsigned first);

  /// Tensor operand \p i, or number \p i as a 0-d constant, in \p elementType.
  Value getAs(unsigned i, Type elementType);
  /// Operand \p i is given: it exists and is not none.
  bool isGiven(unsigned i) const { return i < getNumOperands() && !isNone(i); }
  /// Number \p i, or \p otherwise where it is not given; nothing (and the reason set)
  /// where the program computes it.
  std::optional<double> getNumberOr(unsigned i, double otherwise) {
    return isGiven(i) ? getNumber(i) : std::optional(otherwise);
  }

  /// The element type of the first result, if the device computes in it (16-bit floats
  /// and f32; f64 where statisticsAreNarrow); null after refusing. Which format an
  /// operation really has is decided with the islands.
  Type getComputeType();
  /// A 16-bit or f32 element type for the first result; null after refusing.
  Type getDeviceType();

  /// Why this operation cannot be lowered; returns failure.
  LogicalResult refuse(const Twine &reason) {
    if (why.empty())
      why = reason.str();
    return failure();
  }
  const std::string &getReason() const { return why; }

  /// The values that replace the results; further results must be unused.
  LogicalResult replaceWith(Value value);
  LogicalResult replaceWith(ArrayRef<Value> values);

private:
  ArrayRef<Value> operands;
  ArrayRef<Type> resultTypes;
  std::string why;
};

using Handler = std::function<LogicalResult(Lowering &)>;
using HandlerTable = llvm::StringMap<Handler>;

/// \p handler, called only if operand 0 is a tensor.
Handler onTensor(Handler handler);

/// Elements start, start + step, ... of dim \p dim of \p source, \p size of them.
Value buildSlice(Lowering &l, Value source, int64_t dim, int64_t start, int64_t size,
                 int64_t step = 1);
/// A tensor of \p shape filled with \p number.
Value buildSplat(Lowering &l, ArrayRef<int64_t> shape, double number, Type elementType);
/// Index \p index of dim \p dim of \p source, without that dim.
Value buildSelect(Lowering &l, Value source, int64_t dim, int64_t index);

/// Replaces the operation by operand 0 with \p part in place of elements \p start .. of dim
/// \p dim.
LogicalResult replaceSlice(Lowering &l, Value part, int64_t dim, int64_t start);

/// PyTorch's dims and keepdim of a reduction of operand 0: operand \p dims (an int, a
/// list, or -1: all), operand \p keepDims (or -1: false).
struct ReducedDims {
  SmallVector<int64_t> dims; ///< sorted, each once
  bool keepDims = false;
  int64_t numElements = 1; ///< reduced elements a result
};
std::optional<ReducedDims> getReducedDims(Lowering &l, int dims, int keepDims);

/// Operand \p i (a number, or a tensor of bools or floats) as bools; null after refusing.
Value getTruth(Lowering &l, unsigned i);

/// The largest number not above and the smallest not below \p value (as \p type rounds
/// it) that DL16 holds, for bounds of comparisons; \p value itself where \p type is f32.
double roundDown(double value, Type type);
double roundUp(double value, Type type);
/// The bound \p number of a comparison, which is \p rounded as DL16 has it; the number stays
/// beside it, for operands that the device has in f32.
Value buildBound(Lowering &l, double number, double rounded, Type type);

/// True if \p op computes in f64 what is kept as statistics of narrower values only
/// (sums, centred squares): spyre-resolve-precision runs it in f32.
bool statisticsAreNarrow(Operation *op);

/// True if \p op changes an operand (`add_`, `zero_`): it counts even if nobody reads its
/// result. There is no lowering for these; an export takes them away.
bool writesInPlace(Operation *op);

/// The elements of \p op's result, if it is made of numbers and small literals only;
/// else null.
ElementsAttr computeConstant(Operation *op);

void addPointwise(HandlerTable &table);
void addComposites(HandlerTable &table);
void addFunctions(HandlerTable &table);
/// After addViews: takes the casts from and to bool over.
void addComparisons(HandlerTable &table);
void addReductions(HandlerTable &table);
void addNorms(HandlerTable &table);
void addViews(HandlerTable &table);
void addMovement(HandlerTable &table);

/// True if \p op returns a list of views of its operand, which are made where the list
/// is unpacked.
bool isListOfViews(Operation *op);

void addContractions(HandlerTable &table);
void addAttention(HandlerTable &table);
void addReorder(HandlerTable &table);
void addEinsum(HandlerTable &table);
void addKnownIndices(HandlerTable &table);
void addWindows(HandlerTable &table);
void addIntegers(HandlerTable &table);

/// A cast from or to integers: of arguments and for results; others are refused.
LogicalResult lowerIntegerCast(Lowering &l);
/// max.dim or min.dim where their places are read, too.
LogicalResult lowerExtremeWithPlace(Lowering &l, bool isLargest);

/// The tensors of list operand \p i; nothing after refusing.
std::optional<SmallVector<Value>> getTensorList(Lowering &l, unsigned i);

/// A bool constant [rows, columns], true from diagonal \p diagonal (0: through the first
/// element, positive: to its right) on: upwards, or downwards.
Value buildTriangleMask(Lowering &l, int64_t rows, int64_t columns, int64_t diagonal, bool isUpper);

/// Replaces the operation by operand 0 with operand 1 in place of every \p step th element
/// of dim \p dim from \p start on.
LogicalResult lowerSteppedScatter(Lowering &l, int64_t dim, int64_t start, int64_t step);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_LOWERING_H
