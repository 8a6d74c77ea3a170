//===- CApiTest.cpp - The C interface on a bundle directory -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, copies, launches and streams through spyre.h only; and what a damaged
// directory or a wrong array gets for an answer.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/spyre.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path &file) {
  std::ifstream is(file, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(is)), std::istreambuf_iterator<char>());
}
void write(const fs::path &file, const std::string &text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// A copy of the foreign bundle add_64x256 with a plan of our own beside it.
class CApi : public testing::Test {
protected:
  void SetUp() override {
    const char *data = std::getenv("SPYRE_TEST_DATA");
    fs::path root = data ? fs::path(data) : fs::path(SPYRE_SOURCE_DIR) / "test/data";
    source = root / "superdsc/bundles/small/add_64x256";
    if (!fs::exists(source))
      GTEST_SKIP() << "no reference data";
    directory = fs::temp_directory_path() / ("spyre-capi-" + std::to_string(getpid()));
    fs::create_directories(directory);
    fs::copy_file(source / "sdsc_0.json", directory / "sdsc_0.json",
                  fs::copy_options::overwrite_existing);
    write(directory / "launch_spec.json", read(source / "bind.json"));
    // Each core has two of the 64 rows; ids count through tensors and cores.
    std::string plan = R"({"version": 1, "name": "f", "arguments": 3, "pool": false,
      "pool_bytes": 0, "steps": [{"launch": "sdsc_0.json", "symbols": [)";
    for (int t = 0; t < 3; ++t)
      for (int core = 0; core < 32; ++core)
        plan += std::string(t + core ? "," : "") + R"({"id": )" +
                std::to_string(-1 - t * 32 - core) + R"(, "base": )" + std::to_string(t) +
                R"(, "offset": )" + std::to_string(core * 256) + "}";
    write(directory / "plan.json", plan + "]}]}");
    spyre_device_options options = {nullptr, 1, 2, 0};
    ASSERT_EQ(spyre_device_create(&options, &device), SPYRE_OK) << spyre_last_error();
  }
  void TearDown() override {
    spyre_device_destroy(device);
    if (!directory.empty())
      fs::remove_all(directory);
  }
  std::string loadError() {
    spyre_bundle *bundle = nullptr;
    EXPECT_EQ(spyre_bundle_load(directory.c_str(), nullptr, &bundle), SPYRE_ERROR);
    EXPECT_EQ(bundle, nullptr);
    return spyre_last_error();
  }

  fs::path source, directory;
  spyre_device *device = nullptr;
};

TEST_F(CApi, AddsTwoArrays) {
  spyre_bundle *bundle = nullptr;
  ASSERT_EQ(spyre_bundle_load(directory.c_str(), nullptr, &bundle), SPYRE_OK) << spyre_last_error();
  ASSERT_EQ(spyre_bundle_num_arguments(bundle), 3u);
  EXPECT_EQ(spyre_bundle_argument_size(bundle, 0), 64u * 256 * 2);
  EXPECT_EQ(spyre_bundle_argument_size(bundle, 3), 0u);
  spyre_buffer *buffers[3];
  for (size_t k = 0; k < 3; ++k)
    ASSERT_EQ(spyre_buffer_create(device, spyre_bundle_argument_size(bundle, k), "b", &buffers[k]),
              SPYRE_OK);
  const int64_t shape[2] = {64, 256};
  // Halves 1.0 and 2.0 in turn; 0x3c00 is 1, 0x4000 is 2, 0x4200 is 3.
  std::vector<uint16_t> one(64 * 256, 0x3c00), two(64 * 256, 0x4000), sum(64 * 256);
  spyre_array a = {"float16", shape, 2, one.data(), one.size() * 2};
  spyre_array b = {"float16", shape, 2, two.data(), two.size() * 2};
  spyre_array c = {"float16", shape, 2, sum.data(), sum.size() * 2};
  ASSERT_EQ(spyre_copy_in(bundle, 0, &a, buffers[0]), SPYRE_OK) << spyre_last_error();
  ASSERT_EQ(spyre_copy_in(bundle, 1, &b, buffers[1]), SPYRE_OK) << spyre_last_error();
  ASSERT_EQ(spyre_launch(device, bundle, buffers, 3), SPYRE_OK) << spyre_last_error();
  ASSERT_EQ(spyre_copy_out(bundle, 2, buffers[2], &c), SPYRE_OK) << spyre_last_error();
  EXPECT_EQ(sum, std::vector<uint16_t>(64 * 256, 0x4200));

  spyre_counters counters;
  ASSERT_EQ(spyre_device_counters(device, &counters), SPYRE_OK);
  EXPECT_EQ(counters.launches, 1u);
  EXPECT_EQ(counters.read_bytes, 2u * 64 * 256 * 2);
  EXPECT_EQ(counters.written_bytes, 64u * 256 * 2);
  EXPECT_EQ(counters.reports, 0u);
  EXPECT_EQ(spyre_device_report(device, 0), nullptr);

  spyre_stream *stream = nullptr;
  ASSERT_EQ(spyre_stream_create(device, &stream), SPYRE_OK);
  spyre_buffer *twice[3] = {buffers[2], buffers[0], buffers[2]};
  ASSERT_EQ(spyre_stream_launch(stream, bundle, twice, 3), SPYRE_OK);
  ASSERT_EQ(spyre_stream_launch(stream, bundle, twice, 3), SPYRE_OK);
  ASSERT_EQ(spyre_stream_synchronize(stream), SPYRE_OK) << spyre_last_error();
  ASSERT_EQ(spyre_copy_out(bundle, 2, buffers[2], &c), SPYRE_OK);
  EXPECT_EQ(sum[7], 0x4500); // 5
  spyre_stream_destroy(stream);

  // Mistakes of the caller.
  spyre_array wrong = a;
  wrong.dtype = "float32";
  EXPECT_EQ(spyre_copy_in(bundle, 0, &wrong, buffers[0]), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(), "in0: the array has type float32, the program takes float16");
  EXPECT_EQ(spyre_launch(device, bundle, buffers, 2), SPYRE_ERROR);
  EXPECT_EQ(spyre_copy_in(bundle, 9, &a, buffers[0]), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(), "the bundle has no argument 9");
  EXPECT_EQ(spyre_launch(device, nullptr, buffers, 3), SPYRE_ERROR);
  spyre_buffer *none = nullptr;
  EXPECT_EQ(spyre_buffer_create(device, uint64_t(1) << 50, "huge", &none), SPYRE_ERROR);
  EXPECT_EQ(std::string(spyre_last_error()).find("huge: 1125899906842624 bytes are more"), 0u);
  for (spyre_buffer *buffer : buffers)
    spyre_buffer_destroy(buffer);
  spyre_bundle_destroy(bundle);
}

/// The answer of the C example on the directory, with its status.
TEST_F(CApi, TheExampleRunsAndReportsInParts) {
  fs::path answer = directory / "answer.txt";
  auto run = [&](const std::string &arguments) {
    std::string command =
        std::string(SPYRE_RUN_BUNDLE) + " " + arguments + " > " + answer.string() + " 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  // With a binding beside the directory's own.
  fs::rename(directory / "launch_spec.json", directory / "binding.json");
  EXPECT_EQ(run(directory.string() + " " + (directory / "binding.json").string()), 0);
  std::string text = read(answer);
  EXPECT_NE(text.find("argument 2: output out0, float16\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 launches, 65536 bytes read, 32768 written, 0 reports"), std::string::npos)
      << text;
  EXPECT_EQ(run(directory.string()), 1);
  EXPECT_EQ(read(answer).find("run_bundle: bundle: " + directory.string()), 0u) << read(answer);
  // Core 3 reads a row too far.
  fs::rename(directory / "binding.json", directory / "launch_spec.json");
  std::string plan = read(directory / "plan.json");
  std::string bound = R"({"id": -4, "base": 0, "offset": 768})";
  ASSERT_NE(plan.find(bound), std::string::npos);
  plan.replace(plan.find(bound), bound.size(), R"({"id": -4, "base": 0, "offset": 896})");
  write(directory / "plan.json", plan);
  EXPECT_EQ(run(directory.string()), 3);
  text = read(answer);
  EXPECT_NE(text.find("report: wrong-slice|sdsc_0.json (add)|Tensor0|3|"), std::string::npos)
      << text;
}

TEST_F(CApi, RefusesWrongArguments) {
  spyre_bundle *bundle = nullptr;
  ASSERT_EQ(spyre_bundle_load(directory.c_str(), nullptr, &bundle), SPYRE_OK) << spyre_last_error();
  spyre_argument argument;
  ASSERT_EQ(spyre_bundle_argument(bundle, 1, &argument), SPYRE_OK);
  EXPECT_STREQ(argument.role, "input");
  EXPECT_STREQ(argument.array, "in1");
  EXPECT_STREQ(argument.dtype, "float16");
  ASSERT_EQ(argument.rank, 2u);
  EXPECT_EQ(argument.shape[1], 256);
  EXPECT_EQ(spyre_bundle_argument(bundle, 3, &argument), SPYRE_ERROR);

  const int64_t shape[2] = {64, 256}, turned[2] = {256, 64};
  std::vector<uint16_t> data(64 * 256);
  spyre_array good = {"float16", shape, 2, data.data(), data.size() * 2};
  spyre_array arrays[3] = {good, good, good};
  EXPECT_EQ(spyre_run(device, bundle, arrays, 3), SPYRE_OK) << spyre_last_error();
  EXPECT_EQ(spyre_run(device, bundle, arrays, 2), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(), "2 arrays given, the bundle takes 3");
  arrays[1].shape = turned;
  EXPECT_EQ(spyre_run(device, bundle, arrays, 3), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(),
               "in1: the array is float16 [256, 64], the program takes float16 [64, 256]");
  arrays[1] = good;
  arrays[2].dtype = "bfloat16";
  EXPECT_EQ(spyre_run(device, bundle, arrays, 3), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(), "out0: the array has type bfloat16, the program takes float16");
  arrays[2] = good;
  arrays[2].size_in_bytes = 100;
  EXPECT_EQ(spyre_run(device, bundle, arrays, 3), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(), "out0: the array has 100 bytes, its shape needs 32768");

  // A buffer with an array of another layout.
  std::string spec = read(directory / "launch_spec.json"), size = "[4, 64, 64]",
              map = "[64, 256, 1]";
  spec.replace(spec.find(size), size.size(), "[64, 4, 64]");
  spec.replace(spec.find(map), map.size(), "[256, 64, 1]");
  write(directory / "other.json", spec);
  spyre_bundle *other = nullptr;
  ASSERT_EQ(spyre_bundle_load(directory.c_str(), (directory / "other.json").c_str(), &other),
            SPYRE_OK)
      << spyre_last_error();
  spyre_buffer *buffers[3];
  for (spyre_buffer *&buffer : buffers)
    ASSERT_EQ(spyre_buffer_create(device, data.size() * 2, "b", &buffer), SPYRE_OK);
  ASSERT_EQ(spyre_copy_in(other, 0, &good, buffers[0]), SPYRE_OK);
  ASSERT_EQ(spyre_copy_in(bundle, 1, &good, buffers[1]), SPYRE_OK);
  EXPECT_EQ(spyre_launch(device, bundle, buffers, 3), SPYRE_ERROR);
  EXPECT_NE(std::string(spyre_last_error())
                .find("argument 0 (in0): the buffer holds float16 [64, 256] in SEN169_FP16 "
                      "[64, 4, 64] with strides [256, 64, 1], not float16 [64, 256] in "
                      "SEN169_FP16 [4, 64, 64] with strides [64, 256, 1]"),
            std::string::npos)
      << spyre_last_error();
  for (spyre_buffer *buffer : buffers)
    spyre_buffer_destroy(buffer);
  spyre_bundle_destroy(other);
  spyre_bundle_destroy(bundle);

  spyre_report report;
  EXPECT_EQ(spyre_device_get_report(device, 0, &report), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(), "there is no report 0, 0 are kept");
  EXPECT_EQ(spyre_device_keep_reports(device, 1000), SPYRE_OK);
  EXPECT_GT(spyre_device_modelled_ns(device), 0);
}

TEST_F(CApi, NamesTheFileThatIsWrong) {
  fs::path descriptor = directory / "sdsc_0.json";
  std::string good = read(descriptor);
  write(descriptor, good.substr(0, good.size() / 2));
  EXPECT_NE(loadError().find("sdsc_0.json"), std::string::npos);
  write(descriptor, "{}");
  EXPECT_NE(loadError().find("sdsc_0.json"), std::string::npos);
  fs::remove(descriptor);
  EXPECT_EQ(loadError(), descriptor.string() + ": cannot open the file: No such file or directory");
  write(descriptor, good);
  std::string plan = read(directory / "plan.json");
  std::string newer = plan;
  newer.replace(newer.find("1"), 1, "99");
  write(directory / "plan.json", newer);
  EXPECT_NE(loadError().find("newer"), std::string::npos);
  std::string leaving = plan;
  leaving.replace(leaving.find("sdsc_0"), 6, "../x");
  write(directory / "plan.json", leaving);
  EXPECT_EQ(loadError().find("descriptor file"), std::string::npos) << "the reader refuses first";
  write(directory / "plan.json", plan);
  fs::remove(directory / "launch_spec.json");
  EXPECT_EQ(loadError(), (directory / "launch_spec.json").string() +
                             ": cannot open the file: No such file or directory");
  EXPECT_EQ(spyre_bundle_load(nullptr, nullptr, nullptr), SPYRE_ERROR);
}

/// Notes what it is asked for and gives operand 0 times the number at the end.
struct Caller {
  std::string asked;
  bool fails = false;
  std::function<void()> during; ///< called in the middle of the program

  static int knows(void *, const char *function) { return std::string(function) != "aten.unknown"; }
  static spyre_status call(void *user, const spyre_host_call *call, char *message,
                           size_t capacity) {
    auto *caller = static_cast<Caller *>(user);
    caller->asked = call->function;
    for (size_t i = 0; i < call->num_arguments; ++i) {
      const spyre_host_value *value = call->arguments[i];
      caller->asked += " " + std::to_string(spyre_host_value_kind(value));
      for (size_t k = 0; k < spyre_host_value_size(value); ++k)
        caller->asked +=
            ":" + std::to_string(spyre_host_value_int(spyre_host_value_item(value, k)));
    }
    if (caller->during)
      std::exchange(caller->during, nullptr)();
    if (caller->fails) {
      std::snprintf(message, capacity, "no luck");
      return SPYRE_ERROR;
    }
    spyre_array x;
    double factor = spyre_host_value_float(call->arguments[call->num_arguments - 1]);
    EXPECT_EQ(spyre_host_value_array(call->arguments[0], &x), SPYRE_OK);
    for (size_t i = 0; i < 2; ++i)
      static_cast<float *>(call->outputs[0].array.data)[i] =
          static_cast<float *>(x.data)[i] * static_cast<float>(factor);
    return SPYRE_OK;
  }
};

TEST_F(CApi, ProgramsCallTheCallersFunctions) {
  write(directory / "program.json", R"({"version": 1, "name": "p", "target": "superdsc",
    "device": "spyre", "arguments": [{"name": "in0", "dtype": "float32", "shape": [2]}],
    "results": [{"name": "out0", "dtype": "float32", "shape": [2]}], "buffers": [],
    "steps": [{"step": "host_call", "function": "aten.example",
      "arguments": [{"array": "in0"}, null, true, 7, "x", [1, 2], {"float": 3}],
      "outputs": [{"name": "out0", "dtype": "float32", "shape": [2], "result": 0}]}]})");
  spyre_program *program = nullptr;
  ASSERT_EQ(spyre_program_load(directory.c_str(), &program), SPYRE_OK) << spyre_last_error();
  EXPECT_EQ(spyre_program_num_arguments(program), 1u);
  spyre_argument result;
  ASSERT_EQ(spyre_program_result(program, 0, &result), SPYRE_OK);
  EXPECT_STREQ(result.array, "out0");
  EXPECT_EQ(spyre_program_argument(program, 1, &result), SPYRE_ERROR);

  float in[2] = {1, 2}, out[2] = {0, 0};
  int64_t shape[1] = {2};
  spyre_array x = {"float32", shape, 1, in, sizeof(in)},
              y = {"float32", shape, 1, out, sizeof(out)};
  Caller caller;
  spyre_host_functions functions = {&Caller::knows, &Caller::call, &caller};
  ASSERT_EQ(spyre_program_run(device, program, &functions, &x, 1, &y, 1), SPYRE_OK)
      << spyre_last_error();
  EXPECT_EQ(caller.asked, "aten.example 5 0 1 2 4 7:1:2 3");
  EXPECT_EQ(out[1], 6.0f);

  // The device can be used in the middle of a program, by the program itself, too.
  caller.during = [&] {
    spyre_buffer *buffer = nullptr;
    EXPECT_EQ(spyre_buffer_create(device, 256, "scratch", &buffer), SPYRE_OK);
    spyre_buffer_destroy(buffer);
    float inner[2] = {0, 0};
    spyre_array z = {"float32", shape, 1, inner, sizeof(inner)};
    EXPECT_EQ(spyre_program_run(device, program, &functions, &x, 1, &z, 1), SPYRE_OK);
    EXPECT_EQ(inner[1], 6.0f);
  };
  EXPECT_EQ(spyre_program_run(device, program, &functions, &x, 1, &y, 1), SPYRE_OK);

  caller.fails = true;
  EXPECT_EQ(spyre_program_run(device, program, &functions, &x, 1, &y, 1), SPYRE_ERROR);
  EXPECT_NE(std::string(spyre_last_error()).find("aten.example': no luck"), std::string::npos);
  // The runtime's own table has no such operation.
  EXPECT_EQ(spyre_program_run(device, program, nullptr, &x, 1, &y, 1), SPYRE_ERROR);
  EXPECT_NE(std::string(spyre_last_error()).find("not supported"), std::string::npos);
  y.size_in_bytes = 4;
  EXPECT_EQ(spyre_program_run(device, program, &functions, &x, 1, &y, 1), SPYRE_ERROR);
  EXPECT_EQ(spyre_program_run(device, program, &functions, &x, 0, &y, 1), SPYRE_ERROR);
  spyre_program_destroy(program);
}

TEST_F(CApi, ProgramsSayWhichNumbersTheDeviceCannotTell) {
  fs::create_directories(directory / "add");
  for (const char *file : {"sdsc_0.json", "plan.json", "launch_spec.json"})
    fs::rename(directory / file, directory / "add" / file);
  write(directory / "program.json", R"({"version": 1, "name": "p", "target": "superdsc",
    "device": "spyre", "arguments": [{"name": "in0", "dtype": "float16", "shape": [64, 256]},
      {"name": "in1", "dtype": "float16", "shape": [64, 256]}],
    "results": [{"name": "out0", "dtype": "float16", "shape": [64, 256]}],
    "buffers": [{"name": "a", "bytes": 32768}, {"name": "b", "bytes": 32768}, {"name": "c", "bytes": 32768}],
    "steps": [{"step": "copy_in", "array": "in0", "buffer": "a"},
      {"step": "copy_in", "array": "in1", "buffer": "b"},
      {"step": "launch", "bundle": "add", "buffers": ["a", "b", "c"]},
      {"step": "copy_out", "buffer": "c", "array": "out0"}]})");
  spyre_program *program = nullptr;
  ASSERT_EQ(spyre_program_load(directory.c_str(), &program), SPYRE_OK) << spyre_last_error();
  spyre_numbers numbers;
  EXPECT_EQ(spyre_program_numbers(program, 0, &numbers), SPYRE_ERROR);
  const int64_t shape[2] = {64, 256};
  std::vector<uint16_t> one(64 * 256, 0x3c00), odd = one, sum = one;
  odd[300] = 0xfe00; // a NaN
  odd[7] = 0x7c00;   // an infinity
  spyre_array arguments[2] = {{"float16", shape, 2, one.data(), one.size() * 2},
                              {"float16", shape, 2, odd.data(), odd.size() * 2}};
  spyre_array result = {"float16", shape, 2, sum.data(), sum.size() * 2};
  ASSERT_EQ(spyre_program_run(device, program, nullptr, arguments, 2, &result, 1), SPYRE_OK)
      << spyre_last_error();
  ASSERT_EQ(spyre_program_numbers(program, 0, &numbers), SPYRE_OK);
  EXPECT_STREQ(numbers.where, "argument");
  EXPECT_STREQ(numbers.array, "in1");
  EXPECT_EQ(numbers.nans, 1);
  EXPECT_EQ(numbers.infinities, 1);
  EXPECT_EQ(numbers.first_nan, 300);
  EXPECT_EQ(numbers.first_out_of_range, -1);
  ASSERT_EQ(spyre_program_numbers(program, 1, &numbers), SPYRE_OK);
  EXPECT_STREQ(numbers.where, "result");
  EXPECT_STREQ(numbers.array, "out0");
  EXPECT_EQ(numbers.infinities, 2);
  EXPECT_EQ(spyre_program_numbers(program, 2, &numbers), SPYRE_ERROR);
  EXPECT_STREQ(spyre_last_error(), "the last run found 2 arrays");
  arguments[1].data = one.data();
  ASSERT_EQ(spyre_program_run(device, program, nullptr, arguments, 2, &result, 1), SPYRE_OK);
  EXPECT_EQ(spyre_program_numbers(program, 0, &numbers), SPYRE_ERROR);
  spyre_program_destroy(program);
}

} // namespace
