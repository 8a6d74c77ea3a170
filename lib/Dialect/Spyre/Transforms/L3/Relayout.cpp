//===- Relayout.cpp - From scratchpad to scratchpad -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L3/Relayout.h"

#include "spyre/CostModel/Ring.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"

using namespace mlir;
using namespace mlir::spyre;
namespace layout = ::spyre::layout;

layout::Spread mlir::spyre::getHeld(AllocOp alloc) {
  DistributionAttr held = alloc.getDistributionAttr();
  ArrayRef<int64_t> shape = alloc.getType().getShape();
  int64_t stickDim = getStickDim(alloc.getType().getLayout());
  int64_t elements = ::spyre::getElementsPerStick(alloc.getType().getLayout().getFormat());
  layout::Spread spread;
  spread.numCores = held.getCores();
  for (auto [dim, slices] : llvm::enumerate(held.getSlices())) {
    int64_t step = static_cast<int64_t>(dim) == stickDim ? elements : 1;
    int64_t units = llvm::divideCeilSigned(shape[dim], step);
    spread.dims.push_back({shape[dim], slices, llvm::divideCeilSigned(units, slices) * step});
  }
  Builder b(alloc.getContext());
  for (int64_t core = 0; core < spread.numCores; ++core) {
    SmallVector<Attribute> slices;
    // The attribute's verifier has evaluated the map for each core.
    (void)held.getMap().constantFold({b.getIndexAttr(core)}, slices);
    for (Attribute slice : slices)
      spread.slicesOfCore.push_back(cast<IntegerAttr>(slice).getInt());
  }
  return spread;
}

static ::spyre::cost::Box toBox(const layout::Region &region) {
  ::spyre::cost::Box box;
  for (auto [begin, end] : llvm::zip_equal(region.begin, region.end))
    box.emplace_back(begin, end);
  return box;
}

double mlir::spyre::getRelayoutInNs(DeviceOpInterface op, const PlannedOp &planned,
                                    const ::spyre::Device &device) {
  auto source = getRootBuffer(op.getInputs().front()).getDefiningOp<AllocOp>();
  if (!source || !source.getDistributionAttr() || !planned.spread)
    return 0;
  const layout::Spread spread = getHeld(source);
  const layout::Access &read = planned.accesses.front();
  std::vector<::spyre::cost::Box> held, wanted;
  for (int64_t core = 0; core < spread.numCores; ++core)
    held.push_back(toBox(*spread.getPoints(core)));
  for (int64_t core = 0; core < planned.spread->numCores; ++core)
    wanted.push_back(toBox(*read.getRegion(*planned.spread, core)));
  const ::spyre::DataFormat format = getLayout(op.getInputs().front()).getFormat();
  return ::spyre::cost::getRelayoutInNs(device, held, wanted,
                                        double(::spyre::kStickInBytes) /
                                            double(::spyre::getElementsPerStick(format)));
}
