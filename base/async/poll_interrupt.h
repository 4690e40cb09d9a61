// Calls the interrupt of a caller who waits.
#ifndef PENSTOCK_BASE_ASYNC_POLL_INTERRUPT_H_
#define PENSTOCK_BASE_ASYNC_POLL_INTERRUPT_H_

#include <functional>

#include "base/log/caught.h"
#include "penstock/base/result.h"

namespace penstock {

// Returns what `interrupt` returns, false if it is null, and the exception that it throws as an
// error. An exception must not unwind a wait: a call in flight may use the memory of its caller.
inline Result<bool> PollInterrupt(const std::function<bool()>& interrupt) {
  return Caught("an interrupt", [&]() -> Result<bool> { return interrupt && interrupt(); });
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_ASYNC_POLL_INTERRUPT_H_
