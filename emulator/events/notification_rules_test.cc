#include "emulator/events/notification_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::emulator::events {
namespace {

std::string Document(const std::string& configurations) {
  return "<NotificationConfiguration>" + configurations + "</NotificationConfiguration>";
}

constexpr char kImages[] =
    "<QueueConfiguration><Id>images</Id><Queue>arn:aws:sqs:us-east-1:111122223333:q</Queue>"
    "<Event>s3:ObjectCreated:*</Event><Event>s3:ObjectRemoved:Delete</Event>"
    "<Filter><S3Key><FilterRule><Name>Prefix</Name><Value>in/</Value></FilterRule>"
    "<FilterRule><Name>Suffix</Name><Value>.jpg</Value></FilterRule></S3Key></Filter>"
    "</QueueConfiguration>";

TEST(NotificationRulesTest, AKeyMustMatchBothFilters) {
  const NotificationRules rules(Document(kImages));
  ASSERT_EQ(rules.Matching("ObjectCreated:Put", "in/a.jpg").size(), 1u);
  EXPECT_EQ(rules.rules().front().id, "images");
  EXPECT_EQ(rules.rules().front().destination, "arn:aws:sqs:us-east-1:111122223333:q");
  EXPECT_TRUE(rules.Matching("ObjectCreated:Put", "out/a.jpg").empty());
  EXPECT_TRUE(rules.Matching("ObjectCreated:Put", "in/a.png").empty());
}

TEST(NotificationRulesTest, AWildcardSelectsItsFamilyOnly) {
  const NotificationRules rules(Document(kImages));
  EXPECT_EQ(rules.Matching("ObjectCreated:Copy", "in/a.jpg").size(), 1u);
  EXPECT_EQ(rules.Matching("ObjectRemoved:Delete", "in/a.jpg").size(), 1u);
  EXPECT_TRUE(rules.Matching("ObjectRemoved:DeleteMarkerCreated", "in/a.jpg").empty());
  EXPECT_TRUE(rules.Matching("LifecycleExpiration:Delete", "in/a.jpg").empty());
}

TEST(NotificationRulesTest, ABucketHasRulesOnlyWithDestinations) {
  store::BucketRecord bucket;
  EXPECT_EQ(NotificationRules::Of(bucket), nullptr);
  bucket.configuration.emplace_back("notification", Document(""));
  EXPECT_EQ(NotificationRules::Of(bucket), nullptr);
  store::BucketRecord bridged;
  bridged.configuration.emplace_back("notification", Document("<EventBridgeConfiguration/>"));
  ASSERT_NE(NotificationRules::Of(bridged), nullptr);
  EXPECT_TRUE(NotificationRules::Of(bridged)->event_bridge());
  store::BucketRecord other;
  other.configuration.emplace_back(
      "notification",
      Document("<TopicConfiguration><Topic>arn:t</Topic><Event>s3:ObjectAcl:Put</Event>"
               "</TopicConfiguration><CloudFunctionConfiguration><CloudFunction>arn:f"
               "</CloudFunction><Event>s3:ObjectAcl:Put</Event></CloudFunctionConfiguration>"));
  ASSERT_NE(NotificationRules::Of(other), nullptr);
  const auto matching = NotificationRules::Of(other)->Matching("ObjectAcl:Put", "k");
  ASSERT_EQ(matching.size(), 2u);
  EXPECT_EQ(matching[0]->destination, "arn:t");
  EXPECT_EQ(matching[1]->destination, "arn:f");
}

}  // namespace
}  // namespace penstock::emulator::events
