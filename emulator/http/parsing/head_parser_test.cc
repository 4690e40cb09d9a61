#include "emulator/http/parsing/head_parser.h"

#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

struct Parsed {
  std::string bytes;
  message::RequestHead head;
  std::string code;  // error code; empty on success
};

std::unique_ptr<Parsed> Parse(std::string bytes, HeadLimits limits = {}) {
  auto parsed = std::make_unique<Parsed>();
  parsed->bytes = std::move(bytes);
  const Result<void> result = ParseHead(parsed->bytes, limits, parsed->head);
  if (!result.ok())
    parsed->code = result.error().code + " " + std::to_string(result.error().http_status);
  return parsed;
}

std::string CodeOf(const std::string& request_line_and_headers) {
  return Parse(request_line_and_headers)->code;
}

TEST(HeadParser, KeepsTargetAndHeadersExactlyAsSent) {
  const auto parsed = Parse(
      "PUT /b//a%2Bb+c?x=%20&x=?2&acl HTTP/1.1\r\nHost: h\r\nX-Amz-Meta-A: a%2Bb "
      "\t\r\nx-amz-meta-a:\t \r\n\r\n");
  ASSERT_EQ(parsed->code, "");
  EXPECT_EQ(parsed->head.method, "PUT");
  EXPECT_EQ(parsed->head.target, "/b//a%2Bb+c?x=%20&x=?2&acl");
  EXPECT_EQ(parsed->head.minor_version, 1);
  ASSERT_EQ(parsed->head.headers.size(), 3u);
  EXPECT_EQ(parsed->head.headers[1].name, "X-Amz-Meta-A");
  EXPECT_EQ(parsed->head.headers[1].value, "a%2Bb");
  EXPECT_EQ(parsed->head.headers[2].name, "x-amz-meta-a");
  EXPECT_EQ(parsed->head.headers[2].value, "");
}

TEST(HeadParser, ClearsThePreviousRequest) {
  message::RequestHead head;
  ASSERT_TRUE(ParseHead("GET /a HTTP/1.0\r\nA: b\r\n\r\n", {}, head).ok());
  ASSERT_TRUE(ParseHead("GET /b HTTP/1.1\r\n\r\n", {}, head).ok());
  EXPECT_EQ(head.target, "/b");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_TRUE(head.headers.empty());
}

TEST(HeadParser, KeepsRawUtf8InTargetAndValue) {
  const auto parsed = Parse("GET /b/\xc3\xa4 HTTP/1.1\r\nA: \xc3\xa4\r\n\r\n");
  ASSERT_EQ(parsed->code, "");
  EXPECT_EQ(parsed->head.target, "/b/\xc3\xa4");
  EXPECT_EQ(parsed->head.headers[0].value, "\xc3\xa4");
}

TEST(HeadParser, ReducesAnAbsoluteTargetAndUsesItsHost) {
  const auto parsed =
      Parse("GET http://bucket.localhost:9000/key?list-type=2 HTTP/1.1\r\nhost: proxy\r\n\r\n");
  ASSERT_EQ(parsed->code, "");
  EXPECT_EQ(parsed->head.target, "/key?list-type=2");
  EXPECT_EQ(parsed->head.headers[0].value, "bucket.localhost:9000");
  EXPECT_EQ(Parse("GET HTTPS://h HTTP/1.1\r\nHost: h\r\n\r\n")->head.target, "/");
}

TEST(HeadParser, RefusesInvalidRequestLines) {
  for (const std::string line : {"GET",
                                 "GET /",
                                 "GET / ",
                                 "GET  HTTP/1.1",
                                 " / HTTP/1.1",
                                 "G T / HTTP/1.1",
                                 "GE(T / HTTP/1.1",
                                 "GET / http/1.1",
                                 "GET / HTTP/1.",
                                 "GET / HTTP/1.11",
                                 "GET / HTTP/a.1",
                                 "GET / HTTP/1.1 ",
                                 "GET a HTTP/1.1",
                                 "GET * HTTP/1.1",
                                 "GET ftp://h/ HTTP/1.1",
                                 "GET http:///k HTTP/1.1",
                                 "GET http://h?x HTTP/1.1",
                                 "GET /a#b HTTP/1.1",
                                 "GET /a\tb HTTP/1.1",
                                 "GET /a\x7f HTTP/1.1",
                                 "\x16\x03\x01\x02"}) {
    EXPECT_EQ(CodeOf(line + "\r\nHost: h\r\n\r\n"), "BadRequest 400") << line;
  }
  EXPECT_EQ(CodeOf("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"), "");
}

TEST(HeadParser, RefusesOtherMajorVersions) {
  EXPECT_EQ(CodeOf("PRI / HTTP/2.0\r\n\r\n"), "HTTPVersionNotSupported 505");
  EXPECT_EQ(CodeOf("GET / HTTP/0.9\r\n\r\n"), "HTTPVersionNotSupported 505");
}

TEST(HeadParser, RefusesMalformedHeaderLines) {
  for (const std::string line : {"no colon", ": empty name", "Space : x", " leading: x", "\tfolded",
                                 "na\xc3\xa4me: x", "A: b\x01", "A: b\rc", "A: \x7f", "A(: b"}) {
    EXPECT_EQ(CodeOf("GET / HTTP/1.1\r\nHost: h\r\n" + line + "\r\n\r\n"), "BadRequest 400")
        << line;
  }
  EXPECT_EQ(CodeOf(std::string("GET / HTTP/1.1\r\nA: b\0c\r\n\r\n", 26)), "BadRequest 400");
}

TEST(HeadParser, RefusesBareLineFeeds) {
  EXPECT_EQ(CodeOf("GET / HTTP/1.1\nHost: h\r\n\r\n"), "BadRequest 400");
  EXPECT_EQ(CodeOf("GET / HTTP/1.1\r\nHost: h\n\r\n"), "BadRequest 400");
  EXPECT_EQ(CodeOf("GET / HTTP/1.1\r\nHost: h\r\n\n"), "BadRequest 400");
}

TEST(HeadParser, EnforcesItsLimits) {
  const HeadLimits limits{.max_head_bytes = 200, .max_target_bytes = 20, .max_headers = 2};
  EXPECT_EQ(Parse("GET /" + std::string(19, 'k') + " HTTP/1.1\r\n\r\n", limits)->code, "");
  EXPECT_EQ(Parse("GET /" + std::string(20, 'k') + " HTTP/1.1\r\n\r\n", limits)->code,
            "URITooLong 414");
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n", limits)->code, "");
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", limits)->code,
            "RequestHeaderSectionTooLarge 400");
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nA: " + std::string(200, 'v') + "\r\n\r\n", limits)->code,
            "RequestHeaderSectionTooLarge 400");
}

TEST(FindHeadEnd, DoesNotDependOnHowTheBytesArrive) {
  const std::string input = "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\nGET /next";
  const std::size_t expected = input.find("GET /next");
  std::size_t scanned = 0;
  EXPECT_EQ(FindHeadEnd(input, scanned), expected);
  scanned = 0;
  std::size_t found = 0;
  std::size_t length = 0;
  while (found == 0 && length < input.size())
    found = FindHeadEnd(std::string_view(input).substr(0, ++length), scanned);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(length, expected);
}

TEST(FindHeadEnd, EndsAtBareLineFeedsToo) {
  std::size_t scanned = 0;
  EXPECT_EQ(FindHeadEnd("GET / HTTP/1.1\n\nrest", scanned), 16u);
}

TEST(FindHeadEnd, RemembersTheSearchedPrefix) {
  std::string input = "GET /" + std::string(1000, 'k');
  std::size_t scanned = 0;
  EXPECT_EQ(FindHeadEnd(input, scanned), 0u);
  EXPECT_EQ(scanned, input.size());
  input += " HTTP/1.1\r\n\r";
  EXPECT_EQ(FindHeadEnd(input, scanned), 0u);
  EXPECT_EQ(scanned, input.size() - 2);
}

}  // namespace
}  // namespace penstock::emulator::http
