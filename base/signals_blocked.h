// Starts threads that never run a signal handler.
#ifndef PENSTOCK_BASE_SIGNALS_BLOCKED_H_
#define PENSTOCK_BASE_SIGNALS_BLOCKED_H_

#include <pthread.h>
#include <signal.h>

namespace penstock {

// Blocks every signal for the calling thread until it goes out of scope. Threads started meanwhile
// inherit the mask. The application's threads handle signals: a handler on a Penstock thread could
// interrupt accept() or recv(). A SIGPIPE from a broken TLS connection or sendfile() stays pending,
// which is harmless.
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
