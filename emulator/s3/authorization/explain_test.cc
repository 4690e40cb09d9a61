#include "emulator/s3/authorization/explain.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

TEST(ExplainTest, DecidesDescribedRequests) {
  testing::Harness s3;
  s3.Send("PUT /bucket");
  s3.SendDocument(
      "PUT /bucket?policy",
      R"({"Statement":{"Sid":"Net","Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}})");
  const auto space = std::make_shared<Namespace>(s3.space());
  DescribedRequest request{.identity = s3.identity(),
                           .action = "s3:GetObject",
                           .resource = "arn:aws:s3:::bucket/k",
                           .context = {{"aws:SourceIp", {"10.1.2.3"}}}};
  const auto denied = ExplainDescribed(space, {}, request);
  ASSERT_TRUE(denied.ok()) << denied.error().message;
  EXPECT_NE(denied->find(R"("allowed":false)"), std::string::npos);
  EXPECT_NE(denied->find(R"("sid":"Net")"), std::string::npos);
  EXPECT_NE(denied->find(R"("policy":"bucket/bucket")"), std::string::npos);
  request.context = {{"aws:SourceIp", {"192.0.2.1"}}};
  EXPECT_NE(ExplainDescribed(space, {}, request)->find(R"("decided_by":"account-root")"),
            std::string::npos);
}

TEST(ExplainTest, ErrorsNameTheMember) {
  testing::Harness s3;
  const auto space = std::make_shared<Namespace>(s3.space());
  const auto error = [&](const char* action, const char* resource) {
    return ExplainDescribed(space, {},
                            {.identity = {}, .action = action, .resource = resource, .context = {}})
        .error();
  };
  EXPECT_EQ(error("s3:GetObject", "bucket/k").message,
            "resource: must be an ARN of S3 such as \"arn:aws:s3:::bucket/key\", not \"bucket/k\"");
  EXPECT_EQ(error("GetObject", "arn:aws:s3:::b").message,
            "action: must be an action of S3 such as \"s3:GetObject\", not \"GetObject\"");
  EXPECT_EQ(error("s3:GetObject", "arn:aws:s3:::b/k").kind, ErrorKind::kNotFound);
  for (const char* const action : {"s3:Nope", "s3:", "s3:Get*", "s3express:GetObject"}) {
    EXPECT_EQ(error(action, "arn:aws:s3:::b/k").message,
              "action: must be an action of S3 such as \"s3:GetObject\", not \"" +
                  std::string(action) + "\"");
    EXPECT_EQ(error(action, "arn:aws:s3:::b/k").kind, ErrorKind::kInvalidArgument);
  }
  EXPECT_EQ(error("s3:getobject", "arn:aws:s3:::b/k").kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace penstock::emulator::s3
