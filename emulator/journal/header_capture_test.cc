#include "emulator/journal/header_capture.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "penstock/journal.h"

namespace penstock::emulator::journal {
namespace {

constexpr std::size_t kMost = 8 << 10;
constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nx-amz-request-id: ID\r\nContent-Length: 5\r\n\r\n5\r\n";

std::string Request(const std::vector<s3::HeaderView>& headers) {
  return CaptureHeaders(headers, {}, kMost).request;
}

TEST(HeaderCaptureTest, KeepsTheOrderAndDuplicates) {
  const CapturedHeaders captured =
      CaptureHeaders({{"Host", "h"}, {"X-Twice", "b"}, {"x-twice", "a: b"}}, kHead, kMost);
  EXPECT_EQ(captured.request, "Host: h\nX-Twice: b\nx-twice: a: b\n");
  EXPECT_EQ(captured.response, "x-amz-request-id: ID\nContent-Length: 5\n");
  EXPECT_EQ(captured.left_out, 0u);
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  EXPECT_EQ(JournalHeaders(captured.request),
            (Pairs{{"Host", "h"}, {"X-Twice", "b"}, {"x-twice", "a: b"}}));
}

TEST(HeaderCaptureTest, KeepsHeadersWithoutValueAndResponsesWithoutHeaders) {
  const CapturedHeaders captured =
      CaptureHeaders({{"Empty", ""}}, "HTTP/1.1 204 No Content\r\n\r\n", kMost);
  ASSERT_EQ(JournalHeaders(captured.request).size(), 1u);
  EXPECT_EQ(JournalHeaders(captured.request)[0].first, "Empty");
  EXPECT_EQ(JournalHeaders(captured.request)[0].second, "");
  EXPECT_EQ(captured.response, "");
  EXPECT_TRUE(JournalHeaders("").empty());
}

TEST(HeaderCaptureTest, MasksSignaturesOfAuthorization) {
  EXPECT_EQ(Request({{"Authorization",
                      "AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, "
                      "SignedHeaders=host;x-amz-date, Signature=0123abcd"}}),
            "Authorization: AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;x-amz-date, Signature=***\n");
  EXPECT_EQ(Request({{"authorization", "AWS4-HMAC-SHA256 Signature=01,signature=02 , 03"}}),
            "authorization: AWS4-HMAC-SHA256 Signature=***, ***, ***\n");
  EXPECT_EQ(Request({{"Authorization", "AWS AK:c2lnbmF0dXJl"}}), "Authorization: AWS AK:***\n");
  EXPECT_EQ(Request({{"Authorization", "AWS c2lnbmF0dXJl"}}), "Authorization: AWS ***\n");
  for (const char* const other : {"Bearer hidden", "Basic aGlkZGVu", "hidden", "hidden hidden"})
    EXPECT_EQ(Request({{"Authorization", other}}), "Authorization: ***\n") << other;
}

// A client may build its own header wrongly. What cannot be read must not be shown.
TEST(HeaderCaptureTest, MasksMalformedAuthorization) {
  const std::pair<const char*, const char*> cases[] = {
      {"AWS4-HMAC-SHA256 Credential=AK/d/r/s3/aws4_request SignedHeaders=host Signature=hidden",
       "AWS4-HMAC-SHA256 Credential=AK/d/r/s3/aws4_request***"},
      {"AWS4-HMAC-SHA256 Credential=AK/d;SignedHeaders=host;Signature=hidden",
       "AWS4-HMAC-SHA256 Credential=AK/d***"},
      {"AWS4-HMAC-SHA256 SignedHeaders=host;range;Signature=hidden",
       "AWS4-HMAC-SHA256 SignedHeaders=host;range;***"},
      {"AWS4-HMAC-SHA256 SignedHeaders=host Signature=hidden",
       "AWS4-HMAC-SHA256 SignedHeaders=host***"},
      {"AWS4-HMAC-SHA256\tCredential=AK,Signature=hidden", "***"},
      {"AWS4-HMAC-SHA256Credential=AK,Signature=hidden", "***"},
      {"AWS4-hidden", "***"},
      {"AWS4-hidden Credential=AK", "***"},
      {"aws4-hmac-sha256 Credential=AK, Signature=hidden", "***"},
      {"AWS4-ECDSA-P256-SHA256 Credential=AK, SignedHeaders=host, Signature=hidden",
       "AWS4-ECDSA-P256-SHA256 Credential=AK, SignedHeaders=host, Signature=***"},
      {"AWS4-HMAC-SHA256 Credential=AK@example.com/d, Signature = hidden",
       "AWS4-HMAC-SHA256 Credential=AK@example.com/d, ***"},
      {"AWS AK Signature=hidden:hidden", "AWS ***"},
  };
  for (const auto& [value, shown] : cases) {
    const std::string captured = Request({{"Authorization", value}});
    EXPECT_EQ(captured, std::string("Authorization: ") + shown + "\n") << value;
    EXPECT_EQ(captured.find("hidden"), std::string::npos) << value;
  }
}

TEST(HeaderCaptureTest, MasksSecretsInAnyHeader) {
  for (const char* const name : {"X-Amz-Security-Token",
                                 "x-amz-s3session-token",
                                 "Cookie",
                                 "SET-COOKIE",
                                 "x-amz-server-side-encryption-customer-key",
                                 "Proxy-Authorization",
                                 "X-Amz-Signature",
                                 "x-amz-copy-source-server-side-encryption-customer-key",
                                 "X-Api-Key",
                                 "x_apikey",
                                 "X-Auth-Token",
                                 "X-Vault-Token",
                                 "Private-Token",
                                 "x-csrf-token",
                                 "x-amz-mfa",
                                 "x-amz-meta-token",
                                 "X-Amz-Meta-Client-Secret-2",
                                 "Cookie2",
                                 "X-PASSWORDS",
                                 "My-Credentials"}) {
    EXPECT_EQ(Request({{name, "hidden"}}), std::string(name) + ": ***\n");
  }
  EXPECT_EQ(Request({{"x-amz-server-side-encryption-customer-key-MD5", "shown"}}),
            "x-amz-server-side-encryption-customer-key-MD5: shown\n");
  for (const char* const name : {"ETag", "x-amz-request-id", "x-amz-meta-key", "If-Match"})
    EXPECT_EQ(Request({{name, "shown"}}), std::string(name) + ": shown\n");
  EXPECT_EQ(Request({{"Referer", "http://h/k?X-Amz-Signature=hidden&a=b"}}).find("hidden"),
            std::string::npos);
  EXPECT_EQ(Request({{"Signature%3Dhidden", "v"}}), "Signature%3D***: v\n");
  EXPECT_EQ(CaptureHeaders({}, "HTTP/1.1 200 OK\r\nSet-Cookie: hidden\r\n\r\n", kMost).response,
            "Set-Cookie: ***\n");
}

TEST(HeaderCaptureTest, LeavesOutWhatDoesNotFit) {
  const std::string half(kMost / 2, 'v');
  const CapturedHeaders captured = CaptureHeaders(
      {{"First", half}, {"Second", half}, {"Third", "short"}},
      "HTTP/1.1 200 OK\r\nLong: " + std::string(kMost, 'v') + "\r\nShort: kept\r\n\r\n", kMost);
  EXPECT_EQ(captured.request, "First: " + half + "\nThird: short\n");
  EXPECT_EQ(captured.response, "Short: kept\n");
  EXPECT_EQ(captured.left_out, 2u);
}

TEST(HeaderCaptureTest, KeepsAQuarterForTheResponse) {
  std::vector<s3::HeaderView> request(1000, {"Name", "0123456789"});
  std::string head = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 1000; ++i) head += "Name: 0123456789\r\n";
  const CapturedHeaders captured = CaptureHeaders(request, head + "\r\n", kMost);
  EXPECT_LE(captured.request.size() + captured.response.size(), kMost);
  EXPECT_GT(captured.response.size(), kMost / 5);
  EXPECT_GT(captured.request.size(), kMost / 2);
}

// Headers cannot contain line breaks; if one did, it must not add a header.
TEST(HeaderCaptureTest, LineBreaksBecomeSpaces) {
  EXPECT_EQ(Request({{"Name", "a\nForged: b"}}), "Name: a Forged: b\n");
}

}  // namespace
}  // namespace penstock::emulator::journal
