#include "emulator/server/admin/live_stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

Result<NamespaceActivity> Busy(const std::string&) {
  return NamespaceActivity{.limits = true, .faults = false};
}

nlohmann::json JsonOf(const std::string& event) {
  EXPECT_TRUE(event.starts_with("data: {")) << event;
  EXPECT_TRUE(event.ends_with("}\n\n")) << event;
  EXPECT_EQ(event.find('\n'), event.size() - 2) << "one line";
  return nlohmann::json::parse(event.substr(6));
}

class LiveStreamTest : public testing::Test {
 protected:
  const std::unique_ptr<Emulator> emulator_ = Emulator::Start({}).value();
};

TEST_F(LiveStreamTest, EventHasTheTotalsAndTheNamespace) {
  Send(emulator_->endpoint(), {.method = "PUT", .target = "/bucket"});
  Send(emulator_->endpoint(),
       {.target = "/", .more_headers = "amz-sdk-request: attempt=2; max=3\r\n"});
  Send(emulator_->endpoint(),
       {.target = "/", .more_headers = "amz-sdk-request: attempt=1; max=3\r\n"});
  // The journal has every request that a client has received, and so has what Finished counts.
  ASSERT_TRUE(emulator_->ReadJournal("default").ok());
  const auto event = JsonOf(LiveEvent(*emulator_, Busy, "default").value());
  EXPECT_EQ(event.at("requests"), (nlohmann::json{{"CreateBucket", 1}, {"ListBuckets", 2}}));
  EXPECT_EQ(event.at("statuses"), (nlohmann::json{{"200", 3}}));
  EXPECT_EQ(event.at("retries"), 1);
  EXPECT_EQ(event.at("latency").at("bounds_s").size(), 16u);
  EXPECT_EQ(event.at("latency").at("bounds_s").at(0), 0.0001);
  for (const char* name : {"read", "list", "write"})
    EXPECT_EQ(event.at("latency").at(name).at("counts").size(), 17u) << name;
  EXPECT_EQ(event.at("namespaces"), nlohmann::json({"default"}));
  EXPECT_GT(event.at("memory_limit_bytes"), 0);
  EXPECT_GE(event.at("uptime_s"), 0.0);
  EXPECT_EQ(event.at("version"), PENSTOCK_VERSION);
  const auto space = event.at("namespace");
  EXPECT_EQ(space.at("name"), "default");
  EXPECT_EQ(space.at("journal").at("last"), 3);
  EXPECT_EQ(space.at("clock").at("frozen"), false);
  EXPECT_EQ(space.at("limits_active"), true);
  EXPECT_EQ(space.at("faults_active"), false);
  EXPECT_EQ(space.at("s3_port"), emulator_->options().port);
}

TEST_F(LiveStreamTest, TotalsAreThoseSinceTheReset) {
  Send(emulator_->endpoint(), {.target = "/", .more_headers = "amz-sdk-request: attempt=2\r\n"});
  ASSERT_TRUE(emulator_->Reset().ok());
  const auto event = JsonOf(LiveEvent(*emulator_, Busy, "default").value());
  EXPECT_EQ(event.at("retries"), 0);
  EXPECT_EQ(event.at("requests"), nlohmann::json::object());
}

TEST(LiveEventTest, HasNoJournalIfThereIsNone) {
  const auto emulator = Emulator::Start({.journal_bytes = 0}).value();
  const auto event = JsonOf(LiveEvent(*emulator, Busy, "default").value());
  EXPECT_TRUE(event.at("namespace").at("journal").is_null());
}

TEST_F(LiveStreamTest, EndsWithItsNamespaceAndWithTheEmulator) {
  ASSERT_TRUE(emulator_->CreateNamespace("suite").ok());
  const auto place = std::make_shared<int>(0);
  const auto suite = MakeLiveStream(*emulator_, Busy, "suite", std::chrono::milliseconds(1), place);
  const auto other =
      MakeLiveStream(*emulator_, Busy, "default", std::chrono::milliseconds(1), place);
  EXPECT_TRUE(suite->Next().has_value());
  ASSERT_TRUE(emulator_->DeleteNamespace("suite").ok());
  EXPECT_FALSE(suite->Next().has_value());
  EXPECT_TRUE(other->Next().has_value());
  EXPECT_EQ(place.use_count(), 3);
  emulator_->Stop();
  EXPECT_FALSE(other->Next().has_value());
}

}  // namespace
}  // namespace penstock::emulator::server
