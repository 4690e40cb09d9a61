#include "emulator/traffic/pacer.h"

#include "gtest/gtest.h"

namespace penstock::emulator::traffic {
namespace {

using std::chrono::milliseconds;

constexpr MonotonicTime kNow{std::chrono::hours(1)};

TEST(PacerTest, ReservesTimeInFifoOrder) {
  Pacer pacer(1'000);
  EXPECT_EQ(pacer.Take(100, kNow), kNow + milliseconds(100))
      << "the time at which the last byte may be sent";
  EXPECT_EQ(pacer.Take(50, kNow), kNow + milliseconds(150));
  EXPECT_EQ(pacer.Take(1, kNow + milliseconds(10)), kNow + milliseconds(151));
}

TEST(PacerTest, IdleTimeGivesNoCredit) {
  Pacer pacer(1'000);
  pacer.Take(100, kNow);
  EXPECT_EQ(pacer.Take(100, kNow + milliseconds(5'000)), kNow + milliseconds(5'100));
  EXPECT_EQ(pacer.Take(100, kNow + milliseconds(5'000)), kNow + milliseconds(5'200));
}

TEST(PacerTest, PiecesAre20MsOfTheRate) {
  EXPECT_EQ(Pacer(1).piece(), 1U);
  EXPECT_EQ(Pacer(200'000).piece(), 4'000U);
  EXPECT_EQ(Pacer(90'000'000'000).piece(), 1U << 20);
}

TEST(PacedTransferTest, MakesUpForTimerDelays) {
  PacedTransfer transfer(std::make_shared<Pacer>(1'000));
  EXPECT_EQ(transfer.Next(20, kNow), kNow + milliseconds(20));
  EXPECT_EQ(transfer.Next(20, kNow + milliseconds(27)), kNow + milliseconds(40))
      << "the previous piece was 7 ms late";
  EXPECT_EQ(transfer.Next(20, kNow + milliseconds(1'000)), kNow + milliseconds(920))
      << "a client that paused makes up for at most 100 ms";
}

TEST(PacedTransferTest, TransfersShareTheRate) {
  const auto pacer = std::make_shared<Pacer>(1'000);
  PacedTransfer first(pacer);
  PacedTransfer second(pacer);
  EXPECT_EQ(first.Next(20, kNow), kNow + milliseconds(20));
  EXPECT_EQ(second.Next(20, kNow), kNow + milliseconds(40));
  EXPECT_EQ(first.Next(20, kNow + milliseconds(20)), kNow + milliseconds(60));
}

TEST(PaceResponseTest, SlowerOfTwoRatesApplies) {
  message::Delivery delivery;
  PaceResponse(delivery, std::make_shared<Pacer>(1'000));
  PaceResponse(delivery, std::make_shared<Pacer>(500));
  EXPECT_EQ(delivery.piece, 10U);
  EXPECT_EQ(delivery.pace(10, kNow), kNow + milliseconds(20));
}

TEST(PacersTest, PacersAreSharedByName) {
  Pacers pacers;
  EXPECT_EQ(pacers.Find("a", 10), pacers.Find("a", 10));
  EXPECT_NE(pacers.Find("a", 10), pacers.Find("b", 10));
}

TEST(PacersTest, PacersAreDroppedAboveTheLimit) {
  Pacers pacers;
  const auto first = pacers.Find("first", 10);
  for (std::size_t i = 1; i <= Pacers::kMax; ++i) pacers.Find(std::to_string(i), 10);
  EXPECT_NE(pacers.Find("first", 10), first);
}

}  // namespace
}  // namespace penstock::emulator::traffic
