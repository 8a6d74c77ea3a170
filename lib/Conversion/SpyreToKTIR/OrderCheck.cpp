//===- OrderCheck.cpp - Dependences between compute tiles -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bundle's descriptors run one after another on all cores. A KTIR kernel is one
// function that every compute tile runs on its own; nothing but an inter-tile
// operation makes one wait for another. So a core may only touch what no other
// core touched in an earlier operation, reads of the same data apart. This is
// checked stick by stick, over the memory that more than one operation uses.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "spyre/Numerics/Formats.h"

#include <bitset>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

namespace {
/// More than any device has.
constexpr int64_t kMaxTiles = 64;

/// One stick's history.
struct StickState {
  int64_t writer = -1; ///< core; -1: nobody yet
  unsigned writeOp = 0;
  /// Cores that read it since, in earlier operations (the last of them: readOp) and
  /// in operation currentOp.
  std::bitset<kMaxTiles> readers, currentReaders;
  unsigned readOp = 0, currentOp = 0;

  void enter(unsigned operation) {
    if (currentOp != operation && currentReaders.any()) {
      readers |= currentReaders;
      readOp = currentOp;
      currentReaders.reset();
    }
    currentOp = operation;
  }
};

struct Access {
  unsigned operation, operand;
};

/// Calls \p visit with the number of each stick (from the base) that \p core touches.
void forEachStick(const Kernel &kernel, const KernelOp &op, const KernelOperand &operand,
                  int64_t core, function_ref<void(int64_t)> visit) {
  const BufferView &view = kernel.views.find(operand.buffer)->second;
  SmallVector<int64_t> slices = op.getSlices(core), extents = op.getExtents();
  SmallVector<int64_t> begin, size, place;
  for (const Coordinate &coordinate : ArrayRef(operand.coordinates).drop_back()) {
    size.push_back(coordinate.getExtent(extents));
    int64_t first = coordinate.constant;
    for (unsigned part : coordinate.parts)
      if (op.parts[part].dim >= 0)
        first += slices[op.parts[part].dim] * size.back();
    begin.push_back(first);
    place.push_back(0);
  }
  int64_t base = view.base.offsetInBytes / ::spyre::kStickInBytes;
  while (true) {
    int64_t stick = 0;
    for (size_t k = 0; k < place.size(); ++k)
      stick = stick * view.sizes[k] + begin[k] + place[k];
    visit(base + stick);
    size_t k = place.size();
    while (k > 0 && ++place[k - 1] == size[k - 1])
      place[--k] = 0;
    if (k == 0)
      return;
  }
}
} // namespace

void ktir::checkOrder(const Kernel &kernel, SmallVectorImpl<Unsupported> &unsupported) {
  if (kernel.numTiles < 2)
    return;
  if (kernel.numTiles > kMaxTiles) {
    unsupported.push_back({kernel.operations.front().op,
                           "the order between more than " + std::to_string(kMaxTiles) +
                               " compute tiles is not checked yet",
                           nullptr,
                           {}});
    return;
  }
  // Accesses by memory: an argument, the pool, or absolute addresses.
  std::map<std::pair<int, unsigned>, SmallVector<Access>> memories;
  for (auto [n, op] : llvm::enumerate(kernel.operations))
    for (auto [i, operand] : llvm::enumerate(op.operands)) {
      const BufferBase &base = kernel.views.find(operand.buffer)->second.base;
      if (!operand.isLX)
        memories[{base.kind, base.argument}].push_back(
            {static_cast<unsigned>(n), static_cast<unsigned>(i)});
    }
  for (auto &[memory, accesses] : memories) {
    auto isWrite = [&](const Access &access) {
      return access.operand + 1 == kernel.operations[access.operation].operands.size();
    };
    if (accesses.front().operation == accesses.back().operation || llvm::none_of(accesses, isWrite))
      continue;
    DenseMap<int64_t, StickState> sticks;
    for (const Access &access : accesses) {
      const KernelOp &op = kernel.operations[access.operation];
      std::optional<Unsupported> found;
      for (int64_t core = 0, e = op.getNumSlices(); core < e && !found; ++core)
        forEachStick(kernel, op, op.operands[access.operand], core, [&](int64_t stick) {
          StickState &state = sticks[stick];
          state.enter(access.operation);
          auto refuse = [&](StringRef verb, StringRef past, int64_t other, unsigned otherOp) {
            if (found)
              return;
            found = Unsupported{op.op,
                                ("core " + Twine(core) + " " + verb + " what core " + Twine(other) +
                                 " " + past +
                                 " before, through device memory; KTIR orders nothing between "
                                 "compute tiles")
                                    .str(),
                                kernel.operations[otherOp].op, ("it " + past + " here").str()};
          };
          if (state.writer >= 0 && state.writer != core && state.writeOp != access.operation)
            refuse(isWrite(access) ? "overwrites" : "reads", "has written", state.writer,
                   state.writeOp);
          if (!isWrite(access)) {
            state.currentReaders.set(core);
            return;
          }
          std::bitset<kMaxTiles> others = state.readers;
          others.reset(core);
          if (others.any())
            refuse("overwrites", "has read", static_cast<int64_t>(others._Find_first()),
                   state.readOp);
          state.writer = core;
          state.writeOp = access.operation;
          state.readers.reset();
          state.currentReaders.reset();
        });
      if (found)
        unsupported.push_back(std::move(*found));
    }
  }
}
