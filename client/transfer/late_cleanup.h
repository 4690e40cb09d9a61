// Runs cleanup work that may continue after the caller stops waiting.
#ifndef PENSTOCK_CLIENT_TRANSFER_LATE_CLEANUP_H_
#define PENSTOCK_CLIENT_TRANSFER_LATE_CLEANUP_H_

#include <chrono>
#include <functional>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {
namespace transfer {

// Runs `task` on its own thread and waits at most `max_wait` for it. Returns true if it has
// finished. Otherwise it continues, and the exit of this process (not of a forked child) waits for
// it. So the task must end by itself, soon, and own everything that it uses. An exception of the
// task is logged and counted. If no thread can be started, also for lack of memory, the task runs
// on the calling thread. On an I/O thread it then does not run at all. Thread safety: any thread.
bool RunCleanup(std::function<void()> task, std::chrono::milliseconds max_wait);

}  // namespace transfer
}  // namespace penstock

#endif  // PENSTOCK_CLIENT_TRANSFER_LATE_CLEANUP_H_
