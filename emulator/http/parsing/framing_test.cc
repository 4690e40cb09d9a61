#include "emulator/http/parsing/framing.h"

#include <initializer_list>
#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

Result<Framing> Read(std::initializer_list<message::HeaderView> headers, int minor_version = 1) {
  message::RequestHead head;
  head.method = "PUT";
  head.target = "/";
  head.minor_version = minor_version;
  head.headers.push_back({"Host", "h"});
  for (const message::HeaderView& header : headers) head.headers.push_back(header);
  return ReadFraming(head);
}

std::string CodeOf(const Result<Framing>& framing) {
  return framing.ok() ? "" : framing.error().code;
}

TEST(Framing, WithoutALengthNoBodyIsDeclared) {
  const Result<Framing> framing = Read({});
  ASSERT_TRUE(framing.ok());
  EXPECT_EQ(framing->body, BodyFraming::kUndeclared);
  EXPECT_TRUE(framing->keep_alive);
}

TEST(Framing, ReadsContentLength) {
  EXPECT_EQ(Read({{"content-LENGTH", "42"}})->length, 42u);
  EXPECT_EQ(Read({{"Content-Length", "0"}})->body, BodyFraming::kLength);
  EXPECT_EQ(Read({{"Content-Length", "9223372036854775807"}})->length, 9223372036854775807u);
  EXPECT_EQ(Read({{"Content-Length", "5"}, {"Content-Length", "5"}})->length, 5u);
}

TEST(Framing, RefusesInvalidContentLength) {
  for (const char* value : {"", "-1", "+5", "5 ", "0x5", "5,5", "1e3", "9223372036854775808",
                            "18446744073709551616", "99999999999999999999"}) {
    EXPECT_EQ(CodeOf(Read({{"Content-Length", value}})), "BadRequest") << value;
  }
  EXPECT_EQ(CodeOf(Read({{"Content-Length", "5"}, {"content-length", "6"}})), "BadRequest");
}

TEST(Framing, ReadsChunked) {
  EXPECT_EQ(Read({{"Transfer-Encoding", "Chunked"}})->body, BodyFraming::kChunked);
}

TEST(Framing, RefusesAmbiguousTransferEncoding) {
  EXPECT_EQ(CodeOf(Read({{"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}})),
            "BadRequest");
  EXPECT_EQ(CodeOf(Read({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}})),
            "BadRequest");
  EXPECT_EQ(CodeOf(Read({{"Transfer-Encoding", "chunked"}}, 0)), "BadRequest");
  EXPECT_EQ(CodeOf(Read({{"Transfer-Encoding", "gzip, chunked"}})), "NotImplemented");
  EXPECT_EQ(CodeOf(Read({{"Transfer-Encoding", "identity"}})), "NotImplemented");
}

TEST(Framing, RequiresExactlyOneHost) {
  message::RequestHead head;
  EXPECT_EQ(CodeOf(ReadFraming(head)), "BadRequest");
  head.minor_version = 0;
  EXPECT_TRUE(ReadFraming(head).ok());
  EXPECT_EQ(CodeOf(Read({{"HOST", "other"}})), "BadRequest");
}

TEST(Framing, ReadsConnectionAsACaseInsensitiveList) {
  EXPECT_FALSE(Read({{"Connection", "Close"}})->keep_alive);
  EXPECT_FALSE(Read({{"connection", "foo , CLOSE"}})->keep_alive);
  EXPECT_FALSE(Read({{"Connection", "keep-alive"}, {"Connection", "close"}})->keep_alive);
  EXPECT_TRUE(Read({{"Connection", "closed"}})->keep_alive);
  EXPECT_FALSE(Read({}, 0)->keep_alive);
  EXPECT_TRUE(Read({{"Connection", "Keep-Alive"}}, 0)->keep_alive);
}

TEST(Framing, ExpectsContinueOnlyWhereABodyFollows) {
  EXPECT_TRUE(Read({{"Expect", "100-Continue"}, {"Content-Length", "1"}})->expect_continue);
  EXPECT_TRUE(
      Read({{"Expect", "100-continue"}, {"Transfer-Encoding", "chunked"}})->expect_continue);
  EXPECT_FALSE(Read({{"Expect", "100-continue"}, {"Content-Length", "0"}})->expect_continue);
  EXPECT_FALSE(Read({{"Expect", "100-continue"}, {"Content-Length", "1"}}, 0)->expect_continue);
}

// ceph/s3-tests, test_object_create_bad_expect_mismatch and _empty: S3 ignores them.
TEST(Framing, OtherExpectationsAreIgnored) {
  for (const char* value : {"200", "", "miracles"}) {
    const auto framing = Read({{"Expect", value}, {"Content-Length", "1"}});
    ASSERT_TRUE(framing.ok()) << value;
    EXPECT_FALSE(framing->expect_continue) << value;
  }
}

}  // namespace
}  // namespace penstock::emulator::http
