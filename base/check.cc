#include "penstock/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace penstock {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "penstock bug: check failed at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace penstock
