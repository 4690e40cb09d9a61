// PENSTOCK_CHECK: for our bugs, never for the world's failures. Prints the place and aborts.
#ifndef PENSTOCK_BASE_CHECK_H_
#define PENSTOCK_BASE_CHECK_H_

namespace penstock {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace penstock

#define PENSTOCK_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::penstock::CheckFailed(#condition, __FILE__, __LINE__))

#endif  // PENSTOCK_BASE_CHECK_H_
