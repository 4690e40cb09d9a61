#include "emulator/journal/export.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "emulator/journal/journal.h"
#include "gtest/gtest.h"

namespace penstock::emulator::journal {
namespace {

Entry One() {
  return {.received = WallTime(std::chrono::seconds(1'767'323'045)),
          .began = std::chrono::milliseconds(500),
          .ended = std::chrono::milliseconds(750),
          .connection = 3,
          .status = 206,
          .bytes_out = 20,
          .range = ByteRange{5, 25},
          .method = "GET",
          .target = "/b/k?x=1",
          .operation = "GetObject",
          .bucket = "b",
          .key = "k",
          .user_agent = "ua",
          .request_id = "RID"};
}

TEST(ExportTest, WritesAnEntryAsOneJsonObject) {
  const JsonTree tree = EntryJson(One());
  const Json& json = tree.root();
  EXPECT_EQ(json["received"], "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(json["began_s"], 0.5);
  EXPECT_EQ(json["lasted_s"], 0.25);
  EXPECT_EQ(json["target"], "/b/k?x=1");
  EXPECT_EQ(json["range"], (std::vector<int>{5, 25}));
  EXPECT_EQ(json["status"], 206);
  EXPECT_EQ(json["ending"], "answered");
  EXPECT_FALSE(json.contains("error_code")) << "empty members are omitted";
  EXPECT_FALSE(json.contains("rank"));
}

TEST(ExportTest, WritesTheRankOfARequestThatHasOne) {
  Entry entry = One();
  entry.rank = 0;
  EXPECT_EQ(EntryJson(entry).root()["rank"], 0);
}

TEST(ExportTest, WritesDecisions) {
  Entry entry = One();
  EXPECT_FALSE(EntryJson(entry).root().contains("decisions"));
  entry.authorization = R"([{"action":"s3:GetObject","allowed":false,"sid":"Network"}])";
  EXPECT_EQ(EntryJson(entry).root()["decisions"][0]["sid"], "Network");
  entry.authorization = entry.authorization.substr(0, 20);  // The journal cuts long texts.
  EXPECT_FALSE(EntryJson(entry).root().contains("decisions"));
}

TEST(ExportTest, WritesSignatures) {
  Entry entry = One();
  EXPECT_FALSE(EntryJson(entry).root().contains("signature"));
  entry.signature = {SignatureVersion::kV4Query, SignatureVerdict::kInvalid};
  EXPECT_EQ(EntryJson(entry).root()["signature"],
            Json::parse(R"({"version": "v4-query", "verdict": "invalid"})"));
  entry.signature = {SignatureVersion::kV2, SignatureVerdict::kUnverified};
  EXPECT_EQ(EntryJson(entry).root()["signature"]["verdict"], "unverified");
}

TEST(ExportTest, WritesCapturedHeadersInOrder) {
  Entry entry = One();
  EXPECT_FALSE(EntryJson(entry).root().contains("request_headers"));
  entry.request_headers = "Host: h\nA: 1\nA: 2\n";
  entry.response_headers = "Content-Type: text/plain\n";
  entry.headers_left_out = 1;
  const JsonTree tree = EntryJson(entry);
  EXPECT_EQ(tree.root()["request_headers"],
            nlohmann::json::parse(R"([["Host", "h"], ["A", "1"], ["A", "2"]])"));
  EXPECT_EQ(tree.root()["response_headers"],
            nlohmann::json::parse(R"([["Content-Type", "text/plain"]])"));
  EXPECT_EQ(tree.root()["headers_left_out"], 1);
}

TEST(ExportTest, HarHasCapturedHeaders) {
  Entry entry = One();
  EXPECT_EQ(HarEntry(entry, "").root()["request"]["headers"],
            nlohmann::json::parse(R"([{"name": "User-Agent", "value": "ua"}])"));
  entry.request_headers = "Host: h\nUser-Agent: ua\n";
  entry.response_headers = "content-type: text/plain\n";
  const JsonTree tree = HarEntry(entry, "");
  EXPECT_EQ(tree.root()["request"]["headers"],
            nlohmann::json::parse(
                R"([{"name": "Host", "value": "h"}, {"name": "User-Agent", "value": "ua"}])"));
  EXPECT_EQ(tree.root()["response"]["headers"],
            nlohmann::json::parse(R"([{"name": "content-type", "value": "text/plain"}])"));
  EXPECT_EQ(tree.root()["response"]["content"]["mimeType"], "text/plain");
}

TEST(ExportTest, WritesEntriesAsLinesInOrder) {
  Journal journal(1 << 20);
  journal.Append(One());
  Entry second = One();
  second.key = "\xff\n";  // Not UTF-8, and with a line break.
  journal.Append(second);
  std::istringstream lines(journal.Read().JsonLines());
  std::string line;
  std::vector<nlohmann::json> all;
  while (std::getline(lines, line)) all.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["number"], 1);
  EXPECT_EQ(all[1]["key"], "\xEF\xBF\xBD\n");
}

TEST(ExportTest, ExportsAcceptAFilter) {
  Journal journal(1 << 20);
  journal.Append(One());
  Entry second = One();
  second.key = "other";
  journal.Append(second);
  EXPECT_EQ(nlohmann::json::parse(journal.Read().JsonLines({.key = "other"}))["number"], 2);
  const auto har = [&](const JournalFilter& filter) {
    return nlohmann::json::parse(journal.Read().Har("", filter))["log"]["entries"];
  };
  EXPECT_EQ(har({.key = "other"}).size(), 1U);
  EXPECT_EQ(har({}).size(), 2U);
  EXPECT_EQ(har({.key = "none"}).size(), 0U);
}

TEST(ExportTest, DecodesQueriesForHar) {
  Journal journal(1 << 20);
  Entry entry = One();
  entry.target = "/b?list-type=2&prefix=a%2Fb%zz&flag&=v";
  journal.Append(entry);
  const auto log = nlohmann::json::parse(journal.Read().Har("http://h"))["log"];
  EXPECT_EQ(log["entries"][0]["request"]["queryString"],
            nlohmann::json::parse(
                R"([{"name": "list-type", "value": "2"}, {"name": "prefix", "value": "a/b%zz"},
                                      {"name": "flag", "value": ""}, {"name": "", "value": "v"}])"));
}

TEST(ExportTest, HarHasTheRequiredMembers) {
  Journal journal(1 << 20);
  journal.Append(One());
  const auto log = nlohmann::json::parse(journal.Read().Har("http://127.0.0.1:9000"))["log"];
  EXPECT_EQ(log["version"], "1.2");
  EXPECT_EQ(log["entries"][0]["request"]["queryString"],
            nlohmann::json::parse(R"([{"name": "x", "value": "1"}])"));
  EXPECT_EQ(log["creator"]["name"], "penstock");
  ASSERT_EQ(log["entries"].size(), 1U);
  const auto& entry = log["entries"][0];
  EXPECT_EQ(entry["request"]["url"], "http://127.0.0.1:9000/b/k?x=1");
  EXPECT_EQ(entry["response"]["status"], 206);
  EXPECT_EQ(entry["time"], 250);
  for (const char* member : {"startedDateTime", "cache", "timings"})
    EXPECT_TRUE(entry.contains(member)) << member;
}

}  // namespace
}  // namespace penstock::emulator::journal
