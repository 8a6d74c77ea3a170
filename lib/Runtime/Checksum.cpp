//===- Checksum.cpp - Whether memory still holds what it held -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As XXH3 does it: eight lanes of 64 bits, to which each stripe of 64 bytes adds its words
// and products of their halves under a key that depends on the stripe's place; after 16
// stripes the lanes are scrambled. The products are why no pattern of changes (all signs
// turned, two rows exchanged) cancels, as it does in plain sums. Large blocks are summed in
// pieces, by as many threads as pay off.
//
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Checksum.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace spyre::runtime {

namespace {

constexpr size_t kPieceInBytes = size_t(1) << 20;
/// Below this a thread takes longer to start than to sum.
constexpr size_t kAloneInBytes = size_t(16) << 20;
constexpr unsigned kMostThreads = 8;

constexpr size_t kNumLanes = 8;
constexpr size_t kStripeInBytes = 64;
constexpr size_t kStripesInBlock = 16;
constexpr uint64_t kPrime = 0x9e3779b1;

constexpr uint64_t mix(uint64_t word) { // the finaliser of splitmix64
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

struct Keys {
  alignas(16) uint64_t words[kStripesInBlock + 1][kNumLanes];
  constexpr Keys() : words{} {
    for (size_t i = 0; i <= kStripesInBlock; ++i)
      for (size_t lane = 0; lane < kNumLanes; ++lane)
        words[i][lane] = mix((i * kNumLanes + lane + 1) * 0x9e3779b97f4a7c15);
  }
};
constexpr Keys kKeys;

inline uint64_t readWord(const uint8_t *data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

/// Compilers do not see that a product of halves is one instruction.
#ifdef __SSE2__
class Lanes {
public:
  void addStripe(const uint8_t *data, const uint64_t *keys) {
    for (size_t i = 0; i < 4; ++i) {
      __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data) + i);
      __m128i keyed = _mm_xor_si128(words, load(keys, i));
      __m128i product = _mm_mul_epu32(keyed, _mm_shuffle_epi32(keyed, 0x31));
      __m128i turned = _mm_shuffle_epi32(words, 0x4e);
      sums[i] = _mm_add_epi64(sums[i], _mm_add_epi64(product, turned));
    }
  }
  void scramble(const uint64_t *keys) {
    const __m128i prime = _mm_set1_epi64x(int64_t(kPrime));
    for (size_t i = 0; i < 4; ++i) {
      __m128i sum = _mm_xor_si128(sums[i], _mm_srli_epi64(sums[i], 47));
      sum = _mm_xor_si128(sum, load(keys, i));
      __m128i high = _mm_mul_epu32(_mm_shuffle_epi32(sum, 0x31), prime);
      sums[i] = _mm_add_epi64(_mm_mul_epu32(sum, prime), _mm_slli_epi64(high, 32));
    }
  }
  void store(uint64_t *words) const { std::memcpy(words, sums, sizeof(sums)); }

private:
  static __m128i load(const uint64_t *keys, size_t i) {
    return _mm_load_si128(reinterpret_cast<const __m128i *>(keys) + i);
  }
  __m128i sums[4] = {};
};
#else
class Lanes {
public:
  void addStripe(const uint8_t *data, const uint64_t *keys) {
    for (size_t lane = 0; lane < kNumLanes; ++lane) {
      uint64_t keyed = readWord(data + 8 * lane) ^ keys[lane];
      sums[lane] += (keyed & 0xffffffff) * (keyed >> 32) + readWord(data + 8 * (lane ^ 1));
    }
  }
  void scramble(const uint64_t *keys) {
    for (size_t lane = 0; lane < kNumLanes; ++lane)
      sums[lane] = (sums[lane] ^ (sums[lane] >> 47) ^ keys[lane]) * kPrime;
  }
  void store(uint64_t *words) const { std::memcpy(words, sums, sizeof(sums)); }

private:
  uint64_t sums[kNumLanes] = {};
};
#endif

} // namespace

uint64_t getChecksum(const void *memory, size_t size) {
  const auto *data = static_cast<const uint8_t *>(memory);
  Lanes lanes;
  size_t i = 0, stripe = 0;
  auto addStripe = [&](const uint8_t *words) {
    lanes.addStripe(words, kKeys.words[stripe]);
    if (++stripe == kStripesInBlock) {
      lanes.scramble(kKeys.words[kStripesInBlock]);
      stripe = 0;
    }
  };
  for (; i + kStripeInBytes <= size; i += kStripeInBytes)
    addStripe(data + i);
  if (i < size) {
    uint8_t rest[kStripeInBytes] = {};
    std::memcpy(rest, data + i, size - i);
    addStripe(rest);
  }
  uint64_t words[kNumLanes], result = mix(size);
  lanes.store(words);
  for (uint64_t word : words)
    result = mix(result + word);
  return result;
}

uint64_t getSampledChecksum(const void *memory, size_t size, size_t count) {
  if (size <= count * sizeof(uint64_t))
    return getChecksum(memory, size);
  const auto *data = static_cast<const uint8_t *>(memory);
  uint64_t sum = mix(size);
  size_t last = size - sizeof(uint64_t), gaps = std::max<size_t>(count, 2) - 1;
  for (size_t i = 0; i <= gaps; ++i)
    sum = mix(sum + readWord(data + last / gaps * i + last % gaps * i / gaps));
  return sum;
}

size_t ChecksumTable::getNumPieces(size_t size) const {
  return samples ? 1 : (size + kPieceInBytes - 1) / kPieceInBytes;
}

uint64_t ChecksumTable::getSum(const Block &block, size_t piece) const {
  if (samples)
    return getSampledChecksum(block.data, block.size, samples);
  size_t start = piece * kPieceInBytes;
  return getChecksum(block.data + start, std::min(kPieceInBytes, block.size - start));
}

void ChecksumTable::set(size_t index, const void *data, size_t size) {
  if (index >= blocks.size())
    blocks.resize(index + 1);
  Block &block = blocks[index];
  block.data = static_cast<const uint8_t *>(data);
  block.size = size;
  block.sums.resize(size ? getNumPieces(size) : 0);
  for (size_t piece = 0; piece < block.sums.size(); ++piece)
    block.sums[piece] = getSum(block, piece);
}

std::vector<size_t> ChecksumTable::findChanged() const {
  struct Piece {
    size_t block, piece;
  };
  std::vector<Piece> pieces;
  size_t total = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    total += samples ? 0 : blocks[i].size;
    for (size_t piece = 0; piece < blocks[i].sums.size(); ++piece)
      pieces.push_back({i, piece});
  }
  std::vector<std::atomic<bool>> changed(blocks.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < pieces.size(); i = next++) {
      const Block &block = blocks[pieces[i].block];
      if (getSum(block, pieces[i].piece) != block.sums[pieces[i].piece])
        changed[pieces[i].block] = true;
    }
  };
  std::vector<std::thread> helpers;
  if (total > kAloneInBytes) {
    size_t wanted = std::min<size_t>({std::max(std::thread::hardware_concurrency(), 1u),
                                      kMostThreads, total / kAloneInBytes + 1});
    for (size_t i = 1; i < wanted; ++i) {
      try {
        helpers.emplace_back(work);
      } catch (const std::system_error &) { // this thread does it all
        break;
      }
    }
  }
  work();
  for (std::thread &helper : helpers)
    helper.join();
  std::vector<size_t> result;
  for (size_t i = 0; i < blocks.size(); ++i)
    if (changed[i])
      result.push_back(i);
  return result;
}

} // namespace spyre::runtime
