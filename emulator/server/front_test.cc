#include "emulator/server/front.h"

#include <gtest/gtest.h>

namespace penstock::emulator::server {
namespace {

class NobodyDirectory final : public auth::Directory {
 public:
  std::shared_ptr<const auth::User> FindUser(std::string_view) const override { return nullptr; }
  std::shared_ptr<api::Namespace> NamespaceOf(const auth::User*) const override { return space; }
  api::Identity IdentityOf(std::string_view) const override { return {}; }
  const api::Identity& DefaultIdentity() const override { return nobody; }
  api::Identity nobody;
  std::shared_ptr<api::Namespace> space = std::make_shared<api::Namespace>();
};

class Teapot final : public api::Handler {
 public:
  void Handle(api::Exchange& exchange) override { exchange.response.status = 418; }
};

class FrontTest : public testing::Test {
 protected:
  void Handle(std::string_view target) {
    head_.method = "GET";
    head_.target = target;
    head_.headers = {{"Host", "bucket.localhost:9000"}};
    front_->Handle(exchange_);
  }

  NobodyDirectory directory_;
  Counters counters_;
  Teapot next_;
  std::unique_ptr<api::Handler> front_ = MakeFront({.hosts = api::HostRules::Default("us-east-1")}, directory_, counters_, next_);
  api::RequestHead head_;
  api::Connection connection_;
  api::Exchange exchange_{.request = head_, .connection = connection_};
};

TEST_F(FrontTest, NamesTargetAndOperation) {
  Handle("/key");
  EXPECT_EQ(exchange_.target.bucket.value, "bucket");
  EXPECT_EQ(exchange_.operation, "GetObject");
  EXPECT_EQ(exchange_.space, directory_.space);
}

TEST_F(FrontTest, CountsTheAnswer) {
  Handle("/key");
  EXPECT_EQ(counters_.Snapshot().requests.at("GetObject"), 1u);
  EXPECT_EQ(counters_.Snapshot().statuses.at(418), 1u);
}

TEST_F(FrontTest, LeavesABrokenTargetToAuth) {
  Handle("/%zz");
  EXPECT_EQ(exchange_.target.raw_path, "");
  EXPECT_EQ(exchange_.response.status, 418) << "the next handler was asked";
  EXPECT_EQ(counters_.Snapshot().requests.at("Unknown"), 1u);
}

}  // namespace
}  // namespace penstock::emulator::server
