//===- PackingTest.cpp - Lifetimes into a scratchpad or a pool ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packings of small random problems against the best of all placements.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/Packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

using namespace spyre::planning;

namespace {

using Addresses = std::vector<std::optional<int64_t>>;

PackingBuffer makeBuffer(int64_t size, int64_t begin, int64_t end, int64_t uses = 1,
                         std::vector<size_t> parents = {}) {
  PackingBuffer buffer;
  buffer.sizeInBytes = size;
  buffer.begin = begin;
  buffer.end = end;
  buffer.numUses = uses;
  buffer.inPlaceParents = std::move(parents);
  return buffer;
}

PackingOptions getSearch() {
  PackingOptions options;
  options.strategy = PackingStrategy::Search;
  return options;
}

/// The rules again, byte by byte: at every step, every byte has one owner, or the
/// owners are a parent at its last step and a child at the same address.
bool isValid(const PackingProblem &problem, const Addresses &addresses) {
  int64_t last = 0;
  for (const PackingBuffer &buffer : problem.buffers)
    last = std::max(last, buffer.end);
  for (size_t i = 0; i < addresses.size(); ++i)
    if (addresses[i] && (*addresses[i] % problem.alignmentInBytes ||
                         *addresses[i] + problem.buffers[i].sizeInBytes > problem.capacityInBytes))
      return false;
  for (int64_t step = 0; step < last; ++step)
    for (int64_t byte = 0; byte < problem.capacityInBytes; ++byte) {
      std::vector<size_t> owners;
      for (size_t i = 0; i < addresses.size(); ++i) {
        const PackingBuffer &b = problem.buffers[i];
        if (addresses[i] && b.begin <= step && step < b.end && *addresses[i] <= byte &&
            byte < *addresses[i] + b.sizeInBytes)
          owners.push_back(i);
      }
      if (owners.size() > 2)
        return false;
      if (owners.size() == 2) {
        auto takesOver = [&](size_t child, size_t parent) {
          const PackingBuffer &c = problem.buffers[child], &p = problem.buffers[parent];
          return std::count(c.inPlaceParents.begin(), c.inPlaceParents.end(), parent) &&
                 step == c.begin && step + 1 == p.end && c.sizeInBytes <= p.sizeInBytes &&
                 *addresses[child] == *addresses[parent];
        };
        if (!takesOver(owners[0], owners[1]) && !takesOver(owners[1], owners[0]))
          return false;
      }
    }
  return true;
}

PackingProblem makeRandom(std::mt19937 &random, int maxBuffers, int64_t capacity) {
  PackingProblem problem;
  problem.capacityInBytes = capacity;
  problem.alignmentInBytes = 1 + random() % 2;
  int count = 1 + random() % maxBuffers;
  for (int i = 0; i < count; ++i) {
    int64_t begin = random() % 6;
    problem.buffers.push_back(makeBuffer(1 + random() % (capacity * 2 / 3), begin,
                                         begin + 1 + random() % 4, 1 + random() % 3));
    for (int j = 0; j < i; ++j)
      if (random() % 2)
        problem.buffers[i].inPlaceParents.push_back(j);
  }
  return problem;
}

/// The most that any placement keeps, by trying all.
int64_t getBestKept(const PackingProblem &problem) {
  int64_t best = 0;
  Addresses addresses(problem.buffers.size());
  std::function<void(size_t, int64_t)> tryAll = [&](size_t i, int64_t kept) {
    if (i == addresses.size()) {
      best = std::max(best, kept);
      return;
    }
    const PackingBuffer &b = problem.buffers[i];
    for (int64_t a = 0; a + b.sizeInBytes <= problem.capacityInBytes;
         a += problem.alignmentInBytes) {
      addresses[i] = a;
      if (isValid(problem, addresses))
        tryAll(i + 1, kept + b.sizeInBytes * b.numUses);
    }
    addresses[i].reset();
    tryAll(i + 1, kept);
  };
  tryAll(0, 0);
  return best;
}

/// The mistakes in \p problem's addresses as one text a mistake.
std::vector<std::string> getAddressMistakes(const PackingProblem &problem) {
  std::vector<std::string> texts;
  for (const AddressMistake &mistake : checkAddresses(problem))
    texts.push_back(std::to_string(mistake.buffer) + " " + mistake.message +
                    (mistake.other ? ", " + std::to_string(*mistake.other) : ""));
  return texts;
}

TEST(PackingTest, OthersGoAroundAnAddress) {
  PackingProblem problem{100, 10, {makeBuffer(40, 0, 3), makeBuffer(30, 0, 3)}};
  problem.buffers[1].address = 30;
  for (const PackingOptions &options : {PackingOptions(), getSearch()}) {
    PackingPlan plan = pack(problem, options);
    EXPECT_EQ(plan.addresses[1], 30);
    // Neither below (30 bytes) nor above (40, from 60 on): there is just room.
    EXPECT_EQ(plan.addresses[0], 60);
    EXPECT_TRUE(verify(problem, plan.addresses).empty());
  }
  problem.buffers[1].address = 40;
  EXPECT_EQ(pack(problem).addresses[0], 0);
  // What is worth more does not drive it out.
  problem.buffers[0] = makeBuffer(80, 0, 3, 100);
  EXPECT_EQ(pack(problem).addresses, (Addresses{std::nullopt, 40}));
}

TEST(PackingTest, AddressesOfAPlanGiveTheSamePlan) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    PackingProblem problem = makeRandom(random, 8, 12);
    for (const PackingOptions &options : {PackingOptions(), getSearch()}) {
      const PackingPlan plan = pack(problem, options);
      PackingProblem fixed = problem;
      for (size_t b = 0; b < fixed.buffers.size(); ++b)
        if (random() % 2)
          fixed.buffers[b].address = plan.addresses[b];
      EXPECT_EQ(pack(fixed, options).addresses, plan.addresses);
    }
  }
}

TEST(PackingTest, RandomAddressesAreKeptOrRefused) {
  std::mt19937 random(12);
  int numKept = 0;
  for (int i = 0; i < 400; ++i) {
    PackingProblem problem = makeRandom(random, 6, 12);
    for (PackingBuffer &buffer : problem.buffers)
      if (random() % 3 == 0)
        buffer.address = static_cast<int64_t>(random() % 12);
    if (!check(problem).empty()) {
      EXPECT_FALSE(checkAddresses(problem).empty());
      continue;
    }
    for (const PackingOptions &options : {PackingOptions(), getSearch()}) {
      PackingPlan plan = pack(problem, options);
      EXPECT_TRUE(isValid(problem, plan.addresses));
      EXPECT_TRUE(verify(problem, plan.addresses).empty());
      for (size_t b = 0; b < problem.buffers.size(); ++b)
        if (problem.buffers[b].address) {
          EXPECT_EQ(plan.addresses[b], problem.buffers[b].address);
          ++numKept;
        }
    }
  }
  EXPECT_GT(numKept, 100);
}

TEST(PackingTest, MistakesInAddresses) {
  PackingProblem problem{100, 10, {makeBuffer(40, 0, 3), makeBuffer(30, 2, 4)}};
  problem.buffers[0].address = 5;
  EXPECT_EQ(getAddressMistakes(problem), (std::vector<std::string>{"0 is not a multiple of 10"}));
  problem.buffers[0].address = 70;
  EXPECT_EQ(getAddressMistakes(problem),
            (std::vector<std::string>{
                "0 is too high: 40 bytes from there on end beyond the 100 that there are"}));
  problem.buffers[0].address = 10;
  problem.buffers[1].address = 40;
  EXPECT_EQ(getAddressMistakes(problem),
            (std::vector<std::string>{"1 lies, with the 30 bytes behind it, over 40 bytes at 10 "
                                      "that are in use at the same time, 0"}));
  EXPECT_EQ(check(problem),
            (std::vector<std::string>{
                "the address of buffer 1 lies, with the 30 bytes behind it, over 40 bytes at 10 "
                "that are in use at the same time, by buffer 0"}));
  // One after the other, or a child over its parent.
  problem.buffers[1].begin = 3;
  EXPECT_TRUE(check(problem).empty());
  problem.buffers[1] = makeBuffer(30, 2, 4, 1, {0});
  problem.buffers[1].address = 10;
  EXPECT_TRUE(check(problem).empty());
  problem.buffers[1].address = 20;
  EXPECT_EQ(getAddressMistakes(problem).size(), 1u);
  EXPECT_EQ(verify(PackingProblem{100, 10, {problem.buffers[1]}}, {40}),
            (std::vector<std::string>{"buffer 0 has to be at 20"}));
}

TEST(PackingTest, InPlaceChildTakesTheParentsAddress) {
  PackingProblem problem{100, 1, {makeBuffer(60, 0, 2), makeBuffer(50, 1, 4, 1, {0})}};
  for (const PackingOptions &options : {PackingOptions(), getSearch()}) {
    PackingPlan plan = pack(problem, options);
    EXPECT_TRUE(plan.keepsAll());
    EXPECT_EQ(plan.addresses[0], plan.addresses[1]);
    EXPECT_EQ(plan.peakInBytes, 60);
  }
  // A larger child must not; a child that starts too early must not either.
  problem.buffers[1].sizeInBytes = 61;
  EXPECT_FALSE(canTakeOver(problem, 1, 0));
  EXPECT_FALSE(pack(problem, getSearch()).keepsAll());
  problem.buffers[1] = makeBuffer(50, 0, 4, 1, {0});
  EXPECT_FALSE(canTakeOver(problem, 1, 0));
}

TEST(PackingTest, OneChildOnlyTakesOver) {
  PackingProblem problem{
      150, 1, {makeBuffer(60, 0, 2), makeBuffer(50, 1, 4, 1, {0}), makeBuffer(50, 1, 4, 1, {0})}};
  PackingPlan plan = pack(problem, getSearch());
  EXPECT_TRUE(verify(problem, plan.addresses).empty());
  EXPECT_TRUE(plan.keepsAll());
  EXPECT_EQ(plan.peakInBytes, 110);
}

TEST(PackingTest, VerifyNamesEveryOverlap) {
  PackingProblem problem{
      256, 128, {makeBuffer(100, 0, 2), makeBuffer(100, 1, 3, 1, {0}), makeBuffer(300, 0, 1)}};
  // Partly over the live parent: the reference's fault.
  EXPECT_EQ(verify(problem, {Addresses{0, 64, std::nullopt}}),
            (std::vector<std::string>{"buffer 1 is at 64, which is not aligned to 128",
                                      "buffers 0 and 1 overlap while both are alive"}));
  EXPECT_TRUE(verify(problem, Addresses{128, 128, std::nullopt}).empty());
  EXPECT_EQ(verify(problem, Addresses{std::nullopt, std::nullopt, 0}).size(), 1u);
  EXPECT_EQ(verify(problem, Addresses{0}).size(), 1u);
}

TEST(PackingTest, VerifyAgreesWithBytes) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    PackingProblem problem = makeRandom(random, 4, 8);
    Addresses addresses;
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      addresses.push_back(random() % 4 ? std::optional<int64_t>(random() % 8) : std::nullopt);
    EXPECT_EQ(verify(problem, addresses).empty(), isValid(problem, addresses));
  }
}

TEST(PackingTest, SearchKeepsTheMost) {
  std::mt19937 random(17);
  for (int round = 0; round < 150; ++round) {
    PackingProblem problem = makeRandom(random, 5, 6);
    ASSERT_TRUE(check(problem).empty());
    int64_t best = getBestKept(problem);
    PackingPlan fast = pack(problem), searched = pack(problem, getSearch());
    EXPECT_TRUE(verify(problem, fast.addresses).empty());
    EXPECT_TRUE(verify(problem, searched.addresses).empty());
    EXPECT_LE(fast.keptByteUses, searched.keptByteUses);
    EXPECT_LE(searched.keptByteUses, best);
    if (searched.isOptimal)
      EXPECT_EQ(searched.keptByteUses, best) << "round " << round;
    // Without in-place pairs the answer is always proven.
    for (PackingBuffer &buffer : problem.buffers)
      buffer.inPlaceParents.clear();
    searched = pack(problem, getSearch());
    EXPECT_TRUE(searched.isOptimal);
    EXPECT_EQ(searched.keptByteUses, getBestKept(problem)) << "round " << round;
  }
}

/// A packing that leaves nothing free, cut out of one rectangle of \p duration steps
/// and \p height bytes: the buffers, without their addresses.
void cutUp(std::mt19937 &random, int64_t begin, int64_t end, int64_t height, int numBuffers,
           std::vector<PackingBuffer> &buffers) {
  bool isCutInTime = random() % 2;
  int64_t extent = isCutInTime ? end - begin : height;
  if (numBuffers == 1 || extent < 2) {
    buffers.push_back(makeBuffer(height, begin, end));
    return;
  }
  int64_t cut = 1 + random() % (extent - 1);
  int first = 1 + random() % (numBuffers - 1);
  if (isCutInTime) {
    cutUp(random, begin, begin + cut, height, first, buffers);
    cutUp(random, begin + cut, end, height, numBuffers - first, buffers);
  } else {
    cutUp(random, begin, end, cut, first, buffers);
    cutUp(random, begin, end, height - cut, numBuffers - first, buffers);
  }
}

/// True if all buffers can be placed, by trying all addresses in turn.
bool canKeepAll(const PackingProblem &problem, Addresses &addresses, size_t next = 0) {
  if (next == addresses.size())
    return true;
  for (int64_t a = 0; a + problem.buffers[next].sizeInBytes <= problem.capacityInBytes;
       a += problem.alignmentInBytes) {
    addresses[next] = a;
    if (verify(problem, addresses).empty() && canKeepAll(problem, addresses, next + 1))
      return true;
  }
  addresses[next].reset();
  return false;
}

PackingOptions getSearchForAll() {
  PackingOptions options = getSearch();
  options.mustKeepAll = true;
  return options;
}

TEST(PackingTest, FillsMemoryWithoutAGap) {
  std::mt19937 random(41);
  int numSearched = 0;
  for (int round = 0; round < 40; ++round) {
    PackingProblem problem;
    problem.capacityInBytes = 1 << 20;
    cutUp(random, 0, 1000, problem.capacityInBytes, 60, problem.buffers);
    std::shuffle(problem.buffers.begin(), problem.buffers.end(), random);
    PackingPlan plan = pack(problem, getSearchForAll());
    EXPECT_TRUE(plan.keepsAll()) << "round " << round;
    EXPECT_TRUE(verify(problem, plan.addresses).empty());
    EXPECT_EQ(plan.addresses, pack(problem, getSearchForAll()).addresses);
    numSearched += !pack(problem).keepsAll();
  }
  EXPECT_GT(numSearched, 10);
}

TEST(PackingTest, ProvesWhatCannotBePlaced) {
  std::mt19937 random(43);
  int numImpossible = 0;
  for (int round = 0; round < 150; ++round) {
    // What alignment takes is not part of the load.
    PackingProblem problem;
    problem.alignmentInBytes = 2;
    for (int i = 0; i < 7; ++i) {
      int64_t begin = random() % 6;
      problem.buffers.push_back(makeBuffer(1 + random() % 5, begin, begin + 1 + random() % 4));
    }
    problem.capacityInBytes = getPeakLoad(problem) + random() % 2;
    Addresses addresses(problem.buffers.size());
    bool isPossible = canKeepAll(problem, addresses);
    PackingPlan plan = pack(problem, getSearchForAll());
    EXPECT_EQ(plan.keepsAll(), isPossible) << "round " << round;
    EXPECT_TRUE(plan.isOptimal) << "round " << round;
    numImpossible += !isPossible;
  }
  EXPECT_GT(numImpossible, 20);
}

TEST(PackingTest, NoTimeIsFirstFit) {
  std::mt19937 random(47);
  PackingProblem problem;
  problem.capacityInBytes = 1000;
  PackingPlan fast;
  for (int round = 0; round < 100 && fast.keepsAll(); ++round) {
    problem.buffers.clear();
    cutUp(random, 0, 1000, problem.capacityInBytes, 60, problem.buffers);
    fast = pack(problem);
  }
  ASSERT_FALSE(fast.keepsAll());
  PackingOptions options = getSearch();
  options.timeLimitInSeconds = 0;
  PackingPlan searched = pack(problem, options);
  EXPECT_EQ(searched.addresses, fast.addresses);
  EXPECT_TRUE(searched.hitLimit);
  EXPECT_FALSE(searched.isOptimal);
  auto pool = solvePool(problem, options);
  ASSERT_TRUE(std::holds_alternative<PackingError>(pool));
  problem.capacityInBytes = 0;
  EXPECT_TRUE(std::holds_alternative<PoolPlan>(solvePool(problem, options)));
}

TEST(PackingTest, BuffersWithoutBytesAreNoMatter) {
  std::mt19937 random(53);
  PackingProblem problem;
  problem.capacityInBytes = 1000;
  cutUp(random, 0, 1000, problem.capacityInBytes, 40, problem.buffers);
  for (int64_t step = 0; step < 1000; step += 100)
    problem.buffers.push_back(makeBuffer(0, step, step + 150));
  PackingPlan plan = pack(problem, getSearchForAll());
  EXPECT_TRUE(plan.keepsAll());
  EXPECT_TRUE(verify(problem, plan.addresses).empty());
}

TEST(PackingTest, LargeRandomProblemsAreValidAndRepeatable) {
  std::mt19937 random(23);
  for (int round = 0; round < 8; ++round) {
    PackingProblem problem;
    problem.capacityInBytes = 64 * 1024;
    problem.alignmentInBytes = 128;
    for (int i = 0; i < 80; ++i) {
      int64_t begin = random() % 60;
      problem.buffers.push_back(
          makeBuffer(random() % 20000, begin, begin + 1 + random() % 12, 1 + random() % 4));
      for (int j = 0; j < i; ++j)
        if (problem.buffers[j].end == begin + 1)
          problem.buffers[i].inPlaceParents.push_back(j);
    }
    PackingOptions options = getSearch();
    options.nodeLimit = 20000;
    PackingPlan a = pack(problem, options), b = pack(problem, options);
    EXPECT_TRUE(verify(problem, a.addresses).empty());
    EXPECT_EQ(a.addresses, b.addresses);
    EXPECT_GE(a.keptByteUses, pack(problem).keptByteUses);
  }
}

TEST(PoolTest, IsAsSmallAsTheLoadAllows) {
  std::mt19937 random(29);
  int optimal = 0;
  for (int round = 0; round < 100; ++round) {
    PoolProblem problem;
    problem.alignmentInBytes = 128;
    for (int i = 0; i < 12; ++i) {
      int64_t begin = random() % 20;
      problem.buffers.push_back(
          makeBuffer(128 * (1 + random() % 64), begin, begin + 1 + random() % 8));
    }
    auto result = solvePool(problem, getSearch());
    ASSERT_TRUE(std::holds_alternative<PoolPlan>(result));
    const PoolPlan &plan = std::get<PoolPlan>(result);
    Addresses addresses(plan.offsets.begin(), plan.offsets.end());
    problem.capacityInBytes = plan.sizeInBytes;
    EXPECT_TRUE(verify(problem, addresses).empty());
    EXPECT_GE(plan.sizeInBytes, getPeakLoad(problem));
    optimal += plan.isOptimal;
    problem.capacityInBytes = getPeakLoad(problem) - 1;
    EXPECT_TRUE(std::holds_alternative<PackingError>(solvePool(problem)));
  }
  EXPECT_GE(optimal, 95);
}

TEST(PackingTest, RejectsNonsense) {
  PackingProblem problem{-1, 0, {makeBuffer(-5, 3, 3), makeBuffer(1, 0, 1, 1, {7})}};
  EXPECT_EQ(check(problem).size(), 5u);
  EXPECT_TRUE(pack(PackingProblem{}).addresses.empty());
  EXPECT_TRUE(pack(PackingProblem{}, getSearch()).addresses.empty());
}

} // namespace
