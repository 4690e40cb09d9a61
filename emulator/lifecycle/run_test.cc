#include "emulator/lifecycle/run.h"

#include "emulator/lifecycle/lifecycle_fixture.h"

namespace penstock::emulator::lifecycle {
namespace {

using testing::Names;

class RunTest : public testing::LifecycleFixture {};

TEST_F(RunTest, ObjectsExpireByTheirRule) {
  Put("logs/a");
  Put("data/a");
  Configure(Rule("a", Expire(1), "<Filter><Prefix>logs/</Prefix></Filter>"));
  Advance(1);
  EXPECT_EQ(Log(Run()), (Names{}));
  Advance(1);
  const Account account = Run();
  EXPECT_EQ(Log(account), (Names{"expire_object logs/a"}));
  EXPECT_EQ(account.buckets().at("bucket").versions, 2u);
  EXPECT_EQ(Keys(), (Names{"data/a"}));
  EXPECT_EQ(Log(Run()), (Names{})) << "a repeated run does nothing";
}

TEST_F(RunTest, VersionedBucketsGetDeleteMarkers) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string version = Put("k");
  Configure(Rule("a", Expire(1)));
  Advance(2);
  EXPECT_EQ(Log(Run()), (Names{"create_delete_marker k"}));
  EXPECT_EQ(Keys(), (Names{}));
  EXPECT_EQ(s3_.Send("GET /bucket/k?versionId=" + version).body, "body");
  EXPECT_EQ(Log(Run()), (Names{}));
}

TEST_F(RunTest, SuspendedBucketsLoseTheirNullVersion) {
  Put("k");
  s3_.SetVersioning("bucket", "Suspended");
  Configure(Rule("a", Expire(1)));
  Advance(2);
  EXPECT_EQ(Log(Run()), (Names{"create_delete_marker k"}));
  EXPECT_EQ(s3_.Send("GET /bucket?versions").Elements("VersionId"), (Names{"null"}));
  Advance(2);
  EXPECT_EQ(Log(Run()), (Names{"expire_delete_marker k"}));
  EXPECT_EQ(Versions(), 0u);
}

TEST_F(RunTest, TransitionsKeepTheVersionAndItsDate) {
  s3_.Send("PUT /bucket/k", std::string(200'000, 'x'));
  const auto before = s3_.Send("HEAD /bucket/k");
  Configure(Rule("a",
                 "<Transition><Days>0</Days><StorageClass>GLACIER_IR</StorageClass>"
                 "</Transition>"));
  Advance(1);
  EXPECT_EQ(Log(Run()), (Names{"transition k"}));
  const auto after = s3_.Send("GET /bucket/k");
  EXPECT_EQ(after.Header("x-amz-storage-class"), "GLACIER_IR");
  EXPECT_EQ(after.Header("Last-Modified"), before.Header("Last-Modified"));
  EXPECT_EQ(after.Header("ETag"), before.Header("ETag"));
  EXPECT_EQ(after.body.size(), 200'000u);
  EXPECT_EQ(s3_.Send("GET /bucket").Element("StorageClass"), "GLACIER_IR");
}

TEST_F(RunTest, NoncurrentVersionsMoveAndExpire) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string old =
      s3_.Send("PUT /bucket/k", std::string(200'000, 'x')).Header("x-amz-version-id");
  Advance(100);
  Put("k");
  Configure(Rule("a",
                 "<NoncurrentVersionTransition><NoncurrentDays>30</NoncurrentDays>"
                 "<StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>" +
                     ExpireNoncurrent(60)));
  Advance(30);
  EXPECT_EQ(Log(Run()), (Names{}));
  Advance(1);
  EXPECT_EQ(Log(Run()), (Names{"transition_noncurrent k"}));
  EXPECT_EQ(s3_.Send("GET /bucket/k?versionId=" + old).Outcome(), "403 InvalidObjectState");
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "200");
  Advance(30);
  EXPECT_EQ(Log(Run()), (Names{"expire_noncurrent_version k"}));
  EXPECT_EQ(Versions(), 1u);
}

TEST_F(RunTest, OldUploadsAreAborted) {
  const std::string id = s3_.Send("POST /bucket/part/k?uploads").Element("UploadId");
  s3_.Send("POST /bucket/k?uploads");
  Configure(Rule("a",
                 "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>"
                 "</AbortIncompleteMultipartUpload>",
                 "<Filter><Prefix>part/</Prefix></Filter>"));
  Advance(2);
  EXPECT_EQ(Log(Run()), (Names{"abort_upload part/k"}));
  EXPECT_EQ(s3_.Send("PUT /bucket/part/k?partNumber=1&uploadId=" + id, "x").Outcome(),
            "404 NoSuchUpload");
  EXPECT_EQ(s3_.Send("GET /bucket?uploads").Elements("Key"), (Names{"k"}));
}

// More than a page of versions of one key, and of keys.
TEST_F(RunTest, StateIsKeptBetweenPages) {
  s3_.SetVersioning("bucket", "Enabled");
  for (int i = 0; i < 1100; ++i) s3_.Send("DELETE /bucket/k");
  for (int i = 0; i < 1050; ++i) s3_.Send("DELETE /bucket/x" + std::to_string(i));
  Configure(Rule("a",
                 "<NoncurrentVersionExpiration><NewerNoncurrentVersions>7"
                 "</NewerNoncurrentVersions><NoncurrentDays>1</NoncurrentDays>"
                 "</NoncurrentVersionExpiration>"));
  Advance(3);
  EXPECT_EQ(Run().actions(), 1100u - 8);
  Configure(Rule("a",
                 "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>"
                 "</Expiration>" +
                     ExpireNoncurrent(1)));
  EXPECT_EQ(Run().actions(), 8u + 1050);
  EXPECT_EQ(Versions(), 0u);
}

TEST_F(RunTest, ACancelledRunKeepsWhatItDid) {
  for (int i = 0; i < 1200; ++i) Put("k" + std::to_string(i));
  Configure(Rule("a", Expire(1)));
  Advance(2);
  int calls = 0;
  Account account;
  const auto done = lifecycle::Run(
      s3_.store(), {.now = s3_.clock().Now(), .cancelled = [&] { return ++calls > 1; }}, account);
  EXPECT_EQ(done.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(account.actions(), 1000u);
  EXPECT_EQ(Keys().size(), 200u);
  EXPECT_EQ(Run().actions(), 200u);
}

TEST_F(RunTest, OneBucketCanBeChosen) {
  Account account;
  const auto done = lifecycle::Run(s3_.store(), {.bucket = "absent"}, account);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(lifecycle::Run(s3_.store(), {.bucket = "bucket"}, account).ok());
  EXPECT_TRUE(account.buckets().empty()) << "it has no rules";
}

TEST_F(RunTest, RulesOfADirectoryBucketExpireItsObjects) {
  const std::string name = "bucket--use1-az4--x-s3";
  s3_.MakeDirectoryBucket(name);
  s3_.Send("PUT /" + name + "/k", "body");
  const auto reply = s3_.SendDocument(
      "PUT /" + name + "?lifecycle",
      "<LifecycleConfiguration>" + Rule("a", Expire(1)) + "</LifecycleConfiguration>");
  ASSERT_EQ(reply.Outcome(), "200") << reply.body;
  Advance(2);
  EXPECT_EQ(Log(Run()), (Names{"expire_object k"}));
}

}  // namespace
}  // namespace penstock::emulator::lifecycle
