#include "base/signals_blocked.h"

#include <gtest/gtest.h>

#include <thread>

namespace penstock {
namespace {

bool IsBlocked(int signal) {
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return ::sigismember(&mask, signal) == 1;
}

TEST(SignalsBlocked, ThreadStartedInScopeBlocksSignals) {
  bool blocked = false;
  std::thread thread;
  {
    const SignalsBlocked scope;
    thread = std::thread(
        [&] { blocked = IsBlocked(SIGINT) && IsBlocked(SIGPIPE) && IsBlocked(SIGUSR1); });
  }
  thread.join();
  EXPECT_TRUE(blocked);
}

TEST(SignalsBlocked, RestoresTheCallersMask) {
  const bool before = IsBlocked(SIGUSR1);
  {
    const SignalsBlocked scope;
    EXPECT_TRUE(IsBlocked(SIGUSR1));
  }
  EXPECT_EQ(IsBlocked(SIGUSR1), before);
}

}  // namespace
}  // namespace penstock
