#include "emulator/lifecycle/apply.h"

#include "emulator/lifecycle/lifecycle_fixture.h"

namespace penstock::emulator::lifecycle {
namespace {

using testing::Names;

// Plans, lets a request run, and then applies the plan.
class ApplyTest : public testing::LifecycleFixture {
 protected:
  std::vector<Action> Plan() {
    const Account account = Run(RunMode::kPreview);
    std::vector<Action> actions;
    for (const Account::Entry& entry : account.entries()) actions.push_back(entry.action);
    return actions;
  }
  OutcomeKind ApplyOne(std::vector<Action> actions) {
    EXPECT_EQ(actions.size(), 1u);
    const auto bucket = s3_.store().FindBucket(BucketName("bucket"));
    return Apply(s3_.store(), *bucket, s3_.clock().Now(), actions).front().kind;
  }
};

TEST_F(ApplyTest, ANewerWriteIsKept) {
  Put("k");
  Configure(Rule("a", Expire(1)));
  Advance(5);
  std::vector<Action> actions = Plan();
  s3_.Send("PUT /bucket/k", "new");
  EXPECT_EQ(ApplyOne(std::move(actions)), OutcomeKind::kChanged);
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "new");
}

TEST_F(ApplyTest, AVersionThatTagsNoLongerSelectIsKept) {
  const std::string tags = "\nx-amz-tagging: a=1";
  Put("k", tags);
  Configure(Rule("a", Expire(1), "<Filter><Tag><Key>a</Key><Value>1</Value></Tag></Filter>"));
  Advance(5);
  std::vector<Action> actions = Plan();
  s3_.Send("DELETE /bucket/k?tagging");
  EXPECT_EQ(ApplyOne(std::move(actions)), OutcomeKind::kChanged);
  EXPECT_EQ(Keys(), (Names{"k"}));
}

TEST_F(ApplyTest, AVersionThatBecameCurrentIsKept) {
  s3_.SetVersioning("bucket", "Enabled");
  Put("k");
  const std::string newer = Put("k");
  Configure(Rule("a", ExpireNoncurrent(1)));
  Advance(5);
  std::vector<Action> actions = Plan();
  s3_.Send("DELETE /bucket/k?versionId=" + newer);
  EXPECT_EQ(ApplyOne(std::move(actions)), OutcomeKind::kChanged);
  EXPECT_EQ(Keys(), (Names{"k"}));
}

TEST_F(ApplyTest, AMarkerWithANewerOrAnOlderVersionIsKept) {
  s3_.SetVersioning("bucket", "Enabled");
  s3_.Send("DELETE /bucket/k");
  Configure(Rule("a", Expire(1)));
  Advance(5);
  const std::vector<Action> actions = Plan();
  Put("k");
  EXPECT_EQ(ApplyOne(actions), OutcomeKind::kChanged);
  EXPECT_EQ(Versions(), 2u);
}

TEST_F(ApplyTest, LockedVersionsAreKept) {
  s3_.Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
  s3_.SendDocument("PUT /locked?lifecycle", "<LifecycleConfiguration>" +
                                                Rule("a", Expire(1) + ExpireNoncurrent(1)) +
                                                "</LifecycleConfiguration>");
  s3_.SendDocument("PUT /locked/k\nx-amz-object-lock-legal-hold: ON", "body");
  s3_.Send("DELETE /locked/k");
  Advance(5);
  const Account account = Run();
  EXPECT_EQ(Log(account), (Names{}));
  EXPECT_EQ(account.buckets().at("locked").locked, 1u);
  EXPECT_EQ(account.buckets().at("locked").changed, 1u) << "the marker above it";
  EXPECT_EQ(s3_.Send("GET /locked?versions").Elements("VersionId").size(), 2u);
}

TEST_F(ApplyTest, ABucketThatGotVersionsGetsADeleteMarker) {
  Put("k");
  Configure(Rule("a", Expire(1)));
  Advance(5);
  std::vector<Action> actions = Plan();
  s3_.SetVersioning("bucket", "Enabled");
  EXPECT_EQ(ApplyOne(actions), OutcomeKind::kApplied);
  EXPECT_EQ(Versions(), 2u);
}

TEST_F(ApplyTest, CompletedUploadsAreNotAborted) {
  const std::string id = s3_.Send("POST /bucket/k?uploads").Element("UploadId");
  Configure(Rule("a",
                 "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1"
                 "</DaysAfterInitiation></AbortIncompleteMultipartUpload>"));
  Advance(5);
  std::vector<Action> actions = Plan();
  const std::string etag =
      s3_.Send("PUT /bucket/k?partNumber=1&uploadId=" + id, "body").Header("ETag");
  s3_.Send("POST /bucket/k?uploadId=" + id,
           "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" + etag +
               "</ETag></Part></CompleteMultipartUpload>");
  EXPECT_EQ(ApplyOne(std::move(actions)), OutcomeKind::kChanged);
  EXPECT_EQ(Keys(), (Names{"k"}));
}

TEST_F(ApplyTest, ARestoreIsCompletedOnceAndItsCopyExpires) {
  s3_.Send("PUT /bucket/k\nx-amz-storage-class: GLACIER", "body");
  s3_.Send("POST /bucket/k?restore", "<RestoreRequest><Days>1</Days></RestoreRequest>");
  EXPECT_EQ(Log(Run()), (Names{}));
  Advance(1);
  EXPECT_EQ(Log(Run()), (Names{"complete_restore k"}));
  EXPECT_EQ(Log(Run()), (Names{}));
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "200");
  Advance(1);
  EXPECT_EQ(Log(Run()), (Names{"expire_restore k"}));
  EXPECT_EQ(Log(Run()), (Names{}));
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "403 InvalidObjectState");
}

}  // namespace
}  // namespace penstock::emulator::lifecycle
