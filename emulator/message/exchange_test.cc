#include "emulator/message/exchange.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace penstock::emulator::message {
namespace {

class CountingResponse final : public AsyncResponse {
 public:
  Executor& executor() override { std::abort(); }
  void Complete() noexcept override { ++completions; }
  int completions = 0;
};

TEST(ExchangeTest, PendingResponseCompletesOnceAfterMoves) {
  CountingResponse async;
  {
    PendingResponse first(async);
    PendingResponse second(std::move(first));
    EXPECT_EQ(async.completions, 0);
  }
  EXPECT_EQ(async.completions, 1);
}

struct Count final : Attachment {
  explicit Count(int start) : value(start) {}
  int value;
};
struct Other final : Attachment {};

TEST(ExchangeTest, KeepsOneAttachmentPerType) {
  RequestHead head;
  Connection connection;
  Exchange exchange(head, connection);
  EXPECT_EQ(exchange.Find<Count>(), nullptr);
  exchange.Attach<Other>();
  exchange.Attach<Count>(1);
  exchange.Attach<Count>(2).value += 10;
  ASSERT_NE(exchange.Find<Count>(), nullptr);
  EXPECT_EQ(exchange.Find<Count>()->value, 12);
  EXPECT_NE(exchange.Find<Other>(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::message
