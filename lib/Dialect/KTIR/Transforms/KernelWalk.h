//===- KernelWalk.h - What one compute tile runs of a kernel -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through a kernel as one compute tile does, with ranges of all index values:
// branches that the tile does not take are left out, a loop's variable has the range of
// all its values or takes them one after another.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_KERNELWALK_H
#define SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_KERNELWALK_H

#include "Legality.h"
#include "Ranges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ktdp {

class KernelWalk {
public:
  KernelWalk(const Kernel &kernel, int64_t tile) : kernel(kernel), tile(tile) {}
  virtual ~KernelWalk() = default;

  /// Visits the whole kernel.
  void run() { walk(kernel.function->getRegion(0), 1); }

protected:
  /// Called for each operation that the tile runs; \p runs is how often, if that is known.
  virtual void visit(Operation &op, std::optional<int64_t> runs) = 0;
  /// Whether the operations in here are of interest.
  virtual bool isWanted(Operation &op) { return true; }
  /// Whether to go through a loop of so many iterations one by one.
  virtual bool unrolls(int64_t trips) { return false; }
  /// Nothing more is visited.
  virtual bool isDone() { return false; }

  const Kernel &kernel;
  int64_t tile;
  Ranges ranges;

private:
  void walk(Region &region, std::optional<int64_t> runs);
  void walk(Operation &op, std::optional<int64_t> runs);
  void walkLoop(scf::ForOp loop, std::optional<int64_t> runs);
  void walkBranch(scf::IfOp branch, std::optional<int64_t> runs);
  void walkProduce(InterTileProduceOp op, std::optional<int64_t> runs);
};

} // namespace mlir::ktdp

#endif // SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_KERNELWALK_H
