#include "emulator/server/admin.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace penstock::emulator::server {
namespace {

class AdminTest : public testing::Test {
 protected:
  api::Response Ask(std::string_view method, std::string_view target) {
    api::RequestHead head;
    head.method = method;
    head.target = target;
    api::Connection connection;
    api::Exchange exchange{.request = head, .connection = connection};
    admin_->Handle(exchange);
    return std::move(exchange.response);
  }
  static nlohmann::json Json(const api::Response& response) {
    return nlohmann::json::parse(std::get<std::string>(response.body));
  }

  int resets_ = 0;
  bool fail_ = false;
  std::unique_ptr<api::Handler> admin_ =
      MakeAdmin({.stats = [] { return EmulatorStats{.requests = {{"GetObject", 2}}, .statuses = {{200, 2}}, .bytes_in = 1, .bytes_out = 3}; },
                 .reset =
                     [this]() -> Result<void> {
                       if (fail_) return Error::Make(ErrorKind::kResourceExhausted, "disk full");
                       ++resets_;
                       return Ok();
                     }});
};

TEST_F(AdminTest, IsHealthy) {
  const auto response = Ask("GET", "/_penstock/health");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Find("content-type"), "application/json");
  EXPECT_EQ(Json(response).at("status"), "ok");
}

TEST_F(AdminTest, ShowsStatistics) {
  const auto stats = Json(Ask("GET", "/_penstock/stats?pretty"));
  EXPECT_EQ(stats.at("requests").at("GetObject"), 2);
  EXPECT_EQ(stats.at("statuses").at("200"), 2);
  EXPECT_EQ(stats.at("bytes_out"), 3);
}

TEST_F(AdminTest, ResetsOnPostOnly) {
  const auto refused = Ask("GET", "/_penstock/reset");
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.Find("allow"), "POST");
  EXPECT_EQ(resets_, 0);
  EXPECT_EQ(Ask("POST", "/_penstock/reset").status, 200);
  EXPECT_EQ(resets_, 1);
}

TEST_F(AdminTest, SaysWhyAResetFailed) {
  fail_ = true;
  const auto response = Ask("POST", "/_penstock/reset");
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(std::string(Json(response).at("error")).find("disk full"), std::string::npos);
}

TEST_F(AdminTest, NamesWhatItServes) {
  const auto response = Ask("GET", "/bucket/key");
  EXPECT_EQ(response.status, 404);
  EXPECT_NE(std::string(Json(response).at("error")).find("/_penstock/health"), std::string::npos);
}

TEST_F(AdminTest, AHeadHasTheLengthOnly) {
  const auto response = Ask("HEAD", "/_penstock/health");
  EXPECT_TRUE(response.content_length.has_value());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(response.body));
}

}  // namespace
}  // namespace penstock::emulator::server
