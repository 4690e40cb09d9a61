#include "emulator/store/commits/reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {
namespace {

// The disk is full: a removal of objects may fail.
constinit DiagnosticEvent incomplete("store.reserve_incomplete");

// A smaller reserve cannot hold the log of a removal.
constexpr std::uint64_t kMinBytes = 32 << 10;

std::uint64_t SizeOf(const Descriptor& file) {
  struct stat status {};
  return file && ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Reserve::Reserve(const std::string& path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)), bytes_(SizeOf(file_)) {}

void Reserve::Release(const std::string& path) {
  static_cast<void>(::truncate(path.c_str(), 0) == 0);  // the file may not exist
}

bool Reserve::Extend(std::uint64_t bytes) noexcept {
  const std::uint64_t held = this->bytes();
  if (held >= bytes || !file_) return true;
  const auto begin = static_cast<off_t>(held);
  if (::fallocate(file_.get(), 0, begin, static_cast<off_t>(bytes) - begin) == 0) {
    bytes_.store(bytes, std::memory_order_relaxed);
    return true;
  }
  const bool full = errno == ENOSPC || errno == EDQUOT;
  if (full)
    static_cast<void>(::ftruncate(file_.get(), begin) == 0);  // returns partly allocated space
  return !full;
}

bool Reserve::ExtendUpTo(std::uint64_t bytes) noexcept {
  if (Extend(bytes)) return true;
  incomplete.Report("the disk is full, so removals may fail; free disk space");
  do {
    bytes /= 2;
  } while (bytes >= kMinBytes && !Extend(bytes));
  return false;
}

bool Reserve::Shrink(std::uint64_t bytes) noexcept {
  // The file, not bytes_: Release may have emptied it.
  const std::uint64_t held = SizeOf(file_);
  if (held <= bytes) {
    bytes_.store(held, std::memory_order_relaxed);
    return false;
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) return false;
  bytes_.store(bytes, std::memory_order_relaxed);
  return true;
}

}  // namespace penstock::emulator::store
