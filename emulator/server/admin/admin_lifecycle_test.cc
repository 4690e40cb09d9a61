#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

using Json = nlohmann::json;

class AdminLifecycleTest : public testing::Test {
 protected:
  static std::string Request(const std::string& method, const std::string& target,
                             const std::string& body = {}) {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
           "Content-MD5: " + Base64Encode(Md5(AsBytes(body))) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  HttpResponse S3(const std::string& method, const std::string& target,
                  const std::string& body = {}) const {
    return Exchange(emulator_->endpoint(), Request(method, target, body));
  }
  HttpResponse Admin(const std::string& method, const std::string& path,
                     const std::string& body = {}) const {
    return Exchange(emulator_->admin_endpoint(), Request(method, "/_penstock/" + path, body));
  }
  static Json BodyOf(const HttpResponse& response) {
    return Json::parse(response.text.substr(response.text.find("\r\n\r\n") + 4));
  }
  // Makes /bucket/k, which expires after one day.
  void MakeExpiring() const {
    S3("PUT", "/bucket");
    S3("PUT", "/bucket/k", "body");
    const HttpResponse configured =
        S3("PUT", "/bucket?lifecycle",
           "<LifecycleConfiguration><Rule><ID>day</ID><Filter/><Status>Enabled</Status>"
           "<Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>");
    ASSERT_EQ(configured.status, 200) << configured.text;
  }

  std::unique_ptr<Emulator> emulator_ = Emulator::Start({.auth = AuthMode::kOff}).value();
};

TEST_F(AdminLifecycleTest, ARunReportsWhatWasDoneWhoeverDidIt) {
  MakeExpiring();
  EXPECT_EQ(BodyOf(Admin("POST", "lifecycle/run")).at("actions"), 0);
  ASSERT_EQ(Admin("POST", "clock", R"({"advance_seconds": 200000})").status, 200);
  const Json account = BodyOf(Admin("POST", "lifecycle/run"));
  EXPECT_EQ(account.at("actions"), 1) << account;
  EXPECT_EQ(account.at("log").at(0).at("key"), "k");
  EXPECT_EQ(account.at("buckets").at(0).at("rules").at(0).at("id"), "day");
  EXPECT_EQ(S3("GET", "/bucket/k").status, 404);
  EXPECT_EQ(BodyOf(Admin("POST", "lifecycle/run")).at("actions"), 0);
}

TEST_F(AdminLifecycleTest, TheBackgroundThreadFollowsTheClock) {
  MakeExpiring();
  ASSERT_EQ(Admin("POST", "clock", R"({"advance_seconds": 200000})").status, 200);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (S3("GET", "/bucket/k").status != 404 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(S3("GET", "/bucket/k").status, 404);
}

TEST_F(AdminLifecycleTest, APreviewChangesNothing) {
  MakeExpiring();
  const Json account = BodyOf(Admin("GET", "lifecycle?by=2200-01-01T00:00:00Z&bucket=bucket"));
  EXPECT_EQ(account.at("actions"), 1);
  EXPECT_EQ(account.at("time"), "2200-01-01T00:00:00.000Z");
  EXPECT_EQ(S3("GET", "/bucket/k").status, 200);
  const Json now = BodyOf(Admin("GET", "lifecycle"));
  EXPECT_EQ(now.at("actions"), 0);
  EXPECT_NE(now.at("next"), nullptr);
}

TEST_F(AdminLifecycleTest, EveryNamespaceHasItsOwnRuns) {
  MakeExpiring();
  ASSERT_TRUE(emulator_->CreateNamespace("mine").ok());
  EXPECT_EQ(BodyOf(Admin("GET", "lifecycle?namespace=mine&by=2200-01-01T00:00:00Z")).at("actions"),
            0);
  EXPECT_EQ(BodyOf(Admin("POST", "lifecycle/run?namespace=mine")).at("namespace"), "mine");
}

TEST_F(AdminLifecycleTest, ErrorsNameTheParameter) {
  EXPECT_EQ(Admin("POST", "lifecycle/run?bucket=absent").status, 404);
  EXPECT_EQ(Admin("POST", "lifecycle/run?namespace=absent").status, 404);
  EXPECT_EQ(Admin("POST", "lifecycle/other").status, 404);
  EXPECT_EQ(Admin("GET", "lifecycle/run").status, 405);
  for (const char* query : {"by=soon", "by=", "days=3"}) {
    const HttpResponse refused = Admin("GET", std::string("lifecycle?") + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_NE(refused.text.find(std::string(query).substr(0, 2)), std::string::npos);
  }
  const HttpResponse late = Admin("GET", "lifecycle?by=9999-01-01T00:00:00Z");
  EXPECT_EQ(late.status, 400) << late.text;
  EXPECT_NE(late.text.find("must be at most 2262-04-10T23:47:16.000Z, not '9999-01-01T00:00:00Z'"),
            std::string::npos)
      << late.text;
  EXPECT_EQ(Admin("GET", "lifecycle?by=2262-04-10T23:47:16Z").status, 200);
  EXPECT_EQ(Admin("POST", "lifecycle/run?by=2200-01-01T00:00:00Z").status, 400);
}

TEST_F(AdminLifecycleTest, AResetForgetsTheAccount) {
  MakeExpiring();
  ASSERT_EQ(Admin("POST", "clock", R"({"advance_seconds": 200000})").status, 200);
  ASSERT_EQ(Admin("POST", "reset").status, 200);
  EXPECT_EQ(BodyOf(Admin("POST", "lifecycle/run")).at("actions"), 0);
}

}  // namespace
}  // namespace penstock::emulator::server
