//===- ReadFile.cpp - A file's bytes, or why not ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/ReadFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace spyre {

std::variant<std::string, ReadFailure> readFile(const std::string &file) {
  int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  auto fail = [&](const std::string &reason) {
    if (descriptor >= 0)
      ::close(descriptor);
    return ReadFailure{file + ": " + reason};
  };
  if (descriptor < 0)
    return fail(std::string("cannot open the file: ") + std::strerror(errno));
  struct stat status{};
  if (::fstat(descriptor, &status) != 0)
    return fail(std::string("cannot read the file: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    return fail("it is a directory, not a file");
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
    return fail("it is a device, not a file");
  std::string bytes;
  if (S_ISREG(status.st_mode) && status.st_size > 0)
    bytes.reserve(static_cast<size_t>(status.st_size) + 1);
  for (;;) {
    constexpr size_t kChunk = size_t(1) << 20;
    size_t size = bytes.size();
    // No larger than the file where its size is known: the last round finds its end.
    size_t room = bytes.capacity() > size ? bytes.capacity() - size : kChunk;
    bytes.resize(size + room);
    ssize_t count = ::read(descriptor, bytes.data() + size, room);
    bytes.resize(size + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(std::string("cannot read the file: ") + std::strerror(errno));
    if (count == 0)
      break;
  }
  ::close(descriptor);
  return bytes;
}

} // namespace spyre
