#include "emulator/faults/scenario/invocations.h"

#include <gtest/gtest.h>

#include "emulator/faults/test_support.h"

namespace penstock::emulator::faults {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

class InvocationsTest : public testing::Test {
 protected:
  // Begins an attempt that differs from others only in its connection and headers.
  std::shared_ptr<Attempt> Begin(std::uint64_t connection, Headers headers = {},
                                 const std::string& target = "/b?list-type=2&prefix=p") {
    TestRequest request("GET", target, std::move(headers));
    request.connection().id = connection;
    return Invocations::Begin(all_, request.properties());
  }
  // Fails one more attempt. Returns the failures of its invocation before it.
  std::uint64_t Fail(std::uint64_t connection, Headers headers = {}) {
    const auto attempt = Begin(connection, std::move(headers));
    const std::uint64_t before = attempt->failures();
    attempt->Fail();
    attempt->Fail();  // The second call has no effect.
    return before;
  }

  std::shared_ptr<Invocations> all_ = std::make_shared<Invocations>(4);
};

TEST_F(InvocationsTest, IdIdentifiesTheInvocation) {
  const Headers id{{"amz-sdk-invocation-id", "i"}};
  EXPECT_EQ(Fail(1, id), 0U);
  EXPECT_EQ(Fail(2, id), 1U);
  EXPECT_EQ(Begin(3, id)->failures(), 2U) << "an attempt that did not fail changes nothing";
  EXPECT_EQ(Begin(3, id)->failures(), 2U);
  EXPECT_EQ(Begin(3, {{"amz-sdk-invocation-id", "j"}})->failures(), 0U);
  EXPECT_EQ(Begin(1, id, "/b/k")->invocation(), "i");
}

TEST_F(InvocationsTest, RetryDuringAPauseCountsAsFailure) {
  const Headers id{{"amz-sdk-invocation-id", "i"}};
  const auto first = Begin(1, id);
  {
    const Attempt::Waiting waiting(first);
    EXPECT_EQ(Begin(2, id)->failures(), 1U);
  }
  EXPECT_EQ(Begin(2, id)->failures(), 0U) << "the request received its response";
  const auto without_id = Begin(1);
  const Attempt::Waiting waiting(without_id);
  EXPECT_EQ(Begin(2)->failures(), 0U) << "a request without an id may be from another client";
}

TEST_F(InvocationsTest, WithoutAnIdARetryContinuesTheFailedInvocation) {
  EXPECT_EQ(Fail(1), 0U);
  EXPECT_EQ(Fail(2), 1U) << "the retry may use another connection";
  EXPECT_EQ(Fail(3), 2U);
  EXPECT_EQ(Begin(4)->failures(), 3U);
  EXPECT_EQ(Begin(5)->failures(), 0U)
      << "the previous attempt succeeded, so this is a new invocation";
  EXPECT_NE(Begin(5)->invocation(), Begin(5)->invocation());
}

TEST_F(InvocationsTest, WithoutAnIdConcurrentCallsAreSeparate) {
  const auto first = Begin(1);
  const auto second = Begin(2);
  EXPECT_NE(first->invocation(), second->invocation());
  first->Fail();
  second->Fail();
  const auto retry = Begin(2);
  EXPECT_EQ(retry->invocation(), second->invocation())
      << "continues the invocation that failed on this connection";
  EXPECT_EQ(Begin(3)->invocation(), first->invocation())
      << "continues the invocation that failed first";
  EXPECT_EQ(Begin(1)->invocation(), first->invocation())
      << "a retry on the connection of the failure continues it too";
  EXPECT_EQ(Begin(1)->failures(), 0U) << "each failure is continued once per connection";
}

TEST_F(InvocationsTest, ClientsWithSeparateConnectionsAreCountedSeparately) {
  for (std::uint64_t round = 0; round < 3; ++round) {
    EXPECT_EQ(Fail(1), round);
    EXPECT_EQ(Fail(2), round + 1) << "may have been counted once as a retry of the first client";
  }
}

TEST_F(InvocationsTest, DifferentRequestIsNotARetry) {
  Fail(1);
  EXPECT_EQ(Begin(1, {}, "/b?list-type=2&prefix=q")->failures(), 0U);
  EXPECT_EQ(Begin(1, {{"Range", "bytes=0-1"}})->failures(), 0U);
  EXPECT_EQ(Begin(1, {{"x-penstock-rank", "1"}})->failures(), 0U);
  EXPECT_EQ(Begin(1, {{"amz-sdk-invocation-id", "i"}})->failures(), 0U);
  EXPECT_EQ(Begin(1)->failures(), 1U);
}

TEST_F(InvocationsTest, EvictsTheOldestInvocation) {
  std::vector<std::shared_ptr<Attempt>> attempts;
  for (std::uint64_t connection = 1; connection <= 5; ++connection)
    attempts.push_back(Begin(connection));
  for (const auto& attempt : attempts) attempt->Fail();
  EXPECT_EQ(Begin(2)->invocation(), attempts[1]->invocation());
  EXPECT_EQ(Begin(5)->invocation(), attempts[4]->invocation());
  EXPECT_EQ(Begin(1)->invocation(), attempts[2]->invocation())
      << "its invocation was evicted, so the oldest known one is continued";
}

}  // namespace
}  // namespace penstock::emulator::faults
