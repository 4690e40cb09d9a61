#include "emulator/journal/query.h"

#include "emulator/journal/journal.h"

#include "gtest/gtest.h"

namespace penstock::emulator::journal {
namespace {

using std::chrono::milliseconds;
using Ranges_ = std::vector<ByteRange>;

// A journal of GET requests for "b/k" by default. The first arguments are begin and end in
// milliseconds.
class QueryTest : public testing::Test {
 protected:
  void Add(int began_ms, int ended_ms, JournalEntryView entry = {}) {
    entry.began = milliseconds(began_ms);
    entry.ended = milliseconds(ended_ms);
    if (entry.method.empty()) entry.method = "GET";
    if (entry.operation.empty()) entry.operation = "GetObject";
    if (entry.bucket.empty()) entry.bucket = "b";
    if (entry.key.empty()) entry.key = "k";
    if (entry.status == 0) entry.status = 200;
    if (entry.range && entry.bytes_out == 0) entry.bytes_out = entry.range->size();
    journal_.Append(entry);
  }
  JournalReading Read() const { return journal_.Read(); }

  Journal journal_{1 << 20};
};

TEST_F(QueryTest, CountsMatchingEntries) {
  Add(0, 1);
  Add(0, 1, {.status = 503, .faults = "slow,late"});
  Add(0, 1, {.attempt = 2, .method = "PUT", .operation = "PutObject", .key = "a/1"});
  Add(0, 1, {.connection = 9, .rank = 0, .access_key = "AK", .invocation = "i"});
  EXPECT_EQ(Read().Count({}), 4U);
  EXPECT_EQ(Read().Count({.operations = {"PutObject", "CopyObject"}}), 1U);
  EXPECT_EQ(Read().Count({.key = "k"}), 3U);
  EXPECT_EQ(Read().Count({.key_prefix = "a/"}), 1U);
  EXPECT_EQ(Read().Count({.bucket = "c"}), 0U);
  EXPECT_EQ(Read().Count({.method = "PUT"}), 1U);
  EXPECT_EQ(Read().Count({.status = 503}), 1U);
  EXPECT_EQ(Read().Count({.status = 5}), 1U);
  EXPECT_EQ(Read().Count({.status = 2}), 3U);
  EXPECT_EQ(Read().Count({.fault = "late"}), 1U);
  EXPECT_EQ(Read().Count({.fault = "lat"}), 0U);
  EXPECT_EQ(Read().Count({.retried = true}), 1U);
  EXPECT_EQ(Read().Count({.connection = 9}), 1U);
  EXPECT_EQ(Read().Count({.rank = 0}), 1U) << "an entry without a rank has not rank 0";
  EXPECT_EQ(Read().Count({.rank = 1}), 0U);
  EXPECT_EQ(Read().Count({.access_key = "AK", .invocation = "i"}), 1U);
  EXPECT_EQ(Read().Count({.after = 3}), 1U);
}

TEST_F(QueryTest, EntriesOwnTheirStrings) {
  Add(0, 1);
  Add(0, 1, {.status = 503, .faults = "slow"});
  Add(0, 1, {.status = 503, .request_id = "third", .checksums = "c=1"});
  JournalReading reading = Read();
  const std::vector<JournalEntry> entries = reading.Entries({.status = 5}, 2);
  reading = JournalReading();
  journal_.Clear({});
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].faults, "slow");
  EXPECT_EQ(entries[0].number, 2U);
  EXPECT_EQ(entries[1].request_id, "third");
  EXPECT_EQ(entries[1].checksums, "c=1");
  EXPECT_EQ(entries[1].bucket, "b");
  Add(0, 1);
  EXPECT_EQ(Read().Entries({}, 0).size(), 0U);
  EXPECT_EQ(Read().Entries().size(), 1U);
}

TEST_F(QueryTest, RangesReportOverlapAndMissingBytes) {
  Add(0, 1, {.status = 206, .range = ByteRange{10, 20}});
  Add(0, 1, {.status = 206, .range = ByteRange{0, 12}});
  Add(0, 1, {.status = 206, .range = ByteRange{30, 40}});
  Add(0, 1, {.status = 503, .range = ByteRange{20, 30}});
  Add(0, 1,
      {.status = 206, .range = ByteRange{20, 30}, .method = "HEAD", .operation = "HeadObject"});
  const RangeReport report = Read().Ranges({.key = "k"}, {{5, 15}, {35, 50}});
  EXPECT_EQ(report.fetched, (Ranges_{{0, 12}, {10, 20}, {30, 40}}));
  EXPECT_EQ(report.covered, (Ranges_{{0, 20}, {30, 40}}));
  EXPECT_EQ(report.fetched_bytes, 32U);
  EXPECT_EQ(report.covered_bytes, 30U);
  EXPECT_EQ(report.overlap_bytes, 2U);
  EXPECT_EQ(report.missing, (Ranges_{{40, 50}}));
  EXPECT_EQ(report.over_read_bytes, 5U + 5 + 5);  // 0-5, 15-20 and 30-35.
}

TEST_F(QueryTest, WithoutWantedRangesNothingIsMissing) {
  Add(0, 1, {.status = 206, .range = ByteRange{0, 5}});
  const RangeReport report = Read().Ranges({}, {});
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(report.over_read_bytes, 0U);
  EXPECT_EQ(Read().Ranges({}, {{0, 2}, {1, 5}, {4, 9}}).missing, (Ranges_{{5, 9}}))
      << "wanted ranges may overlap";
}

TEST_F(QueryTest, CountsSentBytesOfBrokenResponses) {
  // Regression: a client that read an object from both ends and broke off one response was reported
  // to have fetched most of it twice.
  Add(0, 1, {.ending = Ending::kBroken, .bytes_out = 12, .range = ByteRange{0, 20}});
  Add(0, 1, {.bytes_out = 10, .range = ByteRange{10, 20}});
  Add(0, 1, {.ending = Ending::kBroken, .bytes_out = 50, .range = ByteRange{20, 30}});
  Add(0, 1, {.bytes_out = 4, .range = ByteRange{40, 50}});  // The announced length was wrong.
  EXPECT_EQ(Read().Ranges({}).fetched, (Ranges_{{0, 12}, {10, 20}, {20, 30}, {40, 44}}));
  EXPECT_EQ(Read().Ranges({}).overlap_bytes, 2U);
}

TEST_F(QueryTest, GroupsReadsByTheirRequester) {
  const auto read = [&](std::uint64_t connection, std::uint64_t begin, std::uint64_t end) {
    Add(static_cast<int>(begin), static_cast<int>(end),
        {.connection = connection,
         .status = 206,
         .range = ByteRange{begin, end},
         .rank = connection == 9 ? std::optional<std::uint64_t>(0) : std::nullopt,
         .access_key = "AK",
         .user_agent = connection == 9 ? "one" : "two",
         .peer = "[::1]:" + std::to_string(connection)});
  };
  read(10, 30, 35);
  read(9, 10, 20);
  read(9, 0, 12);
  Add(0, 90, {.connection = 9, .status = 503, .range = ByteRange{0, 50}});
  const RangeGroups report = Read().GroupedRanges({}, RangeGrouping::kConnection);
  EXPECT_EQ(report.dropped, 0U);
  ASSERT_EQ(report.groups.size(), 2U);
  const RangeGroup& most = report.groups[0];
  EXPECT_EQ(most.value, "9") << "the group with most bytes is first";
  EXPECT_EQ(most.requests, 2U);
  EXPECT_EQ(most.covered, (Ranges_{{0, 20}}));
  EXPECT_EQ(most.fetched_bytes, 22U);
  EXPECT_EQ(most.overlap_bytes, 2U);
  EXPECT_EQ(most.began, milliseconds(0));
  EXPECT_EQ(most.ended, milliseconds(20)) << "the refused request is no read";
  EXPECT_EQ(report.groups[1].value, "10");
  EXPECT_EQ(report.groups[1].began, milliseconds(30));
  const auto values = [&](RangeGrouping by) {
    std::vector<std::string> found;
    for (const RangeGroup& group : Read().GroupedRanges({}, by).groups)
      found.push_back(group.value);
    return found;
  };
  EXPECT_EQ(values(RangeGrouping::kPeer), (std::vector<std::string>{"[::1]"}));
  EXPECT_EQ(values(RangeGrouping::kAccessKey), (std::vector<std::string>{"AK"}));
  EXPECT_EQ(values(RangeGrouping::kUserAgent), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(values(RangeGrouping::kRank), (std::vector<std::string>{"0", ""}));
}

TEST_F(QueryTest, CountsGroupsAboveTheLimit) {
  for (std::uint64_t i = 1; i <= 5; ++i) Add(0, 1, {.connection = i, .range = ByteRange{0, i}});
  const RangeGroups report = Read().GroupedRanges({}, RangeGrouping::kConnection, 2);
  ASSERT_EQ(report.groups.size(), 2U);
  EXPECT_EQ(report.groups[0].value, "5");
  EXPECT_EQ(report.groups[1].value, "4");
  EXPECT_EQ(report.dropped, 3U);
}

TEST_F(QueryTest, SumsUpTheUseOfObjects) {
  Add(0, 1, {.bytes_out = 10, .key = "read"});
  Add(0, 1, {.bytes_out = 5, .method = "HEAD", .operation = "HeadObject", .key = "read"});
  Add(0, 1, {.status = 404, .bytes_out = 7, .key = "read"});
  Add(0, 1, {.ending = Ending::kBroken, .bytes_out = 1, .key = "read"});
  Add(0, 1, {.bytes_in = 20, .method = "PUT", .operation = "PutObject", .key = "written"});
  Add(0, 1, {.method = "DELETE", .operation = "DeleteObject", .key = "written"});
  Add(0, 1, {.bucket = "a", .key = "read"});
  JournalEntryView listing{.method = "GET", .operation = "ListObjectsV2", .bucket = "b"};
  journal_.Append(listing);
  const ObjectReport report = Read().Objects();
  ASSERT_EQ(report.objects.size(), 3U) << "a listing names no object";
  const ObjectUse& read = report.objects[0];
  EXPECT_EQ(read.bucket + "/" + read.key, "b/read");
  EXPECT_EQ(read.reads, 4U);
  EXPECT_EQ(read.writes, 0U);
  EXPECT_EQ(read.bytes_out, 23U);
  EXPECT_EQ(read.errors, 2U);
  const ObjectUse& written = report.objects[1];
  EXPECT_EQ(written.key, "written");
  EXPECT_EQ(written.writes, 2U);
  EXPECT_EQ(written.bytes_in, 20U);
  EXPECT_EQ(written.errors, 0U);
  EXPECT_EQ(report.objects[2].bucket, "a");
  EXPECT_EQ(report.dropped, 0U);
  EXPECT_EQ(Read().Objects({}, 1).objects.size(), 1U);
  EXPECT_EQ(Read().Objects({}, 1).dropped, 2U);
  EXPECT_EQ(Read().Objects({.bucket = "a"}).objects.size(), 1U);
}

TEST_F(QueryTest, MergesAdjacentRanges) {
  Add(0, 1, {.range = ByteRange{0, 5}});
  Add(0, 1, {.range = ByteRange{5, 9}});
  EXPECT_EQ(Read().Ranges({}, {}).covered, (Ranges_{{0, 9}}));
  EXPECT_EQ(Read().Ranges({}, {{3, 4}, {6, 7}}).over_read_bytes, 7U);
}

TEST_F(QueryTest, CountsConcurrentRequests) {
  Add(0, 10);
  Add(2, 5);
  Add(4, 6, {.key = "l"});
  Add(5, 7);
  EXPECT_EQ(Read().MaxConcurrency({}), 3U);
  EXPECT_EQ(Read().MaxConcurrency({.key = "k"}), 2U) << "one request ended when the next began";
  EXPECT_EQ(Read().MaxConcurrency({.key = "none"}), 0U);
}

TEST_F(QueryTest, RequestsPerSecondStartAtTheFirstRequest) {
  for (const int at : {500, 600, 1'499, 1'500, 3'600}) Add(at, at + 1);
  EXPECT_EQ(Read().RequestsPerSecond({}), (std::vector<std::uint64_t>{3, 1, 0, 1}));
  EXPECT_TRUE(Read().RequestsPerSecond({.key = "none"}).empty());
}

TEST_F(QueryTest, RetriesAreInvocationsWithSeveralRequests) {
  Add(0, 1, {.status = 503, .invocation = "a"});
  Add(5, 6, {.invocation = "b"});
  Add(9, 10, {.attempt = 2, .invocation = "a"});
  Add(9, 10);
  const std::vector<Invocation> retries = Read().Retries({});
  ASSERT_EQ(retries.size(), 1U);
  EXPECT_EQ(retries[0].id, "a");
  EXPECT_EQ(retries[0].entries, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(retries[0].statuses, (std::vector<int>{503, 200}));
  EXPECT_EQ(retries[0].began[1] - retries[0].began[0], milliseconds(9));
}

TEST_F(QueryTest, InOrderRequiresThatAllFirstRequestsEnded) {
  Add(0, 5, {.operation = "UploadPart"});
  Add(2, 8, {.operation = "UploadPart"});
  Add(8, 9, {.operation = "CompleteMultipartUpload"});
  EXPECT_TRUE(
      Read().InOrder({.operations = {"UploadPart"}}, {.operations = {"CompleteMultipartUpload"}}));
  EXPECT_FALSE(
      Read().InOrder({.operations = {"CompleteMultipartUpload"}}, {.operations = {"UploadPart"}}));
  EXPECT_FALSE(Read().InOrder({.operations = {"UploadPart"}}, {.operations = {"PutObject"}}))
      << "no request matches";
  Add(7, 20, {.operation = "UploadPart"});
  EXPECT_FALSE(
      Read().InOrder({.operations = {"UploadPart"}}, {.operations = {"CompleteMultipartUpload"}}));
}

TEST_F(QueryTest, RequestsAfterReturnsEntryNumbers) {
  Add(0, 5, {.operation = "AbortMultipartUpload"});
  Add(4, 9, {.operation = "UploadPart"});
  Add(6, 9, {.operation = "UploadPart"});
  EXPECT_EQ(Read().RequestsAfter({.operations = {"AbortMultipartUpload"}},
                                 {.operations = {"UploadPart"}}),
            (std::vector<std::uint64_t>{3}));
  EXPECT_TRUE(Read().RequestsAfter({.operations = {"CopyObject"}}, {}).empty());
}

std::string Refusal(const JournalFilter& filter) {
  const Result<void> checked = CheckJournalFilter(filter);
  return checked.ok() ? "" : checked.error().message;
}

TEST(FilterCheckTest, RejectsUnknownOperations) {
  EXPECT_EQ(Refusal({.operations = {"PutObject", "UploadPartCopy", "ListObjectsV2", ""}}), "");
  EXPECT_NE(
      Refusal({.operations = {"PutObject", "PutObjekt"}}).find("unknown S3 operation 'PutObjekt'"),
      std::string::npos);
  EXPECT_NE(Refusal({.operations = {"@read"}}), "");
}

TEST(FilterCheckTest, RejectsInvalidStatuses) {
  for (const int status : {0, 1, 5, 100, 200, 503, 599})
    EXPECT_EQ(Refusal({.status = status}), "") << status;
  for (const int status : {-1, 6, 7, 99, 600, 999})
    EXPECT_NE(Refusal({.status = status}).find("status"), std::string::npos) << status;
}

TEST(FilterCheckTest, RejectsMethodsInLowerCase) {
  EXPECT_EQ(Refusal({.method = "GET"}), "");
  EXPECT_NE(Refusal({.method = "get"}).find("'get'"), std::string::npos);
  EXPECT_NE(Refusal({.method = ""}), "");
}

TEST(FilterCheckTest, RejectsAKeyWithoutItsPrefix) {
  EXPECT_EQ(Refusal({.key = "a/b", .key_prefix = "a/"}), "");
  EXPECT_NE(Refusal({.key = "a/b", .key_prefix = "b/"}).find("key_prefix"), std::string::npos);
}

TEST(FilterCheckDeathTest, QueryWithAnInvalidFilterTerminatesTheProcess) {
  const Reading reading;
  EXPECT_DEATH(reading.Count({.operations = {"PutObjekt"}}), "PutObjekt");
  EXPECT_DEATH(reading.Entries({.status = 7}), "invalid status '7'");
}

}  // namespace
}  // namespace penstock::emulator::journal
