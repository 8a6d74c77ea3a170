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
constexpr int64_t kTileLanes = 512;
/// Results of this size in device memory do not stay in the cache until somebody reads them.
constexpr int64_t kStreamedInBytes = 16 << 20;
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
  int64_t stride = 0;    ///< bytes between places
  int64_t rowStride = 0; ///< and between rows of them

  /// Whether the sticks of \p count consecutive places, and of \p rows rows of them,
  /// follow one another.
  bool isDense(int64_t rows, int64_t count) const {
    int64_t size = sticks * kStickInBytes;
    return !isSplat && stride == size && (rows == 1 || rowStride == count * size) &&
           (sticks == 1 || stickUnit == kStickInBytes);
  }
  /// Whether all rows have the same places.
  bool isRepeated(int64_t rows) const { return rows > 1 && rowStride == 0; }
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

/// Brings \p rows rows of \p n places on their way into the cache.
void prefetch(const Lane &lane, const uint8_t *data, int64_t rows, int64_t n) {
#ifdef __GNUC__
  constexpr int64_t kLine = 64, kMost = 8 << 10;
  if (lane.operand->isLocal || !lane.isDense(1, n))
    return;
  int64_t bytes = std::min(n * lane.stride, kMost);
  for (int64_t r = 0; r < rows && r * bytes < kMost; ++r)
    for (int64_t at = 0; at < bytes; at += kLine)
      __builtin_prefetch(data + r * lane.rowStride + at);
#endif
}

/// The numbers of \p n places of \p count lanes, not in one piece.
void loadPieces(const Lane &lane, const uint8_t *from, int64_t n, int64_t count, float *buffer) {
  const VectorFunctions &vector = getVectorFunctions();
  DataFormat format = lane.operand->format;
  bool is16 = format == DataFormat::SEN169_FP16, is32 = format == DataFormat::IEEE_FP32;
  if (lane.isSplat) {
    if (is16 || is32) {
      (is16 ? vector.spreadDL16 : vector.spreadF32)(from, lane.stride, n, count, buffer);
      return;
    }
    for (int64_t p = 0; p < n; ++p) {
      float value;
      decodeElements(format, from + p * lane.stride, &value, 1);
      std::fill_n(buffer + p * count, count, value);
    }
    return;
  }
  for (int64_t s = 0; s < lane.sticks; ++s) {
    const uint8_t *stick = from + s * lane.stickUnit;
    float *to = buffer + s * lane.perStick;
    if (is16)
      vector.decodeDL16Rows(stick, lane.stride, n, lane.perStick, to, count);
    else if (is32)
      vector.copySticks(stick, lane.stride, reinterpret_cast<uint8_t *>(to), count * 4, n);
    else
      for (int64_t p = 0; p < n; ++p)
        decodeElements(format, stick + p * lane.stride, to + p * count, lane.perStick);
  }
}

/// The numbers of \p rows rows of \p n places of \p count lanes: in \p buffer, or where
/// they are if they \p mayStay there.
const float *loadPlaces(const Lane &lane, const uint8_t *from, int64_t rows, int64_t n,
                        int64_t count, float *buffer, bool mayStay) {
  DataFormat format = lane.operand->format;
  if (lane.isDense(rows, n)) {
    if (format == DataFormat::IEEE_FP32 && mayStay)
      return reinterpret_cast<const float *>(from);
    decodeElements(format, from, buffer, rows * n * count);
    return buffer;
  }
  for (int64_t r = 0; r < rows; ++r) {
    float *to = buffer + r * n * count;
    if (r > 0 && lane.isRepeated(rows))
      std::memcpy(to, buffer, n * count * sizeof(float));
    else if (lane.isDense(1, n))
      decodeElements(format, from + r * lane.rowStride, to, n * count);
    else
      loadPieces(lane, from + r * lane.rowStride, n, count, to);
  }
  return buffer;
}

/// The other way: \p values to where \p lane lies.
void storePlaces(const Lane &lane, const float *values, uint8_t *to, int64_t rows, int64_t n,
                 int64_t count, bool saturate) {
  const VectorFunctions &vector = getVectorFunctions();
  DataFormat format = lane.operand->format;
  if (lane.isDense(rows, n)) {
    encodeElements(format, values, to, rows * n * count, saturate);
    return;
  }
  for (int64_t r = 0; r < rows; ++r, to += lane.rowStride, values += n * count) {
    if (lane.isDense(1, n)) {
      encodeElements(format, values, to, n * count, saturate);
      continue;
    }
    for (int64_t s = 0; s < lane.sticks; ++s) {
      const float *from = values + s * lane.perStick;
      uint8_t *stick = to + s * lane.stickUnit;
      if (format == DataFormat::SEN169_FP16)
        vector.encodeDL16Rows(from, count, n, lane.perStick, stick, lane.stride, saturate);
      else if (format == DataFormat::IEEE_FP32)
        vector.copySticks(reinterpret_cast<const uint8_t *>(from), count * 4, stick, lane.stride,
                          n);
      else
        for (int64_t p = 0; p < n; ++p)
          encodeElements(format, from + p * count, stick + p * lane.stride, lane.perStick,
                         saturate);
    }
  }
}

/// Converts \p rows rows of \p n places between DL16 and f32, from one lane to another.
void convertPlaces(const Lane &in, const uint8_t *from, const Lane &out, uint8_t *to, int64_t rows,
                   int64_t n, bool saturate) {
  const VectorFunctions &vector = getVectorFunctions();
  bool widens = out.operand->format == DataFormat::IEEE_FP32;
  const Lane &wide = widens ? out : in;
  int64_t half = kStickInBytes / wide.sticks; // of a stick of codes
  for (int64_t r = 0; r < rows; ++r, from += in.rowStride, to += out.rowStride) {
    if (r + 1 < rows) {
      prefetch(in, from + in.rowStride, 1, n);
      prefetch(out, to + out.rowStride, 1, n);
    }
    for (int64_t s = 0; s < wide.sticks; ++s)
      if (widens)
        vector.decodeDL16Rows(from + s * half, in.stride, n, out.perStick,
                              reinterpret_cast<float *>(to + s * out.stickUnit),
                              out.stride / int64_t(sizeof(float)));
      else
        vector.encodeDL16Rows(reinterpret_cast<const float *>(from + s * in.stickUnit),
                              in.stride / int64_t(sizeof(float)), n, in.perStick, to + s * half,
                              out.stride, saturate);
  }
}

/// f(x, y) for \p rows rows of \p n places, where \p y has one number or the same sticks for
/// places of a row.
void computeBroadcast(BroadcastFn function, const float *x, const Lane &y, const uint8_t *from,
                      float *out, int64_t rows, int64_t n, int64_t count, float *buffer) {
  const VectorFunctions &vector = getVectorFunctions();
  bool is32 = y.operand->format == DataFormat::IEEE_FP32;
  BroadcastRows call{x, buffer, 0, y.isSplat, out, n, count};
  for (int64_t r = 0; r < rows; ++r, from += y.rowStride) {
    if (is32) {
      call.y = reinterpret_cast<const float *>(from);
      call.yStride = y.stride / int64_t(sizeof(float));
    } else if (r == 0 || y.rowStride != 0) {
      if (y.isSplat) {
        vector.spreadDL16(from, y.stride, n, 1, buffer);
        call.yStride = 1;
      } else {
        vector.decodeDL16(reinterpret_cast<const uint16_t *>(from), buffer, count);
      }
    }
    function(call);
    call.x += n * count;
    call.out += n * count;
  }
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
  int64_t places = walk.getNumPlaces();
  for (int i = 0; i < numOperands; ++i) {
    lanes[i].stride = walk.levels.back().stride[i];
    lanes[i].rowStride = walk.levels.size() > 1 ? walk.levels.end()[-2].stride[i] : 0;
  }

  const CodeTable *table = nullptr;
  if (numOperands == 2 && !lanes[1].isSplat && lanes[0].sticks == 1 && lanes[1].sticks == 1 &&
      out.width == 2 && lanes[1].operand->width == 2 && d.masks.empty() && kernel->pointwise)
    table = getTable(*kernel, constants, lanes[1].operand->format, out.format,
                     places * placeLanes * numCores);
  const VectorFunctions &vector = getVectorFunctions();
  work.places = places;
  work.placesPerJob = std::max<int64_t>(1, (1 << 15) / placeLanes);

  bool isStreamed =
      !out.isLX() && !out.isLocal && places * placeLanes * out.width * numCores >= kStreamedInBytes;
  if (table) {
    work.run = [=, this, &vector](int core, int64_t b, int64_t e) {
      const Operand &out = operands[output];
      walk.forEachRun(b, e, numOperands, [&](const int64_t *offsets, const int64_t *, int64_t n) {
        const uint8_t *from = lanes[1].operand->data[core] + offsets[1];
        uint8_t *to = out.data[core] + offsets[0];
        int64_t outStride = lanes[0].stride, inStride = lanes[1].stride;
        bool dense = outStride == kStickInBytes && inStride == kStickInBytes;
        int64_t pieces = dense ? 1 : n, codes = (dense ? n : 1) * placeLanes;
        for (int64_t i = 0; i < pieces && !isStreamed; ++i)
          vector.lookup(table->data(), reinterpret_cast<const uint16_t *>(from + i * inStride),
                        reinterpret_cast<uint16_t *>(to + i * outStride), codes);
        uint16_t results[kTileLanes];
        for (int64_t i = 0; i < pieces && isStreamed; ++i)
          for (int64_t first = 0; first < codes; first += kTileLanes) {
            int64_t count = std::min(kTileLanes, codes - first);
            const auto *some = reinterpret_cast<const uint16_t *>(from + i * inStride) + first;
            vector.lookup(table->data(), some, results, count);
            vector.stream(reinterpret_cast<const uint8_t *>(results),
                          to + i * outStride + first * int64_t(sizeof(uint16_t)),
                          count * int64_t(sizeof(uint16_t)));
          }
      });
      if (isStreamed)
        vector.finishStream();
    };
    return;
  }

  bool isCast = (kernel->name == "dl16tofp32" && out.format == DataFormat::IEEE_FP32 &&
                 lanes[1].operand->format == DataFormat::SEN169_FP16) ||
                (kernel->name == "fp32todl16" && out.format == DataFormat::SEN169_FP16 &&
                 lanes[1].operand->format == DataFormat::IEEE_FP32);
  if (isCast && d.masks.empty() && !lanes[1].isSplat &&
      std::max(lanes[0].sticks, lanes[1].sticks) == 2) {
    work.run = [=, this](int core, int64_t b, int64_t e) {
      walk.forEachTile(b, e, numOperands, places,
                       [&](const int64_t *offsets, const int64_t *, int64_t rows, int64_t n) {
                         convertPlaces(lanes[1], lanes[1].operand->data[core] + offsets[1],
                                       lanes[0], operands[output].data[core] + offsets[0], rows, n,
                                       kernel->saturate);
                       });
    };
    return;
  }

  int64_t tilePlaces = std::max<int64_t>(1, kTileLanes / placeLanes);
  int64_t tileLanes = tilePlaces * placeLanes;
  // The second operand has one number, or the same lanes, for all places of a row.
  const Lane &y = lanes.back();
  bool broadcasts =
      numOperands == 3 && kernel->broadcast && d.masks.empty() && (y.isSplat || y.stride == 0) &&
      y.sticks == 1 && (y.isSplat || y.perStick == placeLanes) &&
      (y.operand->format == DataFormat::SEN169_FP16 || y.operand->format == DataFormat::IEEE_FP32);
  int64_t inner = walk.levels.back().extent;
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
    // What the buffers hold: broadcast operands come again and again.
    const uint8_t *held[Walk::kMaxOperands] = {};
    int64_t heldRows = 0, heldCount = 0;
    int last = static_cast<int>(walk.levels.size()) - 1;
    walk.forEachTile(
        b, e, numOperands, tilePlaces,
        [&](const int64_t *offsets, const int64_t *index, int64_t rows, int64_t n) {
          bool isAlike = rows == heldRows && n == heldCount;
          heldRows = rows;
          heldCount = n;
          const float *in[Walk::kMaxOperands] = {};
          for (int i = 1; i < numOperands - broadcasts; ++i) {
            const uint8_t *from = lanes[i].operand->data[core] + offsets[i];
            float *values = buffer.get() + i * tileLanes;
            if (isAlike && from == held[i] && masks.empty()) {
              in[i - 1] = values;
              continue;
            }
            in[i - 1] = loadPlaces(lanes[i], from, rows, n, placeLanes, values,
                                   /*mayStay=*/i > 1 || masks.empty());
            held[i] = in[i - 1] == values ? from : nullptr;
          }
          for (const WalkMask &mask : masks)
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t p = 0; p < n; ++p)
                mask.apply(mask.level < 0 ? 0
                                          : index[mask.level] + (mask.level == last       ? p
                                                                 : mask.level == last - 1 ? r
                                                                                          : 0),
                           static_cast<float>(maskValue),
                           buffer.get() + tileLanes + (r * n + p) * placeLanes, placeLanes);
          uint8_t *to = out.data[core] + offsets[0];
          int64_t count = rows * n * placeLanes;
          // The next tile comes while this one is computed.
          for (int i = isStreamed ? 1 : 0; i < numOperands - broadcasts; ++i)
            prefetch(lanes[i],
                     lanes[i].operand->data[core] + offsets[i] +
                         (n == inner ? rows * lanes[i].rowStride : n * lanes[i].stride),
                     rows, n);
          bool isPastCache = isStreamed && lanes[0].isDense(rows, n) &&
                             out.format == DataFormat::SEN169_FP16 && out.width == 2;
          bool direct = out.format == DataFormat::IEEE_FP32 && lanes[0].isDense(rows, n);
          float *values = direct ? reinterpret_cast<float *>(to) : buffer.get();
          if (broadcasts)
            computeBroadcast(kernel->broadcast, in[0], lanes[2],
                             lanes[2].operand->data[core] + offsets[2], values, rows, n, placeLanes,
                             buffer.get() + 2 * tileLanes);
          else if (kernel->pointwise)
            kernel->pointwise(in, values, count, constants.data());
          else
            std::copy_n(in[0], count, values);
          if (isPastCache) {
            uint16_t codes[kTileLanes];
            vector.encodeDL16(values, codes, count, kernel->saturate);
            vector.stream(reinterpret_cast<const uint8_t *>(codes), to,
                          count * int64_t(sizeof(uint16_t)));
          } else if (!direct) {
            storePlaces(lanes[0], values, to, rows, n, placeLanes, kernel->saturate);
          }
        });
    if (isStreamed)
      vector.finishStream();
  };
}
