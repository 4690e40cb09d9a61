#include "emulator/store/disk_guard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/caught.h"
#include "base/log.h"

namespace penstock::emulator::store {
namespace {

constexpr std::string_view kGuard = "the guard of a data directory";
constexpr std::uint64_t kStep = 4 << 20;  // the reserve grows by this much
constexpr std::uint64_t kPageBytes = 4096;  // of the database
constexpr std::array<const char*, 3> kWatchedNames{"/penstock.db-wal", "/penstock.db", "/blobs"};

std::string ReservePath(const std::string& directory) { return directory + "/penstock.reserve"; }

Error Full(const std::string& directory) {
  return Error::Make(ErrorKind::kResourceExhausted,
                     "no space left for " + directory + "; delete objects or free some space and try again");
}

Error Gone() {
  Error error = Error::Make(ErrorKind::kDataLoss,
                            "The emulator's data directory was removed while the emulator runs, so no write can be kept. "
                            "Restart the emulator.");
  error.code = "InternalError";
  error.http_status = 500;
  return error;
}

}  // namespace

void ReleaseReserve(const std::string& directory) {
  static_cast<void>(::truncate(ReservePath(directory).c_str(), 0) == 0);  // none: nothing to release
}

DiskGuard::DiskGuard(const std::string& directory, Durability durability)
    : directory_(directory),
      durability_(durability),
      reserve_(::open(ReservePath(directory).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
  for (std::size_t i = 0; i < kWatched; ++i) {
    watched_[i] = Descriptor(::open((directory + kWatchedNames[i]).c_str(), O_PATH | O_CLOEXEC));
  }
  const MutexLock lock(mutex_);
  if (!Ensure(kBaseBytes)) is_full_.store(true);
}

DiskGuard::~DiskGuard() {
  Contain(kGuard, [this] { ::unlink(ReservePath(directory_).c_str()); });
}

bool DiskGuard::Ensure(std::uint64_t bytes) {
  const std::uint64_t reserved = reserved_.load(std::memory_order_relaxed);
  if (reserved >= bytes) return true;
  if (!reserve_) return true;
  const auto begin = static_cast<off_t>(reserved);
  if (::fallocate(reserve_.get(), 0, begin, static_cast<off_t>(bytes) - begin) == 0) {
    reserved_.store(bytes, std::memory_order_relaxed);
    return true;
  }
  const bool full = errno == ENOSPC || errno == EDQUOT;
  if (full) static_cast<void>(::ftruncate(reserve_.get(), begin) == 0);  // what it got of the room
  return !full;
}

void DiskGuard::LogHas(int log_pages) noexcept {
  const std::uint64_t wanted = kBaseBytes + static_cast<std::uint64_t>(log_pages) * kPageBytes;
  if (wanted <= reserved_.load(std::memory_order_relaxed) || is_full_.load(std::memory_order_relaxed)) return;
  const std::uint64_t rounded = (wanted + kStep - 1) / kStep * kStep;
  const MutexLock lock(mutex_);
  if (!Ensure(rounded) && !Ensure(wanted)) is_full_.store(true);
}

Result<void> DiskGuard::Admit() noexcept {
  return Caught(kGuard, [this]() -> Result<void> {
    if (is_gone_.load(std::memory_order_relaxed)) return Gone();
    if (!is_full_.load(std::memory_order_relaxed)) return Ok();
    const MutexLock lock(mutex_);
    if (!Ensure(kBaseBytes)) return Full(directory_);
    is_full_.store(false);
    return Ok();
  });
}

bool DiskGuard::MakeRoom() noexcept {
  const MutexLock lock(mutex_);
  is_full_.store(true);  // first: what is released must not go to bodies on their way
  struct stat status {};
  if (!reserve_ || ::fstat(reserve_.get(), &status) != 0) return false;
  reserved_.store(0);  // also where ReleaseReserve gave it away, so that Ensure takes it again
  if (status.st_blocks == 0) return false;
  return ::ftruncate(reserve_.get(), 0) == 0;
}

// The log's pages go to the database file, whose size does not change when they have room there, and the log's room goes
// back to the file system. Readers may keep that from happening; then the next removal tries again.
void DiskGuard::Reclaim(Connection& connection) noexcept {
  const Result<void> moved = Caught(kGuard, [&]() -> Result<void> { return connection.Checkpoint(); });
  if (!moved.ok()) return;
  connection.TruncateLog();
  const MutexLock lock(mutex_);
  if (Ensure(kBaseBytes)) is_full_.store(false);
}

Result<void> DiskGuard::Confirm() noexcept {
  if (is_gone_.load(std::memory_order_relaxed)) return Caught(kGuard, [] { return Result<void>(Gone()); });
  const bool all = durability_ == Durability::kStrict || ++commits_ == kCommitsBetweenChecks;
  if (all) commits_ = 0;
  for (std::size_t i = 0; i < (all ? kWatched : 1); ++i) {
    const Descriptor& file = watched_[i];
    struct stat status {};
    if (!file || (::fstat(file.get(), &status) == 0 && status.st_nlink > 0)) continue;
    is_gone_.store(true);
    return Caught(kGuard, [this]() -> Result<void> {
      Log({LogLevel::kError, "store.directory_removed", {{"directory", directory_}}});
      return Gone();
    });
  }
  return Ok();
}

}  // namespace penstock::emulator::store
