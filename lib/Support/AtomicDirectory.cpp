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
#include <sys/file.h>
#include <sys/stat.h>
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
  /// \p isNew: there must be no such file, and nobody takes it for one left behind.
  FileBuffer(const fs::path &path, bool isNew) {
    temporaries::waitIfInterrupted();
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC), 0666);
    if (file < 0)
      error = errno;
    else if (isNew)
      ::flock(file, LOCK_EX | LOCK_NB);
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
                                     const AtomicDirectory::Content &content, bool isNew) {
  FileBuffer buffer(path, isNew);
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

/// A name that nothing has yet. (Processes of two containers may have one number.)
fs::path makeTemporaryPath(const fs::path &target) {
  static std::atomic<int> count{0};
  std::string prefix = getTemporaryPrefix(target) + std::to_string(::getpid()) + "-";
  std::error_code ignored;
  fs::path path;
  do
    path = target.parent_path() / (prefix + std::to_string(count++));
  while (fs::exists(fs::symlink_status(path, ignored)));
  return path;
}

/// True if a process, of this machine or of a container that shares the folder, is
/// writing \p path: it holds a lock on it.
bool isLocked(const fs::path &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return false;
  bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return locked;
}

/// Locks the folder \p path, if it is there still. -1: it is not; somebody took it for
/// one left behind before it was locked.
int lockFolder(const fs::path &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return -1;
  // Where the file system has no locks, the number of the process has to do.
  ::flock(folder, LOCK_EX | LOCK_NB);
  struct stat named{}, held{};
  if (::stat(path.c_str(), &named) == 0 && ::fstat(folder, &held) == 0 &&
      named.st_ino == held.st_ino && named.st_dev == held.st_dev)
    return folder;
  ::close(folder);
  return -1;
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
    // A process of another container looks like one that is gone: it holds a lock.
    if (::kill(process, 0) != 0 && errno == ESRCH && !isLocked(it->path()))
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

/// Puts the folder \p made at \p target. What was there has the name that is returned.
fs::path putInPlace(const fs::path &made, const fs::path &target, std::error_code &error) {
  constexpr int kMostAttempts = 100; // others may put theirs there at the same time
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    // One step.
    if (exchange(made, target))
      return made;
    if (!fs::exists(target, error)) {
      fs::rename(made, target, error);
      if (error != std::errc::directory_not_empty && error != std::errc::file_exists)
        return {};
      continue;
    }
    // A directory cannot be renamed over one with content: move that aside first.
    fs::path old = makeTemporaryPath(target);
    fs::rename(target, old, error);
    if (error == std::errc::no_such_file_or_directory)
      continue;
    if (error)
      return {};
    fs::rename(made, target, error);
    if (!error)
      return old;
    std::error_code ignored;
    fs::rename(old, target, ignored);
    if (error != std::errc::directory_not_empty && error != std::errc::file_exists)
      return {};
    if (ignored)
      fs::remove_all(old, ignored);
  }
  return {};
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
  if (!temporary.empty()) {
    fs::remove_all(temporary, error);
    temporaries::remove(temporary);
  }
  unlock();
}

void AtomicDirectory::unlock() {
  if (lock >= 0)
    ::close(lock);
  lock = -1;
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
  constexpr int kMostAttempts = 100; // others may take a name, or remove the folder
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    temporary = makeTemporaryPath(target);
    temporaries::add(temporary);
    bool made = fs::create_directory(temporary, error);
    if (made && (lock = lockFolder(temporary)) >= 0)
      return std::nullopt;
    temporaries::remove(temporary);
    temporary.clear();
    if (error)
      return describe(path, error.message());
  }
  return describe(path, "others take or remove each temporary folder beside it");
}

std::optional<std::string> AtomicDirectory::write(const std::string &name, const Content &content) {
  temporaries::waitIfInterrupted();
  // The folders inside, never the temporary one: if somebody has removed that, what
  // was written before is lost, and a new one would hold a part of the output.
  fs::path folder = temporary;
  std::error_code error;
  for (const fs::path &part : fs::path(name).parent_path())
    if (fs::create_directory(folder /= part, error); error)
      break;
  std::optional<std::string> failure = error ? describe(target / name, error.message())
                                             : writeFile(temporary / name, target / name, content,
                                                         /*isNew=*/false);
  if (failure && !fs::exists(temporary, error))
    return describe(target / name, "another process has removed '" + temporary.string() +
                                       "', where it was being made");
  return failure;
}

std::optional<std::string> AtomicDirectory::commit() {
  std::error_code error;
  fs::path old;
  {
    // An interrupt comes before or after the whole step.
    temporaries::UninterruptedStep step;
    old = putInPlace(temporary, target, error);
    if (error)
      return describe(target, error.message());
    temporaries::remove(temporary);
    if (!old.empty())
      temporaries::add(old);
  }
  temporary.clear();
  unlock();
  if (!old.empty()) {
    fs::remove_all(old, error);
    temporaries::remove(old);
  }
  return std::nullopt;
}

std::variant<fs::path, std::string> replaceDirectory(const fs::path &made, const fs::path &target) {
  std::error_code error;
  fs::path place = normalize(target, error);
  if (error || !place.has_filename())
    return describe(target, error ? error.message() : "no name of a directory");
  fs::path old = putInPlace(made, place, error);
  if (error)
    return describe(target, error.message());
  return old;
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
    return writeFile(target, path, content, /*isNew=*/false);
  removeStale(target);
  fs::path temporary = makeTemporaryPath(target);
  temporaries::add(temporary);
  std::optional<std::string> failure = writeFile(temporary, path, content, /*isNew=*/true);
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
