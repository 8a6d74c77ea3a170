//===- DivisionGraphTest.cpp - Work divisions that suit each other --------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search against the minimum over all legal splits, values that stay in LX
// because neighbours are divided alike, and random graphs: legal, never dearer,
// and the sum that steps added up is that of the final splits.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/DivisionGraph.h"
#include "spyre/Planning/DivisionCost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace spyre;
using namespace spyre::planning;
using layout::IndexMap;

namespace {

struct Op {
  DivisionProblem problem;
  CostClass costClass = CostClass::Pointwise;
  std::vector<layout::Access> access;
};

/// Each operand is given by the dims that are its logical coordinates; the last
/// one is the result.
Op makeOp(OperationKind kind, const std::vector<int64_t> &extents,
          const std::vector<std::vector<unsigned>> &operands, int64_t maxCores = 32) {
  Op op;
  op.problem.kind = kind;
  op.problem.maxCores = maxCores;
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    DivisionDim entry;
    entry.extent = extents[dim];
    const std::vector<unsigned> &out = operands.back();
    entry.isReduced = std::find(out.begin(), out.end(), dim) == out.end();
    op.problem.dims.push_back(entry);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    IndexMap map;
    map.extents = extents;
    std::vector<int64_t> shape;
    for (unsigned dim : operands[i]) {
      map.results.push_back(layout::makeInput(dim));
      shape.push_back(extents[dim]);
    }
    layout::Access access = layout::makeAccess(std::move(map));
    auto operand = makeOperand(access, layout::getDefaultLayout(shape, DataFormat::SEN169_FP16),
                               i + 1 == operands.size());
    op.problem.operands.push_back(std::get<DivisionOperand>(operand));
    op.access.push_back(std::move(access));
  }
  setElementsPerStick(op.problem);
  if (kind == OperationKind::Matmul) {
    setMatmulRoles(op.problem);
    op.costClass = CostClass::Matmul;
  }
  return op;
}

Op makeMatmul(int64_t m, int64_t n, int64_t k, int64_t maxCores = 32) {
  return makeOp(OperationKind::Matmul, {m, n, k}, {{0, 2}, {2, 1}, {0, 1}}, maxCores);
}
Op makeUnary(int64_t rows, int64_t columns, int64_t maxCores = 32) {
  return makeOp(OperationKind::Pointwise, {rows, columns}, {{0, 1}, {0, 1}}, maxCores);
}
Op makeBinary(int64_t rows, int64_t columns, int64_t maxCores = 32) {
  return makeOp(OperationKind::Pointwise, {rows, columns}, {{0, 1}, {0, 1}, {0, 1}}, maxCores);
}

Splits solve(const DivisionProblem &problem) {
  return std::get<DivisionPlan>(divide(problem, DivisionOptions())).splits;
}

const Device &device() {
  static const Device spyre = *Device::lookup("spyre");
  return spyre;
}

/// Everything that reads what \p producer leaves of \p shape.
void setUses(DivisionGraph &graph, unsigned producer, std::vector<int64_t> shape,
             std::vector<DivisionGraph::Use> uses) {
  DivisionGraph::Value value;
  value.shape = std::move(shape);
  value.uses = std::move(uses);
  graph.setValue(producer, value);
}

unsigned add(DivisionGraph &graph, const Op &op, bool isFixed = false) {
  return graph.addOperation(op.problem, op.costClass, op.access, solve(op.problem), isFixed);
}

TEST(DivisionGraphTest, FindsTheCheapestMatmul) {
  for (auto [m, n, k] : {std::tuple(512, 4096, 4096), {32, 128, 256}, {1, 25600, 4096}}) {
    Op op = makeMatmul(m, n, k);
    DivisionCost cost = makeModelCost(device(), CostClass::Matmul);
    double least = cost(op.problem, solve(op.problem));
    for (const Splits &splits : enumerateSplits(op.problem))
      least = std::min(least, cost(op.problem, splits));
    DivisionGraph graph(device());
    add(graph, op);
    double before = graph.getCost();
    graph.improve(SearchEffort::Matmuls);
    EXPECT_DOUBLE_EQ(graph.getCost(), least);
    EXPECT_LE(graph.getCost(), before);
  }
}

TEST(DivisionGraphTest, ALargeMatmulIsCutBothWays) {
  // Rows alone (the heuristic) leave 16 rows a core, half of the array's rate, and
  // 32 readers of one operand.
  Op op = makeMatmul(512, 4096, 4096);
  DivisionGraph graph(device());
  add(graph, op);
  EXPECT_EQ(graph.getSplits(0), (Splits{32, 1, 1}));
  double heuristic = graph.getCost();
  graph.improve(SearchEffort::Matmuls);
  EXPECT_LT(graph.getCost(), heuristic / 2);
  EXPECT_GT(graph.getSplits(0)[0], 1);
  EXPECT_GT(graph.getSplits(0)[1], 1);
}

TEST(DivisionGraphTest, WhatFollowsAMatmulIsDividedLikeIt) {
  // gate and up projections, silu, product.
  DivisionGraph graph(device());
  unsigned gate = add(graph, makeMatmul(512, 4096, 1024)),
           up = add(graph, makeMatmul(512, 4096, 1024)), silu = add(graph, makeUnary(512, 4096)),
           product = add(graph, makeBinary(512, 4096));
  setUses(graph, gate, {512, 4096}, {{silu, 0}});
  setUses(graph, silu, {512, 4096}, {{product, 0}});
  setUses(graph, up, {512, 4096}, {{product, 1}});
  graph.improve(SearchEffort::Matmuls);
  Splits slices = graph.getSplits(gate);
  EXPECT_EQ(slices, graph.getSplits(up));
  slices.pop_back(); // the contracted dim
  EXPECT_EQ(graph.getSplits(silu), slices);
  EXPECT_EQ(graph.getSplits(product), slices);
  for (unsigned op : {gate, up, silu})
    EXPECT_TRUE(graph.isResident(op)) << op;
  EXPECT_FALSE(graph.isResident(product)); // nobody reads it
}

TEST(DivisionGraphTest, ReductionsFollow) {
  // Scores of 8 heads, and a softmax over them. The others cut rows only; if the
  // product is cut along the heads by hand, they are better cut like it.
  auto makeScores = [](std::vector<std::vector<unsigned>> operands) {
    return makeOp(operands.back().size() == 3 ? OperationKind::Pointwise : OperationKind::Reduction,
                  {8, 512, 512}, operands);
  };
  Op product = makeOp(OperationKind::Matmul, {8, 512, 512, 64}, {{0, 1, 3}, {0, 3, 2}, {0, 1, 2}});
  Op max = makeScores({{0, 1, 2}, {0, 1}});
  max.costClass = CostClass::StickReduction;
  Op sub = makeScores({{0, 1, 2}, {0, 1}, {0, 1, 2}}), exp = makeScores({{0, 1, 2}, {0, 1, 2}});
  DivisionGraph graph(device());
  graph.addOperation(product.problem, product.costClass, product.access, {8, 4, 1, 1}, true);
  for (const Op *op : {&max, &sub, &exp})
    graph.addOperation(op->problem, op->costClass, op->access, {1, 8, 1});
  setUses(graph, 0, {8, 512, 512}, {{1, 0}, {2, 0}});
  setUses(graph, 1, {8, 512}, {{2, 1}});
  setUses(graph, 2, {8, 512, 512}, {{3, 0}});
  EXPECT_FALSE(graph.isResident(0));
  graph.improve(SearchEffort::Matmuls);
  for (unsigned op : {1, 2, 3})
    EXPECT_EQ(graph.getSplits(op), (Splits{8, 4, 1})) << op;
  for (unsigned op : {0, 1, 2})
    EXPECT_TRUE(graph.isResident(op)) << op;
}

TEST(DivisionGraphTest, AttentionIsCutAlongItsHeads) {
  // Rows alone (the heuristic) let 32 cores read the whole second operand of both
  // products. By heads nothing is shared, but only if all change together.
  int64_t heads = 32, length = 512, width = 128;
  std::vector<int64_t> space{heads, length, length};
  Op scores = makeOp(OperationKind::Matmul, {heads, length, length, width},
                     {{0, 1, 3}, {0, 3, 2}, {0, 1, 2}}),
     exp = makeOp(OperationKind::Pointwise, space, {{0, 1, 2}, {0, 1, 2}}),
     values = makeOp(OperationKind::Matmul, {heads, length, width, length},
                     {{0, 1, 3}, {0, 3, 2}, {0, 1, 2}});
  DivisionGraph graph(device());
  graph.addOperation(scores.problem, scores.costClass, scores.access, {1, 32, 1, 1});
  graph.addOperation(exp.problem, exp.costClass, exp.access, {1, 32, 1});
  graph.addOperation(values.problem, values.costClass, values.access, {1, 32, 1, 1});
  setUses(graph, 0, space, {{1, 0}});
  setUses(graph, 1, space, {{2, 0}});
  double before = graph.getCost();
  EXPECT_TRUE(graph.isResident(0) && graph.isResident(1));
  graph.improve(SearchEffort::Matmuls);
  EXPECT_TRUE(graph.isResident(0) && graph.isResident(1));
  EXPECT_LT(graph.getCost(), 0.7 * before);
  EXPECT_GE(graph.getSplits(0)[0], 4);
}

TEST(DivisionGraphTest, WhatIsFixedStays) {
  DivisionGraph graph(device());
  Op op = makeMatmul(512, 4096, 4096);
  add(graph, op, /*isFixed=*/true);
  Splits before = graph.getSplits(0);
  graph.improve(SearchEffort::Everything);
  EXPECT_EQ(graph.getSplits(0), before);
}

TEST(DivisionGraphTest, ValuesThatCannotStay) {
  DivisionGraph graph(device());
  unsigned first = add(graph, makeUnary(64, 128)), second = add(graph, makeUnary(64, 128));
  setUses(graph, first, {64, 128}, {{second, 0}});
  EXPECT_TRUE(graph.isResident(first));
  for (bool DivisionGraph::Value::*fact :
       {&DivisionGraph::Value::hasPaddedLayout, &DivisionGraph::Value::isWrittenInParts,
        &DivisionGraph::Value::isShared}) {
    DivisionGraph other(device());
    add(other, makeUnary(64, 128));
    add(other, makeUnary(64, 128));
    DivisionGraph::Value value;
    value.shape = {64, 128};
    value.*fact = true;
    value.uses = {{1, 0}};
    other.setValue(0, value);
    EXPECT_FALSE(other.isResident(0));
  }
  // 64 MiB over 32 cores are 2 MiB a core, more than a scratchpad.
  first = add(graph, makeUnary(8192, 4096));
  second = add(graph, makeUnary(8192, 4096));
  setUses(graph, first, {8192, 4096}, {{second, 0}});
  EXPECT_FALSE(graph.isResident(first));
}

TEST(DivisionGraphTest, RandomGraphs) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    Device used = *Device::lookup(random() % 2 ? "spyre" : "mock4");
    int64_t cores = used.getNumCores();
    int64_t rows = 1 + random() % 130, columns = 1 + random() % 400;
    std::vector<Op> ops;
    std::vector<std::tuple<unsigned, unsigned, unsigned>> uses;
    std::vector<bool> fixed;
    for (unsigned i = 0; i < 2 + random() % 5; ++i) {
      switch (random() % 3) {
      case 0:
        ops.push_back(makeMatmul(rows, columns, columns, cores));
        break;
      case 1:
        ops.push_back(makeUnary(rows, columns, cores));
        break;
      default:
        ops.push_back(makeBinary(rows, columns, cores));
      }
      fixed.push_back(random() % 8 == 0);
      for (unsigned operand = 0; i > 0 && operand + 1 < ops[i].access.size(); ++operand)
        // The second operand of a matmul has another shape.
        if (random() % 3 && (ops[i].costClass != CostClass::Matmul || operand == 0))
          uses.emplace_back(random() % i, i, operand);
    }
    auto build = [&](DivisionGraph &graph, const std::function<Splits(unsigned)> &splits) {
      for (unsigned i = 0; i < ops.size(); ++i)
        graph.addOperation(ops[i].problem, ops[i].costClass, ops[i].access, splits(i), fixed[i]);
      for (unsigned i = 0; i < ops.size(); ++i) {
        std::vector<DivisionGraph::Use> readers;
        for (auto [producer, user, operand] : uses)
          if (producer == i)
            readers.push_back({user, operand});
        if (!readers.empty())
          setUses(graph, i, {rows, columns}, readers);
      }
    };
    for (bool everything : {false, true}) {
      DivisionGraph graph(used), fresh(used);
      build(graph, [&](unsigned i) { return solve(ops[i].problem); });
      double before = graph.getCost();
      graph.improve(everything ? SearchEffort::Everything : SearchEffort::Matmuls);
      EXPECT_LE(graph.getCost(), before * (1 + 1e-12));
      build(fresh, [&](unsigned i) { return graph.getSplits(i); });
      EXPECT_DOUBLE_EQ(fresh.getCost(), graph.getCost()) << "round " << round;
      for (unsigned i = 0; i < ops.size(); ++i) {
        EXPECT_TRUE(verify(ops[i].problem, graph.getSplits(i)).empty());
        EXPECT_EQ(fresh.isResident(i), graph.isResident(i));
      }
    }
  }
}

} // namespace
