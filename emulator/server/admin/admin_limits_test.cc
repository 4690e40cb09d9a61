#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

class AdminLimitsTest : public testing::Test {
 protected:
  HttpResponse SendRequest(const std::string& method, const std::string& path,
                           const std::string& body = {}) const {
    return Exchange(emulator_->admin_endpoint(),
                    method + " /_penstock/" + path +
                        " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  static nlohmann::json BodyOf(const HttpResponse& response) {
    return nlohmann::json::parse(response.text.substr(response.text.find("\r\n\r\n") + 4));
  }
  std::unique_ptr<Emulator> emulator_ = Emulator::Start({.auth = AuthMode::kOff}).value();
};

TEST_F(AdminLimitsTest, AreSetReadAndLifted) {
  EXPECT_EQ(BodyOf(SendRequest("GET", "limits")).at("limits"), nlohmann::json::object());
  const HttpResponse set = SendRequest("PUT", "limits", R"({"preset": "aws-strict", "seed": 4})");
  EXPECT_EQ(set.status, 200);
  EXPECT_EQ(BodyOf(set).at("limits").at("preset"), "aws-strict");
  Plain(emulator_->endpoint(), "GET", "/b/k");
  const nlohmann::json report = BodyOf(SendRequest("GET", "limits"));
  EXPECT_EQ(report.at("namespace"), "default");
  EXPECT_EQ(report.at("admitted"), 1);
  EXPECT_EQ(report.at("buckets").at(0).at("partitions").at(0).at("reads").at("admitted"), 1);
  EXPECT_EQ(BodyOf(SendRequest("DELETE", "limits")).at("limits"), nlohmann::json::object());
}

TEST_F(AdminLimitsTest, ApplyToTheNamedNamespace) {
  ASSERT_TRUE(emulator_->CreateNamespace("mine").ok());
  EXPECT_EQ(SendRequest("PUT", "limits/mine", "aws-standard").status, 200);
  EXPECT_EQ(BodyOf(SendRequest("GET", "limits/mine")).at("limits").at("preset"), "aws-standard");
  EXPECT_EQ(SendRequest("PUT", "limits/mine", R"("aws-strict")").status, 200)
      << "a JSON string is allowed";
  EXPECT_EQ(BodyOf(SendRequest("GET", "limits/mine")).at("limits").at("preset"), "aws-strict");
  const HttpResponse unknown = SendRequest("PUT", "limits/mine", R"("aws-odd")");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_NE(unknown.text.find("preset"), std::string::npos) << unknown.text;
  EXPECT_EQ(BodyOf(SendRequest("GET", "limits")).at("limits"), nlohmann::json::object());
  EXPECT_EQ(SendRequest("GET", "limits/nobody").status, 404);
  EXPECT_EQ(SendRequest("PUT", "limits/nobody", "{}").status, 404);
}

TEST_F(AdminLimitsTest, ErrorIsNamedAndChangesNothing) {
  ASSERT_EQ(SendRequest("PUT", "limits", R"({"preset": "aws-strict"})").status, 200);
  const HttpResponse wrong =
      SendRequest("PUT", "limits", R"({"buckets": {"b": {"reads_per_second": -1}}})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.text.find("buckets.b.reads_per_second"), std::string::npos) << wrong.text;
  EXPECT_EQ(BodyOf(SendRequest("GET", "limits")).at("limits").at("preset"), "aws-strict");
}

}  // namespace
}  // namespace penstock::emulator::server
