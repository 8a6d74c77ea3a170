//===- Vector.h - Loops over sticks for the vector unit ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loops of the emulator, compiled for several instruction sets and
// chosen at run time: number formats, table lookups, transposes, reductions. Every
// version gives the same bits. Private to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_VECTOR_H
#define SPYRE_LIB_RUNTIME_EMULATOR_VECTOR_H

#include "spyre/Numerics/Formats.h"

#include <cstdint>

namespace spyre::runtime {

/// Lanes in which rows are summed, whatever the width of the vector unit.
inline constexpr int64_t kSumLanes = 8;

/// Lanes in which extremes of DL16 codes are found.
inline constexpr int64_t kCodeLanes = 16;
/// DL16 codes as integers in the order of their values, and back.
inline int16_t codeToKey(uint16_t code) {
  auto bits = static_cast<int16_t>(code);
  return static_cast<int16_t>(bits ^ ((bits >> 15) & 0x7fff));
}
inline uint16_t keyToCode(int16_t key) {
  return static_cast<uint16_t>(codeToKey(static_cast<uint16_t>(key)));
}

/// A row's sums, in lanes: element i goes to lane i % kSumLanes.
struct LaneSums {
  double sum[kSumLanes] = {};
  double squares[kSumLanes] = {};
  /// ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)).
  static double combine(const double *lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
           ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
  }
};

struct VectorFunctions {
  void (*decodeDL16)(const uint16_t *codes, float *values, int64_t count);
  void (*encodeDL16)(const float *values, uint16_t *codes, int64_t count, bool saturate);
  /// Piece r: \p lanes codes at from + offsets[r] to values at to + r * toStride.
  void (*decodeDL16Pieces)(const uint8_t *from, const int64_t *offsets, int64_t pieces,
                           int64_t lanes, float *to, int64_t toStride);
  /// The same for pieces \p fromStride bytes apart.
  void (*decodeDL16Rows)(const uint8_t *from, int64_t fromStride, int64_t rows, int64_t lanes,
                         float *to, int64_t toStride);
  /// Piece r: \p lanes values at from + r * fromStride to codes at to + offsets[r].
  void (*encodeDL16Pieces)(const float *from, int64_t fromStride, int64_t pieces, int64_t lanes,
                           uint8_t *to, const int64_t *offsets, bool saturate);
  void (*encodeDL16Rows)(const float *from, int64_t fromStride, int64_t rows, int64_t lanes,
                         uint8_t *to, int64_t toStride, bool saturate);
  /// Row r: \p lanes times the number at from + r * fromStride.
  void (*spreadDL16)(const uint8_t *from, int64_t fromStride, int64_t rows, int64_t lanes,
                     float *to);
  void (*spreadF32)(const uint8_t *from, int64_t fromStride, int64_t rows, int64_t lanes,
                    float *to);
  /// Whole sticks, at distances in bytes.
  void (*copySticks)(const uint8_t *from, int64_t fromStride, uint8_t *to, int64_t toStride,
                     int64_t sticks);
  /// \p bytes (a multiple of 16) past the cache, to memory that nobody reads soon. Before
  /// other threads read it: finishStream.
  void (*stream)(const uint8_t *from, uint8_t *to, int64_t bytes);
  void (*finishStream)();
  void (*lookup)(const uint16_t *table, const uint16_t *codes, uint16_t *results, int64_t count);
  /// to[j] lane i = from[i] lane j, for as many whole sticks as a stick has elements,
  /// \p fromStride and \p toStride bytes apart.
  void (*transpose8)(const uint8_t *from, int64_t fromStride, uint8_t *to, int64_t toStride);
  void (*transpose16)(const uint8_t *from, int64_t fromStride, uint8_t *to, int64_t toStride);
  void (*transpose32)(const uint8_t *from, int64_t fromStride, uint8_t *to, int64_t toStride);
  /// Adds \p count elements of a row, the first one for lane 0.
  void (*addRow)(const float *row, int64_t count, double *lanes);
  void (*addSquares)(const float *row, int64_t count, double *lanes);
  /// The same for \p rows rows of \p sticks whole sticks, the first stick of row r at
  /// from + offsets[r], the others \p stickStride bytes apart; its lanes are in sums[r].
  void (*addSticksF32)(const uint8_t *from, const int64_t *offsets, int64_t rows, int64_t sticks,
                       int64_t stickStride, LaneSums *sums);
  void (*addSticksDL16)(const uint8_t *from, const int64_t *offsets, int64_t rows, int64_t sticks,
                        int64_t stickStride, LaneSums *sums);
  /// Largest (smallest) of \p count values and \p value in the order of maximumOf;
  /// sets \p hasNaN if there is a NaN (the result then means nothing).
  float (*largest)(const float *row, int64_t count, float value, bool &hasNaN);
  float (*smallest)(const float *row, int64_t count, float value, bool &hasNaN);
  /// The same on DL16 codes, which order like integers, of rows as above but \p count codes
  /// of each stick. keys: kCodeLanes of them a row, see codeToKey.
  void (*largestCodes)(const uint8_t *from, const int64_t *offsets, int64_t rows, int64_t sticks,
                       int64_t stickStride, int64_t count, int16_t (*keys)[kCodeLanes]);
  void (*smallestCodes)(const uint8_t *from, const int64_t *offsets, int64_t rows, int64_t sticks,
                        int64_t stickStride, int64_t count, int16_t (*keys)[kCodeLanes]);
  /// Element by element, on what is there.
  void (*addElements)(const float *row, int64_t count, double *to);
  void (*maxElements)(const float *row, int64_t count, double *to);
  void (*minElements)(const float *row, int64_t count, double *to);
};

/// Those for this processor.
const VectorFunctions &getVectorFunctions();

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_VECTOR_H
