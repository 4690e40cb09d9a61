#include "client/auth/providers/container_provider.h"

#include "client/auth/providers/provider_for_test.h"

namespace penstock::auth {
namespace {

using http::FakeReply;
using http::FakeTransport;

constexpr const char* kResponse =
    R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2099-01-01T00:00:00Z"})";
constexpr const char* kRelative = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
constexpr const char* kFull = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

TEST(ContainerProviderTest, SendsTheTokenToTheTaskEndpoint) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, kResponse));
  const auto result = GetCredentials(MakeContainerProvider(FakeContext(
      transport, {{kRelative, "/v2/x?id=1"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "secret"}})));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->session_token, "T");
  EXPECT_TRUE((*result)->expires_at);
  const auto sent = transport.requests().at(0);
  EXPECT_EQ(sent.request.endpoint.host, "169.254.170.2");
  EXPECT_EQ(sent.request.target, "/v2/x?id=1");
  EXPECT_EQ(sent.Header("Authorization"), "secret");
}

TEST(ContainerProviderTest, TheTokenFileTakesPrecedenceAndIsReadEachTime) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, kResponse));
  transport.Expect(FakeReply::Respond(200, {}, kResponse));
  RemoteContext context =
      FakeContext(transport, {{kFull, "http://169.254.170.23/v1/credentials"},
                              {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "old"},
                              {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"}});
  int reads = 0;
  context.environment.read_file = [&reads](const std::string&) -> Result<std::string> {
    return "token" + std::to_string(++reads) + "\n";
  };
  const ProviderPtr provider = MakeContainerProvider(context);
  ASSERT_TRUE(GetCredentials(provider).ok());
  ASSERT_TRUE(GetCredentials(provider).ok());
  EXPECT_EQ(transport.requests().at(0).Header("Authorization"), "token1");
  EXPECT_EQ(transport.requests().at(1).Header("Authorization"), "token2");
}

TEST(ContainerProviderTest, SendsTheTokenToOtherHostsOnlyOverTls) {
  FakeTransport transport;
  const Error error =
      ErrorOf(MakeContainerProvider(FakeContext(transport, {{kFull, "http://example.com/creds"}})));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(error.message.find("'example.com' over http"), std::string::npos) << error.message;
  for (const char* url :
       {"https://example.com/c", "http://localhost:1/c", "http://127.0.0.9/c", "http://[::1]/c"}) {
    transport.Expect(FakeReply::Respond(200, {}, kResponse));
    EXPECT_TRUE(GetCredentials(MakeContainerProvider(FakeContext(transport, {{kFull, url}}))).ok())
        << url;
  }
}

TEST(ContainerProviderTest, NoConfigurationIsNotFound) {
  FakeTransport transport;
  EXPECT_EQ(ErrorOf(MakeContainerProvider(FakeContext(transport, {}))).kind, ErrorKind::kNotFound);
}

TEST(ContainerProviderTest, ErrorsDoNotContainTheToken) {
  FakeTransport transport;
  const TextMap variables = {{kRelative, "/x"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "s3cr3t"}};
  transport.Expect(FakeReply::Respond(400, {}, R"({"code":"C","message":"the token is bad"})"));
  const Error refused = ErrorOf(MakeContainerProvider(FakeContext(transport, variables)));
  EXPECT_NE(refused.message.find("400: the token is bad"), std::string::npos) << refused.message;
  for (int i = 0; i < 3; ++i)
    transport.Expect(FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "refused")));
  const Error gone = ErrorOf(MakeContainerProvider(FakeContext(transport, variables)));
  EXPECT_EQ(gone.kind, ErrorKind::kUnauthenticated);
  const Error split = ErrorOf(MakeContainerProvider(FakeContext(
      transport, {{kRelative, "/x"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "s3cr3t\nX: y"}})));
  EXPECT_NE(split.message.find("line break"), std::string::npos);
  for (const Error& error : {refused, gone, split})
    EXPECT_EQ(error.message.find("s3cr3t"), std::string::npos);
  // The service repeats the token, the second time without its scheme.
  transport.Expect(FakeReply::Respond(
      403, {}, R"({"message":"Basic s3cr3t-s3cr3t is bad: s3cr3t-s3cr3t expired"})"));
  const Error repeated = ErrorOf(MakeContainerProvider(FakeContext(
      transport,
      {{kRelative, "/x"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "Basic s3cr3t-s3cr3t"}})));
  EXPECT_NE(repeated.message.find("403: "), std::string::npos) << repeated.message;
  EXPECT_EQ(repeated.message.find("s3cr3t"), std::string::npos) << repeated.message;
}

}  // namespace
}  // namespace penstock::auth
