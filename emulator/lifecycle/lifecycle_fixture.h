// Test only: a bucket with lifecycle rules, and runs over it at any time.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_LIFECYCLE_FIXTURE_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_LIFECYCLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/lifecycle/account.h"
#include "emulator/lifecycle/run.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::lifecycle::testing {

using std::chrono::days;

// The time is 2026-01-02T03:04:05Z.
class LifecycleFixture : public ::testing::Test {
 protected:
  LifecycleFixture() { s3_.Send("PUT /bucket"); }

  void Configure(const std::string& rules) {
    const auto reply = s3_.SendDocument(
        "PUT /bucket?lifecycle", "<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>");
    ASSERT_EQ(reply.Outcome(), "200") << reply.body;
  }
  static std::string Rule(const std::string& id, const std::string& actions,
                          const std::string& filter = "<Filter/>") {
    return "<Rule><ID>" + id + "</ID>" + filter + "<Status>Enabled</Status>" + actions + "</Rule>";
  }
  static std::string Expire(int count) {
    return "<Expiration><Days>" + std::to_string(count) + "</Days></Expiration>";
  }
  static std::string ExpireNoncurrent(int count) {
    return "<NoncurrentVersionExpiration><NoncurrentDays>" + std::to_string(count) +
           "</NoncurrentDays></NoncurrentVersionExpiration>";
  }

  // Returns the version id.
  std::string Put(const std::string& key, const std::string& headers = {}) {
    return s3_.Send("PUT /bucket/" + key + headers, "body").Header("x-amz-version-id");
  }
  std::vector<std::string> Keys() { return s3_.Send("GET /bucket").Elements("Key"); }
  std::size_t Versions() { return s3_.Send("GET /bucket?versions").Elements("VersionId").size(); }
  void Advance(int count) { s3_.clock().SetNow(s3_.clock().Now() + days(count)); }

  Account Run(RunMode mode = RunMode::kApply) {
    Account account;
    const auto done =
        lifecycle::Run(s3_.store(), {.now = s3_.clock().Now(), .mode = mode}, account);
    EXPECT_TRUE(done.ok());
    return account;
  }
  // The actions of a run in order, such as "expire_object k".
  static std::vector<std::string> Log(const Account& account) {
    std::vector<std::string> log;
    for (const Account::Entry& entry : account.entries())
      log.push_back(std::string(NameOf(entry.action.kind)) + " " + entry.action.key.value);
    return log;
  }

  s3::testing::Harness s3_;
};

using Names = std::vector<std::string>;

}  // namespace penstock::emulator::lifecycle::testing

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_LIFECYCLE_FIXTURE_H_
