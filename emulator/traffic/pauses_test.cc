#include "emulator/traffic/pauses.h"

#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

TEST(PausesTest, WaitLastsItsTime) {
  Pauses pauses;
  const auto began = std::chrono::steady_clock::now();
  Pauses::Permit permit(pauses, nullptr);
  ASSERT_TRUE(permit.granted());
  permit.Wait(std::chrono::milliseconds(3));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(3));
}

TEST(PausesTest, BoundsConcurrentWaits) {
  Pauses pauses;
  std::vector<std::unique_ptr<Pauses::Permit>> permits;
  for (int i = 0; i < Pauses::kMax; ++i)
    permits.push_back(std::make_unique<Pauses::Permit>(pauses, nullptr));
  EXPECT_TRUE(permits.back()->granted());
  {
    Pauses::Permit one_too_many(pauses, nullptr);
    EXPECT_FALSE(one_too_many.granted());
    one_too_many.Wait(std::chrono::hours(1));  // Returns at once.
  }
  permits.pop_back();
  EXPECT_TRUE(Pauses::Permit(pauses, nullptr).granted());
}

TEST(PausesTest, EndEndsCurrentAndFutureWaits) {
  Pauses pauses;
  Pauses::Permit permit(pauses, nullptr);
  std::jthread waiting([&permit] { permit.Wait(std::chrono::hours(1)); });
  pauses.End();
  waiting.join();
  EXPECT_FALSE(Pauses::Permit(pauses, nullptr).granted());
}

class SomeClient final : public message::Wire {
 public:
  explicit SomeClient(int looks_until_closed) : left_(looks_until_closed) {}
  void BeginWait() noexcept override {}
  void EndWait() noexcept override {}
  bool PeerHasClosed() const noexcept override { return left_-- <= 0; }

 private:
  mutable int left_;
};

TEST(PausesTest, WaitEndsWhenTheClientClosesTheConnection) {
  Pauses pauses;
  SomeClient client(2);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(Pauses::Permit(pauses, &client).Wait(std::chrono::seconds(20)));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 3 * message::kPeerCheckInterval);
}

TEST(PausesTest, ShortWaitDoesNotCheckTheConnection) {
  Pauses pauses;
  SomeClient client(0);
  Pauses::Permit permit(pauses, &client);
  EXPECT_TRUE(permit.Wait(std::chrono::milliseconds(1)));
}

TEST(PausesTest, ShortWaitsOfOneTurnCheckTheConnection) {
  Pauses pauses;
  SomeClient client(0);
  Pauses::Permit permit(pauses, &client);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool connected = true;
  while (connected && std::chrono::steady_clock::now() < until)
    connected = permit.Wait(std::chrono::milliseconds(20));
  EXPECT_FALSE(connected);
}

}  // namespace
}  // namespace penstock::emulator::traffic
