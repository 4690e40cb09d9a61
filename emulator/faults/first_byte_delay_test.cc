#include "emulator/faults/first_byte_delay.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {
namespace {

using std::chrono::milliseconds;

class Teapot final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override { exchange.response.status = 418; }
};

struct Asked {
  Asked(s3::Handler& handler, const std::string& method) {
    head.method = method;
    handler.Handle(exchange);
  }
  const s3::Delivery* delivery() const { return exchange.response.delivery.get(); }
  s3::RequestHead head;
  s3::Connection connection;
  s3::Exchange exchange{head, connection};
};

TEST(FirstByteDelayTest, DelaysHeadOfReads) {
  Teapot next;
  const auto handler = MakeFirstByteDelay(milliseconds(30), next);
  for (const char* method : {"GET", "HEAD"}) {
    const Asked asked(*handler, method);
    ASSERT_NE(asked.delivery(), nullptr);
    ASSERT_EQ(asked.delivery()->steps.size(), 1u);
    EXPECT_EQ(asked.delivery()->steps[0].place, s3::DeliveryStep::Place::kHead);
    EXPECT_EQ(asked.delivery()->steps[0].kind, s3::DeliveryStep::Kind::kWait);
    EXPECT_EQ(asked.delivery()->steps[0].wait, milliseconds(30));
    EXPECT_EQ(asked.exchange.response.status, 418);
  }
}

TEST(FirstByteDelayTest, DelaysNoWrites) {
  Teapot next;
  const auto handler = MakeFirstByteDelay(std::chrono::hours(1), next);
  EXPECT_EQ(Asked(*handler, "PUT").delivery(), nullptr);
}

// An asynchronous operation may replace the whole response.
TEST(FirstByteDelayTest, DelaysAsynchronousResponses) {
  class Late final : public s3::Handler {
   public:
    void Handle(s3::Exchange& exchange) override { exchange.pending = true; }
  } next;
  const auto handler = MakeFirstByteDelay(milliseconds(30), next);
  Asked asked(*handler, "GET");
  EXPECT_EQ(asked.delivery(), nullptr);
  asked.exchange.response = s3::Response();
  asked.exchange.pending = false;
  ASSERT_EQ(asked.exchange.when_answered.size(), 1u);
  asked.exchange.when_answered.front()();
  EXPECT_EQ(asked.delivery()->steps.at(0).wait, milliseconds(30));
}

TEST(FirstByteDelayTest, ZeroChangesNothing) {
  Teapot next;
  const auto handler = MakeFirstByteDelay(milliseconds(0), next);
  EXPECT_EQ(Asked(*handler, "GET").delivery(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::faults
