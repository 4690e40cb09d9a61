#include "emulator/http/connection/gathered_body.h"

#include <string>

#include "emulator/http/parsing/wire_error.h"
#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using State = GatheredBody::State;

Framing OfLength(std::uint64_t length) { return {.body = BodyFraming::kLength, .length = length}; }

class GatheredBodyTest : public testing::Test {
 protected:
  WireBodyReader Wire(const Framing& framing) {
    return WireBodyReader(*pipe_.stream, buffer_, framing, kTestTimeout);
  }
  // Calls Gather until the body is ready. Returns false after kTestTimeout.
  static bool WaitUntilReady(GatheredBody& body) {
    const auto end = std::chrono::steady_clock::now() + kTestTimeout;
    while (body.Gather() != State::kReady) {
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }

  Pipe pipe_;
  InputBuffer buffer_{64 << 10};
  ConnectionQuotas quotas_{0, "", 1 << 20};
};

TEST_F(GatheredBodyTest, GatherDoesNotBlockAndReadReturnsTheStoredBytes) {
  const std::string text = PatternText(300'000);  // more than fits in memory
  WireBodyReader wire = Wire(OfLength(text.size()));
  GatheredBody body(wire, quotas_);
  EXPECT_EQ(body.Length(), text.size());
  EXPECT_EQ(body.Gather(), State::kWaiting);
  pipe_.peer->Send(text.substr(0, 1000));
  EXPECT_EQ(body.Gather(), State::kWaiting);
  pipe_.peer->Send(text.substr(1000));
  ASSERT_TRUE(WaitUntilReady(body));
  EXPECT_TRUE(wire.at_end());
  EXPECT_EQ(ReadBody(body, 7777), text);
  EXPECT_FALSE(quotas_.ReserveSpace(1 << 20))
      << "the file counts towards the quota until the body is destroyed";
}

TEST_F(GatheredBodyTest, DestructorReleasesTheSpaceOfItsFile) {
  {
    WireBodyReader wire = Wire(OfLength(100'000));
    GatheredBody body(wire, quotas_);
    pipe_.peer->Send(std::string(100'000, 'x'));
    ASSERT_TRUE(WaitUntilReady(body));
  }
  EXPECT_TRUE(quotas_.ReserveSpace(1 << 20));
}

TEST_F(GatheredBodyTest, FailsWithSlowDownIfTheQuotaIsUsedUp) {
  ASSERT_TRUE(quotas_.ReserveSpace((1 << 20) - 10));
  WireBodyReader wire = Wire(OfLength(200'000));
  GatheredBody body(wire, quotas_);
  pipe_.peer->Send(std::string(200'000, 'x'));
  ASSERT_TRUE(WaitUntilReady(body));
  EXPECT_EQ(ReadBody(body), "error SlowDown");
}

TEST_F(GatheredBodyTest, DecodesChunksAndTrailers) {
  WireBodyReader wire = Wire({.body = BodyFraming::kChunked});
  GatheredBody body(wire, quotas_);
  for (const std::string piece : {"3", "\r\nab", "c\r\n2\r\nde\r\n0\r\nX-A: b\r\n"}) {
    pipe_.peer->Send(piece);
    EXPECT_EQ(body.Gather(), State::kWaiting);
  }
  pipe_.peer->Send("\r\n");
  ASSERT_TRUE(WaitUntilReady(body));
  EXPECT_EQ(body.Length(), std::nullopt);
  EXPECT_EQ(ReadBody(body), "abcde");
  ASSERT_EQ(body.Trailers().size(), 1u);
  EXPECT_EQ(body.Trailers()[0].second, "b");
}

TEST_F(GatheredBodyTest, Sends100ContinueOnce) {
  Framing framing = OfLength(4);
  framing.expect_continue = true;
  WireBodyReader wire = Wire(framing);
  GatheredBody body(wire, quotas_);
  EXPECT_EQ(body.Gather(), State::kWaiting);
  EXPECT_EQ(body.Gather(), State::kWaiting);
  EXPECT_EQ(pipe_.peer->Read().status, 100);
  EXPECT_TRUE(pipe_.peer->Silent());
  pipe_.peer->Send("body");
  ASSERT_TRUE(WaitUntilReady(body));
  EXPECT_EQ(ReadBody(body), "body");
}

TEST_F(GatheredBodyTest, ErrorFollowsTheStoredBytes) {
  WireBodyReader wire = Wire(OfLength(10));
  GatheredBody body(wire, quotas_);
  pipe_.peer->Send("abc");
  pipe_.peer->EndSending();
  ASSERT_TRUE(WaitUntilReady(body));
  std::array<std::byte, 10> into;
  EXPECT_EQ(*body.Read(into), 3u);
  EXPECT_EQ(body.Read(into).error().code, "IncompleteBody");
  EXPECT_EQ(body.Read(into).error().code, "IncompleteBody");
  WireBodyReader silent_wire = Wire(OfLength(10));
  GatheredBody timed_out(silent_wire, quotas_);
  timed_out.Fail(RequestTimedOut());
  EXPECT_EQ(ReadBody(timed_out), "error RequestTimeout");
}

}  // namespace
}  // namespace penstock::emulator::http
