//===- DivisionGraph.h - Work divisions that suit each other ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work division over a whole function. An operation's time depends on its own
// splits (matmuls) and on which of its operands stay in LX, and that on whether
// producer and consumers divide the value alike. improve() starts from a division
// of every operation and only takes steps that make the modelled sum smaller.
// MLIR-free; a pass builds the graph and writes the splits back.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_DIVISIONGRAPH_H
#define SPYRE_PLANNING_DIVISIONGRAPH_H

#include "spyre/CostModel/CostModel.h"
#include "spyre/Planning/Residency.h"
#include "spyre/Planning/WorkDivision.h"

#include <set>

namespace spyre::planning {

/// How much to try.
enum class SearchEffort : uint8_t {
  /// All legal splits of matmuls, and what follows from them for the operations
  /// after them.
  Matmuls,
  /// All legal splits of every operation, over and over until nothing improves.
  Everything,
};

class DivisionGraph {
public:
  explicit DivisionGraph(const Device &device) : device(device) {}

  /// An input \c operand of operation \c operation.
  struct Use {
    unsigned operation, operand;
  };
  /// What an operation leaves.
  struct Value {
    std::vector<int64_t> shape;
    bool hasPaddedLayout = false;
    bool isWrittenInParts = false; ///< others write it, too
    bool isShared = false;         ///< others than operations of the graph read it
    std::vector<Use> uses;
  };

  /// Adds an operation with splits to start from. \p accesses: its operands', inputs, then
  /// the output. \p isFixed: the splits stay. Returns its number.
  unsigned addOperation(DivisionProblem problem, CostClass costClass,
                        std::vector<layout::Access> accesses, Splits splits, bool isFixed = false);

  /// Says what \p producer leaves. Without it, it leaves something in device memory.
  void setValue(unsigned producer, const Value &value);

  /// The modelled time of all operations, in ns.
  double getCost();

  void improve(SearchEffort effort);

  const Splits &getSplits(unsigned operation) const { return operations[operation].splits; }
  /// Whether the result of \p operation can stay in LX under the present splits.
  bool isResident(unsigned operation);

private:
  struct Operation {
    DivisionProblem problem;
    CostClass costClass;
    std::vector<layout::Access> accesses;
    Splits splits;
    layout::Spread spread; ///< that the splits make
    bool isFixed = false;
    /// Operation that makes each operand; none: it is where the problem says.
    std::vector<std::optional<unsigned>> producers;
    std::vector<Use> uses;        ///< of the result
    ResidencyValue value;         ///< the result and these uses
    bool mayStay = false;         ///< under some division
    cost::OpProblem cost;         ///< as of the last time it was asked for
    std::optional<bool> resident; ///< known under the present splits
  };

  bool computeResident(const Operation &op) const;
  double getOperationCost(unsigned number);
  /// Least time of \p op with \p splits, if all that may stay in LX did.
  double getLowerBound(const Operation &op, const Splits &splits) const;
  void setSplits(unsigned number, const Splits &splits);
  /// The operations whose time may change with the splits of \p number.
  std::vector<unsigned> getNeighbourhood(unsigned number) const;
  double getCostOf(const std::vector<unsigned> &numbers);
  bool tryAllSplits(unsigned number);
  bool tryPropagation(unsigned number, const Splits &own, bool throughMatmuls);
  bool tryWithFollowers(unsigned number);
  /// The splits under which \p user reads just what each core has of its operand.
  std::optional<Splits> deriveSplits(const Operation &producer, const Operation &user,
                                     unsigned operand) const;

  const Device &device;
  std::vector<Operation> operations;
};

} // namespace spyre::planning

#endif // SPYRE_PLANNING_DIVISIONGRAPH_H
