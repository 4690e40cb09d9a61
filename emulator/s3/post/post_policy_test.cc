#include "emulator/s3/post/post_policy.h"

#include <gtest/gtest.h>

#include "base/dates.h"
#include "base/encoding.h"

namespace penstock::emulator::s3 {
namespace {

const WallTime kNow = *ParseIso8601("2026-01-02T03:04:05Z");
using Fields = std::vector<FormField>;

std::string Refusal(const Error& error) { return error.code + ": " + error.message; }

std::string Parsed(const std::string& json) {
  const auto policy = ParsePostPolicy(Base64Encode(AsBytes(json)));
  return policy.ok() ? "ok" : Refusal(policy.error());
}

std::string WithConditions(const std::string& conditions) {
  return "{\"expiration\": \"2030-01-01T00:00:00Z\", \"conditions\": [" + conditions + "]}";
}

std::string ForTheBucket(const std::string& conditions) {
  return WithConditions(R"({"bucket": "bucket"})" + (conditions.empty() ? "" : ", " + conditions));
}

std::string Checked(const std::string& conditions, const Fields& fields) {
  const auto policy = ParsePostPolicy(Base64Encode(AsBytes(ForTheBucket(conditions))));
  if (!policy.ok()) return Refusal(policy.error());
  const auto checked = CheckPostPolicy(*policy, fields, "bucket", kNow);
  return checked.ok() ? "ok" : Refusal(checked.error());
}

// Texts recorded against Amazon S3, except the five marked ones from versitygw.
TEST(PostPolicyTest, InvalidDocumentsAreRefused) {
  const std::string invalid = "InvalidPolicyDocument: Invalid Policy: ";
  EXPECT_EQ(Parsed("{"), invalid + "Invalid JSON.");
  EXPECT_EQ(Parsed("[]"), invalid + "Invalid JSON.");
  EXPECT_EQ(Parsed(WithConditions("") + std::string("\0 x", 3)), invalid + "Invalid JSON.");
  EXPECT_EQ(Parsed(std::string(20'000, '[')), invalid + "Invalid JSON.");
  EXPECT_EQ(Parsed("{\"Statement\": []}"), invalid + "Unexpected: 'statement'");
  EXPECT_EQ(Parsed("{\"expiration\": \"2015-10-17 03:15:59 UTC\", \"conditions\": []}"),
            invalid + "Invalid 'expiration' value: '2015-10-17 03:15:59 UTC'");
  EXPECT_EQ(Parsed("{\"expiration\": \"2011-09-13T07:52:58+02:00\", \"conditions\": []}"),
            invalid + "Invalid 'expiration' value: '2011-09-13T07:52:58+02:00'");
  // From versitygw.
  EXPECT_EQ(Parsed("{}"), invalid + "Policy missing expiration.");
  // From versitygw.
  EXPECT_EQ(Parsed("{\"expiration\": \"2030-01-01T00:00:00.000Z\"}"),
            invalid + "Policy missing conditions.");
  EXPECT_EQ(Parsed("{\"expiration\": \"2030-01-01T00:00:00Z\", \"conditions\": {}}"),
            invalid + "Invalid 'conditions' value: must be a List.");  // From versitygw.
  // From versitygw.
  EXPECT_EQ(Refusal(ParsePostPolicy("?").error()), invalid + "invalid Base64 encoding.");
}

TEST(PostPolicyTest, InvalidConditionsAreRefused) {
  const std::string invalid = "InvalidPolicyDocument: Invalid Policy: ";
  const std::pair<const char*, const char*> cases[] = {
      {"{}",
       "Invalid Simple-Condition: Simple-Conditions must have exactly one property specified."},
      {"{\"bucket\": \"b\", \"key\": \"k\"}",
       "Invalid Simple-Condition: Simple-Conditions must have exactly one property specified."},
      {"{\"Content-Length\": 6199034}", "Invalid Simple-Condition: value must be a string."},
      {"{\"success_action_redirect\": null}", "Invalid JSON."},
      {"[]", "Invalid Condition: missing operation identifier."},
      // From versitygw.
      {"[\"ne\", \"$key\", \"k\"]", "Invalid Condition: unknown operation 'ne'."},
      {"[\"eq\", \"$key\"]", "Invalid eq: wrong number of arguments."},
      {"[\"content-length-range\", 0]", "Invalid content-length-range: wrong number of arguments."},
      {"[\"content-length-range\", 0, 512.0]", "Invalid JSON."},
      {"[\"content-length-range\", -1, 0]",
       "Invalid content-length-range: a bound must not be negative."},
      {"[\"eq\", \"$key\", 7]", "Invalid JSON."},
      {"7", "Invalid condition: must be a List or Object."}};
  for (const auto& [condition, complaint] : cases)
    EXPECT_EQ(Parsed(WithConditions(condition)), invalid + complaint) << condition;
}

TEST(PostPolicyTest, ExpiresAtTheExpirationTime) {
  const auto policy = ParsePostPolicy(Base64Encode(AsBytes(ForTheBucket(""))));
  ASSERT_TRUE(policy.ok());
  EXPECT_TRUE(
      CheckPostPolicy(*policy, {}, "bucket", policy->expiration - std::chrono::seconds(1)).ok());
  const auto expired = CheckPostPolicy(*policy, {}, "bucket", policy->expiration);
  EXPECT_EQ(Refusal(expired.error()), "AccessDenied: Invalid according to Policy: Policy expired.");
}

TEST(PostPolicyTest, ValuesAreCaseSensitiveAndNamesAreNot) {
  const Fields fields{{"Key", "user/a"}, {"acl", "private"}};
  EXPECT_EQ(Checked(R"(["StArTs-WiTh", "$kEy", "user/"], {"AcL": "private"}, {"bUcKeT": "bucket"})",
                    fields),
            "ok");
  const std::string failed = "AccessDenied: Invalid according to Policy: Policy Condition failed: ";
  EXPECT_EQ(Checked(R"({"key": "User/a"}, {"acl": "private"})", fields),
            failed + R"(["eq", "$key", "User/a"])");
  EXPECT_EQ(Checked(R"(["starts-with", "$key", "USER/"], {"acl": "private"})", fields),
            failed + R"(["starts-with", "$key", "USER/"])");
  EXPECT_EQ(Checked(R"(["eq", "key", "user/a"])", fields), failed + R"(["eq", "key", "user/a"])")
      << "without the dollar sign";
  EXPECT_EQ(Checked(R"(["eq", "$acl", "a\"b"])", fields), failed + R"(["eq", "$acl", "a\"b"])");
}

// The condition applies to the addressed bucket, whatever a field of that name contains.
TEST(PostPolicyTest, BucketConditionUsesTheAddressedBucket) {
  EXPECT_EQ(Checked(R"({"bucket": "bucket"})", {{"bucket", "other"}}), "ok");
  EXPECT_EQ(
      Checked(R"({"bucket": "other"})", {{"bucket", "other"}}),
      R"(AccessDenied: Invalid according to Policy: Policy Condition failed: ["eq", "$bucket", "other"])");
}

// Recorded against Amazon S3 (aws-sdk-php, issue 3292): the policy must name the bucket, and the
// error names it before other fields.
TEST(PostPolicyTest, TheBucketNeedsACondition) {
  const auto policy = ParsePostPolicy(Base64Encode(AsBytes(WithConditions(R"({"key": "a"})"))));
  ASSERT_TRUE(policy.ok());
  const auto checked = CheckPostPolicy(*policy, {{"key", "a"}, {"acl", "private"}}, "bucket", kNow);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(Refusal(checked.error()),
            "AccessDenied: Invalid according to Policy: Extra input fields: bucket");
}

// Observed on Amazon S3 in 2012: an empty prefix also requires the field.
TEST(PostPolicyTest, AbsentFieldsFailTheirConditions) {
  EXPECT_EQ(
      Checked(R"(["starts-with", "$Content-Type", ""])", {}),
      R"(AccessDenied: Invalid according to Policy: Policy Condition failed: ["starts-with", "$Content-Type", ""])");
  EXPECT_EQ(Checked(R"(["starts-with", "$Content-Type", ""])", {{"Content-Type", ""}}), "ok");
}

TEST(PostPolicyTest, EveryFieldNeedsACondition) {
  const std::string extra = "AccessDenied: Invalid according to Policy: Extra input fields: ";
  EXPECT_EQ(Checked("", {{"StorageClass", "x"}}), extra + "StorageClass");
  EXPECT_EQ(Checked("", {{"x-amz-date", "20260102T030405Z"}}), extra + "x-amz-date");
  EXPECT_EQ(Checked("", {{"X-Amz-Signature", ""},
                         {"Policy", ""},
                         {"AWSAccessKeyId", ""},
                         {"signature", ""},
                         {"X-Ignore-a", "b"}}),
            "ok");
}

TEST(PostPolicyTest, ContentTypesAreLists) {
  const std::string condition = R"(["starts-with", "$content-type", "image/"])";
  EXPECT_EQ(Checked(condition, {{"Content-Type", "image/jpg,image/png,image/gif"}}), "ok");
  EXPECT_NE(Checked(condition, {{"Content-Type", "image/jpg,text/plain"}}), "ok");
  EXPECT_EQ(Checked(R"(["starts-with", "$x-amz-meta-a", "image/"])",
                    {{"x-amz-meta-a", "image/jpg,text/plain"}}),
            "ok");
}

TEST(PostPolicyTest, SizeRangesAreIntersected) {
  const auto size = [](const std::string& conditions) {
    const auto policy = ParsePostPolicy(Base64Encode(AsBytes(WithConditions(conditions))));
    return std::pair(policy->size().min, policy->size().max);
  };
  EXPECT_EQ(size(""), std::pair(std::uint64_t{0}, UINT64_MAX));
  EXPECT_EQ(size(R"(["content-length-range", 5, 10])"),
            std::pair(std::uint64_t{5}, std::uint64_t{10}));
  EXPECT_EQ(size(R"(["content-length-range", "5", "10"], ["Content-Length-Range", 1, 7])"),
            std::pair(std::uint64_t{5}, std::uint64_t{7}));
  EXPECT_EQ(
      Checked(R"(["content-length-range", "test", "10"])", {}),
      R"(AccessDenied: Invalid according to Policy: Policy Condition failed: ["content-length-range", "test", "10"])");
}

// AWS documents \$ and \v in addition to JSON's escapes. "\\$foo" uses JSON's.
TEST(PostPolicyTest, EscapesBeyondJsonAreAccepted) {
  EXPECT_EQ(Checked(R"(["eq", "$key", "\$foo\v"])", {{"key", "$foo\v"}}), "ok");
  EXPECT_EQ(Checked(R"(["starts-with", "$key", "\\$foo"])", {{"key", "\\$foo.txt"}}), "ok");
}

}  // namespace
}  // namespace penstock::emulator::s3
