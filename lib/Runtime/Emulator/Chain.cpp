//===- Chain.cpp - Operations that run block by block -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operations follow one another on a core, which rows they share, and which of
// their results stay with the thread. Two operands are the same place if they begin
// at the same addresses and go in the same steps, whatever their dims are called. In
// doubt a chain runs as its operations stand.
//
//===----------------------------------------------------------------------===//

#include "Chain.h"
#include "FastPath.h"

#include <set>

using namespace spyre;
using namespace spyre::runtime;

namespace {

constexpr size_t kMaxChain = 64;
/// Fewer cores would leave threads idle.
constexpr int kMinChainCores = 8;
/// Local values of one block: they should stay in the second-level cache.
constexpr int64_t kBlockInBytes = 192 << 10;

bool isScratch(const Operand &operand) {
  return operand.isLX() || std::all_of(operand.block.begin(), operand.block.end(),
                                       [](Block *b) { return b->getUse() == BlockUse::Scratch; });
}

} // namespace

bool Chain::Value::liesAt(const Operand &other) const {
  return liesWith({&other, getSteps(other)});
}

bool Chain::Value::liesWith(const Value &other) const {
  return operand->isLX() == other.operand->isLX() && operand->start == other.operand->start &&
         steps == other.steps;
}

bool Chain::Value::mayOverlap(const Value &other) const {
  return mayMeetOnOneCore(*operand, *other.operand);
}

bool Chain::mayAppend(const Execution &next) const {
  if (links.empty())
    return true;
  if (links.size() >= kMaxChain || links[0]->getNumCores() != next.getNumCores() ||
      next.getNumCores() < kMinChainCores)
    return false;
  return std::all_of(links.begin(), links.end(),
                     [&](const Execution *link) { return next.canFollow(*link); });
}

bool Chain::mayPrecede(const Execution &next) const {
  return std::all_of(links.begin(), links.end(),
                     [&](const Execution *link) { return next.isIndependentOf(*link); });
}

bool Chain::findValues() {
  values.clear();
  valuesOf.assign(links.size(), {});
  for (size_t i = 0; i < links.size(); ++i) {
    for (unsigned input : links[i]->getInputs()) {
      const Operand &operand = links[i]->getOperand(input);
      size_t v = values.size();
      while (v > 0 && !values[v - 1].liesAt(operand))
        --v;
      if (v == 0) {
        values.push_back({&operand, getSteps(operand)});
        values.back().first = i;
        v = values.size();
      }
      values[v - 1].last = i;
      valuesOf[i].push_back(v - 1);
    }
    const Operand &result = links[i]->getResult();
    valuesOf[i].push_back(values.size());
    values.push_back({&result, getSteps(result)});
    values.back().isWritten = true;
    values.back().first = values.back().last = i;
  }
  for (const Value &value : values)
    for (size_t s = 1; s < value.steps.size(); ++s)
      if (value.steps[s].first == value.steps[s - 1].first)
        return false; // two dims that move alike
  // What is read is what was written last where it lies, and written as it is read.
  for (size_t i = 0; i < links.size(); ++i)
    for (size_t k = 0; k + 1 < valuesOf[i].size(); ++k)
      for (size_t w = i; w-- > 0;) {
        size_t written = valuesOf[w].back(), read = valuesOf[i][k];
        if (written == read)
          break;
        if (values[written].mayOverlap(values[read]))
          return false;
      }
  return true;
}

/// Whether all operations go along the same rows, dim \p firstDim of the first one's.
bool Chain::findRows(size_t firstDim) {
  for (Value &value : values)
    value.rowUnit = -1;
  rowDims.assign(links.size(), -1);
  for (size_t i = 0; i < links.size(); ++i) {
    const Execution &link = *links[i];
    int dim = i == 0 ? static_cast<int>(firstDim) : -1;
    auto isRow = [&](const OperandDim &entry, int64_t unit) {
      return entry.unit == unit && !entry.inStick && entry.extent == numRows;
    };
    // A value whose rows are known says it.
    for (size_t k = 0; k < valuesOf[i].size() && dim < 0; ++k) {
      const Operand &operand = link.getOperandAt(k);
      int64_t unit = values[valuesOf[i][k]].rowUnit;
      for (size_t candidate = 0; unit > 0 && candidate < operand.dims.size(); ++candidate)
        if (isRow(operand.dims[candidate], unit))
          dim = static_cast<int>(candidate);
    }
    for (unsigned candidate : link.getOuterDims())
      if (dim < 0 && link.getCoreSize(candidate) == numRows)
        dim = static_cast<int>(candidate);
    if (dim < 0 || link.getCoreSize(dim) != numRows || !link.getResult().has(dim))
      return false;
    rowDims[i] = dim;
    for (size_t k = 0; k < valuesOf[i].size(); ++k) {
      const OperandDim &entry = link.getOperandAt(k).dims[dim];
      if (entry.inStick)
        return false;
      Value &value = values[valuesOf[i][k]];
      if (value.rowUnit >= 0 && value.rowUnit != entry.unit)
        return false;
      value.rowUnit = entry.unit;
    }
  }
  return true;
}

/// Whether nobody reads \p value after the chain.
bool Chain::isDead(const Value &value, std::span<const std::unique_ptr<Execution>> later,
                   bool isEnd) const {
  for (size_t i = 0; i < later.size(); ++i) {
    const Execution &execution = *later[i];
    for (unsigned input : execution.getInputs()) {
      const Operand &operand = execution.getOperand(input);
      if (!mayMeetOnAnyCore(*value.operand, operand))
        continue;
      bool isNewer = false;
      Value read{&operand, getSteps(operand)};
      for (size_t w = i; w-- > 0 && !isNewer;)
        isNewer = read.liesAt(later[w]->getResult());
      if (!isNewer)
        return false;
    }
    if (value.liesAt(execution.getResult()))
      return true;
  }
  return isEnd;
}

bool Chain::findLocalValues(std::span<const std::unique_ptr<Execution>> later, bool isEnd) {
  bool found = false;
  for (size_t v = 0; v < values.size(); ++v) {
    Value &value = values[v];
    bool isCovered =
        std::any_of(values.begin() + static_cast<int64_t>(v) + 1, values.end(),
                    [&](const Value &next) { return next.isWritten && next.liesWith(value); });
    value.isLocal = value.isWritten &&
                    (isCovered || (isScratch(*value.operand) && isDead(value, later, isEnd)));
    found |= value.isLocal;
  }
  return found;
}

/// Whether blocks may run one after the other: what is written in memory lies apart
/// from all else, but for the same rows of the same sticks.
bool Chain::mayInterleave() const {
  for (const Value &written : values)
    for (const Value &other : values) {
      if (!written.isWritten || written.isLocal || other.isLocal || &written == &other)
        continue;
      bool isAlike = written.liesWith(other) && written.rowUnit == other.rowUnit;
      if (!isAlike && written.mayOverlap(other))
        return false;
    }
  return true;
}

/// Sizes and offsets of the local values if rows are cut into \p pieces; the bytes
/// that a thread needs.
int64_t Chain::layOut(int64_t count) {
  std::vector<Value *> placed;
  int64_t total = 0;
  for (Value &value : values) {
    if (!value.isLocal)
      continue;
    value.sizeInBytes = kStickInBytes;
    for (auto [unit, steps] : value.steps)
      value.sizeInBytes *= unit == value.rowUnit && count > 1 ? steps / count : steps;
    // The lowest offset that is free while it lives. What goes element by element to
    // where it comes from does so here, too.
    value.offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Value *other : placed)
        if (!(value.first == other->last && value.liesWith(*other)) && value.first <= other->last &&
            other->first <= value.last && value.offset < other->offset + other->sizeInBytes &&
            other->offset < value.offset + value.sizeInBytes) {
          value.offset = other->offset + other->sizeInBytes;
          moved = true;
        }
    }
    placed.push_back(&value);
    total = std::max(total, value.offset + value.sizeInBytes);
  }
  return total;
}

/// Finds blocks and local values, and plans the operations anew for them; false if
/// there is nothing to gain.
bool Chain::block(std::span<const std::unique_ptr<Execution>> later, bool isEnd) {
  if (links.size() < 2 || !findValues() || !findLocalValues(later, isEnd))
    return false;
  pieces = 1;
  localInBytes = layOut(1);
  if (localInBytes > kBlockInBytes) {
    std::vector<unsigned> dims = links[0]->getOuterDims();
    std::sort(dims.begin(), dims.end(), [&](unsigned a, unsigned b) {
      int64_t sizeA = links[0]->getCoreSize(a), sizeB = links[0]->getCoreSize(b);
      return sizeA != sizeB ? sizeA > sizeB : a < b;
    });
    bool found = false;
    for (unsigned dim : dims) {
      numRows = links[0]->getCoreSize(dim);
      found = numRows > 1 && findRows(dim) && mayInterleave();
      if (found)
        break;
    }
    for (int64_t count = 2; found && count <= numRows && localInBytes > kBlockInBytes; ++count)
      if (numRows % count == 0) {
        pieces = count;
        localInBytes = layOut(count);
      }
  }
  for (size_t i = 0; i < links.size(); ++i) {
    std::set<const Operand *> seen;
    for (size_t k = 0; k < valuesOf[i].size(); ++k) {
      const Value &value = values[valuesOf[i][k]];
      if (!value.isLocal || !seen.insert(&links[i]->getOperandAt(k)).second)
        continue;
      // The same order, without what lies between.
      std::vector<std::pair<int64_t, int64_t>> units;
      int64_t unit = kStickInBytes;
      for (size_t s = value.steps.size(); s-- > 0;) {
        units.emplace_back(value.steps[s].first, unit);
        unit *= value.steps[s].first == value.rowUnit && pieces > 1 ? value.steps[s].second / pieces
                                                                    : value.steps[s].second;
      }
      links[i]->setLocal(k, units);
    }
    links[i]->cut(pieces > 1 ? rowDims[i] : -1, pieces);
  }
  return true;
}

void Chain::plan(std::span<const std::unique_ptr<Execution>> later, bool isEnd) {
  isBlocked = block(later, isEnd);
}

void Chain::run(ThreadPool &pool) const {
  if (links.size() == 1)
    return links[0]->runPlan();
  pool.run(links[0]->getNumCores(), [&](int64_t core) {
    if (isBlocked) {
      thread_local std::vector<uint8_t> memory;
      if (int64_t(memory.size()) < localInBytes + kStickInBytes)
        memory.resize(localInBytes + kStickInBytes);
      void *begin = memory.data();
      size_t space = memory.size();
      auto *local = static_cast<uint8_t *>(std::align(kStickInBytes, localInBytes, begin, space));
      for (size_t i = 0; i < links.size(); ++i)
        for (size_t k = 0; k < valuesOf[i].size(); ++k)
          if (const Value &value = values[valuesOf[i][k]]; value.isLocal)
            links[i]->setData(k, static_cast<int>(core), local + value.offset);
    }
    for (Execution *link : links)
      link->work.run(static_cast<int>(core), 0, link->work.places);
  });
}
