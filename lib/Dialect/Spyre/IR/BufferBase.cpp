//===- BufferBase.cpp - Where a placed buffer's address starts -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/BufferBase.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::spyre;

FailureOr<BufferBase> mlir::spyre::getBufferBase(Value buffer, Operation *user) {
  BufferBase base;
  buffer = getRootBuffer(buffer);
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    if (isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
      base.kind = BufferBase::Argument;
      base.argument = argument.getArgNumber();
      return base;
    }
  }
  if (auto alloc = buffer.getDefiningOp<AllocOp>()) {
    PlacementAttr placement = alloc.getPlacementAttr();
    if (!placement) {
      InFlightDiagnostic diag = user->emitOpError()
                                << "uses a buffer without a place; run 'spyre-place-buffers'";
      diag.attachNote(alloc.getLoc()) << "allocated here";
      return failure();
    }
    base.offsetInBytes = placement.getAddressInBytes();
    switch (placement.getKind()) {
    case PlacementKind::HBM:
      base.kind = BufferBase::Absolute;
      break;
    case PlacementKind::Pool:
      base.kind = BufferBase::Pool;
      break;
    case PlacementKind::LX:
      base.kind = BufferBase::LX;
      break;
    }
    return base;
  }
  return user->emitOpError() << "uses a buffer that is neither an argument nor an allocation";
}
