// The id of this process, to detect objects that a forked child must not use.
#ifndef PENSTOCK_BASE_PROCESS_ID_H_
#define PENSTOCK_BASE_PROCESS_ID_H_

namespace penstock {

// getpid() without a system call. Correct after fork(), but not after a bare clone(). Thread
// safety: any thread.
int ProcessId();

}  // namespace penstock

#endif  // PENSTOCK_BASE_PROCESS_ID_H_
