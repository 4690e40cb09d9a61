#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

class AdminExplainTest : public testing::Test {
 protected:
  HttpResponse Get(const std::string& target) const {
    return Exchange(
        emulator_->admin_endpoint(),
        "GET /_penstock/" + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  }
  std::unique_ptr<Emulator> emulator_ = Emulator::Start({}).value();
};

TEST_F(AdminExplainTest, DescribedRequestsAreDecided) {
  const HttpResponse response =
      Get("explain?principal=penstock&action=s3:CreateBucket&resource=arn:aws:s3:::b&aws:SourceIp="
          "192.0.2.1&aws:TagKeys=a&aws:TagKeys=b");
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.text.find(R"("decided_by":"account-root")"), std::string::npos);
}

// HTTP libraries encode the colon.
TEST_F(AdminExplainTest, NamesOfParametersAreDecoded) {
  EXPECT_EQ(
      Get("explain?principal=penstock&action=s3%3ACreateBucket&resource=arn%3Aaws%3As3%3A%3A%3Ab"
          "&aws%3ASourceIp=192.0.2.1")
          .status,
      200);
}

TEST_F(AdminExplainTest, RecordedRequestsAreDecided) {
  Plain(emulator_->endpoint(), "GET", "/b/k");
  const std::string id = emulator_->ReadJournal("default")->Entries().front().request_id;
  const HttpResponse response = Get("explain?request_id=" + id);
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.text.find(R"("operation":"GetObject")"), std::string::npos);
  EXPECT_EQ(Get("explain/nowhere?request_id=" + id).status, 404);
}

TEST_F(AdminExplainTest, BadParametersAreRefused) {
  EXPECT_EQ(Get("explain").status, 400);
  EXPECT_EQ(Get("explain?action=s3:GetObject&action=s3:PutObject&resource=arn:aws:s3:::b").status,
            400);
  EXPECT_EQ(Get("explain?odd=1").status, 400);
  EXPECT_EQ(Get("explain?request_id=0123").status, 404);
}

}  // namespace
}  // namespace penstock::emulator::server
