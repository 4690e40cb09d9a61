#include "client/auth/providers/instance_metadata_provider.h"

#include "client/auth/providers/provider_for_test.h"

namespace penstock::auth {
namespace {

using http::FakeReply;
using http::FakeTransport;

constexpr const char* kKeys =
    R"({"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2099-01-01T00:00:00Z"})";

Result<CredentialsPtr> AskAfter(FakeTransport& transport, std::vector<FakeReply> replies,
                                TextMap variables = {}) {
  for (FakeReply& reply : replies) transport.Expect(std::move(reply));
  return GetCredentials(MakeInstanceMetadataProvider(FakeContext(transport, std::move(variables))));
}

FakeReply Says(int status, std::string body = {}) {
  return FakeReply::Respond(status, {}, std::move(body));
}

TEST(InstanceMetadataProviderTest, RequestsATokenARoleAndItsKeys) {
  FakeTransport transport;
  const auto response =
      AskAfter(transport, {Says(200, "tok"), Says(200, "my-role\nother"), Says(200, kKeys)});
  ASSERT_TRUE(response.ok());
  EXPECT_EQ((*response)->access_key_id, "A");
  EXPECT_EQ((*response)->session_token, "T");
  const auto sent = transport.requests();
  EXPECT_EQ(sent.at(0).request.method, "PUT");
  EXPECT_EQ(sent.at(0).request.endpoint.host, "169.254.169.254");
  EXPECT_EQ(sent.at(0).request.target, "/latest/api/token");
  EXPECT_EQ(sent.at(0).Header("x-aws-ec2-metadata-token-ttl-seconds"), "21600");
  EXPECT_EQ(sent.at(2).request.target, "/latest/meta-data/iam/security-credentials/my-role");
  EXPECT_EQ(sent.at(2).Header("x-aws-ec2-metadata-token"), "tok");
}

TEST(InstanceMetadataProviderTest, ContinuesWithoutATokenIfTheServiceHasNone) {
  FakeTransport transport;
  ASSERT_TRUE(AskAfter(transport, {Says(404), Says(200, "r"), Says(200, kKeys)}).ok());
  EXPECT_FALSE(transport.requests().at(1).Header("x-aws-ec2-metadata-token"));
  EXPECT_EQ(
      AskAfter(transport, {Says(404)}, {{"AWS_EC2_METADATA_V1_DISABLED", "true"}}).error().kind,
      ErrorKind::kNotFound);
}

TEST(InstanceMetadataProviderTest, ARejectedTokenIsRequestedOnceMore) {
  FakeTransport transport;
  ASSERT_TRUE(AskAfter(transport, {Says(200, "old"), Says(401), Says(200, "new"), Says(200, "r"),
                                   Says(200, kKeys)})
                  .ok());
  EXPECT_EQ(transport.requests().at(4).Header("x-aws-ec2-metadata-token"), "new");
  EXPECT_FALSE(AskAfter(transport, {Says(200, "a"), Says(401), Says(200, "b"), Says(401)}).ok());
}

TEST(InstanceMetadataProviderTest, NoServiceNoRoleOrNoSuccessIsNotFound) {
  FakeTransport transport;
  const auto gone = [] {
    return FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "no route"));
  };
  EXPECT_EQ(AskAfter(transport, {gone()}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(AskAfter(transport, {Says(200, "t"), Says(404)}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(AskAfter(transport, {Says(200, "t"), Says(200, "r"), Says(200, R"({"Code":"Failed"})")})
                .error()
                .kind,
            ErrorKind::kNotFound);
  const std::size_t asked = transport.requests().size();
  EXPECT_EQ(AskAfter(transport, {}, {{"AWS_EC2_METADATA_DISABLED", "TRUE"}}).error().kind,
            ErrorKind::kNotFound);
  EXPECT_EQ(transport.requests().size(), asked);
}

TEST(InstanceMetadataProviderTest, AnUnusableResponseIsAnError) {
  FakeTransport transport;
  EXPECT_EQ(AskAfter(transport, {Says(400)}).error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(
      AskAfter(transport, {Says(200, "t"), Says(200, "r"), Says(200, "no JSON")}).error().kind,
      ErrorKind::kUnauthenticated);
  const Error setting = AskAfter(transport, {}, {{"AWS_METADATA_SERVICE_TIMEOUT", "soon"}}).error();
  EXPECT_NE(setting.message.find("'soon'; use a whole number"), std::string::npos)
      << setting.message;
  for (const char* name : {"AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_V1_DISABLED"}) {
    const Error flag = AskAfter(transport, {}, {{name, "1"}}).error();
    EXPECT_EQ(flag.message, std::string(name) + " must be true or false, not `1`");
  }
}

TEST(InstanceMetadataProviderTest, UsesTheSettingsOfItsAddress) {
  FakeTransport transport;
  ASSERT_TRUE(AskAfter(transport, {Says(200, "t"), Says(200, "r"), Says(200, kKeys)},
                       {{"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv6"}})
                  .ok());
  EXPECT_EQ(transport.requests().at(0).request.endpoint.host, "fd00:ec2::254");
  ASSERT_TRUE(AskAfter(transport, {Says(200, "t"), Says(200, "r"), Says(200, kKeys)},
                       {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:99/"}})
                  .ok());
  EXPECT_EQ(transport.requests().at(3).Header("Host"), "127.0.0.1:99");
}

TEST(InstanceMetadataProviderTest, KeysThatCannotBeRenewedStayValidForAWhile) {
  FakeTransport transport;
  const std::string old =
      R"({"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2013-05-24T00:00:00Z"})";
  const auto response = AskAfter(transport, {Says(200, "t"), Says(200, "r"), Says(200, old)});
  ASSERT_TRUE(response.ok());
  const auto left = *(*response)->expires_at - transport.clock().Now();
  EXPECT_GE(left, std::chrono::minutes(12));
  EXPECT_LE(left, std::chrono::minutes(20));
}

}  // namespace
}  // namespace penstock::auth
