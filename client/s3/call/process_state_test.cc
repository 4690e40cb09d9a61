#include "client/s3/call/process_state.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

auth::ProviderPtr Fresh() { return auth::MakeAnonymousProvider(); }

TEST(ProcessStateTest, CreatesItsProviderOnce) {
  int made = 0;
  ProcessState state([&made] {
    ++made;
    return Fresh();
  });
  EXPECT_EQ(state.provider(), state.provider());
  EXPECT_EQ(made, 1);
}

TEST(ProcessStateTest, KeepsOneSignerPerRegion) {
  ProcessState state(Fresh);
  const auth::Signer& west = state.SignerFor({"us-west-2"});
  const auth::Signer& east = state.SignerFor({"us-east-1"});
  EXPECT_EQ(&state.SignerFor({"us-west-2"}), &west);
  EXPECT_NE(&east, &west);
  EXPECT_EQ(east.scope().region, "us-east-1");
}

TEST(ProcessStateTest, ThreadsThatStartTogetherShareOneRateLimiter) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 200; ++round) {
    ProcessState state(Fresh);
    state.provider();
    std::latch start(kThreads);
    RateLimiter* seen[kThreads] = {};
    {
      std::vector<std::jthread> threads;
      for (RateLimiter*& limiter : seen) {
        threads.emplace_back([&state, &start, &limiter] {
          start.arrive_and_wait();
          limiter = &state.adaptive_rate(SystemClock().Monotonic());
        });
      }
    }
    for (RateLimiter* limiter : seen) ASSERT_EQ(limiter, &state.adaptive_rate({}));
  }
}

TEST(ProcessStateTest, AForkedChildCreatesItsOwn) {
  ProcessState state(Fresh);
  const auth::ProviderPtr parents = state.provider();
  const auth::Signer* parents_signer = &state.SignerFor({"r"});
  const auto parents_sessions = state.sessions();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool own = state.sessions() != parents_sessions && state.provider() != parents &&
                     &state.SignerFor({"r"}) != parents_signer &&
                     state.provider() == state.provider();
    ::_exit(own ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(state.provider(), parents);
}

}  // namespace
}  // namespace penstock::s3
