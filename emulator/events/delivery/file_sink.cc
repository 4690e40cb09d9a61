#include "emulator/events/delivery/file_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/io/descriptor.h"
#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::events {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostLines = 100;
constexpr milliseconds kLockLimit{2'000};
constexpr milliseconds kBetweenLocks{1};

Error RefuseFile(const std::string& path, const std::string& problem) {
  return Error::Make(
      ErrorKind::kInvalidArgument,
      "events file '" + path + "' " + problem + "; name a regular file that this user may write");
}

Result<off_t> SizeOf(const std::string& path, const Descriptor& file) {
  struct stat state {};
  if (::fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode))
    return RefuseFile(path, "is not a regular file");
  return state.st_size;
}

Result<Descriptor> Open(const std::string& path) {
  // O_NONBLOCK: the opening of a FIFO would wait for its reader.
  Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!file) return RefuseFile(path, std::string("cannot be opened: ") + std::strerror(errno));
  PENSTOCK_TRY(SizeOf(path, file));
  return file;
}

class FileSink final : public Sink {
 public:
  FileSink(std::string path, store::Durability durability)
      : path_(std::move(path)), durability_(durability) {}

  std::size_t most() const override { return most_; }

  Result<void> Send(std::string_view /*name_space*/,
                    std::span<const store::StoredEvent> events) override {
    PENSTOCK_ASSIGN(const Descriptor file, Open(path_));
    // Other sinks, of this and other processes, may append to the same file.
    PENSTOCK_TRY(Lock(file));
    const Result<bool> is_first = Append(file, events);
    // Not left to the descriptor: a forked process may hold a copy of it.
    ::flock(file.get(), LOCK_UN);
    if (is_first.ok()) {
      most_ = std::min(most_ * 2, kMostLines);
    } else if (is_first.error().kind == ErrorKind::kResourceExhausted) {
      most_ = std::max<std::size_t>(most_ / 2, 1);  // less may have space
    }
    PENSTOCK_TRY(is_first);
    if (durability_ != store::Durability::kStrict) return Ok();
    if (::fdatasync(file.get()) != 0)
      return store::SystemError(ErrorKind::kUnavailable, "sync", path_, errno);
    if (!*is_first) return Ok();
    return store::SyncDirectory(std::filesystem::path(path_).parent_path());
  }

  void Cancel() override {
    const MutexLock lock(mutex_);
    cancelled_ = true;
    changed_.NotifyAll();
  }

 private:
  Result<void> Lock(const Descriptor& file) {
    const auto limit = SystemClock().Monotonic() + kLockLimit;
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK)
        return store::SystemError(ErrorKind::kUnavailable, "lock", path_, errno);
      const auto now = SystemClock().Monotonic();
      const MutexLock lock(mutex_);
      if (cancelled_ || now >= limit) {
        return Error::Make(ErrorKind::kUnavailable,
                           "events file '" + path_ +
                               "' is locked by another program or sink (flock); end the lock");
      }
      changed_.WaitUntil(mutex_, now + kBetweenLocks);
    }
    return Ok();
  }

  // Returns whether the file was empty. The caller holds the file's lock.
  Result<bool> Append(const Descriptor& file, std::span<const store::StoredEvent> events) {
    const int descriptor = file.get();
    PENSTOCK_ASSIGN(const off_t size, SizeOf(path_, file));
    std::string lines;
    // A power failure can leave a part of a line. Its event is sent again, on a line of its own.
    char last = '\n';
    if (size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1 && last != '\n') lines += '\n';
    for (const store::StoredEvent& stored : events) lines.append(stored.event.message) += '\n';
    ByteView left = AsBytes(lines);
    const int problem = store::WriteAll(descriptor, left);
    if (problem == 0) return size == 0;
    // No part of a line stays.
    if (::ftruncate(descriptor, size) != 0)
      return store::SystemError(ErrorKind::kUnavailable, "shorten", path_, errno);
    return store::SystemError(ErrorKind::kUnavailable, "write", path_, problem);
  }

  const std::string path_;
  const store::Durability durability_;
  std::size_t most_ = kMostLines;  // of the thread that sends
  Mutex mutex_;
  CondVar changed_;
  bool cancelled_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace

Result<std::unique_ptr<Sink>> OpenFileSink(const std::string& path, store::Durability durability) {
  // The working directory of the process may change.
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  PENSTOCK_TRY(Open(error ? path : absolute));
  return std::unique_ptr<Sink>(std::make_unique<FileSink>(error ? path : absolute, durability));
}

}  // namespace penstock::emulator::events
