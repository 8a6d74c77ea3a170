//===- LoopFacts.cpp - What the loops of a plan do --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of device memory from outside of a loop is an argument of it if the loop
// reads it before it writes it, and a result if the loop writes what others read. What
// one run of the loop touches of it is a box, the tile the box of one trip; its bytes
// count once, however many operations and trips touch them.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/LoopFacts.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::spyre;
namespace layout = ::spyre::layout;
namespace report = ::spyre::report;

namespace {

/// What a loop touches of one tensor in one way.
struct Touched {
  Value value; ///< as the first operation has it
  std::optional<layout::Region> inTrip, inRun;
  double bytes = 0; ///< each touch by itself
};

/// A loop while its operations are walked.
struct OpenLoop {
  scf::ForOp op;
  llvm::MapVector<Value, Touched> arguments, results;
  double macs = 0; ///< of one run
};

} // namespace

static void extend(std::optional<layout::Region> &box, const layout::Region &by) {
  if (!box || box->begin.size() != by.begin.size()) {
    box = by;
    return;
  }
  for (size_t i = 0; i < by.begin.size(); ++i) {
    box->begin[i] = std::min(box->begin[i], by.begin[i]);
    box->end[i] = std::max(box->end[i], by.end[i]);
  }
}

/// What \p access touches while the first \p numFixed of the loops that move it stand still.
static layout::Region getRegion(layout::Access access, unsigned numFixed) {
  for (unsigned time = 0; time < numFixed; ++time)
    access.map.extents[access.numPoints + time] = 1;
  return access.getRegion();
}

/// Notes in \p loop what \p op, which runs \p runs times in one run of it, touches.
static void touch(OpenLoop &loop, DeviceOpInterface op, const PlannedOp &planned,
                  const report::Operation &facts, double runs) {
  unsigned outside = 0, inside = 0; // loops of the operation's maps
  for (Value variable : op.getLoopVariables()) {
    Operation *owner = cast<BlockArgument>(variable).getOwner()->getParentOp();
    outside += owner->isProperAncestor(loop.op);
    inside += owner == loop.op;
  }
  for (unsigned i = 0, e = op.getInputs().size(); i <= e; ++i) {
    const bool isWrite = i == e;
    Value value = isWrite ? op.getDestination() : op.getInputs()[i], root = getRootBuffer(value);
    if (i >= planned.accesses.size() || !planned.problem.operands[i].isInDeviceMemory ||
        (root.getDefiningOp() && loop.op->isProperAncestor(root.getDefiningOp())))
      continue;
    if (!isWrite && loop.results.contains(root) && !loop.arguments.contains(root))
      continue; // made in the loop
    Touched &touched = (isWrite ? loop.results : loop.arguments)[root];
    touched.value = touched.value ? touched.value : value;
    touched.bytes += double(facts.operands[i].sizeInBytes) * runs;
    extend(touched.inTrip, getRegion(planned.accesses[i], outside + inside));
    extend(touched.inRun, getRegion(planned.accesses[i], outside));
  }
  if (facts.job == report::Job::Product)
    loop.macs += facts.work * runs;
}

/// The bytes of \p touched, each once: no more than its box has of the tensor.
static double getBytesOnce(const Touched &touched) {
  double share = 1;
  for (auto [begin, end, size] :
       llvm::zip(touched.inRun->begin, touched.inRun->end, getShape(touched.value)))
    if (size > 0)
      share *= std::min(1.0, double(end - begin) / double(size));
  return std::min(touched.bytes, share * double(getLayout(touched.value).getSizeInBytes()));
}

/// Adds \p tensors to \p facts; their bytes.
static double addOperands(const llvm::MapVector<Value, Touched> &tensors, bool isResult,
                          llvm::function_ref<std::string(Value)> getName, report::Loop &facts) {
  double sum = 0;
  for (const auto &[root, touched] : tensors) {
    report::LoopOperand &operand = facts.operands.emplace_back();
    operand.name = getName(root);
    operand.isResult = isResult;
    llvm::append_range(operand.whole, getShape(touched.value));
    for (auto [begin, end] : llvm::zip(touched.inTrip->begin, touched.inTrip->end))
      operand.tile.push_back(end - begin);
    const double bytes = getBytesOnce(touched);
    operand.sizeInBytes = int64_t(bytes);
    sum += bytes;
  }
  return sum;
}

/// Keeps of what \p loop writes the arguments of the function, and what is read outside of it.
static void dropTemporaries(OpenLoop &loop,
                            const llvm::DenseMap<Value, SmallVector<Operation *>> &readers) {
  loop.results.remove_if([&](const auto &result) {
    auto found = readers.find(result.first);
    return !isa<BlockArgument>(result.first) &&
           (found == readers.end() || llvm::all_of(found->second, [&](Operation *reader) {
              return loop.op->isProperAncestor(reader);
            }));
  });
}

namespace spyre::compiler {

void collectLoops(func::FuncOp func, PlanningModel &model,
                  llvm::function_ref<std::string(Value)> getName, report::Function &facts) {
  std::vector<OpenLoop> loops;
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::DenseMap<Value, SmallVector<Operation *>> readers;
  auto find = [&](Operation *op) {
    auto loop = op->getParentOfType<scf::ForOp>();
    return loop ? numbers.lookup_or(loop, -1) : -1;
  };
  int64_t position = 0;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      report::Loop &entry = facts.loops.emplace_back();
      entry.parent = find(loop);
      entry.first = position;
      entry.last = position - 1;
      entry.numTrips = getConstantIntValue(loop.getUpperBound()).value_or(1);
      if (entry.parent >= 0) {
        const report::Loop &parent = facts.loops[size_t(entry.parent)];
        entry.numRuns = parent.numRuns * parent.numTrips;
      }
      numbers[op] = int64_t(loops.size());
      loops.push_back({loop, {}, {}, 0});
    }
    auto device = dyn_cast<DeviceOpInterface>(op);
    if (!device)
      return;
    for (Value input : device.getInputs())
      readers[getRootBuffer(input)].push_back(op);
    report::Operation &entry = facts.operations[size_t(position)];
    entry.loop = find(op);
    const PlannedOp *planned = entry.loop < 0 ? nullptr : model.get(device);
    double runs = 1;
    for (int64_t number = entry.loop; number >= 0; number = facts.loops[size_t(number)].parent) {
      report::Loop &around = facts.loops[size_t(number)];
      around.last = position;
      runs *= double(around.numTrips);
      if (planned)
        touch(loops[size_t(number)], device, *planned, entry, runs);
    }
    ++position;
  });
  for (auto [loop, entry] : llvm::zip_equal(loops, facts.loops)) {
    dropTemporaries(loop, readers);
    const double read = addOperands(loop.arguments, false, getName, entry);
    const double written = addOperands(loop.results, true, getName, entry);
    entry.leastInNs = ::spyre::cost::getBoundInNs(*model.getDevice(), read, written, loop.macs);
  }
}

} // namespace spyre::compiler
