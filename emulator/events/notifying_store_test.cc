#include "emulator/events/notifying_store.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/events/notification_rules.h"

namespace penstock::emulator::events {
namespace {

using Json = nlohmann::json;

store::BucketRecord BucketWith(const std::string& event) {
  store::BucketRecord bucket;
  bucket.name = BucketName("bucket");
  bucket.configuration.emplace_back(
      "notification",
      "<NotificationConfiguration><TopicConfiguration><Id>all</Id><Topic>arn:t</Topic><Event>" +
          event + "</Event></TopicConfiguration></NotificationConfiguration>");
  return bucket;
}

std::vector<store::Event> Make(const store::BucketRecord& bucket, std::string_view name,
                               bool created_marker) {
  store::ObjectRecord version;
  version.key = ObjectKey("k");
  return LifecycleEvents(bucket, name, nullptr)(
      {.bucket = bucket, .version = version, .created_marker = created_marker, .sequence = 1});
}

TEST(NotifyingStoreTest, TheOutcomeCompletesTheNameOfADeletion) {
  const store::BucketRecord bucket = BucketWith("s3:LifecycleExpiration:DeleteMarkerCreated");
  EXPECT_TRUE(Make(bucket, "LifecycleExpiration:", false).empty());
  const auto made = Make(bucket, "LifecycleExpiration:", true);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].destination, "arn:t");
  const Json record = Json::parse(made[0].message)["Records"][0];
  EXPECT_EQ(record["eventName"], "LifecycleExpiration:DeleteMarkerCreated");
  EXPECT_EQ(record["userIdentity"]["principalId"], "s3.amazonaws.com");
}

TEST(NotifyingStoreTest, WithoutRulesThereIsNothingToCall) {
  EXPECT_FALSE(LifecycleEvents(store::BucketRecord(), "LifecycleTransition", nullptr));
}

TEST(NotifyingStoreTest, AConfigurationThatIsRemovedMeanwhileHasNoEvents) {
  const store::BucketRecord bucket = BucketWith("s3:LifecycleTransition");
  const store::EventMaker maker = LifecycleEvents(bucket, "LifecycleTransition", nullptr);
  const store::BucketRecord later;
  const store::ObjectRecord version;
  EXPECT_TRUE(maker({.bucket = later, .version = version}).empty());
}

TEST(NotifyingStoreTest, EventBridgeReceivesEveryEventOfTheBucket) {
  class Owners final : public s3::OwnerDirectory {
   public:
    std::optional<s3::Owner> FindOwner(std::string_view id) const override {
      return s3::Owner{std::string(id), "name", "111122223333"};
    }
  };
  const Owners owners;
  store::BucketRecord bucket = BucketWith("s3:ObjectAcl:Put");
  bucket.region = "us-east-1";
  bucket.configuration.front().second.insert(std::string("<NotificationConfiguration>").size(),
                                             "<EventBridgeConfiguration/>");
  store::ObjectRecord version;
  version.key = ObjectKey("k");
  const auto made = LifecycleEvents(bucket, "LifecycleTransition",
                                    &owners)({.bucket = bucket, .version = version, .sequence = 1});
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].destination, "arn:aws:events:us-east-1:111122223333:event-bus/default");
  const Json message = Json::parse(made[0].message);
  EXPECT_EQ(message["detail-type"], "Object Storage Class Changed");
  EXPECT_EQ(message["account"], "111122223333");
  EXPECT_EQ(message["detail"]["requester"], "s3.amazonaws.com");
}

}  // namespace
}  // namespace penstock::emulator::events
