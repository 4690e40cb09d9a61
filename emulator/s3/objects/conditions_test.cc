#include "emulator/s3/objects/conditions.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

constexpr const char* kHello = "5d41402abc4b2a76b9719d911017c592";  // MD5 of "hello".

class ConditionsTest : public ::testing::Test {
 protected:
  ConditionsTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k", "hello");          // At 03:04:05.
    s3_.clock().Advance(std::chrono::hours(1));  // Now 04:04:05.
  }
  Harness s3_;
};

TEST(ETagMatchesTest, AcceptsQuotedBareWeakAndLists) {
  constexpr auto kWeak = ETagComparison::kWeak;
  constexpr auto kStrong = ETagComparison::kStrong;
  for (const char* list :
       {"abc", "\"abc\"", "*", "\"x\", \"abc\"", " abc ", "\"abc", "abc\"", "\"abc, \"x\""}) {
    EXPECT_TRUE(ETagMatches(list, "abc", kWeak)) << list;
    EXPECT_TRUE(ETagMatches(list, "abc", kStrong)) << list;
  }
  for (const char* list : {"ab", "\"abcd\"", "", "\"x\",\"y\"", "\"\"abc\"", "\""}) {
    EXPECT_FALSE(ETagMatches(list, "abc", kWeak)) << list;
    EXPECT_FALSE(ETagMatches(list, "abc", kStrong)) << list;
  }
  for (const char* list : {"W/\"abc\"", "\"x\", W/\"abc\""}) {
    EXPECT_TRUE(ETagMatches(list, "abc", kWeak)) << list;
    EXPECT_FALSE(ETagMatches(list, "abc", kStrong)) << list;
  }
}

// Recorded against Amazon S3.
TEST_F(ConditionsTest, ReadsEvaluateConditionsInOrder) {
  const std::string same = kHello;
  const std::string equal = "Fri, 02 Jan 2026 03:04:05 GMT";
  const std::string before = "Fri, 02 Jan 2026 03:04:04 GMT";
  const std::string future = "Fri, 02 Jan 2027 03:04:05 GMT";
  const std::pair<std::string, int> cases[] = {
      {"If-Match: " + same, 200},
      {"If-Match: \"" + same + "\"", 200},
      {"If-Match: *", 200},
      {"If-Match: \"other\"", 412},
      {"If-Match: " + same + "\nIf-Unmodified-Since: " + before, 200},
      {"If-Unmodified-Since: " + before, 412},
      {"If-Unmodified-Since: " + equal, 200},
      {"If-Unmodified-Since: nonsense", 200},
      {"If-None-Match: \"" + same + "\"", 304},
      {"If-None-Match: *", 304},
      {"If-None-Match: other", 200},
      {"If-None-Match: " + same + "\nIf-Modified-Since: " + before, 304},
      {"If-None-Match: other\nIf-Modified-Since: " + equal, 200},
      {"If-Modified-Since: " + before, 200},
      {"If-Modified-Since: " + equal, 304},
      {"If-Modified-Since: " + future, 200},
      {"If-Modified-Since: nonsense", 200},
      {"If-Match: other\nIf-None-Match: " + same, 412},
  };
  for (const auto& [headers, status] : cases) {
    EXPECT_EQ(s3_.Send("GET /bucket/k\n" + headers).status, status) << headers;
    EXPECT_EQ(s3_.Send("HEAD /bucket/k\n" + headers).status, status) << headers;
  }
}

TEST_F(ConditionsTest, RefusedReadsReturnTheFailedCondition) {
  const Reply match = s3_.Send("GET /bucket/k\nIf-Match: x");
  EXPECT_EQ(match.Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(match.Element("Condition"), "If-Match");
  EXPECT_EQ(match.Element("Message"),
            "At least one of the pre-conditions you specified did not hold");
  const Reply same = s3_.Send(std::string("GET /bucket/k\nIf-None-Match: ") + kHello);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(same.Header("ETag"), std::string("\"") + kHello + "\"");
  EXPECT_EQ(same.Header("Last-Modified"), "Fri, 02 Jan 2026 03:04:05 GMT");
}

// Recorded against Amazon S3.
TEST_F(ConditionsTest, WriteConditions) {
  struct Case {
    std::string request;
    const char* outcome;
    const char* condition;
  };
  const Case cases[] = {
      {"PUT /bucket/k\nIf-None-Match: *", "412 PreconditionFailed", "If-None-Match"},
      {"PUT /bucket/k\nIf-Match: other", "412 PreconditionFailed", "If-Match"},
      {"PUT /bucket/absent\nIf-Match: other", "404 NoSuchKey", "<absent>"},
      {"PUT /bucket/k\nIf-None-Match: \"etag\"", "501 NotImplemented", "<absent>"},
      {"PUT /bucket/k\nIf-Match: *", "501 NotImplemented", "<absent>"},
      {"PUT /bucket/k\nIf-Match: a\nIf-None-Match: *", "501 NotImplemented", "<absent>"},
      {"PUT /bucket/k\nIf-Modified-Since: Fri, 02 Jan 2026 03:04:05 GMT", "501 NotImplemented",
       "<absent>"},
      {"PUT /bucket/new\nIf-None-Match: *", "200", "<absent>"},
      {std::string("PUT /bucket/k\nIf-Match: \"") + kHello + "\"", "200", "<absent>"},
  };
  for (const Case& c : cases) {
    const Reply reply = s3_.Send(c.request, "hello");
    EXPECT_EQ(reply.Outcome(), c.outcome) << c.request;
    EXPECT_EQ(reply.Element("Condition"), c.condition) << c.request;
  }
}

TEST_F(ConditionsTest, UnsupportedFormsAreRefusedWithTheHeader) {
  const Reply both = s3_.Send("PUT /bucket/k\nIf-Match: a\nIf-None-Match: *", "x");
  EXPECT_EQ(both.Element("Header"), "If-Match,If-None-Match");
  EXPECT_EQ(both.Element("additionalMessage"),
            "Multiple conditional request headers present in the request");
  const Reply etag = s3_.Send("PUT /bucket/k\nIf-None-Match: \"e\"", "x");
  EXPECT_EQ(etag.Element("Header"), "If-None-Match");
  EXPECT_EQ(etag.Element("additionalMessage"),
            "We don't accept the provided value of If-None-Match header for this API");
}

// RFC 9110, sections 13.1.1 and 13.1.2: If-Match compares strongly, If-None-Match weakly. Reads
// are lenient.
TEST_F(ConditionsTest, WeakETagsDoNotPermitAChange) {
  const std::string weak = std::string("W/\"") + kHello + "\"";
  for (const char* method : {"DELETE", "PUT"}) {
    EXPECT_EQ(s3_.Send(std::string(method) + " /bucket/k\nIf-Match: " + weak).status, 412)
        << method;
  }
  for (const char* method : {"GET", "HEAD"}) {
    EXPECT_EQ(s3_.Send(std::string(method) + " /bucket/k\nIf-Match: " + weak).status, 200)
        << method;
  }
  const std::string copy = "PUT /bucket/copy\nx-amz-copy-source: /bucket/k\nx-amz-copy-source-";
  EXPECT_EQ(s3_.Send(copy + "if-match: " + weak).status, 200);
  EXPECT_EQ(s3_.Send(copy + "if-none-match: " + weak).status, 412);
  EXPECT_EQ(s3_.Send("GET /bucket/k\nIf-None-Match: " + weak).status, 304);
}

TEST_F(ConditionsTest, DeletesAcceptIfMatchWithStar) {
  EXPECT_EQ(s3_.Send("DELETE /bucket/k\nIf-Match: other").Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(s3_.Send("DELETE /bucket/absent\nIf-Match: *").Outcome(), "404 NoSuchKey");
  EXPECT_EQ(s3_.Send("DELETE /bucket/k\nIf-Match: *").Outcome(), "204");
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "404 NoSuchKey");
}

TEST_F(ConditionsTest, DeleteMarkersCountAsAbsent) {
  s3_.SetVersioning("bucket", "Enabled");
  s3_.Send("DELETE /bucket/k");
  EXPECT_EQ(s3_.Send(std::string("PUT /bucket/k\nIf-Match: ") + kHello, "x").Outcome(),
            "404 NoSuchKey");
  EXPECT_EQ(s3_.Send("PUT /bucket/k\nIf-None-Match: *", "x").Outcome(), "200");
}

}  // namespace
}  // namespace penstock::emulator::s3
