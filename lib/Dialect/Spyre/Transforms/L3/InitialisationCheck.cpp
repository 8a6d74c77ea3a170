//===- InitialisationCheck.cpp - What is read before it is written -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses in the order in which the program executes them, loops unrolled: what one
// iteration reads must have been written before, by it or by an earlier one. What is touched is
// a box nearly always; where an operation writes with gaps (every second row), sets
// of Presburger arithmetic say exactly what is there.
//
//===----------------------------------------------------------------------===//

#include "InitialisationCheck.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Numerics/Formats.h"

#include "mlir/Analysis/Presburger/PresburgerRelation.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::spyre;
namespace layout = ::spyre::layout;
namespace presburger = mlir::presburger;

namespace {
/// One execution of an access.
struct Step {
  const BufferAccess *access;
  SmallVector<int64_t> time; ///< of the operation's loop variables
};

/// The operations of a function as often as they run.
class Execution {
public:
  Execution(const llvm::MapVector<Value, BufferLife> &lives) {
    for (auto &[buffer, life] : lives)
      for (const BufferAccess &access : life.accesses)
        accesses[access.op].emplace_back(buffer, &access);
  }

  /// The accesses of each buffer in order. Loops whose body would be gone through more than
  /// kMaxSteps times are gone through at their first and last iterations only (hasSkipped);
  /// then the order of iterations is not checked, only that of operations.
  DenseMap<Value, std::vector<Step>> run(func::FuncOp func) {
    visit(func.getBody().front(), 1);
    return std::move(steps);
  }

private:
  static constexpr int64_t kMaxSteps = 4096;

  void visit(Block &block, int64_t runs) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        visitLoop(loop, runs);
      else if (auto device = dyn_cast<DeviceOpInterface>(op))
        for (auto &[buffer, access] : accesses[device]) {
          Step step{access, {}};
          for (Value variable : device.getLoopVariables())
            step.time.push_back(iterations.lookup(variable));
          steps[buffer].push_back(std::move(step));
        }
    }
  }

  void visitLoop(scf::ForOp loop, int64_t runs) {
    // A loop that no operation moves with may have other bounds; its body runs the same way.
    std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
    int64_t trips = upper ? std::max<int64_t>(0, *upper) : 1;
    bool isLong = trips > 2 && runs * trips > kMaxSteps;
    for (int64_t i = 0; i < trips; i += isLong && i == 0 ? trips - 1 : 1) {
      iterations[loop.getInductionVar()] = i;
      visit(*loop.getBody(), runs * (isLong ? 2 : trips));
    }
    hasSkipped |= isLong;
  }

public:
  bool hasSkipped = false;

private:
  DenseMap<Operation *, SmallVector<std::pair<Value, const BufferAccess *>>> accesses;
  DenseMap<Value, int64_t> iterations;
  DenseMap<Value, std::vector<Step>> steps;
};

/// What the accesses of one buffer have written so far.
class Written {
public:
  Written(Value buffer, const PlannedOps &plannedOps) : plannedOps(plannedOps) {
    shape = SmallVector<int64_t>(getShape(buffer));
    stickDim = getStickDim(getLayout(buffer));
    elements = ::spyre::getElementsPerStick(getLayout(buffer).getFormat());
    for (int64_t extent : shape)
      size = std::min(size * std::min(extent, kSmall + 1), kSmall + 1);
  }

  void add(const Step &step, bool atAllTimes) {
    const layout::Access &access = getAccess(step);
    if (!access.isDense()) {
      std::vector<int64_t> time(step.time.begin(), step.time.end());
      if (size > kSmall)
        return addGapped(access, std::move(time));
      points.resize(static_cast<unsigned>(size));
      (void)forEachPoint(access.at(time), [&](ArrayRef<int64_t> point) {
        points.set(static_cast<unsigned>(getIndex(point)));
        return true;
      });
      return;
    }
    addBox(getRegion(access, step, atAllTimes));
  }

  /// Whether all that \p step reads has been written.
  bool covers(const Step &step, bool atAllTimes) {
    const layout::Access &access = getAccess(step);
    layout::Region region = getRegion(access, step, atAllTimes);
    if (boxes.contains(region))
      return true;
    if (gapped.empty() && points.none() && access.isDense())
      return false;
    std::vector<int64_t> time(step.time.begin(), step.time.end());
    if (size <= kSmall)
      return forEachPoint(access.at(time),
                          [&](ArrayRef<int64_t> point) { return isWritten(point); });
    if (llvm::is_contained(gapped, Gapped{access, time}))
      return true;
    presburger::PresburgerSet missing(makeSet(access.at(time)));
    for (const layout::Region &box : boxes.getBoxes())
      missing = missing.subtract(presburger::PresburgerSet(makeBox(box)));
    for (const Gapped &written : gapped)
      missing =
          missing.subtract(presburger::PresburgerSet(makeSet(written.access.at(written.time))));
    return missing.isIntegerEmpty();
  }

private:
  /// What one execution of an access wrote.
  struct Gapped {
    layout::Access access;
    std::vector<int64_t> time;
    bool operator==(const Gapped &) const = default;
  };

  /// Calls \p visit with the coordinates that \p map takes its inputs to until it returns false.
  static bool forEachPoint(layout::IndexMap map,
                           llvm::function_ref<bool(ArrayRef<int64_t>)> visit) {
    for (unsigned input = 0; input < map.extents.size(); ++input)
      if (llvm::none_of(map.results, [input](const layout::IndexExpr &expr) {
            return layout::dependsOn(expr, input);
          }))
        map.extents[input] = 1;
    std::vector<int64_t> point(map.extents.size());
    while (true) {
      if (!visit(layout::evaluate(map, point)))
        return false;
      size_t dim = point.size();
      while (dim > 0 && ++point[dim - 1] == map.extents[dim - 1])
        point[--dim] = 0;
      if (dim == 0)
        return true;
    }
  }

  size_t getIndex(ArrayRef<int64_t> point) const {
    int64_t index = 0;
    for (auto [coordinate, extent] : llvm::zip_equal(point, shape))
      index = index * extent + coordinate;
    return static_cast<size_t>(index);
  }

  bool isWritten(ArrayRef<int64_t> point) const {
    const size_t index = getIndex(point);
    if (index < points.size() && points.test(static_cast<unsigned>(index)))
      return true;
    return llvm::any_of(boxes.getBoxes(), [&](const layout::Region &box) {
      for (auto [coordinate, begin, end] : llvm::zip_equal(point, box.begin, box.end))
        if (coordinate < begin || coordinate >= end)
          return false;
      return true;
    });
  }

  void addGapped(const layout::Access &access, std::vector<int64_t> time) {
    Gapped entry{access, std::move(time)};
    if (llvm::is_contained(gapped, entry))
      return;
    gapped.push_back(std::move(entry));
    // Once all iterations have written, it is what they write together that counts, which
    // often has no gaps: heads one after the other.
    int64_t runs = 1;
    for (int64_t trips : access.getTripCounts())
      runs *= trips;
    auto isSame = [&](const Gapped &other) { return other.access == access; };
    if (runs == 1 || llvm::count_if(gapped, isSame) != runs)
      return;
    llvm::erase_if(gapped, isSame);
    layout::Access whole = layout::makeAccess(access.map);
    if (whole.isDense())
      addBox(whole.getRegion());
    else
      gapped.push_back({whole, {}});
  }

  void addBox(layout::Region region) {
    // The device writes whole sticks.
    if (stickDim >= 0)
      region.end[stickDim] = std::max(
          region.end[stickDim],
          std::min<int64_t>(llvm::alignTo(region.end[stickDim], elements), shape[stickDim]));
    boxes.add(std::move(region));
  }

  const layout::Access &getAccess(const Step &step) {
    return plannedOps.lookup(step.access->op)->accesses[step.access->operand];
  }
  static layout::Region getRegion(const layout::Access &access, const Step &step, bool atAllTimes) {
    return atAllTimes ? access.getRegion() : access.getRegion({step.time.begin(), step.time.end()});
  }

  presburger::IntegerPolyhedron makeBox(const layout::Region &box) const {
    presburger::IntegerPolyhedron set(
        presburger::PresburgerSpace::getSetSpace(static_cast<unsigned>(shape.size())));
    for (unsigned d = 0; d < shape.size(); ++d) {
      set.addBound(presburger::BoundType::LB, d, box.begin[d]);
      set.addBound(presburger::BoundType::UB, d, box.end[d] - 1);
    }
    return set;
  }

  /// The coordinates that \p map takes its inputs to.
  presburger::PresburgerSet makeSet(const layout::IndexMap &map) const {
    using namespace presburger;
    unsigned rank = static_cast<unsigned>(shape.size());
    unsigned inputs = static_cast<unsigned>(map.extents.size());
    // Domain: the inputs; range: the coordinates; the domain is projected out at the end.
    IntegerRelation relation(PresburgerSpace::getRelationSpace(inputs, rank));
    for (unsigned i = 0; i < inputs; ++i) {
      relation.addBound(BoundType::LB, i, 0);
      relation.addBound(BoundType::UB, i, map.extents[i] - 1);
    }
    for (unsigned r = 0; r < rank; ++r) {
      // Digits as locals, in order, before the row is as long as all variables.
      SmallVector<std::pair<unsigned, int64_t>> terms; // variable, coefficient
      for (const layout::Digit &digit : map.results[r].digits) {
        unsigned variable = digit.input;
        if (digit.divisor != 1)
          variable = addQuotient(relation, variable, digit.divisor);
        terms.emplace_back(variable, digit.coefficient);
        if (digit.modulus != 0)
          terms.emplace_back(addQuotient(relation, variable, digit.modulus),
                             -digit.coefficient * digit.modulus);
      }
      SmallVector<int64_t> row(relation.getNumCols(), 0);
      row[inputs + r] = -1;
      row.back() = map.results[r].constant;
      for (auto [variable, coefficient] : terms)
        row[variable] += coefficient;
      relation.addEquality(row);
    }
    PresburgerRelation range(relation.getRangeSet());
    return PresburgerSet(range.computeReprWithOnlyDivLocals());
  }

  /// A local variable that is \p variable floordiv \p divisor.
  static unsigned addQuotient(presburger::IntegerRelation &relation, unsigned variable,
                              int64_t divisor) {
    SmallVector<int64_t> dividend(relation.getNumCols(), 0);
    dividend[variable] = 1;
    return relation.addLocalFloorDiv(dividend, divisor);
  }

  const PlannedOps &plannedOps;
  SmallVector<int64_t> shape;
  int64_t stickDim = -1, elements = 1;
  layout::RegionSet boxes;
  /// Elements are looked at one by one where some are written with gaps: comparing sets with gaps
  /// takes what it takes.
  static constexpr int64_t kSmall = 1 << 22;
  int64_t size = 1;       ///< elements of the buffer, at most one more
  llvm::BitVector points; ///< those, if it is small
  std::vector<Gapped> gapped;
};
} // namespace

/// Whether the program must write \p buffer before it reads it, as far as can be told.
static bool isChecked(func::FuncOp func, Value buffer) {
  // Coordinates of elements of two widths cannot be compared.
  if (llvm::any_of(buffer.getUsers(), llvm::IsaPred<ReinterpretOp>))
    return false;
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument)
    return true;
  auto role = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRoleAttr);
  return role && role.getValue() == "output";
}

SmallVector<UninitialisedRead>
mlir::spyre::findUninitialisedReads(func::FuncOp func,
                                    const llvm::MapVector<Value, BufferLife> &lives,
                                    const PlannedOps &plannedOps) {
  Execution execution(lives);
  DenseMap<Value, std::vector<Step>> steps = execution.run(func);
  SmallVector<UninitialisedRead> found;
  for (auto &[buffer, life] : lives) {
    if (!isChecked(func, buffer))
      continue;
    Written written(buffer, plannedOps);
    for (const Step &step : steps[buffer]) {
      // No point, nothing to read or write.
      DeviceOpInterface op = step.access->op;
      if (llvm::is_contained(op.getExtents(), 0))
        continue;
      if (step.access->isWrite) {
        written.add(step, execution.hasSkipped);
      } else if (!written.covers(step, execution.hasSkipped)) {
        found.push_back({buffer, *step.access});
        break;
      }
    }
  }
  return found;
}
