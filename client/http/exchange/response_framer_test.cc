#include "client/http/exchange/response_framer.h"

#include <gtest/gtest.h>

#include <string>

#include "client/http/body_for_test.h"

namespace penstock::http {
namespace {

// The result of bytes that were fed in steps of `step`.
struct Read {
  std::string body;
  std::size_t taken = 0;
  int begins = 0;
  std::optional<Error> error;
  bool done = false;
  bool keeps = false;
  bool continues = false;
  bool refused_expect = false;
};

Read ReadIn(std::string_view bytes, std::size_t step, bool head_only = false,
            bool expects = false) {
  Collector sink;
  Transfer transfer;
  transfer.response_body = &sink;
  transfer.request.endpoint = {"http", "h", 80};
  ResponseFramer framer;
  framer.Reset(head_only, expects);
  Read read;
  while (read.taken < bytes.size() && !framer.done()) {
    const std::string_view piece = bytes.substr(read.taken, step);
    const Result<std::size_t> taken = framer.Feed(transfer, AsBytes(piece));
    if (!taken.ok()) {
      read.error = taken.error();
      break;
    }
    read.taken += *taken;
  }
  if (!read.error && !framer.done()) framer.OnClosed();
  read.body = sink.text;
  read.begins = static_cast<int>(sink.heads.size());
  read.done = framer.done();
  read.keeps = framer.keeps_connection();
  read.continues = framer.continues();
  read.refused_expect = framer.refused_expect();
  return read;
}

class ResponseFramerTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static Read Of(std::string_view bytes, bool head_only = false, bool expects = false) {
    return ReadIn(bytes, GetParam(), head_only, expects);
  }
};

INSTANTIATE_TEST_SUITE_P(Steps, ResponseFramerTest, ::testing::Values(1, 7, 1 << 20));

TEST_P(ResponseFramerTest, StopsAtTheLength) {
  const Read read = Of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 ");
  EXPECT_TRUE(read.done);
  EXPECT_TRUE(read.keeps);
  EXPECT_EQ(read.body, "hello");
  EXPECT_EQ(read.begins, 1);
  EXPECT_EQ(read.taken,
            std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").size());
}

TEST_P(ResponseFramerTest, ParsesChunksExtensionsAndTrailers) {
  const Read read =
      Of("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\nA \r\n "
         "123456789\r\n0\r\nT: v\r\n\r\nx");
  EXPECT_TRUE(read.done);
  EXPECT_TRUE(read.keeps);
  EXPECT_EQ(read.body, "hello 123456789");
}

TEST_P(ResponseFramerTest, IgnoresLengthsOfResponsesWithoutABody) {
  EXPECT_TRUE(Of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true).done);
  EXPECT_TRUE(Of("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n").done);
  EXPECT_TRUE(Of("HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n").done);
  EXPECT_TRUE(Of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").done);
}

TEST_P(ResponseFramerTest, WithoutALengthTheBodyEndsWithTheConnection) {
  const Read read = Of("HTTP/1.1 200 OK\r\n\r\nall of it");
  EXPECT_TRUE(read.done);
  EXPECT_FALSE(read.keeps);
  EXPECT_EQ(read.body, "all of it");
}

TEST_P(ResponseFramerTest, TruncatedResponseIsNotDone) {
  EXPECT_FALSE(Of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell").done);
  EXPECT_FALSE(Of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n").done);
  EXPECT_FALSE(Of("HTTP/1.1 200 OK\r\nContent-Le").done);
}

TEST_P(ResponseFramerTest, SkipsInterimHeads) {
  const Read read =
      Of("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 "
         "OK\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_TRUE(read.done);
  EXPECT_TRUE(read.continues);
  EXPECT_EQ(read.begins, 1);
  EXPECT_EQ(read.body, "x");
}

TEST_P(ResponseFramerTest, DecidesWhetherTheConnectionIsKept) {
  const auto keeps = [](const std::string& head) {
    return Of(head + "Content-Length: 0\r\n\r\n").keeps;
  };
  EXPECT_TRUE(keeps("HTTP/1.1 200 OK\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1 200 OK\r\nConnection: close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1 200 OK\r\nConnection: x, Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0 200 OK\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\n"));
}

TEST_P(ResponseFramerTest, RejectedExpectDeliversNoBody) {
  const Read read =
      Of("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 3\r\n\r\nno!", false, true);
  EXPECT_TRUE(read.refused_expect);
  EXPECT_FALSE(read.keeps);
  EXPECT_EQ(read.begins, 0);
  EXPECT_FALSE(Of("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n").refused_expect);
}

TEST_P(ResponseFramerTest, InvalidHttpIsAnError) {
  for (const std::string_view bad : {
           "garbage\r\n\r\n",
           "HTTP/2 200\r\n\r\n",
           "HTTP/1.1 abc\r\n\r\n",
           "HTTP/1.1 101 Switching\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
       }) {
    const Read read = Of(bad);
    ASSERT_TRUE(read.error.has_value()) << bad;
    EXPECT_EQ(read.error->kind, ErrorKind::kUnavailable);
    EXPECT_NE(read.error->message.find("h:80"), std::string::npos) << read.error->message;
  }
}

TEST_P(ResponseFramerTest, LengthWithChunksClosesTheConnection) {
  const Read read =
      Of("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: "
         "chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n");
  EXPECT_EQ(read.body, "ab");
  EXPECT_TRUE(read.done);
  EXPECT_FALSE(read.keeps);
}

TEST_P(ResponseFramerTest, RejectsEndlessLines) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_TRUE(Of("HTTP/1.1 200 " + std::string(300 << 10, 'x')).error.has_value());
  EXPECT_TRUE(
      Of(head + "1;" + std::string(ResponseFramer::kMaxChunkLineBytes, 'x')).error.has_value());
  std::string trailers = head + "0\r\n";
  while (trailers.size() < head.size() + ResponseFramer::kMaxTrailerBytes + 100)
    trailers += "T: " + std::string(90, 'v') + "\r\n";
  EXPECT_TRUE(Of(trailers).error.has_value());
}

TEST(ResponseFramer, DirectBytesAreOnlyBodyBytes) {
  Collector sink;
  Transfer transfer;
  transfer.response_body = &sink;
  ResponseFramer framer;
  framer.Reset(false, false);
  EXPECT_EQ(framer.direct_bytes(), 0u);
  ASSERT_TRUE(
      framer.Feed(transfer, AsBytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nh"))
          .ok());
  EXPECT_EQ(framer.direct_bytes(), 4u);
  const MutableByteView window = transfer.NextWindow();
  std::ranges::copy(AsBytes("ello"), window.begin());
  ASSERT_TRUE(framer.Received(transfer, 4).ok());
  EXPECT_EQ(framer.direct_bytes(), 0u);
  ASSERT_TRUE(framer.Feed(transfer, AsBytes("\r\n0\r\n\r\n")).ok());
  EXPECT_TRUE(framer.done());
  EXPECT_EQ(sink.text, "hello");
}

}  // namespace
}  // namespace penstock::http
