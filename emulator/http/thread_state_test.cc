#include "emulator/http/thread_state.h"

#include <poll.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

TEST(ThreadState, WhoRunsWantsTheProcessorAndWhoWaitsDoesNot) {
  EXPECT_TRUE(WantsProcessor(OwnThreadId()));
  std::promise<pid_t> id;
  std::promise<void> end;
  std::thread waiting([&] {
    id.set_value(OwnThreadId());
    end.get_future().wait();
  });
  const pid_t thread = id.get_future().get();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (WantsProcessor(thread) && std::chrono::steady_clock::now() < limit) ::poll(nullptr, 0, 1);
  EXPECT_FALSE(WantsProcessor(thread));
  end.set_value();
  waiting.join();
  while (WantsProcessor(thread) && std::chrono::steady_clock::now() < limit) ::poll(nullptr, 0, 1);  // joined just before its end
  EXPECT_FALSE(WantsProcessor(thread)) << "it is gone";
}

}  // namespace
}  // namespace penstock::emulator::http
