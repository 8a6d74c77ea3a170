//===- Vector.cpp - Loops over sticks for the vector unit -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain loops around the scalar conversions of lib/Numerics, which are free of
// branches for this purpose.
//
//===----------------------------------------------------------------------===//

// NOLINTBEGIN(llvm-header-guard): compiled once a target
#undef SPYRE_THIS_FILE
#define SPYRE_THIS_FILE "Vector.cpp"
#include "ForEachTarget.h"

#include "Vector.h"

#include "spyre/Numerics/DL16.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstring>

SPYRE_BEGIN_TARGET

/// Elements that are looked at together: most have no zero and no infinity, and what
/// is neither takes half the work.
constexpr int64_t kBlock = 32;

void decodeCodes(const uint16_t *codes, float *values, int64_t count) {
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    uint16_t special = 0;
    for (int64_t j = 0; j < kBlock; ++j)
      // 0 and 0x7fff, the sign apart.
      special |= static_cast<uint16_t>((((codes[i + j] & 0x7fff) + 1) & 0x7ffe) == 0);
    if (special) {
      SPYRE_VECTOR_LOOP
      for (int64_t j = 0; j < kBlock; ++j)
        values[i + j] = decodeDL16(codes[i + j]);
      continue;
    }
    SPYRE_VECTOR_LOOP
    for (int64_t j = 0; j < kBlock; ++j) {
      // Copies of the sign fill the bits above; the mask leaves one of them.
      auto wide = static_cast<uint32_t>(int32_t(static_cast<int16_t>(codes[i + j]))) << 14;
      values[i + j] = std::bit_cast<float>((wide & 0x9fffffffu) + (uint32_t(127 - 31) << 23));
    }
  }
  for (; i < count; ++i)
    values[i] = decodeDL16(codes[i]);
}

template <DL16Overflow overflow>
void encodeValues(const float *values, uint16_t *codes, int64_t count) {
  constexpr int32_t kBase = (127 - 31) << 23;
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    // Negative if one is below what rounds to a normal number, or above.
    int32_t outside = 0;
    for (int64_t j = 0; j < kBlock; ++j) {
      int32_t magnitude = std::bit_cast<int32_t>(values[i + j]) & 0x7fffffff;
      outside |=
          (magnitude - (kBase + (1 << 14))) | (kBase + (kDL16MaxFiniteCode << 14) - 1 - magnitude);
    }
    if (outside < 0) {
      SPYRE_VECTOR_LOOP
      for (int64_t j = 0; j < kBlock; ++j)
        codes[i + j] = spyre::encodeDL16(values[i + j], overflow);
      continue;
    }
    // Only to round.
    SPYRE_VECTOR_LOOP
    for (int64_t j = 0; j < kBlock; ++j) {
      auto bits = std::bit_cast<uint32_t>(values[i + j]);
      uint32_t magnitude = bits & 0x7fffffffu;
      uint32_t code = (magnitude + 0x1fffu + ((magnitude >> 14) & 1u)) >> 14;
      code -= uint32_t(kBase) >> 14;
      codes[i + j] = static_cast<uint16_t>(code | ((bits >> 16) & 0x8000u));
    }
  }
  for (; i < count; ++i)
    codes[i] = spyre::encodeDL16(values[i], overflow);
}

void encodeCodes(const float *values, uint16_t *codes, int64_t count, bool saturate) {
  if (saturate)
    encodeValues<DL16Overflow::Saturate>(values, codes, count);
  else
    encodeValues<DL16Overflow::ToInfinity>(values, codes, count);
}

void decodePieces(const uint8_t *from, const int64_t *offsets, int64_t pieces, int64_t lanes,
                  float *to, int64_t toStride) {
  for (int64_t r = 0; r < pieces; ++r)
    decodeCodes(reinterpret_cast<const uint16_t *>(from + offsets[r]), to + r * toStride, lanes);
}

void decodeRows(const uint8_t *from, int64_t fromStride, int64_t rows, int64_t lanes, float *to,
                int64_t toStride) {
  for (int64_t r = 0; r < rows; ++r)
    decodeCodes(reinterpret_cast<const uint16_t *>(from + r * fromStride), to + r * toStride,
                lanes);
}

void encodePieces(const float *from, int64_t fromStride, int64_t pieces, int64_t lanes, uint8_t *to,
                  const int64_t *offsets, bool saturate) {
  for (int64_t r = 0; r < pieces; ++r)
    encodeCodes(from + r * fromStride, reinterpret_cast<uint16_t *>(to + offsets[r]), lanes,
                saturate);
}

void encodeRows(const float *from, int64_t fromStride, int64_t rows, int64_t lanes, uint8_t *to,
                int64_t toStride, bool saturate) {
  for (int64_t r = 0; r < rows; ++r)
    encodeCodes(from + r * fromStride, reinterpret_cast<uint16_t *>(to + r * toStride), lanes,
                saturate);
}

void spreadCodes(const uint8_t *from, int64_t fromStride, int64_t rows, int64_t lanes, float *to) {
  for (int64_t r = 0; r < rows; ++r, to += lanes) {
    uint16_t code;
    std::memcpy(&code, from + r * fromStride, sizeof(code));
    float value = decodeDL16(code);
    for (int64_t i = 0; i < lanes; ++i)
      to[i] = value;
  }
}

void spreadFloats(const uint8_t *from, int64_t fromStride, int64_t rows, int64_t lanes, float *to) {
  for (int64_t r = 0; r < rows; ++r, to += lanes) {
    float value;
    std::memcpy(&value, from + r * fromStride, sizeof(value));
    for (int64_t i = 0; i < lanes; ++i)
      to[i] = value;
  }
}

/// A stick goes through registers, so that source and target may be the same.
void copySticks(const uint8_t *from, int64_t fromStride, uint8_t *to, int64_t toStride,
                int64_t sticks) {
  for (int64_t i = 0; i < sticks; ++i) {
    uint8_t stick[kStickInBytes];
    std::memcpy(stick, from + i * fromStride, kStickInBytes);
    std::memcpy(to + i * toStride, stick, kStickInBytes);
  }
}

void streamBytes(const uint8_t *from, uint8_t *to, int64_t bytes) {
#ifdef __SSE2__
  if (reinterpret_cast<uintptr_t>(to) % sizeof(__m128i) == 0) {
    for (int64_t i = 0; i < bytes; i += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i)));
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

void finishStream() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// Four codes a load; results go out in one store, in place or not.
void lookupCodes(const uint16_t *table, const uint16_t *codes, uint16_t *results, int64_t count) {
  int64_t i = 0;
  if constexpr (std::endian::native == std::endian::little)
    for (; i + 4 <= count; i += 4) {
      uint64_t four;
      std::memcpy(&four, codes + i, 8);
      uint64_t a = table[four & 0xffff], b = table[(four >> 16) & 0xffff];
      uint64_t c = table[(four >> 32) & 0xffff], d = table[four >> 48];
      four = (a | b << 16) | (c << 32 | d << 48);
      std::memcpy(results + i, &four, 8);
    }
  for (; i < count; ++i)
    results[i] = table[codes[i]];
}

/// Square tiles of 8: small enough for registers, and loads and stores of whole rows.
template <typename T, int64_t size>
void transposeSticks(const uint8_t *from, int64_t fromStride, uint8_t *to, int64_t toStride) {
  constexpr int64_t kTile = 8;
  for (int64_t i0 = 0; i0 < size; i0 += kTile)
    for (int64_t j0 = 0; j0 < size; j0 += kTile) {
      T tile[kTile][kTile], turned[kTile][kTile];
      for (int64_t i = 0; i < kTile; ++i)
        std::memcpy(tile[i], from + (i0 + i) * fromStride + j0 * sizeof(T), sizeof(tile[i]));
      for (int64_t i = 0; i < kTile; ++i)
        for (int64_t j = 0; j < kTile; ++j)
          turned[j][i] = tile[i][j];
      for (int64_t j = 0; j < kTile; ++j)
        std::memcpy(to + (j0 + j) * toStride + i0 * sizeof(T), turned[j], sizeof(turned[j]));
    }
}

template <bool squared> void addLanes(const float *row, int64_t count, double *lanes) {
  int64_t whole = count / kSumLanes * kSumLanes;
  // Nothing but this, so that the sums stay in registers.
  double sums[kSumLanes];
  std::memcpy(sums, lanes, sizeof(sums));
  for (int64_t i = 0; i < whole; i += kSumLanes) {
    SPYRE_VECTOR_LOOP
    for (int64_t j = 0; j < kSumLanes; ++j) {
      double x = row[i + j];
      sums[j] += squared ? x * x : x;
    }
  }
  std::memcpy(lanes, sums, sizeof(sums));
  for (int64_t i = whole; i < count; ++i) {
    double x = row[i];
    lanes[i - whole] += squared ? x * x : x;
  }
}

/// Adds eight numbers to their lanes.
inline void addEight(const float *row, double *sums) {
  SPYRE_VECTOR_LOOP
  for (int64_t j = 0; j < kSumLanes; ++j)
    sums[j] += double(row[j]);
}

/// Two rows at a time: the additions of one wait for one another.
void addSticksF32(const uint8_t *from, const int64_t *offsets, int64_t rows, int64_t sticks,
                  int64_t stickStride, LaneSums *sums) {
  constexpr int64_t kLanes = kStickInBytes / int64_t(sizeof(float));
  for (int64_t r = 0; r < rows; r += 2) {
    bool isPair = r + 1 < rows;
    const uint8_t *first = from + offsets[r];
    const uint8_t *second = from + offsets[isPair ? r + 1 : r];
    double a[kSumLanes], b[kSumLanes];
    std::memcpy(a, sums[r].sum, sizeof(a));
    std::memcpy(b, sums[isPair ? r + 1 : r].sum, sizeof(b));
    for (int64_t s = 0; s < sticks; ++s, first += stickStride, second += stickStride) {
      const auto *x = reinterpret_cast<const float *>(first);
      const auto *y = reinterpret_cast<const float *>(second);
      for (int64_t i = 0; i < kLanes; i += kSumLanes) {
        addEight(x + i, a);
        addEight(y + i, b);
      }
    }
    std::memcpy(sums[r].sum, a, sizeof(a));
    if (isPair)
      std::memcpy(sums[r + 1].sum, b, sizeof(b));
  }
}

void addSticksDL16(const uint8_t *from, const int64_t *offsets, int64_t rows, int64_t sticks,
                   int64_t stickStride, LaneSums *sums) {
  constexpr int64_t kLanes = kStickInBytes / int64_t(sizeof(uint16_t));
  float buffer[kLanes];
  for (int64_t r = 0; r < rows; ++r) {
    const uint8_t *stick = from + offsets[r];
    double a[kSumLanes];
    std::memcpy(a, sums[r].sum, sizeof(a));
    for (int64_t s = 0; s < sticks; ++s, stick += stickStride) {
      decodeCodes(reinterpret_cast<const uint16_t *>(stick), buffer, kLanes);
      for (int64_t i = 0; i < kLanes; i += kSumLanes)
        addEight(buffer + i, a);
    }
    std::memcpy(sums[r].sum, a, sizeof(a));
  }
}

/// Order of floats as integers: -0 is below +0, infinities at the ends.
inline int32_t toKey(int32_t bits) {
  return bits ^ static_cast<int32_t>(uint32_t(bits >> 31) >> 1);
}

template <bool wantLargest>
float findExtreme(const float *row, int64_t count, float value, bool &hasNaN) {
  int32_t best = toKey(std::bit_cast<int32_t>(value));
  int32_t largestMagnitude = 0;
  for (int64_t i = 0; i < count; ++i) {
    int32_t bits = std::bit_cast<int32_t>(row[i]), magnitude = bits & 0x7fffffff;
    int32_t key = toKey(bits);
    best = (wantLargest ? key > best : key < best) ? key : best;
    largestMagnitude = magnitude > largestMagnitude ? magnitude : largestMagnitude;
  }
  hasNaN = hasNaN || largestMagnitude > 0x7f800000 || std::isnan(value);
  return std::bit_cast<float>(toKey(best));
}

template <bool wantLargest>
void findExtremeCodes(const uint8_t *from, const int64_t *offsets, int64_t rows, int64_t sticks,
                      int64_t stickStride, int64_t count, int16_t (*keys)[kCodeLanes]) {
  auto choose = [](int16_t a, int16_t b) { return (wantLargest ? a > b : a < b) ? a : b; };
  for (int64_t r = 0; r < rows; ++r) {
    const uint8_t *stick = from + offsets[r];
    int16_t best[kCodeLanes];
    std::memcpy(best, keys[r], sizeof(best));
    for (int64_t s = 0; s < sticks; ++s, stick += stickStride) {
      const auto *codes = reinterpret_cast<const uint16_t *>(stick);
      for (int64_t i = 0; i + kCodeLanes <= count; i += kCodeLanes) {
        SPYRE_VECTOR_LOOP
        for (int64_t j = 0; j < kCodeLanes; ++j)
          best[j] = choose(codeToKey(codes[i + j]), best[j]);
      }
    }
    std::memcpy(keys[r], best, sizeof(best));
    // What is left of each stick.
    stick = from + offsets[r];
    for (int64_t s = 0; s < sticks && count % kCodeLanes; ++s, stick += stickStride)
      for (int64_t i = count / kCodeLanes * kCodeLanes; i < count; ++i)
        keys[r][0] = choose(codeToKey(reinterpret_cast<const uint16_t *>(stick)[i]), keys[r][0]);
  }
}

void addEach(const float *row, int64_t count, double *to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += row[i];
}

template <bool wantLargest> void chooseEach(const float *row, int64_t count, double *to) {
  for (int64_t i = 0; i < count; ++i) {
    float known = static_cast<float>(to[i]);
    to[i] = wantLargest ? maximumOf(known, row[i]) : minimumOf(known, row[i]);
  }
}

constexpr VectorFunctions kFunctions = {
    decodeCodes,
    encodeCodes,
    decodePieces,
    decodeRows,
    encodePieces,
    encodeRows,
    spreadCodes,
    spreadFloats,
    copySticks,
    streamBytes,
    finishStream,
    lookupCodes,
    transposeSticks<uint8_t, kStickInBytes>,
    transposeSticks<uint16_t, kStickInBytes / 2>,
    transposeSticks<uint32_t, kStickInBytes / 4>,
    addLanes<false>,
    addLanes<true>,
    addSticksF32,
    addSticksDL16,
    findExtreme<true>,
    findExtreme<false>,
    findExtremeCodes<true>,
    findExtremeCodes<false>,
    addEach,
    chooseEach<true>,
    chooseEach<false>,
};

const VectorFunctions *getFunctions() { return &kFunctions; }

SPYRE_END_TARGET

#if SPYRE_ONCE
namespace spyre::runtime {
SPYRE_EXPORT(getFunctions)
const VectorFunctions &getVectorFunctions() {
  static const VectorFunctions &functions = *SPYRE_DISPATCH(getFunctions)();
  return functions;
}
} // namespace spyre::runtime
#endif
// NOLINTEND(llvm-header-guard)
