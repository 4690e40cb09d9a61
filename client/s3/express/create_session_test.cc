#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "base/dates.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::seconds;

std::string Document(const std::string& expiration = "2026-01-02T03:09:05Z") {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CreateSessionResult "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
         "<Credentials><SessionToken>T</SessionToken><SecretAccessKey>S</"
         "SecretAccessKey><AccessKeyId>A</AccessKeyId>"
         "<Expiration>" +
         expiration + "</Expiration></Credentials></CreateSessionResult>";
}

TEST(CreateSessionTest, RequestsASessionOfTheBucket) {
  EXPECT_EQ(Golden(BuildRequest(CreateSessionRequest{BucketName("b--usw2-az1--x-s3")}, Context())),
            "GET /b--usw2-az1--x-s3?session=\n\n");
}

TEST(CreateSessionTest, TheLifetimeIsRelativeToTheResponsesDate) {
  const auto session =
      ParseSession(ResponseOf(Document(), {{"Date", "Fri, 02 Jan 2026 03:04:05 GMT"}}), WallTime{});
  ASSERT_TRUE(session.ok()) << session.error().message;
  EXPECT_EQ(session->credentials->access_key_id, "A");
  EXPECT_EQ(session->credentials->secret_access_key, "S");
  EXPECT_EQ(session->credentials->session_token, "T");
  EXPECT_EQ(session->lifetime, seconds(300));
  EXPECT_EQ(session->credentials->expires_at, WallTime{} + seconds(300)) << "by the client's clock";
}

TEST(CreateSessionTest, WithoutADateTheLocalClockIsUsed) {
  const WallTime now = *ParseIso8601("2026-01-02T03:08:05Z");
  EXPECT_EQ(ParseSession(ResponseOf(Document()), now)->lifetime, seconds(60));
}

TEST(CreateSessionTest, AnInvalidSessionIsAnErrorWithoutItsSecrets) {
  for (const std::string& body : {Document("soon"), std::string("<CreateSessionResult/>"),
                                  std::string("<Other"), std::string()}) {
    const auto session = ParseSession(ResponseOf(body), WallTime{});
    ASSERT_FALSE(session.ok()) << body;
    EXPECT_EQ(session.error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(session.error().message.find(">S<"), std::string::npos);
  }
}

TEST(CreateSessionTest, AServiceWithoutSessionsIsNotRetried) {
  // Symptom: moto returns a listing for `?session`, which led to ten attempts in up to a minute.
  const auto session = ParseSession(ResponseOf("<ListBucketResult/>"), WallTime{});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(session.error().message.find("disable_s3_express_session_auth"), std::string::npos)
      << session.error().message;
}

}  // namespace
}  // namespace penstock::s3
