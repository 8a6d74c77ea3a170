//===- Temporaries.cpp - What an interrupt has to remove --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handler does its work itself, with nothing but system calls, since it may
// have interrupted an allocation. A thread waiting for signals would not do:
// libraries start threads of their own that take signals with the default action.
//
//===----------------------------------------------------------------------===//

#include "Temporaries.h"

#include "spyre/Support/AtomicDirectory.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <mutex>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace spyre {

namespace {

constexpr size_t kMaxTemporaries = 16;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

struct Slot {
  std::atomic<bool> used{false};
  pid_t owner; // a fork inherits the slots, not what they name
  char path[PATH_MAX];
};

Slot slots[kMaxTemporaries];
std::mutex slotsMutex; // among writers; the handler reads `used` only
std::atomic<bool> interrupted{false};
std::atomic<int> numSteps{0};
struct sigaction previousActions[std::size(kSignals)];

void sleepShortly() {
  timespec pause{0, 1000000};
  ::nanosleep(&pause, nullptr);
}

/// The start of the kernel's record of a directory entry; the name follows.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  uint8_t type;
};
constexpr size_t kNameOffset = offsetof(DirectoryEntry, type) + 1;

/// Removes \p name in the folder \p parent with all that it holds.
void removeTree(int parent, const char *name, int depth) {
  int folder = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    ::unlinkat(parent, name, 0);
    return;
  }
  alignas(DirectoryEntry) char buffer[2048];
  // Removing while reading may skip entries: read again until a pass finds none.
  bool found = depth > 0;
  for (int pass = 0; found && pass < 100; ++pass) {
    found = false;
    ::lseek(folder, 0, SEEK_SET);
    long bytes;
    while ((bytes = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
      for (long at = 0; at < bytes;) {
        DirectoryEntry entry;
        std::memcpy(&entry, buffer + at, sizeof entry);
        const char *child = buffer + at + kNameOffset;
        at += entry.size;
        if (std::strcmp(child, ".") == 0 || std::strcmp(child, "..") == 0)
          continue;
        found = true;
        removeTree(folder, child, depth - 1);
      }
  }
  ::close(folder);
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

void handleInterrupt(int signal) {
  int savedErrno = errno;
  interrupted = true;
  while (numSteps.load() > 0)
    sleepShortly();
  for (Slot &slot : slots)
    if (slot.used.load() && slot.owner == ::getpid())
      removeTree(AT_FDCWD, slot.path, /*depth=*/16);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal)
      ::sigaction(signal, &previousActions[i], nullptr);
  errno = savedErrno;
  // Delivered when this handler returns.
  ::kill(::getpid(), signal);
}

} // namespace

void temporaries::add(const std::filesystem::path &path) {
  std::lock_guard<std::mutex> lock(slotsMutex);
  const std::string &text = path.native();
  if (text.size() >= PATH_MAX)
    return;
  for (Slot &slot : slots) {
    if (slot.used.load())
      continue;
    std::memcpy(slot.path, text.c_str(), text.size() + 1);
    slot.owner = ::getpid();
    slot.used = true;
    return;
  }
}

void temporaries::remove(const std::filesystem::path &path) {
  std::lock_guard<std::mutex> lock(slotsMutex);
  for (Slot &slot : slots)
    if (slot.used.load() && path.native() == slot.path) {
      slot.used = false;
      return;
    }
}

void temporaries::waitIfInterrupted() {
  while (interrupted.load())
    sleepShortly();
}

temporaries::UninterruptedStep::UninterruptedStep() {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (int signal : kSignals)
    sigaddset(&blocked, signal);
  // Blocked on this thread first: a handler on it would wait for itself.
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  ++numSteps;
  // A handler that began before leaves no time for the step.
  if (interrupted.load()) {
    --numSteps;
    waitIfInterrupted();
  }
}

temporaries::UninterruptedStep::~UninterruptedStep() {
  --numSteps;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void cleanUpOnInterrupt() {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action{};
    ::sigaction(kSignals[i], nullptr, &previousActions[i]);
    // Ignored signals (as under nohup) stay ignored.
    if (previousActions[i].sa_handler == SIG_IGN)
      continue;
    action.sa_handler = handleInterrupt;
    sigfillset(&action.sa_mask);
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

} // namespace spyre
