//===- PartCarrier.cpp - Building reductions that go on from part to part --===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "PartCarrier.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Combiner;
using ::spyre::OpFunc;
namespace layout = ::spyre::layout;

OpFunc mlir::spyre::getCombiningFunc(Combiner combiner) {
  assert(combiner != Combiner::None && "no reduction");
  return combiner == Combiner::Add       ? OpFunc::Add
         : combiner == Combiner::Maximum ? OpFunc::Maximum
                                         : OpFunc::Minimum;
}

Value mlir::spyre::getNumber(func::FuncOp func, double value, Type element, Location loc) {
  Builder builder(func);
  FloatAttr number = builder.getF64FloatAttr(value);
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<BufferType>(argument.getType());
    if (type && type.getShape().empty() && type.getElementType() == element &&
        func.getArgAttr(argument.getArgNumber(), kValueAttr) == number)
      return argument;
  }
  MLIRContext *context = builder.getContext();
  const ::spyre::DataFormat format =
      element.isF32() ? ::spyre::DataFormat::IEEE_FP32 : ::spyre::DataFormat::SEN169_FP16;
  auto type = BufferType::get(context, {}, element,
                              LayoutAttr::get(context, layout::getDefaultLayout({}, format)),
                              MemorySpace::HBM);
  unsigned index = func.getNumArguments();
  SmallVector<NamedAttribute> attributes{
      builder.getNamedAttr(kRoleAttr, builder.getStringAttr("constant")),
      builder.getNamedAttr(kValueAttr, number)};
  (void)func.insertArgument(index, type, builder.getDictionaryAttr(attributes), loc);
  return func.getArgument(index);
}

DeviceOpInterface mlir::spyre::getOnlyWriter(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  if (alloc ? alloc.getPlacementAttr() != nullptr : !isa<BlockArgument>(buffer))
    return {};
  DeviceOpInterface writer;
  for (Operation *user : buffer.getUsers()) {
    auto op = dyn_cast<DeviceOpInterface>(user);
    if (!op)
      return {};
    if (op.getDestination() != buffer)
      continue;
    if (writer)
      return {};
    writer = op;
  }
  return writer;
}

DeviceOpInterface PartCarrier::buildOn(const Space &space, Location loc, OpFunc opFunc,
                                       ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
                                       Value output, ArrayRef<NamedAttribute> constants) {
  DeviceOpSpec spec;
  spec.opFunc = opFunc;
  spec.inputs.assign(inputs.begin(), inputs.end());
  spec.output = output;
  spec.extents = space.extents;
  for (AffineMap map : maps)
    spec.maps.push_back(map ? map : space.place);
  spec.maps.push_back(space.place);
  spec.splits = space.splits;
  spec.constants.assign(constants.begin(), constants.end());
  return buildDeviceOp(builder, loc, spec);
}

void PartCarrier::fill(const Space &space, Location loc, Value buffer, double value) {
  buildOn(space, loc, OpFunc::Identity, {getNumber(value, getElementType(buffer), loc)},
          {getNowhere(space)}, buffer);
}

void PartCarrier::combine(const Space &space, Location loc, const ::spyre::OpFuncInfo &reduction,
                          Value whole, Value part) {
  assert(reduction.neutral && "no reduction");
  fill(space, loc, whole, *reduction.neutral);
  update(space, loc, reduction, whole, part);
}

void PartCarrier::update(const Space &space, Location loc, const ::spyre::OpFuncInfo &reduction,
                         Value whole, Value part) {
  mark(buildOn(space, loc, getCombiningFunc(reduction.combiner), {whole, part},
               {AffineMap(), AffineMap()}, whole));
}
