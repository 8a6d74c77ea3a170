//===- Checks.cpp - Checked mode: addresses and writers ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What checked mode reports of where an operand lies and who wrote what it reads.
// A descriptor does not say which tensors of two operations are the same one, and
// one memory may well be read in another shape than it was written in. So only
// contradictions that no reading of the descriptors removes are reported:
//   - cores whose start addresses do not follow from their work slices,
//   - a scratchpad's tensor, read where it begins and with its sizes, as another
//     slice or in another order,
//   - bits of one format computed with as another,
//   - a tensor of which a part was written over by one that reaches beyond it,
//   - results that another one covers before anybody read them.
// Source of the rules: docs/formats/superdsc-rules.md, section 5, e.3 to e.4;
// docs/formats/superdsc-rules.md, section 9.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <map>

using namespace spyre;
using namespace spyre::runtime;

void Execution::addReport(CoreResult &result, ReportKind kind, const Operand &operand, int core,
                          int64_t address, const std::string &message) const {
  // One report of a kind an operand and core: the first address says where to look.
  for (const Report &known : result.reports)
    if (known.kind == kind && known.core == core && known.tensor == operand.tensor->name)
      return;
  result.reports.push_back(
      {kind, name, core, address, operand.tensor->name + " " + message, operand.tensor->name});
}

/// The slice of \p dim that \p core has of \p operand; a relayout's operands have
/// divisions of their own.
int64_t Execution::getSlice(const Operand &operand, int core, unsigned dim) const {
  const auto &own = operand.tensor->coreToSlice;
  if (size_t(core) >= own.size())
    return d.coreToSlice[core][dim];
  for (const auto &[label, slice] : own[core])
    if (label == d.dims[dim].name)
      return slice;
  return 0;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

namespace {

/// The value that occurs most often, and how often; of several, the one that occurs
/// first.
std::pair<int64_t, size_t> getMostFrequent(const std::vector<int64_t> &values) {
  std::map<int64_t, size_t> counts;
  for (int64_t value : values)
    ++counts[value];
  int64_t best = values.front();
  for (int64_t value : values)
    if (counts[value] > counts[best])
      best = value;
  return {best, counts[best]};
}

/// Whether \p offsets are ((slice div a) mod b) * step: what a view makes of a dim.
bool isRegular(const std::vector<int64_t> &offsets) {
  int64_t n = offsets.size();
  for (int64_t a = 1; a <= n; ++a)
    for (int64_t b = 1; n % a == 0 && b <= n / a; ++b) {
      if (n / a % b != 0)
        continue;
      bool fits = true;
      for (int64_t k = 0; k < n && fits; ++k)
        fits = offsets[k] == (k / a) % b * (a < n ? offsets[a] : 0);
      if (fits)
        return true;
    }
  return false;
}

/// The multiples of the step that fits most of \p offsets.
std::vector<int64_t> straighten(const std::vector<int64_t> &offsets) {
  int64_t n = offsets.size(), step = 0;
  size_t agreeing = 0;
  std::vector<int64_t> rest(n);
  for (int64_t i = 1; i < n; ++i) {
    int64_t candidate = offsets[i] - offsets[i - 1];
    for (int64_t k = 0; k < n; ++k)
      rest[k] = offsets[k] - k * candidate;
    if (size_t count = getMostFrequent(rest).second; count > agreeing) {
      agreeing = count;
      step = candidate;
    }
  }
  for (int64_t k = 0; k < n; ++k)
    rest[k] = k * step;
  return rest;
}

} // namespace

/// Start addresses of an operand in device memory follow from the work slices. How
/// far a slice is from the one before follows from the layout. It does not for a dim
/// that the operand lacks, or of which a core has one step only: a view may repeat
/// such slices or move them as it likes, but regularly.
void Execution::checkAddresses() {
  const Operand &out = operands[output];
  for (int core = 0; core < numCores; ++core)
    if (out.block[core]->getUse() == BlockUse::Input) {
      emulator.report(
          {ReportKind::ReadOnly, name, core, out.start[core],
           out.tensor->name + " writes to " + out.block[core]->getName() + ", which is an input",
           out.tensor->name});
      break;
    }
  if (d.opFunc == "shuffle")
    return;
  for (const Operand &operand : operands) {
    if (operand.isLX())
      continue;
    std::vector<int64_t> residue = operand.start;
    for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
      if (d.dims[dim].numSlices == 1)
        continue;
      const OperandDim &place = operand.dims[dim];
      if (int(dim) == operand.indirectDim)
        continue; // the index's dim
      std::vector<int64_t> offsets(d.dims[dim].numSlices, 0);
      if (operand.has(dim) && place.extent > (place.inStick ? place.perStick : 1)) {
        for (size_t k = 0; k < offsets.size(); ++k)
          offsets[k] = place.getOffset(place.extent * int64_t(k));
      } else {
        // Steps between cores whose other slices are the same.
        std::vector<std::vector<int64_t>> steps(offsets.size());
        std::map<std::vector<int64_t>, int> coreOf;
        for (int core = 0; core < numCores; ++core)
          coreOf[d.coreToSlice[core]] = core;
        for (int core = 0; core < numCores; ++core) {
          std::vector<int64_t> next = d.coreToSlice[core];
          ++next[dim];
          auto neighbour = coreOf.find(next);
          if (neighbour != coreOf.end())
            steps[next[dim]].push_back(operand.start[neighbour->second] - operand.start[core]);
        }
        for (size_t k = 1; k < offsets.size(); ++k) {
          if (steps[k].empty())
            continue;
          // In doubt, a dim that the operand lacks does not move it.
          size_t numZero = std::count(steps[k].begin(), steps[k].end(), 0);
          bool stays = !operand.has(dim) && 2 * numZero >= steps[k].size();
          offsets[k] = offsets[k - 1] + (stays ? 0 : getMostFrequent(steps[k]).first);
        }
        if (!isRegular(offsets))
          offsets = straighten(offsets);
      }
      for (int core = 0; core < numCores; ++core)
        residue[core] -= offsets[d.coreToSlice[core][dim]];
    }
    int64_t base = getMostFrequent(residue).first;
    for (int core = 0; core < numCores; ++core)
      if (residue[core] != base)
        emulator.report({ReportKind::WrongSlice, name, core, operand.start[core],
                         operand.tensor->name + " starts " +
                             std::to_string(std::abs(residue[core] - base)) + " bytes " +
                             (residue[core] > base ? "after" : "before") +
                             " the core's work slice, as the other cores' addresses have it",
                         operand.tensor->name});
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void Execution::checkRead(const Operand &operand, int core, int64_t offset, int64_t bytes,
                          CoreResult &result) {
  const Block *block = operand.block[core];
  int64_t at = operand.blockOffset[core] + offset;
  const StickShadow &shadow = block->getShadow(at / kStickInBytes);
  if (shadow.undefined.any() || shadow.padding.any())
    result.sawMarks = true;
  if (shadow.writer >= 0 &&
      (result.lastWriter.empty() || result.lastWriter[operand.position] != shadow.writer))
    checkWriter(operand, core, shadow.writer, operand.start[core] + offset, result);
  int64_t lane = at % kStickInBytes;
  if (operand.tensor->indirection == sdsc::Indirection::IndexTensor && shadow.undefined[lane])
    addReport(result, ReportKind::Undefined, operand, core, operand.start[core] + offset,
              "takes an undefined lane for an index");
  if (shadow.written.all())
    return;
  for (int64_t i = lane; i < std::min(lane + bytes, kStickInBytes); ++i) {
    if (shadow.written[i])
      continue;
    int64_t address = operand.start[core] + offset + (i - lane);
    if (operand.isLX())
      for (int other = 0; other < int(emulator.scratchpads.size()); ++other)
        if (other != core && emulator.scratchpads[other].isWritten(at - lane + i))
          return addReport(result, ReportKind::OtherCoresLX, operand, core, address,
                           "reads what only core " + std::to_string(other) +
                               " has in its scratchpad");
    return addReport(result, ReportKind::NeverWritten, operand, core, address,
                     "reads memory that nobody wrote");
  }
}

namespace {

bool isInteger(DataFormat format) {
  return format == DataFormat::IEEE_INT32 || format == DataFormat::SENUINT32;
}
/// Whether bits written as one format mean the same in the other.
bool isSameFormat(DataFormat a, DataFormat b) { return a == b || (isInteger(a) && isInteger(b)); }

/// "3..7".
std::string getRange(int64_t begin, int64_t extent) {
  return extent == 1 ? std::to_string(begin)
                     : std::to_string(begin) + ".." + std::to_string(begin + extent - 1);
}

} // namespace

bool WriteRecord::touches(int64_t offset) const {
  for (const Place &place : places) {
    const int64_t steps =
        place.perStick > 0 ? (place.extent + place.perStick - 1) / place.perStick : place.extent;
    if (place.unit > 0)
      offset -= std::min(steps - 1, offset / place.unit) * place.unit;
  }
  return offset == 0;
}

/// Compares \p operand with the writer \p number of something it reads; once an
/// operand, core and writer.
void Execution::checkWriter(const Operand &operand, int core, int32_t number, int64_t address,
                            CoreResult &result) {
  result.lastWriter.resize(operands.size(), -1);
  result.seenWriters.resize(operands.size());
  result.lastWriter[operand.position] = number;
  std::vector<int32_t> &seen = result.seenWriters[operand.position];
  if (std::find(seen.begin(), seen.end(), number) != seen.end())
    return;
  const WriteRecord &writer = emulator.writes[number];
  std::string wrote = writer.tensor + " of " + writer.op;
  // An index is an integer, whatever the operand calls it; moved bits may be anything.
  bool isIndex = operand.tensor->indirection == sdsc::Indirection::IndexTensor;
  if (writer.format && (isIndex ? !isInteger(*writer.format)
                                : !copiesBits() && !isSameFormat(*writer.format, operand.format)))
    addReport(result, ReportKind::WrongFormat, operand, core, address,
              "reads as " + std::string(getFormatName(operand.format)) + " what is " +
                  std::string(getFormatName(*writer.format)) + ", " + wrote);
  bool isScratch = operand.isLX() || operand.block[core]->getUse() == BlockUse::Scratch;
  bool hasPlaces = isScratch && writer.isLX == operand.isLX() && size_t(core) < writer.start.size();
  if (hasPlaces && operand.isLX() && writer.start[core] == operand.start[core]) {
    WriteRecord mine = makeRecord(operand);
    bool isSame = mine.places.size() == writer.places.size();
    for (size_t i = 0; isSame && i < mine.places.size(); ++i)
      isSame = mine.places[i].size == writer.places[i].size &&
               mine.places[i].perStick == writer.places[i].perStick;
    bool hasSameExtents = true, hasSameUnits = true, meetsAgain = false;
    for (size_t i = 0; isSame && i < mine.places.size(); ++i) {
      const WriteRecord::Place &here = mine.places[i], &there = writer.places[i];
      hasSameExtents &= here.extent == there.extent;
      hasSameUnits &= here.unit == there.unit || here.extent == 1;
      // Boxes of one buffer may begin at one place and go on along different dims of it: then the
      // rest is not the writer's.
      meetsAgain |= here.unit != there.unit && here.extent > 1 && writer.touches(here.unit);
      if (here.origin[core] < there.origin[core] ||
          here.origin[core] + here.extent > there.origin[core] + there.extent)
        addReport(result, ReportKind::WrongSlice, operand, core, address,
                  "reads as elements " + getRange(here.origin[core], here.extent) + " of " +
                      std::to_string(here.size) + " what are elements " +
                      getRange(there.origin[core], there.extent) + ", " + wrote);
    }
    if (isSame && hasSameExtents && !hasSameUnits && meetsAgain)
      addReport(result, ReportKind::WrongLayout, operand, core, address,
                "reads with other strides than it was written with, " + wrote);
  }
  for (int32_t other : seen) {
    const WriteRecord &older = emulator.writes[std::min(other, number)];
    const WriteRecord &newer = emulator.writes[std::max(other, number)];
    if (!hasPlaces || older.isLX != newer.isLX || !older.isDense || !newer.isDense ||
        size_t(core) >= older.start.size() || size_t(core) >= newer.start.size())
      continue;
    auto begin = [&](const WriteRecord &r) { return r.isLX ? r.start[core] : r.begin; };
    auto end = [&](const WriteRecord &r) { return r.isLX ? r.start[core] + r.endOffset : r.end; };
    if (begin(newer) < end(older) && begin(older) < end(newer) &&
        (begin(newer) < begin(older) || end(newer) > end(older)))
      addReport(result, ReportKind::Overlap, operand, core, std::max(begin(newer), begin(older)),
                "reads " + older.tensor + " of " + older.op + " after " + newer.tensor + " of " +
                    newer.op + " was written over a part of it");
  }
  seen.push_back(number);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Where the slices of \p operand lie.
WriteRecord Execution::makeRecord(const Operand &operand) const {
  WriteRecord made;
  made.op = name;
  made.tensor = operand.tensor->name;
  made.format = operand.format;
  made.isLX = operand.isLX();
  made.endOffset = operand.endOffset;
  made.start = operand.start;
  made.begin = *std::min_element(operand.start.begin(), operand.start.end());
  made.end = *std::max_element(operand.start.begin(), operand.start.end()) + operand.endOffset;
  std::vector<int64_t> starts = operand.start;
  std::sort(starts.begin(), starts.end());
  int64_t numStarts = std::unique(starts.begin(), starts.end()) - starts.begin();
  int64_t filled = operand.numSticks * kStickInBytes;
  made.isDense = made.isLX ? filled == made.endOffset : numStarts * filled == made.end - made.begin;
  const std::vector<std::string> &order = operand.tensor->dimOrder;
  for (size_t i = order.size(); i-- > 0;) {
    std::optional<unsigned> dim = d.findDim(order[i]);
    if (!dim || !operand.has(*dim) || d.dims[*dim].size == 1)
      continue;
    const OperandDim &from = operand.dims[*dim];
    WriteRecord::Place place{
        d.dims[*dim].size, from.extent, from.unit, from.inStick ? from.perStick : 0, {}};
    for (int core = 0; core < numCores; ++core)
      place.origin.push_back(getSlice(operand, core, *dim) * from.extent);
    made.places.push_back(std::move(place));
  }
  return made;
}

/// After the kernels: what was read counts as read, and the result gets its record.
void Execution::recordWrite() {
  WriteRecord made = makeRecord(operands[output]);
  for (const CoreResult &result : results)
    for (size_t position = 0; position < result.seenWriters.size(); ++position)
      for (int32_t number : result.seenWriters[position]) {
        WriteRecord &writer = emulator.writes[number];
        writer.isRead = true;
        // Moved bits keep their format, whatever the operand calls it.
        if (copiesBits() && position == inputs[0] &&
            (!writer.format || *writer.format != operands[position].format))
          made.format.reset();
      }
  record = emulator.addWrite(std::move(made));
}

/// A stick is about to be written; \p shadow says what it holds. A result in scratch
/// memory that one other covers before it was read is lost. (Not so one of which a
/// rest remains: that may be the border of what lies on it.)
void Execution::checkStore(StickShadow &shadow, int core, int64_t address) {
  ++emulator.writes[record].numSticks;
  if (!emulator.options.reportLost || shadow.writer < 0 || shadow.writer == record)
    return;
  WriteRecord &old = emulator.writes[shadow.writer];
  const Operand &out = operands[output];
  if (old.isRead || (!out.isLX() && out.block[core]->getUse() != BlockUse::Scratch))
    return;
  if (old.overwriter != record) {
    old.overwriter = record;
    old.numOverwritten = 0;
    old.overwritingCore = core;
    old.overwrittenAddress = address;
  }
  if (++old.numOverwritten == old.numSticks)
    emulator.report({ReportKind::Lost, name, old.overwritingCore, old.overwrittenAddress,
                     out.tensor->name + " writes over " + old.tensor + " of " + old.op +
                         ", which nobody has read",
                     out.tensor->name});
}
