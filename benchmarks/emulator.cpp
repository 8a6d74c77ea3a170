//===- emulator.cpp - Times launches of a program on the emulator ---------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads a program directory, fills its arguments, and times its launches, in turns
// with host libraries that do the same: cblas_sgemm, a memory copy, oneDNN. Prints
// JSON for benchmarks/emulator.py, which judges it. One program a process, so that
// the peak of its memory is that of the program.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/DL16.h"
#include "spyre/Runtime/ProgramRun.h"

#include "nlohmann/json.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <sys/resource.h>
#include <thread>

#ifdef __x86_64__
#include <immintrin.h>
#endif
#ifdef SPYRE_BENCH_OPENBLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int num_threads);
#endif
#ifdef SPYRE_BENCH_ONEDNN
#include "oneapi/dnnl/dnnl.hpp"
#endif

using namespace spyre;
using namespace spyre::runtime;

namespace {

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "emulator-bench: error: %s\n", message.c_str());
  std::exit(1);
}
template <typename T> T take(Result<T> result) {
  if (auto *error = std::get_if<Error>(&result))
    fail(error->message);
  return std::move(std::get<T>(result));
}

double measure(const std::function<void()> &work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The time of one turn. Threads of the library whose turn it was before may wait busily for
/// more to do; they get time to give up. What is short runs once more before, so that all
/// find their own data in the cache.
double takeTurn(const std::function<void()> &work, double expected) {
  constexpr auto kPause = std::chrono::milliseconds(30);
  constexpr double kShort = 0.05;
  std::this_thread::sleep_for(kPause);
  if (expected < kShort)
    work();
  return measure(work);
}

/// Forgets the peak of this process's memory, where the system can.
void resetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Peak of this process's resident memory.
int64_t getPeakInBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::stoll(line.substr(6)) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

/// Standard normal numbers times \p scale.
HostTensor makeInput(const HostArray &array, double scale) {
  HostTensor tensor = HostTensor::create(array.dtype, array.shape);
  std::minstd_rand random(1);
  std::normal_distribution<float> normal(0, static_cast<float>(scale));
  // A few thousand different numbers are enough, and quick to repeat.
  std::vector<float> values(4099);
  for (float &value : values)
    value = normal(random);
  int64_t n = tensor.getNumElements();
  for (int64_t i = 0; i < n; ++i) {
    float value = values[i % values.size()];
    if (array.dtype == HostType::Float32) {
      std::memcpy(tensor.data.data() + i * 4, &value, 4);
    } else if (array.dtype == HostType::Float16) {
      uint16_t code = convertDL16ToF16(encodeDL16(value));
      std::memcpy(tensor.data.data() + i * 2, &code, 2);
    } else if (array.dtype == HostType::BFloat16) {
      uint16_t code = convertDL16ToBF16(encodeDL16(value));
      std::memcpy(tensor.data.data() + i * 2, &code, 2);
    } // others stay zero: numbers of rows, truth values
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

class ProgramBench {
public:
  ProgramBench(const std::string &directory, EmulatorOptions options)
      : loaded(take(loadProgram(directory))),
        runtime(*Device::lookup(loaded.program.device), options) {
    for (const ProgramStep &step : loaded.program.steps)
      if (const auto *launch = std::get_if<LaunchBundle>(&step.content))
        for (size_t i = 0; i < launch->buffers.size(); ++i)
          if (!launch->buffers[i].empty())
            layouts.try_emplace(launch->buffers[i],
                                &loaded.bundles.at(launch->bundle).spec.arguments[i]);
    for (const DeviceBuffer &buffer : loaded.program.buffers)
      addresses[buffer.name] = take(runtime.allocate(buffer.sizeInBytes, buffer.name));
    for (const ProgramStep &step : loaded.program.steps) {
      const auto *copy = std::get_if<CopyIn>(&step.content);
      if (!copy || !layouts.count(copy->buffer))
        continue;
      auto constant = loaded.constants.find(copy->array);
      for (const HostArray &array : loaded.program.arguments)
        if (array.name == copy->array)
          copyIn(*copy, makeInput(array, array.shape.size() == 2 && array.shape[0] > 1
                                             ? 1 / std::sqrt(double(array.shape.back()))
                                             : 1));
      if (constant != loaded.constants.end())
        copyIn(*copy, constant->second);
    }
  }

  void launch() {
    for (const ProgramStep &step : loaded.program.steps) {
      const auto *launch = std::get_if<LaunchBundle>(&step.content);
      if (!launch)
        continue;
      std::vector<int64_t> arguments;
      for (const std::string &buffer : launch->buffers)
        arguments.push_back(buffer.empty() ? -1 : addresses.at(buffer));
      if (auto error = runtime.launch(loaded.bundles.at(launch->bundle), arguments))
        fail(error->message);
    }
  }

  Runtime &getRuntime() { return runtime; }

  /// Elements of two bytes that differ in the two device memories, and the farthest
  /// two codes in between; buffers of the program only.
  nlohmann::ordered_json compare(ProgramBench &other) {
    nlohmann::ordered_json list;
    for (const DeviceBuffer &buffer : loaded.program.buffers) {
      const uint8_t *mine = find(buffer.name), *theirs = other.find(buffer.name);
      int64_t different = 0, farthest = 0;
      for (int64_t at = 0; at + 2 <= buffer.sizeInBytes; at += 2) {
        uint16_t a, b;
        std::memcpy(&a, mine + at, 2);
        std::memcpy(&b, theirs + at, 2);
        if (a == b)
          continue;
        ++different;
        auto order = [](uint16_t code) {
          return code & 0x8000 ? -int64_t(code & 0x7fff) : int64_t(code);
        };
        farthest = std::max(farthest, std::abs(order(a) - order(b)));
      }
      if (different)
        list.push_back({{"buffer", buffer.name},
                        {"of", buffer.sizeInBytes / 2},
                        {"different", different},
                        {"codes_apart", farthest}});
    }
    return list;
  }

private:
  const uint8_t *find(const std::string &buffer) {
    int64_t start = 0;
    return runtime.getEmulator().getMemory().find(addresses.at(buffer), start)->getData();
  }

  void copyIn(const CopyIn &copy, const HostTensor &tensor) {
    if (auto error = runtime.copyIn(*layouts[copy.buffer], tensor, addresses.at(copy.buffer)))
      fail(error->message);
  }

  LoadedProgram loaded;
  Runtime runtime;
  std::map<std::string, const ArgumentSpec *> layouts;
  std::map<std::string, int64_t> addresses;
};

//===----------------------------------------------------------------------===//
// What it is compared with
//===----------------------------------------------------------------------===//

/// Runs to be timed; "kind:a,b,c" makes one, several joined by "+" follow each other.
using Work = std::function<void()>;

#ifdef SPYRE_BENCH_OPENBLAS
/// count products m x k by k x n.
Work makeSgemm(int64_t count, int64_t m, int64_t n, int64_t k, unsigned threads) {
  auto a = std::make_shared<std::vector<float>>(count * m * k, 0.5f);
  auto b = std::make_shared<std::vector<float>>(count * k * n, 0.25f);
  auto c = std::make_shared<std::vector<float>>(count * m * n);
  return [=] {
    openblas_set_num_threads(static_cast<int>(threads));
    for (int64_t i = 0; i < count; ++i)
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(m), int(n), int(k), 1.0f,
                  a->data() + i * m * k, int(k), b->data() + i * k * n, int(n), 0.0f,
                  c->data() + i * m * n, int(n));
    openblas_set_num_threads(1);
  };
}
#endif

/// The faster of one thread and all of them counts.
Work makeCopy(int64_t bytes, unsigned threads) {
  auto from = std::make_shared<std::vector<char>>(bytes, 1);
  auto to = std::make_shared<std::vector<char>>(bytes, 2);
  return [=] {
    std::vector<std::thread> others;
    int64_t part = bytes / threads;
    for (unsigned t = 1; t < threads; ++t)
      others.emplace_back(
          [=] { std::memcpy(to->data() + t * part, from->data() + t * part, part); });
    std::memcpy(to->data(), from->data(), part);
    for (std::thread &thread : others)
      thread.join();
  };
}

#ifdef __x86_64__
__attribute__((target("avx,f16c"))) void widen(const _Float16 *from, float *to, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i))));
  for (; i < count; ++i)
    to[i] = static_cast<float>(from[i]);
}
__attribute__((target("avx,f16c"))) void narrow(const float *from, _Float16 *to, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < count; ++i)
    to[i] = static_cast<_Float16>(from[i]);
}
#else
void widen(const _Float16 *from, float *to, int64_t count) { std::copy_n(from, count, to); }
void narrow(const float *from, _Float16 *to, int64_t count) { std::copy_n(from, count, to); }
#endif

/// f16 to f32 or back, by the processor's instruction: what a library without f16 forms needs
/// before and after.
Work makeConversion(bool widens, int64_t count, unsigned threads) {
  auto half = std::make_shared<std::vector<_Float16>>(count, _Float16(1));
  auto single = std::make_shared<std::vector<float>>(count, 1.0f);
  auto pool = std::make_shared<ThreadPool>(threads);
  return [=] {
    int64_t part = (count + threads - 1) / threads;
    pool->run(threads, [&](int64_t t) {
      int64_t begin = std::min(count, t * part), size = std::min(part, count - begin);
      if (widens)
        widen(half->data() + begin, single->data() + begin, size);
      else
        narrow(single->data() + begin, half->data() + begin, size);
    });
  };
}

#ifdef SPYRE_BENCH_ONEDNN
using dnnl::memory;

Work makeOneDnn(const std::string &kind, int64_t rows, int64_t columns) {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  using Args = std::unordered_map<int, memory>;
  auto type = kind == "reorder" ? memory::data_type::bf16 : memory::data_type::f32;
  memory::desc plain({rows, columns}, type, memory::format_tag::ab);
  memory::desc turned({rows, columns}, type, memory::format_tag::ba);
  memory from(plain, engine), to(kind == "reorder" ? turned : plain, engine);
  for (const memory &array : {from, to})
    std::memset(array.get_data_handle(), 0x3c, array.get_desc().get_size());
  if (kind == "reorder") {
    dnnl::reorder primitive(from, to);
    return [=]() mutable {
      primitive.execute(stream, from, to);
      stream.wait();
    };
  }
  if (kind == "softmax") {
    dnnl::softmax_forward::desc desc(dnnl::prop_kind::forward_inference, plain, 1);
    dnnl::softmax_forward primitive(dnnl::softmax_forward::primitive_desc(desc, engine));
    return [=] {
      primitive.execute(stream, Args{{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
      stream.wait();
    };
  }
  auto flags = dnnl::normalization_flags::use_scale_shift;
  dnnl::layer_normalization_forward::desc desc(dnnl::prop_kind::forward_inference, plain, 1e-5f,
                                               flags);
  dnnl::layer_normalization_forward::primitive_desc description(desc, engine);
  memory weights(description.weights_desc(), engine);
  std::memset(weights.get_data_handle(), 0, weights.get_desc().get_size());
  dnnl::layer_normalization_forward primitive(description);
  return [=] {
    primitive.execute(
        stream, Args{{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}, {DNNL_ARG_SCALE_SHIFT, weights}});
    stream.wait();
  };
}
#endif

/// The parts of what a library does.
std::vector<Work> makeWork(const std::string &text, unsigned threads) {
  std::vector<Work> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '+');) {
    std::string kind = part.substr(0, part.find(':'));
    std::vector<int64_t> numbers;
    std::istringstream rest(part.substr(std::min(part.size(), kind.size() + 1)));
    for (std::string number; std::getline(rest, number, ',');)
      numbers.push_back(std::stoll(number));
    numbers.resize(4, 1);
    if (kind == "copy") {
      parts.push_back(makeCopy(numbers[0], threads));
      continue;
    }
    if (kind == "widen" || kind == "narrow") {
      parts.push_back(makeConversion(kind == "widen", numbers[0] * numbers[1], threads));
      continue;
    }
#ifdef SPYRE_BENCH_OPENBLAS
    if (kind == "sgemm") {
      parts.push_back(makeSgemm(numbers[0], numbers[1], numbers[2], numbers[3], threads));
      continue;
    }
#endif
#ifdef SPYRE_BENCH_ONEDNN
    if (kind == "softmax" || kind == "layernorm" || kind == "reorder") {
      parts.push_back(makeOneDnn(kind, numbers[0], numbers[1]));
      continue;
    }
#endif
    fail("'" + kind + "' is not among what this build can compare with");
  }
  return parts;
}

/// The times of all parts, each by itself: threads that still wait for more of the part
/// before would stand in the way.
double takeTurns(const std::vector<Work> &parts, std::vector<double> &expected) {
  double seconds = 0;
  expected.resize(parts.size(), 0);
  for (size_t i = 0; i < parts.size(); ++i) {
    expected[i] = takeTurn(parts[i], expected[i]);
    seconds += expected[i];
  }
  return seconds;
}

const char *kUsage =
    R"(usage: emulator-bench DIR [--threads N] [--runs N] [--general | --compare] [--baseline NAME=KIND:...]

Times the launches of the program directory DIR, in turns with each baseline, and
prints JSON. Kinds: sgemm:COUNT,M,N,K (joined by "+" if several), copy:BYTES,
widen:ROWS,COLUMNS and narrow:ROWS,COLUMNS (f16 to f32 and back), softmax:ROWS,COLUMNS, layernorm:ROWS,COLUMNS, reorder:ROWS,COLUMNS (oneDNN).
--general: without the faster paths. --compare: instead of timing, run with and without
them and say which buffers differ.

example: emulator-bench mm.spyre --threads 2 --baseline blas=sgemm:1,1024,1024,1024
)";

} // namespace

int main(int argc, char **argv) {
  std::string directory;
  EmulatorOptions options;
  options.numThreads = 2;
  int runs = 5;
  bool compares = false;
  std::vector<std::pair<std::string, std::string>> baselines;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    bool hasValue = i + 1 < argc;
    if (word == "--threads" && hasValue) {
      options.numThreads = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
    } else if (word == "--runs" && hasValue) {
      runs = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--general") {
      options.generalPathOnly = true;
    } else if (word == "--compare") {
      compares = true;
    } else if (word == "--baseline" && hasValue) {
      std::string text = argv[++i];
      size_t equals = text.find('=');
      baselines.emplace_back(text.substr(0, equals),
                             equals == std::string::npos ? text : text.substr(equals + 1));
    } else if (word == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    } else if (word[0] != '-' && directory.empty()) {
      directory = word;
    } else {
      std::fputs(kUsage, stderr);
      return 2;
    }
  }
  if (directory.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }

  nlohmann::ordered_json json;
  auto bench = std::make_unique<ProgramBench>(directory, options);
  if (compares) {
    options.generalPathOnly = true;
    ProgramBench general(directory, options);
    bench->launch();
    general.launch();
    json["differences"] = bench->compare(general);
    std::printf("%s\n", json.dump().c_str());
    return json["differences"].empty() ? 0 : 1;
  }
  std::vector<double> seconds;
  // What copying in took is gone.
  resetPeak();
  seconds.push_back(measure([&] { bench->launch(); }));
  // Before anything else takes memory: libraries that are compared with do.
  json["device_bytes"] = bench->getRuntime().getEmulator().getMemory().getPeakInBytes();
  json["peak_bytes"] = getPeakInBytes();
  std::vector<std::vector<Work>> work;
  for (const auto &[name, text] : baselines) {
    work.push_back(makeWork(text, options.numThreads));
  }
  std::vector<std::vector<double>> expected(work.size());
  for (size_t i = 0; i < work.size(); ++i)
    takeTurns(work[i], expected[i]);
  std::vector<std::vector<double>> theirs(work.size());
  for (int run = 0; run < runs; ++run) {
    seconds.push_back(takeTurn([&] { bench->launch(); }, seconds.back()));
    for (size_t i = 0; i < work.size(); ++i)
      theirs[i].push_back(takeTurns(work[i], expected[i]));
  }
  json["first_s"] = seconds[0];
  seconds.erase(seconds.begin());
  json["launch_s"] = seconds;
  for (size_t i = 0; i < work.size(); ++i)
    json["baselines"][baselines[i].first] = theirs[i];
  std::printf("%s\n", json.dump(1).c_str());
  return 0;
}
