#include "emulator/journal/journal.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace penstock::emulator::journal {
namespace {

using std::chrono::milliseconds;

Entry Full() {
  return {.received = WallTime(std::chrono::seconds(1'700'000'000)),
          .began = milliseconds(5),
          .ended = milliseconds(8),
          .connection = 7,
          .requests_before = 3,
          .tls = true,
          .ending = Ending::kBroken,
          .status = 206,
          .attempt = 2,
          .bytes_in = 10,
          .bytes_out = 20,
          .range = ByteRange{5, 25},
          .rank = 12,
          .method = "GET",
          .target = "/b/k?x=1",
          .operation = "GetObject",
          .bucket = "b",
          .key = "k",
          .access_key = "AK",
          .invocation = "inv",
          .user_agent = "ua",
          .peer = "127.0.0.1:9",
          .request_id = "RID",
          .error_code = "E",
          .faults = "r1,r2",
          .checksums = "c=1",
          .payload = "unsigned"};
}

std::vector<std::string> Keys(const Reading& reading) {
  std::vector<std::string> keys;
  reading.ForEach([&](const Entry& entry) {
    keys.emplace_back(entry.key);
    return true;
  });
  return keys;
}

// The entry has a view of `key`.
Entry Keyed(std::string_view key) { return {.method = "GET", .target = "/b", .key = key}; }

TEST(JournalTest, ReturnsStoredEntries) {
  Journal journal(1 << 20);
  EXPECT_EQ(journal.Append(Full()), 1U);
  int seen = 0;
  journal.Read().ForEach([&](const Entry& entry) {
    ++seen;
    const Entry full = Full();
    EXPECT_EQ(entry.number, 1U);
    EXPECT_EQ(entry.received, full.received);
    EXPECT_EQ(entry.began, full.began);
    EXPECT_EQ(entry.lasted(), milliseconds(3));
    EXPECT_EQ(entry.connection, 7U);
    EXPECT_EQ(entry.requests_before, 3U);
    EXPECT_TRUE(entry.tls);
    EXPECT_EQ(entry.ending, Ending::kBroken);
    EXPECT_EQ(entry.status, 206);
    EXPECT_EQ(entry.attempt, 2U);
    EXPECT_EQ(entry.bytes_in, 10U);
    EXPECT_EQ(entry.bytes_out, 20U);
    EXPECT_EQ(entry.range, full.range);
    EXPECT_EQ(entry.rank, 12U);
    const auto texts = [](const Entry& of) {
      return std::vector<std::string>{
          std::string(of.method),     std::string(of.target),     std::string(of.operation),
          std::string(of.bucket),     std::string(of.key),        std::string(of.access_key),
          std::string(of.invocation), std::string(of.user_agent), std::string(of.peer),
          std::string(of.request_id), std::string(of.error_code), std::string(of.faults),
          std::string(of.checksums),  std::string(of.payload)};
    };
    EXPECT_EQ(texts(entry), texts(full));
    return true;
  });
  EXPECT_EQ(seen, 1);
}

TEST(JournalTest, AmendedEntriesKeepTheirRankAndHeaders) {
  Journal journal(1 << 20);
  Entry entry = Full();
  entry.request_headers = "Host: h\n";
  journal.Append(entry);
  journal.Append(Keyed("without"));
  entry.status = 500;
  entry.request_headers = {};
  journal.Amend(1, entry);
  const std::vector<JournalEntry> entries = journal.Read().Entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].status, 500);
  EXPECT_EQ(entries[0].rank, 12U);
  EXPECT_EQ(entries[0].request_headers, "Host: h\n");
  EXPECT_EQ(entries[1].rank, std::nullopt);
  EXPECT_TRUE(entries[0].tls);
}

TEST(JournalTest, KeepsOrderAcrossBlocks) {
  Journal journal(8 << 20);
  for (int i = 0; i < 5'000; ++i) journal.Append(Keyed(std::to_string(i)));
  const std::vector<std::string> keys = Keys(journal.Read());
  ASSERT_EQ(keys.size(), 5'000U);
  for (int i = 0; i < 5'000; ++i) ASSERT_EQ(keys[static_cast<std::size_t>(i)], std::to_string(i));
}

TEST(JournalTest, DropsAndCountsTheOldestEntries) {
  Journal journal(2 * Journal::kBlockBytes);
  for (int i = 0; i < 10'000; ++i) journal.Append(Keyed(std::to_string(i)));
  const Reading reading = journal.Read();
  EXPECT_LE(journal.memory(), 2 * Journal::kBlockBytes);
  EXPECT_EQ(journal.written(), 10'000U);
  EXPECT_GT(reading.dropped(), 0U);
  EXPECT_EQ(reading.dropped() + reading.size(), 10'000U);
  EXPECT_EQ(Keys(reading).front(), std::to_string(reading.dropped()));
  EXPECT_EQ(Keys(reading).back(), "9999");
}

TEST(JournalTest, IdleJournalUsesNoMemory) { EXPECT_EQ(Journal(1 << 30).memory(), 0U); }

TEST(JournalTest, ReadingIsASnapshot) {
  Journal journal(2 * Journal::kBlockBytes);
  journal.Append(Keyed("first"));
  const Reading reading = journal.Read();
  for (int i = 0; i < 10'000; ++i) journal.Append(Keyed("more"));
  EXPECT_EQ(Keys(reading), std::vector<std::string>{"first"});
}

TEST(JournalTest, ReadsEntriesAfterANumber) {
  Journal journal(1 << 20);
  for (int i = 1; i <= 5; ++i) journal.Append(Keyed(std::to_string(i)));
  EXPECT_EQ(Keys(journal.ReadAfter(3)), (std::vector<std::string>{"4", "5"}));
  EXPECT_TRUE(Keys(journal.ReadAfter(5)).empty());
  EXPECT_TRUE(Keys(journal.ReadAfter(500)).empty());
}

TEST(JournalTest, ClearRemovesEntriesButContinuesNumbers) {
  Journal journal(2 * Journal::kBlockBytes);
  for (int i = 0; i < 10'000; ++i) journal.Append(Keyed("old"));
  journal.Clear({});
  EXPECT_EQ(journal.memory(), 0U);
  EXPECT_EQ(journal.Read().size(), 0U);
  EXPECT_EQ(journal.Read().dropped(), 0U) << "cleared entries do not count as dropped";
  EXPECT_EQ(journal.Read().last(), 10'000U);
  EXPECT_EQ(journal.Append(Keyed("new")), 10'001U);
  EXPECT_EQ(Keys(journal.Read()), std::vector<std::string>{"new"});
}

TEST(JournalTest, ClearAlsoForgetsRequestsThatEndLater) {
  using std::chrono::seconds;
  const MonotonicTime opened{seconds(100)};
  Journal journal(1 << 20, opened);
  Entry entry = Keyed("begun before");
  entry.began = seconds(4);
  const std::uint64_t mark = journal.BeginLeaving();
  journal.Clear(opened + seconds(5));
  EXPECT_EQ(journal.Append(entry, mark), 0U);
  EXPECT_TRUE(journal.WaitForResponses(opened)) << "its response has ended";
  journal.Amend(0, entry);
  EXPECT_EQ(journal.Read().size(), 0U);
  entry.key = "begun with it";
  entry.began = seconds(5);
  EXPECT_EQ(journal.Append(entry), 1U);
  EXPECT_EQ(Keys(journal.Read()), std::vector<std::string>{"begun with it"});
}

TEST(JournalTest, AmendReplacesAnEntry) {
  Journal journal(2 * Journal::kBlockBytes);
  for (const char* const key : {"a", "b", "c"}) journal.Append(Keyed(key), 0, 10);
  const Reading before = journal.Read();
  Entry entry = Keyed("b");
  entry.status = 200;
  entry.faults = "rule-1";
  journal.Amend(2, entry);
  std::vector<std::string> told;
  journal.Read().ForEach([&](const Entry& each) {
    told.push_back(std::string(each.key) + std::to_string(each.status) + std::string(each.faults));
    return true;
  });
  EXPECT_EQ(told, (std::vector<std::string>{"a0", "b200rule-1", "c0"}));
  EXPECT_EQ(before.Count({.status = 200}), 0U) << "an earlier Reading is unchanged";
  EXPECT_EQ(journal.Append(Keyed("d")), 4U);
  EXPECT_EQ(Keys(journal.Read()), (std::vector<std::string>{"a", "b", "c", "d"}));
}

TEST(JournalTest, AmendFindsEntriesInAnyBlockAndIgnoresDroppedOnes) {
  Journal journal(2 * Journal::kBlockBytes);
  for (int i = 1; i <= 10'000; ++i) journal.Append(Keyed(std::to_string(i)));
  const std::uint64_t oldest = journal.Read().dropped() + 1;
  for (const std::uint64_t number :
       {std::uint64_t{1}, oldest, oldest + 400, std::uint64_t{10'000}, std::uint64_t{10'001}}) {
    const std::string key = std::to_string(number);
    Entry entry = Keyed(key);
    entry.status = 200;
    journal.Amend(number, entry);
  }
  std::vector<std::uint64_t> amended;
  journal.Read().ForEach([&](const Entry& entry) {
    EXPECT_EQ(entry.key, std::to_string(entry.number));
    if (entry.status == 200) amended.push_back(entry.number);
    return true;
  });
  EXPECT_EQ(amended, (std::vector<std::uint64_t>{oldest, oldest + 400, 10'000}));
}

TEST(JournalTest, AmendWithoutRoomKeepsTheOldFaults) {
  Journal journal(1 << 20);
  journal.Append(Keyed("a"));
  Entry entry = Keyed("a");
  entry.status = 500;
  const std::string faults(100, 'f');
  entry.faults = faults;
  journal.Amend(1, entry);
  const std::vector<JournalEntry> entries = journal.Read().Entries();
  EXPECT_EQ(entries.at(0).status, 500);
  EXPECT_EQ(entries.at(0).faults, "");
}

TEST(JournalTest, StoresSignatures) {
  Journal journal(1 << 20);
  Entry entry = Full();
  entry.signature = {SignatureVersion::kV2Form, SignatureVerdict::kInvalid};
  journal.Append(entry);
  entry.signature = {SignatureVersion::kV4, SignatureVerdict::kValid};
  entry.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  journal.Append(entry);
  journal.Append(Full());
  const std::vector<JournalEntry> entries = journal.Read().Entries();
  EXPECT_EQ(entries.at(0).signature.version, SignatureVersion::kV2Form);
  EXPECT_EQ(entries.at(0).signature.verdict, SignatureVerdict::kInvalid);
  EXPECT_EQ(entries.at(1).signature.version, SignatureVersion::kV4Chunked);
  EXPECT_EQ(entries.at(1).signature.verdict, SignatureVerdict::kValid);
  EXPECT_EQ(entries.at(2).signature.version, SignatureVersion::kNone);
}

TEST(JournalTest, StoresHeadersAndAmendKeepsThem) {
  Journal journal(1 << 20);
  Entry entry = Full();
  entry.request_headers = "Host: h\n";
  entry.response_headers = "Date: d\nServer: s\n";
  entry.headers_left_out = 3;
  journal.Append(entry, 0, 10);
  journal.Append(Keyed("next"));
  Entry amended = Full();
  amended.faults = "r1,r2,r3";
  journal.Amend(1, amended);
  const std::vector<JournalEntry> entries = journal.Read().Entries();
  EXPECT_EQ(entries.at(0).request_headers, "Host: h\n");
  EXPECT_EQ(entries.at(0).response_headers, "Date: d\nServer: s\n");
  EXPECT_EQ(entries.at(0).headers_left_out, 3U);
  EXPECT_EQ(entries.at(0).faults, "r1,r2,r3");
  EXPECT_EQ(entries.at(0).payload, "unsigned");
  EXPECT_EQ(entries.at(1).key, "next");
  EXPECT_EQ(entries.at(1).request_headers, "");
  EXPECT_EQ(entries.at(1).headers_left_out, 0U);
}

TEST(JournalTest, HeadersTakeMemoryOfTheJournal) {
  Journal journal(2 * Journal::kBlockBytes);
  const std::string most(Journal::kMostHeaderBytes, 'h');
  const std::string long_text(8000, 't');
  Entry entry = Keyed("k");
  entry.target = long_text;
  entry.request_headers = most;
  for (int i = 0; i < 100; ++i) journal.Append(entry);
  EXPECT_LE(journal.memory(), 2 * Journal::kBlockBytes);
  EXPECT_LT(journal.Read().size(), 10U);
  EXPECT_EQ(journal.Read().Entries().back().request_headers, most);
  entry.response_headers = "more";
  journal.Append(entry);
  EXPECT_EQ(journal.Read().Entries().back().request_headers, "") << "longer ones are not stored";
  EXPECT_EQ(journal.Read().Entries().back().target, long_text);
}

TEST(JournalTest, CapturesUntilATime) {
  Journal journal(1 << 20);
  const MonotonicTime now = MonotonicTime(milliseconds(1000));
  EXPECT_FALSE(journal.Captures(now));
  EXPECT_FALSE(journal.Captures(MonotonicTime::min()));
  journal.CaptureUntil(now);
  EXPECT_TRUE(journal.Captures(now - milliseconds(1)));
  EXPECT_FALSE(journal.Captures(now));
}

TEST(JournalTest, CutsLongTexts) {
  Journal journal(1 << 20);
  const std::string key(9'000, 'k');
  const std::string fits(7'000, 'f');
  journal.Append(Keyed(key));
  journal.Append(Keyed(fits));
  const std::vector<std::string> keys = Keys(journal.Read());
  EXPECT_EQ(keys[0].size(), 1'024U);
  EXPECT_EQ(keys[1], fits);
}

TEST(JournalTest, AwaitReturnsForNewEntriesAndOnStop) {
  Journal journal(1 << 20);
  const auto far = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  EXPECT_FALSE(journal.Await(0, std::chrono::steady_clock::now()));
  std::jthread writer([&] { journal.Append(Keyed("k")); });
  EXPECT_TRUE(journal.Await(0, far));
  writer.join();
  std::jthread stopper([&] { journal.Stop(); });
  EXPECT_FALSE(journal.Await(1, far));
}

TEST(JournalTest, ConcurrentWritersLoseNothing) {
  Journal journal(64 << 20);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&journal, t] {
        for (int i = 0; i < 2'000; ++i)
          journal.Append(Keyed(std::to_string(t) + "/" + std::to_string(i)));
      });
    }
    for (int i = 0; i < 50; ++i) Keys(journal.Read());
  }
  std::vector<int> next(4, 0);
  for (const std::string& key : Keys(journal.Read())) {
    const auto writer = static_cast<std::size_t>(key[0] - '0');
    EXPECT_EQ(key.substr(2), std::to_string(next[writer]++));
  }
  EXPECT_EQ(next, std::vector<int>(4, 2'000));
}

// The writers fill the memory of entries outside the journal's lock.
TEST(JournalTest, ReadingsHaveOnlyWholeEntriesWhileOthersAreWritten) {
  Journal journal(2 * Journal::kBlockBytes);
  std::atomic<bool> over = false;
  std::vector<std::jthread> threads;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    threads.emplace_back([&, letter] {
      const std::string key(700, letter);
      while (!over.load()) journal.Append(Keyed(key));
    });
  }
  threads.emplace_back([&] {
    const std::string key(700, 'z');
    while (!over.load()) {
      journal.Amend(journal.written(), Keyed(key));
      if (journal.written() % 97 == 0) journal.Clear(MonotonicTime());
    }
  });
  std::uint64_t last = 0;
  while (last < 50'000 && !HasFailure()) {
    const Reading reading = journal.ReadAfter(last);
    std::uint64_t number = reading.last() - reading.size();
    reading.ForEach([&](const Entry& entry) {
      ++number;
      EXPECT_EQ(entry.key, std::string(700, entry.key.empty() ? '-' : entry.key[0])) << number;
      return !HasFailure();
    });
    EXPECT_EQ(number, reading.last());
    last = reading.last();
  }
  over = true;
}

TEST(JournalTest, WaitForResponsesReturnsOnceResponsesBeingSentHaveEntries) {
  Journal journal(1 << 20);
  const std::uint64_t mark = journal.BeginLeaving();
  EXPECT_FALSE(journal.WaitForResponses(MonotonicTime::clock::now()))
      << "one response is being sent";
  journal.Append(Entry{.status = 200}, mark);
  EXPECT_TRUE(journal.WaitForResponses(MonotonicTime::clock::now()));
}

TEST(JournalTest, WaitForResponsesIgnoresResponsesThatBeganLater) {
  Journal journal(1 << 20);
  const std::uint64_t first = journal.BeginLeaving();
  std::thread waiting([&journal] { EXPECT_TRUE(journal.WaitForResponses(MonotonicTime::max())); });
  std::uint64_t later = journal.BeginLeaving();
  while (later == first) {  // Until the other thread has begun to wait.
    journal.Append(Entry{.status = 200}, later);
    later = journal.BeginLeaving();
  }
  journal.Append(Entry{.status = 200}, first);
  waiting.join();
  EXPECT_EQ(journal.Read().size() + journal.Read().dropped(), journal.written());
  journal.Append(Entry{.status = 200}, later);
}

TEST(JournalTest, ConcurrentWaitsSeeEveryResponseBeingSent) {
  // Regression: a response that began during a wait was counted in an epoch that the next
  // WaitForResponses ignored.
  Journal journal(1 << 20);
  std::atomic<bool> done{false};
  std::jthread waiting([&] {
    while (!done) journal.WaitForResponses(MonotonicTime::max());
  });
  for (int i = 0; i < 2'000; ++i) {
    // The client may have its response from here on.
    const std::uint64_t mark = journal.BeginLeaving();
    std::jthread writer([&] { journal.Append(Keyed("k"), mark); });
    EXPECT_TRUE(journal.WaitForResponses(MonotonicTime::max()));
    ASSERT_EQ(journal.written(), static_cast<std::uint64_t>(i) + 1);
  }
  done = true;
}

}  // namespace
}  // namespace penstock::emulator::journal
