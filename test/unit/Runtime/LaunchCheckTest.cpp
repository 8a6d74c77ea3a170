//===- LaunchCheckTest.cpp - What a launch refuses --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments of a wrong number, shape, type or layout are refused before anything
// runs, and the message has both sides. Outside checked mode, too.
//
//===----------------------------------------------------------------------===//

#include "FaultBases.h"

#include "gtest/gtest.h"

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

class LaunchCheck : public testing::Test {
protected:
  LaunchCheck() : program(makePointwise()), runtime(*Device::lookup("spyre"), {}) {
    for (size_t k = 0; k < 3; ++k)
      buffers.push_back(std::get<int64_t>(runtime.allocate(8192, "buffer")));
    for (size_t k = 0; k < 2; ++k)
      copyIn(getSpec(k), k);
  }
  ArgumentSpec &getSpec(size_t k) { return program.bundle.spec.arguments[k]; }
  void copyIn(const ArgumentSpec &spec, size_t k) {
    auto error = runtime.copyIn(spec, HostTensor::create(spec.dtype, spec.shape), buffers[k]);
    ASSERT_FALSE(error) << error->message;
  }
  std::string launch() {
    auto error = runtime.launch(program.bundle, buffers);
    return error ? error->message : "";
  }

  FaultProgram program;
  Runtime runtime;
  std::vector<int64_t> buffers;
};

TEST_F(LaunchCheck, TakesWhatFits) {
  EXPECT_EQ(launch(), "");
  // A result is laid out as its argument is.
  std::swap(buffers[0], buffers[2]);
  EXPECT_EQ(launch(), "");
}

TEST_F(LaunchCheck, Number) {
  buffers.pop_back();
  EXPECT_EQ(launch(), ": 2 arguments given, it takes 3 (arg0, arg1, arg2)");
  auto missing = runBundle(runtime, program.bundle, {{"arg0", program.arrays[0]}});
  EXPECT_EQ(std::get<Error>(missing).message, "input arg1 is missing");
}

TEST_F(LaunchCheck, NoBuffer) {
  buffers[1] = -1;
  EXPECT_EQ(launch(), ": argument 1 (arg1) has no buffer; it takes float16 [32, 128] in "
                      "SEN169_FP16 [2, 32, 64]");
}

TEST_F(LaunchCheck, Size) {
  runtime.free(buffers[2]);
  EXPECT_NE(launch().find(": argument 2: arg2: no buffer at address "), std::string::npos);
  buffers[2] = std::get<int64_t>(runtime.allocate(4096, "buffer"));
  EXPECT_NE(launch().find(" has 4096 bytes, its layout needs 8192"), std::string::npos) << launch();
}

TEST_F(LaunchCheck, Shape) {
  ArgumentSpec other = getSpec(1);
  other.shape = {128, 32};
  other.deviceSize = {1, 64, 64};
  other.strideMap = {32, 32, 1};
  other.deviceSize = {1, 128, 32};
  other.deviceFormat = DataFormat::IEEE_FP32;
  other.dtype = HostType::Float32;
  runtime.free(buffers[1]);
  buffers[1] = std::get<int64_t>(runtime.allocate(16384, "buffer"));
  copyIn(other, 1);
  EXPECT_EQ(launch(), ": argument 1 (arg1): the buffer holds float32 [128, 32] in IEEE_FP32 "
                      "[1, 128, 32] with strides [32, 32, 1], not float16 [32, 128] in "
                      "SEN169_FP16 [2, 32, 64] with strides [64, 128, 1]");
  HostTensor host = HostTensor::create(HostType::Float16, {32, 64});
  auto error = runtime.copyIn(getSpec(1), host, buffers[1]);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "arg1: the array is float16 [32, 64], the argument float16 [32, 128]");
  auto run = runBundle(runtime, program.bundle, {{"arg0", program.arrays[0]}, {"arg1", host}});
  EXPECT_EQ(std::get<Error>(run).message, "input arg1 has shape 32x64, the program takes 32x128");
}

TEST_F(LaunchCheck, Type) {
  ArgumentSpec other = getSpec(0);
  other.dtype = HostType::BFloat16;
  copyIn(other, 0);
  EXPECT_EQ(launch(), ": argument 0 (arg0): the buffer holds bfloat16 [32, 128] in SEN169_FP16 "
                      "[2, 32, 64], not float16 [32, 128] in SEN169_FP16 [2, 32, 64]");
  HostTensor host = HostTensor::create(HostType::Float32, {32, 128});
  auto error = runtime.copyIn(getSpec(0), host, buffers[0]);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "arg0: the array is float32 [32, 128], the argument float16 [32, 128]");
  auto run = runBundle(runtime, program.bundle, {{"arg0", host}, {"arg1", program.arrays[1]}});
  EXPECT_EQ(std::get<Error>(run).message, "input arg0 has type float32, the program takes float16");
}

TEST_F(LaunchCheck, Layout) {
  // The same array with its dims in another order.
  ArgumentSpec other = getSpec(0);
  other.deviceSize = {32, 2, 64};
  other.strideMap = {128, 64, 1};
  copyIn(other, 0);
  EXPECT_EQ(launch(), ": argument 0 (arg0): the buffer holds float16 [32, 128] in SEN169_FP16 "
                      "[32, 2, 64] with strides [128, 64, 1], not float16 [32, 128] in "
                      "SEN169_FP16 [2, 32, 64] with strides [64, 128, 1]");
  HostTensor host;
  auto error = runtime.copyOut(getSpec(0), buffers[0], host);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message.find("arg0: the buffer holds float16"), 0u) << error->message;
}

} // namespace
