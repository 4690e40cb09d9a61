#include "emulator/s3/config/lifecycle.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using std::chrono::days;
using testing::Harness;
using testing::Reply;

constexpr std::string_view kNone = "<absent>";

std::string Rule(std::string_view id, std::string_view filter, std::string_view action,
                 std::string_view status = "Enabled") {
  return "<Rule><ID>" + std::string(id) + "</ID>" + std::string(filter) + "<Status>" +
         std::string(status) + "</Status>" + std::string(action) + "</Rule>";
}

std::string Expire(int count) {
  return "<Expiration><Days>" + std::to_string(count) + "</Days></Expiration>";
}
std::string Abort(int count) {
  return "<AbortIncompleteMultipartUpload><DaysAfterInitiation>" + std::to_string(count) +
         "</DaysAfterInitiation></AbortIncompleteMultipartUpload>";
}

// The time is 2026-01-02T03:04:05Z.
class LifecycleTest : public ::testing::Test {
 protected:
  LifecycleTest() { s3_.Send("PUT /bucket"); }

  void Configure(std::string_view rules) {
    const std::string document =
        "<LifecycleConfiguration>" + std::string(rules) + "</LifecycleConfiguration>";
    const Reply reply = s3_.SendDocument("PUT /bucket?lifecycle", document);
    ASSERT_EQ(reply.Outcome(), "200") << reply.body;
  }
  std::string ExpirationOf(std::string_view request, std::string_view body = {}) {
    const Reply reply = s3_.Send(request, std::string(body).c_str());
    EXPECT_LT(reply.status, 300) << request << reply.body;
    return reply.Header("x-amz-expiration");
  }

  Harness s3_;
};

constexpr std::string_view kTomorrow =
    "expiry-date=\"Sun, 04 Jan 2026 00:00:00 GMT\", rule-id=\"one\"";

TEST_F(LifecycleTest, PutsCopiesAndReadsReturnTheExpiration) {
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kNone);
  Configure(Rule("one", "<Filter/>", Expire(1)));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kTomorrow);
  EXPECT_EQ(ExpirationOf("GET /bucket/k"), kTomorrow);
  EXPECT_EQ(ExpirationOf("HEAD /bucket/k"), kTomorrow);
  EXPECT_EQ(ExpirationOf("GET /bucket/k\nRange: bytes=0-1"), kTomorrow);
  EXPECT_EQ(ExpirationOf("PUT /bucket/to\nx-amz-copy-source: /bucket/k"), kTomorrow);
  s3_.responds_asynchronously = true;
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kTomorrow);
  EXPECT_EQ(s3_.async_responses, 1);
  s3_.responds_asynchronously = false;
  EXPECT_EQ(s3_.Send("DELETE /bucket/k").Header("x-amz-expiration"), kNone);
  EXPECT_EQ(s3_.Send("GET /bucket/k").Header("x-amz-expiration"), kNone);
}

// Amazon S3 API Reference, x-amz-expiration of PutObject and others, x-amz-abort-date of
// CreateMultipartUpload.
TEST_F(LifecycleTest, DirectoryBucketsReturnNoDates) {
  const std::string bucket = "/b--use1-az4--x-s3";
  ASSERT_EQ(s3_.MakeDirectoryBucket("b--use1-az4--x-s3").status, 200);
  ASSERT_EQ(
      s3_.SendDocument("PUT " + bucket + "?lifecycle",
                       "<LifecycleConfiguration>" + Rule("one", "<Filter/>", Expire(1) + Abort(1)) +
                           "</LifecycleConfiguration>")
          .Outcome(),
      "200");
  constexpr std::string_view kValue = "NotImplemented";
  EXPECT_EQ(ExpirationOf("PUT " + bucket + "/k", "body"), kValue);
  EXPECT_EQ(ExpirationOf("GET " + bucket + "/k"), kValue);
  EXPECT_EQ(ExpirationOf("HEAD " + bucket + "/k"), kValue);
  EXPECT_EQ(ExpirationOf("PUT " + bucket + "/to\nx-amz-copy-source: " + bucket + "/k"), kValue);
  const Reply begun = s3_.Send("POST " + bucket + "/parts?uploads");
  EXPECT_EQ(begun.status, 200);
  EXPECT_EQ(begun.Header("x-amz-abort-date"), kNone);
  EXPECT_EQ(begun.Header("x-amz-abort-rule-id"), kNone);
}

// Days count from the start of the upload, which is the object's date.
TEST_F(LifecycleTest, CompletedUploadsReturnTheExpiration) {
  Configure(Rule("one", "<Filter/>", Expire(1)));
  const std::string id = s3_.Send("POST /bucket/k?uploads").Element("UploadId");
  s3_.clock().SetNow(s3_.clock().Now() + days(5));
  const std::string etag =
      s3_.Send("PUT /bucket/k?partNumber=1&uploadId=" + id, "body").Header("ETag");
  const std::string list = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                           etag + "</ETag></Part></CompleteMultipartUpload>";
  EXPECT_EQ(ExpirationOf("POST /bucket/k?uploadId=" + id, list), kTomorrow);
  EXPECT_EQ(ExpirationOf("POST /bucket/k?uploadId=" + id, list), kTomorrow) << "repeated request";
}

TEST_F(LifecycleTest, DaysAreRoundedUpToMidnight) {
  Configure(Rule("one", "<Filter/>", Expire(1)));
  const WallTime day = std::chrono::floor<days>(s3_.clock().Now());
  s3_.clock().SetNow(day);
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kTomorrow) << "the creation time is a midnight";
  s3_.clock().SetNow(day + days(1) - std::chrono::seconds(1));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kTomorrow);
  s3_.clock().SetNow(day + days(1));
  EXPECT_EQ(ExpirationOf("GET /bucket/k"), kTomorrow) << "days count from the object's date";
}

TEST_F(LifecycleTest, DatesAreReturnedUnchanged) {
  Configure(Rule("one", "<Filter/>", "<Expiration><Date>2025-12-24T00:00:00Z</Date></Expiration>"));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"),
            "expiry-date=\"Wed, 24 Dec 2025 00:00:00 GMT\", rule-id=\"one\"");
}

TEST_F(LifecycleTest, DaysBeyondTheLastDateAreCapped) {
  Configure(Rule("one", "<Filter/>", "<Expiration><Days>2147483647</Days></Expiration>"));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"),
            "expiry-date=\"Fri, 11 Apr 2262 00:00:00 GMT\", rule-id=\"one\"");
}

// The emulator's clock ends before.
TEST_F(LifecycleTest, DatesBeyondTheLastDateAreCapped) {
  constexpr std::string_view kDate = "<Date>9999-01-01T00:00:00Z</Date>";
  Configure(Rule("one", "<Filter/>", "<Expiration>" + std::string(kDate) + "</Expiration>"));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"),
            "expiry-date=\"Fri, 11 Apr 2262 00:00:00 GMT\", rule-id=\"one\"");
  EXPECT_NE(s3_.Send("GET /bucket?lifecycle").body.find(kDate), std::string::npos);
}

TEST_F(LifecycleTest, RulesApplyByPrefixTagsAndSize) {
  const struct {
    const char* filter;
    const char* request;
    std::size_t size;
    bool applies;
  } cases[] = {
      {"<Filter><Prefix>logs/</Prefix></Filter>", "PUT /bucket/logs/a", 1, true},
      {"<Filter><Prefix>logs/</Prefix></Filter>", "PUT /bucket/log", 1, false},
      {"<Prefix>logs/</Prefix>", "PUT /bucket/logs/a", 1, true},
      {"<Prefix>logs/</Prefix>", "PUT /bucket/k", 1, false},
      {"<Filter><Tag><Key>a</Key><Value>1</Value></Tag></Filter>",
       "PUT /bucket/k\nx-amz-tagging: b=2&a=1", 1, true},
      {"<Filter><Tag><Key>a</Key><Value>1</Value></Tag></Filter>",
       "PUT /bucket/k\nx-amz-tagging: a=2", 1, false},
      {"<Filter><Tag><Key>a</Key><Value>1</Value></Tag></Filter>", "PUT /bucket/k", 1, false},
      {"<Filter><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></Filter>", "PUT /bucket/k", 6,
       true},
      {"<Filter><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></Filter>", "PUT /bucket/k", 5,
       false},
      {"<Filter><ObjectSizeLessThan>5</ObjectSizeLessThan></Filter>", "PUT /bucket/k", 4, true},
      {"<Filter><ObjectSizeLessThan>5</ObjectSizeLessThan></Filter>", "PUT /bucket/k", 5, false},
      {"<Filter><And><Prefix>k</Prefix><Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>b</"
       "Key><Value>2</Value></Tag>"
       "<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></And></Filter>",
       "PUT /bucket/k\nx-amz-tagging: a=1&b=2", 2, true},
      {"<Filter><And><Prefix>k</Prefix><Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>b</"
       "Key><Value>2</Value></Tag>"
       "<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></And></Filter>",
       "PUT /bucket/k\nx-amz-tagging: a=1", 2, false},
  };
  for (const auto& c : cases) {
    Configure(Rule("one", c.filter, Expire(1)));
    const std::string body(c.size, 'x');
    EXPECT_EQ(ExpirationOf(c.request, body), c.applies ? kTomorrow : kNone)
        << c.filter << c.request << c.size;
  }
}

TEST_F(LifecycleTest, TagsThatAreAddedLaterCount) {
  Configure(Rule("one", "<Filter><Tag><Key>a</Key><Value>1</Value></Tag></Filter>", Expire(1)));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kNone);
  s3_.SendDocument("PUT /bucket/k?tagging",
                   "<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>");
  EXPECT_EQ(ExpirationOf("HEAD /bucket/k"), kTomorrow);
}

TEST_F(LifecycleTest, EarliestExpirationIsReturned) {
  Configure(
      Rule("three", "<Filter/>", Expire(3)) + Rule("one", "<Filter/>", Expire(1)) +
      Rule("same", "<Filter/>", "<Expiration><Date>2026-01-04T00:00:00Z</Date></Expiration>") +
      Rule("off", "<Filter/>", "<Expiration><Date>2026-01-03T00:00:00Z</Date></Expiration>",
           "Disabled"));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kTomorrow);
}

TEST_F(LifecycleTest, OtherActionsSetNoExpiration) {
  Configure(
      Rule("a", "<Filter/>",
           "<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>") +
      Rule("b", "<Filter/>",
           "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></"
           "NoncurrentVersionExpiration>") +
      Rule("c", "<Filter/>",
           "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>") +
      Rule("d", "<Filter/>", Abort(1)));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"), kNone);
}

TEST_F(LifecycleTest, RequestsWithAVersionIdReturnNoExpiration) {
  s3_.SetVersioning("bucket", "Enabled");
  Configure(Rule("one", "<Filter/>", Expire(1)));
  const std::string old = s3_.Send("PUT /bucket/k", "old").Header("x-amz-version-id");
  const std::string current = s3_.Send("PUT /bucket/k", "new").Header("x-amz-version-id");
  EXPECT_EQ(ExpirationOf("GET /bucket/k"), kTomorrow);
  EXPECT_EQ(ExpirationOf("GET /bucket/k?versionId=" + old), kNone);
  EXPECT_EQ(ExpirationOf("HEAD /bucket/k?versionId=" + current), kNone);
  const Reply marker = s3_.Send("DELETE /bucket/k");
  EXPECT_EQ(marker.Header("x-amz-expiration"), kNone);
  EXPECT_EQ(s3_.Send("GET /bucket/k").Header("x-amz-expiration"), kNone);
}

TEST_F(LifecycleTest, ConfigurationChangesApplyImmediately) {
  s3_.Send("PUT /bucket/k", "body");
  Configure(Rule("two", "<Filter/>", Expire(2)));
  EXPECT_NE(ExpirationOf("GET /bucket/k"), kTomorrow);
  Configure(Rule("one", "<Filter/>", Expire(1)));
  EXPECT_EQ(ExpirationOf("GET /bucket/k"), kTomorrow);
  EXPECT_EQ(s3_.Send("DELETE /bucket?lifecycle").status, 204);
  EXPECT_EQ(ExpirationOf("GET /bucket/k"), kNone);
}

TEST_F(LifecycleTest, RuleIdsAreEncoded) {
  Configure(Rule("30 days/\"\xC3\xA9\"&#13;&#10;x: y", "<Filter/>", Expire(1)) +
            Rule("Old uploads", "<Filter/>", Abort(2)) +
            Rule("line&#10;two", "<Filter/>", Abort(1)));
  EXPECT_EQ(ExpirationOf("PUT /bucket/k", "body"),
            "expiry-date=\"Sun, 04 Jan 2026 00:00:00 GMT\", "
            "rule-id=\"30%20days%2F%22%C3%A9%22%0D%0Ax%3A%20y\"");
  EXPECT_EQ(s3_.Send("POST /bucket/k?uploads").Header("x-amz-abort-rule-id"), "line%0Atwo");
}

TEST_F(LifecycleTest, UploadsReturnTheirAbortDate) {
  EXPECT_EQ(s3_.Send("POST /bucket/k?uploads").Header("x-amz-abort-date"), kNone);
  Configure(Rule("week", "<Filter/>", Abort(7)) +
            Rule("old uploads", "<Filter><Prefix>tmp/</Prefix></Filter>", Abort(1)) +
            Rule("objects", "<Filter/>", Expire(1)));
  const Reply begun = s3_.Send("POST /bucket/tmp/k?uploads");
  EXPECT_EQ(begun.Header("x-amz-abort-date"), "Sun, 04 Jan 2026 00:00:00 GMT");
  EXPECT_EQ(begun.Header("x-amz-abort-rule-id"), "old uploads");
  EXPECT_EQ(begun.Header("x-amz-expiration"), kNone);
  s3_.clock().SetNow(s3_.clock().Now() + days(3));
  const Reply listed = s3_.Send("GET /bucket/tmp/k?uploadId=" + begun.Element("UploadId"));
  EXPECT_EQ(listed.Header("x-amz-abort-date"), "Sun, 04 Jan 2026 00:00:00 GMT");
  EXPECT_EQ(listed.Header("x-amz-abort-rule-id"), "old uploads");
  const Reply other = s3_.Send("POST /bucket/k?uploads");
  EXPECT_EQ(other.Header("x-amz-abort-date"), "Tue, 13 Jan 2026 00:00:00 GMT");
  EXPECT_EQ(other.Header("x-amz-abort-rule-id"), "week");
}

}  // namespace
}  // namespace penstock::emulator::s3
