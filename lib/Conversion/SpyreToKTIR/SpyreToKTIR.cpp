//===- SpyreToKTIR.cpp - L3 to KTIR -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: describes a function (KernelPlan.h), reports what has no KTIR form, and has
// the rest written down (KernelEmitter.h). Source of the dialect's rules:
// docs/developer/ktir.md.
//
//===----------------------------------------------------------------------===//

#include "spyre/Conversion/SpyreToKTIR/SpyreToKTIR.h"

#include "KernelEmitter.h"
#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"
#include "spyre/Dialect/Spyre/IR/Refusal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_CONVERTSPYRETOKTIR
#include "spyre/Conversion/SpyreToKTIR/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

namespace {
struct ConvertSpyreToKTIRPass : mlir::spyre::impl::ConvertSpyreToKTIRBase<ConvertSpyreToKTIRPass> {
  using ConvertSpyreToKTIRBase::ConvertSpyreToKTIRBase;
  void runOnOperation() override;
};
} // namespace

void ConvertSpyreToKTIRPass::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> planned;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() &&
        func.walk([](DeviceOpInterface) { return WalkResult::interrupt(); }).wasInterrupted())
      planned.push_back(func);
  if (planned.empty())
    return;
  if (planned.size() > 1) {
    InFlightDiagnostic diag = emitError(planned[1].getLoc())
                              << "a kernel is one function; this is the second in the module";
    diag.attachNote(planned[0].getLoc()) << "the first is here";
    return signalPassFailure();
  }
  func::FuncOp func = planned.front();
  PlanningModel model(module);
  if (failed(model.getDevice()))
    return signalPassFailure();
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!isa<BufferType>(type)) {
      emitError(func.getLoc()) << "argument #" << i << " is no buffer; bufferize first";
      return signalPassFailure();
    }
  SmallVector<Unsupported> unsupported;
  FailureOr<Kernel> kernel = planKernel(func, model, capacity, unsupported);
  if (failed(kernel))
    return signalPassFailure();
  // What is refused anyway has no place in the order.
  if (unsupported.empty())
    findBarriers(*kernel, model);
  if (!unsupported.empty()) {
    // Not emitError() of the function, which would print all of it.
    InFlightDiagnostic error = emitError(func.getLoc())
                               << "'" << func.getName()
                               << "' cannot be emitted as KTIR: " << unsupported.size()
                               << (unsupported.size() == 1 ? " operation is" : " operations are")
                               << " not supported";
    for (const Unsupported &what : unsupported) {
      noteRefusal(error, what.op, RefusalRule::Planning, what.reason);
      if (what.other)
        error.attachNote(what.other->getLoc()) << what.other->getName() << ": " << what.note;
    }
    return signalPassFailure();
  }
  Builder b(&getContext());
  module->setAttr(ktdp::kAddressUnitAttr, b.getStringAttr("bytes"));
  module->setAttr(ktdp::kF16Attr, b.getStringAttr("dl16"));
  KernelEmitter(func, *kernel).run();
}
