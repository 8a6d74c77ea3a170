//===- FastPathTest.cpp - The faster paths leave the same bits --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random descriptors (sizes, slices, memory orders, gaps, broadcasts, formats,
// masks, places in place) run twice on the same memory, row by row and not; all of
// memory is compared. One-operand operations on every code against float64.
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <numeric>
#include <random>

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

constexpr int64_t kArena = 8 << 20;

/// A device with one large buffer.
struct Bench {
  Bench(bool generalPathOnly, unsigned threads) {
    EmulatorOptions options;
    options.generalPathOnly = generalPathOnly;
    options.numThreads = threads;
    emulator = std::make_unique<Emulator>(*Device::lookup("spyre"), options);
    base = std::get<int64_t>(emulator->getMemory().allocate(kArena, "arena"));
    int64_t begin = 0;
    data = emulator->getMemory().find(base, begin)->getData();
    scratch = std::get<int64_t>(emulator->getMemory().allocate(kArena, "scratch"));
    emulator->getMemory().find(scratch, begin)->setUse(BlockUse::Scratch);
  }
  std::unique_ptr<Emulator> emulator;
  int64_t base = 0, scratch = 0;
  uint8_t *data = nullptr;
};

/// How one operand of a random descriptor lies in memory.
struct Placed {
  std::vector<std::string> order; ///< innermost first
  std::string stick;
  std::vector<int64_t> scale;
  std::vector<std::pair<std::string, int64_t>> gaps = {};
  DataFormat format = DataFormat::SEN169_FP16;
  bool isLX = false;
  int64_t offset = 0; ///< in the arena
};

class FastPathTest : public testing::Test {
protected:
  std::mt19937 random{20};
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  template <typename T> const T &oneOf(const std::vector<T> &list) {
    return list[pick(0, int64_t(list.size()) - 1)];
  }

  Bench fast{false, 3}, general{true, 1}, alone{false, 1};
  int64_t used = 0;

  void SetUp() override { refill(false); }
  /// Random bytes, or numbers whose products and sums are exact.
  void refill(bool exact) {
    auto *codes = reinterpret_cast<uint16_t *>(fast.data);
    for (int64_t i = 0; i < kArena / 2; ++i)
      codes[i] = exact ? encodeDL16(double(pick(-4, 4))) : uint16_t(random());
    std::memcpy(general.data, fast.data, kArena);
    std::memcpy(alone.data, fast.data, kArena);
  }

  /// Bytes between steps of each dim and of the whole.
  std::map<std::string, int64_t> getUnits(const std::vector<sdsc::Dim> &dims, const Placed &placed,
                                          int64_t &size) {
    std::map<std::string, int64_t> units;
    int64_t unit = kStickInBytes, perStick = getElementsPerStick(placed.format);
    for (size_t i = 0; i < placed.order.size(); ++i) {
      if (placed.scale[i] != 1)
        continue;
      units[placed.order[i]] = unit;
      for (const sdsc::Dim &dim : dims)
        if (dim.name == placed.order[i]) {
          int64_t extent = placed.isLX ? dim.size / dim.numSlices : dim.size;
          for (const auto &[name, gap] : placed.gaps)
            extent += name == dim.name ? gap : 0;
          unit *= dim.name == placed.stick ? (extent + perStick - 1) / perStick : extent;
        }
    }
    size = unit;
    return units;
  }

  /// Chooses the rest of \p placed: an order, and where.
  void place(const std::vector<sdsc::Dim> &dims, Placed &placed, bool mayHaveGaps = true) {
    std::vector<size_t> order(placed.order.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Placed shuffled = placed;
    for (size_t i = 0; i < order.size(); ++i) {
      shuffled.order[i] = placed.order[order[i]];
      shuffled.scale[i] = placed.scale[order[i]];
    }
    placed = shuffled;
    for (size_t i = 0; i < order.size() && mayHaveGaps && !placed.isLX; ++i)
      if (placed.scale[i] == 1 && chance(15))
        placed.gaps.emplace_back(placed.order[i],
                                 placed.order[i] == placed.stick ? pick(1, 2) * 128 : pick(1, 3));
    int64_t size = 0;
    getUnits(dims, placed, size);
    placed.offset = used;
    used += size;
  }

  sdsc::Descriptor make(const Bench &bench, const std::string &op,
                        const std::vector<sdsc::Dim> &dims, const std::vector<Placed> &placed,
                        bool outputIsInput, const std::vector<sdsc::Constant> &constants) {
    std::vector<TestTensor> tensors;
    for (const Placed &p : placed) {
      int64_t size = 0;
      auto units = getUnits(dims, p, size);
      int64_t start = p.isLX ? p.offset : bench.base + p.offset;
      int64_t perStick = getElementsPerStick(p.format);
      auto address = [=](const std::vector<int64_t> &slices) {
        int64_t at = start;
        for (size_t i = 0; i < dims.size() && !p.isLX; ++i) {
          auto unit = units.find(dims[i].name);
          int64_t elements = slices[i] * (dims[i].size / dims[i].numSlices);
          if (unit != units.end())
            at += dims[i].name == p.stick ? elements / perStick * unit->second
                                          : elements * unit->second;
        }
        return at;
      };
      tensors.push_back({p.order, p.stick, p.scale, p.isLX ? MemorySpace::LX : MemorySpace::HBM,
                         address, p.format});
    }
    sdsc::Descriptor d = makeDescriptor(op, dims, tensors, outputIsInput, constants);
    for (size_t i = 0; i < placed.size(); ++i) {
      for (const auto &[name, gap] : placed[i].gaps)
        d.tensors[i].backGap.push_back({name, {gap}});
      d.tensors[i].coordinates = sdsc::getStandardCoordinates(d, d.tensors[i]);
    }
    return d;
  }

  static std::optional<Error> execute(Bench &bench, const sdsc::Descriptor &d) {
    return bench.emulator->execute(d, "op", [](int64_t) { return std::nullopt; });
  }

  /// True if it ran; fails if the two ways differ.
  bool compare(const std::string &op, const std::vector<sdsc::Dim> &dims,
               const std::vector<Placed> &placed, bool outputIsInput = false,
               const std::vector<sdsc::Constant> &constants = {},
               const std::vector<sdsc::Mask> &masks = {}) {
    EXPECT_LE(used, kArena);
    std::optional<Error> errors[3];
    Bench *benches[] = {&fast, &general, &alone};
    for (int i = 0; i < 3; ++i) {
      sdsc::Descriptor d = make(*benches[i], op, dims, placed, outputIsInput, constants);
      d.masks = masks;
      errors[i] = execute(*benches[i], d);
    }
    EXPECT_EQ(bool(errors[0]), bool(errors[1]));
    if (errors[0]) {
      lastError = errors[0]->message;
      return false;
    }
    for (Bench *other : {&general, &alone}) {
      if (std::memcmp(fast.data, other->data, kArena) == 0)
        continue;
      int64_t at = 0;
      while (fast.data[at] == other->data[at])
        ++at;
      ADD_FAILURE() << op << ": byte " << at << " differs (operands at " << placed.back().offset
                    << ", ...), dims " << dims[0].size << "/" << dims[0].numSlices << " "
                    << dims[1].size << "/" << dims[1].numSlices << " " << dims.back().size << "/"
                    << dims.back().numSlices;
      return false;
    }
    return true;
  }

  static std::vector<LaunchRequest> getLaunches(const std::vector<sdsc::Descriptor> &list) {
    std::vector<LaunchRequest> launches;
    for (const sdsc::Descriptor &d : list)
      launches.push_back({&d, "op", [](int64_t) { return std::nullopt; }});
    return launches;
  }

  /// Runs a list on each bench, in general one by one, and compares all of memory.
  void compareSequences(const std::vector<sdsc::Descriptor> (&lists)[3], bool isEnd, int round) {
    Bench *benches[] = {&fast, &general, &alone};
    for (int i = 0; i < 3; ++i) {
      std::optional<Error> error;
      if (i == 1)
        for (const sdsc::Descriptor &d : lists[i])
          error = error ? error : execute(*benches[i], d);
      else
        error = benches[i]->emulator->execute(getLaunches(lists[i]), isEnd);
      ASSERT_FALSE(error) << error->message;
    }
    ASSERT_EQ(std::memcmp(fast.data, general.data, kArena), 0) << "round " << round;
    ASSERT_EQ(std::memcmp(fast.data, alone.data, kArena), 0) << "round " << round;
  }

  std::string lastError;
};

struct OpCase {
  const char *op;
  int numInputs;
  DataFormat in = DataFormat::SEN169_FP16, out = DataFormat::SEN169_FP16;
  std::vector<sdsc::Constant> constants = {};
};

constexpr DataFormat k16 = DataFormat::SEN169_FP16, k32 = DataFormat::IEEE_FP32,
                     k8 = DataFormat::SEN143_FP8;

TEST_F(FastPathTest, PointwiseOperations) {
  const std::vector<OpCase> cases = {
      {"exp", 1},
      {"gelufwd", 1},
      {"neg", 1},
      {"neg", 1, k32, k32},
      {"add", 2},
      {"add", 2, k32, k32},
      {"mul", 2},
      {"realdiv", 2},
      {"maximum", 2},
      {"minimum", 2},
      {"maximum", 2, k32, k32},
      {"lesserequal", 2},
      {"where3", 3},
      {"dl16tofp32", 1, k16, k32},
      {"fp32todl16", 1, k32, k16},
      {"fp8todl16", 1, k8, k16},
      {"qfp8ch", 1, k16, k8},
      {"identity", 1},
      {"identity", 1, k32, k32},
      {"sub", 2},
      {"layernormnorm", 5},
      {"clip", 1, k16, k16, {constant("clipMin", -0.5), constant("clipMax", 1.5)}}};
  int ran = 0;
  for (int round = 0; round < 600; ++round) {
    used = 0;
    const OpCase &op = oneOf(cases);
    int64_t stickSlices = chance(20) ? 2 : 1;
    // Whole sticks on every core; of the widest one unless rows are to end within it.
    int64_t perStick = std::max(getElementsPerStick(op.in), getElementsPerStick(op.out));
    if (chance(20))
      perStick = std::min(getElementsPerStick(op.in), getElementsPerStick(op.out));
    int64_t width = pick(1, 5) * perStick * stickSlices;
    if (chance(3) && op.numInputs == 1)
      width = 20480; // enough for a table of codes
    std::vector<sdsc::Dim> dims = {dim("mb", pick(1, 3) * 4, oneOf<int64_t>({1, 2, 4})),
                                   dim("x", pick(1, 3) * 2, oneOf<int64_t>({1, 2})),
                                   dim("out", width, stickSlices)};
    std::vector<Placed> placed;
    for (int i = 0; i <= op.numInputs; ++i) {
      bool isOut = i == op.numInputs;
      Placed p{{"mb", "x", "out"}, "out", {1, 1, 1}, {}, isOut ? op.out : op.in};
      if (!isOut)
        for (int64_t &scale : p.scale)
          if (chance(15))
            scale = &scale == &p.scale[2] ? -2 : -1;
      place(dims, p);
      placed.push_back(p);
    }
    if (op.in == op.out && chance(25)) { // in place
      placed.front().order = placed.back().order;
      placed.front().scale = placed.back().scale;
      placed.front().gaps = placed.back().gaps;
      placed.front().offset = placed.back().offset;
      if (chance(10)) // or nearly
        placed.front().offset = std::max<int64_t>(0, placed.front().offset - 128);
    }
    std::vector<sdsc::Constant> constants = op.constants;
    std::vector<sdsc::Mask> masks;
    if (op.in == k16 && chance(20)) {
      constants.push_back(constant("samv-maskvalue", -3));
      masks.push_back({"out", pick(0, width - 1), pick(1, 70)});
      if (chance(20))
        masks.push_back({"mb", pick(0, 3), pick(1, 3)});
    }
    ran += compare(op.op, dims, placed, false, constants, masks);
    if (HasFailure())
      return;
  }
  EXPECT_GT(ran, 400) << lastError;
}

TEST_F(FastPathTest, Restickify) {
  int ran = 0;
  for (int round = 0; round < 150; ++round) {
    used = 0;
    DataFormat format = chance(30) ? k32 : k16;
    int64_t perStick = getElementsPerStick(format);
    std::vector<sdsc::Dim> dims = {dim("x", pick(1, 3)), dim("mb", pick(1, 5) * perStick),
                                   dim("out", pick(1, 5) * perStick)};
    if (dims[1].size % 128 == 0 && chance(50))
      dims[1].numSlices = 2;
    Placed in{{"x", "mb", "out"}, "mb", {1, 1, 1}, {}, format};
    Placed out{{"x", "mb", "out"}, "out", {1, 1, 1}, {}, format};
    place(dims, in, /*mayHaveGaps=*/false);
    place(dims, out, /*mayHaveGaps=*/false);
    ran += compare("ReStickifyOpHBM", dims, {in, out});
    if (HasFailure())
      return;
  }
  EXPECT_GT(ran, 100) << lastError;
}

TEST_F(FastPathTest, Reductions) {
  struct Reduction {
    const char *op;
    bool alongStick;
    std::vector<sdsc::Constant> constants = {};
  };
  const std::vector<Reduction> cases = {
      {"sum", true},
      {"max", true},
      {"min", true},
      {"mean", true, {constant("scaling_factor", 0.125)}},
      {"sumnonstick", false},
      {"maxnonstick", false},
      {"minnonstick", false},
      {"meannonstick", false, {constant("scaling_factor", 0.125)}},
      {"exx2", true, {constant("scale", 0.125), constant("useZeroMean", 0)}}};
  int ran = 0;
  for (int round = 0; round < 400; ++round) {
    used = 0;
    Reduction reduction = oneOf(cases);
    DataFormat format = chance(35) && std::string(reduction.op) != "exx2" ? k32 : k16;
    if (format == k32)
      for (sdsc::Constant &c : reduction.constants)
        c = constant(c.name, 0.125, k32);
    int64_t split = chance(15) ? 2 : 1;
    int64_t width = pick(1, 6) * 64 * split;
    std::vector<sdsc::Dim> dims = {dim("mb", pick(1, 20) * 4, oneOf<int64_t>({1, 2, 4})),
                                   dim("x", pick(1, 4)), dim("out", width, split)};
    Placed in{{"mb", "x", "out"}, "out", {1, 1, 1}, {}, format};
    Placed out{{"mb", "x", "out"}, "out", {1, 1, 1}, {}, format};
    if (reduction.alongStick) {
      out.scale[2] = -2;
      if (chance(30))
        out.scale[1] = -1;
    } else {
      out.scale[oneOf<int64_t>({0, 1})] = -1;
    }
    place(dims, in);
    place(dims, out, /*mayHaveGaps=*/false);
    std::vector<sdsc::Mask> masks;
    std::vector<sdsc::Constant> constants = reduction.constants;
    if (format == k16 && reduction.alongStick && chance(30)) {
      constants.push_back(constant("samv-maskvalue", 0.5));
      masks.push_back({"out", pick(0, width - 1), pick(1, 70)});
    }
    ran += compare(reduction.op, dims, {in, out}, true, constants, masks);
    if (HasFailure())
      return;
  }
  EXPECT_GT(ran, 250) << lastError;
}

TEST_F(FastPathTest, Matmul) {
  int ran = 0;
  for (int round = 0; round < 150; ++round) {
    used = 0;
    std::vector<sdsc::Dim> dims = {dim("x", pick(1, 3), 1),
                                   dim("mb", pick(1, 40) * 4, oneOf<int64_t>({1, 2, 4})),
                                   dim("out", pick(1, 4) * 64), dim("in", pick(1, 4) * 64)};
    if (dims[2].size % 128 == 0 && chance(60))
      dims[2].numSlices = 2;
    if (dims[3].size % 128 == 0 && chance(50))
      dims[3].numSlices = 2;
    Placed a{{"x", "mb", "in"}, "in", {1, 1, 1}}, b{{"x", "out", "in"}, "out", {1, 1, 1}};
    Placed c{{"x", "mb", "out"}, "out", {1, 1, 1}};
    if (chance(30))
      b.scale[0] = -1;
    place(dims, a);
    place(dims, b);
    place(dims, c, /*mayHaveGaps=*/false);
    ran += compare("batchmatmul", dims, {a, b, c});
    if (HasFailure())
      return;
  }
  EXPECT_GT(ran, 100) << lastError;
}

/// A sequence may run core by core; its numbers are those of one operation after the
/// other, also where a core needs what another one made.
TEST_F(FastPathTest, SequencesAreAsOneByOne) {
  for (int round = 0; round < 100; ++round) {
    std::vector<sdsc::Descriptor> lists[3];
    Bench *benches[] = {&fast, &general, &alone};
    // Values in the arena, a few places each; operations between random ones of them.
    int64_t width = pick(1, 3) * 64, rows = 32;
    std::vector<std::vector<sdsc::Dim>> divisions = {
        {dim("mb", rows, 8), dim("x", 2), dim("out", width)},
        {dim("mb", rows, 16), dim("x", 2), dim("out", width)}};
    for (int step = 0; step < 12; ++step) {
      const auto &dims = chance(85) ? divisions[0] : divisions[1];
      bool binary = chance(50), reduces = chance(20), spread = chance(20);
      std::vector<Placed> placed;
      for (int i = 0; i < (binary && !reduces ? 3 : 2); ++i) {
        Placed p{{"mb", "x", "out"}, "out", {1, 1, 1}};
        p.offset = pick(0, 3) * rows * 2 * width * 2;
        p.isLX = chance(40);
        bool isOut = i == (binary && !reduces ? 2 : 1);
        if ((reduces && isOut) || (spread && i == 1 && !isOut && !reduces)) {
          p.scale[2] = -2;
          p.offset = pick(4, 5) * rows * 2 * width * 2;
        }
        placed.push_back(p);
      }
      const char *op = reduces ? "max" : binary ? "sub" : "relufwd";
      for (int i = 0; i < 3; ++i)
        lists[i].push_back(make(*benches[i], op, dims, placed, reduces, {}));
    }
    // Scratchpads hold what was there: the same on all.
    ASSERT_NO_FATAL_FAILURE(compareSequences(lists, /*isEnd=*/false, round));
  }
}

/// What a value of a random chain is: elements or one number a row, and their format; or one
/// row for all.
enum class Kind { Half, Single, HalfOfRow, SingleOfRow, Row };

/// Where nobody reads scratchpads and scratch blocks afterwards, what is in the other
/// blocks is the same; also where rows are cut into blocks, and values share places.
TEST_F(FastPathTest, ChainsLeaveTheirResults) {
  for (int round = 0; round < 60; ++round) {
    refill(false);
    const int64_t width = pick(1, 8) * 128, rows = 8 * pick(1, 64);
    const int64_t slot = 512 * 1024 * 4, slotInLX = 64 * 1024 * 4;
    std::vector<sdsc::Dim> dims = {dim("mb", rows, 8), dim("out", width)};
    struct Slot {
      bool isLX = false;
      int64_t offset = 0;
      std::optional<Kind> holds;
    };
    std::vector<Slot> slots;
    for (int64_t i = 0; i < 3; ++i)
      slots.push_back({false, i * slot, Kind::Half});
    for (int64_t i = 0; i < 3; ++i) {
      slots.push_back({false, fast.scratch - fast.base + i * slot, std::nullopt});
      slots.push_back({true, i * slotInLX, std::nullopt});
    }
    slots.push_back({false, 3 * slot, Kind::Row});
    auto place = [&](const Slot &where, Kind kind) {
      Placed p{{"mb", "out"}, "out", {1, 1}};
      if (kind == Kind::HalfOfRow || kind == Kind::SingleOfRow)
        p.scale[1] = -2;
      if (kind == Kind::Row)
        p.scale[0] = -1;
      if (kind == Kind::Single || kind == Kind::SingleOfRow)
        p.format = DataFormat::IEEE_FP32;
      p.isLX = where.isLX;
      p.offset = where.offset;
      return p;
    };
    auto find = [&](std::vector<Kind> kinds) {
      std::vector<const Slot *> found;
      for (const Slot &entry : slots)
        for (Kind kind : kinds)
          if (entry.holds == kind)
            found.push_back(&entry);
      return found.empty() ? nullptr : oneOf(found);
    };
    std::vector<sdsc::Descriptor> lists[3];
    Bench *benches[] = {&fast, &general, &alone};
    for (int step = 0; step < 14; ++step) {
      const Slot *x = find({Kind::Half, Kind::Single});
      bool isSingle = *x->holds == Kind::Single;
      int choice = static_cast<int>(pick(0, 5));
      const char *op = choice == 0   ? "relufwd"
                       : choice == 1 ? (isSingle ? "fp32todl16" : "dl16tofp32")
                       : choice == 2 ? "max"
                       : choice == 3 ? "sum"
                                     : "sub";
      const Slot *y = nullptr;
      if (choice > 3)
        y = isSingle ? find({Kind::Single, Kind::SingleOfRow})
                     : find({Kind::Half, Kind::HalfOfRow, Kind::Row});
      Kind result = *x->holds;
      if (choice == 1)
        result = isSingle ? Kind::Half : Kind::Single;
      bool reduces = choice == 2 || choice == 3;
      if (reduces)
        result = isSingle ? Kind::SingleOfRow : Kind::HalfOfRow;
      Slot &target = slots[pick(0, 8)];
      std::vector<Placed> placed = {place(*x, *x->holds)};
      if (y)
        placed.push_back(place(*y, *y->holds));
      placed.push_back(place(target, result));
      for (int i = 0; i < 3; ++i)
        lists[i].push_back(make(*benches[i], op, dims, placed, reduces, {}));
      target.holds = result;
    }
    ASSERT_NO_FATAL_FAILURE(compareSequences(lists, /*isEnd=*/true, round));
  }
}

/// A gather reads rows that only its numbers tell, also of a table that several wrote.
TEST_F(FastPathTest, GathersComeAfterAllThatWriteTheirTable) {
  constexpr int64_t kRows = 32, kRowInBytes = 2 * kStickInBytes, kPart = kRows * kRowInBytes;
  constexpr int64_t kNumbers = 1 << 20, kOut = 2 << 20;
  std::vector<sdsc::Dim> dims = {dim("mb", kRows), dim("out", 128)};
  auto rows = [](int64_t offset) {
    Placed p{{"out", "mb"}, "out", {1, 1}};
    p.offset = offset;
    return p;
  };
  for (Bench *bench : {&fast, &general}) {
    for (int64_t r = 0; r < kRows; ++r)
      reinterpret_cast<int32_t *>(bench->data + kNumbers)[r] = int32_t(2 * r + 1);
    int64_t table = bench->scratch - bench->base;
    Placed numbers{{"mb"}, "mb", {1}};
    numbers.format = DataFormat::SENUINT32;
    numbers.offset = kNumbers;
    std::vector<sdsc::Descriptor> list = {
        make(*bench, "relufwd", dims, {rows(0), rows(table)}, false, {}),
        make(*bench, "relufwd", dims, {rows(kPart), rows(table + kPart)}, false, {}),
        make(*bench, "identity", dims, {numbers, rows(table), rows(kOut)}, false, {})};
    makeGather(list.back());
    auto error = bench->emulator->execute(getLaunches(list), /*isEnd=*/true);
    ASSERT_FALSE(error) << error->message;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t i = 0; i < 128; ++i) {
        auto *codes = reinterpret_cast<const uint16_t *>(bench->data);
        float x = decodeDL16(codes[(2 * r + 1) * 128 + i]);
        float got = decodeDL16(codes[kOut / 2 + r * 128 + i]);
        EXPECT_EQ(got, std::max(x, 0.0f)) << r << ", " << i;
      }
  }
}

/// Distance in codes, the sign apart.
int64_t codesApart(uint16_t a, uint16_t b) {
  auto order = [](uint16_t code) {
    return code & 0x8000 ? -int64_t(code & 0x7fff) : int64_t(code);
  };
  return std::abs(order(a) - order(b));
}

TEST_F(FastPathTest, OneOperandOperationsOnEveryCode) {
  struct Exact {
    const char *op;
    std::function<double(double)> fn;
    std::vector<sdsc::Constant> constants = {};
  };
  const std::vector<Exact> cases = {
      {"exp", [](double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"gelufwd",
       [](double x) {
         return std::isinf(x) ? std::max(x, 0.0) : 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
       }},
      {"silu", [](double x) { return x == -INFINITY ? 0 : x / (1 + std::exp(-x)); }},
      {"softplus",
       [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); },
       {constant("softplusBeta", 1), constant("softplusThresh", 20)}},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"reciprocal", [](double x) { return 1 / x; }},
      {"neg", [](double x) { return -x; }},
      {"abs", [](double x) { return std::fabs(x); }}};
  std::vector<sdsc::Dim> dims = {dim("mb", 64, 8), dim("x", 1), dim("out", 1024)};
  Placed in{{"mb", "x", "out"}, "out", {1, 1, 1}}, out = in;
  out.offset = 1 << 17;
  for (const Exact &exact : cases) {
    auto *codes = reinterpret_cast<uint16_t *>(fast.data);
    for (int64_t i = 0; i < 65536; ++i)
      codes[i] = static_cast<uint16_t>(i);
    auto error = execute(fast, make(fast, exact.op, dims, {in, out}, false, exact.constants));
    ASSERT_FALSE(error) << error->message;
    const uint16_t *results = codes + 65536;
    for (int64_t i = 0; i < 65536; ++i) {
      uint16_t expected = encodeDL16(exact.fn(decodeDL16(static_cast<uint16_t>(i))));
      ASSERT_LE(codesApart(results[i], expected), 1)
          << exact.op << " of " << decodeDL16(static_cast<uint16_t>(i));
    }
  }
}

/// Every code, and what lies at and beside the middle between two.
TEST_F(FastPathTest, ConversionsAreThoseOfTheFormat) {
  std::vector<sdsc::Dim> dims = {dim("mb", 64, 8), dim("x", 1), dim("out", 1024)};
  Placed narrow{{"mb", "x", "out"}, "out", {1, 1, 1}}, wide = narrow;
  wide.format = k32;
  wide.offset = 1 << 18;
  auto *codes = reinterpret_cast<uint16_t *>(fast.data);
  auto *values = reinterpret_cast<float *>(fast.data + wide.offset);
  for (int64_t i = 0; i < 65536; ++i)
    codes[i] = static_cast<uint16_t>(i);
  // Both lie with the rows of a stick side by side, so that elements move in memory.
  auto error = execute(fast, make(fast, "dl16tofp32", dims, {narrow, wide}, false, {}));
  ASSERT_FALSE(error) << error->message;
  auto place = [](int64_t row, int64_t lane, int64_t perStick) {
    return (lane / perStick * 64 + row) * perStick + lane % perStick;
  };
  for (int64_t row = 0; row < 64; ++row)
    for (int64_t lane = 0; lane < 1024; ++lane)
      ASSERT_EQ(std::bit_cast<uint32_t>(values[place(row, lane, 32)]),
                std::bit_cast<uint32_t>(decodeDL16(codes[place(row, lane, 64)])));
  for (uint32_t beside : {0u, 0x1fffu, 0x2000u, 0x2001u, 0x3fffu}) {
    for (int64_t i = 0; i < 65536; ++i) // all exponents, signs and fractions
      values[i] = std::bit_cast<float>((uint32_t(i & 0x8000) << 16) + (uint32_t(i & 0x7fff) << 14) +
                                       0x30000000u + beside);
    std::vector<float> before(values, values + 65536);
    error = execute(fast, make(fast, "fp32todl16", dims, {wide, narrow}, false, {}));
    ASSERT_FALSE(error) << error->message;
    for (int64_t row = 0; row < 64; ++row)
      for (int64_t lane = 0; lane < 1024; ++lane)
        ASSERT_EQ(codes[place(row, lane, 64)],
                  encodeDL16Saturating(double(before[place(row, lane, 32)])))
            << before[place(row, lane, 32)];
  }
}

} // namespace
