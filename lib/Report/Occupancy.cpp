//===- Occupancy.cpp - Scratchpads over time as a drawing -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan is the same on every core, so one drawing serves all of them. Buffers that are
// too small or live too shortly to be seen become one shape.
//
//===----------------------------------------------------------------------===//

#include "Drawings.h"
#include "Text.h"
#include "TimeAxis.h"

#include <algorithm>
#include <map>

using namespace spyre;
using namespace spyre::report;

namespace {

/// Where a buffer is drawn.
struct Box {
  double left = 0, right = 0, top = 0, bottom = 0;
};

class Occupancy {
public:
  Occupancy(const Function &function, int64_t usableInBytes);

  void write(const std::string &id, std::ostream &os) const;

private:
  static constexpr double kTop = 4, kOperations = 17, kGap = 12, kHeight = 300;

  double getY(int64_t address) const {
    return floor - kHeight * double(address) / double(std::max<int64_t>(1, limit));
  }
  std::vector<Box> layOut() const;
  static bool isSmall(const Box &box) {
    constexpr double kNarrowest = 3, kLowest = 1.5;
    return box.right - box.left < kNarrowest || box.bottom - box.top < kLowest;
  }
  std::string describe(const ScratchpadBuffer &buffer) const;
  void writeAddresses(Svg &svg) const;
  void writeBuffers(Svg &svg, const std::vector<Box> &boxes) const;
  /// Above all else: what fills a buffer is drawn over it.
  void writeNames(Svg &svg, const std::vector<Box> &boxes) const;
  void writeSmall(Svg &svg, const std::vector<Box> &boxes) const;
  void writeTransfers(Svg &svg, const std::vector<Box> &boxes) const;

  const Function &function;
  TimeAxis axis;
  int64_t usableInBytes;
  int64_t limit = 1; ///< the highest address that is drawn
  double operations = 0, floor = 0;
};

} // namespace

Occupancy::Occupancy(const Function &function, int64_t usableInBytes)
    : function(function), axis(function, kDrawingLeft, kDrawingWidth - 1),
      usableInBytes(usableInBytes) {
  const int64_t peak = getPeakInBytes(function);
  // A plan that uses little of the scratchpad is drawn at its own scale.
  limit = std::max<int64_t>(1, peak * 2 < usableInBytes ? peak : std::max(peak, usableInBytes));
  operations = kTop + axis.getLoopsHeight();
  floor = operations + kOperations + kGap + kHeight;
}

/// A buffer that takes over the place of another one does so in the middle of the operation
/// that reads the one and writes the other.
std::vector<Box> Occupancy::layOut() const {
  std::map<int64_t, std::vector<const ScratchpadBuffer *>> byFirst, byLast;
  for (const ScratchpadBuffer &buffer : function.scratchpad) {
    byFirst[buffer.first].push_back(&buffer);
    byLast[buffer.last].push_back(&buffer);
  }
  auto shares = [](const std::map<int64_t, std::vector<const ScratchpadBuffer *>> &others,
                   int64_t position, const ScratchpadBuffer &buffer) {
    auto found = others.find(position);
    return found != others.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const auto *other) {
             return other != &buffer && other->first != other->last &&
                    other->addressInBytes < buffer.addressInBytes + buffer.sizeInBytes &&
                    buffer.addressInBytes < other->addressInBytes + other->sizeInBytes;
           });
  };
  std::vector<Box> boxes;
  for (const ScratchpadBuffer &buffer : function.scratchpad) {
    Box box{axis.getBegin(buffer.first), axis.getEnd(buffer.last),
            getY(buffer.addressInBytes + buffer.sizeInBytes), getY(buffer.addressInBytes)};
    if (buffer.first != buffer.last) {
      if (shares(byLast, buffer.first, buffer))
        box.left = (box.left + axis.getEnd(buffer.first)) / 2;
      if (shares(byFirst, buffer.last, buffer))
        box.right = (box.right + axis.getBegin(buffer.last)) / 2;
    }
    boxes.push_back(box);
  }
  return boxes;
}

std::string Occupancy::describe(const ScratchpadBuffer &buffer) const {
  std::string text = buffer.name;
  if (!buffer.value.empty())
    text += ", " + buffer.value;
  text += ": " + bytes(double(buffer.sizeInBytes)) + ", bytes " +
          std::to_string(buffer.addressInBytes) + " to " +
          std::to_string(buffer.addressInBytes + buffer.sizeInBytes) + ", operations #" +
          std::to_string(buffer.first) + " to #" + std::to_string(buffer.last);
  if (buffer.writer >= 0) {
    const Operation &op = function.operations[size_t(buffer.writer)];
    text += ", written first by " + getLabel(op, buffer.writer) + " (" + getPlace(op) + ")";
  }
  return text;
}

void Occupancy::writeAddresses(Svg &svg) const {
  constexpr int64_t kLines = 6;
  int64_t step = 1;
  while (step * kLines < limit)
    step *= 2;
  for (int64_t address = 0; address <= limit; address += step) {
    svg.line(kDrawingLeft, getY(address), kDrawingWidth - 1, getY(address),
             address == 0 ? "axis" : "grid");
    const bool isWhole = address % 1024 == 0;
    svg.text(kDrawingLeft - 8, getY(address) + 4, "end",
             std::to_string(isWhole ? address / 1024 : address) + (isWhole ? " KiB" : " B"));
  }
  if (usableInBytes > limit)
    return;
  svg.line(kDrawingLeft, getY(usableInBytes), kDrawingWidth - 1, getY(usableInBytes), "usable");
}

void Occupancy::writeBuffers(Svg &svg, const std::vector<Box> &boxes) const {
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (isSmall(boxes[i]))
      continue;
    const auto [left, right, top, bottom] = boxes[i];
    const ScratchpadBuffer &buffer = function.scratchpad[i];
    const Job job =
        buffer.writer < 0 ? Job::Elementwise : function.operations[size_t(buffer.writer)].job;
    svg.rect(left, top, right - left, bottom - top, std::string("buf ") + getJobClass(job),
             describe(buffer));
  }
}

void Occupancy::writeNames(Svg &svg, const std::vector<Box> &boxes) const {
  constexpr double kLetter = 11;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const auto [left, right, top, bottom] = boxes[i];
    const ScratchpadBuffer &buffer = function.scratchpad[i];
    if (!isSmall(boxes[i]) && bottom - top > kLetter)
      svg.fit(left + 4, (top + bottom) / 2 + 4, right - left - 6, "name",
              buffer.value.empty() ? buffer.name : buffer.value);
  }
}

/// One shape of columns that are as wide as the narrowest box, with the addresses in use.
void Occupancy::writeSmall(Svg &svg, const std::vector<Box> &boxes) const {
  constexpr double kColumn = 3, kRow = 2;
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> columns; // rows, begin and end
  size_t number = 0;
  for (const Box &box : boxes) {
    if (!isSmall(box))
      continue;
    ++number;
    const auto first = int64_t(box.left / kColumn), last = int64_t(box.right / kColumn);
    const auto top = int64_t(box.top / kRow), bottom = int64_t(box.bottom / kRow) + 1;
    for (int64_t column = first; column <= last; ++column)
      columns[column].emplace_back(top, bottom);
  }
  if (number == 0)
    return;
  std::string path;
  // A run of columns with the same rows is one box.
  for (auto it = columns.begin(); it != columns.end();) {
    auto join = [](std::vector<std::pair<int64_t, int64_t>> rows) {
      std::sort(rows.begin(), rows.end());
      std::vector<std::pair<int64_t, int64_t>> joined;
      for (auto [begin, end] : rows) {
        if (!joined.empty() && begin <= joined.back().second)
          joined.back().second = std::max(joined.back().second, end);
        else
          joined.emplace_back(begin, end);
      }
      return joined;
    };
    const auto rows = join(it->second);
    const int64_t first = it->first;
    int64_t end = first + 1;
    for (++it; it != columns.end() && it->first == end && join(it->second) == rows; ++it)
      ++end;
    const double left = std::max(kDrawingLeft, double(first) * kColumn);
    const std::string width =
        Svg::number(std::min(double(end) * kColumn, kDrawingWidth - 1) - left);
    for (auto [begin, finish] : rows)
      path += "M" + Svg::number(left) + " " + Svg::number(double(begin) * kRow) + "h" + width +
              "v" + Svg::number(double(finish - begin) * kRow) + "h-" + width + "z";
  }
  svg.path(path, "small", counted(number, "buffer") + " too small to be drawn one by one");
}

void Occupancy::writeTransfers(Svg &svg, const std::vector<Box> &boxes) const {
  for (const Slot &slot : axis.getSlots()) {
    if (slot.first != slot.last)
      continue;
    const Operation &op = function.operations[size_t(slot.first)];
    if (op.job != Job::Transfer)
      continue;
    for (const Operand &operand : op.operands) {
      if (operand.buffer < 0 || isSmall(boxes[size_t(operand.buffer)]))
        continue;
      const Box &box = boxes[size_t(operand.buffer)];
      const double left = std::max(box.left, slot.begin), right = std::min(box.right, slot.end);
      if (right > left)
        svg.rect(left, box.top, right - left, box.bottom - box.top, operand.isOutput ? "in" : "out",
                 (operand.isOutput ? "filled by " : "read by ") + report::describe(op, slot.first));
    }
  }
}

void Occupancy::write(const std::string &id, std::ostream &os) const {
  const std::vector<Box> boxes = layOut();
  os << "<figure>\n";
  {
    Svg svg(os, kDrawingWidth, floor + 20, id + "-lx", "LX of a core over time in " + function.name,
            counted(function.scratchpad.size(), "buffer") + "; the highest ends at byte " +
                std::to_string(getPeakInBytes(function)) + " of " + std::to_string(usableInBytes) +
                " that the compiler may use.");
    svg.text(kDrawingLeft - 8, operations + kOperations - 4, "end", "operations");
    axis.writeOperations(svg, operations, kOperations);
    writeAddresses(svg);
    writeSmall(svg, boxes);
    writeBuffers(svg, boxes);
    writeTransfers(svg, boxes);
    writeNames(svg, boxes);
    axis.writeLoops(svg, kTop, floor);
    axis.writeTicks(svg, floor);
  }
  os << "<figcaption>Left to right modelled time as above, bottom to top the addresses of one "
        "core's scratchpad; every core holds its part of each buffer at the same address. A box is "
        "a buffer, named by the argument that is copied there or the operation that writes it "
        "first. Hatched: data that only moves";
  if (usableInBytes <= limit)
    os << "; the dashed line is what the compiler may use";
  os << ".</figcaption>\n</figure>\n";
}

void report::writeOccupancy(const Function &function, int64_t usableInBytes, const std::string &id,
                            std::ostream &os) {
  Occupancy(function, usableInBytes).write(id, os);
}
