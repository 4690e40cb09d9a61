#include "emulator/events/message.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

namespace penstock::emulator::events {
namespace {

using Json = nlohmann::json;

class MessageTest : public ::testing::Test {
 protected:
  MessageTest() {
    bucket_.name = BucketName("amzn-s3-demo-bucket");
    bucket_.owner_id = "A3NL1KOZZKExample";
    version_.key = ObjectKey("HappyFace.jpg");
    version_.version_id = VersionId("096fKKXTRTtl3on89fVO.nfljtsv6qko");
    version_.size = 1024;
    version_.etag = ETag("d41d8cd98f00b204e9800998ecf8427e");
  }
  Json Message(std::string_view name) const {
    const std::string text = EventMessage(
        name,
        {"AWS:AIDAJDPLRKLG7UEXAMPLE", "172.16.0.1", "C3D13FE58DE4C810",
         "FMyUVURIY8/IgAtTv8xRjskZQpcIZ9KG4V5Wp6S7S/JRWeUWerMUE5JgHvANOjpD", "us-west-2"},
        {.bucket = bucket_, .version = version_, .sequence = 255, .time = WallTime{}},
        {.id = "testConfigRule", .destination = "arn", .events = {}, .prefix = {}, .suffix = {}});
    return Json::parse(text);
  }

  store::BucketRecord bucket_;
  store::ObjectRecord version_;
};

// Amazon S3 User Guide, "Event message structure": the example of a PUT request.
TEST_F(MessageTest, HasTheStructureOfTheUserGuide) {
  bucket_.versioning = store::Versioning::kEnabled;
  const Json expected = Json::parse(R"({"Records":[{
    "eventVersion":"2.1", "eventSource":"aws:s3", "awsRegion":"us-west-2",
    "eventTime":"1970-01-01T00:00:00.000Z", "eventName":"ObjectCreated:Put",
    "userIdentity":{"principalId":"AWS:AIDAJDPLRKLG7UEXAMPLE"},
    "requestParameters":{"sourceIPAddress":"172.16.0.1"},
    "responseElements":{"x-amz-request-id":"C3D13FE58DE4C810",
      "x-amz-id-2":"FMyUVURIY8/IgAtTv8xRjskZQpcIZ9KG4V5Wp6S7S/JRWeUWerMUE5JgHvANOjpD"},
    "s3":{"s3SchemaVersion":"1.0", "configurationId":"testConfigRule",
      "bucket":{"name":"amzn-s3-demo-bucket",
        "ownerIdentity":{"principalId":"A3NL1KOZZKExample"},
        "arn":"arn:aws:s3:::amzn-s3-demo-bucket"},
      "object":{"key":"HappyFace.jpg", "size":1024, "eTag":"d41d8cd98f00b204e9800998ecf8427e",
        "versionId":"096fKKXTRTtl3on89fVO.nfljtsv6qko", "sequencer":"00000000000000FF"}}}]})");
  EXPECT_EQ(Message("ObjectCreated:Put"), expected);
}

TEST_F(MessageTest, ADeletionHasNeitherSizeNorETag) {
  const Json object = Message("ObjectRemoved:Delete")["Records"][0]["s3"]["object"];
  EXPECT_EQ(object, (Json{{"key", "HappyFace.jpg"}, {"sequencer", "00000000000000FF"}}));
}

TEST_F(MessageTest, ATransitionNamesTheNewClass) {
  version_.storage_class = "GLACIER";
  const Json record = Message("LifecycleTransition")["Records"][0];
  EXPECT_EQ(record["eventVersion"], "2.3");
  EXPECT_EQ(record["lifecycleEventData"]["transitionEventData"]["destinationStorageClass"],
            "GLACIER");
}

// Amazon S3 User Guide: "red flower.jpg" is "red+flower.jpg".
TEST_F(MessageTest, KeysAreEncodedLikeInAFormWithTheirSlashes) {
  version_.key = ObjectKey("in/red flower+20%.jpg");
  const Json record = Message("ObjectCreated:Put")["Records"][0];
  EXPECT_EQ(record["s3"]["object"]["key"], "in/red+flower%2B20%25.jpg");
}

TEST_F(MessageTest, ATestEventNamesTheBucket) {
  const Json message =
      Json::parse(TestMessage("bucket", {"", "", "5582815E1AEA5ADF", "8cLeGAmw098X", ""},
                              WallTime(std::chrono::seconds(1))));
  EXPECT_EQ(message, (Json{{"Service", "Amazon S3"},
                           {"Event", "s3:TestEvent"},
                           {"Time", "1970-01-01T00:00:01.000Z"},
                           {"Bucket", "bucket"},
                           {"RequestId", "5582815E1AEA5ADF"},
                           {"HostId", "8cLeGAmw098X"}}));
}

}  // namespace
}  // namespace penstock::emulator::events
