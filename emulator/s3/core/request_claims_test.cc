#include "emulator/s3/core/request_claims.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator::s3 {
namespace {

std::string Claimed(std::string_view authorization, std::string_view target = "/bucket/key") {
  RequestHead head{.method = "GET", .target = target};
  if (!authorization.empty()) head.headers.push_back({"Authorization", authorization});
  const auto parsed = ParseTarget(target, "localhost", HostRules::Default("us-east-1"));
  EXPECT_TRUE(parsed.ok());
  return std::string(ClaimedAccessKey(head, *parsed));
}

TEST(ClaimedAccessKeyTest, FindsTheKeyInHeaderAndQuery) {
  EXPECT_EQ(Claimed("AWS4-HMAC-SHA256 Credential=AKIA1/20260101/us-east-1/s3/aws4_request, "
                    "SignedHeaders=host, Signature=0"),
            "AKIA1");
  EXPECT_EQ(Claimed("AWS AKIA2:c2ln"), "AKIA2");
  EXPECT_EQ(
      Claimed("", "/bucket/key?X-Amz-Credential=AKIA3%2F20260101%2Fus-east-1%2Fs3%2Faws4_request"),
      "AKIA3");
  EXPECT_EQ(Claimed("", "/bucket/key?AWSAccessKeyId=AKIA4&Signature=0&Expires=1"), "AKIA4");
}

TEST(ClaimedAccessKeyTest, IsEmptyWithoutACredential) {
  EXPECT_EQ(Claimed(""), "");
  EXPECT_EQ(Claimed("Bearer token"), "");
  EXPECT_EQ(Claimed("AWS4-HMAC-SHA256 Credential="), "");
}

TEST(ClaimedAttemptTest, IsFoundAtAnyPosition) {
  EXPECT_EQ(ClaimedAttempt("attempt=1"), 1U);
  EXPECT_EQ(ClaimedAttempt("attempt=2; max=3"), 2U);
  EXPECT_EQ(ClaimedAttempt("ttl=20260101T000000Z; attempt=12; max=64"), 12U);
}

TEST(ClaimedAttemptTest, ValuesWithoutANumberReturnNullopt) {
  for (const char* text : {"", "max=3", "attempt=", "attempt=x", "attempt=-1", "attempt=2x",
                           "attempt=99999999999999999999"}) {
    EXPECT_EQ(ClaimedAttempt(text), std::nullopt) << text;
  }
}

TEST(ClaimedRankTest, ReadsTheHeaderThenTheUserAgent) {
  EXPECT_EQ(ClaimedRank("", "penstock/1 (rank/12; torch)"), 12U);
  EXPECT_EQ(ClaimedRank("", "penstock/1 rank/0"), 0U);
  EXPECT_EQ(ClaimedRank("3", "penstock/1 rank/12"), 3U);
  EXPECT_EQ(ClaimedRank("x", "penstock/1 rank/12"), 12U);
  for (const char* none : {"", "rank", "rank/", "rank/x", "Rank/1", "rank/1x"})
    EXPECT_EQ(ClaimedRank("", none), std::nullopt) << none;
}

}  // namespace
}  // namespace penstock::emulator::s3
