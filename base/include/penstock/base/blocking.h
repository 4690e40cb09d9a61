// Marks the threads that must not block. The client's I/O threads must not wait for a request:
// they complete it, so the wait would never end.
#ifndef PENSTOCK_BASE_BLOCKING_H_
#define PENSTOCK_BASE_BLOCKING_H_

#include <string_view>

#include "penstock/base/export.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {

// Returns true if the calling thread is one of the client's I/O threads, which run callbacks, sinks
// and sources.
bool OnIoThread();

// Returns kInvalidArgument on an I/O thread. `operation` names the blocking call in the message.
// Thread safety: any thread.
Result<void> CheckMayBlock(std::string_view operation);

// Marks the calling thread as an I/O thread during its lifetime.
class IoThreadScope {
 public:
  IoThreadScope();
  ~IoThreadScope();
  IoThreadScope(const IoThreadScope&) = delete;
  IoThreadScope& operator=(const IoThreadScope&) = delete;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_BLOCKING_H_
