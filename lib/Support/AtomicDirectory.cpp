//===- AtomicDirectory.cpp - Output that appears whole or not -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/AtomicDirectory.h"

#include "Temporaries.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <streambuf>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace spyre {

namespace fs = std::filesystem;

namespace {

std::atomic<int64_t> bytesWritten{0};

/// The N of SPYRE_TEST_FAIL_WRITE_AFTER, or -1.
int64_t getFailingByte() {
  static const int64_t failing = [] {
    const char *text = std::getenv("SPYRE_TEST_FAIL_WRITE_AFTER");
    int64_t value = -1;
    if (text)
      std::from_chars(text, text + std::strlen(text), value);
    return value;
  }();
  return failing;
}

/// A file descriptor as a stream buffer that keeps the first error.
class FileBuffer : public std::streambuf {
public:
  explicit FileBuffer(const fs::path &path) {
    temporaries::waitIfInterrupted();
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
      error = errno;
    setp(buffer, buffer + sizeof buffer);
  }
  ~FileBuffer() override { close(); }

  /// Flushes and closes; returns the first error, 0 if there was none.
  int close() {
    sync();
    if (file >= 0 && ::close(file) != 0 && !error)
      error = errno;
    file = -1;
    return error;
  }

protected:
  int_type overflow(int_type c) override {
    if (sync() != 0)
      return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof()))
      sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override {
    size_t size = static_cast<size_t>(pptr() - pbase());
    writeBytes(pbase(), size);
    setp(buffer, buffer + sizeof buffer);
    return error ? -1 : 0;
  }

private:
  void writeBytes(const char *data, size_t size) {
    if (error || file < 0)
      return;
    int64_t before = bytesWritten.fetch_add(static_cast<int64_t>(size));
    if (int64_t failing = getFailingByte();
        failing > 0 && before + static_cast<int64_t>(size) >= failing) {
      error = ENOSPC;
      // The bytes before the failing one do arrive, as on a full disk.
      size = before < failing ? static_cast<size_t>(failing - 1 - before) : 0;
    }
    while (size > 0) {
      ssize_t count = ::write(file, data, size);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0) {
        error = count < 0 ? errno : EIO;
        return;
      }
      data += count;
      size -= static_cast<size_t>(count);
    }
  }

  int file = -1;
  int error = 0;
  char buffer[1 << 14];
};

std::string describe(const fs::path &path, const std::string &reason) {
  return "cannot write " + path.string() + ": " + reason;
}

std::optional<std::string> writeFile(const fs::path &path, const fs::path &shownPath,
                                     const AtomicDirectory::Content &content) {
  FileBuffer buffer(path);
  std::ostream os(&buffer);
  content(os);
  os.flush();
  if (int error = buffer.close())
    return describe(shownPath, std::strerror(error));
  if (!os)
    return describe(shownPath, "the stream failed");
  return std::nullopt;
}

/// "." + name + ".tmp-" of \p target, the process's number follows.
std::string getTemporaryPrefix(const fs::path &target) {
  return "." + target.filename().string() + ".tmp-";
}

fs::path makeTemporaryPath(const fs::path &target) {
  static std::atomic<int> count{0};
  return target.parent_path() /
         (getTemporaryPrefix(target) + std::to_string(::getpid()) + "-" + std::to_string(count++));
}

/// Removes what runs that no longer live left beside \p target.
void removeStale(const fs::path &target) {
  std::error_code error;
  std::string prefix = getTemporaryPrefix(target);
  std::vector<fs::path> stale;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.compare(0, prefix.size(), prefix) != 0)
      continue;
    int process = 0;
    const char *first = name.data() + prefix.size(), *last = name.data() + name.size();
    auto [next, failed] = std::from_chars(first, last, process);
    if (failed != std::errc() || next == last || *next != '-' || process <= 0)
      continue;
    if (::kill(process, 0) != 0 && errno == ESRCH)
      stale.push_back(it->path());
  }
  for (const fs::path &path : stale)
    fs::remove_all(path, error);
}

/// Swaps two directories in one step. False where the file system cannot.
bool exchange(const fs::path &a, const fs::path &b) {
#if defined(SYS_renameat2)
  constexpr unsigned kExchange = 2; // RENAME_EXCHANGE of <linux/fs.h>
  return ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), kExchange) == 0;
#else
  return false;
#endif
}

/// An absolute path without a trailing slash, so that it has a name and a parent.
/// A link stands for what it points to: that is replaced, not the link.
fs::path normalize(const fs::path &path, std::error_code &error) {
  fs::path result = fs::absolute(path, error).lexically_normal();
  if (!result.has_filename())
    result = result.parent_path();
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(result, ignored)))
    if (fs::path real = fs::canonical(result, ignored); !ignored)
      return real;
  return result;
}

} // namespace

AtomicDirectory::~AtomicDirectory() {
  std::error_code error;
  if (temporary.empty())
    return;
  fs::remove_all(temporary, error);
  temporaries::remove(temporary);
}

std::optional<std::string> AtomicDirectory::open(const fs::path &path,
                                                 const std::vector<std::string> &markers) {
  std::error_code error;
  target = normalize(path, error);
  if (error || !target.has_filename())
    return describe(path, error ? error.message() : "no name of a directory");
  fs::file_status status = fs::status(target, error);
  if (fs::exists(status)) {
    if (!fs::is_directory(status))
      return describe(path, "it exists and is no directory");
    bool ours = fs::is_empty(target, error);
    if (error)
      return describe(path, error.message());
    for (const std::string &marker : markers)
      ours |= fs::exists(target / marker, error);
    if (!ours)
      return describe(path, "the directory exists and is not one that this program wrote");
  }
  fs::create_directories(target.parent_path(), error);
  if (error)
    return describe(path, error.message());
  removeStale(target);
  temporary = makeTemporaryPath(target);
  temporaries::add(temporary);
  if (!fs::create_directory(temporary, error)) {
    temporaries::remove(temporary);
    fs::path failed = std::move(temporary);
    temporary.clear();
    return describe(path, error ? error.message() : failed.string() + " exists");
  }
  return std::nullopt;
}

std::optional<std::string> AtomicDirectory::write(const std::string &name, const Content &content) {
  temporaries::waitIfInterrupted();
  fs::path path = temporary / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    return describe(target / name, error.message());
  return writeFile(path, target / name, content);
}

std::optional<std::string> AtomicDirectory::commit() {
  std::error_code error;
  fs::path old;
  {
    // An interrupt comes before or after the whole step.
    temporaries::UninterruptedStep step;
    if (!fs::exists(target, error)) {
      fs::rename(temporary, target, error);
    } else if (exchange(temporary, target)) {
      // One step, and what was there before has the temporary name now.
      old = temporary;
    } else {
      // A directory cannot be renamed over one with content: move that aside first.
      old = makeTemporaryPath(target);
      fs::rename(target, old, error);
      if (error)
        return describe(target, error.message());
      fs::rename(temporary, target, error);
      if (error) {
        std::string reason = error.message();
        fs::rename(old, target, error);
        return describe(target, reason);
      }
    }
    if (error)
      return describe(target, error.message());
    temporaries::remove(temporary);
    if (!old.empty())
      temporaries::add(old);
  }
  temporary.clear();
  if (!old.empty()) {
    fs::remove_all(old, error);
    temporaries::remove(old);
  }
  return std::nullopt;
}

std::optional<std::string> writeFileAtomically(const fs::path &path,
                                               const AtomicDirectory::Content &content) {
  std::error_code error;
  fs::path target = normalize(path, error);
  if (error || !target.has_filename())
    return describe(path, error ? error.message() : "no name of a file");
  fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status))
    return describe(path, "it is a directory");
  // Devices and pipes (/dev/null, /dev/stdout) are written to, never replaced.
  if (fs::exists(status) && !fs::is_regular_file(status))
    return writeFile(target, path, content);
  removeStale(target);
  fs::path temporary = makeTemporaryPath(target);
  temporaries::add(temporary);
  std::optional<std::string> failure = writeFile(temporary, path, content);
  if (!failure) {
    fs::rename(temporary, target, error);
    if (error)
      failure = describe(path, error.message());
  }
  if (failure)
    fs::remove(temporary, error);
  temporaries::remove(temporary);
  return failure;
}

ScratchDirectory::ScratchDirectory(const std::string &prefix) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / (prefix + "-XXXXXX")).string();
  if (error || !::mkdtemp(name.data()))
    return;
  path = name;
  temporaries::add(path);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  if (path.empty())
    return;
  fs::remove_all(path, error);
  temporaries::remove(path);
}

} // namespace spyre
