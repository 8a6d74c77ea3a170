//===- PartCarrier.h - Building reductions that go on from part to part -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every reduction that is carried on needs: buffers that are filled before the first part
// with what changes nothing, and combined with each part, by operations that carry the number of
// their group.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_PARTCARRIER_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_PARTCARRIER_H

#include "CarriedRows.h"

#include "spyre/Device/Device.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spyre {

/// The operation that puts the results of two parts together.
::spyre::OpFunc getCombiningFunc(::spyre::Combiner combiner);

/// The argument of \p func that is the number \p value, of type \p element; made if there is none.
Value getNumber(func::FuncOp func, double value, Type element, Location loc);

/// The only operation that writes \p buffer, an unplaced one of the function or an argument; else
/// null.
DeviceOpInterface getOnlyWriter(Value buffer);

class PartCarrier {
public:
  using Space = CarriedRows::Space;

  /// \p number: of the group; nothing: who builds it builds the loop, too.
  PartCarrier(func::FuncOp func, std::optional<int64_t> number)
      : builder(func), func(func), number(number) {}

  void mark(DeviceOpInterface op) {
    if (number)
      op->setAttr(kCarriedAttr, builder.getI64IntegerAttr(*number));
  }
  Value alloc(BufferType type, Location loc) {
    return AllocOp::create(builder, loc, type, PlacementAttr(), DistributionAttr());
  }
  Value allocLike(Value buffer, Location loc) {
    return alloc(cast<BufferType>(buffer.getType()), loc);
  }
  /// \p opFunc on \p inputs for all points of \p space; \p maps null: where it writes.
  DeviceOpInterface buildOn(const Space &space, Location loc, ::spyre::OpFunc opFunc,
                            ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, Value output,
                            ArrayRef<NamedAttribute> constants = {});
  /// Writes \p value to all of \p buffer. As the other operations of its kind here: just before
  /// what needs it, as runs of neighbouring operations are tiled that have dims in common.
  void fill(const Space &space, Location loc, Value buffer, double value);
  /// Combines \p whole, which is filled first, with \p part, of \p reduction.
  void combine(const Space &space, Location loc, const ::spyre::OpFuncInfo &reduction, Value whole,
               Value part);
  /// The same without filling it.
  void update(const Space &space, Location loc, const ::spyre::OpFuncInfo &reduction, Value whole,
              Value part);

  /// The argument that is a number, and how all points of a space read it.
  Value getNumber(double value, Type element, Location loc) {
    return mlir::spyre::getNumber(func, value, element, loc);
  }
  AffineMap getNowhere(const Space &space) {
    return AffineMap::get(space.extents.size(), 0, builder.getContext());
  }

  OpBuilder builder;

private:
  func::FuncOp func;
  std::optional<int64_t> number;
};

/// Makes \p product one that adds up parts, of group \p number; false, and nothing is changed, if
/// its first factor is no product's, element by element, and its contracted dim no longer than a
/// core reaches.
bool carryProduct(func::FuncOp func, DeviceOpInterface product, int64_t number);

/// Makes \p op, a long reduction, one that is done part by part, of group \p number; false, and
/// nothing is changed, if somebody has done so, or others write its result.
bool carryLongRow(func::FuncOp func, DeviceOpInterface op, int64_t number);

/// Makes \p sum, a long one of squares of what is left of a value without a number of its row, and
/// the long reduction of that value that the number is computed from, one group \p number, which
/// goes through the row once; false, and nothing is changed, if \p sum is none.
bool carryDeviations(func::FuncOp func, DeviceOpInterface sum, const ::spyre::Device &device,
                     int64_t number);

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_PARTCARRIER_H
