// Starts threads that never run a signal handler.
#ifndef PENSTOCK_BASE_SIGNALS_BLOCKED_H_
#define PENSTOCK_BASE_SIGNALS_BLOCKED_H_

#include <pthread.h>
#include <signal.h>

namespace penstock {

// Blocks every signal for the calling thread, and so for threads it starts, until it goes out of
// scope. Signals belong to the program's own threads: a handler on ours could end accept() or
// recv(). SIGPIPE of a broken TLS connection or a sendfile() stays pending there, harmless.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_SIGNALS_BLOCKED_H_
