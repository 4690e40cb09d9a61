#include "emulator/server/namespaces/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log/diagnostics.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kGeneration = "generation-";
constexpr std::string_view kDeleted = "deleted-";
constexpr std::string_view kTrashPrefix = ".deleted-";
constexpr std::string_view kLock = "penstock.lock";

constinit DiagnosticEvent not_removed("server.folder_not_removed");  // the next start removes it
// A power failure may remove the new directory.
constinit DiagnosticEvent not_synced("server.parent_folder_not_synced");

// Returns a number above `least` that this process has not used. The directory of a store that is
// being removed can then never be confused with that of a new one in the same place.
std::uint64_t FreshNumber(std::uint64_t least) {
  static std::atomic<std::uint64_t> highest{0};
  std::uint64_t seen = highest.load();
  std::uint64_t fresh = 0;
  do {
    fresh = (seen > least ? seen : least) + 1;
  } while (!highest.compare_exchange_weak(seen, fresh));
  return fresh;
}

// Returns N for "PREFIXN".
std::optional<std::uint64_t> NumberOf(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint64_t number = 0;
  const auto parsed =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return std::nullopt;
  return number;
}

// The highest numbers in a directory; 0 if there is none.
struct Highest {
  std::uint64_t generation = 0;  // of a complete store
  std::uint64_t unfinished = 0;
  std::uint64_t deleted = 0;
  bool has_other_names = false;

  std::uint64_t used() const { return std::max({generation, unfinished, deleted}); }
  bool is_deleted() const { return deleted > 0 && deleted >= generation; }
};

Highest HighestIn(const std::string& path, std::error_code& error) {
  Highest highest;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (const auto generation = NumberOf(name, kGeneration)) {
      std::uint64_t& kind = store::IsUnfinishedStore(entry->path().string()) ? highest.unfinished
                                                                             : highest.generation;
      kind = std::max(kind, *generation);
    } else if (const auto deleted = NumberOf(name, kDeleted)) {
      highest.deleted = std::max(highest.deleted, *deleted);
    } else if (name != kLock) {
      highest.has_other_names = true;
    }
  }
  return highest;
}

// Returns the directories that get a new entry when `path` and its missing parents are created.
std::vector<fs::path> ParentsToCreateIn(const fs::path& path) {
  std::vector<fs::path> parents;
  std::error_code ignored;
  for (fs::path at = fs::absolute(path, ignored);
       at.has_relative_path() && !fs::exists(at, ignored); at = at.parent_path()) {
    parents.push_back(at.parent_path());
  }
  return parents;
}

Error Unusable(const std::string& path, int system_error) {
  const Error cause = store::SystemError(ErrorKind::kInvalidArgument, "use", path, system_error);
  const bool exhausted = cause.kind == ErrorKind::kResourceExhausted;
  return Error::Make(
      cause.kind,
      "data directory '" + path + "' cannot be used: " + std::strerror(system_error) +
          (exhausted ? "; free some and try again" : "; choose a directory this user may write"));
}

Error InUse(const std::string& path) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "data directory '" + path +
                         "' is in use by another emulator; stop it or choose another directory");
}

}  // namespace

std::optional<std::uint64_t> DataDirectory::GenerationOf(std::string_view folder_name) {
  return NumberOf(folder_name, kGeneration);
}

Result<std::vector<std::string>> DataDirectory::Prepare(const std::string& path) {
  std::error_code error;
  const std::vector<fs::path> changed = ParentsToCreateIn(path);
  fs::create_directories(fs::absolute(path).parent_path(), error);
  if (error) return Unusable(path, error.value());
  std::vector<std::string> notices;
  if (::mkdir(path.c_str(), 0700) == 0) {
    // A parent that this user cannot read cannot be fsynced.
    for (const fs::path& parent : changed) {
      const Result<void> synced = store::SyncDirectory(parent.string());
      if (!synced.ok()) not_synced.Report(synced.error());
    }
    return notices;
  }
  if (errno != EEXIST) return Unusable(path, errno);
  struct stat state {};
  if (::stat(path.c_str(), &state) == 0 && (state.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(state.st_mode & 07777));
    notices.push_back("other users of this machine may read the data directory '" + path +
                      "' (mode " + mode + "); to prevent it: chmod 700 '" + path + "'");
  }
  return notices;
}

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(std::string path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Unusable(path, error.value());
  const std::string lock_path = path + "/" + std::string(kLock);
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Unusable(path, errno);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(lock);
    return reason == EWOULDBLOCK ? InUse(path) : Unusable(path, reason);
  }
  std::unique_ptr<DataDirectory> directory(new DataDirectory(std::move(path), lock));
  const Highest highest = HighestIn(directory->path_, error);
  if (error) return Unusable(directory->path_, error.value());
  directory->deleted_ = highest.deleted;
  directory->generation_ =
      highest.generation > 0 ? highest.generation : FreshNumber(highest.used());
  directory->next_ = FreshNumber(std::max(directory->generation_, highest.used()));
  return directory;
}

DataDirectory::~DataDirectory() {
  // Explicit, because a forked worker may hold a copy of the descriptor, which keeps the lock.
  ::flock(lock_, LOCK_UN);
  ::close(lock_);
}

std::string DataDirectory::PathOf(std::uint64_t generation) const {
  return path_ + "/" + std::string(kGeneration) + std::to_string(generation);
}

std::string DataDirectory::CurrentPath() const { return PathOf(generation_); }

std::string DataDirectory::NextPath() const { return PathOf(next_); }

void DataDirectory::AdoptNext() {
  generation_ = next_;
  next_ = FreshNumber(generation_);
}

Result<void> DataDirectory::MarkDeleted() {
  const std::string mark = path_ + "/" + std::string(kDeleted) + std::to_string(generation_);
  const int file = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    return Error::Make(ErrorKind::kInternal,
                       "'" + mark + "' cannot be made: " + std::strerror(errno));
  ::close(file);
  deleted_ = generation_;
  return Ok();
}

bool DataDirectory::IsDeleted(const std::string& path) {
  std::error_code error;
  const Highest highest = HighestIn(path, error);
  return !error && highest.is_deleted();
}

bool DataDirectory::IsVacant(const std::string& path) {
  std::error_code error;
  const Highest highest = HighestIn(path, error);
  return !error && (highest.is_deleted() || (highest.generation == 0 && !highest.has_other_names));
}

std::optional<std::string> DataDirectory::MoveToTrash(const std::string& path) {
  static std::atomic<std::uint64_t> count{0};
  try {
    const fs::path trash =
        fs::path(path).parent_path() / (std::string(kTrashPrefix) + std::to_string(++count));
    std::error_code error;
    fs::rename(path, trash, error);
    if (!error) return trash.string();
    not_removed.ReportSystemError(path, error.value());
  } catch (...) {  // no memory; destructors call this function
    not_removed.Report(CurrentExceptionError());
  }
  return std::nullopt;
}

bool DataDirectory::IsTrash(std::string_view folder_name) {
  return folder_name.starts_with(kTrashPrefix);
}

void DataDirectory::Remove(const std::string& path) {
  try {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) not_removed.ReportSystemError(path, error.value());
  } catch (...) {  // no memory; destructors call this function
    not_removed.Report(CurrentExceptionError());
  }
}

void DataDirectory::RemoveUnfinished(const std::string& path) {
  std::error_code error;
  std::vector<std::string> unfinished;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string generation = entry->path().string();
    if (GenerationOf(entry->path().filename().string()) && store::IsUnfinishedStore(generation))
      unfinished.push_back(generation);
  }
  for (const std::string& generation : unfinished) Remove(generation);
}

void DataDirectory::RemoveOthers() const {
  std::error_code error;
  std::vector<std::string> others;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto generation = NumberOf(name, kGeneration);
    const auto deleted = NumberOf(name, kDeleted);
    if ((generation && *generation != generation_) || (deleted && *deleted < generation_))
      others.push_back(entry->path().string());
  }
  // Removes the marks last: until then they show that the generations are deleted.
  std::sort(others.begin(), others.end(), std::greater<>());
  for (const std::string& other : others) Remove(other);
}

}  // namespace penstock::emulator::server
