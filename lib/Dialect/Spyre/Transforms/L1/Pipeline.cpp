//===- Pipeline.cpp - torch to L1 in one go -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the passes of L1. A test pins it.
//
//===----------------------------------------------------------------------===//

#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/Spyre/Transforms/L1Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void mlir::spyre::buildL1Pipeline(OpPassManager &pm) {
  pm.addPass(createSpyreSpecializeShapes());
  pm.addNestedPass<func::FuncOp>(createSpyreFoldTorchConstants());
  pm.addPass(createConvertTorchToSpyre());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createSpyreWidenRange());
  pm.addNestedPass<func::FuncOp>(createSpyreExactJumps());
  pm.addNestedPass<func::FuncOp>(createSpyreCentreKeys());
  pm.addNestedPass<func::FuncOp>(createSpyreResolvePrecision());
  pm.addNestedPass<func::FuncOp>(createSpyreWidenArguments());
  pm.addNestedPass<func::FuncOp>(createSpyreDecompose());
  pm.addNestedPass<func::FuncOp>(createSpyreFoldViews());
  pm.addNestedPass<func::FuncOp>(createSpyreSplitDims());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::spyre::registerL1Pipeline() {
  PassPipelineRegistration<>(
      "spyre-torch-to-l1", "torch dialect to device operations on plain tensors", buildL1Pipeline);
}
