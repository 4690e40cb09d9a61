// Whether a thread wants the processor: tells one that is held up from one that is only slow.
#ifndef PENSTOCK_EMULATOR_HTTP_THREAD_STATE_H_
#define PENSTOCK_EMULATOR_HTTP_THREAD_STATE_H_

#include <sys/types.h>

namespace penstock::emulator::http {

pid_t OwnThreadId();

// True: the thread runs or could run at once, had it a processor. False also where nobody can tell. For a thread of this
// process; a few microseconds.
bool WantsProcessor(pid_t thread);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_THREAD_STATE_H_
