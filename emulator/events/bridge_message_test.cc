#include "emulator/events/bridge_message.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include <nlohmann/json.hpp>

namespace penstock::emulator::events {
namespace {

using Json = nlohmann::json;

class BridgeMessageTest : public ::testing::Test {
 protected:
  BridgeMessageTest() {
    bucket_.name = BucketName("amzn-s3-demo-bucket1");
    bucket_.versioning = store::Versioning::kEnabled;
    version_.key = ObjectKey("example key/ä");
    version_.version_id = VersionId("IYV3p45BT0ac8hjHg1houSdS1a.Mro8e");
    version_.size = 5;
    version_.etag = ETag("b1946ac92492d2347c6235b4d2611184");
    cause_.source_ip = "1.2.3.4";
    cause_.request_id = "N4N7GDK58NMKJ12R";
    cause_.region = "ca-central-1";
    cause_.requester = "123456789012";
  }
  Json Message(std::string_view name) const {
    return Json::parse(BridgeMessage(
        name, cause_, {.bucket = bucket_, .version = version_, .sequence = 255, .time = WallTime{}},
        "111122223333"));
  }

  store::BucketRecord bucket_;
  store::ObjectRecord version_;
  Cause cause_;
};

// Amazon S3 User Guide, "EventBridge event message structure": the example "Object created".
TEST_F(BridgeMessageTest, HasTheStructureOfEventBridge) {
  Json message = Message("ObjectCreated:Put");
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  EXPECT_TRUE(std::regex_match(std::string(message["id"]), uuid)) << message["id"];
  EXPECT_NE(message["id"], Message("ObjectCreated:Put")["id"]);
  message.erase("id");
  EXPECT_EQ(message, Json::parse(R"({
    "version":"0", "detail-type":"Object Created", "source":"aws.s3", "account":"111122223333",
    "time":"1970-01-01T00:00:00Z", "region":"ca-central-1",
    "resources":["arn:aws:s3:::amzn-s3-demo-bucket1"],
    "detail":{"version":"0", "event-version":"1.1", "bucket":{"name":"amzn-s3-demo-bucket1"},
      "object":{"key":"example key/ä", "size":5, "etag":"b1946ac92492d2347c6235b4d2611184",
        "version-id":"IYV3p45BT0ac8hjHg1houSdS1a.Mro8e", "sequencer":"00000000000000FF"},
      "request-id":"N4N7GDK58NMKJ12R", "requester":"123456789012",
      "source-ip-address":"1.2.3.4", "reason":"PutObject"}})"));
}

TEST_F(BridgeMessageTest, ADeletionSaysItsReasonAndType) {
  Json detail = Message("ObjectRemoved:DeleteMarkerCreated")["detail"];
  EXPECT_EQ(detail["reason"], "DeleteObject");
  EXPECT_EQ(detail["deletion-type"], "Delete Marker Created");
  EXPECT_FALSE(detail["object"].contains("size"));
  detail = Message("LifecycleExpiration:Delete")["detail"];
  EXPECT_EQ(detail["reason"], "Lifecycle Expiration");
  EXPECT_EQ(detail["deletion-type"], "Permanently Deleted");
}

TEST_F(BridgeMessageTest, ATransitionNamesTheNewClassForEventBridge) {
  version_.storage_class = "GLACIER";
  const Json message = Message("LifecycleTransition");
  EXPECT_EQ(message["detail-type"], "Object Storage Class Changed");
  EXPECT_EQ(message["detail"]["destination-storage-class"], "GLACIER");
  EXPECT_EQ(Message("ObjectRestore:Post")["detail"]["source-storage-class"], "GLACIER");
}

TEST_F(BridgeMessageTest, TheDefaultBusIsTheOwners) {
  EXPECT_EQ(BridgeArn("us-east-1", "111122223333"),
            "arn:aws:events:us-east-1:111122223333:event-bus/default");
}

}  // namespace
}  // namespace penstock::emulator::events
