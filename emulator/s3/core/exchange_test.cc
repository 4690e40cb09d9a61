#include "emulator/s3/core/exchange.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace penstock::emulator::s3 {
namespace {

TEST(ExchangeTest, FindIgnoresCaseAndReturnsTheFirstHeader) {
  RequestHead head;
  head.headers = {{"X-A", "1"}, {"x-a", "2"}};
  EXPECT_EQ(head.Find("x-A"), "1");
  EXPECT_FALSE(head.Find("x-b").has_value());
}

TEST(ExchangeTest, ResponseKeepsDuplicatesInOrder) {
  Response response;
  response.Add("Vary", "a");
  response.Add("Vary", "b");
  EXPECT_EQ(response.headers.size(), 2u);
  EXPECT_EQ(response.Find("vary"), "a");
  EXPECT_FALSE(response.Find("x").has_value());
}

class CountingResponse final : public AsyncResponse {
 public:
  store::Executor& executor() override { std::abort(); }
  void Complete() noexcept override { ++completions; }
  int completions = 0;
};

TEST(ExchangeTest, WhenAnsweredRunsAtOnceOrLaterInOrder) {
  RequestHead head;
  Connection connection;
  CountingResponse async;
  Exchange exchange{.request = head, .connection = connection};
  exchange.late = &async;
  std::string looks;
  exchange.WhenAnswered([&](Exchange&) { looks += "now "; });
  EXPECT_EQ(looks, "now ");
  const PendingResponse pending = exchange.RespondLater();
  exchange.WhenAnswered([&](Exchange&) { looks += "inner "; });
  exchange.WhenAnswered([&](Exchange&) { looks += "outer"; });
  EXPECT_EQ(looks, "now ");
  for (const auto& look : exchange.when_answered) look(exchange);
  EXPECT_EQ(looks, "now inner outer");
}

TEST(ExchangeTest, PendingResponseCompletesOnceAfterMoves) {
  CountingResponse async;
  {
    PendingResponse first(async);
    PendingResponse second(std::move(first));
    EXPECT_EQ(async.completions, 0);
  }
  EXPECT_EQ(async.completions, 1);
}

}  // namespace
}  // namespace penstock::emulator::s3
