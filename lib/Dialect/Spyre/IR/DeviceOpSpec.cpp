//===- DeviceOpSpec.cpp - A device operation as a value -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/PlanHints.h"

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

using namespace mlir;
using namespace mlir::spyre;

DeviceOpSpec DeviceOpSpec::of(DeviceOpInterface op) {
  DeviceOpSpec spec;
  spec.opFunc = op.getOpFunc();
  spec.inputs.assign(op.getInputs().begin(), op.getInputs().end());
  spec.output = op.getOutput();
  if (Value result = op.getResultTensor())
    spec.resultType = result.getType();
  spec.extents.assign(op.getExtents().begin(), op.getExtents().end());
  for (unsigned i = 0, e = op.getMaps().size(); i < e; ++i)
    spec.maps.push_back(op.getMap(i));
  spec.splits.assign(op.getSplits().begin(), op.getSplits().end());
  spec.loopVariables.assign(op.getLoopVariables().begin(), op.getLoopVariables().end());
  if (DictionaryAttr constants = op.getConstantsAttr())
    spec.constants.assign(constants.begin(), constants.end());
  spec.kFast = op.getKFast();
  if (std::optional<ArrayRef<int64_t>> gather = op.getGather())
    spec.gather.assign(gather->begin(), gather->end());
  llvm::append_range(spec.attributes, op->getDiscardableAttrs());
  return spec;
}

DeviceOpSpec DeviceOpSpec::move(::spyre::OpFunc opFunc, Value source, ArrayRef<int64_t> extents,
                                AffineMap from, AffineMap to) {
  DeviceOpSpec spec;
  spec.opFunc = opFunc;
  spec.inputs = {source};
  spec.extents.assign(extents.begin(), extents.end());
  spec.maps = {from, to};
  return spec;
}

DeviceOpSpec DeviceOpSpec::restrict(unsigned dim, int64_t offset, int64_t extent) const {
  assert(dim < extents.size() && offset >= 0 && extent >= 0 && offset + extent <= extents[dim] &&
         "a part of the dim");
  MLIRContext *context = maps.front().getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < extents.size(); ++d)
    dims.push_back(getAffineDimExpr(d, context) + (d == dim ? offset : 0));
  SmallVector<int64_t> sizes(extents);
  sizes[dim] = extent;
  DeviceOpSpec part = substitute(dims, sizes);
  part.splits = splits;
  part.attributes = attributes;
  return part;
}

DeviceOpSpec DeviceOpSpec::substitute(ArrayRef<AffineExpr> dims, ArrayRef<int64_t> sizes) const {
  assert(dims.size() == extents.size() && "an expression a dim");
  DeviceOpSpec spec = *this;
  spec.extents.assign(sizes.begin(), sizes.end());
  for (AffineMap &map : spec.maps)
    map = map.replaceDimsAndSymbols(dims, {}, sizes.size(), map.getNumSymbols());
  for (NamedAttribute &attribute : spec.attributes)
    if (auto hint = dyn_cast<DictionaryAttr>(attribute.getValue());
        hint && attribute.getName() == kPlanAttr) {
      SmallVector<std::optional<unsigned>> places;
      for (AffineExpr expr : dims) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        places.push_back(dim ? std::optional(dim.getPosition()) : std::nullopt);
      }
      attribute.setValue(renumberPlanHint(hint, places));
    }
  if (splits.empty())
    return spec;
  spec.splits.assign(sizes.size(), 1);
  for (auto [d, expr] : llvm::enumerate(dims))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      spec.splits[dim.getPosition()] = splits[d];
  return spec;
}

DeviceOpSpec DeviceOpSpec::withOperand(unsigned index, Value value, AffineMap map) const {
  DeviceOpSpec spec = *this;
  spec.inputs[index] = value;
  spec.maps[index] = map;
  return spec;
}

DeviceOpSpec DeviceOpSpec::withOutput(Value output, Type resultType, AffineMap map) const {
  DeviceOpSpec spec = *this;
  spec.output = output;
  spec.resultType = resultType;
  spec.maps.back() = map;
  return spec;
}

DeviceOpInterface mlir::spyre::buildDeviceOp(OpBuilder &b, Location loc, const DeviceOpSpec &spec) {
  StringRef name = getOperationName(spec.opFunc);
  assert(!name.empty() && "not a specified OpFunc");
  OperationState state(loc, name);
  state.addOperands(spec.inputs);
  if (spec.output)
    state.addOperands(spec.output);
  state.addOperands(spec.loopVariables);
  if (spec.resultType)
    state.addTypes(spec.resultType);
  state.addAttribute("extents", b.getDenseI64ArrayAttr(spec.extents));
  if (llvm::any_of(spec.splits, [](int64_t s) { return s != 1; }))
    state.addAttribute("splits", b.getDenseI64ArrayAttr(spec.splits));
  if (spec.kFast)
    state.addAttribute("kFast", b.getUnitAttr());
  state.addAttribute("maps", b.getAffineMapArrayAttr(spec.maps));
  if (!spec.constants.empty())
    state.addAttribute("constants", b.getDictionaryAttr(spec.constants));
  if (!spec.gather.empty())
    state.addAttribute("gather", b.getDenseI64ArrayAttr(spec.gather));
  state.addAttribute("operandSegmentSizes",
                     b.getDenseI32ArrayAttr({static_cast<int32_t>(spec.inputs.size()),
                                             static_cast<int32_t>(spec.output != nullptr),
                                             static_cast<int32_t>(spec.loopVariables.size())}));
  state.addAttributes(spec.attributes);
  return cast<DeviceOpInterface>(b.create(state));
}
