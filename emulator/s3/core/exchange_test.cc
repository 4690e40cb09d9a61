#include "emulator/s3/core/exchange.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/fake_clock.h"

namespace penstock::emulator::s3 {
namespace {

class NoResponse final : public AsyncResponse {
 public:
  Executor& executor() override { std::abort(); }
  void Complete() noexcept override {}
};

TEST(ExchangeTest, WhenAnsweredRunsAtOnceOrLaterInOrder) {
  RequestHead head;
  Connection connection;
  NoResponse async;
  Exchange exchange(head, connection);
  exchange.async = &async;
  std::string looks;
  exchange.WhenAnswered([&](Exchange&) { looks += "now "; });
  EXPECT_EQ(looks, "now ");
  const PendingResponse pending = exchange.RespondLater();
  exchange.WhenAnswered([&](Exchange&) { looks += "inner "; });
  exchange.WhenAnswered([&](Exchange&) { looks += "outer"; });
  EXPECT_EQ(looks, "now ");
  for (const auto& look : exchange.when_answered) look();
  EXPECT_EQ(looks, "now inner outer");
}

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
