#include "client/cache/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "base/io/file_error.h"
#include "base/log/diagnostics.h"
#include "base/process_id.h"
#include "penstock/base/clock.h"

namespace penstock::cache {
namespace {

constexpr const char* kFolder = "v2";  // A format that this code cannot read gets another name.
constexpr std::string_view kTemporary = ".tmp-";
constexpr std::uint64_t kDiskUnit = 4096;
constexpr std::uint64_t kStateLock = 0;
constexpr std::uint64_t kEvictionLock = 1;
constexpr std::uint64_t kFirstBlockLock = 16;
// A file that is being written changes more often.
constexpr std::chrono::minutes kAbandoned{10};
constexpr std::chrono::seconds kPauseWithoutSpace{1};
constexpr std::uint64_t kFlushBytes = 4 << 20;
constexpr std::chrono::nanoseconds kFlushInterval = std::chrono::milliseconds(100);
constexpr int kFlushTries = 20;  // 1 ms apart
constexpr std::uint64_t kNoLimit = INT64_MAX;

constinit DiagnosticEvent cache_error("cache.error");
constinit DiagnosticEvent cache_damaged("cache.damaged_block");

std::int64_t Nanoseconds(const ::timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             SystemClock().Now().time_since_epoch())
      .count();
}

// Adds what a process counts. The state has stored_bytes and requested_bytes of its own.
void Sum(const CacheStats& delta, CacheStats& total) {
  total.hits += delta.hits;
  total.hit_bytes += delta.hit_bytes;
  total.misses += delta.misses;
  total.miss_bytes += delta.miss_bytes;
  total.stored += delta.stored;
  total.refused += delta.refused;
  total.evicted += delta.evicted;
  total.damaged += delta.damaged;
  total.errors += delta.errors;
}

std::int64_t MonotonicNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             SystemClock().Monotonic().time_since_epoch())
      .count();
}

std::uint64_t OnDisk(std::uint64_t file_bytes) {
  return (file_bytes + kDiskUnit - 1) / kDiskUnit * kDiskUnit;
}

BlockAge AgeOf(const struct ::stat& status) {
  return {.stored = Nanoseconds(status.st_mtim),
          .used = std::max(Nanoseconds(status.st_atim), Nanoseconds(status.st_mtim)),
          .bytes = OnDisk(static_cast<std::uint64_t>(status.st_size))};
}

// Opens a file for reading. O_NONBLOCK: the open of a FIFO would wait for a writer. Another kind of
// file is kNotRegular. On failure sets errno.
constexpr int kNotRegular = ELOOP;  // also O_NOFOLLOW's error for a symbolic link
Descriptor OpenRegular(const std::string& path, struct ::stat& status, int flags = 0) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags));
  if (!file && errno == ENXIO) errno = kNotRegular;  // a socket
  if (!file || ::fstat(file.get(), &status) != 0) return Descriptor();
  if (S_ISREG(status.st_mode)) return file;
  file.Close();
  errno = kNotRegular;
  return Descriptor();
}

std::uint64_t LockByteOf(const BlockId& id) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < 15; ++i) {
    const char c = id.hash[i];
    hash = hash << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return kFirstBlockLock + hash + id.index;  // the blocks of an object have adjacent bytes
}

Result<void> CheckOwner(const std::string& path) {
  struct ::stat status {};
  if (::lstat(path.c_str(), &status) != 0) return FileError("use", path, errno);
  if (!S_ISDIR(status.st_mode)) return FileError("use", path, ENOTDIR);
  if (status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the cache directory '" + path +
                         "' belongs to another user, or others may write to it; give a directory "
                         "of your own, or run chmod go-w on it");
}

}  // namespace

// The content of the state file. All processes of a node have the same byte order.
struct CacheFolder::State {
  char magic[8] = {'P', 'S', 'T', 'K', 'C', 'S', 'T', '1'};
  CacheStats stats;
  ReadHistory history;
  std::uint32_t crc = 0;

  std::uint32_t Crc() const {
    return Crc32c(ByteView(reinterpret_cast<const std::byte*>(this), offsetof(State, crc)));
  }
};

CacheFolder::CacheFolder(std::string path, StateFile::Ptr state)
    : path_(std::move(path)), state_file_(std::move(state)) {}

Result<std::unique_ptr<CacheFolder>> CacheFolder::OpenAt(const std::string& directory,
                                                         bool create) {
  if (!directory.starts_with('/')) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the cache directory must be an absolute path, "
                       "not '" +
                           directory + "'");
  }
  if (directory.find('\0') != std::string::npos) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the cache directory contains a NUL character; remove it");
  }
  std::string path = (std::filesystem::path(directory) / kFolder).string();
  if (create) {
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    if (failed) return FileError("create", directory, failed.value());
    if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
      return FileError("create", path, errno);
  }
  PENSTOCK_TRY(CheckOwner(path));
  PENSTOCK_ASSIGN(StateFile::Ptr state, StateFile::Open(path + "/state", create));
  return std::unique_ptr<CacheFolder>(new CacheFolder(std::move(path), std::move(state)));
}

Result<std::unique_ptr<CacheFolder>> CacheFolder::OpenExisting(const std::string& directory) {
  PENSTOCK_ASSIGN(auto folder, OpenAt(directory, false));
  folder->limit_ = kNoLimit;
  return folder;
}

Result<std::unique_ptr<CacheFolder>> CacheFolder::Open(const std::string& directory,
                                                       std::optional<std::uint64_t> max_bytes) {
  PENSTOCK_ASSIGN(auto folder, OpenAt(directory, true));
  if (!folder->ReadState()) {
    // A new cache, or one whose state was lost: counts what is there.
    std::uint64_t bytes = 0;
    PENSTOCK_TRY(folder->Scan([&](const Scanned& file) {
      bytes += file.age.bytes;
      return true;
    }));
    folder->SetStoredBytes(bytes, 0);
  }
  const std::uint64_t stored = folder->stats().stored_bytes;
  if (!max_bytes) {
    struct ::statvfs space {};
    if (::statvfs(folder->path_.c_str(), &space) != 0)
      return FileError("measure", folder->path_, errno);
    const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
    const std::uint64_t kept = std::uint64_t{space.f_blocks} * space.f_frsize / 20;
    max_bytes = std::max(kMinCacheBytes, stored + free - std::min(free, kept));
  }
  folder->limit_ = *max_bytes;
  return folder;
}

void CacheFolder::CountError(std::string_view what, int system_error) {
  cache_error.ReportSystemError(what, system_error);
  Add({.errors = 1});
}

// ---- locks ----

bool CacheFolder::TryLockBlock(const BlockId& id) { return state_file_->TryLock(LockByteOf(id)); }
void CacheFolder::UnlockBlock(const BlockId& id) { state_file_->Unlock(LockByteOf(id)); }
bool CacheFolder::IsBlockLocked(const BlockId& id) const {
  return state_file_->IsLocked(LockByteOf(id));
}

// ---- counters ----

std::optional<CacheFolder::State> CacheFolder::ReadState() const {
  State state;
  const State fresh;
  const ::ssize_t count = ::pread(state_file_->fd(), &state, sizeof state, 0);
  if (count != sizeof state || std::memcmp(state.magic, fresh.magic, sizeof fresh.magic) != 0 ||
      state.crc != state.Crc())
    return std::nullopt;
  return state;
}

void CacheFolder::ApplyPending(State& state) {
  const CacheStats pending = std::exchange(pending_, {});
  CacheStats& stats = state.stats;
  Sum(pending, stats);
  stats.requested_bytes += pending.hit_bytes + pending.miss_bytes;
  const auto stored =
      static_cast<std::int64_t>(stats.stored_bytes) + std::exchange(pending_stored_bytes_, 0);
  stats.stored_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, stored));
  if (limit_ != kNoLimit) state.history.Record(stats.requested_bytes, limit_, Now());
  state.crc = state.Crc();
}

bool CacheFolder::Flush() {
  const MutexLock lock(mutex_);
  next_flush_ = MonotonicNow() + kFlushInterval.count();
  const MutexLock of_process(state_file_->counters);
  if (!state_file_->TryLock(kStateLock)) return false;
  State lost;
  lost.stats.stored_bytes = known_stored_bytes_;
  State state = ReadState().value_or(lost);
  ApplyPending(state);
  if (::pwrite(state_file_->fd(), &state, sizeof state, 0) != sizeof state) ++pending_.errors;
  state_file_->Unlock(kStateLock);
  known_stored_bytes_ = state.stats.stored_bytes;
  last_tick_ = state.history.LastTick();
  return true;
}

void CacheFolder::Add(const CacheStats& delta) {
  bool flush = false;
  {
    const MutexLock lock(mutex_);
    Sum(delta, pending_);
    flush = pending_.hit_bytes + pending_.miss_bytes >= std::min(kFlushBytes, limit_ / 64) ||
            MonotonicNow() >= next_flush_;
  }
  if (flush) Flush();
}

CacheStats CacheFolder::stats() {
  Flush();
  return ReadState().value_or(State()).stats;
}

// `before`: the stored bytes that the state had when the scan began. What was stored meanwhile is
// added, though the scan may have seen it: the result is rather too high than too low.
void CacheFolder::SetStoredBytes(std::uint64_t scanned, std::uint64_t before) {
  {
    const MutexLock lock(mutex_);
    // As a difference, so that the lock need not be waited for: a stopped process may have it.
    if (const auto state = ReadState()) known_stored_bytes_ = state->stats.stored_bytes;
    const auto known = static_cast<std::int64_t>(known_stored_bytes_);
    const std::int64_t added = known + pending_stored_bytes_ - static_cast<std::int64_t>(before);
    pending_stored_bytes_ =
        static_cast<std::int64_t>(scanned) + std::max<std::int64_t>(0, added) - known;
  }
  Flush();
}

// ---- blocks ----

bool CacheFolder::Has(const BlockId& id) const { return ::access(PathOf(id).c_str(), F_OK) == 0; }

std::optional<BlockHead> CacheFolder::Peek(const BlockId& id) const {
  struct ::stat status {};
  const Descriptor file = OpenRegular(PathOf(id), status);
  if (!file) return std::nullopt;
  Result<BlockHead> head = ReadHead(file.get(), id, static_cast<std::uint64_t>(status.st_size));
  if (!head.ok()) return std::nullopt;
  return std::move(head).value();
}

Result<OpenBlock> CacheFolder::OpenBlockFile(const BlockId& id) {
  OpenBlock block;
  struct ::stat status {};
  block.file = OpenRegular(PathOf(id), status, O_NOATIME);
  if (!block.file && errno == EPERM) block.file = OpenRegular(PathOf(id), status);
  const int error = block.file ? 0 : errno;
  if (error == ENOENT) return Error::Make(ErrorKind::kNotFound, "no such block");
  if (error != 0 && error != kNotRegular) {
    CountError("cannot open a block of the cache", error);
    return FileError("open", PathOf(id), error);
  }
  Result<BlockHead> head =
      error == kNotRegular
          ? Error::Make(ErrorKind::kDataLoss, "a block of the cache is not a regular file")
          : ReadHead(block.file.get(), id, static_cast<std::uint64_t>(status.st_size));
  if (!head.ok()) {
    if (head.error().kind != ErrorKind::kDataLoss) {
      cache_error.Report(head.error());
      Add({.errors = 1});
    } else if (const int kept = RemoveDamaged(id, head.error().message); kept != 0) {
      return FileError("remove", PathOf(id), kept);
    }
    return std::move(head).error();
  }
  block.head = std::move(head).value();
  block.inode = status.st_ino;
  block.changed = Nanoseconds(status.st_mtim);
  if (AgeOf(status).used < last_tick_.load(std::memory_order_relaxed)) MarkUsed(block);
  return block;
}

std::optional<OpenBlock> CacheFolder::OpenForRead(const BlockId& id) {
  Result<OpenBlock> block = OpenBlockFile(id);
  return block.ok() ? std::optional(std::move(block).value()) : std::nullopt;
}

void CacheFolder::MarkUsed(const OpenBlock& block) {
  const ::timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  static_cast<void>(::futimens(block.file.get(), times));  // only the choice of victims needs it
}

int CacheFolder::Remove(const BlockId& id) {
  const std::string path = PathOf(id);
  struct ::stat status {};
  if (::lstat(path.c_str(), &status) != 0 || ::unlink(path.c_str()) != 0)
    return errno == ENOENT ? 0 : errno;
  const MutexLock lock(mutex_);
  pending_stored_bytes_ -= static_cast<std::int64_t>(AgeOf(status).bytes);
  return 0;
}

int CacheFolder::RemoveDamaged(const BlockId& id, const std::string& why) {
  cache_damaged.Report(why);
  const int error = Remove(id);
  if (error == 0) Add({.damaged = 1});
  else CountError("cannot remove a damaged block of the cache", error);
  return error;
}

bool CacheFolder::TryReserve(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const auto stored = static_cast<std::int64_t>(known_stored_bytes_) + pending_stored_bytes_;
  if (static_cast<std::uint64_t>(std::max<std::int64_t>(0, stored)) + bytes > limit_) return false;
  pending_stored_bytes_ += static_cast<std::int64_t>(bytes);
  writing_bytes_ += bytes;
  return true;
}

bool CacheFolder::MakeRoom(std::uint64_t bytes) {
  Flush();
  if (!TryReserve(bytes)) {
    const std::uint64_t limit = limit_;
    const auto spare = static_cast<std::uint64_t>(kEvictShare * static_cast<double>(limit));
    const auto shrunk = Shrink(limit - std::min(limit, spare + bytes), false);
    if (!shrunk.ok()) {
      cache_error.Report(shrunk.error());
      Add({.errors = 1});
    }
    if (!TryReserve(bytes)) return false;
  }
  // Otherwise the last blocks of each process would not be counted, and many short processes would
  // exceed the limit.
  for (int i = 0; i < kFlushTries && !Flush(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

CacheFolder::Stored CacheFolder::Store(const BlockId& id, BlockHead head, ByteView data) {
  if (MonotonicNow() < no_space_until_.load(std::memory_order_relaxed)) {
    Add({.refused = 1});
    return Stored::kNoRoom;
  }
  head.data_bytes = data.size();
  head.data_crc = Crc32c(data);
  const std::string footer = EncodeFooter(head);
  const std::uint64_t bytes = OnDisk(data.size() + footer.size());
  if (footer.size() > kMaxFooterBytes || !MakeRoom(bytes)) {
    Add({.refused = 1});
    return Stored::kNoRoom;
  }
  const bool written = Write(id, footer, data);
  const MutexLock lock(mutex_);
  writing_bytes_ -= bytes;
  if (!written) pending_stored_bytes_ -= static_cast<std::int64_t>(bytes);
  pending_.stored += written ? 1 : 0;
  return written ? Stored::kYes : Stored::kFailed;
}

bool CacheFolder::Write(const BlockId& id, const std::string& footer, ByteView data) {
  const std::string path = PathOf(id);
  const std::string folder = path_ + "/" + id.hash.substr(0, 2);
  const std::string temporary = folder + "/" + std::string(kTemporary) +
                                std::to_string(ProcessId()) + "-" + std::to_string(Now()) + "-" +
                                std::to_string(next_name_.fetch_add(1));
  const auto create = [&] {
    return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  };
  Descriptor file(create());
  if (!file && errno == ENOENT && (::mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST))
    file = Descriptor(create());
  int failure = file ? 0 : errno;
  if (file) {
    Result<void> written = WriteAt(file.get(), data, 0, temporary);
    if (written.ok()) written = WriteAt(file.get(), AsBytes(footer), data.size(), temporary);
    const int closed = file.Close();
    failure = written.ok()                                            ? closed
              : written.error().kind == ErrorKind::kResourceExhausted ? ENOSPC
                                                                      : EIO;
    if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
    if (failure != 0) ::unlink(temporary.c_str());
  }
  if (failure == 0) return true;
  if (failure == ENOSPC) {
    no_space_until_ =
        MonotonicNow() +
        std::chrono::duration_cast<std::chrono::nanoseconds>(kPauseWithoutSpace).count();
  }
  CountError("cannot write a block of the cache", failure);
  return false;
}

// ---- scans ----

Result<void> CacheFolder::Scan(const std::function<bool(const Scanned&)>& visit) const {
  const auto close = [](::DIR* open) { ::closedir(open); };
  using Directory = std::unique_ptr<::DIR, decltype(close)>;
  for (int number = 0; number < 256; ++number) {
    constexpr char kDigits[] = "0123456789abcdef";
    const std::string folder = {kDigits[number >> 4], kDigits[number & 15]};
    const Directory directory(::opendir((path_ + "/" + folder).c_str()), close);
    if (directory == nullptr) {
      if (errno == ENOENT) continue;
      return FileError("list", path_ + "/" + folder, errno);
    }
    while (const ::dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
      const std::string_view name = entry->d_name;
      auto id = ParseBlockPath(folder, name);
      if (!id && !name.starts_with(kTemporary)) continue;
      struct ::stat status {};
      if (::fstatat(::dirfd(directory.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        continue;  // removed meanwhile
      const std::string file = folder + "/" + entry->d_name;
      if (!visit({file, std::move(id), AgeOf(status)})) return Ok();
    }
  }
  return Ok();
}

Result<std::optional<CachePrune>> CacheFolder::Shrink(std::uint64_t max_bytes,
                                                      bool least_recently_used) {
  if (!state_file_->eviction.TryLock()) return std::optional<CachePrune>();
  const bool locked = state_file_->TryLock(kEvictionLock);
  Result<CachePrune> result = CachePrune();
  if (locked) {
    result = Evict(max_bytes, least_recently_used);
    state_file_->Unlock(kEvictionLock);
  }
  state_file_->eviction.Unlock();
  if (!result.ok()) return std::move(result).error();
  return locked ? std::optional<CachePrune>(*result) : std::nullopt;
}

Result<CachePrune> CacheFolder::Evict(std::uint64_t max_bytes, bool least_recently_used) {
  Flush();
  const State state = ReadState().value_or(State());
  const std::int64_t abandoned =
      Now() - std::chrono::duration_cast<std::chrono::nanoseconds>(kAbandoned).count();
  std::uint64_t writing = 0;  // the scan may not see these
  {
    const MutexLock lock(mutex_);
    writing = writing_bytes_;
  }
  CachePrune result;
  std::vector<BlockAge> blocks;
  PENSTOCK_TRY(Scan([&](const Scanned& file) {
    if (file.id) blocks.push_back(file.age);
    const bool remove = !file.id && file.age.stored < abandoned;
    if (remove && ::unlink((path_ + "/" + file.file).c_str()) == 0)
      result.removed_bytes += file.age.bytes;
    else result.kept_bytes += file.age.bytes;
    return true;
  }));
  const std::uint64_t excess = result.kept_bytes - std::min(result.kept_bytes, max_bytes);
  if (excess > 0) {
    const EvictionPlan plan = least_recently_used
                                  ? PlanPrune(blocks, excess)
                                  : PlanEviction(blocks, excess, state.history.StaleBefore());
    std::uint64_t freed = 0;
    PENSTOCK_TRY(Scan([&](const Scanned& file) {
      if (!file.id || !plan.Evicts(file.age)) return true;
      if (::unlink((path_ + "/" + file.file).c_str()) == 0) {
        ++result.removed;
        freed += file.age.bytes;
      }
      return freed < excess;
    }));
    result.removed_bytes += freed;
    result.kept_bytes -= std::min(freed, result.kept_bytes);
  }
  Add({.evicted = result.removed});
  SetStoredBytes(result.kept_bytes + writing, state.stats.stored_bytes);
  return result;
}

}  // namespace penstock::cache
