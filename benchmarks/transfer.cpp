//===- transfer.cpp - Times of host-device conversion -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies an array into device layout and back, on one thread, beside a memory copy of as
// many bytes. Prints JSON: seconds of the fastest of some runs. benchmarks/python.py
// judges them.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Transfer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace spyre;
using namespace spyre::runtime;

template <typename Fn> static double measure(int runs, Fn fn) {
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    auto begin = std::chrono::steady_clock::now();
    fn();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

int main(int argc, char **argv) {
  int64_t rows = argc > 1 ? std::atoll(argv[1]) : 4096,
          columns = argc > 2 ? std::atoll(argv[2]) : 4096;
  int runs = argc > 3 ? std::atoi(argv[3]) : 20;
  if (rows < 1 || columns < 1 || runs < 1 || rows > 65536 || columns > 65536) {
    std::fprintf(stderr, "usage: transfer-bench [ROWS [COLUMNS [RUNS]]]\n");
    return 2;
  }
  ArgumentSpec spec;
  spec.array = "in0";
  spec.shape = {rows, columns};
  spec.deviceSize = {(columns + 63) / 64, rows, 64};
  spec.strideMap = {64, columns, 1};
  HostTensor host = HostTensor::create(HostType::Float16, spec.shape);
  for (int64_t i = 0; i < rows * columns; ++i) {
    uint16_t code = uint16_t(0x3000 + i * 7919 % 0x0c00) & 0xfffe; // 0.125 to 2
    std::memcpy(host.data.data() + 2 * i, &code, 2);
  }
  auto size = getDeviceSizeInBytes(spec);
  if (auto *error = std::get_if<Error>(&size)) {
    std::fprintf(stderr, "transfer-bench: error: %s\n", error->message.c_str());
    return 1;
  }
  size_t bytes = host.data.size();
  std::vector<uint8_t> device(size_t(std::get<int64_t>(size))), copy(bytes);
  HostTensor back = HostTensor::create(HostType::Float16, spec.shape);
  std::optional<Error> failed;
  NumberCounts counts; // as a program's run does
  const HostBytes &from = host.data;
  double memory = measure(runs, [&] { std::memcpy(copy.data(), from.data(), bytes); });
  double in =
      measure(runs, [&] { failed = copyToDevice(spec, host, device.data(), nullptr, &counts); });
  double out = 0;
  if (!failed)
    out = measure(runs, [&] { failed = copyToHost(spec, device.data(), back, nullptr, &counts); });
  if (failed || !(back.data == host.data)) {
    std::fprintf(stderr, "transfer-bench: error: %s\n",
                 failed ? failed->message.c_str() : "what came back is not what went in");
    return 1;
  }
  std::printf(
      "{\"bytes\": %zu, \"memory_copy_s\": %.9f, \"copy_in_s\": %.9f, \"copy_out_s\": %.9f}\n",
      bytes, memory, in, out);
  return 0;
}
