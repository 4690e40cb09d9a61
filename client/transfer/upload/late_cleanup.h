// Cleaning up behind the back of somebody who does not wait for it.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_LATE_CLEANUP_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_LATE_CLEANUP_H_

#include <chrono>
#include <functional>

namespace penstock::transfer {

// Runs `task` on a thread of its own and waits for it, but no longer than `patience`. True: it is
// over. Else it goes on by itself, and the end of the process (not of a forked child) waits for it;
// so it is to end by itself, soon, and to own all that it uses. Where no thread can be started it
// runs here, but never on an I/O thread: then it does not run at all.
//
// Thread safety: any thread.
bool RunCleanup(std::function<void()> task, std::chrono::milliseconds patience);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_LATE_CLEANUP_H_
