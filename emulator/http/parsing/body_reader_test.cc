#include "emulator/http/parsing/body_reader.h"

#include <string>
#include <thread>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

Framing OfLength(std::uint64_t length) { return {.body = BodyFraming::kLength, .length = length}; }
Framing Chunked() { return {.body = BodyFraming::kChunked}; }

class BodyReaderTest : public testing::Test {
 protected:
  WireBodyReader Reader(const Framing& framing, milliseconds timeout = kTestTimeout) {
    return WireBodyReader(*pipe_.stream, buffer_, framing, timeout);
  }
  // Puts `text` into the buffer, like bytes that arrived together with the head.
  void Buffered(const std::string& text) {
    pipe_.peer->Send(text);
    while (buffer_.size() < text.size())
      ASSERT_EQ(buffer_.Fill(*pipe_.stream, kTestTimeout).status, IoStatus::kOk);
  }

  Pipe pipe_;
  InputBuffer buffer_{64 << 10};
};

TEST_F(BodyReaderTest, JoinsBufferedAndLaterBytes) {
  const std::string text = PatternText(300'000);
  Buffered(text.substr(0, 1000));
  std::jthread sender([&] { pipe_.peer->Send(text.substr(1000)); });
  WireBodyReader reader = Reader(OfLength(text.size()));
  EXPECT_EQ(reader.Length(), text.size());
  EXPECT_EQ(ReadBody(reader), text);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.bytes_read(), text.size());
}

TEST_F(BodyReaderTest, NeverReadsTheNextRequest) {
  pipe_.peer->Send("bodyGET /next");
  WireBodyReader reader = Reader(OfLength(4));
  EXPECT_EQ(ReadBody(reader, 1 << 20), "body");
  while (buffer_.size() < 9)
    ASSERT_EQ(buffer_.Fill(*pipe_.stream, kTestTimeout).status, IoStatus::kOk);
  EXPECT_EQ(buffer_.text(), "GET /next");
}

TEST_F(BodyReaderTest, ServesTinyReads) {
  pipe_.peer->Send("0123456789");
  WireBodyReader reader = Reader(OfLength(10));
  EXPECT_EQ(ReadBody(reader, 1), "0123456789");
}

TEST_F(BodyReaderTest, ReturnsNothingWithoutADeclaredBody) {
  WireBodyReader reader = Reader({});
  EXPECT_EQ(ReadBody(reader), "");
  EXPECT_EQ(reader.Length(), std::nullopt);
  EXPECT_TRUE(reader.at_end());
}

TEST_F(BodyReaderTest, ReportsExpectedAndProvidedBytes) {
  pipe_.peer->Send("abc");
  pipe_.peer->EndSending();
  WireBodyReader reader = Reader(OfLength(10));
  std::vector<std::byte> buffer(100);
  ASSERT_EQ(*reader.Read(buffer), 3u);
  const Result<std::size_t> end = reader.Read(buffer);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, "IncompleteBody");
  EXPECT_EQ(end.error().http_status, 400);
  using Details = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(end.error().details,
            (Details{{"NumberBytesExpected", "10"}, {"NumberBytesProvided", "3"}}));
  EXPECT_EQ(reader.Read(buffer).error().code, "IncompleteBody");  // the error is permanent
  EXPECT_FALSE(reader.at_end());
}

TEST_F(BodyReaderTest, TimesOutWhenThePeerStalls) {
  pipe_.peer->Send("abc");
  WireBodyReader reader = Reader(OfLength(10), milliseconds(20));
  EXPECT_EQ(ReadBody(reader), "error RequestTimeout");
}

TEST_F(BodyReaderTest, DecodesChunksOfEverySizeIntoBuffersOfEverySize) {
  std::string text;
  std::string wire;
  for (const std::size_t size : {1u, 5u, 4095u, 4096u, 70'000u, 3u}) {
    const std::string chunk = PatternText(size, size);
    char head[32];
    std::snprintf(head, sizeof head, "%zx\r\n", size);
    wire += head + chunk + "\r\n";
    text += chunk;
  }
  wire += "0\r\nX-Trailer: v\r\n\r\nGET";
  for (const std::size_t step : {1u, 7u, 4096u, 1u << 20}) {
    std::jthread sender([&] { pipe_.peer->Send(wire); });
    WireBodyReader reader = Reader(Chunked());
    EXPECT_EQ(reader.Length(), std::nullopt);
    EXPECT_EQ(ReadBody(reader, step), text) << step;
    ASSERT_EQ(reader.Trailers().size(), 1u);
    EXPECT_EQ(reader.Trailers()[0].first, "x-trailer");
    EXPECT_EQ(reader.bytes_read(), text.size());
    while (buffer_.size() < 3)
      ASSERT_EQ(buffer_.Fill(*pipe_.stream, kTestTimeout).status, IoStatus::kOk);
    EXPECT_EQ(buffer_.text(), "GET");
    buffer_.Consume(3);
  }
}

TEST_F(BodyReaderTest, ReportsBrokenAndShortChunks) {
  Buffered("3\r\nabcXX");
  WireBodyReader broken = Reader(Chunked());
  pipe_.peer->Send("\r\n");
  EXPECT_EQ(ReadBody(broken), "error IncompleteBody");
  EXPECT_FALSE(broken.at_end());
  buffer_.Consume(buffer_.size());
  pipe_.peer->Send("5\r\nab");
  pipe_.peer->EndSending();
  WireBodyReader cut = Reader(Chunked());
  EXPECT_EQ(ReadBody(cut), "error IncompleteBody");
}

TEST_F(BodyReaderTest, SendsContinueOnceAtTheFirstRead) {
  Framing framing = OfLength(4);
  framing.expect_continue = true;
  WireBodyReader reader = Reader(framing);
  EXPECT_TRUE(pipe_.peer->Silent());
  EXPECT_FALSE(reader.drainable());
  std::jthread sender([&] {
    const TestResponse interim = pipe_.peer->Read();
    EXPECT_EQ(interim.status_line, "HTTP/1.1 100 Continue");
    pipe_.peer->Send("body");
  });
  EXPECT_EQ(ReadBody(reader, 1), "body");
  sender.join();
  EXPECT_TRUE(pipe_.peer->Silent());
}

TEST_F(BodyReaderTest, DrainsOnlyUpToItsLimit) {
  Buffered(std::string(5000, 'x'));
  WireBodyReader reader = Reader(OfLength(5000));
  EXPECT_FALSE(reader.Drain(4999));
  EXPECT_TRUE(reader.Drain(1));
  EXPECT_TRUE(reader.at_end());
}

TEST_F(BodyReaderTest, DrainLeavesTheRestReadable) {
  WireBodyReader reader = Reader(OfLength(4));
  EXPECT_FALSE(reader.Drain(100));
  pipe_.peer->Send("body");
  while (!reader.Drain(100)) ASSERT_TRUE(reader.drainable());
  EXPECT_TRUE(reader.at_end());
}

}  // namespace
}  // namespace penstock::emulator::http
