// Responses without a Delivery, on a socket pair. response_delivery_test.cc has the others.
#include "emulator/http/sending/response_sender.h"

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

message::Response With(std::string body) {
  message::Response response;
  response.body = std::move(body);
  return response;
}

class SendTest : public testing::Test {
 protected:
  TestResponse SendAndRead(const message::Response& response) {
    TestResponse got;
    std::jthread reader([&] { got = pipe_.peer->Read(); });
    sent_ = SendAll(*pipe_.stream, response);
    reader.join();
    return got;
  }
  static SendResult SendAll(Stream& stream, const message::Response& response,
                            const BeforeEnd& before_end = {}) {
    SendBuffers first;
    ResponseSender sender(response, Context(), first);
    return Continue(sender, stream, before_end);
  }
  // Each round may run on another thread, with its own buffers.
  static SendResult Continue(ResponseSender& sender, Stream& stream,
                             const BeforeEnd& before_end = {}) {
    for (;;) {
      SendBuffers buffers;
      if (sender.Resume(stream, buffers, MonotonicTime(), before_end) !=
          ResponseSender::State::kSocketFull)
        return sender.result();
      pollfd room{stream.fd(), POLLOUT, 0};
      EXPECT_EQ(::poll(&room, 1, static_cast<int>(kTestTimeout.count())), 1);
    }
  }
  Pipe pipe_;
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
  const SendResult sent = SendAll(*pipe_.stream, response);
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
    const SendResult sent = SendAll(*pipe.stream, response);
    EXPECT_FALSE(sent.ok);
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

TEST_F(SendTest, ContinuesWhenTheSocketHasRoom) {
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
      SendBuffers buffers;
      ResponseSender sender(*response, Context(), buffers);
      ASSERT_EQ(sender.Resume(*pipe_.stream, buffers, MonotonicTime()),
                ResponseSender::State::kSocketFull);
      TestResponse got;
      std::jthread reader([&] { got = pipe_.peer->Read(); });
      sent_ = Continue(sender, *pipe_.stream);
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
TEST_F(SendTest, ReportsTheEndOnceBeforeItIsSent) {
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
        const SendResult sent = SendAll(stream, *response, [&](std::uint64_t body_bytes) {
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

TEST_F(SendTest, NeverWaitsForRoom) {
  SendBuffers buffers;
  const message::Response response = With(std::string(64 << 20, 'x'));
  ResponseSender sender(response, Context(), buffers);
  EXPECT_EQ(sender.Resume(*pipe_.stream, buffers, MonotonicTime()),
            ResponseSender::State::kSocketFull);
  EXPECT_FALSE(sender.result().ok);
  EXPECT_GT(sender.result().body_bytes, 0u);
  EXPECT_LT(sender.result().body_bytes, 64u << 20);
}

TEST_F(SendTest, ResponsesUseTheSameMemory) {
  SendBuffers buffers;
  const message::Response response = With("text");
  ResponseSender first(response, Context(), buffers);
  EXPECT_EQ(first.Resume(*pipe_.stream, buffers, MonotonicTime()), ResponseSender::State::kDone);
  const char* const memory = buffers.head.data();
  ResponseSender second(response, Context(), buffers);
  EXPECT_EQ(second.Resume(*pipe_.stream, buffers, MonotonicTime()), ResponseSender::State::kDone);
  EXPECT_EQ(buffers.head.data(), memory);
}

// Sends the numbers from 1 to `last`, then ends.
class Numbers final : public message::TextStream {
 public:
  explicit Numbers(int last) : last_(last) {}
  std::optional<std::string> Next() noexcept override {
    if (next_ > last_) return std::nullopt;
    return std::to_string(next_++) + "\n";
  }
  std::chrono::nanoseconds interval() const override { return std::chrono::seconds(2); }

 private:
  int next_ = 1;
  const int last_;
};

// Resumes a response at the times of a test's clock.
struct TimedSender {
  explicit TimedSender(int last, ResponseContext context = Context())
      : response(Streaming(last)), sender(response, context, buffers) {}
  static message::Response Streaming(int last) {
    message::Response response;
    response.stream = std::make_unique<Numbers>(last);
    return response;
  }
  ResponseSender::State At(std::chrono::seconds time) {
    return sender.Resume(*pipe.stream, buffers, start + time,
                         [this](std::uint64_t bytes) { ended_with = bytes; });
  }
  const message::Response response;
  Pipe pipe;
  SendBuffers buffers;
  ResponseSender sender;
  const MonotonicTime start = MonotonicTime(std::chrono::hours(1));
  std::optional<std::uint64_t> ended_with;
};

using std::chrono::seconds;

TEST(StreamTest, SendsTheFirstPieceAtOnceAndOthersAtTheirTimes) {
  TimedSender timed(2);
  EXPECT_EQ(timed.At(seconds(0)), ResponseSender::State::kWait);
  EXPECT_EQ(timed.sender.wait_until(), timed.start + seconds(2));
  EXPECT_EQ(timed.sender.result().body_bytes, 2u);
  EXPECT_FALSE(timed.sender.result().ok) << "more may follow";
  EXPECT_EQ(timed.At(seconds(1)), ResponseSender::State::kWait);
  EXPECT_EQ(timed.sender.result().body_bytes, 2u);
  EXPECT_EQ(timed.At(seconds(2)), ResponseSender::State::kWait);
  EXPECT_EQ(timed.sender.result().body_bytes, 4u);
  EXPECT_EQ(timed.ended_with, std::nullopt);
  EXPECT_EQ(timed.At(seconds(4)), ResponseSender::State::kDone);
  EXPECT_EQ(timed.ended_with, 4u);
  EXPECT_TRUE(timed.sender.result().ok);
  EXPECT_TRUE(timed.sender.result().keep_alive);
  const TestResponse got = timed.pipe.peer->Read();
  EXPECT_EQ(got.Find("transfer-encoding"), "chunked");
  EXPECT_EQ(got.body, "1\n2\n");
}

TEST(StreamTest, LatePiecesDoNotComeInABurst) {
  TimedSender timed(100);
  timed.At(seconds(0));
  EXPECT_EQ(timed.At(seconds(60)), ResponseSender::State::kWait);
  EXPECT_EQ(timed.sender.result().body_bytes, 4u);
  EXPECT_EQ(timed.sender.wait_until(), timed.start + seconds(62));
}

TEST(StreamTest, EndsEarlyWithACompleteBody) {
  TimedSender timed(100);
  timed.At(seconds(0));
  EXPECT_TRUE(timed.sender.EndStream());
  EXPECT_EQ(timed.At(seconds(1)), ResponseSender::State::kDone);
  EXPECT_FALSE(timed.sender.EndStream());
  EXPECT_EQ(timed.pipe.peer->Read().body, "1\n");
}

TEST(StreamTest, AnOldClientReadsToTheEndOfTheConnection) {
  ResponseContext context = Context();
  context.minor_version = 0;
  TimedSender timed(1, context);
  timed.At(seconds(0));
  EXPECT_EQ(timed.At(seconds(2)), ResponseSender::State::kDone);
  EXPECT_FALSE(timed.sender.result().keep_alive);
  timed.pipe.stream.reset();
  const std::string got = timed.pipe.peer->ReadToEnd();
  EXPECT_TRUE(got.ends_with("\r\n\r\n1\n")) << got;
  EXPECT_EQ(got.find("Content-Length"), std::string::npos);
}

TEST(StreamTest, HeadHasNoPieces) {
  ResponseContext context = Context();
  context.head_request = true;
  TimedSender timed(1, context);
  EXPECT_EQ(timed.At(seconds(0)), ResponseSender::State::kDone);
  EXPECT_EQ(timed.sender.result().body_bytes, 0u);
}

}  // namespace
}  // namespace penstock::emulator::http
