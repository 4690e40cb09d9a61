#include "emulator/server/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "generation-";

// A number above `least` that this process has not used before: the folder of a store that is still being taken apart is
// never mistaken for that of a new one in the same place.
std::uint64_t FreshNumber(std::uint64_t least) {
  static std::atomic<std::uint64_t> highest{0};
  std::uint64_t seen = highest.load();
  std::uint64_t fresh = 0;
  do {
    fresh = (seen > least ? seen : least) + 1;
  } while (!highest.compare_exchange_weak(seen, fresh));
  return fresh;
}

Error Unusable(const std::string& path, const std::string& why) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "data directory '" + path + "' cannot be used: " + why + "; choose a directory this user may write");
}

Error InUse(const std::string& path) {
  return Error::Make(ErrorKind::kInvalidArgument, "data directory '" + path +
                                                      "' is in use by another emulator; stop it or choose another directory");
}

}  // namespace

std::optional<std::uint64_t> DataDirectory::GenerationOf(const std::string& folder_name) {
  if (!std::string_view(folder_name).starts_with(kPrefix)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const last = folder_name.data() + folder_name.size();
  const auto parsed = std::from_chars(folder_name.data() + kPrefix.size(), last, number);
  if (parsed.ec != std::errc() || parsed.ptr != last) return std::nullopt;
  return number;
}

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(std::string path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Unusable(path, error.message());
  const std::string lock_path = path + "/penstock.lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) return Unusable(path, std::strerror(errno));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(lock);
    return reason == EWOULDBLOCK ? InUse(path) : Unusable(path, std::strerror(reason));
  }
  std::unique_ptr<DataDirectory> directory(new DataDirectory(std::move(path), lock));
  for (fs::directory_iterator entry(directory->path_, error), end; !error && entry != end; entry.increment(error)) {
    const auto number = GenerationOf(entry->path().filename().string());
    if (number && *number > directory->generation_) directory->generation_ = *number;
  }
  if (error) return Unusable(directory->path_, error.message());
  if (directory->generation_ == 0) directory->generation_ = FreshNumber(0);
  directory->next_ = FreshNumber(directory->generation_);
  return directory;
}

DataDirectory::~DataDirectory() {
  ::flock(lock_, LOCK_UN);  // a forked worker may hold a copy of the descriptor: closing alone would keep the lock
  ::close(lock_);
}

std::string DataDirectory::PathOf(std::uint64_t generation) const {
  return path_ + "/" + std::string(kPrefix) + std::to_string(generation);
}

std::string DataDirectory::CurrentPath() const { return PathOf(generation_); }

std::string DataDirectory::NextPath() const { return PathOf(next_); }

void DataDirectory::AdoptNext() {
  generation_ = next_;
  next_ = FreshNumber(generation_);
}

Result<void> DataDirectory::MoveTo(const std::string& path) {
  std::error_code error;
  fs::rename(path_, path, error);
  if (error) return Error::Make(ErrorKind::kInternal, "'" + path_ + "' cannot be moved away: " + error.message());
  path_ = path;
  return Ok();
}

void DataDirectory::RemoveGeneration(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void DataDirectory::RemoveOthers() const {
  std::error_code error;
  std::vector<std::string> others;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    const auto number = GenerationOf(entry->path().filename().string());
    if (number && *number != generation_) others.push_back(entry->path().string());
  }
  for (const std::string& other : others) RemoveGeneration(other);
}

}  // namespace penstock::emulator::server
