#include "emulator/faults/documents/condition_document.h"

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

Condition Read(std::string_view json) {
  return ReadCondition(ParseJson(json).value(), "when").value();
}
std::string Problem(std::string_view json) {
  return ReadCondition(ParseJson(json).value(), "when").error().message;
}
Limit ReadIt(std::string_view json) { return ReadLimit(ParseJson(json).value(), "limit").value(); }
std::string LimitProblem(std::string_view json) {
  return ReadLimit(ParseJson(json).value(), "limit").error().message;
}

TEST(ConditionDocumentTest, ReadsEveryMember) {
  const Condition when =
      Read(R"({"operation": ["GetObject", "@list"], "bucket": "ckpt-*", "bucket_kind": "directory",
    "key": {"prefix": "a*/"}, "part": "3-5", "range": {"covers": 7, "first": 0, "length": ">=10"}, "size": ">=100",
    "header": {"x-amz-tagging": "*a=1*"}, "query": {"prefix": {"exactly": "p"}},
    "client": {"access_key": "AK", "user_agent": "Boto3*", "address": "127.*", "rank": 3}, "attempt": ">=2",
    "connection": {"reused": true, "requests": ">=100", "id": 4}, "nth": "every 5", "after": {"requests": 6, "bytes": 1024},
    "window": {"from_s": 1, "to_s": 31, "ramp_s": 10}, "unless_failed": 3, "probability": 0.05})");
  EXPECT_EQ(when.operations.size(), 8U);
  EXPECT_TRUE(when.bucket->Matches("ckpt-1"));
  EXPECT_EQ(when.directory_bucket, true);
  EXPECT_TRUE(when.key->Matches("a*/x"));
  EXPECT_FALSE(when.key->Matches("ab/x"));
  EXPECT_TRUE(when.part->Has(4));
  EXPECT_EQ(when.range->covers, 7U);
  EXPECT_TRUE(when.range->first->Has(0));
  EXPECT_TRUE(when.range->length->Has(10));
  EXPECT_TRUE(when.size->Has(100));
  ASSERT_EQ(when.headers.size(), 1U);
  EXPECT_EQ(when.headers[0].first, "x-amz-tagging");
  EXPECT_TRUE(when.query[0].second.Matches("p"));
  EXPECT_EQ(when.access_key, "AK");
  EXPECT_TRUE(when.user_agent->Matches("Boto3/1"));
  EXPECT_TRUE(when.address->Matches("127.0.0.1:1"));
  EXPECT_TRUE(when.rank->Has(3));
  EXPECT_TRUE(when.attempt->Has(2));
  EXPECT_EQ(when.connection_reused, true);
  EXPECT_TRUE(when.connection_requests->Has(100));
  EXPECT_TRUE(when.connection_id->Has(4));
  EXPECT_TRUE(when.nth->Has(10));
  EXPECT_EQ(when.after_requests, 6U);
  EXPECT_EQ(when.after_bytes, 1'024U);
  EXPECT_EQ(when.window->from, std::chrono::seconds(1));
  EXPECT_EQ(when.window->to, std::chrono::seconds(31));
  EXPECT_EQ(when.window->ramp, std::chrono::seconds(10));
  EXPECT_EQ(when.unless_failed, 3U);
  EXPECT_EQ(when.probability, 0.05);
}

TEST(ConditionDocumentTest, ReadsVersionsSessionsPartitionsAndRegularExpressions) {
  const Condition when = Read(
      R"({"version": true, "partition": "2-3", "client": {"session": "t*"}, "key": {"regex": "^a[0-9]+$"}})");
  EXPECT_EQ(when.version->present, true);
  EXPECT_TRUE(when.partition->Has(3));
  EXPECT_TRUE(when.session->pattern->Matches("t1"));
  EXPECT_TRUE(when.key->Matches("a12"));
  EXPECT_FALSE(when.key->Matches("a12b"));
  EXPECT_EQ(Problem(R"({"key": {"regex": "a("}})"),
            "when.key.regex: the regular expression 'a(' is invalid: missing ): a(");
  EXPECT_NE(Problem(R"({"version": 3})"), "");
}

TEST(ConditionDocumentTest, OneBasedNumbersRejectZero) {
  for (const std::string name : {"nth", "part", "attempt"}) {
    for (const std::string zero : {"0", "\"0\"", "\"<=0\""}) {
      EXPECT_EQ(Problem("{\"" + name + "\": " + zero + "}"),
                "when." + name + ": counts from 1: 0 never matches");
    }
  }
  EXPECT_EQ(Problem(R"({"unless_failed": 0})"),
            "when.unless_failed: is 0 and never matches; use 1 or more");
  EXPECT_TRUE(Read(R"({"size": 0})").size->Has(0));
  EXPECT_TRUE(Read(R"({"connection": {"requests": 0}})").connection_requests->Has(0));
}

TEST(ConditionDocumentTest, OperationsAreSortedAndUnique) {
  EXPECT_EQ(
      Read(R"({"operation": ["PutObject", "GetObject", "@read"]})").operations,
      (std::vector<std::string>{"GetObject", "GetObjectAttributes", "HeadObject", "PutObject"}));
}

TEST(ConditionDocumentTest, GlobsHaveAtMost1024Bytes) {
  const auto text = [](std::size_t bytes) { return "\"" + std::string(bytes, '*') + "\""; };
  const std::string problem =
      ": the glob has 1025 bytes, and the limit is 1024; shorten it, or use prefix, exactly or "
      "regex";
  EXPECT_TRUE(Read("{\"key\": " + text(1'024) + "}").key->Matches("a"));
  EXPECT_EQ(Problem("{\"header\": {\"x-h\": " + text(1'025) + "}}"), "when.header.x-h" + problem);
  EXPECT_EQ(Problem("{\"key\": {\"glob\": " + text(1'025) + "}}"), "when.key.glob" + problem);
  EXPECT_EQ(Problem("{\"operation\": " + text(1'025) + "}"), "when.operation" + problem);
  for (const std::string form : {"prefix", "exactly"}) {
    EXPECT_TRUE(Read("{\"key\": {\"" + form + "\": " + text(1'025) + "}}")
                    .key->Matches(std::string(1'025, '*')))
        << form;
  }
}

TEST(ConditionDocumentTest, RangeMayBeABoolean) {
  EXPECT_EQ(Read(R"({"range": false})").range->present, false);
}

TEST(ConditionDocumentTest, ErrorsNameFieldAndFix) {
  EXPECT_EQ(Problem(R"({"operation": []})"),
            "when.operation: is empty: remove it to match every operation");
  EXPECT_EQ(Problem(R"({"operation": ["GetObject", 3]})"),
            "when.operation[1]: must be a string: an operation, a glob, or a class such as @read");
  EXPECT_EQ(Problem(R"({"bucket_kind": "zonal"})"),
            "when.bucket_kind: must be general or directory, not 'zonal'");
  EXPECT_EQ(Problem(R"({"key": {}})"), "when.key: needs one of glob, prefix, exactly, regex");
  EXPECT_EQ(
      Problem(R"({"key": 5})"),
      "when.key: must be a string (a glob), or an object with one of glob, prefix, exactly, regex");
  EXPECT_EQ(Problem(R"({"version": 5})"),
            "when.version: must be true, false, a string (a glob), or an object with one of glob, "
            "prefix, exactly, regex");
  EXPECT_EQ(Problem(R"({"range": 5})"),
            "when.range: must be true, false, or an object of covers, first and length");
  EXPECT_EQ(Problem(R"({"part": -1})"),
            "when.part: must be a number, or a string such as \"3-5\", \">=2\", \"every 5\"");
  EXPECT_EQ(Problem(R"({"window": {"from_s": 2, "to_s": 2}})"),
            "when.window: to_s must be more than from_s");
  EXPECT_EQ(Problem(R"({"probability": 2})"), "when.probability: must be 0 to 1, not 2");
  EXPECT_EQ(Problem(R"({"header": []})"), "when.header: must be an object of names and patterns");
}

TEST(ConditionDocumentTest, ReadsLimits) {
  const Limit limit =
      ReadIt(R"({"times": 2, "per": "invocation", "budget": {"most": 3, "of": 10}, "ttl_s": 30})");
  EXPECT_EQ(limit.times, 2U);
  EXPECT_EQ(limit.per, Per::kInvocation);
  EXPECT_EQ(limit.budget->most, 3U);
  EXPECT_EQ(limit.budget->of, 10U);
  EXPECT_EQ(limit.time_to_live, std::chrono::seconds(30));
  EXPECT_EQ(LimitProblem(R"({"times": 1, "per": "rank"})"),
            "limit.per: must be scenario, invocation, client, key or connection, not 'rank'");
  EXPECT_EQ(LimitProblem(R"({"budget": {"most": 5, "of": 3}})"),
            "limit.budget.most: must be at most `of`, not 5 of 3");
  EXPECT_EQ(LimitProblem(R"({"budget": {"most": 0, "of": 3}})"),
            "limit.budget.most: must be at least 1: with 0 the rule never applies; remove the "
            "budget instead");
  EXPECT_EQ(LimitProblem(R"({"times": 1e30})"),
            "limit.times: must be at most 9007199254740991, not 1e+30");
  EXPECT_EQ(LimitProblem(R"({"times": 1.5})"),
            "limit.times: must be a non-negative integer, not 1.5");
}

}  // namespace
}  // namespace penstock::emulator::faults
