//===- SliceCount.cpp - A pass outside of this repository -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// slice-count-opt is spyre-opt with one pass more, `slice-count`: a remark on each device
// operation that says how many work slices it has. It sees operations through their
// interface and knows none of them by name.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace {
struct SliceCount : mlir::PassWrapper<SliceCount, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SliceCount)

  llvm::StringRef getArgument() const override { return "slice-count"; }
  llvm::StringRef getDescription() const override { return "Says how work is divided"; }

  void runOnOperation() override {
    getOperation()->walk([](mlir::spyre::DeviceOpInterface op) {
      op->emitRemark() << op.getOpFuncName() << " has " << op.getNumSlices() << " work slices";
    });
  }
};
} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  spyre::registerAllDialects(registry);
  spyre::registerAllPasses();
  mlir::PassRegistration<SliceCount>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "spyre-opt and slice-count\n", registry));
}
