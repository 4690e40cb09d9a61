#include "emulator/server/admin/admin_json.h"

#include <gtest/gtest.h>

namespace penstock::emulator::server {
namespace {

TEST(AdminJsonTest, ReadsClockChanges) {
  const auto change = ParseClockChange(
      R"({"now": "2030-01-01T00:00:00Z", "advance_seconds": 1.5, "frozen": true})");
  ASSERT_TRUE(change.ok());
  EXPECT_TRUE(change->now.has_value());
  EXPECT_EQ(change->advance, std::chrono::milliseconds(1500));
  EXPECT_EQ(change->frozen, true);
}

TEST(AdminJsonTest, RefusesARequestWithoutChanges) {
  EXPECT_FALSE(ParseClockChange("").ok());
  EXPECT_FALSE(ParseKeyChange("{}").ok());
}

TEST(AdminJsonTest, NamesTheLimits) {
  EXPECT_EQ(ParseClockChange(R"({"advance_seconds": 1e300})").error().message,
            "advance_seconds: must be at most 9000000000 seconds in either direction");
  EXPECT_EQ(NamespaceToCreate("{}").error().message, "the field 'name' is missing");
  EXPECT_FALSE(ParseSeedRequest(R"({"bucket": "b"})").ok());
}

TEST(AdminJsonTest, EmptyResetResetsEveryNamespace) {
  EXPECT_FALSE(NamespaceToReset("")->has_value());
  EXPECT_EQ(NamespaceToReset(R"({"namespace": "x"})").value(), "x");
}

TEST(AdminJsonTest, SeedUsesTheDefaultNamespace) {
  const auto request = ParseSeedRequest(R"({"bucket": "b", "directory": "/d"})");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->name_space, "default");
  EXPECT_EQ(request->prefix, "");
}

TEST(AdminJsonTest, HealthHasTheMembersOfLocalStack) {
  const Json json = Json::parse(HealthJson());
  EXPECT_EQ(json.at("status"), "ok");
  EXPECT_EQ(json.at("services").at("s3"), "running");
}

TEST(AdminJsonTest, ClockShowsItsOffset) {
  const Json json =
      Json::parse(ClockJson("x", {.frozen = true, .offset = std::chrono::milliseconds(2500)}));
  EXPECT_EQ(json.at("offset_seconds"), 2.5);
  EXPECT_EQ(json.at("now"), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(json.at("namespace"), "x");
}

}  // namespace
}  // namespace penstock::emulator::server
