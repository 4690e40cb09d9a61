// PENSTOCK_CHECK asserts an internal invariant. On failure it prints the condition, file and line,
// then aborts. Not for errors at run time: those are Results.
#ifndef PENSTOCK_BASE_CHECK_H_
#define PENSTOCK_BASE_CHECK_H_

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace penstock

#define PENSTOCK_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::penstock::CheckFailed(#condition, __FILE__, __LINE__))

#endif  // PENSTOCK_BASE_CHECK_H_
