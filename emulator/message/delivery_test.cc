#include "emulator/message/delivery.h"

#include <gtest/gtest.h>

#include "emulator/message/exchange.h"

namespace penstock::emulator::message {
namespace {

using std::chrono::milliseconds;

TEST(DeliveryTest, HoldBackPutsTheWaitFirst) {
  Delivery delivery;
  delivery.steps.push_back({.kind = DeliveryStep::Kind::kReset});
  HoldBack(delivery, milliseconds(30));
  ASSERT_EQ(delivery.steps.size(), 2u);
  EXPECT_EQ(delivery.steps[0].kind, DeliveryStep::Kind::kWait);
  EXPECT_EQ(delivery.steps[0].place, DeliveryStep::Place::kHead);
  EXPECT_EQ(delivery.steps[0].wait, milliseconds(30));
}

TEST(DeliveryTest, CombinedPacesUseTheSlowerPaceAndTheSmallerPiece) {
  Delivery delivery;
  KeepPace(delivery, 100,
           [](std::uint64_t bytes, MonotonicTime now) { return now + milliseconds(bytes); });
  EXPECT_EQ(delivery.piece, 100u);
  EXPECT_EQ(delivery.pace(7, {}), MonotonicTime() + milliseconds(7));
  KeepPace(delivery, 200, [](std::uint64_t, MonotonicTime now) { return now + milliseconds(20); });
  EXPECT_EQ(delivery.piece, 100u);
  EXPECT_EQ(delivery.pace(7, {}), MonotonicTime() + milliseconds(20));
  EXPECT_EQ(delivery.pace(30, {}), MonotonicTime() + milliseconds(30));
}

TEST(DeliveryTest, DeliveringCreatesTheDeliveryOnce) {
  Response response;
  EXPECT_EQ(response.delivery, nullptr);
  HoldBack(response.Delivering(), milliseconds(1));
  HoldBack(response.Delivering(), milliseconds(2));
  EXPECT_EQ(response.delivery->steps.size(), 2u);
}

}  // namespace
}  // namespace penstock::emulator::message
