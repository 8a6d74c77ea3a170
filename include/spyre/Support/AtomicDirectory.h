//===- AtomicDirectory.h - Output that appears whole or not ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are written into a hidden folder beside the target, which is renamed in
// the end: a failed write, an error or an interrupted run leaves what was there
// before. Programs that call cleanUpOnInterrupt remove the hidden folder when a
// signal ends them; what a killed run left behind is removed by the next one, which
// knows it by the number of a process that is gone and by the lock that nobody holds
// (numbers alone say nothing of processes in another container).
//
// The environment variable SPYRE_TEST_FAIL_WRITE_AFTER=N makes the N-th byte that
// the process writes this way fail, as a full disk would. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_ATOMICDIRECTORY_H
#define SPYRE_SUPPORT_ATOMICDIRECTORY_H

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spyre {

/// A directory under construction. Errors are messages that name the path.
class AtomicDirectory {
public:
  /// Writes a file's content.
  using Content = std::function<void(std::ostream &)>;

  AtomicDirectory() = default;
  /// Removes what was written, unless it was committed.
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory &) = delete;
  AtomicDirectory &operator=(const AtomicDirectory &) = delete;

  /// Starts the directory \p target. An existing one will be replaced if it is
  /// empty or holds one of \p markers, files that tell our own output; anything
  /// else is an error, so that no user's folder is lost.
  std::optional<std::string> open(const std::filesystem::path &target,
                                  const std::vector<std::string> &markers);

  /// Writes \p name, a relative path; folders in it are made.
  std::optional<std::string> write(const std::string &name, const Content &content);

  /// Puts the directory in its place.
  std::optional<std::string> commit();

  /// Where the files are until the commit, for writers of their own.
  const std::filesystem::path &getTemporaryPath() const { return temporary; }

private:
  void unlock();

  std::filesystem::path target;
  std::filesystem::path temporary; ///< empty: not open
  int lock = -1;                   ///< tells others that `temporary` is in use
};

/// Puts the folder \p made, which is beside \p target, in the target's place, in one step
/// where the file system can. Returns where what was there is now (empty: there was
/// nothing), for the caller to remove, or a message.
std::variant<std::filesystem::path, std::string>
replaceDirectory(const std::filesystem::path &made, const std::filesystem::path &target);

/// Writes one file the same way: beside \p path, then renamed. What is no regular
/// file (/dev/null, a pipe) is written to directly.
std::optional<std::string> writeFileAtomically(const std::filesystem::path &path,
                                               const AtomicDirectory::Content &content);

/// A folder of its own in the system's place for temporary files, removed with
/// its content at the end and when a signal ends the program.
class ScratchDirectory {
public:
  /// The folder's name begins with \p prefix.
  explicit ScratchDirectory(const std::string &prefix);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory &) = delete;
  ScratchDirectory &operator=(const ScratchDirectory &) = delete;

  /// Empty: it could not be made.
  const std::filesystem::path &getPath() const { return path; }

private:
  std::filesystem::path path;
};

/// From now on SIGINT, SIGTERM and SIGHUP first remove everything that is under
/// construction, then end the program as they would have. Called by main functions.
void cleanUpOnInterrupt();

} // namespace spyre

#endif // SPYRE_SUPPORT_ATOMICDIRECTORY_H
