#include "emulator/events/message.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "emulator/s3/core/restore_state.h"

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
    "eventVersion":"2.5", "eventSource":"aws:s3", "awsRegion":"us-west-2",
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

// What AWS documents for each type of event that the emulator makes.
TEST_F(MessageTest, EachEventHasTheDocumentedVersionAndData) {
  // "Starting with version 2.4, Amazon S3 uses a single unified version for all event types";
  // before it, general events had 2.1, and those of lifecycle, ACLs, tags and expired restores 2.3.
  // The example on the page has 2.5.
  constexpr char kStructure[] =
      "https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html";
  const struct {
    const char* event;
    const char* version;
    const char* data;  // The member that only this event has.
    const char* source;
  } kEvents[] = {
      {"ObjectCreated:Put", "2.5", nullptr, kStructure},
      {"ObjectCreated:Post", "2.5", nullptr, kStructure},
      {"ObjectCreated:Copy", "2.5", nullptr, kStructure},
      {"ObjectCreated:CompleteMultipartUpload", "2.5", nullptr, kStructure},
      {"ObjectRemoved:Delete", "2.5", nullptr, kStructure},
      {"ObjectRemoved:DeleteMarkerCreated", "2.5", nullptr, kStructure},
      {"ObjectRestore:Post", "2.5", nullptr, kStructure},
      {"ObjectRestore:Completed", "2.5", "glacierEventData", kStructure},
      {"ObjectRestore:Delete", "2.5", nullptr, kStructure},
      {"ObjectTagging:Put", "2.5", nullptr, kStructure},
      {"ObjectTagging:Delete", "2.5", nullptr, kStructure},
      {"ObjectAcl:Put", "2.5", nullptr, kStructure},
      {"LifecycleExpiration:Delete", "2.5", nullptr, kStructure},
      {"LifecycleExpiration:DeleteMarkerCreated", "2.5", nullptr, kStructure},
      {"LifecycleTransition", "2.5", "lifecycleEventData", kStructure},
  };
  version_.storage_class = "GLACIER";
  s3::ReplaceRestore(s3::Restore{}, version_.attributes);
  for (const auto& one : kEvents) {
    const Json record = Message(one.event)["Records"][0];
    EXPECT_EQ(record["eventVersion"], one.version) << one.event << ": " << one.source;
    EXPECT_EQ(record["eventName"], one.event);
    for (const char* data : {"glacierEventData", "lifecycleEventData"}) {
      const bool expected = one.data != nullptr && std::string_view(one.data) == data;
      EXPECT_EQ(record.contains(data), expected) << one.event << ": " << data;
    }
  }
}

TEST_F(MessageTest, ADeletionHasNeitherSizeNorETag) {
  const Json object = Message("ObjectRemoved:Delete")["Records"][0]["s3"]["object"];
  EXPECT_EQ(object, (Json{{"key", "HappyFace.jpg"}, {"sequencer", "00000000000000FF"}}));
}

TEST_F(MessageTest, ATransitionNamesTheNewClass) {
  version_.storage_class = "GLACIER";
  const Json record = Message("LifecycleTransition")["Records"][0];
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
