#include "emulator/store/commits/disk_guard.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/log/caught.h"
#include "base/log/log.h"

namespace penstock::emulator::store {
namespace {

constexpr std::string_view kGuard = "the guard of a data directory";
constexpr std::uint64_t kStep = 4 << 20;    // the reserve grows by this much
constexpr std::uint64_t kPageBytes = 4096;  // of the database
// Two changes of a directory within the resolution of its time stamps leave the same time stamp. No
// file system has a coarser resolution than this.
constexpr std::time_t kCoarsestTimeSeconds = 3;

std::string ReservePath(const std::string& directory) { return directory + "/penstock.reserve"; }

Error DiskFullError(const std::string& directory) {
  return Error::Make(
      ErrorKind::kResourceExhausted,
      "no space left for " + directory + "; delete objects or free disk space, then try again");
}

Error DirectoryRemovedError() { return RemovedError("data directory"); }

}  // namespace

void ReleaseReserve(const std::string& directory) { Reserve::Release(ReservePath(directory)); }

DiskGuard::DiskGuard(const std::string& directory, Durability durability)
    : directory_(directory),
      durability_(durability),
      folder_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      watched_({directory + "/penstock.db-wal", directory + "/penstock.db", directory + "/blobs"}),
      reserve_(ReservePath(directory)) {
  const MutexLock lock(mutex_);
  if (!reserve_.ExtendUpTo(kBaseBytes)) is_full_.store(true);
}

DiskGuard::~DiskGuard() { static_cast<void>(reserve_.ExtendUpTo(kClosedBytes)); }

void DiskGuard::BeginClose() noexcept {
  const MutexLock lock(mutex_);
  static_cast<void>(reserve_.Shrink(kClosedBytes));
  watched_.Close();
  folder_.Close();
}

void DiskGuard::SetLogPages(int log_pages) noexcept {
  const std::uint64_t wanted = kBaseBytes + static_cast<std::uint64_t>(log_pages) * kPageBytes;
  if (wanted <= reserve_.bytes() || is_full_.load(std::memory_order_relaxed)) return;
  const std::uint64_t rounded = (wanted + kStep - 1) / kStep * kStep;
  const MutexLock lock(mutex_);
  if (!reserve_.Extend(rounded) && !reserve_.Extend(wanted)) is_full_.store(true);
}

Result<void> DiskGuard::Admit() noexcept {
  return Caught(kGuard, [this]() -> Result<void> {
    if (is_removed_.load(std::memory_order_relaxed)) return DirectoryRemovedError();
    if (!is_full_.load(std::memory_order_relaxed)) return Ok();
    const MutexLock lock(mutex_);
    if (!reserve_.ExtendUpTo(kBaseBytes)) return DiskFullError(directory_);
    is_full_.store(false);
    return Ok();
  });
}

bool DiskGuard::MakeRoom() noexcept {
  const MutexLock lock(mutex_);
  is_full_.store(true);  // first: uploads in progress must not use the released space
  return reserve_.Shrink(0);
}

// Moves the log's pages to the database file, whose size does not change if they fit there, and
// returns the log's space to the file system. Readers can prevent this; then the next removal tries
// again.
void DiskGuard::Reclaim(Connection& connection) noexcept {
  const Result<void> moved =
      Caught(kGuard, [&]() -> Result<void> { return connection.Checkpoint(); });
  if (!moved.ok()) return;
  connection.TruncateLog();
  const MutexLock lock(mutex_);
  if (reserve_.ExtendUpTo(kBaseBytes)) is_full_.store(false);
}

// Checking all files takes six system calls. In strict mode that is little beside the commit's
// fsync. In relaxed mode, an unchanged change time of the directory shows that no entry was added
// or removed, and most commits need one system call.
Result<void> DiskGuard::Confirm() noexcept {
  if (is_removed_.load(std::memory_order_relaxed))
    return Caught(kGuard, [] { return Result<void>(DirectoryRemovedError()); });
  struct stat folder {};
  const bool has_time =
      durability_ == Durability::kRelaxed && folder_ && ::fstat(folder_.get(), &folder) == 0;
  const timespec& changed = folder.st_ctim;
  const bool is_unchanged =
      has_time && changed.tv_sec == last_change_.tv_sec && changed.tv_nsec == last_change_.tv_nsec;
  if (is_unchanged && ++commits_ < kCommitsBetweenChecks) return Ok();
  commits_ = 0;
  if (!watched_.Exist()) {
    is_removed_.store(true);
    return Caught(kGuard, [this]() -> Result<void> {
      Log({LogLevel::kError, "store.directory_removed", {{"directory", directory_}}});
      return DirectoryRemovedError();
    });
  }
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const bool is_settled = has_time && now.tv_sec - changed.tv_sec > kCoarsestTimeSeconds;
  last_change_ = is_settled ? changed : timespec{};
  return Ok();
}

}  // namespace penstock::emulator::store
