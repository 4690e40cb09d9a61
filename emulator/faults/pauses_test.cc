#include "emulator/faults/pauses.h"

#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

TEST(PausesTest, AWaitLastsItsTime) {
  Pauses pauses;
  const auto began = std::chrono::steady_clock::now();
  Pauses::Turn turn(pauses, nullptr);
  ASSERT_TRUE(turn.granted());
  turn.Wait(std::chrono::milliseconds(3));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(3));
}

TEST(PausesTest, OnlySoManyWaitAtATime) {
  Pauses pauses;
  std::vector<std::unique_ptr<Pauses::Turn>> turns;
  for (int i = 0; i < Pauses::kMost; ++i) turns.push_back(std::make_unique<Pauses::Turn>(pauses, nullptr));
  EXPECT_TRUE(turns.back()->granted());
  {
    Pauses::Turn one_too_many(pauses, nullptr);
    EXPECT_FALSE(one_too_many.granted());
    one_too_many.Wait(std::chrono::hours(1));  // returns at once
  }
  turns.pop_back();
  EXPECT_TRUE(Pauses::Turn(pauses, nullptr).granted());
}

TEST(PausesTest, TheEndEndsWaitsNowAndLater) {
  Pauses pauses;
  Pauses::Turn turn(pauses, nullptr);
  std::jthread waiting([&turn] { turn.Wait(std::chrono::hours(1)); });
  pauses.End();
  waiting.join();
  EXPECT_FALSE(Pauses::Turn(pauses, nullptr).granted());
}

}  // namespace
}  // namespace penstock::emulator::faults
