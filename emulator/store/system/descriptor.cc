#include "emulator/store/system/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace penstock::emulator::store {
namespace {

std::atomic<std::int64_t> shares_taken{0};

std::int64_t RaiseLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const auto soft = std::min<rlim_t>(limit.rlim_cur, 1 << 20);  // "unlimited" cannot be halved
  return static_cast<std::int64_t>(soft) / 2;
}

}  // namespace

std::int64_t DescriptorShare::Limit() {
  static const std::int64_t limit = RaiseLimit();
  return limit;
}

DescriptorShare DescriptorShare::Take() {
  DescriptorShare share;
  if (shares_taken.fetch_add(1, std::memory_order_relaxed) < Limit()) {
    share.held_ = true;
  } else {
    shares_taken.fetch_sub(1, std::memory_order_relaxed);
  }
  return share;
}

void DescriptorShare::Release() {
  if (std::exchange(held_, false)) shares_taken.fetch_sub(1, std::memory_order_relaxed);
}

Error SystemError(ErrorKind otherwise, std::string_view doing, const std::string& path,
                  int system_error) {
  const bool full = system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
  const bool exhausted =
      full || system_error == EMFILE || system_error == ENFILE || system_error == ENOMEM;
  std::string message = "cannot ";
  message.append(doing).append(" ").append(path).append(": ").append(std::strerror(system_error));
  if (full) message += "; free disk space and try again";
  return Error::Make(exhausted ? ErrorKind::kResourceExhausted : otherwise, std::move(message));
}

Error UnreadableFile(const std::string& path, int system_error) {
  Error error = SystemError(ErrorKind::kInternal, "read", path, system_error);
  error.message += "; the database was not changed; try again when the file can be read";
  return error;
}

Result<std::uint64_t> FileSize(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return static_cast<std::uint64_t>(status.st_size);
  if (errno == ENOENT) return std::uint64_t{0};
  return UnreadableFile(path, errno);
}

Result<void> SyncDirectory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0)
    return SystemError(ErrorKind::kInternal, "sync", path, errno);
  return Ok();
}

int WriteAll(int fd, ByteView& left) {
  while (!left.empty()) {
    const ssize_t written = ::write(fd, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    left = left.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace penstock::emulator::store
