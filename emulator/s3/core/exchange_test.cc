#include "emulator/s3/core/exchange.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"

namespace penstock::emulator::s3 {
namespace {

TEST(ExchangeTest, NowIsTheNamespacesTimeWithTheSkewOfTheRequest) {
  RequestHead head;
  Connection connection;
  Exchange exchange(head, connection);
  EXPECT_EQ(exchange.Now(), std::nullopt);
  const FakeClock clock;
  exchange.space = std::make_shared<Namespace>();
  EXPECT_EQ(exchange.Now(), std::nullopt);
  exchange.space->clock = &clock;
  exchange.clock_ahead = std::chrono::hours(1);
  EXPECT_EQ(exchange.Now(), clock.Now() + std::chrono::hours(1));
}

}  // namespace
}  // namespace penstock::emulator::s3
