#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using std::chrono::hours;
using testing::Harness;
using testing::Reply;

constexpr char kOngoing[] = "ongoing-request=\"true\"";

std::string Request(int days, const std::string& tier = {}) {
  return "<RestoreRequest><Days>" + std::to_string(days) + "</Days>" +
         (tier.empty() ? ""
                       : "<GlacierJobParameters><Tier>" + tier + "</Tier></GlacierJobParameters>") +
         "</RestoreRequest>";
}

// The time is 2026-01-02T03:04:05Z.
class RestoreObjectTest : public ::testing::Test {
 protected:
  RestoreObjectTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k\nx-amz-storage-class: GLACIER", "bytes");
  }
  std::string Restore(const std::string& body, const std::string& target = "/bucket/k") {
    return s3_.Send("POST " + target + "?restore", body).Outcome();
  }
  std::string State(const std::string& target = "/bucket/k") {
    return s3_.Send("HEAD " + target).Header("x-amz-restore");
  }
  void Advance(std::chrono::nanoseconds time) { s3_.clock().SetNow(s3_.clock().Now() + time); }

  Harness s3_;
};

TEST_F(RestoreObjectTest, ARestoreIsOngoingThenReadableThenExpires) {
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "403 InvalidObjectState");
  EXPECT_EQ(State(), "<absent>");
  EXPECT_EQ(Restore(Request(2)), "202");
  EXPECT_EQ(State(), kOngoing);
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "403 InvalidObjectState");
  Advance(hours(5));
  EXPECT_EQ(State(), "ongoing-request=\"false\", expiry-date=\"Mon, 05 Jan 2026 00:00:00 GMT\"");
  const Reply read = s3_.Send("GET /bucket/k");
  EXPECT_EQ(read.body, "bytes");
  EXPECT_EQ(read.Header("x-amz-storage-class"), "GLACIER");
  EXPECT_EQ(s3_.Send("PUT /bucket/copy\nx-amz-copy-source: /bucket/k").Outcome(), "200");
  EXPECT_EQ(State("/bucket/copy"), "<absent>");
  Advance(hours(72));
  EXPECT_EQ(State(), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "403 InvalidObjectState");
}

TEST_F(RestoreObjectTest, AnOngoingRestoreAllowsOnlyAFasterTier) {
  EXPECT_EQ(Restore(Request(1, "Bulk")), "202");
  EXPECT_EQ(Restore(Request(1, "Bulk")), "409 RestoreAlreadyInProgress");
  EXPECT_EQ(Restore(Request(2, "Expedited")), "409 RestoreAlreadyInProgress");
  EXPECT_EQ(Restore(Request(1, "Expedited")), "202");
  Advance(std::chrono::minutes(5));
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "200");
}

TEST_F(RestoreObjectTest, ARepeatedRequestChangesTheExpiryOfTheCopy) {
  Restore(Request(1, "Expedited"));
  Advance(hours(1));
  EXPECT_EQ(Restore(Request(9)), "200");
  EXPECT_EQ(State(), "ongoing-request=\"false\", expiry-date=\"Mon, 12 Jan 2026 00:00:00 GMT\"");
}

TEST_F(RestoreObjectTest, OnlyArchivedObjectsAreRestored) {
  s3_.Send("PUT /bucket/plain", "x");
  EXPECT_EQ(Restore(Request(1), "/bucket/plain"), "403 InvalidObjectState");
  EXPECT_EQ(Restore(Request(1), "/bucket/absent"), "404 NoSuchKey");
  s3_.Send("PUT /bucket/deep\nx-amz-storage-class: DEEP_ARCHIVE", "x");
  EXPECT_EQ(Restore(Request(1, "Expedited"), "/bucket/deep"), "400 InvalidArgument");
  EXPECT_EQ(Restore(Request(1), "/bucket/deep"), "202");
  Advance(hours(11));
  EXPECT_EQ(State("/bucket/deep"), kOngoing);
  Advance(hours(1));
  EXPECT_NE(State("/bucket/deep"), kOngoing);
}

TEST_F(RestoreObjectTest, MalformedAndSelectRequestsAreRefused) {
  EXPECT_EQ(Restore(""), "400 MissingRequestBodyError");
  EXPECT_EQ(Restore("<RestoreRequest/>"), "400 MalformedXML");
  EXPECT_EQ(Restore(Request(0)), "400 MalformedXML");
  EXPECT_EQ(Restore(Request(1, "Slow")), "400 MalformedXML");
  EXPECT_EQ(Restore("<RestoreRequest><Type>SELECT</Type></RestoreRequest>"), "501 NotImplemented");
  EXPECT_EQ(Restore("<RestoreRequest><Days>1</Days><OutputLocation/></RestoreRequest>"),
            "501 NotImplemented");
  EXPECT_EQ(State(), "<absent>");
}

TEST_F(RestoreObjectTest, ListingsShowTheRestoreOnRequest) {
  Restore(Request(1, "Expedited"));
  const std::string header = "\nx-amz-optional-object-attributes: RestoreStatus";
  for (const char* target : {"/bucket", "/bucket?list-type=2", "/bucket?versions"}) {
    const std::string plain = std::string("GET ") + target;
    EXPECT_EQ(s3_.Send(plain).Element("IsRestoreInProgress"), "<absent>");
    EXPECT_EQ(s3_.Send(plain + header).Element("IsRestoreInProgress"), "true") << target;
  }
  Advance(hours(1));
  const Reply reply = s3_.Send("GET /bucket?list-type=2" + header);
  EXPECT_EQ(reply.Element("IsRestoreInProgress"), "false");
  EXPECT_EQ(reply.Element("RestoreExpiryDate"), "2026-01-04T00:00:00.000Z");
  EXPECT_EQ(reply.Element("StorageClass"), "GLACIER");
}

TEST_F(RestoreObjectTest, AVersionIsRestoredByItsId) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string version =
      s3_.Send("PUT /bucket/v\nx-amz-storage-class: GLACIER", "old").Header("x-amz-version-id");
  s3_.Send("PUT /bucket/v\nx-amz-storage-class: GLACIER", "new");
  EXPECT_EQ(s3_.Send("POST /bucket/v?restore&versionId=" + version, Request(1)).Outcome(), "202");
  EXPECT_EQ(State("/bucket/v"), "<absent>");
  EXPECT_EQ(State("/bucket/v?versionId=" + version), kOngoing);
}

}  // namespace
}  // namespace penstock::emulator::s3
