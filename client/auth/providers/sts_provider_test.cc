#include "client/auth/providers/sts_provider.h"

#include "client/auth/providers/provider_for_test.h"

namespace penstock::auth {
namespace {

using http::FakeReply;
using http::FakeTransport;

std::string ResponseOf(const std::string& action) {
  return "<" + action + "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" + action +
         "Result><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>S</SecretAccessKey>"
         "<SessionToken>T</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></"
         "Credentials></" +
         action + "Result></" + action + "Response>";
}

constexpr const char* kDenied =
    "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not "
    "you</Message></Error></ErrorResponse>";

const TextMap kWebIdentity = {{"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}, {"AWS_ROLE_ARN", "arn:r"}};
const TextMap kTokenFile = {{"/t", "s3cr3t\n"}};

TEST(StsProviderTest, ExchangesTheTokenOfAFileUnsigned) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, ResponseOf("AssumeRoleWithWebIdentity")));
  const auto response = GetCredentials(
      MakeWebIdentityEnvironmentProvider(FakeContext(transport, kWebIdentity, kTokenFile)));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ((*response)->access_key_id, "ASIA");
  EXPECT_EQ((*response)->session_token, "T");
  EXPECT_TRUE((*response)->expires_at);
  const auto sent = transport.requests().at(0);
  EXPECT_EQ(sent.request.endpoint.scheme, "https");
  EXPECT_EQ(sent.request.endpoint.host, "sts.eu-west-1.amazonaws.com");
  EXPECT_FALSE(sent.Header("Authorization"));
  EXPECT_NE(sent.body.find("Action=AssumeRoleWithWebIdentity&"), std::string::npos) << sent.body;
  EXPECT_NE(sent.body.find("&WebIdentityToken=s3cr3t"), std::string::npos) << sent.body;
}

TEST(StsProviderTest, TheEndpointFollowsRegionPartitionAndEnvironment) {
  const auto asked = [](RemoteContext context, FakeTransport& transport) {
    transport.Expect(FakeReply::Respond(200, {}, ResponseOf("AssumeRoleWithWebIdentity")));
    EXPECT_TRUE(GetCredentials(MakeWebIdentityEnvironmentProvider(std::move(context))).ok());
    return transport.requests().back().request.endpoint.host;
  };
  FakeTransport transport;
  RemoteContext context = FakeContext(transport, kWebIdentity, kTokenFile);
  context.region = "";
  EXPECT_EQ(asked(context, transport), "sts.amazonaws.com");
  context.region = "cn-north-1";
  context.dns_suffix = "amazonaws.com.cn";
  EXPECT_EQ(asked(context, transport), "sts.cn-north-1.amazonaws.com.cn");
  TextMap variables = kWebIdentity;
  variables["AWS_ENDPOINT_URL_STS"] = "http://localhost:5000";
  EXPECT_EQ(asked(FakeContext(transport, variables, kTokenFile), transport), "localhost");
}

TEST(StsProviderTest, ErrorsHaveCodeAndMessageAndNoSecret) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(403, {}, kDenied));
  const Error error =
      ErrorOf(MakeWebIdentityEnvironmentProvider(FakeContext(transport, kWebIdentity, kTokenFile)));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(error.message.find("arn:r: STS returned 403 AccessDenied: not you"), std::string::npos)
      << error.message;
  EXPECT_EQ(error.message.find("s3cr3t"), std::string::npos);
  EXPECT_EQ(transport.requests().size(), 1u);
}

TEST(StsProviderTest, ATokenThatTheServiceRepeatsIsNotInTheError) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(
      403, {},
      "<ErrorResponse><Error><Code>Denied</Code><Message>bad s3cr3t.</Message></Error>"
      "</ErrorResponse>"));
  const Error error =
      ErrorOf(MakeWebIdentityEnvironmentProvider(FakeContext(transport, kWebIdentity, kTokenFile)));
  EXPECT_NE(error.message.find("403 Denied: bad ***."), std::string::npos) << error.message;
}

TEST(StsProviderTest, RetriesErrorsThatStsDeclaresRetryable) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(
      400, {}, "<ErrorResponse><Error><Code>IDPCommunicationError</Code></Error></ErrorResponse>"));
  transport.Expect(FakeReply::Respond(200, {}, ResponseOf("AssumeRoleWithWebIdentity")));
  EXPECT_TRUE(GetCredentials(MakeWebIdentityEnvironmentProvider(
                                 FakeContext(transport, kWebIdentity, kTokenFile)))
                  .ok());
}

TEST(StsProviderTest, AnIncompleteResponseIsAnError) {
  for (const char* text : {"", "<AssumeRoleWithWebIdentityResponse/>", "<OtherResponse/>"}) {
    FakeTransport transport;
    transport.Expect(FakeReply::Respond(200, {}, text));
    EXPECT_EQ(ErrorOf(MakeWebIdentityEnvironmentProvider(
                          FakeContext(transport, kWebIdentity, kTokenFile)))
                  .kind,
              ErrorKind::kUnauthenticated);
  }
}

TEST(StsProviderTest, AnIncompleteConfigurationIsAnErrorAndNoneIsNotFound) {
  FakeTransport transport;
  EXPECT_EQ(ErrorOf(MakeWebIdentityEnvironmentProvider(FakeContext(transport, {}))).kind,
            ErrorKind::kNotFound);
  const Error half = ErrorOf(MakeWebIdentityEnvironmentProvider(
      FakeContext(transport, {{"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}})));
  EXPECT_EQ(half.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(half.message.find("AWS_ROLE_ARN"), std::string::npos);
  const Error missing =
      ErrorOf(MakeWebIdentityEnvironmentProvider(FakeContext(transport, kWebIdentity)));
  EXPECT_NE(missing.message.find("'/t'"), std::string::npos) << missing.message;
}

TEST(StsProviderTest, EachAttemptToAssumeARoleIsSignedForSts) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(503));
  transport.Expect(FakeReply::Respond(200, {}, ResponseOf("AssumeRole")));
  const auto response = GetCredentials(
      MakeAssumeRoleProvider(FakeContext(transport, {}), {}, {"arn:r", "name", "", {}},
                             MakeStaticProvider({"AKIA", "S", "", {}})));
  ASSERT_TRUE(response.ok());
  for (const auto& sent : transport.requests()) {
    EXPECT_NE(sent.Header("Authorization").value_or("").find("/eu-west-1/sts/aws4_request"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace penstock::auth
