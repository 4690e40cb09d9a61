#include <gtest/gtest.h>

#include <chrono>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using namespace std::chrono_literals;
using testing::Harness;
using testing::Reply;

TEST(ObjectLockOperationsTest, ErrorsDistinguishBucketsAndObjectsWithoutLock) {
  Harness s3;
  s3.Send("PUT /plain");
  s3.Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
  for (const std::string selector : {"retention", "legal-hold"}) {
    s3.Send("PUT /plain/k", "x");
    s3.Send("PUT /locked/k", "x");
    const Reply plain = s3.Send("GET /plain/k?" + selector);
    EXPECT_EQ(plain.Outcome(), "400 InvalidRequest") << selector;
    EXPECT_EQ(plain.Element("Message"), "Bucket is missing Object Lock Configuration") << selector;
    const Reply locked = s3.Send("GET /locked/k?" + selector);
    EXPECT_EQ(locked.Outcome(), "404 NoSuchObjectLockConfiguration") << selector;
    EXPECT_EQ(locked.Element("Message"),
              "The specified object does not have a ObjectLock configuration")
        << selector;
    EXPECT_EQ(s3.Send("GET /locked/absent?" + selector).Outcome(), "404 NoSuchKey") << selector;
    EXPECT_EQ(s3.SendDocument("PUT /plain/k?" + selector, "<X/>").Outcome(), "400 InvalidRequest")
        << selector;
    EXPECT_EQ(s3.Send("PUT /locked/k?" + selector, "<X/>").Outcome(), "400 InvalidRequest")
        << "missing checksum";
    EXPECT_EQ(s3.SendDocument("PUT /locked/k?" + selector, "<X/>").Outcome(), "400 MalformedXML")
        << selector;
    for (const std::string bucket : {"/locked", "/plain"}) {
      EXPECT_EQ(s3.SendDocument("PUT " + bucket + "/k?" + selector, "").Outcome(),
                "400 MalformedXML")
          << selector << bucket << ", recorded against Amazon S3";
    }
  }
}

class LockedObject : public ::testing::Test {
 protected:
  LockedObject() {
    s3_.Send("PUT /box\nx-amz-bucket-object-lock-enabled: true");
    version_ = s3_.Send("PUT /box/k", "x").Header("x-amz-version-id");
  }
  std::string Retain(const std::string& content, const std::string& headers = "") {
    return s3_
        .SendDocument("PUT /box/k?retention" + headers, "<Retention>" + content + "</Retention>")
        .Outcome();
  }
  static std::string Until(const std::string& mode, const std::string& until) {
    return "<Mode>" + mode + "</Mode><RetainUntilDate>" + until + "</RetainUntilDate>";
  }

  Harness s3_;  // 2026-01-02T03:04:05Z
  std::string version_;
  const std::string bypass_ = "\nx-amz-bypass-governance-retention: true";
};

TEST_F(LockedObject, RetentionIsReturned) {
  EXPECT_EQ(Retain(Until("GOVERNANCE", "2026-02-01T00:00:00Z")), "200");
  const Reply reply = s3_.Send("GET /box/k?retention&versionId=" + version_);
  EXPECT_EQ(reply.Element("Mode"), "GOVERNANCE");
  EXPECT_EQ(reply.Element("RetainUntilDate"), "2026-02-01T00:00:00.000Z");
  EXPECT_NE(reply.body.find("<Retention xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"),
            std::string::npos);
  EXPECT_EQ(s3_.Send("DELETE /box/k?versionId=" + version_).Outcome(), "403 AccessDenied");
}

// After the last time that 64-bit nanoseconds can express, in April 2262.
TEST_F(LockedObject, RetentionsUntilTheYear9999AreReturnedUnchanged) {
  for (const std::string until :
       {"2262-04-12T00:00:00.000Z", "5000-02-28T23:59:59.120Z", "9999-12-31T23:59:59.000Z"}) {
    ASSERT_EQ(Retain(Until("COMPLIANCE", until)), "200") << until;
    EXPECT_EQ(s3_.Send("GET /box/k?retention").Element("RetainUntilDate"), until);
    EXPECT_EQ(s3_.Send("HEAD /box/k").Header("x-amz-object-lock-retain-until-date"), until);
    EXPECT_EQ(s3_.Send("DELETE /box/k?versionId=" + version_).Outcome(), "403 AccessDenied");
  }
  EXPECT_EQ(Retain(Until("COMPLIANCE", "9999-12-31T23:59:58Z")), "403 AccessDenied");
  EXPECT_EQ(Retain(Until("COMPLIANCE", "9999-12-31T23:59:59-01:00")), "200") << "not after 9999";
}

TEST_F(LockedObject, InvalidRetentionsAreRefused) {
  EXPECT_EQ(Retain("<Mode>GOVERNANCE</Mode>"), "400 MalformedXML");
  EXPECT_EQ(Retain(Until("SOFT", "2030-01-01T00:00:00Z")), "400 MalformedXML");
  EXPECT_EQ(Retain(Until("GOVERNANCE", "2020-01-01T00:00:00Z")), "400 InvalidArgument");
  const std::pair<const char*, const char*> dates[] = {
      {"2020-01-01T00:00:00Z", "Tue Dec 31 16:00:00 PST 2019"},  // Recorded against Amazon S3.
      {"2025-03-09T09:59:59Z", "Sun Mar 09 01:59:59 PST 2025"},
      {"2025-03-09T10:00:00.5Z", "Sun Mar 09 03:00:00 PDT 2025"},
      {"2025-11-02T08:59:59Z", "Sun Nov 02 01:59:59 PDT 2025"},
      {"2025-11-02T09:00:00Z", "Sun Nov 02 01:00:00 PST 2025"}};
  for (const auto& [sent, returned] : dates) {
    const Reply past = s3_.SendDocument("PUT /box/k?retention",
                                        "<Retention>" + Until("GOVERNANCE", sent) + "</Retention>");
    EXPECT_EQ(past.Element("ArgumentName"), "RetainUntilDate");
    EXPECT_EQ(past.Element("ArgumentValue"), returned);
  }
  EXPECT_EQ(s3_.Send("GET /box/k?retention").Outcome(), "404 NoSuchObjectLockConfiguration");
}

TEST_F(LockedObject, GovernanceCanBeExtendedAndBypassed) {
  ASSERT_EQ(Retain(Until("GOVERNANCE", "2026-02-01T00:00:00Z")), "200");
  EXPECT_EQ(Retain(Until("GOVERNANCE", "2026-01-15T00:00:00Z")), "403 AccessDenied");
  EXPECT_EQ(Retain(Until("COMPLIANCE", "2026-03-01T00:00:00Z")), "403 AccessDenied");
  EXPECT_EQ(Retain(""), "403 AccessDenied");
  EXPECT_EQ(Retain(Until("GOVERNANCE", "2026-03-01T00:00:00Z")), "200");
  EXPECT_EQ(Retain(Until("GOVERNANCE", "2026-01-15T00:00:00Z"), bypass_), "200");
  EXPECT_EQ(Retain("", bypass_), "200");
  EXPECT_EQ(s3_.Send("GET /box/k?retention").Outcome(), "404 NoSuchObjectLockConfiguration");
}

TEST_F(LockedObject, ComplianceCanOnlyBeExtendedUntilItExpires) {
  ASSERT_EQ(Retain(Until("COMPLIANCE", "2026-02-01T00:00:00Z")), "200");
  EXPECT_EQ(Retain(Until("COMPLIANCE", "2026-01-15T00:00:00Z"), bypass_), "403 AccessDenied");
  EXPECT_EQ(Retain(Until("GOVERNANCE", "2026-03-01T00:00:00Z"), bypass_), "403 AccessDenied");
  EXPECT_EQ(Retain("", bypass_), "403 AccessDenied");
  EXPECT_EQ(Retain(Until("COMPLIANCE", "2026-02-02T00:00:00Z")), "200");
  s3_.clock().Advance(24h * 40);
  EXPECT_EQ(s3_.Send("GET /box/k?retention").Element("Mode"), "COMPLIANCE")
      << "an expired retention is still returned";
  EXPECT_EQ(Retain(""), "200");
}

TEST_F(LockedObject, LegalHoldIsIndependentOfRetention) {
  const auto hold = [&](const std::string& status) {
    return s3_
        .SendDocument("PUT /box/k?legal-hold",
                      "<LegalHold><Status>" + status + "</Status></LegalHold>")
        .Outcome();
  };
  ASSERT_EQ(Retain(Until("GOVERNANCE", "2026-02-01T00:00:00Z")), "200");
  EXPECT_EQ(hold("ON"), "200");
  EXPECT_EQ(hold("on"), "400 MalformedXML");
  EXPECT_EQ(s3_.Send("GET /box/k?legal-hold").Element("Status"), "ON");
  EXPECT_EQ(s3_.Send("DELETE /box/k?versionId=" + version_ + bypass_).Outcome(),
            "403 AccessDenied");
  EXPECT_EQ(hold("OFF"), "200");
  EXPECT_EQ(s3_.Send("GET /box/k?legal-hold").Element("Status"), "OFF");
  EXPECT_EQ(s3_.Send("GET /box/k?retention").Element("Mode"), "GOVERNANCE")
      << "retention must not change";
  EXPECT_EQ(s3_.Send("DELETE /box/k?versionId=" + version_ + bypass_).status, 204);
}

TEST_F(LockedObject, VersionsHaveSeparateLocksAndDeleteMarkersNone) {
  const std::string newer = s3_.Send("PUT /box/k", "y").Header("x-amz-version-id");
  ASSERT_EQ(s3_.SendDocument("PUT /box/k?legal-hold&versionId=" + version_,
                             "<LegalHold><Status>ON</Status></LegalHold>")
                .status,
            200);
  EXPECT_EQ(s3_.Send("GET /box/k?legal-hold").Outcome(), "404 NoSuchObjectLockConfiguration");
  EXPECT_EQ(s3_.Send("DELETE /box/k?versionId=" + newer).status, 204);
  EXPECT_EQ(s3_.Send("DELETE /box/k?versionId=" + version_).status, 403);
  const std::string marker = s3_.Send("DELETE /box/k").Header("x-amz-version-id");
  EXPECT_EQ(s3_.Send("GET /box/k?legal-hold&versionId=" + marker).Outcome(),
            "405 MethodNotAllowed");
  EXPECT_EQ(s3_.SendDocument("PUT /box/k?legal-hold", "<LegalHold><Status>ON</Status></LegalHold>")
                .Outcome(),
            "404 NoSuchKey");
}

}  // namespace
}  // namespace penstock::emulator::s3
