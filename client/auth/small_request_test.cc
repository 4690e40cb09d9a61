#include "client/auth/small_request.h"

#include <gtest/gtest.h>

#include <optional>

#include "client/http/fake_transport.h"

namespace penstock::auth {
namespace {

using http::FakeReply;
using http::FakeTransport;

Error Gone() { return Error::Make(ErrorKind::kUnavailable, "gone"); }

SmallRequest To(const std::string& url) {
  SmallRequest request;
  request.request = RequestTo("POST", url, {}).value();
  return request;
}

Result<SmallResponse> Fetch(FakeTransport& transport, SmallRequest request) {
  std::optional<Result<SmallResponse>> response;
  FetchSmall(TransportPtr(TransportPtr(), &transport), transport.clock(), std::move(request),
             [&](Result<SmallResponse> result) { response.emplace(std::move(result)); });
  return *response;
}

TEST(SmallRequestTest, SendsABodyAndReturnsTheResponseWithAnyStatus) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(404, {}, "nothing"));
  SmallRequest request = To("http://host:81/a?b=c");
  request.body = "body";
  const auto response = Fetch(transport, std::move(request));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->body, "nothing");
  EXPECT_EQ(transport.requests().at(0).body, "body");
  EXPECT_EQ(transport.requests().at(0).request.target, "/a?b=c");
  EXPECT_EQ(transport.requests().at(0).Header("Host"), "host:81");
}

TEST(SmallRequestTest, RetriesTemporaryFailuresAndPreparesEachAttempt) {
  FakeTransport transport;
  transport.Expect(FakeReply::Fail(Gone()));
  transport.Expect(FakeReply::Respond(503, {}, "later"));
  transport.Expect(FakeReply::Respond(200, {}, "now"));
  SmallRequest request = To("http://host/");
  int prepared = 0;
  request.prepare = [&](http::Request& attempt) {
    attempt.headers.push_back({"X", std::to_string(++prepared)});
    return Ok();
  };
  EXPECT_EQ(Fetch(transport, std::move(request))->body, "now");
  EXPECT_EQ(transport.requests().at(2).Header("X"), "3");
  EXPECT_EQ(transport.run_at_times().size(), 2u);
}

TEST(SmallRequestTest, StopsAfterItsAttempts) {
  FakeTransport transport;
  for (int i = 0; i < 3; ++i) transport.Expect(FakeReply::Fail(Gone()));
  EXPECT_EQ(Fetch(transport, To("http://host/")).error().message, "gone");
  EXPECT_EQ(transport.requests().size(), 3u);
}

TEST(SmallRequestTest, AResponseBelow500IsRetriedOnlyOnRequest) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(400, {}, "busy"));
  transport.Expect(FakeReply::Respond(400, {}, "wrong"));
  SmallRequest request = To("http://host/");
  request.transient = [](const SmallResponse& response) { return response.body == "busy"; };
  EXPECT_EQ(Fetch(transport, std::move(request))->body, "wrong");
}

TEST(SmallRequestTest, AnEndlessResponseIsAnError) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, std::string(65537, 'x')));
  EXPECT_FALSE(Fetch(transport, To("http://host/")).ok());
  transport.Expect(FakeReply::Respond(200, {}, std::string(65536, 'x')));
  EXPECT_TRUE(Fetch(transport, To("http://host/")).ok());
}

TEST(SmallRequestTest, AHangEndsWithTheTimeout) {
  FakeTransport transport;
  transport.Expect(FakeReply::Hang());
  SmallRequest request = To("http://host/");
  request.attempts = 1;
  std::optional<Result<SmallResponse>> response;
  FetchSmall(TransportPtr(TransportPtr(), &transport), transport.clock(), std::move(request),
             [&](Result<SmallResponse> result) { response.emplace(std::move(result)); });
  transport.Advance(std::chrono::seconds(6));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->error().kind, ErrorKind::kTimeout);
}

}  // namespace
}  // namespace penstock::auth
