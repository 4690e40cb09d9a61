#include "emulator/s3/config/lifecycle_rules.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/dates.h"

namespace penstock::emulator::s3 {
namespace {

using std::chrono::days;

constexpr std::uint64_t kLarge = 1 << 20;

WallTime Time(std::string_view text) { return *ParseIso8601(text); }

std::string Rule(std::string_view id, std::string_view actions,
                 std::string_view filter = "<Filter/>") {
  return "<Rule><ID>" + std::string(id) + "</ID>" + std::string(filter) +
         "<Status>Enabled</Status>" + std::string(actions) + "</Rule>";
}
std::string Document(std::string_view rules) {
  return "<LifecycleConfiguration>" + std::string(rules) + "</LifecycleConfiguration>";
}
std::string Move(int count, std::string_view storage_class) {
  return "<Transition><Days>" + std::to_string(count) + "</Days><StorageClass>" +
         std::string(storage_class) + "</StorageClass></Transition>";
}
std::string Noncurrent(int count, int newer) {
  return "<NoncurrentVersionExpiration><NewerNoncurrentVersions>" + std::to_string(newer) +
         "</NewerNoncurrentVersions><NoncurrentDays>" + std::to_string(count) +
         "</NoncurrentDays></NoncurrentVersionExpiration>";
}

// A current version of 2026-01-02, 03:04 UTC.
LifecycleVersion Version(std::uint64_t size = kLarge) {
  return {.key = "k",
          .size = size,
          .last_modified = Time("2026-01-02T03:04:05Z"),
          .storage_class = "STANDARD"};
}

std::string ClassAfter(const std::string& rules, int count,
                       const LifecycleVersion& version = Version(),
                       std::string_view minimum = kMinimumSizeDefault) {
  const LifecycleRules parsed(Document(rules), minimum);
  const auto decision = parsed.Decide(version, Time("2026-01-02T00:00:00Z") + days(count));
  return decision.transition ? std::string(decision.transition->storage_class) : "";
}

TEST(LifecycleRulesTest, UnreadableDocumentsHaveNoRules) {
  const LifecycleRules rules("<LifecycleConfiguration><Rule>");
  store::ObjectRecord object;
  object.key = ObjectKey("k");
  EXPECT_FALSE(rules.ExpirationOf(object).has_value());
  EXPECT_TRUE(rules.RuleIds().empty());
}

TEST(LifecycleRulesTest, AnActionIsDueFromItsMidnight) {
  const LifecycleRules rules(Document(Rule("a", "<Expiration><Days>1</Days></Expiration>")));
  const WallTime due = Time("2026-01-04T00:00:00Z");
  const auto before = rules.Decide(Version(), due - std::chrono::nanoseconds(1));
  EXPECT_FALSE(before.removal);
  EXPECT_EQ(before.next, due);
  const auto at = rules.Decide(Version(), due);
  ASSERT_TRUE(at.removal);
  EXPECT_EQ(at.removal->date, due);
  EXPECT_EQ(at.removal->rule_id, "a");
  EXPECT_FALSE(at.next);
}

TEST(LifecycleRulesTest, TransitionsFollowTheirDatesAndNeverGoBack) {
  const std::string rules = Rule("a", Move(30, "STANDARD_IA") + Move(60, "GLACIER"));
  EXPECT_EQ(ClassAfter(rules, 30), "");
  EXPECT_EQ(ClassAfter(rules, 31), "STANDARD_IA");
  EXPECT_EQ(ClassAfter(rules, 61), "GLACIER");
  LifecycleVersion archived = Version();
  archived.storage_class = "GLACIER";
  EXPECT_EQ(ClassAfter(rules, 100, archived), "");
  LifecycleVersion one_zone = Version();
  one_zone.storage_class = "ONEZONE_IA";
  EXPECT_EQ(ClassAfter(Rule("a", Move(1, "GLACIER_IR")), 100, one_zone), "");
  LifecycleVersion express = Version();
  express.storage_class = "EXPRESS_ONEZONE";
  EXPECT_EQ(ClassAfter(rules, 100, express), "");
}

// Amazon S3 User Guide, "How Amazon S3 handles conflicts in lifecycle configurations".
TEST(LifecycleRulesTest, OnOneDayTheCheaperClassIsChosen) {
  EXPECT_EQ(ClassAfter(Rule("a", Move(30, "STANDARD_IA")) + Rule("b", Move(30, "GLACIER")), 40),
            "GLACIER");
  EXPECT_EQ(ClassAfter(
                Rule("a", Move(30, "GLACIER_IR")) + Rule("b", Move(30, "INTELLIGENT_TIERING")), 40),
            "INTELLIGENT_TIERING");
  LifecycleVersion tiered = Version();
  tiered.storage_class = "INTELLIGENT_TIERING";
  EXPECT_EQ(
      ClassAfter(Rule("a", Move(30, "GLACIER_IR")) + Rule("b", Move(30, "INTELLIGENT_TIERING")), 40,
                 tiered),
      "")
      << "a later run decides the same";
}

TEST(LifecycleRulesTest, SmallObjectsMoveOnlyIfARuleOrTheBucketSaysSo) {
  const LifecycleVersion small = Version((128 << 10) - 1);
  const std::string rules = Rule("a", Move(0, "GLACIER"));
  EXPECT_EQ(ClassAfter(rules, 9, small), "");
  EXPECT_EQ(ClassAfter(rules, 9, Version(128 << 10)), "GLACIER");
  EXPECT_EQ(ClassAfter(rules, 9, small, kMinimumSizeVaries), "GLACIER");
  EXPECT_EQ(ClassAfter(Rule("a", Move(0, "GLACIER_IR")), 9, small, kMinimumSizeVaries), "");
  EXPECT_EQ(ClassAfter(Rule("a", Move(0, "GLACIER_IR"),
                            "<Filter><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></Filter>"),
                       9, small),
            "GLACIER_IR");
}

TEST(LifecycleRulesTest, NoncurrentVersionsNeedTheirAgeAndNewerVersions) {
  const LifecycleRules rules(Document(Rule("a", Noncurrent(2, 3))));
  LifecycleVersion version = Version();
  version.noncurrent_since = Time("2026-02-01T12:00:00Z");
  version.newer_noncurrent = 3;
  const WallTime due = Time("2026-02-04T00:00:00Z");
  EXPECT_FALSE(rules.Decide(version, due - std::chrono::seconds(1)).removal);
  EXPECT_TRUE(rules.Decide(version, due).removal);
  version.newer_noncurrent = 2;
  EXPECT_FALSE(rules.Decide(version, due + days(100)).removal);
  version.noncurrent_since.reset();
  EXPECT_FALSE(rules.Decide(version, due + days(100)).removal) << "it is the current version";
}

TEST(LifecycleRulesTest, DeleteMarkersExpireByTheirAgeOrAtMidnight) {
  LifecycleVersion marker = Version(0);
  marker.is_delete_marker = true;
  const LifecycleRules by_age(Document(Rule("a", "<Expiration><Days>3</Days></Expiration>")));
  EXPECT_FALSE(by_age.Decide(marker, Time("2026-01-05T00:00:00Z")).removal);
  EXPECT_TRUE(by_age.Decide(marker, Time("2026-01-06T00:00:00Z")).removal);
  const LifecycleRules by_flag(Document(Rule(
      "a",
      "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>")));
  EXPECT_FALSE(by_flag.Decide(marker, Time("2026-01-02T23:00:00Z")).removal);
  EXPECT_TRUE(by_flag.Decide(marker, Time("2026-01-03T00:00:00Z")).removal);
  EXPECT_FALSE(by_flag.Decide(Version(), Time("2027-01-03T00:00:00Z")).removal);
  const LifecycleRules by_date(
      Document(Rule("a", "<Expiration><Date>2026-01-03T00:00:00Z</Date></Expiration>")));
  EXPECT_FALSE(by_date.Decide(marker, Time("2027-01-03T00:00:00Z")).removal);
  const LifecycleRules with_size(
      Document(Rule("a", "<Expiration><Days>3</Days></Expiration>",
                    "<Filter><ObjectSizeLessThan>9</ObjectSizeLessThan></Filter>")));
  EXPECT_FALSE(with_size.Decide(marker, Time("2027-01-03T00:00:00Z")).removal);
}

TEST(LifecycleRulesTest, TagsAreNeededOnlyForKeysAndSizesOfATagRule) {
  const LifecycleRules rules(
      Document(Rule("a", "<Expiration><Days>1</Days></Expiration>",
                    "<Filter><And><Prefix>x/</Prefix><Tag><Key>a</Key><Value>1</Value></Tag>"
                    "<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></And></Filter>")));
  EXPECT_TRUE(rules.NeedsTags("x/1", 6));
  EXPECT_FALSE(rules.NeedsTags("x/1", 5));
  EXPECT_FALSE(rules.NeedsTags("y/1", 6));
  const store::Attributes tags = {{"a", "1"}};
  LifecycleVersion version = Version();
  version.key = "x/1";
  EXPECT_FALSE(rules.Decide(version, Time("2027-01-01T00:00:00Z")).removal);
  version.tags = &tags;
  EXPECT_TRUE(rules.Decide(version, Time("2027-01-01T00:00:00Z")).removal);
}

}  // namespace
}  // namespace penstock::emulator::s3
