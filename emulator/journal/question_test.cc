#include "emulator/journal/journal.h"
#include "emulator/json/json_fields.h"
#include "gtest/gtest.h"

namespace penstock::emulator::journal {
namespace {

using std::chrono::milliseconds;

// Two ranges of "b/k", the second after a rejection, then a PUT.
class QuestionTest : public testing::Test {
 protected:
  void SetUp() override {
    Add({.began = milliseconds(0),
         .ended = milliseconds(5),
         .status = 206,
         .range = ByteRange{0, 10}});
    Add({.began = milliseconds(1), .ended = milliseconds(2), .status = 503, .invocation = "i"});
    Add({.began = milliseconds(3),
         .ended = milliseconds(6),
         .status = 206,
         .attempt = 2,
         .range = ByteRange{8, 20},
         .invocation = "i"});
    Add({.began = milliseconds(1500),
         .ended = milliseconds(1501),
         .status = 200,
         .method = "PUT",
         .operation = "PutObject",
         .key = "z"});
  }
  void Add(Entry entry) {
    entry.bucket = "b";
    if (entry.key.empty()) entry.key = "k";
    if (entry.method.empty()) entry.method = "GET";
    if (entry.operation.empty()) entry.operation = "GetObject";
    if (entry.range && entry.bytes_out == 0) entry.bytes_out = entry.range->size();
    journal_.Append(entry);
  }
  // Returns the result or the error message.
  Json Query(const std::string& question) {
    const auto result = journal_.Read().QueryJson(question);
    return result.ok() ? Json::parse(*result) : Json(result.error().message);
  }

  Journal journal_{1 << 20};
};

TEST_F(QuestionTest, CountsMatchingEntries) {
  EXPECT_EQ(Query(R"({"question": "count"})")["count"], 4);
  EXPECT_EQ(Query(R"({"question": "count", "filter": {"operations": ["GetObject"], "status": 2}})")
                ["count"],
            2);
  EXPECT_EQ(Query(R"({"question": "count", "filter": {"retried": true}})")["count"], 1);
  EXPECT_EQ(
      Query(R"({"question": "count", "filter": {"after": 3, "method": "PUT", "key_prefix": "z"}})")
          ["count"],
      1);
}

TEST_F(QuestionTest, ReturnsTheOldestOrNewestEntries) {
  const auto numbers = [&](const std::string& question) {
    std::vector<int> found;
    const Json result = Query(question);
    for (const Json& entry : result.at("entries")) found.push_back(entry.at("number"));
    return found;
  };
  EXPECT_EQ(numbers(R"({"question": "entries"})"), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(numbers(R"({"question": "entries", "limit": 2})"), (std::vector<int>{1, 2}));
  EXPECT_EQ(numbers(R"({"question": "entries", "newest": 2, "filter": {"key": "k"}})"),
            (std::vector<int>{2, 3}));
  EXPECT_EQ(numbers(R"({"question": "entries", "newest": 9})"), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(numbers(R"({"question": "entries", "limit": 0})").empty());
  EXPECT_EQ(Query(R"({"question": "entries"})")["last"], 4);
  EXPECT_EQ(Query(R"({"question": "entries"})")["dropped"], 0);
}

TEST_F(QuestionTest, ComparesRangesWithWantedRanges) {
  const Json report = Query(
      R"({"question": "ranges", "filter": {"bucket": "b", "key": "k"}, "wanted": [[0, 5], [15, 30]]})");
  EXPECT_EQ(report["fetched"], Json::parse("[[0, 10], [8, 20]]"));
  EXPECT_EQ(report["covered"], Json::parse("[[0, 20]]"));
  EXPECT_EQ(report["missing"], Json::parse("[[20, 30]]"));
  EXPECT_EQ(report["fetched_bytes"], 22);
  EXPECT_EQ(report["overlap_bytes"], 2);
  EXPECT_EQ(report["over_read_bytes"], 10);
}

TEST_F(QuestionTest, GroupsRanges) {
  Json report =
      Query(R"({"question": "ranges", "filter": {"bucket": "b", "key": "k"}, "by": "connection"})");
  EXPECT_EQ(report["groups"], Json::parse(R"([{"value": "0", "requests": 2, "ranges": [[0, 20]],
                             "fetched_bytes": 22, "overlap_bytes": 2, "first_s": 0.0,
                             "last_s": 0.006}])"));
  EXPECT_EQ(report["groups_dropped"], 0);
  EXPECT_EQ(report["fetched_bytes"], 22);
  report = Query(R"({"question": "ranges", "filter": {"bucket": "b", "key": "k"}})");
  EXPECT_FALSE(report.contains("groups"));
}

TEST_F(QuestionTest, ReportsTheUseOfObjects) {
  EXPECT_EQ(Query(R"({"question": "objects"})")["objects"], Json::parse(R"([
      {"bucket": "b", "key": "k", "reads": 3, "writes": 0, "bytes_out": 22, "bytes_in": 0,
       "errors": 1},
      {"bucket": "b", "key": "z", "reads": 0, "writes": 1, "bytes_out": 0, "bytes_in": 0,
       "errors": 0}])"));
  const Json report = Query(R"({"question": "objects", "filter": {"key": "z"}})");
  EXPECT_EQ(report["objects"].size(), 1U);
  EXPECT_EQ(report["objects_dropped"], 0);
  EXPECT_EQ(report["dropped"], 0);
}

TEST_F(QuestionTest, ReportsConcurrencyRateAndRetries) {
  EXPECT_EQ(Query(R"({"question": "max_concurrency"})")["max_concurrency"], 2);
  EXPECT_EQ(Query(R"({"question": "requests_per_second"})")["requests_per_second"],
            Json::parse("[3, 1]"));
  EXPECT_EQ(
      Query(R"({"question": "retries"})")["retries"],
      Json::parse(
          R"([{"invocation": "i", "entries": [2, 3], "statuses": [503, 206], "began_s": [0.001, 0.003]}])"));
}

TEST_F(QuestionTest, ReportsOrderAndLaterRequests) {
  EXPECT_EQ(
      Query(
          R"({"question": "in_order", "filter": {"key": "k"}, "then": {"key": "z"}})")["in_order"],
      true);
  EXPECT_EQ(
      Query(
          R"({"question": "in_order", "filter": {"key": "z"}, "then": {"key": "k"}})")["in_order"],
      false);
  EXPECT_EQ(Query(R"({"question": "in_order", "filter": {"key": "z"}})"),
            "then: is missing: set the filter of the later requests");
  EXPECT_EQ(Query(R"({"question": "requests_after", "filter": {"status": 503}, "then": {}})")
                ["requests_after"],
            Json::parse("[3, 4]"));
}

TEST_F(QuestionTest, RejectsInvalidQuestionsAndNamesTheMember) {
  const auto refused = [&](const std::string& question, const std::string& word) {
    const auto result = journal_.Read().QueryJson(question);
    ASSERT_FALSE(result.ok()) << question;
    EXPECT_NE(result.error().message.find(word), std::string::npos) << result.error().message;
  };
  refused("[]", "question");
  refused(R"({"question": "what"})", "max_concurrency");
  refused(R"({"question": 1})", "question");
  refused(R"({"question": "count", "wanted": []})", "wanted");
  refused(R"({"question": "count", "filter": {"operation": "GetObject"}})", "operation");
  refused(R"({"question": "count", "filter": {"operations": [1]}})", "filter.operations");
  for (const char* const status : {"7", "99", "600", "1000", "9007199254740992"}) {
    refused(R"({"question": "count", "filter": {"status": )" + std::string(status) + "}}",
            "filter.status");
  }
  refused(R"({"question": "count", "filter": {"operations": ["PutObjekt"]}})",
          "filter.operations: unknown S3 operation 'PutObjekt'");
  refused(R"({"question": "requests_after", "filter": {}, "then": {"operations": ["Nope"]}})",
          "then.operations");
  refused(R"({"question": "count", "filter": {"operations": []}})", "filter.operations");
  refused(R"({"question": "count", "filter": {"method": "get"}})", "filter.method");
  refused(R"({"question": "ranges", "filter": {"bucket": "b", "key": "k"}, "wanted": []})",
          "wanted");
  refused(R"({"question": "count", "filter": {"key": 7}})", "filter.key");
  refused(R"({"question": "ranges", "filter": {"key": "k"}})", "bucket and key");
  refused(R"({"question": "ranges", "filter": {"bucket": "b", "key": "k"}, "wanted": [[5, 1]]})",
          "wanted");
  refused(R"({"question": "ranges", "filter": {"bucket": "b", "key": "k"}, "wanted": [[-1, 1]]})",
          "wanted");
  refused(R"({"question": "entries", "limit": 1, "newest": 1})", "newest");
  refused(R"({"question": "ranges", "filter": {"bucket": "b", "key": "k"}, "by": "port"})",
          "by: must be connection, peer, access_key, user_agent or rank, not 'port'");
  refused(R"({"question": "objects", "by": "peer"})", "by");
}

TEST(DroppedTest, EveryResultReportsDroppedEntries) {
  Journal journal(2 * Journal::kBlockBytes);
  for (int i = 0; i < 10'000; ++i)
    journal.Append({.method = "GET", .operation = "GetObject", .bucket = "b", .key = "k"});
  const std::uint64_t dropped = journal.Read().dropped();
  ASSERT_GT(dropped, 100U);
  const auto lost = [&](const std::string& rest) {
    const auto result = journal.Read().QueryJson(R"({"question": )" + rest);
    return result.ok() ? Json::parse(*result).at("dropped").get<std::uint64_t>() : UINT64_MAX;
  };
  for (const char* const question :
       {"entries", "count", "max_concurrency", "requests_per_second", "retries", "objects"}) {
    EXPECT_EQ(lost("\"" + std::string(question) + "\"}"), dropped) << question;
  }
  EXPECT_EQ(lost(R"("ranges", "filter": {"bucket": "b", "key": "k"}})"), dropped);
  const std::string kept = R"({"after": )" + std::to_string(dropped) + "}";
  EXPECT_EQ(lost(R"("count", "filter": )" + kept + "}"), 0U)
      << "no entry after that number was dropped";
  EXPECT_EQ(lost(R"("count", "filter": {"after": 100}})"), dropped - 100);
  EXPECT_EQ(lost(R"("in_order", "filter": )" + kept + R"(, "then": {}})"), dropped);
  EXPECT_EQ(lost(R"("requests_after", "filter": )" + kept + R"(, "then": )" + kept + "}"), 0U);
  EXPECT_EQ(journal.ReadAfter(dropped + 5).DroppedOf({.after = dropped + 5}), 0U);
  journal.Clear({});
  EXPECT_EQ(lost(R"("count"})"), 0U) << "cleared entries do not count as dropped";
}

TEST_F(QuestionTest, FindsARuleWithCommasInItsId) {
  Add({.status = 503, .faults = "one,a,b,two"});
  for (const char* const id : {"one", "a,b", "two"})
    EXPECT_EQ(journal_.Read().Count({.fault = id}), 1U) << id;
  for (const char* const id : {"on", "ne", "wo"})
    EXPECT_EQ(journal_.Read().Count({.fault = id}), 0U) << id;
}

TEST_F(QuestionTest, ParsesAFilter) {
  const auto filter =
      ParseJournalFilter(R"({"operations": ["PutObject"], "connection": 7, "fault": "f"})");
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(filter->operations, std::vector<std::string>{"PutObject"});
  EXPECT_EQ(filter->connection, 7U);
  EXPECT_EQ(filter->fault, "f");
  EXPECT_FALSE(ParseJournalFilter(R"({"what": 1})").ok());
}

}  // namespace
}  // namespace penstock::emulator::journal
