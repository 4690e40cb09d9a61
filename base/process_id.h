// Which process this is, for what must not be used in a forked child.
#ifndef PENSTOCK_BASE_PROCESS_ID_H_
#define PENSTOCK_BASE_PROCESS_ID_H_

namespace penstock {

// getpid() without a system call. It follows fork(), not a bare clone(). Thread safety: any thread.
int ProcessId();

}  // namespace penstock

#endif  // PENSTOCK_BASE_PROCESS_ID_H_
