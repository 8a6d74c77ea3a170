//===- ReadFileTest.cpp - A file's bytes, or why not ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/ReadFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

class ReadFileTest : public ::testing::Test {
protected:
  ReadFileTest()
      : root(fs::path(::testing::TempDir()) / ("spyre-read-" + std::to_string(::getpid()))) {
    fs::create_directories(root);
  }
  ~ReadFileTest() override { fs::remove_all(root); }

  static std::string read(const fs::path &path) {
    auto result = spyre::readFile(path.string());
    if (auto *failure = std::get_if<spyre::ReadFailure>(&result))
      return failure->message;
    return std::get<std::string>(result);
  }

  fs::path root;
};

TEST_F(ReadFileTest, WholeFiles) {
  for (size_t size : {0, 1, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3000001}) {
    std::string content(size, 'x');
    for (size_t i = 0; i < size; i += 7)
      content[i] = static_cast<char>(i);
    std::ofstream(root / "file", std::ios::binary) << content;
    EXPECT_EQ(read(root / "file"), content) << size;
  }
  // A file whose size the system does not tell.
  EXPECT_FALSE(read("/proc/self/status").empty());
}

TEST_F(ReadFileTest, Pipes) {
  fs::path pipe = root / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  if (::fork() == 0) {
    std::ofstream(pipe) << std::string(200000, 'y');
    ::_exit(0);
  }
  EXPECT_EQ(read(pipe), std::string(200000, 'y'));
}

TEST_F(ReadFileTest, WhatIsNoFile) {
  EXPECT_EQ(read(root / "none"),
            (root / "none").string() + ": cannot open the file: No such file or directory");
  EXPECT_EQ(read(root), root.string() + ": it is a directory, not a file");
  EXPECT_EQ(read("/dev/zero"), "/dev/zero: it is a device, not a file");
}

} // namespace
