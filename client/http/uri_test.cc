#include "client/http/uri.h"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

// RFC 3986 section 2.3.
constexpr std::string_view kUnreserved =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

TEST(Uri, KeepsUnreservedCharacters) {
  EXPECT_EQ(EncodeQuery(kUnreserved), kUnreserved);
  EXPECT_EQ(EncodePath(kUnreserved), kUnreserved);
}

TEST(Uri, EncodesEveryOtherByteWithUpperCaseHex) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (kUnreserved.find(c) != std::string_view::npos) continue;
    char expected[4];
    std::snprintf(expected, sizeof(expected), "%%%02X", byte);
    EXPECT_EQ(EncodeQuery(std::string_view(&c, 1)), expected);
    EXPECT_EQ(EncodePath(std::string_view(&c, 1)), c == '/' ? "/" : expected);
  }
}

TEST(Uri, PathsKeepSlashesAndDots) {
  EXPECT_EQ(EncodePath("a//b/../c d+e/\xc3\xa9"), "a//b/../c%20d%2Be/%C3%A9");
}

TEST(Uri, DecodingUndoesEncoding) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(DecodePercent(EncodeQuery(all)), all);
}

TEST(Uri, DecodesHexOfEitherCaseAndKeepsPlus) { EXPECT_EQ(DecodePercent("%2f%2F+"), "//+"); }

TEST(Uri, DecodesOneEscapeAtTheFront) {
  EXPECT_EQ(DecodeEscape("%2Fx%41"), '/');
  for (const std::string_view text : {"", "%", "%2", "2F", "x2F", "%2g"})
    EXPECT_FALSE(DecodeEscape(text)) << text;
}

TEST(Uri, RejectsInvalidEscapes) {
  for (const std::string_view text : {"%", "a%2", "%zz", "%2%20"})
    EXPECT_FALSE(DecodePercent(text)) << text;
}

TEST(Uri, QueryKeepsTheOrderGiven) {
  EXPECT_EQ(BuildQuery({{"prefix", "a/b c"}, {"acl", ""}, {"a", "1"}}),
            "prefix=a%2Fb%20c&acl=&a=1");
  EXPECT_EQ(BuildQuery({}), "");
}

TEST(Uri, ReadsEndpointUrls) {
  const Result<Url> url = ParseUrl("HTTP://Example.COM:9000/base/?x=1");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->endpoint.scheme, "http");
  EXPECT_EQ(url->endpoint.host, "example.com");
  EXPECT_EQ(url->endpoint.port, 9000);
  EXPECT_EQ(url->path, "/base/");
  EXPECT_EQ(url->query, "x=1");
}

TEST(Uri, PortComesFromTheSchemeUnlessGiven) {
  EXPECT_EQ(ParseUrl("http://h")->endpoint.port, 80);
  EXPECT_EQ(ParseUrl("https://h")->endpoint.port, 443);
  EXPECT_FALSE(ParseUrl("https://h")->port_given);
  EXPECT_TRUE(ParseUrl("https://h:443")->port_given);
}

TEST(Uri, ReadsIpv6Literals) {
  const Result<Url> url = ParseUrl("http://[::1]:8080");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->endpoint.host, "::1");
  EXPECT_EQ(url->endpoint.port, 8080);
}

TEST(Uri, RejectsInvalidEndpointsAndNamesThem) {
  for (const std::string text :
       {"", "h:80", "ftp://h", "http://", "http://:80", "http://h:0", "http://h:65536",
        "http://h:x", "http://h:80x", "http://h h", "http://h/#f", "http://[::1", "http://[::1]x",
        "http://h_\xc3\xa9", "http://a,b", "://h"}) {
    const Result<Url> url = ParseUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(url.error().message.find("'" + text + "'"), std::string::npos) << url.error().message;
  }
}

TEST(Uri, RejectsAPasswordWithoutQuotingIt) {
  const Result<Url> url = ParseUrl("http://user:s3cr3t@h/");
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().message.find("s3cr3t"), std::string::npos);
}

TEST(Uri, HostHeaderOmitsTheDefaultPort) {
  EXPECT_EQ(HostHeader({"https", "h", 443}), "h");
  EXPECT_EQ(HostHeader({"http", "h", 80}), "h");
  EXPECT_EQ(HostHeader({"http", "h", 443}), "h:443");
  EXPECT_EQ(HostHeader({"http", "::1", 80}), "[::1]");
  EXPECT_EQ(HostHeader({"http", "::1", 9000}), "[::1]:9000");
}

}  // namespace
}  // namespace penstock::http
