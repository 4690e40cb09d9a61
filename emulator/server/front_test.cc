#include "emulator/server/front.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/auth/signature/session_token.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::server {
namespace {

// Knows one user with its own namespace.
class OneUserDirectory final : public auth::Directory {
 public:
  std::shared_ptr<const auth::User> FindUser(std::string_view key) const override {
    return key == user->access_key_id ? user : nullptr;
  }
  std::shared_ptr<s3::Namespace> NamespaceOf(const auth::User* found) const override {
    return found == nullptr ? space : own_space;
  }
  s3::Identity IdentityOf(std::string_view) const override { return {}; }
  const s3::Identity& DefaultIdentity() const override { return nobody; }
  s3::Identity nobody;
  std::shared_ptr<const auth::User> user = std::make_shared<auth::User>(
      auth::User{.access_key_id = "AKIDUSER", .secret_access_key = "secret"});
  std::shared_ptr<s3::Namespace> space = std::make_shared<s3::Namespace>();
  std::shared_ptr<s3::Namespace> own_space = std::make_shared<s3::Namespace>();
};

class Teapot final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override { exchange.response.status = 418; }
};

class FrontTest : public testing::Test {
 protected:
  void Handle(std::string_view target, const std::vector<s3::HeaderView>& more = {}) {
    head_.method = "GET";
    head_.target = target;
    head_.headers = {{"Host", "bucket.localhost:9000"}};
    head_.headers.insert(head_.headers.end(), more.begin(), more.end());
    chain_.Handle(exchange_);
  }

  OneUserDirectory directory_;
  Counters counters_;
  Teapot next_;
  s3::FilterChain chain_{
      next_, MakeFront({.hosts = s3::HostRules::Default("us-east-1")}, directory_, counters_)};
  s3::RequestHead head_;
  s3::Connection connection_;
  s3::Exchange exchange_{head_, connection_};
};

TEST_F(FrontTest, SetsTargetAndOperation) {
  Handle("/key");
  EXPECT_EQ(exchange_.target.bucket.value, "bucket");
  EXPECT_EQ(exchange_.operation, "GetObject");
  EXPECT_EQ(exchange_.space, directory_.space);
}

std::string Authorization(const std::string& key) {
  return "AWS4-HMAC-SHA256 Credential=" + key +
         "/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
}

TEST_F(FrontTest, UsesTheNamespaceOfTheClaimedKey) {
  const std::string authorization = Authorization("AKIDUSER");
  Handle("/key", {{"Authorization", authorization}});
  EXPECT_EQ(exchange_.space, directory_.own_space);
}

TEST_F(FrontTest, UsesTheNamespaceOfTheSessionsOwner) {
  const auto session =
      auth::IssueSession("secret", {.parent = "AKIDUSER", .session = {.bucket = "bucket"}});
  const std::string authorization = Authorization(session.access_key_id);
  Handle("/key",
         {{"Authorization", authorization}, {"x-amz-s3session-token", session.session_token}});
  EXPECT_EQ(exchange_.space, directory_.own_space);
}

TEST_F(FrontTest, UsesTheNamespaceOfASessionInAUrl) {
  const auto session =
      auth::IssueSession("secret", {.parent = "AKIDUSER", .session = {.bucket = "bucket"}});
  Handle("/key?X-Amz-Credential=" + session.access_key_id +
         "%2F20260101%2Fus-east-1%2Fs3express%2Faws4_request&X-Amz-S3session-Token=" +
         s3::PercentEncode(session.session_token));
  EXPECT_EQ(exchange_.space, directory_.own_space);
}

TEST_F(FrontTest, IgnoresAnInvalidSessionToken) {
  const std::string authorization = Authorization("ASIA0123456789ABCDEF");
  Handle("/key", {{"Authorization", authorization}, {"x-amz-s3session-token", "bm8gdG9rZW4="}});
  EXPECT_EQ(exchange_.space, directory_.space);
}

TEST_F(FrontTest, CountsTheResponse) {
  Handle("/key");
  EXPECT_EQ(counters_.Snapshot().requests.at("GetObject"), 1u);
  EXPECT_EQ(counters_.Snapshot().statuses.at(418), 1u);
}

TEST_F(FrontTest, RejectsAnInvalidTarget) {
  Handle("/%zz");
  EXPECT_EQ(exchange_.response.status, 400);
  EXPECT_EQ(exchange_.response.error_code, "InvalidURI");
  EXPECT_EQ(exchange_.space, directory_.space) << "the journal of a namespace has the request";
  EXPECT_EQ(counters_.Snapshot().requests.at("Unknown"), 1u);
}

}  // namespace
}  // namespace penstock::emulator::server
