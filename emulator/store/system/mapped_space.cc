#include "emulator/store/system/mapped_space.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace penstock::emulator::store {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

}  // namespace

int AllocateMapped(void* begin, std::size_t size) {
  // The memory may begin within a page; madvise(2) requires the start of a page.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t skipped = reinterpret_cast<std::uintptr_t>(begin) % page;
  char* const start = static_cast<char*>(begin) - skipped;
  while (::madvise(start, size + skipped, MADV_POPULATE_WRITE) != 0) {
    if (errno == EFAULT || errno == ENOMEM) return errno;
    if (errno != EINTR && errno != EAGAIN) return 0;
  }
  return 0;
}

}  // namespace penstock::emulator::store
