//===- Pipelines.h - The pass pipelines -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// spyre-lower-to-superdsc: from torch (or any level of the stack) to descriptors;
// spyre-lower-to-ktir: to a KTIR kernel. Lit tests pin the order of passes.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PIPELINES_H
#define SPYRE_COMPILER_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace spyre::compiler {

/// In what format the device computes what the program writes.
enum class Precision {
  Default, ///< f32 with f32's accuracy, 16-bit types in the device's 16-bit format
  Strict,  ///< 16-bit types, too, as well as PyTorch computes them: in f32
  Fast,    ///< products of f32 with 16-bit factors and results
};

struct LowerOptions : public mlir::PassPipelineOptions<LowerOptions> {
  Option<int> optLevel{*this, "O", llvm::cl::desc("Optimisation level, 0 to 3"), llvm::cl::init(2)};
  Option<Precision> precision{
      *this, "precision", llvm::cl::desc("What programs' types are computed in"),
      llvm::cl::init(Precision::Default),
      llvm::cl::values(clEnumValN(Precision::Default, "default", "f32 as f32, 16 bits as such"),
                       clEnumValN(Precision::Strict, "strict", "16-bit types in f32"),
                       clEnumValN(Precision::Fast, "fast", "products of f32 at 16 bits"))};
  Option<int64_t> cores{*this, "cores",
                        llvm::cl::desc("Cores to use; 0: one at -O0, else all of the device's"),
                        llvm::cl::init(0)};
  Option<bool> symbolicArgs{*this, "symbolic-args", llvm::cl::desc("Pass base addresses at launch"),
                            llvm::cl::init(true)};
  Option<bool> searchLayouts{*this, "search-layouts",
                             llvm::cl::desc("Choose layouts of several values together"),
                             llvm::cl::init(false)};
  Option<bool> tileTime{*this, "tile-time",
                        llvm::cl::desc("Run neighbouring operations tile by tile"),
                        llvm::cl::init(false)};
  Option<bool> carryReductions{
      *this, "carry-reductions",
      llvm::cl::desc("With tile-time: cut rows of softmaxes, too, carrying their sums"),
      llvm::cl::init(false)};
  Option<bool> carryProducts{
      *this, "carry-products",
      llvm::cl::desc("With carry-reductions: products alone, softmaxes stay what they are"),
      llvm::cl::init(false)};
  Option<int64_t> tileSeed{*this, "tile-seed",
                           llvm::cl::desc("With tile-time, not 0: tiles as it draws them"),
                           llvm::cl::init(0)};
  Option<double> planSeconds{*this, "plan-seconds",
                             llvm::cl::desc("With tile-time: for looking at more nests than usual"),
                             llvm::cl::init(0)};
  Option<bool> recordPlan{*this, "record-plan",
                          llvm::cl::desc("Record the plan in spyre.chosen_schedule"),
                          llvm::cl::init(false)};
  Option<bool> recordAddresses{*this, "record-addresses",
                               llvm::cl::desc("With record-plan: addresses in LX, too"),
                               llvm::cl::init(false)};
  Option<bool> deviationsApart{
      *this, "deviations-apart",
      llvm::cl::desc("With carry-reductions: sums of squared deviations by themselves"),
      llvm::cl::init(false)};
  Option<bool> preferCarried{*this, "prefer-carried",
                             llvm::cl::desc("With carry-reductions: whatever it takes"),
                             llvm::cl::init(false)};
};

/// The stages: torch to L1; L1 to L2, verified; L2 to a placed and verified L3.
/// Each leaves alone what is already below it. \p hasBuffers: the program is one of
/// L3, with buffers that may lack a place.
void buildL1Stage(mlir::OpPassManager &pm, const LowerOptions &options);
void buildL2Stage(mlir::OpPassManager &pm, const LowerOptions &options);
void buildL3Stage(mlir::OpPassManager &pm, const LowerOptions &options, bool hasBuffers = false);
/// All three.
void buildPlanPipeline(mlir::OpPassManager &pm, const LowerOptions &options);
/// From there to sdsc and sdscbundle.
void buildSuperDSCPipeline(mlir::OpPassManager &pm, const LowerOptions &options);
/// From there to a checked KTIR kernel.
void buildKTIRPipeline(mlir::OpPassManager &pm);

/// Registers spyre-torch-to-l1, spyre-plan, spyre-lower-to-superdsc and spyre-lower-to-ktir.
void registerPipelines();

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PIPELINES_H
