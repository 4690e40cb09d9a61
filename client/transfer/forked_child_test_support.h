// Runs code of a test in a forked child.
#ifndef PENSTOCK_CLIENT_TRANSFER_FORKED_CHILD_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_TRANSFER_FORKED_CHILD_TEST_SUPPORT_H_

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "penstock/base/error.h"

namespace penstock::transfer {

// Returns the exit status of a forked child that runs `work`, or -1 if a signal ended it, for
// example the alarm of a child that hangs.
inline int StatusOfChild(const std::function<int()>& work) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline bool MentionsFork(const Error& error) {
  return error.kind == ErrorKind::kInvalidArgument &&
         error.message.find("cannot be used after fork()") != std::string::npos;
}

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_FORKED_CHILD_TEST_SUPPORT_H_
