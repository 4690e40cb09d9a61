#include "emulator/http/connection/response_writer.h"

#include <string>
#include <thread>

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
  EXPECT_FALSE(plan.length_lies);
}

TEST(ResponsePlan, ChunkedIsForHttp11Only) {
  message::Response response = With("text");
  response.chunked = true;
  EXPECT_EQ(PlanResponse(response, Context()).framing, ResponseFraming::kChunked);
  ResponseContext old = Context();
  old.minor_version = 0;
  EXPECT_EQ(PlanResponse(response, old).framing, ResponseFraming::kLength);
}

class SendTest : public testing::Test {
 protected:
  TestResponse SendAndRead(const message::Response& response) {
    TestResponse got;
    std::jthread reader([&] { got = pipe_.peer->Read(); });
    sent_ = writer_.Send(*pipe_.stream, response, Context(), kTestTimeout);
    reader.join();
    return got;
  }
  Pipe pipe_;
  ResponseWriter writer_;
  SendResult sent_;
};

TEST_F(SendTest, SendsTextWithALength) {
  EXPECT_EQ(SendAndRead(With("hello")).body, "hello");
  EXPECT_TRUE(sent_.ok);
  EXPECT_EQ(sent_.body_bytes, 5u);
  EXPECT_TRUE(pipe_.peer->Silent());
}

TEST_F(SendTest, SendsTextInOneChunk) {
  message::Response response = With("hello");
  response.chunked = true;
  EXPECT_EQ(SendAndRead(response).body, "hello");
  EXPECT_EQ(sent_.body_bytes, 5u);
  EXPECT_TRUE(pipe_.peer->Silent());
  response.body = std::string();
  EXPECT_EQ(SendAndRead(response).body, "");
  EXPECT_TRUE(pipe_.peer->Silent());
}

TEST_F(SendTest, JoinsSlicesFromMemoryAndFiles) {
  const std::string text = PatternText(400'000);
  const auto memory = std::make_shared<MemoryBlob>(text);
  const auto file = std::make_shared<FileBlob>(text);
  Content content;
  std::string expected;
  for (const ByteRange range :
       {ByteRange{0, 10}, {10, 10}, {5, 300'000}, {399'999, 400'000}, {7, 7}}) {
    for (const BlobPtr& blob : {BlobPtr(memory), BlobPtr(file)}) {
      content.slices.push_back({blob, range});
      expected += text.substr(range.begin, range.size());
    }
  }
  for (const bool chunked : {false, true}) {
    message::Response response;
    response.body = content;
    response.chunked = chunked;
    const TestResponse got = SendAndRead(response);
    EXPECT_TRUE(got.body == expected)
        << chunked << " got " << got.body.size() << " of " << expected.size();
    EXPECT_TRUE(sent_.ok);
    EXPECT_EQ(sent_.body_bytes, expected.size());
    EXPECT_TRUE(pipe_.peer->Silent());
  }
}

TEST_F(SendTest, SendsEmptyContent) {
  message::Response response;
  response.body = Content{};
  EXPECT_EQ(SendAndRead(response).status, 200);
  EXPECT_TRUE(sent_.ok);
}

TEST_F(SendTest, TruncatedFileBreaksTheConnection) {
  const auto file = std::make_shared<FileBlob>(std::string(100'000, 'x'));
  ASSERT_EQ(::ftruncate(file->FileDescriptor(), 50'000), 0);
  message::Response response;
  response.body = ContentOf(file);
  const SendResult sent = writer_.Send(*pipe_.stream, response, Context(), kTestTimeout);
  EXPECT_FALSE(sent.ok);
  EXPECT_EQ(sent.body_bytes, 50'000u);
}

TEST_F(SendTest, ADamagedBlockIsNotSent) {
  const std::string text = PatternText(1'000'000);
  // Sent with sendfile, and copied after the head.
  for (const std::uint64_t block : {100'000u, 20'000u}) {
    Pipe pipe;
    message::Response response;
    response.body = ContentOf(std::make_shared<DamagedBlob>(text, block, 5 * block));
    const SendResult sent = writer_.Send(*pipe.stream, response, Context(), kTestTimeout);
    EXPECT_FALSE(sent.ok);
    EXPECT_FALSE(sent.blocked);
    EXPECT_EQ(sent.damage, "damaged");
    EXPECT_EQ(sent.body_bytes, 5 * block) << "the blocks before the damaged one are sent";
  }
}

TEST_F(SendTest, SendsBlocksThatAreVerifiedOneByOne) {
  const std::string text = PatternText(1'000'000);
  for (const bool chunked : {false, true}) {
    message::Response response;
    response.body = ContentOf(std::make_shared<DamagedBlob>(text, 3'333, ~std::uint64_t{0}));
    response.chunked = chunked;
    EXPECT_TRUE(SendAndRead(response).body == text);
    EXPECT_TRUE(sent_.ok);
    EXPECT_TRUE(sent_.damage.empty());
    EXPECT_TRUE(pipe_.peer->Silent());
  }
}

// Each round may run on another thread.
TEST_F(SendTest, AnyWriterMayContinueABlockedResponse) {
  const std::string text = PatternText(12 << 20);
  const auto memory = std::make_shared<MemoryBlob>(text);
  const auto file = std::make_shared<FileBlob>(text);
  Content content;
  std::string joined;
  for (const BlobPtr& blob : {BlobPtr(memory), BlobPtr(file)}) {
    for (const ByteRange range : {ByteRange{0, text.size()}, {5, 10}, {7, 30'000}}) {
      content.slices.push_back({blob, range});
      joined += text.substr(range.begin, range.size());
    }
  }
  message::Response of_text = With(text);
  message::Response of_content;
  of_content.body = content;
  for (message::Response* const response : {&of_text, &of_content}) {
    for (const bool chunked : {false, true}) {
      response->chunked = chunked;
      const std::string& expected = response == &of_text ? text : joined;
      constexpr std::chrono::milliseconds kNone{0};
      sent_ = writer_.Send(*pipe_.stream, *response, Context(), kNone);
      ASSERT_TRUE(sent_.blocked);
      TestResponse got;
      std::jthread reader([&] { got = pipe_.peer->Read(); });
      UnsentResponse unsent = writer_.TakeUnsent();
      while (sent_.blocked) {
        pollfd room{pipe_.stream->fd(), POLLOUT, 0};
        ASSERT_EQ(::poll(&room, 1, static_cast<int>(kTestTimeout.count())), 1);
        ResponseWriter another;
        sent_ = another.Continue(*pipe_.stream, *response, std::move(unsent), kNone);
        unsent = another.TakeUnsent();
      }
      reader.join();
      EXPECT_TRUE(sent_.ok);
      EXPECT_EQ(sent_.body_bytes, expected.size());
      EXPECT_TRUE(got.body == expected)
          << chunked << " got " << got.body.size() << " of " << expected.size();
      EXPECT_TRUE(pipe_.peer->Silent());
    }
  }
}

// A client that has the whole response may query the journal for it at once.
TEST(EndOfAnswer, IsReportedOnceBeforeItIsSent) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{9}, std::size_t{100'000}, std::size_t{5'000'000}}) {
    const std::string text = PatternText(size);
    message::Response memory;
    memory.body = ContentOf(std::make_shared<MemoryBlob>(text));
    message::Response file;
    file.body = ContentOf(std::make_shared<FileBlob>(text));
    message::Response two;
    two.body = Content{{{std::make_shared<MemoryBlob>(text), {0, size}},
                        {std::make_shared<FileBlob>(text), {0, size}}}};
    message::Response plain = With(text);
    for (message::Response* const response : {&plain, &memory, &file, &two}) {
      for (const bool chunked : {false, true}) {
        response->chunked = chunked;
        CountingStream stream;
        std::vector<std::uint64_t> reported;
        const SendResult sent = ResponseWriter().Send(
            stream, *response, Context(), kTestTimeout, [&](std::uint64_t body_bytes) {
              reported.push_back(stream.taken);
              EXPECT_EQ(body_bytes, response == &two ? 2 * size : size);
            });
        EXPECT_TRUE(sent.ok);
        ASSERT_EQ(reported.size(), 1u) << size << " chunked " << chunked;
        EXPECT_LT(reported[0], stream.taken) << size << " chunked " << chunked;
        EXPECT_LE(stream.taken - reported[0], kWholeBytes)
            << "most of the response was still unsent";
      }
    }
  }
}

TEST_F(SendTest, TimesOutWhenThePeerDoesNotRead) {
  const SendResult sent = writer_.Send(*pipe_.stream, With(std::string(64 << 20, 'x')), Context(),
                                       std::chrono::milliseconds(50));
  EXPECT_FALSE(sent.ok);
  EXPECT_LT(sent.body_bytes, 64u << 20);
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
