//===- Transfer.cpp - Tensors between host and device layout ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stride_map says how far a device dim moves in the host array, not along which
// dim. That matters at the edges: column 128 of a [33, 100] array is a tail, not
// element 28 of the next row. So the digits are recovered first: device dims that
// count one host dim form a chain of factors 1, s0, s0*s1, ... which covers it.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Transfer.h"

#include "Emulator/Vector.h"
#include "spyre/Numerics/DL16.h"
#include "spyre/Numerics/FP8.h"
#include "spyre/Numerics/HostConversion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace spyre;
using namespace spyre::runtime;

int64_t HostTensor::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

HostTensor HostTensor::create(HostType dtype, std::vector<int64_t> shape) {
  HostTensor tensor{dtype, std::move(shape), {}};
  tensor.data.resize(tensor.getNumElements() * spyre::getWidthInBytes(dtype));
  return tensor;
}

static std::string describeSizes(const std::vector<int64_t> &sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

std::string spyre::runtime::describeArray(HostType dtype, const std::vector<int64_t> &shape) {
  return std::string(getHostTypeName(dtype)) + " " + describeSizes(shape);
}

std::string spyre::runtime::describeLayout(const ArgumentSpec &spec, bool strides) {
  return describeArray(spec.dtype, spec.shape) + " in " +
         std::string(getFormatName(spec.deviceFormat)) + " " + describeSizes(spec.deviceSize) +
         (spec.elementArrangement.empty() ? "" : " (" + spec.elementArrangement + ")") +
         (strides ? " with strides " + describeSizes(spec.strideMap) : "");
}

bool spyre::runtime::haveSameLayout(const ArgumentSpec &a, const ArgumentSpec &b) {
  return a.shape == b.shape && a.dtype == b.dtype && a.deviceSize == b.deviceSize &&
         a.strideMap == b.strideMap && a.deviceFormat == b.deviceFormat &&
         a.elementArrangement == b.elementArrangement;
}

std::string spyre::runtime::describeDifference(const ArgumentSpec &is, const ArgumentSpec &wanted) {
  bool strides = is.strideMap != wanted.strideMap;
  return describeLayout(is, strides) + ", not " + describeLayout(wanted, strides);
}

namespace {
/// Copies of this size are larger than the caches.
constexpr int64_t kStreamedInBytes = 16 << 20;

std::string describe(const ArgumentSpec &spec) {
  return spec.array.empty() ? std::string("constant") : spec.array;
}

std::vector<int64_t> getHostStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(shape[d], 1);
  return strides;
}

/// Assigns device dims to host dims so that each host dim's digits are complete.
class DigitSearch {
public:
  DigitSearch(const ArgumentSpec &spec, const std::vector<int64_t> &strides)
      : spec(spec), strides(strides), digits(spec.deviceSize.size()) {}

  bool run(size_t j = 0) {
    if (j == digits.size())
      return isComplete();
    if (spec.deviceSize[j] == 1 || spec.strideMap[j] < 0) {
      digits[j] = {};
      return run(j + 1);
    }
    for (size_t h = 0; h < spec.shape.size(); ++h) {
      if (spec.shape[h] <= 1 || strides[h] <= 0 || spec.strideMap[j] % strides[h] != 0)
        continue;
      int64_t factor = spec.strideMap[j] / strides[h];
      if (factor >= spec.shape[h] && factor != 1)
        continue;
      digits[j] = {static_cast<int>(h), factor};
      if (run(j + 1))
        return true;
    }
    return false;
  }

  std::vector<DeviceDigit> take() { return std::move(digits); }

private:
  bool isComplete() const {
    for (size_t h = 0; h < spec.shape.size(); ++h) {
      if (spec.shape[h] <= 1)
        continue;
      // The digits of h, lowest first: each factor is the product of the sizes below.
      int64_t next = 1;
      for (bool found = true; found;) {
        found = false;
        for (size_t j = 0; j < digits.size(); ++j)
          if (digits[j].hostDim == int(h) && digits[j].factor == next) {
            next *= spec.deviceSize[j];
            found = true;
            break;
          }
      }
      int64_t product = 1;
      for (size_t j = 0; j < digits.size(); ++j)
        if (digits[j].hostDim == int(h))
          product *= spec.deviceSize[j];
      if (product != next || next < spec.shape[h])
        return false;
    }
    return true;
  }

  const ArgumentSpec &spec;
  const std::vector<int64_t> &strides;
  std::vector<DeviceDigit> digits;
};

/// The copy as a loop nest over the device dims outside the innermost one. The loops run in
/// the order of the host array, whose rows are longer than the runs of the device: memory
/// that is read or written in order is fetched ahead.
struct Walk {
  /// The most turns of the outer loops at a time.
  static constexpr int64_t kTile = 4;
  static constexpr size_t kRowTile = 8; ///< rows converted before their sticks are moved
  std::vector<DeviceDigit> digits;
  std::vector<int64_t> strides; ///< of the dense host array
  int64_t hostWidth = 0, deviceWidth = 0;

  /// A loop over a device dim.
  struct Dim {
    int64_t size = 1;
    int64_t deviceStride = 0; ///< elements
    DeviceDigit digit;
    int64_t hostStride = 0; ///< elements; 0: synthetic
  };

  /// The loops, the outermost first.
  std::vector<Dim> makeLoops(const ArgumentSpec &spec) const {
    std::vector<Dim> loops;
    int64_t step = spec.deviceSize.back();
    for (size_t j = digits.size() - 1; j-- > 0;) {
      Dim dim{spec.deviceSize[j], step, digits[j], 0};
      if (dim.digit.hostDim >= 0)
        dim.hostStride = dim.digit.factor * strides[dim.digit.hostDim];
      step *= dim.size;
      if (dim.size > 1)
        loops.push_back(dim);
    }
    std::sort(loops.begin(), loops.end(), [](const Dim &a, const Dim &b) {
      // Synthetic dims outside: they have nothing but padding.
      return (a.hostStride ? a.hostStride : INT64_MAX) > (b.hostStride ? b.hostStride : INT64_MAX);
    });
    if (loops.empty())
      loops.push_back({});
    return loops;
  }

  /// Calls fn(device element, host element, host stride, valid count, device elements
  /// to the same run of the turns after these) for every run of the device array,
  /// \p tile turns of the outer loops at a time; the count is 0 where there is only padding.
  template <typename Fn>
  std::optional<Error> run(const ArgumentSpec &spec, int64_t tile, Fn fn) const {
    const int64_t run = spec.deviceSize.back();
    const DeviceDigit &within = digits.back();
    const int64_t stride = within.hostDim < 0 ? 0 : within.factor * strides[within.hostDim];
    std::vector<Dim> outer = makeLoops(spec);
    const Dim inner = outer.back();
    outer.pop_back();
    const int64_t ahead = outer.empty() ? 0 : tile * outer.back().deviceStride;
    std::vector<int64_t> position(outer.size(), 0), coordinate(spec.shape.size());
    const int innerDim = inner.digit.hostDim;
    // Runs of neighbouring turns lie beside one another in the device array: reading is
    // quicker by several, writing one by one.
    std::array<Turn, kTile> turns;
    for (bool more = true; more;) {
      int64_t numTurns = 0;
      while (more && numTurns < tile) {
        turns[numTurns++] = makeTurn(spec, outer, position, coordinate, innerDim);
        more = advance(outer, position);
        if (position.empty() || position.back() == 0)
          break;
      }
      for (int64_t p = 0; p < inner.size; ++p) {
        const int64_t passed = p * inner.digit.factor;
        for (int64_t t = 0; t < numTurns; ++t) {
          const Turn &turn = turns[t];
          int64_t count = 0;
          if (turn.inside && (innerDim < 0 ? p == 0 : passed < turn.left)) {
            int64_t rest = turn.leftInRun - (within.hostDim == innerDim ? passed : 0);
            count = within.hostDim < 0
                        ? 1
                        : std::min(run, within.factor == 1
                                            ? rest
                                            : (rest + within.factor - 1) / within.factor);
          }
          if (std::optional<Error> error =
                  fn(turn.device + p * inner.deviceStride, turn.host + p * inner.hostStride, stride,
                     count, ahead))
            return error;
        }
      }
    }
    return std::nullopt;
  }

  /// True if the runs of one turn lie behind one another on the host: a row.
  bool hasRows(const ArgumentSpec &spec) const {
    const DeviceDigit &within = digits.back();
    const Dim inner = makeLoops(spec).back();
    return within.hostDim >= 0 && within.factor == 1 && strides[within.hostDim] == 1 &&
           inner.digit.hostDim == within.hostDim && inner.digit.factor == spec.deviceSize.back();
  }

  /// A row: elements of its first run and of its host array, and how many of it are valid.
  struct Row {
    int64_t device = 0, host = 0, count = 0;
  };
  using Rows = std::vector<Row>;

  /// Calls fn(rows, device elements from run to run, runs of a row) for neighbouring rows, up
  /// to kRowTile at a time. For layouts that have rows.
  template <typename Fn> std::optional<Error> runRows(const ArgumentSpec &spec, Fn fn) const {
    std::vector<Dim> outer = makeLoops(spec);
    const Dim inner = outer.back();
    outer.pop_back();
    std::vector<int64_t> position(outer.size(), 0), coordinate(spec.shape.size());
    Rows rows;
    for (bool more = true; more;) {
      rows.clear();
      while (more && rows.size() < kRowTile) {
        Turn turn = makeTurn(spec, outer, position, coordinate, inner.digit.hostDim);
        int64_t count = std::min(turn.leftInRun, inner.size * spec.deviceSize.back());
        rows.push_back({turn.device, turn.host, turn.inside ? count : 0});
        more = advance(outer, position);
      }
      if (auto error = fn(rows, inner.deviceStride, inner.size))
        return error;
    }
    return std::nullopt;
  }

private:
  /// One turn of the loops outside the innermost.
  struct Turn {
    bool inside = true;
    int64_t device = 0, host = 0;
    int64_t left = 0, leftInRun = 0; ///< of the host dims of the innermost loop and of the run
  };

  Turn makeTurn(const ArgumentSpec &spec, const std::vector<Dim> &outer,
                const std::vector<int64_t> &position, std::vector<int64_t> &coordinate,
                int innerDim) const {
    Turn turn;
    std::fill(coordinate.begin(), coordinate.end(), 0);
    for (size_t l = 0; l < outer.size(); ++l) {
      turn.device += position[l] * outer[l].deviceStride;
      turn.host += position[l] * outer[l].hostStride;
      if (outer[l].digit.hostDim < 0)
        turn.inside &= position[l] == 0;
      else
        coordinate[outer[l].digit.hostDim] += outer[l].digit.factor * position[l];
    }
    for (size_t h = 0; h < coordinate.size(); ++h)
      turn.inside &= coordinate[h] < spec.shape[h];
    if (innerDim >= 0)
      turn.left = spec.shape[innerDim] - coordinate[innerDim];
    if (int runDim = digits.back().hostDim; runDim >= 0)
      turn.leftInRun = spec.shape[runDim] - coordinate[runDim];
    return turn;
  }

  /// To the next turn; false after the last.
  static bool advance(const std::vector<Dim> &outer, std::vector<int64_t> &position) {
    for (size_t l = outer.size(); l-- > 0;) {
      if (++position[l] < outer[l].size)
        return true;
      position[l] = 0;
    }
    return false;
  }
};

Result<Walk> prepare(const ArgumentSpec &spec, const HostTensor &host) {
  if (host.dtype != spec.dtype || host.shape != spec.shape)
    return Error{describe(spec) + ": the array is " + describeArray(host.dtype, host.shape) +
                 ", the argument " + describeArray(spec.dtype, spec.shape)};
  if (!canConvert(spec.dtype, spec.deviceFormat) || getWidthInBytes(spec.deviceFormat) == 0)
    return Error{describe(spec) + ": " + std::string(getHostTypeName(spec.dtype)) +
                 " cannot be kept in " + std::string(getFormatName(spec.deviceFormat))};
  auto digits = getDeviceDigits(spec);
  if (auto *error = std::get_if<Error>(&digits))
    return *error;
  Walk walk;
  walk.digits = std::move(std::get<std::vector<DeviceDigit>>(digits));
  walk.strides = getHostStrides(spec.shape);
  walk.hostWidth = spyre::getWidthInBytes(spec.dtype);
  walk.deviceWidth = spyre::getWidthInBytes(spec.deviceFormat);
  return walk;
}

/// "element [1, 2] of in0: reason".
Error conversionError(const ArgumentSpec &spec, int64_t element, const std::string &reason) {
  std::string index;
  for (int64_t stride : getHostStrides(spec.shape)) {
    index += (index.empty() ? "" : ", ") + std::to_string(element / stride);
    element %= stride;
  }
  return Error{describe(spec) + ": element [" + index + "]: " + reason};
}

} // namespace

Result<std::vector<DeviceDigit>> spyre::runtime::getDeviceDigits(const ArgumentSpec &spec) {
  if (spec.deviceSize.empty() || spec.deviceSize.size() != spec.strideMap.size())
    return Error{describe(spec) + ": device_size and stride_map differ in length"};
  if (spec.strideInElements && spec.strideInElements->size() != spec.shape.size())
    return Error{describe(spec) + ": stride and shape differ in length"};
  std::vector<int64_t> strides =
      spec.strideInElements ? *spec.strideInElements : getHostStrides(spec.shape);
  DigitSearch search(spec, strides);
  if (!search.run())
    return Error{describe(spec) + ": device_size and stride_map do not place every element of the "
                                  "host array"};
  return search.take();
}

Result<int64_t> spyre::runtime::getDeviceSizeInBytes(const ArgumentSpec &spec) {
  int64_t bytes = spyre::getWidthInBytes(spec.deviceFormat);
  if (bytes == 0)
    return Error{describe(spec) + ": " + std::string(getFormatName(spec.deviceFormat)) +
                 " has no whole bytes"};
  for (int64_t size : spec.deviceSize) {
    if (size <= 0 || bytes > (int64_t(1) << 60) / size)
      return Error{describe(spec) + ": device_size is not a size"};
    bytes *= size;
  }
  return roundUp(bytes, kStickInBytes);
}

namespace {
/// Counts an array while it is copied: a piece before its first elements are converted, so
/// that both find it in the cache. The order of copying does not matter.
class PieceCounter {
public:
  PieceCounter(const ArgumentSpec &spec, const HostTensor &host, NumberCounts *counts)
      : spec(spec), host(host), counts(counts), end(counts ? host.getNumElements() : 0) {}

  /// All elements before \p element have been counted afterwards.
  void countTo(int64_t element) {
    while (next < std::min(element, end)) {
      int64_t stop = std::min(next + kPiece, end);
      countNumbers(spec.dtype, spec.deviceFormat, host.data.data(), next, stop, *counts);
      next = stop;
      prefetchNext();
    }
  }
  void finish() { countTo(end); }

private:
  /// While this piece is converted, the next one comes.
  void prefetchNext() const {
    constexpr int64_t kLineInBytes = 64;
    const int64_t width = spyre::getWidthInBytes(spec.dtype);
    for (int64_t at = next * width; at < std::min(next + kPiece, end) * width; at += kLineInBytes)
      __builtin_prefetch(host.data.data() + at);
  }

  static constexpr int64_t kPiece = 2048; ///< elements
  const ArgumentSpec &spec;
  const HostTensor &host;
  NumberCounts *counts;
  int64_t next = 0, end;
};
} // namespace

/// True if nothing is to be copied; anything else about \p host is checked by prepare.
static bool hasNoElements(const ArgumentSpec &spec, const HostTensor &host) {
  return host.shape == spec.shape && host.dtype == spec.dtype && host.getNumElements() == 0;
}

std::optional<Error> spyre::runtime::copyToDevice(const ArgumentSpec &spec, const HostTensor &host,
                                                  uint8_t *device, const RunCallback &wrote,
                                                  NumberCounts *counts) {
  if (hasNoElements(spec, host))
    return std::nullopt;
  auto prepared = prepare(spec, host);
  if (auto *error = std::get_if<Error>(&prepared))
    return *error;
  auto size = getDeviceSizeInBytes(spec);
  if (auto *error = std::get_if<Error>(&size))
    return *error;
  const Walk &walk = std::get<Walk>(prepared);
  const int64_t run = spec.deviceSize.back(), width = walk.deviceWidth;
  PieceCounter counter(spec, host, counts);
  auto convert = [&](int64_t from, int64_t stride, uint8_t *out,
                     int64_t count) -> std::optional<Error> {
    if (count == 0)
      return std::nullopt;
    counter.countTo(from + (count - 1) * stride + 1);
    auto error = convertToDevice(spec.dtype, host.data.data() + from * walk.hostWidth, stride,
                                 spec.deviceFormat, out, count);
    if (error)
      return conversionError(spec, from + error->element * stride, error->reason);
    return std::nullopt;
  };
  std::optional<Error> failed;
  if (std::get<int64_t>(size) >= kStreamedInBytes && run * width == kStickInBytes && !wrote &&
      walk.hasRows(spec)) {
    // What is larger than the caches goes past them: half the traffic of writing through them.
    const VectorFunctions &vector = getVectorFunctions();
    std::vector<uint8_t> buffer;
    failed = walk.runRows(
        spec, [&](const Walk::Rows &rows, int64_t step, int64_t runs) -> std::optional<Error> {
          const int64_t rowInBytes = runs * kStickInBytes;
          buffer.resize(rows.size() * rowInBytes);
          for (size_t r = 0; r < rows.size(); ++r) {
            uint8_t *row = buffer.data() + r * rowInBytes;
            std::memset(row + rows[r].count * width, 0, rowInBytes - rows[r].count * width);
            if (auto error = convert(rows[r].host, 1, row, rows[r].count))
              return error;
          }
          // Sticks of neighbouring rows lie beside one another in the device array.
          for (int64_t p = 0; p < runs; ++p)
            for (size_t r = 0; r < rows.size(); ++r)
              vector.stream(buffer.data() + r * rowInBytes + p * kStickInBytes,
                            device + (rows[r].device + p * step) * width, kStickInBytes);
          return std::nullopt;
        });
    vector.finishStream();
  } else {
    failed = walk.run(spec, /*tile=*/1,
                      [&](int64_t to, int64_t from, int64_t stride, int64_t count,
                          int64_t) -> std::optional<Error> {
                        uint8_t *out = device + to * width;
                        if (count < run)
                          std::memset(out + count * width, 0, (run - count) * width);
                        if (auto error = convert(from, stride, out, count))
                          return error;
                        if (wrote && count > 0)
                          wrote(to * width, count * width);
                        return std::nullopt;
                      });
  }
  if (!failed)
    counter.finish();
  // The last stick may go on after the array.
  int64_t used = width;
  for (int64_t dim : spec.deviceSize)
    used *= dim;
  std::memset(device + used, 0, std::get<int64_t>(size) - used);
  return failed;
}

/// f16 numbers that are the largest one become infinite: no other number of the device
/// comes out as it.
static void makeInfinite(uint8_t *numbers, int64_t stride, int64_t count) {
  constexpr uint16_t kLargest = 0x7bff, kMagnitude = 0x7fff;
  auto change = [&](int64_t step) {
    for (int64_t i = 0; i < count; ++i) {
      uint16_t code;
      std::memcpy(&code, numbers + 2 * i * step, 2);
      code += (code & kMagnitude) == kLargest; // the next code is the infinity of the same sign
      std::memcpy(numbers + 2 * i * step, &code, 2);
    }
  };
  stride == 1 ? change(1) : change(stride);
}

std::optional<Error> spyre::runtime::copyToHost(const ArgumentSpec &spec, const uint8_t *device,
                                                HostTensor &host, const RunCallback &checkRead,
                                                NumberCounts *counts) {
  if (hasNoElements(spec, host))
    return std::nullopt;
  auto prepared = prepare(spec, host);
  if (auto *error = std::get_if<Error>(&prepared))
    return *error;
  const Walk &walk = std::get<Walk>(prepared);
  constexpr int64_t kLineInBytes = 64;
  int64_t deviceBytes = walk.deviceWidth;
  for (int64_t dim : spec.deviceSize)
    deviceBytes *= dim;
  // Asking for the bytes once: it is what makes them the array's own.
  uint8_t *hostBytes = host.data.data();
  bool isInfiniteAtMost = spec.overflowIsInfinite && spec.dtype == HostType::Float16;
  auto convert = [&](int64_t from, const uint8_t *elements, int64_t stride, uint8_t *out,
                     int64_t count) -> std::optional<Error> {
    if (auto error = convertToHost(spec.deviceFormat, elements, spec.dtype, out, stride, count))
      return conversionError(spec, from + error->element * stride, error->reason);
    if (isInfiniteAtMost)
      makeInfinite(out, stride, count);
    if (counts)
      countDeviceNumbers(spec.deviceFormat, elements, count, *counts);
    return std::nullopt;
  };
  if (deviceBytes >= kStreamedInBytes &&
      spec.deviceSize.back() * walk.deviceWidth == kStickInBytes && !checkRead &&
      walk.hasRows(spec)) {
    const VectorFunctions &vector = getVectorFunctions();
    std::vector<uint8_t> buffer, line;
    auto failed = walk.runRows(
        spec, [&](const Walk::Rows &rows, int64_t step, int64_t runs) -> std::optional<Error> {
          const int64_t rowInBytes = runs * kStickInBytes;
          buffer.resize(rows.size() * rowInBytes);
          for (int64_t p = 0; p < runs; ++p)
            for (size_t r = 0; r < rows.size(); ++r)
              std::memcpy(buffer.data() + r * rowInBytes + p * kStickInBytes,
                          device + (rows[r].device + p * step) * walk.deviceWidth, kStickInBytes);
          for (size_t r = 0; r < rows.size(); ++r) {
            if (rows[r].count == 0)
              continue;
            const int64_t bytes = rows[r].count * walk.hostWidth;
            line.resize(bytes);
            if (auto error = convert(rows[r].host, buffer.data() + r * rowInBytes, 1, line.data(),
                                     rows[r].count))
              return error;
            uint8_t *out = hostBytes + rows[r].host * walk.hostWidth;
            const int64_t whole = bytes / kLineInBytes * kLineInBytes;
            vector.stream(line.data(), out, whole);
            std::memcpy(out + whole, line.data() + whole, bytes - whole);
          }
          return std::nullopt;
        });
    vector.finishStream();
    return failed;
  }
  std::optional<Error> failed =
      walk.run(spec, Walk::kTile,
               [&](int64_t from, int64_t to, int64_t stride, int64_t count,
                   int64_t ahead) -> std::optional<Error> {
                 if (count == 0)
                   return std::nullopt;
                 // Each run of a host row lies elsewhere in the device array: too many places for
                 // the processor to see where reading will go on.
                 if (int64_t next = (from + ahead) * walk.deviceWidth; next < deviceBytes)
                   for (int64_t line = 0; line < count * walk.deviceWidth; line += kLineInBytes)
                     __builtin_prefetch(device + next + line);
                 if (checkRead)
                   checkRead(from * walk.deviceWidth, count * walk.deviceWidth);
                 return convert(to, device + from * walk.deviceWidth, stride,
                                hostBytes + to * walk.hostWidth, count);
               });
  return failed;
}

/// True for the integers that a T can hold.
template <typename T> static bool isWhole(double value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max() &&
         value == std::trunc(value);
}

std::optional<Error> spyre::runtime::fillConstant(const ArgumentSpec &spec, uint8_t *device,
                                                  int64_t sizeInBytes) {
  int64_t width = spyre::getWidthInBytes(spec.deviceFormat);
  double value = spec.value.value_or(0);
  if (spec.deviceFormat == DataFormat::SEN169_FP16) {
    // Rounded once, whatever the host type of the scalar is.
    std::fill_n(reinterpret_cast<uint16_t *>(device), sizeInBytes / 2, encodeDL16Saturating(value));
    return std::nullopt;
  }
  if (spec.deviceFormat == DataFormat::SEN143_FP8 || spec.deviceFormat == DataFormat::SEN152_FP8) {
    auto number = static_cast<float>(value);
    std::fill_n(device, sizeInBytes,
                spec.deviceFormat == DataFormat::SEN143_FP8 ? encodeFP8E4M3(number)
                                                            : encodeFP8E5M2(number));
    return std::nullopt;
  }
  if (spec.deviceFormat == DataFormat::SENINT8 && isWhole<int8_t>(value)) {
    std::fill_n(reinterpret_cast<int8_t *>(device), sizeInBytes, static_cast<int8_t>(value));
    return std::nullopt;
  }
  if (spec.deviceFormat == DataFormat::SENINT16 && isWhole<int16_t>(value)) {
    std::fill_n(reinterpret_cast<int16_t *>(device), sizeInBytes / 2, static_cast<int16_t>(value));
    return std::nullopt;
  }
  bool isFloat = canConvert(HostType::Float32, spec.deviceFormat);
  float single = static_cast<float>(value);
  int64_t whole = isFloat || !(std::fabs(value) < 0x1p62) ? 0 : static_cast<int64_t>(value);
  HostType type = isFloat ? HostType::Float32 : HostType::Int64;
  if (width == 0 || !canConvert(type, spec.deviceFormat) || (!isFloat && double(whole) != value))
    return Error{"constant " + std::to_string(value) + " cannot be kept in " +
                 std::string(getFormatName(spec.deviceFormat))};
  const void *host = isFloat ? static_cast<const void *>(&single) : &whole;
  if (auto error = convertToDevice(type, host, 0, spec.deviceFormat, device, sizeInBytes / width))
    return Error{"constant: " + error->reason};
  return std::nullopt;
}
