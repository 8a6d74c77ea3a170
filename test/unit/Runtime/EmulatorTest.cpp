//===- EmulatorTest.cpp - Kernels, combination and checked mode -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every kernel against its formula in double precision, rounded once; reductions
// and contractions split over cores; each kind of report.
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// An emulator with buffers that are filled and read stick by stick.
class EmulatorTest : public testing::Test {
protected:
  explicit EmulatorTest(bool checked = true) { start(checked, 2, "spyre"); }
  void start(bool checked, unsigned threads, const char *device, uint64_t seed = 0) {
    EmulatorOptions options;
    options.checked = checked;
    options.numThreads = threads;
    options.seed = seed;
    emulator = std::make_unique<Emulator>(*Device::lookup(device), options);
  }
  int64_t allocate(int64_t sticks) {
    auto address = emulator->getMemory().allocate(sticks * 128, "buffer");
    return std::get<int64_t>(address);
  }
  uint8_t *at(int64_t address) {
    int64_t begin = 0;
    Block *block = emulator->getMemory().find(address, begin);
    return block->getData() + (address - begin);
  }
  void markWritten(int64_t address, int64_t sticks) {
    int64_t begin = 0;
    Block *block = emulator->getMemory().find(address, begin);
    for (int64_t s = 0; block->isShadowed() && s < sticks; ++s)
      block->getShadow((address - begin) / 128 + s).written.set();
  }
  /// A [rows, 64] DL16 buffer.
  int64_t makeBuffer(int64_t rows, const std::function<double(int64_t, int64_t)> &value) {
    int64_t address = allocate(rows);
    auto *codes = reinterpret_cast<uint16_t *>(at(address));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t l = 0; l < 64; ++l)
        codes[r * 64 + l] = encodeDL16(value(r, l));
    markWritten(address, rows);
    return address;
  }
  double get(int64_t address, int64_t row, int64_t lane) {
    return decodeDL16(reinterpret_cast<uint16_t *>(at(address))[row * 64 + lane]);
  }
  std::optional<Error> execute(const sdsc::Descriptor &d) {
    return emulator->execute(d, "op", [](int64_t) { return std::nullopt; });
  }
  TestTensor rows(int64_t address, int64_t rowsPerCore, std::vector<int64_t> scale = {1, 1}) {
    return {{"mb", "out"},
            "out",
            std::move(scale),
            MemorySpace::HBM,
            [=](const std::vector<int64_t> &slices) {
              return address + slices[0] * rowsPerCore * 128;
            }};
  }
  std::vector<ReportKind> kinds() {
    std::vector<ReportKind> list;
    for (const Report &report : emulator->getReports())
      list.push_back(report.kind);
    return list;
  }

  std::unique_ptr<Emulator> emulator;
};

/// Magnitudes over several binades, both signs.
double sample(int64_t r, int64_t l) {
  double value = std::ldexp(1.0 + double((r * 37 + l * 11) % 64) / 64, int((r + l) % 7) - 4);
  return (r + 3 * l) % 2 ? -value : value;
}

struct Formula {
  const char *op;
  int numInputs;
  std::function<double(double, double, double)> fn;
  bool positive = false;
  std::vector<sdsc::Constant> constants = {};
};

TEST_F(EmulatorTest, PointwiseKernelsComputeTheirFormula) {
  const std::vector<Formula> formulas = {
      {"abs", 1, [](double x, double, double) { return std::fabs(x); }},
      {"exp", 1, [](double x, double, double) { return std::exp(x); }},
      {"floor", 1, [](double x, double, double) { return std::floor(x); }},
      {"log", 1, [](double x, double, double) { return std::log(x); }, true},
      {"neg", 1, [](double x, double, double) { return -x; }},
      {"reciprocal", 1, [](double x, double, double) { return 1 / x; }},
      {"relufwd", 1, [](double x, double, double) { return std::max(x, 0.0); }},
      {"rsqrt", 1, [](double x, double, double) { return 1 / std::sqrt(x); }, true},
      {"sqrt", 1, [](double x, double, double) { return std::sqrt(x); }, true},
      {"sigmoid", 1, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", 1, [](double x, double, double) { return std::tanh(x); }},
      {"gelufwd", 1,
       [](double x, double, double) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"silu", 1, [](double x, double, double) { return x / (1 + std::exp(-x)); }},
      {"clip",
       1,
       [](double x, double, double) { return std::min(std::max(x, -0.5), 1.5); },
       false,
       {constant("clipMin", -0.5), constant("clipMax", 1.5)}},
      {"softplus",
       1,
       [](double x, double, double) { return 2 * x > 4 ? 2 * x : std::log1p(std::exp(2 * x)); },
       false,
       {constant("softplusBeta", 2), constant("softplusThresh", 4)}},
      {"identity", 1, [](double x, double, double) { return x; }},
      {"add", 2, [](double x, double y, double) { return x + y; }},
      {"sub", 2, [](double x, double y, double) { return x - y; }},
      {"mul", 2, [](double x, double y, double) { return x * y; }},
      {"realdiv", 2, [](double x, double y, double) { return x / y; }},
      {"maximum", 2, [](double x, double y, double) { return std::max(x, y); }},
      {"minimum", 2, [](double x, double y, double) { return std::min(x, y); }},
      {"equal", 2, [](double x, double y, double) { return double(x == y); }},
      {"notequal", 2, [](double x, double y, double) { return double(x != y); }},
      {"greaterequal", 2, [](double x, double y, double) { return double(x >= y); }},
      {"greaterthan", 2, [](double x, double y, double) { return double(x > y); }},
      {"lesserequal", 2, [](double x, double y, double) { return double(x <= y); }},
      {"lesserthan", 2, [](double x, double y, double) { return double(x < y); }},
      {"where3", 3, [](double x, double y, double z) { return x != 0 ? y : z; }},
  };
  for (const Formula &formula : formulas) {
    auto x = [&](int64_t r, int64_t l) {
      double value = l % 9 == 0 ? 0.25 : sample(r, l);
      return formula.positive ? std::fabs(value) : value;
    };
    auto y = [](int64_t r, int64_t l) { return l % 9 == 0 ? 0.25 : sample(r + 5, l + 1); };
    auto z = [](int64_t r, int64_t l) { return sample(r + 2, l + 7); };
    int64_t a = makeBuffer(4, x), b = makeBuffer(4, y), c = makeBuffer(4, z), out = allocate(4);
    std::vector<TestTensor> tensors = {rows(a, 2)};
    if (formula.numInputs > 1)
      tensors.push_back(rows(b, 2));
    if (formula.numInputs > 2)
      tensors.push_back(rows(c, 2));
    tensors.push_back(rows(out, 2));
    auto error = execute(makeDescriptor(formula.op, {dim("mb", 4, 2), dim("out", 64)}, tensors,
                                        false, formula.constants));
    ASSERT_FALSE(error) << error->message;
    for (int64_t r = 0; r < 4; ++r)
      for (int64_t l = 0; l < 64; ++l) {
        double expected = roundToDL16(formula.fn(x(r, l), y(r, l), z(r, l)));
        // A float result next to a tie may round to the other side.
        EXPECT_NEAR(get(out, r, l), expected, std::fabs(expected) * 0x1p-9)
            << formula.op << " at " << r << ", " << l;
      }
  }
  EXPECT_TRUE(emulator->getReports().empty());
}

TEST_F(EmulatorTest, ExpOfNegativeInfinityIsZeroAndDivisionByZeroInfinity) {
  int64_t a = makeBuffer(1, [](int64_t, int64_t) { return -kInf; });
  int64_t zero = makeBuffer(1, [](int64_t, int64_t) { return 0.0; });
  int64_t out = allocate(1);
  ASSERT_FALSE(
      execute(makeDescriptor("exp", {dim("mb", 1), dim("out", 64)}, {rows(a, 1), rows(out, 1)})));
  EXPECT_EQ(get(out, 0, 3), 0.0);
  ASSERT_FALSE(execute(makeDescriptor("realdiv", {dim("mb", 1), dim("out", 64)},
                                      {rows(a, 1), rows(zero, 1), rows(out, 1)})));
  EXPECT_EQ(get(out, 0, 3), -kInf);
}

/// sum over 128 columns, split over 2 cores: combined before the one rounding.
TEST_F(EmulatorTest, SplitReductionIsCombinedBeforeRounding) {
  // 2^9 + 1/2 + 1/2 + ...: each half alone would round its part away.
  int64_t x = makeBuffer(2, [](int64_t stick, int64_t lane) {
    return lane == 0 ? (stick == 0 ? 1024.0 : 1.0) : lane == 1 ? 0.5 : 0.0;
  });
  int64_t out = allocate(1);
  TestTensor in = {
      {"mb", "out"}, "out", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &s) {
        return x + s[1] * 128;
      }};
  TestTensor result = {
      {"mb", "out"}, "out", {1, -2}, MemorySpace::HBM, [=](const std::vector<int64_t> &) {
        return out;
      }};
  auto error =
      execute(makeDescriptor("sum", {dim("mb", 1), dim("out", 128, 2)}, {in, result}, true));
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(get(out, 0, 0), 1026.0);
  EXPECT_TRUE(emulator->getReports().empty()) << emulator->getReports()[0].toString();
}

TEST_F(EmulatorTest, MaskReplacesTheTailOfTheFirstInput) {
  int64_t x = makeBuffer(2, [](int64_t, int64_t lane) { return lane >= 40 ? 100.0 : lane * 0.5; });
  int64_t out = allocate(2);
  auto d =
      makeDescriptor("max", {dim("mb", 2), dim("out", 64)}, {rows(x, 2), rows(out, 2, {1, -2})},
                     true, {constant("samv-maskvalue", -kInf)});
  d.masks.push_back({"out", 40, 24});
  d.maskConstant = 0;
  auto error = execute(d);
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(get(out, 0, 0), 19.5);
  EXPECT_EQ(get(out, 1, 0), 19.5);
}

TEST_F(EmulatorTest, MatmulSplitOverKMatchesALoop) {
  constexpr int64_t kM = 5, kK = 128, kN = 64;
  // x [5,128]: two stick planes of 5 rows; y [128,64]; out [5,64].
  auto x = [](int64_t m, int64_t k) { return double((m * 7 + k * 3) % 17) / 8 - 1; };
  auto y = [](int64_t k, int64_t n) { return double((k * 5 + n) % 13) / 8 - 0.75; };
  int64_t a = makeBuffer(2 * kM, [&](int64_t r, int64_t l) { return x(r % kM, r / kM * 64 + l); });
  int64_t b = makeBuffer(kK, y), out = allocate(kM);
  TestTensor tx = {
      {"mb", "in"}, "in", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &s) {
        return a + s[2] * kM * 128;
      }};
  TestTensor ty = {
      {"in", "out"}, "out", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &s) {
        return b + s[2] * 64 * 128;
      }};
  TestTensor to = {
      {"mb", "out"}, "out", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &) {
        return out;
      }};
  auto error = execute(makeDescriptor(
      "batchmatmul", {dim("mb", kM), dim("out", kN), dim("in", kK, 2)}, {tx, ty, to}));
  ASSERT_FALSE(error) << error->message;
  for (int64_t m = 0; m < kM; ++m)
    for (int64_t n = 0; n < kN; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < kK; ++k)
        sum += x(m, k) * y(k, n);
      EXPECT_EQ(get(out, m, n), roundToDL16(sum)) << m << ", " << n;
    }
  // Both operands once, the result once.
  EXPECT_EQ(emulator->getCounters().readInBytes, (2 * kM + kK) * 128);
  EXPECT_EQ(emulator->getCounters().writtenInBytes, kM * 128);
}

TEST_F(EmulatorTest, TopKTakesTheFirstOfEqualValues) {
  // x [6, 64], k = 2 along the rows.
  const double values[6] = {1, 7, 3, 7, 2, 5};
  int64_t x = makeBuffer(6, [&](int64_t r, int64_t) { return values[r]; });
  int64_t value = allocate(2), where = allocate(2);
  for (auto [op, out] : {std::pair("topkvalue", value), std::pair("topkindex", where)}) {
    TestTensor in = {
        {"out", "x"}, "x", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &) {
          return x;
        }};
    TestTensor result = {
        {"mb", "x"}, "x", {1, 1}, MemorySpace::HBM, [out = out](const std::vector<int64_t> &) {
          return out;
        }};
    auto error =
        execute(makeDescriptor(op, {dim("mb", 2), dim("x", 64), dim("out", 6)}, {in, result}));
    ASSERT_FALSE(error) << error->message;
  }
  EXPECT_EQ(get(value, 0, 9), 7.0);
  EXPECT_EQ(get(value, 1, 9), 7.0);
  EXPECT_EQ(get(where, 0, 9), 1.0);
  EXPECT_EQ(get(where, 1, 9), 3.0);
}

/// [50, 70] with the other dim in the stick: the memory of either operand lacks what
/// the descriptor pads for the other one's sticks.
TEST_F(EmulatorTest, PaddedRestickifyStaysInItsOperands) {
  auto value = [](int64_t r, int64_t c) { return c < 70 ? double(r * 3 + c) : 0.0; };
  int64_t x =
      makeBuffer(2 * 50, [&](int64_t i, int64_t l) { return value(i % 50, i / 50 * 64 + l); });
  int64_t out = allocate(70);
  TestTensor in = {
      {"mb", "out"}, "out", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &) {
        return x;
      }};
  TestTensor result = {
      {"out", "mb"}, "mb", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &) {
        return out;
      }};
  auto d = makeDescriptor("ReStickifyOpHBM", {dim("mb", 64), dim("out", 128)}, {in, result});
  d.tensors[0].backGap = {{"mb", {14}}};
  d.tensors[1].backGap = {{"out", {58}}};
  auto error = execute(d);
  ASSERT_FALSE(error) << error->message;
  EXPECT_TRUE(emulator->getReports().empty()) << emulator->getReports()[0].toString();
  for (int64_t c = 0; c < 70; ++c)
    for (int64_t r = 0; r < 50; ++r)
      EXPECT_EQ(get(out, c, r), value(r, c)) << r << ", " << c;
}

/// Rows by number: the table's rows are contiguous, the result's are not.
TEST_F(EmulatorTest, GatherReadsRowsByNumberAndChecksTheNumbers) {
  int64_t table = makeBuffer(5 * 2, [](int64_t i, int64_t l) { return i * 100.0 + l; });
  int64_t numbers = makeBuffer(1, [](int64_t, int64_t) { return 0.0; });
  auto *index = reinterpret_cast<int32_t *>(at(numbers));
  const int32_t rowsWanted[4] = {4, 0, 4, 2};
  constexpr int64_t kRows = 32;
  for (int64_t r = 0; r < kRows; ++r)
    index[r] = rowsWanted[r % 4];
  int64_t out = allocate(2 * kRows);
  TestTensor where = {{"mb"},
                      "mb",
                      {1},
                      MemorySpace::HBM,
                      [=](const std::vector<int64_t> &) { return numbers; },
                      DataFormat::SENUINT32};
  TestTensor values = {
      {"out", "mb"}, "out", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &) {
        return table;
      }};
  TestTensor result = {
      {"mb", "out"}, "out", {1, 1}, MemorySpace::HBM, [=](const std::vector<int64_t> &) {
        return out;
      }};
  auto d = makeDescriptor("identity", {dim("mb", kRows), dim("out", 128)}, {where, values, result});
  makeGather(d);
  auto error = execute(d);
  ASSERT_FALSE(error) << error->message;
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c : {0, 1})
      EXPECT_EQ(get(out, c * kRows + r, 5), roundToDL16((rowsWanted[r % 4] * 2 + c) * 100.0 + 5));
  EXPECT_TRUE(emulator->getReports().empty());
  index[1] = 5;
  ASSERT_FALSE(execute(d));
  EXPECT_EQ(kinds()[0], ReportKind::OutOfBounds);
  EXPECT_NE(emulator->getReports()[0].message.find("Tensor1 has no row 5"), std::string::npos);
}

TEST_F(EmulatorTest, LayerNormStatistics) {
  int64_t x = makeBuffer(2, [](int64_t r, int64_t l) { return l % 2 ? 1.0 + r : -1.0; });
  int64_t stats = allocate(2), scale = allocate(2);
  auto error = execute(
      makeDescriptor("exx2", {dim("mb", 2), dim("out", 64)}, {rows(x, 2), rows(stats, 2, {1, -2})},
                     true, {constant("exx2scale", 1.0 / 64), constant("useZeroMean", 0)}));
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(get(stats, 0, 0), 0.0);
  EXPECT_EQ(get(stats, 0, 1), 1.0);
  EXPECT_EQ(get(stats, 1, 0), 0.5);
  EXPECT_EQ(get(stats, 1, 1), 2.5);
  error = execute(makeDescriptor("layernormscale", {dim("mb", 2), dim("out", 64)},
                                 {rows(stats, 2, {1, -2}), rows(scale, 2)}, false,
                                 {constant("eps", 0)}));
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(get(scale, 1, 0), roundToDL16(1 / std::sqrt(2.25)));
  EXPECT_TRUE(emulator->getReports().empty()) << emulator->getReports()[0].toString();
}

//===----------------------------------------------------------------------===//
// Checked mode
//===----------------------------------------------------------------------===//

TEST_F(EmulatorTest, ReportsReadsOfUnwrittenMemory) {
  int64_t x = allocate(4), out = allocate(4);
  ASSERT_FALSE(execute(
      makeDescriptor("abs", {dim("mb", 4, 2), dim("out", 64)}, {rows(x, 2), rows(out, 2)})));
  ASSERT_EQ(kinds(), (std::vector{ReportKind::NeverWritten, ReportKind::NeverWritten}));
  EXPECT_EQ(emulator->getReports()[1].core, 1);
  EXPECT_EQ(emulator->getReports()[1].address, x + 256);
  EXPECT_EQ(emulator->getReports()[1].toString(),
            "op, core 1, address " + std::to_string(x + 256) +
                ": Tensor0 reads memory that nobody wrote [never-written]");
}

TEST_F(EmulatorTest, ReportsAccessBeyondAnAllocation) {
  int64_t x = makeBuffer(3, sample), out = allocate(4);
  ASSERT_FALSE(
      execute(makeDescriptor("abs", {dim("mb", 4), dim("out", 64)}, {rows(x, 4), rows(out, 4)})));
  ASSERT_EQ(kinds(), std::vector{ReportKind::OutOfBounds});
  EXPECT_EQ(emulator->getReports()[0].address, x + 3 * 128);
}

TEST_F(EmulatorTest, OutsideCheckedModeABadAddressIsAnError) {
  start(false, 1, "spyre");
  int64_t x = makeBuffer(3, sample), out = allocate(4);
  auto error =
      execute(makeDescriptor("abs", {dim("mb", 4), dim("out", 64)}, {rows(x, 4), rows(out, 4)}));
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("over the end of buffer"), std::string::npos) << error->message;
}

TEST_F(EmulatorTest, ReportsUnalignedStart) {
  int64_t x = makeBuffer(3, sample), out = allocate(2);
  // A symbol: the descriptor cannot know what is bound to it.
  auto d = makeDescriptor("abs", {dim("mb", 2), dim("out", 64)}, {rows(-1, 0), rows(out, 2)});
  d.tensors[0].symbolicAddress = true;
  ASSERT_FALSE(emulator->execute(d, "op", [=](int64_t) { return std::optional(x + 64); }));
  EXPECT_EQ(kinds(), std::vector{ReportKind::Unaligned});
  auto error = emulator->execute(d, "op", [](int64_t) { return std::nullopt; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "op: Tensor0: nothing is bound to symbol -1");
}

TEST_F(EmulatorTest, ReportsTwoCoresThatWriteOneLocation) {
  int64_t x = makeBuffer(4, sample), out = allocate(4);
  // The slices of the result are one row apart and two rows long.
  ASSERT_FALSE(execute(
      makeDescriptor("abs", {dim("mb", 4, 2), dim("out", 64)}, {rows(x, 2), rows(out, 1)})));
  ASSERT_EQ(kinds(), (std::vector{ReportKind::WrongSlice, ReportKind::Conflict}));
  EXPECT_EQ(emulator->getReports()[1].core, 1);
  EXPECT_EQ(emulator->getReports()[1].address, out + 128);
}

TEST_F(EmulatorTest, ScratchpadsBelongToTheirCores) {
  int64_t x = makeBuffer(4, sample), out = allocate(4);
  auto lx = [](int64_t address) {
    return TestTensor{
        {"mb", "out"}, "out", {1, 1}, MemorySpace::LX, [=](const std::vector<int64_t> &) {
          return address;
        }};
  };
  // Core 0 alone fills its scratchpad; then two cores read theirs.
  ASSERT_FALSE(
      execute(makeDescriptor("identity", {dim("mb", 2), dim("out", 64)}, {rows(x, 2), lx(256)})));
  ASSERT_FALSE(execute(
      makeDescriptor("identity", {dim("mb", 4, 2), dim("out", 64)}, {lx(256), rows(out, 2)})));
  ASSERT_EQ(kinds(), std::vector{ReportKind::OtherCoresLX});
  EXPECT_EQ(emulator->getReports()[0].core, 1);
  EXPECT_EQ(emulator->getReports()[0].address, 256);
  EXPECT_EQ(get(out, 1, 5), roundToDL16(sample(1, 5)));
  EXPECT_EQ(emulator->getCounters().peakLXInBytes, 512);
  // A new launch finds nothing there.
  emulator->beginLaunch();
  ASSERT_FALSE(
      execute(makeDescriptor("identity", {dim("mb", 2), dim("out", 64)}, {lx(256), rows(out, 2)})));
  EXPECT_EQ(kinds().back(), ReportKind::NeverWritten);
}

TEST_F(EmulatorTest, ReportsScratchpadOverflow) {
  int64_t x = makeBuffer(2, sample);
  int64_t end = emulator->getDevice().getLXInBytes();
  TestTensor lx = {
      {"mb", "out"}, "out", {1, 1}, MemorySpace::LX, [=](const std::vector<int64_t> &) {
        return end - 128;
      }};
  ASSERT_FALSE(
      execute(makeDescriptor("identity", {dim("mb", 2), dim("out", 64)}, {rows(x, 2), lx})));
  EXPECT_EQ(kinds(), std::vector{ReportKind::LXOverflow});
}

TEST_F(EmulatorTest, ReportsASpanThatOneCoreCannotAddress) {
  start(true, 1, "mock4");
  int64_t sticks = emulator->getDevice().getSpanLimitInBytes() / 128 + 1;
  int64_t x = allocate(sticks), out = allocate(sticks);
  ASSERT_FALSE(execute(makeDescriptor("abs", {dim("mb", sticks), dim("out", 64)},
                                      {rows(x, sticks), rows(out, sticks)})));
  EXPECT_EQ(kinds()[0], ReportKind::SpanOverflow);
}

TEST_F(EmulatorTest, RefusesByName) {
  int64_t x = makeBuffer(2, sample), out = allocate(2);
  auto error =
      execute(makeDescriptor("mish", {dim("mb", 2), dim("out", 64)}, {rows(x, 2), rows(out, 2)}));
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("'mish' is not specified"), std::string::npos) << error->message;
  error = execute(
      makeDescriptor("frobnicate", {dim("mb", 2), dim("out", 64)}, {rows(x, 2), rows(out, 2)}));
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("frobnicate"), std::string::npos) << error->message;
}

TEST_F(EmulatorTest, ResultsDoNotDependOnThreadsNorLogicalLanesOnTheSeed) {
  std::vector<double> first;
  for (auto [threads, seed] : {std::pair(1u, 0), std::pair(2u, 1), std::pair(7u, 2)}) {
    start(true, threads, "spyre", seed);
    int64_t x = makeBuffer(32, sample), out = allocate(32);
    ASSERT_FALSE(execute(makeDescriptor("sum", {dim("mb", 32, 16), dim("out", 64)},
                                        {rows(x, 2), rows(out, 2, {1, -2})}, true)));
    std::vector<double> values;
    for (int64_t r = 0; r < 32; ++r)
      values.push_back(get(out, r, 0));
    if (first.empty())
      first = values;
    EXPECT_EQ(values, first);
  }
}

TEST(DeviceMemoryTest, AllocationsAreAlignedBoundedAndApart) {
  DeviceMemory memory(1 << 20, 128, /*checked=*/true);
  int64_t a = std::get<int64_t>(memory.allocate(100, "a"));
  int64_t b = std::get<int64_t>(memory.allocate(1, "b"));
  EXPECT_EQ(a % 128, 0);
  EXPECT_GE(b, a + 256);
  int64_t begin = 0;
  EXPECT_EQ(memory.find(a + 128, begin), nullptr);
  ASSERT_NE(memory.find(a + 127, begin), nullptr);
  EXPECT_EQ(begin, a);
  EXPECT_EQ(memory.getUsedInBytes(), 256);
  auto tooLarge = memory.allocate(int64_t(1) << 30, "in0");
  ASSERT_TRUE(std::holds_alternative<Error>(tooLarge));
  EXPECT_EQ(std::get<Error>(tooLarge).message,
            "in0: 1073741824 bytes are more than the device memory of 1048576 bytes");
  EXPECT_TRUE(std::holds_alternative<Error>(memory.allocateAt(a, 128, "c")));
  EXPECT_TRUE(memory.free(a));
  EXPECT_FALSE(memory.free(a));
  EXPECT_EQ(std::get<int64_t>(memory.allocate(128, "c")), a);
}

} // namespace
