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
  Asked(milliseconds delay, const std::string& method) {
    head.method = method;
    s3::FilterChain(next, MakeFirstByteDelay(delay)).Handle(exchange);
  }
  const s3::Delivery* delivery() const { return exchange.response.delivery.get(); }
  Teapot next;
  s3::RequestHead head;
  s3::Connection connection;
  s3::Exchange exchange{head, connection};
};

TEST(FirstByteDelayTest, DelaysHeadOfReads) {
  for (const char* method : {"GET", "HEAD"}) {
    const Asked asked(milliseconds(30), method);
    ASSERT_NE(asked.delivery(), nullptr);
    ASSERT_EQ(asked.delivery()->steps.size(), 1u);
    EXPECT_EQ(asked.delivery()->steps[0].place, s3::DeliveryStep::Place::kHead);
    EXPECT_EQ(asked.delivery()->steps[0].kind, s3::DeliveryStep::Kind::kWait);
    EXPECT_EQ(asked.delivery()->steps[0].wait, milliseconds(30));
    EXPECT_EQ(asked.exchange.response.status, 418);
  }
}

TEST(FirstByteDelayTest, DelaysNoWrites) {
  EXPECT_EQ(Asked(std::chrono::hours(1), "PUT").delivery(), nullptr);
}

TEST(FirstByteDelayTest, ZeroChangesNothing) {
  EXPECT_EQ(Asked(milliseconds(0), "GET").delivery(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::faults
