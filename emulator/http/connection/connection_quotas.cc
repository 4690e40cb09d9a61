#include "emulator/http/connection/connection_quotas.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace penstock::emulator::http {

bool ConnectionQuotas::EnterThread() {
  int free = free_threads_.load(std::memory_order_relaxed);
  while (free > 0) {
    if (free_threads_.compare_exchange_weak(free, free - 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

bool ConnectionQuotas::ReserveSpace(std::uint64_t bytes) {
  std::uint64_t free = free_bytes_.load(std::memory_order_relaxed);
  while (free >= bytes) {
    if (free_bytes_.compare_exchange_weak(free, free - bytes, std::memory_order_relaxed))
      return true;
  }
  return false;
}

bool ConnectionQuotas::ReserveResponse(std::uint64_t bytes, bool last) {
  const std::uint64_t limit = last ? 2 * response_bytes_ : response_bytes_;
  std::uint64_t held = response_bytes_held_.load(std::memory_order_relaxed);
  while (held == 0 || held + bytes <= limit) {
    if (response_bytes_held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed))
      return true;
  }
  return false;
}

std::uint64_t ConnectionQuotas::DefaultSocketBytes() {
  constexpr std::uint64_t kUnknown = 64 << 20;
  // tcp_mem[0] of tcp(7), in pages: below it the kernel does not limit TCP memory.
  std::ifstream file("/proc/sys/net/ipv4/tcp_mem");
  std::uint64_t pages = 0;
  if (!(file >> pages)) return kUnknown;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

Result<int> ConnectionQuotas::OpenFile() const {
  std::string directory = directory_;
  if (directory.empty()) {
    std::error_code none;
    directory = std::filesystem::temp_directory_path(none).string();
    if (directory.empty()) directory = "/tmp";
  }
  const int unnamed = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // Not every file system has O_TMPFILE.
  std::string path = directory + "/penstock-body-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named < 0) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "Cannot make a temporary file in '" + directory + "' (" +
                           std::system_category().message(errno) +
                           "): free disk space there, or raise the limit of open files");
  }
  ::unlink(path.c_str());
  return named;
}

}  // namespace penstock::emulator::http
