#include "client/auth/providers/sso_provider.h"

#include "base/digest.h"
#include "base/encoding.h"
#include "client/auth/providers/provider_for_test.h"

namespace penstock::auth {
namespace {

using http::FakeReply;
using http::FakeTransport;

const SsoRole kRole{"corp", "https://corp.awsapps.com/start", "us-east-1", "123456789012",
                    "Reader"};

std::string CacheFile(const std::string& name) {
  return "/home/u/.aws/sso/cache/" + HexEncode(Sha1(AsBytes(name))) + ".json";
}

TEST(SsoProviderTest, ExchangesTheTokenForKeys) {
  FakeTransport transport;
  transport.Expect(
      FakeReply::Respond(200, {},
                         R"({"roleCredentials":{"accessKeyId":"A","secretAccessKey":"S",)"
                         R"("sessionToken":"T","expiration":1369357200000}})"));
  const auto result = GetCredentials(MakeSsoProvider(
      FakeContext(
          transport, {},
          {{CacheFile("corp"), R"({"accessToken":"tok","expiresAt":"2099-01-01T00:00:00Z"})"}}),
      kRole));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->session_token, "T");
  EXPECT_EQ((*result)->expires_at, WallTime(std::chrono::seconds(1369357200)));
  const auto sent = transport.requests().at(0);
  EXPECT_EQ(sent.request.endpoint.host, "portal.sso.us-east-1.amazonaws.com");
  EXPECT_EQ(sent.request.target,
            "/federation/credentials?role_name=Reader&account_id=123456789012");
  EXPECT_EQ(sent.Header("x-amz-sso_bearer_token"), "tok");
}

TEST(SsoProviderTest, FindsTheOlderFormByItsStartUrl) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(403, {}, R"({"message":"No access: s3cr3t"})"));
  SsoRole role = kRole;
  role.session.clear();
  const Error error = ErrorOf(MakeSsoProvider(
      FakeContext(transport, {},
                  {{CacheFile(role.start_url),
                    R"({"accessToken":"s3cr3t","expiresAt":"2099-01-01T00:00:00UTC"})"},
                   {CacheFile("corp"), "{}"}}),
      role));
  EXPECT_NE(error.message.find("403: No access"), std::string::npos) << error.message;
  EXPECT_EQ(error.message.find("s3cr3t"), std::string::npos);
  EXPECT_EQ(transport.requests().at(0).Header("x-amz-sso_bearer_token"), "s3cr3t");
}

TEST(SsoProviderTest, WithoutAValidTokenAdvisesToLogIn) {
  FakeTransport transport;
  for (const TextMap& files :
       {TextMap{}, TextMap{{CacheFile("corp"), "no JSON"}}, TextMap{{CacheFile("corp"), "{}"}},
        TextMap{
            {CacheFile("corp"), R"({"accessToken":"t","expiresAt":"2001-01-01T00:00:00Z"})"}}}) {
    const Error error = ErrorOf(MakeSsoProvider(FakeContext(transport, {}, files), kRole));
    EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
    EXPECT_NE(error.message.find("aws sso login"), std::string::npos) << error.message;
  }
  EXPECT_TRUE(transport.requests().empty());
}

TEST(SsoProviderTest, ErrorResponsesAreErrors) {
  FakeTransport transport;
  const TextMap files = {
      {CacheFile("corp"), R"({"accessToken":"t","expiresAt":"2099-01-01T00:00:00Z"})"}};
  transport.Expect(FakeReply::Respond(401, {}, R"({"message":"Session token not found"})"));
  EXPECT_NE(ErrorOf(MakeSsoProvider(FakeContext(transport, {}, files), kRole))
                .message.find("401: Session token not found"),
            std::string::npos);
  transport.Expect(FakeReply::Respond(200, {}, R"({"roleCredentials":{"accessKeyId":"A"}})"));
  EXPECT_FALSE(GetCredentials(MakeSsoProvider(FakeContext(transport, {}, files), kRole)).ok());
}

}  // namespace
}  // namespace penstock::auth
