// Linked into wheels beside libstdc++.a, whose std::random_device needs arc4random of glibc 2.36. With this one, which has the
// contract of the C library's, glibc 2.34 suffices.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t bits;
  // Fewer bytes than 256 are never interrupted once the kernel's generator is ready.
  while (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
    if (errno != EINTR) abort();
  }
  return bits;
}
