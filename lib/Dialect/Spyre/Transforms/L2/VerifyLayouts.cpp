//===- VerifyLayouts.cpp - The contract of L2 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reports every violation of the rules that Passes.td numbers. The tail analysis
// follows the OpFunc table.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/Transforms/L2/ArrangementAnalysis.h"
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L2/TailAnalysis.h"
#include "spyre/Layout/TensorLayout.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREVERIFYLAYOUTS
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

namespace {
class LayoutVerifier {
public:
  LayoutVerifier(func::FuncOp func, const ::spyre::Device &device)
      : func(func), memoryInBytes(device.getMemoryInBytes()) {}

  bool run() {
    for (BlockArgument argument : func.getArguments())
      checkValue(argument, func);
    func.walk([&](Operation *op) {
      for (Value result : op->getResults())
        checkValue(result, op);
    });
    if (!ok)
      return false; // the rules below need layouts
    TailAnalysis tails(func);
    func.walk([&](DeviceOpInterface op) { checkOp(op, tails); });
    func.walk([&](func::ReturnOp op) { checkReturn(op); });
    if (statesArrangements())
      checkArrangements();
    return ok;
  }

private:
  InFlightDiagnostic report(Operation *op, StringRef rule) {
    ok = false;
    // Not Operation::emitError(), which may print all of a function.
    return emitError(op->getLoc()) << rule << ": ";
  }

  void checkValue(Value value, Operation *at) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
    if (!layout) {
      report(at, "L2-0") << "a tensor of type " << type << " has no layout";
      return;
    }
    // Sizes are compared in sticks, and divided instead of multiplied: a tensor of
    // 2^62 rows is a mistake like any other.
    int64_t left = memoryInBytes / ::spyre::kStickInBytes;
    for (int64_t size : layout.getDeviceSizes().drop_back())
      left = size > 0 ? left / size : left;
    if (left < 1)
      report(at, "L2-5") << "a tensor of type "
                         << RankedTensorType::get(type.getShape(), type.getElementType())
                         << " does not fit in the device memory of " << memoryInBytes << " bytes";
  }

  void checkOp(DeviceOpInterface op, TailAnalysis &tails) {
    StickAccess sticks = checkSticks(op);
    if (sticks.kind == StickAccess::Unreadable) {
      report(op, "L2-1") << sticks.reason;
      return;
    }
    if (isMatmul(op))
      checkContraction(op, tails);
    if (isRestickify(op))
      checkRestickify(op);
  }

  /// Extent in memory of logical dim \p dim of \p value, in elements.
  static int64_t getExtentInMemory(Value value, int64_t dim) {
    ::spyre::layout::TensorLayout layout = getLayout(value).getTensorLayout(getShape(value));
    int64_t extent = layout.paddedShape.empty() ? layout.shape[dim] : layout.paddedShape[dim];
    int64_t elements = ::spyre::layout::getElementsInStick(layout, static_cast<int>(dim));
    return llvm::alignTo(extent, elements);
  }

  void checkContraction(DeviceOpInterface op, TailAnalysis &tails) {
    MatmulDims dims = getMatmulDims(op);
    if (dims.reduction.empty())
      return;
    unsigned k = dims.reduction.front();
    Value y = op.getInputs()[1];
    int64_t elements = ::spyre::getElementsPerStick(getLayout(y).getFormat());
    int64_t extent = op.getExtents()[k];
    if (extent % elements == 0)
      return;
    for (auto [dim, result] : llvm::enumerate(op.getInputMap(1).getResults())) {
      if (!result.isFunctionOfDim(k))
        continue;
      FailureOr<::spyre::layout::IndexMap> index = toIndexMap(op.getInputMap(1), op.getExtents());
      int64_t start = succeeded(index) ? index->results[dim].constant : 0;
      int64_t inMemory = getExtentInMemory(y, dim) - start;
      int64_t needed = static_cast<int64_t>(llvm::alignTo(extent, elements));
      if (inMemory < needed) {
        report(op, "L2-3") << "input #1 has " << inMemory << " rows of the contraction dim d" << k
                           << " in memory; the device reads " << needed;
        return;
      }
    }
    // Zero times finite is zero; anything else would show.
    ::spyre::TailState x = tails.getTail(op.getInputs()[0], op.getInputMap(0), k, op.getExtents()),
                       w = tails.getTail(y, op.getInputMap(1), k, op.getExtents());
    if (!::spyre::areContractionTailsSufficient(op.getInfo(), x, w))
      report(op, "L2-2") << "the contraction dim d" << k << " of extent " << extent
                         << " is padded to " << llvm::alignTo(extent, elements)
                         << "; one input's padding must be zero and the other's finite, but they "
                            "are "
                         << StringRef(::spyre::getName(x)) << " and "
                         << StringRef(::spyre::getName(w));
  }

  void checkRestickify(DeviceOpInterface op) {
    // Whole blocks of stick by stick are moved: both dims are padded on both sides.
    Value operands[] = {op.getInputs()[0], op.getDestination()};
    for (unsigned i : {0u, 1u}) {
      int64_t dim = getStickDim(getLayout(operands[1 - i]));
      if (dim < 0)
        continue;
      int64_t elements = ::spyre::getElementsPerStick(getLayout(operands[i]).getFormat());
      int64_t inMemory = getExtentInMemory(operands[i], dim);
      if (inMemory % elements)
        report(op, "L2-3") << (i ? "the output" : "the input") << " has " << inMemory
                           << " rows of dim " << dim
                           << " in memory; a restickify moves multiples of " << elements;
    }
  }

  static bool isStated(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && getLayout(value).getArrangement() != Arrangement::Standard;
  }

  /// True if some tensor is said to be in another order than the standard one. Without, the
  /// casts are those of a device that keeps the order.
  bool statesArrangements() {
    return llvm::any_of(func.getArguments(), isStated) ||
           func.walk([](Operation *op) {
                 return llvm::any_of(op->getResults(), isStated) ? WalkResult::interrupt()
                                                                 : WalkResult::advance();
               })
               .wasInterrupted();
  }

  void checkArrangements() {
    ArrangementAnalysis arrangements(func);
    func.walk([&](DeviceOpInterface op) {
      if (std::string why = arrangements.check(op); !why.empty()) {
        report(op, "L2-6") << why;
        return;
      }
      Arrangement stated = getLayout(op.getResultTensor()).getArrangement();
      if (!arrangements.mayBe(op.getResultTensor(), stated))
        report(op, "L2-6") << "makes a tensor in the order "
                           << arrangements.describe(op.getResultTensor())
                           << ", but its layout says " << StringRef(::spyre::getName(stated));
    });
  }

  void checkReturn(func::ReturnOp op) {
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      auto type = cast<RankedTensorType>(value.getType());
      LayoutAttr layout = getLayout(value);
      // Copies to the host follow any layout of whole sticks without padding of other dims.
      bool isFree = func.getResultAttr(i, kOnHostAttr) && getStickDim(layout) >= 0 &&
                    layout.getTensorLayout(type.getShape()).paddedShape.empty();
      auto wanted = LayoutAttr::getDefault(op.getContext(), type.getShape(), layout.getFormat());
      // The order within sticks is L2-6's.
      if (!isFree && layout.withArrangement(Arrangement::Standard) != wanted)
        report(op, "L2-4") << "result #" << i << " has layout " << layout
                           << ", not the default one that callers expect";
    }
  }

  func::FuncOp func;
  int64_t memoryInBytes;
  bool ok = true;
};

struct VerifyLayoutsPass : mlir::spyre::impl::SpyreVerifyLayoutsBase<VerifyLayoutsPass> {
  void runOnOperation() override {
    FailureOr<::spyre::Device> device = getDevice(getOperation());
    if (failed(device) || !LayoutVerifier(getOperation(), *device).run())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
