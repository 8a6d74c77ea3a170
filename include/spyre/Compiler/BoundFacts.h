//===- BoundFacts.h - What no plan of a function falls below ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The least time of a launch (docs/developer/clock.md), and which operations it is made
// of.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_BOUNDFACTS_H
#define SPYRE_COMPILER_BOUNDFACTS_H

#include "spyre/CostModel/CostModel.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace spyre::compiler {

/// The cost model's view of \p op, which \p planned describes, on \p device.
cost::OpProblem getCostProblem(mlir::spyre::DeviceOpInterface op,
                               const mlir::spyre::PlannedOp &planned, const Device &device);

/// What no plan of one launch of a function falls below: what its operations touch of each array
/// of the host, in the host's type, is read or written once.
class BoundFacts {
public:
  BoundFacts(mlir::func::FuncOp func, mlir::spyre::PlanningModel &model);
  BoundFacts(const BoundFacts &) = delete;
  BoundFacts &operator=(const BoundFacts &) = delete;

  double getInNs() const { return boundInNs; }
  /// Bytes that any plan reads and writes.
  double getInBytes() const { return boundInBytes; }
  /// The products are what takes longest.
  bool isByProducts() const { return isOfProducts; }
  /// What part of it each device operation has, in order; they add up to it.
  std::vector<double> getParts() const;

private:
  struct Touched {
    double inDevice = 0; ///< bytes, each use by itself
    double whole = 0;    ///< of the host's array

    double getOnce() const { return std::min(inDevice, whole); }
  };
  using Arrays = std::map<std::string, Touched>;
  /// One operation: the arrays that it touches, with its bytes of them, and its products.
  struct Use {
    std::vector<std::pair<const Touched *, double>> touched;
    double macs = 0;
  };

  void touch(mlir::Value value, double bytes, Arrays &arrays, Use &use);

  mlir::func::FuncOp func;
  Arrays read, written;
  std::vector<Use> uses;
  double macs = 0, boundInNs = 0, boundInBytes = 0;
  bool isOfProducts = false;
};

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_BOUNDFACTS_H
