#include "emulator/lifecycle/planner.h"

#include "emulator/lifecycle/lifecycle_fixture.h"

namespace penstock::emulator::lifecycle {
namespace {

using testing::Names;

class PlannerTest : public testing::LifecycleFixture {
 protected:
  Names Plan() { return Log(Run(RunMode::kPreview)); }
};

TEST_F(PlannerTest, APlanChangesNothing) {
  Put("k");
  Configure(Rule("a", Expire(1)));
  Advance(2);
  EXPECT_EQ(Plan(), (Names{"expire_object k"}));
  EXPECT_EQ(Plan(), (Names{"expire_object k"}));
  EXPECT_EQ(Keys(), (Names{"k"}));
}

TEST_F(PlannerTest, TheNextDateIsThatOfTheEarliestAction) {
  Put("k");
  s3_.Send("POST /bucket/u?uploads");
  Configure(Rule("a", Expire(3) + "<AbortIncompleteMultipartUpload><DaysAfterInitiation>2"
                                  "</DaysAfterInitiation></AbortIncompleteMultipartUpload>"));
  EXPECT_EQ(Run(RunMode::kPreview).next,
            std::chrono::floor<std::chrono::days>(s3_.clock().Now()) + std::chrono::days(3));
}

TEST_F(PlannerTest, AMarkerExpiresWithTheLastVersionBelowIt) {
  s3_.SetVersioning("bucket", "Enabled");
  Put("k");
  s3_.Send("DELETE /bucket/k");
  Configure(Rule("a", ExpireNoncurrent(1) + "<Expiration><ExpiredObjectDeleteMarker>true"
                                            "</ExpiredObjectDeleteMarker></Expiration>"));
  Advance(1);
  EXPECT_EQ(Plan(), (Names{}));
  Advance(1);
  EXPECT_EQ(Plan(), (Names{"expire_noncurrent_version k", "expire_delete_marker k"}));
}

// Object Lock would keep the version, and the marker with it.
TEST_F(PlannerTest, LockedVersionsAreNotPlanned) {
  s3_.Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
  s3_.SendDocument("PUT /locked?lifecycle", "<LifecycleConfiguration>" +
                                                Rule("a", Expire(1) + ExpireNoncurrent(1)) +
                                                "</LifecycleConfiguration>");
  s3_.SendDocument("PUT /locked/k\nx-amz-object-lock-legal-hold: ON", "body");
  s3_.Send("DELETE /locked/k");
  s3_.SendDocument("PUT /locked/free", "body");
  s3_.Send("DELETE /locked/free");
  Advance(5);
  EXPECT_EQ(Plan(), (Names{"expire_noncurrent_version free", "expire_delete_marker free"}));
}

TEST_F(PlannerTest, AHiddenVersionCountsAsNewerThanThoseBelow) {
  s3_.SetVersioning("bucket", "Enabled");
  Put("k");
  Put("k");
  Configure(Rule("a", Expire(5) + "<NoncurrentVersionExpiration><NewerNoncurrentVersions>1"
                                  "</NewerNoncurrentVersions><NoncurrentDays>1</NoncurrentDays>"
                                  "</NoncurrentVersionExpiration>"));
  Advance(4);
  EXPECT_EQ(Plan(), (Names{}));
  Advance(4);
  EXPECT_EQ(Plan(), (Names{"create_delete_marker k", "expire_noncurrent_version k"}));
}

TEST_F(PlannerTest, AMarkerInPlaceOfTheNullVersionIsTheSuccessorOfTheVersionBelow) {
  s3_.SetVersioning("bucket", "Enabled");
  Put("k");
  s3_.SetVersioning("bucket", "Suspended");
  Put("k");
  Configure(Rule("a", Expire(2) + ExpireNoncurrent(4)));
  Advance(10);
  EXPECT_EQ(Log(Run()), (Names{"create_delete_marker k"}));
  EXPECT_EQ(Log(Run()), (Names{}));
  Advance(5);
  EXPECT_EQ(Log(Run()), (Names{"expire_noncurrent_version k", "expire_delete_marker k"}));
}

// The marker is a null version too, and the null version below the current one is deleted.
TEST_F(PlannerTest, ANullVersionThatAMarkerReplacesIsNotCounted) {
  s3_.SetVersioning("bucket", "Enabled");
  Put("k");
  s3_.SetVersioning("bucket", "Suspended");
  Put("k");
  s3_.SetVersioning("bucket", "Enabled");
  Put("k");
  s3_.SetVersioning("bucket", "Suspended");
  Configure(Rule("a", Expire(1) + "<NoncurrentVersionExpiration><NewerNoncurrentVersions>2"
                                  "</NewerNoncurrentVersions><NoncurrentDays>1</NoncurrentDays>"
                                  "</NoncurrentVersionExpiration>"));
  Advance(5);
  EXPECT_EQ(Log(Run()), (Names{"create_delete_marker k"}));
  EXPECT_EQ(Versions(), 3U);
  EXPECT_EQ(Log(Run()), (Names{}));
}

}  // namespace
}  // namespace penstock::emulator::lifecycle
