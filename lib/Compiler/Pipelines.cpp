//===- Pipelines.cpp - The pass pipelines -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of passes, and what each optimisation level turns on.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/Pipelines.h"

#include "spyre/Conversion/SpyreToKTIR/SpyreToKTIR.h"
#include "spyre/Conversion/SpyreToSuperDSC/SpyreToSuperDSC.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/KTIR/Transforms/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/SuperDSC/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace spyre::compiler {

void buildL1Stage(OpPassManager &pm, const LowerOptions &options) {
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreCollectHints());
  pm.addPass(mlir::spyre::createSpyreSpecializeShapes());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreFoldTorchConstants());
  pm.addPass(mlir::spyre::createConvertTorchToSpyre());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyrePassIntegers());
  if (options.precision == Precision::Strict)
    pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreStrictPrecision());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreWidenRange());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreExactJumps());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreCentreKeys());
  mlir::spyre::SpyreResolvePrecisionOptions precision;
  precision.fastProducts = options.precision == Precision::Fast;
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreResolvePrecision(precision));
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreWidenArguments());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreDecompose());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreSplitProducts());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreExpandFunctions());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreFoldViews());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreSplitDims());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreSeparateUpdates());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreSafeRows());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreMoveScaling());
}

void buildL2Stage(OpPassManager &pm, const LowerOptions &options) {
  // Of programs that begin here.
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreCollectHints());
  mlir::spyre::SpyreAssignLayoutsOptions layouts;
  layouts.search = options.searchLayouts;
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreAssignLayouts(layouts));
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreVerifyLayouts());
}

void buildL3Stage(OpPassManager &pm, const LowerOptions &options, bool hasBuffers) {
  mlir::spyre::SpyreDivideWorkOptions division;
  division.cores = options.cores != 0 ? options.cores : options.optLevel == 0 ? 1 : 0;
  division.search = options.optLevel >= 2;
  division.exhaustive = options.optLevel >= 3;
  division.leaveUndivided = true;
  division.record = options.recordPlan;
  division.recordAddresses = options.recordAddresses;
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreDivideWork(division));
  if (!hasBuffers)
    pm.addPass(mlir::spyre::createSpyreBufferize());
  if (options.tileTime) {
    if (options.carryReductions) {
      mlir::spyre::SpyreCarryReductionsOptions carry;
      carry.products = options.carryProducts;
      carry.deviationsApart = options.deviationsApart;
      carry.record = options.recordPlan;
      pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreCarryReductions(carry));
    }
    mlir::spyre::SpyreTileTimeOptions tiles;
    tiles.cores = division.cores;
    tiles.preferCarried = options.preferCarried;
    tiles.seed = options.tileSeed;
    tiles.record = options.recordPlan;
    tiles.seconds = options.planSeconds;
    pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreTileTime(tiles));
  }
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreSplitFar());
  if (options.tileTime) {
    // What tiles leave open.
    division.leaveUndivided = false;
    division.resume = true;
    pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreDivideWork(division));
  }
  mlir::spyre::SpyrePlaceBuffersOptions placement;
  placement.useLX = options.optLevel > 0;
  placement.record = options.recordAddresses;
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyrePlaceBuffers(placement));
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreVerifyPlan());
}

void buildPlanPipeline(OpPassManager &pm, const LowerOptions &options) {
  buildL1Stage(pm, options);
  buildL2Stage(pm, options);
  buildL3Stage(pm, options);
}

void buildSuperDSCPipeline(OpPassManager &pm, const LowerOptions &options) {
  mlir::spyre::ConvertSpyreToSuperDSCOptions conversion;
  conversion.symbolicArgs = options.symbolicArgs;
  pm.addPass(mlir::spyre::createConvertSpyreToSuperDSC(conversion));
  // Nobody can mend in a program what only the format's text frowns upon.
  mlir::sdsc::SdscVerifyPassOptions verify;
  verify.warnings = false;
  pm.addPass(mlir::sdsc::createSdscVerifyPass(verify));
}

void buildKTIRPipeline(OpPassManager &pm) {
  pm.addPass(mlir::spyre::createConvertSpyreToKTIR());
  pm.addPass(mlir::ktdp::createKtirCheckLegality());
}

void registerPipelines() {
  PassPipelineRegistration<LowerOptions>(
      "spyre-torch-to-l1", "torch dialect to device operations on plain tensors", buildL1Stage);
  PassPipelineRegistration<LowerOptions>(
      "spyre-plan", "Lower a program to a placed and verified L3",
      [](OpPassManager &pm, const LowerOptions &options) { buildPlanPipeline(pm, options); });
  PassPipelineRegistration<LowerOptions>("spyre-lower-to-superdsc",
                                         "Lower a program to descriptors and a bundle function",
                                         [](OpPassManager &pm, const LowerOptions &options) {
                                           buildPlanPipeline(pm, options);
                                           buildSuperDSCPipeline(pm, options);
                                         });
  PassPipelineRegistration<LowerOptions>("spyre-lower-to-ktir",
                                         "Lower a program to a checked KTIR kernel",
                                         [](OpPassManager &pm, const LowerOptions &options) {
                                           buildPlanPipeline(pm, options);
                                           buildKTIRPipeline(pm);
                                         });
}

} // namespace spyre::compiler
