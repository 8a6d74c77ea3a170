//===- FastPointwise.cpp - Pointwise operations in memory order -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sticks are decoded some at a time, computed by the kernel and encoded to where
// they belong, in the order in which the result lies in memory. An operation from
// 16 bits to 16 bits is a table of all codes, made by the same kernel once.
//
//===----------------------------------------------------------------------===//

#include "FastPath.h"
#include "Vector.h"

#include <map>
#include <memory>
#include <mutex>

using namespace spyre;
using namespace spyre::runtime;

namespace {

constexpr int64_t kNumCodes = 65536;
/// Lanes that are computed together: a few operands of them stay in the first cache.
constexpr int64_t kTileLanes = 1024;
/// Tables kept; constants of operations make new ones.
constexpr size_t kMaxTables = 64;

using CodeTable = std::vector<uint16_t>;
struct TableKey {
  std::string_view kernel;
  std::vector<double> constants;
  DataFormat from, to;
  auto operator<=>(const TableKey &) const = default;
};

/// The results of \p kernel for all codes; null if it does not pay for \p count
/// elements.
const CodeTable *getTable(const Kernel &kernel, const std::vector<double> &constants,
                          DataFormat from, DataFormat to, int64_t count) {
  static std::mutex mutex;
  static std::map<TableKey, CodeTable> tables;
  std::lock_guard lock(mutex);
  TableKey key{kernel.name, constants, from, to};
  auto it = tables.find(key);
  if (it != tables.end())
    return &it->second;
  if (count < kNumCodes || tables.size() >= kMaxTables)
    return nullptr;
  CodeTable codes(kNumCodes), results(kNumCodes);
  for (int64_t i = 0; i < kNumCodes; ++i)
    codes[i] = static_cast<uint16_t>(i);
  std::vector<float> values(kNumCodes), computed(kNumCodes);
  decodeElements(from, reinterpret_cast<const uint8_t *>(codes.data()), values.data(), kNumCodes);
  const float *in[] = {values.data()};
  kernel.pointwise(in, computed.data(), kNumCodes, constants.data());
  encodeElements(to, computed.data(), reinterpret_cast<uint8_t *>(results.data()), kNumCodes,
                 kernel.saturate);
  return &(tables[std::move(key)] = std::move(results));
}

/// An operand as the tiles see it.
struct Lane {
  const Operand *operand = nullptr;
  bool isSplat = false;
  int64_t sticks = 1, stickUnit = 0; ///< of one place
  int64_t perStick = 1;

  /// Whether the sticks of consecutive places, \p stride apart, follow one another.
  bool isDense(int64_t stride) const {
    return !isSplat && stride == sticks * kStickInBytes &&
           (sticks == 1 || stickUnit == kStickInBytes);
  }
};

/// A coordinate mask in terms of the walk.
struct WalkMask {
  int level = -1; ///< whose variable it looks at
  bool alongRow = false;
  int64_t begin = 0, end = 0; ///< elements of the core's slice

  /// On the lanes of the place at \p at of the level.
  void apply(int64_t at, float value, float *lanes, int64_t count) const {
    if (alongRow)
      std::fill(lanes + std::clamp<int64_t>(begin - at * count, 0, count),
                lanes + std::clamp<int64_t>(end - at * count, 0, count), value);
    else if (at >= begin && at < end)
      std::fill(lanes, lanes + count, value);
  }
};

void prefetch(const uint8_t *data, int64_t bytes) {
#ifdef __GNUC__
  constexpr int64_t kLine = 64;
  for (int64_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(data + at);
#endif
}

/// The numbers of \p n places of \p count lanes, \p stride bytes apart: in \p buffer, or
/// where they are if they \p mayStay there.
const float *loadPlaces(const Lane &lane, const uint8_t *from, int64_t stride, int64_t n,
                        int64_t count, float *buffer, bool mayStay) {
  const VectorFunctions &vector = getVectorFunctions();
  DataFormat format = lane.operand->format;
  bool is16 = format == DataFormat::SEN169_FP16, is32 = format == DataFormat::IEEE_FP32;
  if (lane.isSplat) {
    if (is16 || is32) {
      (is16 ? vector.spreadDL16 : vector.spreadF32)(from, stride, n, count, buffer);
      return buffer;
    }
    for (int64_t p = 0; p < n; ++p) {
      float value;
      decodeElements(format, from + p * stride, &value, 1);
      std::fill_n(buffer + p * count, count, value);
    }
  } else if (lane.isDense(stride)) {
    if (is32 && mayStay)
      return reinterpret_cast<const float *>(from);
    decodeElements(format, from, buffer, n * count);
  } else {
    for (int64_t s = 0; s < lane.sticks; ++s) {
      const uint8_t *stick = from + s * lane.stickUnit;
      float *to = buffer + s * lane.perStick;
      if (is16)
        vector.decodeDL16Rows(stick, stride, n, lane.perStick, to, count);
      else if (is32)
        vector.copySticks(stick, stride, reinterpret_cast<uint8_t *>(to), count * 4, n);
      else
        for (int64_t p = 0; p < n; ++p)
          decodeElements(format, stick + p * stride, to + p * count, lane.perStick);
    }
  }
  return buffer;
}

} // namespace

void Execution::planFastPointwise() {
  const Operand &out = operands[output];
  int row = out.stickDim;
  if (row < 0 || inputs.size() + 1 > Walk::kMaxOperands ||
      outerDims.size() + 1 > Walk::kMaxLevels ||
      !hasWholeSticks(out, row, rowLength, getRowLanes()))
    return;
  // A place is as many lanes as the widest stick has.
  std::vector<Lane> lanes{{&out, false, 1, out.dims[row].unit, outPerStick}};
  int64_t placeLanes = outPerStick;
  for (unsigned input : inputs) {
    const Operand &in = operands[input];
    Lane lane{&in, !in.has(row)};
    if (!lane.isSplat) {
      if (!hasWholeSticks(in, row, rowLength, getRowLanes()))
        return;
      lane.stickUnit = in.dims[row].unit;
      lane.perStick = in.dims[row].perStick;
      placeLanes = std::max(placeLanes, lane.perStick);
    } else if (!hasPlainSteps(in, row)) {
      return;
    }
    lanes.push_back(lane);
  }
  if (getRowLanes() % placeLanes != 0 || !canStoreDirectly(/*inPlace=*/true))
    return;
  int numOperands = static_cast<int>(lanes.size());
  for (Lane &lane : lanes)
    lane.sticks = lane.isSplat ? 1 : placeLanes / lane.perStick;

  Walk walk;
  for (unsigned dim : outerDims) {
    Walk::Level level;
    level.extent = coreSizes[dim];
    level.dim = static_cast<int>(dim);
    for (int i = 0; i < numOperands; ++i)
      level.stride[i] = lanes[i].operand->dims[dim].unit;
    walk.levels.push_back(level);
  }
  Walk::Level along;
  along.extent = getRowLanes() / placeLanes;
  along.dim = row;
  for (int i = 0; i < numOperands; ++i)
    along.stride[i] = lanes[i].isSplat ? 0 : lanes[i].sticks * lanes[i].stickUnit;
  walk.levels.push_back(along);
  walk.finish(numOperands, /*merge=*/d.masks.empty());
  int64_t places = walk.getNumPlaces(), stride[Walk::kMaxOperands];
  std::copy_n(walk.levels.back().stride, numOperands, stride);

  const CodeTable *table = nullptr;
  if (numOperands == 2 && !lanes[1].isSplat && lanes[0].sticks == 1 && lanes[1].sticks == 1 &&
      out.width == 2 && lanes[1].operand->width == 2 && d.masks.empty() && kernel->pointwise)
    table = getTable(*kernel, constants, lanes[1].operand->format, out.format,
                     places * placeLanes * numCores);
  const VectorFunctions &vector = getVectorFunctions();
  work.places = places;
  work.placesPerJob = std::max<int64_t>(1, (1 << 15) / placeLanes);

  if (table) {
    work.run = [=, this, &vector](int core, int64_t b, int64_t e) {
      const Operand &out = operands[output];
      walk.forEachRun(b, e, numOperands, [&](const int64_t *offsets, const int64_t *, int64_t n) {
        const uint8_t *from = lanes[1].operand->data[core] + offsets[1];
        uint8_t *to = out.data[core] + offsets[0];
        bool dense = stride[0] == kStickInBytes && stride[1] == kStickInBytes;
        int64_t pieces = dense ? 1 : n, codes = (dense ? n : 1) * placeLanes;
        for (int64_t i = 0; i < pieces; ++i)
          vector.lookup(table->data(), reinterpret_cast<const uint16_t *>(from + i * stride[1]),
                        reinterpret_cast<uint16_t *>(to + i * stride[0]), codes);
      });
    };
    return;
  }

  int64_t tilePlaces = std::max<int64_t>(1, kTileLanes / placeLanes);
  int64_t tileLanes = tilePlaces * placeLanes;
  work.run = [=, this, &vector](int core, int64_t b, int64_t e) {
    const Operand &out = operands[output];
    auto buffer = std::make_unique_for_overwrite<float[]>(numOperands * tileLanes);
    std::vector<WalkMask> masks;
    for (const sdsc::Mask &mask : d.masks) {
      int dim = static_cast<int>(*d.findDim(mask.dim));
      int64_t begin = mask.firstInvalid - getFirstElement(core, dim);
      WalkMask entry{-1, dim == row, begin, begin + mask.count};
      for (size_t level = 0; level < walk.levels.size(); ++level)
        if (walk.levels[level].dim == dim)
          entry.level = static_cast<int>(level);
      masks.push_back(entry);
    }
    walk.forEachRun(
        b, e, numOperands, [&](const int64_t *offsets, const int64_t *index, int64_t count) {
          for (int64_t first = 0; first < count; first += tilePlaces) {
            int64_t n = std::min(tilePlaces, count - first);
            const float *in[Walk::kMaxOperands] = {};
            for (int i = 1; i < numOperands; ++i)
              in[i - 1] = loadPlaces(lanes[i],
                                     lanes[i].operand->data[core] + offsets[i] + first * stride[i],
                                     stride[i], n, placeLanes, buffer.get() + i * tileLanes,
                                     /*mayStay=*/i > 1 || masks.empty());
            for (const WalkMask &mask : masks) {
              bool isInner = mask.level == int(walk.levels.size()) - 1;
              for (int64_t p = 0; p < n; ++p)
                mask.apply(mask.level < 0 ? 0 : index[mask.level] + (isInner ? first + p : 0),
                           static_cast<float>(maskValue), buffer.get() + tileLanes + p * placeLanes,
                           placeLanes);
            }
            uint8_t *to = out.data[core] + offsets[0] + first * stride[0];
            // The next tile comes while this one is computed.
            for (int i = 0; i < numOperands && first + n < count; ++i)
              if (lanes[i].isDense(stride[i]))
                prefetch(lanes[i].operand->data[core] + offsets[i] + (first + n) * stride[i],
                         n * stride[i]);
            bool dense = lanes[0].isDense(stride[0]);
            bool direct = dense && out.format == DataFormat::IEEE_FP32;
            float *values = direct ? reinterpret_cast<float *>(to) : buffer.get();
            if (kernel->pointwise)
              kernel->pointwise(in, values, n * placeLanes, constants.data());
            else
              std::copy_n(in[0], n * placeLanes, values);
            if (direct)
              continue;
            if (dense) {
              encodeElements(out.format, values, to, n * placeLanes, kernel->saturate);
              continue;
            }
            for (int64_t s = 0; s < lanes[0].sticks; ++s) {
              const float *from = values + s * outPerStick;
              uint8_t *stick = to + s * lanes[0].stickUnit;
              if (out.format == DataFormat::SEN169_FP16)
                vector.encodeDL16Rows(from, placeLanes, n, outPerStick, stick, stride[0],
                                      kernel->saturate);
              else if (out.format == DataFormat::IEEE_FP32)
                vector.copySticks(reinterpret_cast<const uint8_t *>(from), placeLanes * 4, stick,
                                  stride[0], n);
              else
                for (int64_t p = 0; p < n; ++p)
                  encodeElements(out.format, from + p * placeLanes, stick + p * stride[0],
                                 outPerStick, kernel->saturate);
            }
          }
        });
  };
}
