#include "emulator/http/sending/response_head.h"

#include <string>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

ResponseContext Context() {
  ResponseContext context;
  context.date = "Fri, 24 May 2013 00:00:00 GMT";
  context.request_id = "ID";
  context.host_id = "HOST";
  return context;
}

std::string HeadOf(const message::Response& response, const ResponseContext& context = Context()) {
  std::string head;
  AppendHead(response, PlanResponse(response, context), context, head);
  return head;
}

message::Response With(std::string body) {
  message::Response response;
  response.body = std::move(body);
  return response;
}

TEST(ResponseHead, AddsTheCommonHeaders) {
  EXPECT_EQ(HeadOf(With("12345")),
            "HTTP/1.1 200 OK\r\nx-amz-id-2: HOST\r\nx-amz-request-id: ID\r\nDate: Fri, 24 May 2013 "
            "00:00:00 GMT\r\nServer: AmazonS3\r\n"
            "Content-Length: 5\r\n\r\n");
}

TEST(ResponseHead, KeepsTheHandlersHeadersInTheirOrder) {
  message::Response response;
  response.headers = {{"Z", "1"},      {"X-AMZ-Request-Id", "own"}, {"a", "2"}, {"date", "today"},
                      {"SERVER", "s"}, {"x-amz-id-2", "h"},         {"Z", "3"}};
  EXPECT_EQ(HeadOf(response),
            "HTTP/1.1 200 OK\r\nZ: 1\r\nX-AMZ-Request-Id: own\r\na: 2\r\ndate: today\r\nSERVER: "
            "s\r\nx-amz-id-2: h\r\nZ: 3\r\n"
            "Content-Length: 0\r\n\r\n");
}

TEST(ResponseHead, ReplacesFramingAndConnectionHeaders) {
  message::Response response = With("12345");
  response.headers = {
      {"Content-Length", "7"}, {"Transfer-Encoding", "gzip"}, {"Connection", "upgrade"}};
  const std::string head = HeadOf(response);
  EXPECT_EQ(head.find("7\r\n"), std::string::npos);
  EXPECT_EQ(head.find("gzip"), std::string::npos);
  EXPECT_EQ(head.find("upgrade"), std::string::npos);
  EXPECT_NE(head.find("Content-Length: 5\r\n"), std::string::npos);
}

TEST(ResponseHead, NoValueCanInjectAHeader) {
  message::Response response;
  response.reason = "O\r\nK";
  response.headers = {{"A\r\nB", "x\r\nSet-Cookie: y\nz"}};
  const std::string head = HeadOf(response);
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 O  K\r\nx-amz-id-2: ")) << head;
  EXPECT_NE(head.find("\r\nA  B: x  Set-Cookie: y z\r\nServer: "), std::string::npos) << head;
}

TEST(ResponseHead, ReasonsAreStandardUnlessGiven) {
  message::Response response;
  response.status = 503;
  EXPECT_EQ(HeadOf(response).substr(0, 34), "HTTP/1.1 503 Service Unavailable\r\n");
  response.reason = "Slow Down";
  EXPECT_EQ(HeadOf(response).substr(0, 24), "HTTP/1.1 503 Slow Down\r\n");
  EXPECT_EQ(StandardReason(299), "Unknown");
}

TEST(ResponseHead, AnnouncesWhetherTheConnectionStaysOpen) {
  ResponseContext context = Context();
  context.keep_alive = false;
  EXPECT_NE(HeadOf({}, context).find("Connection: close\r\n"), std::string::npos);
  context.keep_alive = true;
  EXPECT_EQ(HeadOf({}, context).find("Connection"), std::string::npos);
  context.minor_version = 0;
  EXPECT_NE(HeadOf({}, context).find("Connection: keep-alive\r\n"), std::string::npos);
}

TEST(ResponsePlan, SomeStatusesHaveNoBodyAndNoLength) {
  for (const int status : {204, 304}) {
    message::Response response = With("text");
    response.status = status;
    response.chunked = true;
    const std::string head = HeadOf(response);
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos);
    EXPECT_FALSE(PlanResponse(response, Context()).send_body);
  }
}

TEST(ResponsePlan, HeadAnnouncesALengthAndSendsNothing) {
  ResponseContext context = Context();
  context.head_request = true;
  message::Response response;
  response.content_length = 5ull << 40;
  const ResponsePlan plan = PlanResponse(response, context);
  EXPECT_EQ(plan.announced_bytes, 5ull << 40);
  EXPECT_FALSE(plan.send_body);
  EXPECT_FALSE(plan.length_is_wrong);
}

TEST(ResponsePlan, ChunkedIsForHttp11Only) {
  message::Response response = With("text");
  response.chunked = true;
  EXPECT_EQ(PlanResponse(response, Context()).framing, ResponseFraming::kChunked);
  ResponseContext old = Context();
  old.minor_version = 0;
  EXPECT_EQ(PlanResponse(response, old).framing, ResponseFraming::kLength);
}

TEST(DateCache, FollowsTheSecond) {
  DateCache cache;
  const WallTime time{std::chrono::seconds(1369353600)};  // 2013-05-24T00:00:00Z
  EXPECT_EQ(cache.At(time), "Fri, 24 May 2013 00:00:00 GMT");
  EXPECT_EQ(cache.At(time + std::chrono::milliseconds(999)), "Fri, 24 May 2013 00:00:00 GMT");
  EXPECT_EQ(cache.At(time + std::chrono::seconds(1)), "Fri, 24 May 2013 00:00:01 GMT");
}

}  // namespace
}  // namespace penstock::emulator::http
