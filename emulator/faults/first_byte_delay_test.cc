#include "emulator/faults/first_byte_delay.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {
namespace {

using std::chrono::milliseconds;

// Responds with 418 to every request.
class TeapotHandler final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override { exchange.response.status = 418; }
};

// The exchange of a request that passed the filter.
struct DelayedExchange {
  DelayedExchange(milliseconds delay, const std::string& method) {
    head.method = method;
    s3::FilterChain(next, MakeFirstByteDelay(delay)).Handle(exchange);
  }
  const s3::Delivery* delivery() const { return exchange.response.delivery.get(); }
  TeapotHandler next;
  s3::RequestHead head;
  s3::Connection connection;
  s3::Exchange exchange{head, connection};
};

TEST(FirstByteDelayTest, DelaysTheHeadOfResponsesToReads) {
  for (const char* method : {"GET", "HEAD"}) {
    const DelayedExchange delayed(milliseconds(30), method);
    ASSERT_NE(delayed.delivery(), nullptr);
    ASSERT_EQ(delayed.delivery()->steps.size(), 1u);
    EXPECT_EQ(delayed.delivery()->steps[0].place, s3::DeliveryStep::Place::kHead);
    EXPECT_EQ(delayed.delivery()->steps[0].kind, s3::DeliveryStep::Kind::kWait);
    EXPECT_EQ(delayed.delivery()->steps[0].wait, milliseconds(30));
    EXPECT_EQ(delayed.exchange.response.status, 418);
  }
}

TEST(FirstByteDelayTest, DoesNotDelayWrites) {
  EXPECT_EQ(DelayedExchange(std::chrono::hours(1), "PUT").delivery(), nullptr);
}

TEST(FirstByteDelayTest, ZeroDoesNotDelay) {
  EXPECT_EQ(DelayedExchange(milliseconds(0), "GET").delivery(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::faults
