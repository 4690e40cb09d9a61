// A Client with directory buckets: the credentials of each request, and the number of sessions
// created.
#include "client/s3/call/signing_credentials.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

constexpr const char* kBucket = "data--usw2-az1--x-s3";
constexpr const char* kZone = "data--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com";

// Responds with a session of five minutes.
FakeReply Session(const std::string& id) {
  return FakeReply::Respond(200, {{"Date", "Fri, 02 Jan 2026 03:04:05 GMT"}},
                            "<CreateSessionResult><Credentials><SessionToken>token-" + id +
                                "</SessionToken><SecretAccessKey>secret-" + id +
                                "</SecretAccessKey><AccessKeyId>" + id +
                                "</AccessKeyId><Expiration>2026-01-02T03:09:05Z</Expiration></"
                                "Credentials></CreateSessionResult>");
}

// Responds with sessions S1, S2, ..., and with an object to all other requests.
struct ExpressTest {
  explicit ExpressTest(ClientConfig config = {}) : client(Complete(std::move(config))) {
    client.transport.SetHandler([this](const http::RecordedRequest& request) {
      if (request.request.target.starts_with("/?session"))
        return Session("S" + std::to_string(++sessions));
      return request.request.method == "PUT" ? FakeReply::Respond(200, {{"ETag", "\"e\""}})
                                             : Object("text");
    });
  }
  static ClientConfig Complete(ClientConfig config) {
    config.region = "us-west-2";
    return config;
  }

  Result<ObjectMetadata> Get() {
    return client.Run(GetObjectRequest{
        .bucket = BucketName(kBucket), .key = ObjectKey("key"), .sink = &client.sink});
  }
  // Returns "method host target by id", and the token header.
  std::string Sent(std::size_t index) const {
    const http::RecordedRequest request = client.transport.requests().at(index);
    const std::string authorization =
        request.Header("Authorization").value_or("Credential=(unsigned)/");
    const std::size_t begin = authorization.find("Credential=") + 11;
    std::string text = request.request.method + " " + request.Header("Host").value_or("") + " " +
                       request.request.target + " by " +
                       authorization.substr(begin, authorization.find('/', begin) - begin);
    for (const char* token : {"x-amz-security-token", "x-amz-s3session-token"}) {
      if (const auto value = request.Header(token)) text += std::string(" ") + token + "=" + *value;
    }
    return text;
  }

  int sessions = 0;
  ClientUnderTest client;
};

TEST(SigningCredentialsTest, TheFirstRequestCreatesTheSessionThatSignsAll) {
  ExpressTest test;
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  ASSERT_EQ(test.client.sent(), 3u);
  EXPECT_EQ(test.Sent(0), std::string("GET ") + kZone + " /?session= by AKID");
  EXPECT_EQ(test.Sent(1),
            std::string("GET ") + kZone + " /key by S1 x-amz-s3session-token=token-S1");
  EXPECT_EQ(test.Sent(2), test.Sent(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(test.client.Header(i, "Authorization").find("/us-west-2/s3express/aws4_request"),
              std::string::npos)
        << i;
  }
}

TEST(SigningCredentialsTest, SixtyFourConcurrentCallsCreateOneSession) {
  ExpressTest test;
  test.client.transport.Hold();
  std::vector<StringSink> sinks(64);
  int arrived = 0;
  for (StringSink& sink : sinks) {
    test.client.client->Start(
        GetObjectRequest{.bucket = BucketName(kBucket), .key = ObjectKey("key"), .sink = &sink},
        [&arrived](const Result<ObjectMetadata>& result) { arrived += result.ok(); });
  }
  EXPECT_EQ(test.client.transport.waiting(), 1u);
  while (test.client.transport.Release(64) > 0) {
  }
  EXPECT_EQ(arrived, 64);
  EXPECT_EQ(test.client.sent(), 65u);
  EXPECT_EQ(test.sessions, 1);
}

TEST(SigningCredentialsTest, TheClientsOwnTokenSignsCreateSession) {
  ClientConfig config;
  config.credentials = auth::MakeStaticProvider({"AKID", "secret", "mine", {}});
  ExpressTest test(std::move(config));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Sent(0),
            std::string("GET ") + kZone + " /?session= by AKID x-amz-security-token=mine");
  EXPECT_EQ(test.Sent(1),
            std::string("GET ") + kZone + " /key by S1 x-amz-s3session-token=token-S1");
}

TEST(SigningCredentialsTest, ARejectedSessionIsReplacedOnce) {
  for (const char* code : {"ExpiredToken", "InvalidToken", "InvalidAccessKeyId"}) {
    ExpressTest test;
    test.client.transport.Expect(Session("old"));
    test.client.transport.Expect(Refuse(400, code));
    ASSERT_TRUE(test.Get().ok()) << code;
    ASSERT_EQ(test.client.sent(), 4u);
    EXPECT_EQ(test.Sent(3),
              std::string("GET ") + kZone + " /key by S1 x-amz-s3session-token=token-S1");
  }
}

TEST(SigningCredentialsTest, ASessionThatIsRejectedAgainIsTheError) {
  ExpressTest test;
  test.client.transport.SetHandler([](const http::RecordedRequest& request) {
    if (request.request.target.starts_with("/?session")) return Session("S");
    return Refuse(400, "ExpiredToken");
  });
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "ExpiredToken");
  EXPECT_EQ(result.error().operation, "GetObject");
  EXPECT_LE(test.client.sent(), 4u);
}

TEST(SigningCredentialsTest, ABadRequestOfAHeadCreatesANewSession) {
  ExpressTest test;
  test.client.transport.Expect(Session("old"));
  test.client.transport.Expect(FakeReply::Respond(400));
  ASSERT_TRUE(
      test.client.Run(HeadObjectRequest{.bucket = BucketName(kBucket), .key = ObjectKey("key")})
          .ok());
  EXPECT_EQ(test.Sent(3),
            std::string("HEAD ") + kZone + " /key by S1 x-amz-s3session-token=token-S1");
}

TEST(SigningCredentialsTest, AMissingSessionIsTheErrorOfCreateSession) {
  ExpressTest test;
  test.client.transport.SetHandler([](const auto&) { return Refuse(403, "AccessDenied"); });
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(result.error().operation, "CreateSession");
  EXPECT_EQ(result.error().key, "key");
  EXPECT_EQ(result.error().attempts, 1);
  EXPECT_EQ(test.client.sent(), 1u);
}

TEST(SigningCredentialsTest, CopiesAndBucketOperationsAreSignedByTheClient) {
  ExpressTest test;
  ASSERT_TRUE(test.client.Run(CreateBucketRequest{.bucket = BucketName(kBucket)}).ok());
  EXPECT_EQ(test.Sent(0),
            std::string("PUT s3express-control.us-west-2.amazonaws.com /") + kBucket + " by AKID");
  CopyObjectRequest copy;
  copy.bucket = copy.source_bucket = BucketName(kBucket);
  copy.key = ObjectKey("to");
  copy.source_key = ObjectKey("from");
  test.client.transport.Expect(
      FakeReply::Respond(200, {}, "<CopyObjectResult><ETag>e</ETag></CopyObjectResult>"));
  ASSERT_TRUE(test.client.Run(copy).ok());
  EXPECT_EQ(test.Sent(1), std::string("PUT ") + kZone + " /to by AKID");
  test.client.transport.Expect(FakeReply::Respond(204));
  ASSERT_TRUE(test.client.Run(DeleteBucketRequest{.bucket = BucketName(kBucket)}).ok());
  EXPECT_EQ(test.Sent(2), std::string("DELETE s3express-control.us-west-2.amazonaws.com /") +
                              kBucket + " by AKID");
  test.client.transport.Expect(FakeReply::Respond(
      200, {}, "<ListAllMyDirectoryBucketsResult><Buckets/></ListAllMyDirectoryBucketsResult>"));
  ASSERT_TRUE(test.client.Run(ListDirectoryBucketsRequest{}).ok());
  EXPECT_EQ(test.Sent(3),
            "GET s3express-control.us-west-2.amazonaws.com /?max-directory-buckets=1000 by AKID");
  EXPECT_EQ(test.sessions, 0);
}

TEST(SigningCredentialsTest, SessionsCanBeDisabled) {
  ClientConfig config;
  config.disable_s3_express_session_auth = true;
  ExpressTest test(std::move(config));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_EQ(test.client.sent(), 1u);
  EXPECT_EQ(test.Sent(0), std::string("GET ") + kZone + " /key by AKID");
  EXPECT_NE(test.client.Header(0, "Authorization").find("/us-west-2/s3express/aws4_request"),
            std::string::npos);
}

TEST(SigningCredentialsTest, UnsignedClientsCreateNoSession) {
  ClientConfig config;
  config.signing = Signing::kUnsigned;
  config.credentials = auth::MakeAnonymousProvider();
  ExpressTest test(std::move(config));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Sent(0), std::string("GET ") + kZone + " /key by (unsigned)");
}

TEST(SigningCredentialsTest, ARenameKeepsItsTokenOverRetries) {
  ExpressTest test;
  RenameObjectRequest rename;
  rename.bucket = BucketName(kBucket);
  rename.source = ObjectKey("a");
  rename.destination = ObjectKey("b");
  test.client.transport.Expect(Session("S"));
  test.client.transport.Expect(
      FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "the response was lost")));
  test.client.transport.Expect(FakeReply::Respond(200));
  ASSERT_TRUE(test.client.Run(rename).ok());
  ASSERT_EQ(test.client.sent(), 3u);
  const std::string token = test.client.Header(1, "x-amz-client-token");
  EXPECT_EQ(token.size(), 36u);
  EXPECT_EQ(test.client.Header(2, "x-amz-client-token"), token);
  rename.client_token = "mine";
  ASSERT_TRUE(test.client.Run(rename).ok());
  EXPECT_EQ(test.client.Header(3, "x-amz-client-token"), "mine");
}

TEST(SigningCredentialsTest, NoErrorContainsASecretOfTheSession) {
  ExpressTest test;
  test.client.transport.Expect(Session("S"));
  test.client.transport.Expect(Refuse(403, "SignatureDoesNotMatch"));
  const std::string text = test.Get().error().ToString();
  for (const char* secret : {"token-S", "secret-S"})
    EXPECT_EQ(text.find(secret), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::s3
