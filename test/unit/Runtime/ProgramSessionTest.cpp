//===- ProgramSessionTest.cpp - Programs that run many times ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x + y of two arguments, or of an argument and a constant: what is bound or constant is
// copied in once, everything else on each run; what is wrong is refused by kind.
//
//===----------------------------------------------------------------------===//

#include "FaultBases.h"

#include "spyre/Runtime/ProgramSession.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

HostTensor filled(float value) {
  HostTensor tensor = HostTensor::create(HostType::Float16, {32, 128});
  // Powers of two from 0.5 to 2: the exponent is all there is.
  uint16_t code = value == 0.5f ? 0x3800 : value == 1.0f ? 0x3c00 : 0x4000;
  for (size_t i = 0; i < tensor.data.size(); i += 2)
    std::memcpy(tensor.data.data() + i, &code, 2);
  return tensor;
}

uint16_t first(const HostTensor &tensor) {
  uint16_t code;
  std::memcpy(&code, tensor.data.data(), 2);
  return code;
}

class SessionTest : public testing::Test {
protected:
  SessionTest() : SessionTest(EmulatorOptions{.checked = false}) {}
  explicit SessionTest(EmulatorOptions options) : runtime(*Device::lookup("spyre"), options) {
    FaultProgram made = makePointwise();
    int64_t size = std::get<int64_t>(getDeviceSizeInBytes(made.bundle.spec.arguments[0]));
    loaded.directory = "memory";
    loaded.bundles.emplace("add", std::move(made.bundle));
    Program &program = loaded.program;
    for (const char *name : {"in0", "in1"})
      program.arguments.push_back({name, HostType::Float16, {32, 128}});
    program.results.push_back({"out0", HostType::Float16, {32, 128}});
    for (const char *name : {"x", "y", "sum"})
      program.buffers.push_back({name, size});
    program.steps = {
        {CopyIn{"in0", "x"}}, {CopyIn{"in1", "y"}}, {LaunchBundle{"add", {"x", "y", "sum"}}},
        {Free{"x"}},          {Free{"y"}},          {CopyOut{"sum", "out0"}},
        {Free{"sum"}}};
  }

  std::unique_ptr<ProgramSession> create(bool keepBuffers = true, SharedArrays *shared = nullptr,
                                         KeptBuffers *kept = nullptr) {
    auto made = ProgramSession::create(
        runtime, loaded, {.keepBuffers = keepBuffers, .shared = shared, .kept = kept});
    if (auto *error = std::get_if<RunError>(&made)) {
      ADD_FAILURE() << error->message;
      return nullptr;
    }
    return std::get<std::unique_ptr<ProgramSession>>(std::move(made));
  }
  /// The first element of the sum.
  uint16_t run(ProgramSession &session, const HostTensor *x, const HostTensor *y) {
    std::vector<HostTensor> results;
    auto error = session.run({x, y}, results);
    EXPECT_FALSE(error) << error->message;
    return error ? 0 : first(results.at(0));
  }
  int64_t used() { return runtime.getEmulator().getMemory().getUsedInBytes(); }

  Runtime runtime;
  LoadedProgram loaded;
  const HostTensor half = filled(0.5f), one = filled(1), two = filled(2);
};

constexpr uint16_t kOne = 0x3c00, kOneAndAHalf = 0x3e00, kTwo = 0x4000, kThree = 0x4200;

TEST_F(SessionTest, RunsAgainWithOtherInputs) {
  for (bool keep : {false, true}) {
    auto session = create(keep);
    EXPECT_EQ(run(*session, &one, &two), kThree);
    EXPECT_EQ(run(*session, &one, &one), kTwo);
    EXPECT_EQ(run(*session, &half, &half), kOne);
    EXPECT_EQ(used() > 0, keep);
    session.reset();
    EXPECT_EQ(used(), 0);
  }
}

TEST_F(SessionTest, AProgramsRatesAreTheClocksWhileItRuns) {
  const Emulator &emulator = runtime.getEmulator();
  const DeviceRates before = emulator.getDevice().getRates();
  auto time = [&] {
    double kernels = emulator.getCounters().modelledInNs;
    double copies = emulator.getCounters().transferInNs;
    auto session = create();
    if (session)
      EXPECT_EQ(run(*session, &one, &two), kThree);
    return std::pair(emulator.getCounters().modelledInNs - kernels,
                     emulator.getCounters().transferInNs - copies);
  };
  auto [kernels, copies] = time();
  // Device memory that is slower than the link to the host, too.
  for (const char *name : {"memory_bytes_per_ns", "broadcast_bytes_per_ns"})
    loaded.program.rates[name] = 1.5;
  auto [slowKernels, slowCopies] = time();
  EXPECT_GT(slowKernels, 10 * kernels);
  EXPECT_GT(slowCopies, 10 * copies);
  EXPECT_EQ(emulator.getDevice().getRates(), before);
  loaded.program.rates.clear();
  EXPECT_NEAR(time().second, copies, 1e-6);
  loaded.program.rates["memory_bytes_per_ns"] = 1000;
  auto made = ProgramSession::create(runtime, loaded);
  ASSERT_TRUE(std::holds_alternative<RunError>(made));
  EXPECT_EQ(std::get<RunError>(made).message,
            "memory/program.json: rates: memory_bytes_per_ns exceeds nominal_memory_bytes_per_ns");
}

TEST_F(SessionTest, BoundArgumentsAreCopiedOnce) {
  auto session = create();
  ASSERT_FALSE(session->bind(1, two));
  EXPECT_TRUE(session->isBound(1));
  EXPECT_EQ(run(*session, &one, nullptr), kThree);
  double before = runtime.getEmulator().getCounters().transferInNs;
  EXPECT_EQ(run(*session, &one, nullptr), kThree);
  double bound = runtime.getEmulator().getCounters().transferInNs - before;
  EXPECT_EQ(run(*create(), &one, &two), kThree);
  EXPECT_LT(bound, runtime.getEmulator().getCounters().transferInNs - before - bound);
  // Bound again, it is another.
  ASSERT_FALSE(session->bind(1, half));
  EXPECT_EQ(run(*session, &one, nullptr), kOneAndAHalf);
}

TEST_F(SessionTest, SharedArgumentsAreThereOnce) {
  SharedArrays shared(runtime);
  auto a = create(true, &shared), b = create(true, &shared);
  const ArrayKey key = ArrayKey::ofNumber(1);
  ASSERT_FALSE(a->bind(1, two, key));
  int64_t withOne = used();
  double before = runtime.getEmulator().getCounters().transferInNs;
  ASSERT_FALSE(b->bind(1, two, key));
  EXPECT_EQ(used(), withOne);
  EXPECT_EQ(runtime.getEmulator().getCounters().transferInNs, before);
  ASSERT_EQ(shared.describe().size(), 1u);
  EXPECT_EQ(shared.describe()[0].users, 2);
  EXPECT_EQ(run(*a, &one, nullptr), kThree);
  EXPECT_EQ(run(*b, &one, nullptr), kThree);
  // A change that one of them tells of is there for both, and copied in once.
  ASSERT_FALSE(a->bind(1, half, key));
  before = runtime.getEmulator().getCounters().transferInNs;
  ASSERT_FALSE(b->bind(1, half, key));
  EXPECT_EQ(runtime.getEmulator().getCounters().transferInNs, before);
  EXPECT_EQ(run(*b, &one, nullptr), kOneAndAHalf);
  // Another array, or one of nobody else, is not the shared one.
  ASSERT_FALSE(b->bind(1, two, ArrayKey::ofNumber(2)));
  EXPECT_EQ(shared.describe().size(), 2u);
  EXPECT_EQ(run(*a, &one, nullptr), kOneAndAHalf);
  ASSERT_FALSE(b->bind(1, one));
  EXPECT_EQ(shared.describe().size(), 1u);
  EXPECT_EQ(run(*b, &one, nullptr), kTwo);
  EXPECT_EQ(run(*a, &one, nullptr), kOneAndAHalf);
  // The last user takes it along.
  a.reset();
  EXPECT_TRUE(shared.describe().empty());
  b.reset();
  EXPECT_EQ(used(), 0);
}

TEST_F(SessionTest, IdleSessionsKeepALimitedAmount) {
  int64_t each = 0;
  {
    auto alone = create();
    EXPECT_EQ(run(*alone, &one, &two), kThree);
    each = used();
  }
  KeptBuffers kept(2 * each);
  std::vector<std::unique_ptr<ProgramSession>> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(create(true, nullptr, &kept));
    EXPECT_EQ(run(*sessions.back(), &one, &two), kThree);
    EXPECT_LE(used(), 2 * each);
  }
  for (auto &session : sessions)
    EXPECT_EQ(run(*session, &one, &half), kOneAndAHalf);
  EXPECT_LE(used(), 2 * each);
  sessions.clear();
  EXPECT_EQ(used(), 0);
}

TEST_F(SessionTest, SharedResultsOfArgumentsAreKeptOnce) {
  loaded.program.results.push_back({"in1", HostType::Float16, {32, 128}});
  SharedArrays shared(runtime);
  auto a = create(true, &shared), b = create(true, &shared);
  const ArrayKey key = ArrayKey::ofNumber(1);
  for (const HostTensor *value : {&two, &half}) {
    ASSERT_FALSE(a->bind(1, *value, key));
    ASSERT_FALSE(b->bind(1, *value, key));
    for (ProgramSession *session : {a.get(), b.get()}) {
      std::vector<HostTensor> results;
      ASSERT_FALSE(session->run({&one, nullptr}, results));
      EXPECT_EQ(first(results.at(1)), first(*value));
    }
  }
}

TEST(ContentHashTest, DependsOnEachByteAndItsPlace) {
  HostTensor tensor = HostTensor::create(HostType::Float16, {41});
  std::vector<ContentHash> seen = {ContentHash::of(tensor)};
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    HostTensor changed = tensor;
    changed.data[i] = 1;
    seen.push_back(ContentHash::of(changed));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST_F(SessionTest, ConstantsStay) {
  loaded.program.arguments.pop_back();
  loaded.program.constants.push_back({{"in1", HostType::Float16, {32, 128}}, "in1.npy"});
  loaded.constants["in1"] = two;
  auto session = create();
  std::vector<HostTensor> results;
  for (int i = 0; i < 2; ++i) {
    ASSERT_FALSE(session->run({&one}, results));
    EXPECT_EQ(first(results.at(0)), kThree);
  }
}

TEST_F(SessionTest, ResultThatIsAnArgumentIsACopy) {
  loaded.program.results.push_back({"in0", HostType::Float16, {32, 128}});
  auto session = create();
  HostTensor x{HostType::Float16, {32, 128}, HostBytes::borrow(one.data.data(), one.data.size())};
  std::vector<HostTensor> results;
  ASSERT_FALSE(session->run({&x, &two}, results));
  EXPECT_EQ(first(results.at(1)), kOne);
  EXPECT_NE(std::as_const(results.at(1)).data.data(), one.data.data());
}

TEST_F(SessionTest, RefusesByKind) {
  auto session = create();
  std::vector<HostTensor> results;
  auto kindOf = [&](const std::vector<const HostTensor *> &inputs) {
    auto error = session->run(inputs, results);
    return error ? std::optional(error->kind) : std::nullopt;
  };
  HostTensor other = HostTensor::create(HostType::Float16, {32, 64}), cut = one;
  cut.data.resize(10);
  EXPECT_EQ(kindOf({&one}), Failure::Arguments);
  EXPECT_EQ(kindOf({&one, nullptr}), Failure::Arguments);
  EXPECT_EQ(kindOf({&one, &other}), Failure::Arguments);
  EXPECT_EQ(kindOf({&one, &cut}), Failure::Arguments);
  EXPECT_EQ(session->bind(0, other)->kind, Failure::Arguments);
  EXPECT_EQ(kindOf({&one, &two}), std::nullopt);
  loaded.program.buffers[0].sizeInBytes = int64_t(1) << 50;
  auto tooLarge = ProgramSession::create(runtime, loaded);
  EXPECT_EQ(std::get<RunError>(tooLarge).kind, Failure::Memory);
}

constexpr uint16_t kNaN = 0x7e00, kNegativeInfinity = 0xfc00, kInfinity = 0x7c00;

HostTensor with(HostTensor tensor, size_t element, uint16_t code) {
  std::memcpy(tensor.data.data() + 2 * element, &code, 2);
  return tensor;
}

TEST_F(SessionTest, FindsNumbersThatTheDeviceCannotTell) {
  auto session = create();
  const HostTensor nan = with(one, 130, kNaN), infinite = with(one, 0, kNegativeInfinity);
  std::vector<HostTensor> results;
  RunNumbers numbers;
  ASSERT_FALSE(session->run({&one, &two}, results, {.stopsAtNaN = true}, &numbers));
  EXPECT_TRUE(numbers.found.empty());
  // A NaN is found, and becomes the infinity that comes out.
  ASSERT_FALSE(session->run({&one, &nan}, results, {}, &numbers));
  ASSERT_EQ(numbers.found.size(), 2u);
  EXPECT_FALSE(numbers.isStopped);
  EXPECT_EQ(numbers.found[0].where, NumberFinding::Argument);
  EXPECT_EQ(numbers.found[0].name, "in1");
  EXPECT_EQ(numbers.found[0].counts.nans, 1);
  EXPECT_EQ(numbers.found[0].counts.firstNaN, 130);
  EXPECT_EQ(numbers.found[1].where, NumberFinding::Result);
  EXPECT_EQ(numbers.found[1].counts.infinities, 1);
  // The run ends there if it is told to; infinities do not end it.
  ASSERT_FALSE(session->run({&nan, &one}, results, {.stopsAtNaN = true}, &numbers));
  EXPECT_TRUE(numbers.isStopped);
  EXPECT_TRUE(results.empty());
  ASSERT_FALSE(session->run({&infinite, &one}, results, {.stopsAtNaN = true}, &numbers));
  EXPECT_FALSE(numbers.isStopped);
  EXPECT_EQ(first(results.at(0)), kNegativeInfinity);
  // And the next run is as ever.
  EXPECT_EQ(run(*session, &one, &two), kThree);
}

TEST_F(SessionTest, KeepsWhatItFoundOfBoundArguments) {
  auto session = create();
  EXPECT_FALSE(session->getBoundNumbers(1));
  const HostTensor nan = with(one, 5, kNaN);
  ASSERT_FALSE(session->bind(1, nan));
  ASSERT_TRUE(session->getBoundNumbers(1));
  EXPECT_EQ(session->getBoundNumbers(1)->counts.firstNaN, 5);
  // Runs do not say it again.
  std::vector<HostTensor> results;
  RunNumbers numbers;
  ASSERT_FALSE(session->run({&one, nullptr}, results, {.stopsAtNaN = true}, &numbers));
  ASSERT_EQ(numbers.found.size(), 1u);
  EXPECT_EQ(numbers.found[0].where, NumberFinding::Result);
  ASSERT_FALSE(session->bind(1, two));
  EXPECT_FALSE(session->getBoundNumbers(1));
}

TEST_F(SessionTest, FindsNumbersOfConstants) {
  loaded.program.arguments.pop_back();
  loaded.program.constants.push_back({{"in1", HostType::Float16, {32, 128}}, "in1.npy"});
  loaded.constants["in1"] = with(two, 9, kInfinity);
  for (bool keep : {false, true}) {
    auto session = create(keep);
    auto found = session->getConstantNumbers();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].where, NumberFinding::Constant);
    EXPECT_EQ(found[0].counts.infinities, 1);
    EXPECT_TRUE(session->usesDL16());
  }
}

class CheckedSessionTest : public SessionTest {
protected:
  CheckedSessionTest() : SessionTest(EmulatorOptions{.checked = true}) {}
};

TEST_F(CheckedSessionTest, RunsDoNotSeeEachOther) {
  auto session = create();
  ASSERT_FALSE(session->bind(1, two));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(*session, &one, nullptr), kThree);
  EXPECT_EQ(runtime.getEmulator().getNumReports(), 0);
}

TEST(HostBytesTest, BorrowedBytesAreCopiedBeforeTheyChange) {
  const std::vector<uint8_t> mine = {1, 2, 3};
  HostBytes bytes = HostBytes::borrow(mine.data(), mine.size());
  EXPECT_EQ(std::as_const(bytes).data(), mine.data());
  EXPECT_TRUE(bytes == HostBytes(mine));
  bytes[0] = 9;
  EXPECT_EQ(mine[0], 1);
  EXPECT_EQ(bytes.size(), 3u);
  EXPECT_FALSE(bytes == HostBytes(mine));
}

} // namespace
