// Linked into wheels beside libstdc++.a, whose std::random_device needs arc4random of glibc 2.36.
// With this one, which has the contract of the C library's, glibc 2.34 suffices.
#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t bits = 0;
  // Fewer bytes than 256 are never interrupted once the kernel's generator is ready.
  while (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    if (errno != EINTR) std::abort();
  }
  return bits;
}
