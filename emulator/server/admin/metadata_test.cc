#include "emulator/server/admin/metadata.h"

#include <gtest/gtest.h>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

constexpr const char* kUsers = R"({"accounts": [{"account_id": "111122223333", "roles": [
  {"name": "node", "instance_profile": true, "trust_policy": {"Statement":
     {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}}},
  {"name": "task", "container": true, "trust_policy": {"Statement":
     {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ecs-tasks.amazonaws.com"}}}}]}]})";

class MetadataTest : public testing::Test {
 protected:
  static std::unique_ptr<Emulator> Start(std::string users, std::string token = {}) {
    EmulatorOptions options;
    options.users_json = std::move(users);
    options.admin_token = std::move(token);
    return Emulator::Start(std::move(options)).value();
  }
  static HttpResponse Call(Emulator& emulator, const std::string& method, const std::string& path,
                           const std::string& headers = "") {
    return Exchange(emulator.admin_endpoint(),
                    method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                        headers + "\r\n");
  }
  static std::string Body(const HttpResponse& response) {
    return response.text.substr(response.text.find("\r\n\r\n") + 4);
  }
  static std::string TokenHeader(Emulator& emulator) {
    return "X-aws-ec2-metadata-token: " +
           Body(Call(emulator, "PUT", "/latest/api/token",
                     "X-aws-ec2-metadata-token-ttl-seconds: 60\r\n")) +
           "\r\n";
  }
};

TEST_F(MetadataTest, AnInstanceFindsItsRole) {
  const auto emulator = Start(kUsers);
  const std::string token = TokenHeader(*emulator);
  EXPECT_EQ(token.size(), std::string("X-aws-ec2-metadata-token: \r\n").size() + 56);
  const std::string path = "/latest/meta-data/iam/security-credentials";
  EXPECT_EQ(Body(Call(*emulator, "GET", path, token)), "node");
  EXPECT_EQ(Body(Call(*emulator, "GET", path + "/", token)), "node");
  EXPECT_NE(Call(*emulator, "GET", path + "/node", token).text.find("\"Code\":\"Success\""),
            std::string::npos);
  EXPECT_EQ(Call(*emulator, "GET", path + "/task", token).status, 404);
  EXPECT_EQ(Call(*emulator, "GET", path).status, 401);
  EXPECT_EQ(Call(*emulator, "POST", path, token).status, 405);
  EXPECT_EQ(Call(*emulator, "GET", "/latest/user-data", token).status, 404);
  const HttpResponse head = Call(*emulator, "HEAD", path, token);
  EXPECT_EQ(head.status, 200);
  EXPECT_NE(head.text.find("Content-Length: 4"), std::string::npos);
}

TEST_F(MetadataTest, WithoutAMarkedRoleThereAreNoCredentials) {
  const auto emulator = Start("");
  const std::string token = TokenHeader(*emulator);
  EXPECT_EQ(Call(*emulator, "GET", "/latest/meta-data/iam/security-credentials/", token).status,
            404);
  EXPECT_EQ(Body(Call(*emulator, "GET", "/latest/meta-data/placement/region", token)), "us-east-1");
}

TEST_F(MetadataTest, TokensOfAnotherProcessAreRefused) {
  const auto one = Start(kUsers);
  const auto other = Start(kUsers);
  EXPECT_EQ(Call(*one, "GET", "/latest/meta-data/instance-id", TokenHeader(*other)).status, 401);
}

// The admin API's token protects the roles that have no token of their own.
TEST_F(MetadataTest, AContainerNeedsAToken) {
  const auto open = Start(kUsers);
  const std::string path = "/_penstock/container-credentials/111122223333/task";
  const HttpResponse given = Call(*open, "GET", path);
  EXPECT_EQ(given.status, 200);
  EXPECT_NE(given.text.find("arn:aws:iam::111122223333:role/task"), std::string::npos);
  EXPECT_EQ(Call(*open, "GET", "/_penstock/container-credentials/111122223333/node").status, 404);
  EXPECT_EQ(Call(*open, "GET", "/_penstock/container-credentials/").status, 404);
  const auto closed = Start(kUsers, "admin-token");
  EXPECT_EQ(Call(*closed, "GET", path).status, 401);
  EXPECT_EQ(Call(*closed, "GET", path, "Authorization: Bearer admin-token\r\n").status, 200);
}

TEST_F(MetadataTest, CredentialsOfADeletedNamespaceAreNotFound) {
  std::string users = kUsers;
  for (const std::string flag : {R"("container": true)", R"("instance_profile": true)"})
    users.insert(users.find(flag), R"("namespace": "other", )");
  const auto emulator = Start(users.insert(1, R"("namespaces": ["other"], )"));
  const std::string container = "/_penstock/container-credentials/111122223333/task";
  const std::string instance = "/latest/meta-data/iam/security-credentials/node";
  const std::string token = TokenHeader(*emulator);
  EXPECT_EQ(Call(*emulator, "GET", container).status, 200);
  EXPECT_EQ(Call(*emulator, "GET", instance, token).status, 200);
  ASSERT_EQ(Call(*emulator, "DELETE", "/_penstock/namespaces/other").status, 200);
  for (const HttpResponse& response :
       {Call(*emulator, "GET", container), Call(*emulator, "GET", instance, token)}) {
    EXPECT_EQ(response.status, 404);
    EXPECT_NE(response.text.find("namespace 'other'"), std::string::npos) << response.text;
  }
}

}  // namespace
}  // namespace penstock::emulator::server
