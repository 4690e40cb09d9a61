#include "emulator/s3/access/object_lock.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/dates.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using namespace std::chrono_literals;
using testing::Body;
using testing::Harness;
using testing::Reply;

// Puts a body with the checksum that S3 requires for locked objects.
Reply PutChecked(Harness& s3, const std::string& request, const std::string& body = "x") {
  return s3.SendDocument(request, body);
}

class LockedBucket : public ::testing::Test {
 protected:
  LockedBucket() { s3_.Send("PUT /box\nx-amz-bucket-object-lock-enabled: true"); }

  std::string Put(const std::string& headers) {
    return PutChecked(s3_, "PUT /box/k\n" + headers).Header("x-amz-version-id");
  }
  std::string PutUntil(const std::string& mode, const std::string& until) {
    return Put("x-amz-object-lock-mode: " + mode +
               "\nx-amz-object-lock-retain-until-date: " + until);
  }
  Reply Delete(const std::string& version, const std::string& headers = "") {
    return s3_.Send("DELETE /box/k?versionId=" + version + headers);
  }
  void SetDefault(const std::string& retention) {
    const Reply set = s3_.SendDocument(
        "PUT /box?object-lock",
        "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule>"
        "<DefaultRetention>" +
            retention + "</DefaultRetention></Rule></ObjectLockConfiguration>");
    ASSERT_EQ(set.Outcome(), "200");
  }

  Harness s3_;  // 2026-01-02T03:04:05Z
  const std::string bypass_ = "\nx-amz-bypass-governance-retention: true";
};

// Errors for a bucket without Object Lock.
TEST(ObjectLockTest, HeadersNeedABucketWithObjectLock) {
  Harness s3;
  s3.Send("PUT /bucket");
  for (const char* header :
       {"x-amz-object-lock-mode: COMPLIANCE", "x-amz-object-lock-legal-hold: ON",
        "x-amz-object-lock-retain-until-date: 2030-01-01T00:00:00Z"}) {
    const auto reply = s3.Send(std::string("PUT /bucket/k\n") + header, "x");
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << header;
    EXPECT_EQ(reply.Element("Message"), "Bucket is missing ObjectLockConfiguration");
    EXPECT_EQ(s3.Send(std::string("GET /bucket/k\n") + header).Outcome(), "501 NotImplemented");
  }
  EXPECT_EQ(s3.Send("PUT /absent/k\nx-amz-object-lock-mode: COMPLIANCE", "x").Outcome(),
            "404 NoSuchBucket");
  const auto bypass = s3.Send("DELETE /bucket/k\nx-amz-bypass-governance-retention: true");
  EXPECT_EQ(bypass.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(bypass.Element("ArgumentName"), "x-amz-bypass-governance-retention");
  EXPECT_EQ(bypass.Element("ArgumentValue"), "<absent>");
  s3.Send("PUT /bucket/k", "x");
  for (const char* sub_resource : {"retention", "legal-hold"}) {
    const auto reply = s3.SendDocument(std::string("PUT /bucket/k?") + sub_resource, "<X/>");
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << sub_resource;
    EXPECT_EQ(reply.Element("Message"), "Bucket is missing Object Lock Configuration");
  }
}

// Texts recorded against Amazon S3; the conformance suite (object_lock.json) has the same.
TEST_F(LockedBucket, RefusesIncompleteOrInvalidHeaders) {
  const auto message = [&](const std::string& headers) {
    const Reply reply = PutChecked(s3_, "PUT /box/k\n" + headers);
    return reply.Outcome() + ": " + reply.Element("Message");
  };
  EXPECT_EQ(message("x-amz-object-lock-mode: GOVERNANCE"),
            "400 InvalidArgument: x-amz-object-lock-retain-until-date and x-amz-object-lock-mode "
            "must both be supplied");
  for (const auto& [sent, missing] :
       {std::pair("x-amz-object-lock-mode: GOVERNANCE", "x-amz-object-lock-retain-until-date"),
        std::pair("x-amz-object-lock-retain-until-date: 2030-01-01T00:00:00Z",
                  "x-amz-object-lock-mode")}) {
    const Reply half = PutChecked(s3_, std::string("PUT /box/k\n") + sent);
    EXPECT_EQ(half.Element("ArgumentName"), missing);
    EXPECT_EQ(half.Element("ArgumentValue"), "<absent>");
  }
  EXPECT_EQ(message("x-amz-object-lock-mode: SOFT\nx-amz-object-lock-retain-until-date: "
                    "2030-01-01T00:00:00Z"),
            "400 InvalidArgument: Unknown wormMode directive.");
  EXPECT_EQ(message("x-amz-object-lock-mode: GOVERNANCE\nx-amz-object-lock-retain-until-date: "
                    "2026-01-02T03:04:05Z"),
            "400 InvalidArgument: The retain until date must be in the future!");
  EXPECT_EQ(
      message("x-amz-object-lock-mode: GOVERNANCE\nx-amz-object-lock-retain-until-date: tomorrow"),
      "400 InvalidArgument: The retain until date must be provided in ISO 8601 format");
  EXPECT_EQ(message("x-amz-object-lock-legal-hold: MAYBE"),
            "400 InvalidArgument: Legal Hold must be either of 'ON' or 'OFF'");
}

TEST_F(LockedBucket, LockedBodiesNeedAChecksum) {
  const Reply bare = s3_.Send("PUT /box/k\nx-amz-object-lock-legal-hold: ON", "x");
  EXPECT_EQ(bare.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(bare.Element("Message"),
            "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with "
            "Object Lock parameters");
  EXPECT_EQ(
      s3_.Send("PUT /box/k\nx-amz-object-lock-legal-hold: ON\nx-amz-checksum-crc32: jNwWgw==", "x")
          .Outcome(),
      "200");
  EXPECT_EQ(s3_.Send("PUT /box/k", "x").Outcome(), "200") << "no lock in effect";
  SetDefault("<Mode>GOVERNANCE</Mode><Days>1</Days>");
  EXPECT_EQ(s3_.Send("PUT /box/k", "x").Outcome(), "400 InvalidRequest");
}

TEST_F(LockedBucket, ReadsReturnTheLock) {
  Put("x-amz-object-lock-mode: COMPLIANCE\nx-amz-object-lock-retain-until-date: "
      "2030-01-01T00:00:00Z\n"
      "x-amz-object-lock-legal-hold: OFF");
  for (const char* method : {"GET", "HEAD"}) {
    const Reply read = s3_.Send(std::string(method) + " /box/k");
    EXPECT_EQ(read.Header("x-amz-object-lock-mode"), "COMPLIANCE");
    EXPECT_EQ(read.Header("x-amz-object-lock-retain-until-date"), "2030-01-01T00:00:00.000Z");
    EXPECT_EQ(read.Header("x-amz-object-lock-legal-hold"), "OFF");
  }
  Put("x-amz-meta-a: b");
  EXPECT_EQ(s3_.Send("GET /box/k").Header("x-amz-object-lock-mode"), "<absent>");
}

TEST_F(LockedBucket, ProtectedVersionsStayButCanBeHiddenByDeleteMarkers) {
  const std::string version = PutUntil("GOVERNANCE", "2026-01-03T00:00:00Z");
  const Reply refused = Delete(version);
  EXPECT_EQ(refused.Outcome(), "403 AccessDenied");
  EXPECT_EQ(refused.Element("Message"), "Access Denied because object protected by object lock.");
  const Reply hidden = s3_.Send("DELETE /box/k");
  EXPECT_EQ(hidden.Header("x-amz-delete-marker"), "true");
  EXPECT_EQ(Delete(hidden.Header("x-amz-version-id")).status, 204) << "markers are not protected";
  EXPECT_EQ(s3_.Send("GET /box/k").body, "x");
  EXPECT_EQ(PutChecked(s3_, "PUT /box/k", "newer").status, 200) << "overwriting keeps the version";
  EXPECT_EQ(s3_.Send("GET /box/k?versionId=" + version).body, "x");
}

TEST_F(LockedBucket, RetentionExpiresByTheNamespaceClock) {
  const std::string version = PutUntil("COMPLIANCE", "2026-01-03T00:00:00Z");
  EXPECT_EQ(Delete(version, bypass_).Outcome(), "403 AccessDenied");
  s3_.clock().Advance(24h);
  EXPECT_EQ(Delete(version).status, 204);
}

TEST_F(LockedBucket, BypassAppliesOnlyToGovernance) {
  EXPECT_EQ(Delete(PutUntil("GOVERNANCE", "2030-01-01T00:00:00Z"), bypass_).status, 204);
  EXPECT_EQ(Delete(PutUntil("GOVERNANCE", "2030-01-01T00:00:00Z"),
                   "\nx-amz-bypass-governance-retention: false")
                .status,
            403);
  EXPECT_EQ(Delete(PutUntil("COMPLIANCE", "2030-01-01T00:00:00Z"), bypass_).status, 403);
  EXPECT_EQ(Delete(Put("x-amz-object-lock-legal-hold: ON"), bypass_).status, 403);
  EXPECT_EQ(Delete(Put("x-amz-object-lock-legal-hold: OFF")).status, 204);
}

TEST_F(LockedBucket, DeleteObjectsFailsOnlyForProtectedVersions) {
  const std::string locked = PutUntil("GOVERNANCE", "2030-01-01T00:00:00Z");
  const std::string open = PutChecked(s3_, "PUT /box/k").Header("x-amz-version-id");
  const std::string list = "<Delete><Object><Key>k</Key><VersionId>" + locked +
                           "</VersionId></Object><Object><Key>k</Key><VersionId>" + open +
                           "</VersionId></Object><Object><Key>k</Key></Object></Delete>";
  const Reply reply = s3_.SendDocument("POST /box?delete", list);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Elements("Code"), std::vector<std::string>{"AccessDenied"});
  EXPECT_EQ(reply.Elements("Message"),
            std::vector<std::string>{"Access Denied because object protected by object lock."});
  EXPECT_EQ(reply.Elements("Deleted").size(), 2u);
  EXPECT_EQ(s3_.Send("GET /box/k?versionId=" + locked).status, 200);
  EXPECT_EQ(s3_.SendDocument("POST /box?delete" + bypass_, list).Elements("Error").size(), 0u)
      << "deleting the unlocked version again succeeds";
  EXPECT_EQ(s3_.Send("GET /box/k?versionId=" + locked).Outcome(), "404 NoSuchVersion");
}

// A day is 24 hours. A year ends on the same date.
TEST_F(LockedBucket, DefaultRetentionAppliesToNewVersionsWithoutOne) {
  SetDefault("<Mode>GOVERNANCE</Mode><Days>2</Days>");
  PutChecked(s3_, "PUT /box/k");
  EXPECT_EQ(s3_.Send("HEAD /box/k").Header("x-amz-object-lock-mode"), "GOVERNANCE");
  EXPECT_EQ(s3_.Send("HEAD /box/k").Header("x-amz-object-lock-retain-until-date"),
            "2026-01-04T03:04:05.000Z");
  SetDefault("<Mode>COMPLIANCE</Mode><Years>3</Years>");
  EXPECT_EQ(s3_.Send("PUT /box/copy\nx-amz-copy-source: /box/k").status, 200);
  EXPECT_EQ(s3_.Send("HEAD /box/copy").Header("x-amz-object-lock-retain-until-date"),
            "2029-01-02T03:04:05.000Z");
  EXPECT_EQ(s3_.Send("HEAD /box/copy").Header("x-amz-object-lock-mode"), "COMPLIANCE");
  PutUntil("GOVERNANCE", "2026-02-01T00:00:00Z");
  EXPECT_EQ(s3_.Send("HEAD /box/k").Header("x-amz-object-lock-mode"), "GOVERNANCE");
}

TEST_F(LockedBucket, CompletedUploadsGetTheLockOfTheUpload) {
  const std::string id =
      s3_.Send("POST /box/k?uploads\nx-amz-object-lock-legal-hold: ON").Element("UploadId");
  EXPECT_EQ(s3_.Send("PUT /box/k?partNumber=1&uploadId=" + id, "part").Outcome(),
            "400 InvalidRequest");
  const Reply part = PutChecked(s3_, "PUT /box/k?partNumber=1&uploadId=" + id, "part");
  ASSERT_EQ(part.status, 200);
  const Reply done = s3_.Send("POST /box/k?uploadId=" + id,
                              "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                                  part.Header("ETag") + "</ETag></Part></CompleteMultipartUpload>");
  ASSERT_EQ(done.Outcome(), "200");
  EXPECT_EQ(s3_.Send("HEAD /box/k").Header("x-amz-object-lock-legal-hold"), "ON");
  EXPECT_EQ(Delete(done.Header("x-amz-version-id")).Outcome(), "403 AccessDenied");
}

TEST_F(LockedBucket, CopiesDoNotKeepTheSourcesLock) {
  Put("x-amz-object-lock-legal-hold: ON");
  EXPECT_EQ(s3_.Send("PUT /box/copy\nx-amz-copy-source: /box/k").status, 200);
  EXPECT_EQ(s3_.Send("HEAD /box/copy").Header("x-amz-object-lock-legal-hold"), "<absent>");
}

// An unreadable attribute must not unlock a version.
TEST(ObjectLockTest, DamagedAttributesKeepTheVersionLocked) {
  const ObjectLock lock = StoredObjectLock({{":lock-mode", "?"}, {":lock-until", "?"}});
  EXPECT_FALSE(CheckUnlocked(lock, WallTime(std::chrono::hours(24 * 365 * 200)), true).ok());
}

TEST(ObjectLockTest, StoredLockReadsBackUnchanged) {
  const ObjectLock lock{
      Retention{RetentionMode::kCompliance, *ParseCalendarTime("2031-05-06T07:08:09.010Z")}, false};
  store::Attributes attributes{{"Content-Type", "a/b"}};
  StoreObjectLock(lock, attributes);
  ReplaceObjectLock(lock, attributes);
  EXPECT_EQ(attributes.size(), 4u);
  const ObjectLock read = StoredObjectLock(attributes);
  EXPECT_EQ(read.retention->mode, lock.retention->mode);
  EXPECT_EQ(read.retention->until, lock.retention->until);
  EXPECT_EQ(read.legal_hold, false);
}

}  // namespace
}  // namespace penstock::emulator::s3
