// Clients work while faults, limits, clocks, journals, retry tests and namespaces change.
//
// For sanitizers, and for these claims: responses are well-formed or interrupted, stored objects
// are read unchanged, fault counters and journal agree with the requests, and shutdown takes
// bounded time. PENSTOCK_LONG=1 makes the test ten times as long.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "emulator/server/response_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

using std::string;
using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kClients = 8;
constexpr std::array<const char*, 2> kSpaces{"left", "right"};
constexpr std::array<std::size_t, 3> kSizes{1'000, 40'000, 300'000};
constexpr seconds kHangs{9};  // less than the read timeout of a Wire

int Rounds() { return std::getenv("PENSTOCK_LONG") != nullptr ? 300 : 30; }

// Lines with namespace, key and offset, so that bytes of another object or position are detected.
string ContentOf(const string& space, std::size_t key) {
  string text;
  while (text.size() < kSizes[key])
    text += space + " key-" + std::to_string(key) + " at " + std::to_string(text.size()) + "\n";
  return text.substr(0, kSizes[key]);
}

// Whether this test explains the error.
bool IsExpected(const ParsedResponse& response) {
  static const std::set<string> codes{
      "SlowDown",     "NoSuchBucket",       "NoSuchKey",
      "NoSuchUpload", "InvalidPart",        "RequestTimeTooSkewed",
      "OnPurpose",    "InvalidAccessKeyId", "BucketAlreadyOwnedByYou"};
  // Deleted by a reset of the namespace.
  const bool retry_test_is_gone = response.Element("ArgumentName") == "x-penstock-retry-test";
  return codes.contains(response.Element("Code")) || retry_test_is_gone;
}

// Faults of every kind that the clients can distinguish from a bug of the emulator.
const char* const kEverything = R"([
  {"id": "slow", "when": {"probability": 0.05}, "do": {"slow_down": {}}},
  {"id": "latency", "when": {"probability": 0.2}, "do": {"latency": {"ms": 2}}},
  {"id": "stall", "when": {"operation": "GetObject", "probability": 0.2}, "do": {"stall": {"ms": 3}, "at": "body_out@100"}},
  {"id": "paced", "when": {"operation": "GetObject", "probability": 0.2},
   "do": {"bandwidth": {"bytes_per_second": 20000000, "scope": "connection"}}},
  {"id": "flip", "when": {"operation": "GetObject", "probability": 0.1}, "do": {"corrupt": {}, "at": "body_out@7"}},
  {"id": "reset", "when": {"operation": "GetObject", "probability": 0.1}, "do": {"reset": {}, "at": "body_out@2000"}},
  {"id": "short", "when": {"operation": "GetObject", "probability": 0.1}, "do": {"truncate": {}, "at": "body_out@500"}},
  {"id": "silent", "when": {"operation": "@list", "probability": 0.2}, "do": {"black_hole": {"ms": 3}, "at": "status"}},
  {"id": "unread", "when": {"operation": "PutObject", "probability": 0.1}, "do": {"reset": {}, "at": "body_in@900"}},
  {"id": "dripped", "when": {"operation": "PutObject", "probability": 0.1}, "do": {"stall": {"ms": 2}, "at": "before_commit"}},
  {"id": "lost", "when": {"operation": "PutObject", "probability": 0.1}, "do": {"error": {"code": "OnPurpose"}, "at": "after_commit"}},
  {"id": "late", "when": {"operation": "CompleteMultipartUpload", "probability": 0.3},
   "do": {"late_error": {"code": "OnPurpose", "after_ms": 2, "every_ms": 1}}}
])";
// Set one after the other.
const char* const kScenarios[] = {
    kEverything,
    R"([{"do": {"slow_down": {}}, "when": {"nth": "every 2"}, "limit": {"times": 5, "per": "client"}}])",
    R"({"seed": 3, "rules": [
      {"do": {"black_hole": {"ms": 5}, "at": "before_commit"}, "when": {"nth": "every 5"}, "limit": {"times": 3}}]})",
    R"([{"do": {"drip": {"bytes": 20000, "every_ms": 1}}, "when": {"operation": "GetObject"},
         "limit": {"budget": {"most": 2, "of": 10}}}])",
    R"([{"do": [{"stall": {"ms": 2}, "at": "status"}, {"fin": {}, "at": "close"}], "when": {"after": {"bytes": 1000}},
         "limit": {"ttl_s": 5}}])",
};
// Connection rules, for the default namespace.
const char* const kAtAccept[] = {
    R"([{"do": {"reset": {}, "at": "accept"}, "when": {"nth": "every 7"}}])",
    R"([{"do": {"goaway": {"requests": 2}}}])",
    R"([{"do": {"connection_limit": {"most": 6}}}])",
};
const char* const kLimits[] = {
    "aws-strict",
    R"({"reads_per_second": 500, "writes_per_second": 300, "latency": {"first_byte_ms": 1}})",
    R"({"preset": "aws-strict", "split_after_s": 1, "merge_after_s": 2, "retry_after_ms": 5})",
    "{}"};

class AllTogetherTest : public testing::Test {
 protected:
  AllTogetherTest() : emulator_(Emulator::Start({.journal_bytes = 1 << 20}).value()) {
    for (std::size_t i = 0; i < kSpaces.size(); ++i)
      keys_[i] = emulator_->CreateNamespace(kSpaces[i]).value();
  }

  // Fails the test, from any thread. Reports at most ten messages.
  void Mistake(const string& text) {
    if (mistakes_.fetch_add(1) < 10) ADD_FAILURE() << text;
  }

  // One client with a persistent connection.
  class Client {
   public:
    Client(AllTogetherTest& test, const string& space, const AccessKey& key)
        : test_(test), space_(space), key_(key) {
      for (std::size_t i = 0; i < kSizes.size(); ++i) contents_.push_back(ContentOf(space, i));
    }
    std::uint64_t asked() const { return asked_; }

    // Returns nullopt if the connection ended before the response did.
    std::optional<ParsedResponse> SendRequest(const string& method, const string& target,
                                              const string& body = {}, const string& headers = {}) {
      string text = SignedText(test_.endpoint_, {.method = method,
                                                 .target = target,
                                                 .body = body,
                                                 .access_key = key_.id,
                                                 .secret = key_.secret,
                                                 .more_headers = headers});
      const string closing = "Connection: close\r\n";
      text.erase(text.find(closing), closing.size());
      if (!wire_) wire_ = std::make_unique<Wire>(test_.endpoint_);
      const auto began = Time::now();
      wire_->Send(text);
      ++asked_;
      ParsedResponse response = ResponseReader(*wire_).Read();
      test_.asked_.fetch_add(1);
      test_.asked_.notify_all();
      if (Time::now() - began > kHangs)
        test_.Mistake(method + " " + target + " got nothing for long");
      if (!response.mistake.empty()) test_.Mistake(method + " " + target + ": " + response.mistake);
      if (!response.whole || response.Header("Connection") == "close") wire_.reset();
      if (!response.whole) return std::nullopt;
      const bool refused = response.status >= 300 || !response.Element("Code").empty();
      if (refused && !IsExpected(response))
        test_.Mistake(method + " " + target + ": " + std::to_string(response.status) + " " +
                      response.body);
      if (response.Element("Code") == "NoSuchBucket")
        SendRequest("PUT", "/bucket");  // after a reset
      (refused ? test_.refused_ : test_.served_).fetch_add(1);
      if (refused) return std::nullopt;
      return response;
    }

    void Put(std::size_t key) {
      SendRequest("PUT", "/bucket/key-" + std::to_string(key), contents_[key]);
    }
    void Get(std::size_t key, std::size_t begin = 0, std::size_t end = string::npos) {
      end = std::min(end, kSizes[key]);
      const bool ranged = begin > 0 || end < kSizes[key];
      const auto response = SendRequest(
          "GET", "/bucket/key-" + std::to_string(key), {},
          ranged ? "Range: bytes=" + std::to_string(begin) + "-" + std::to_string(end - 1) + "\r\n"
                 : "");
      if (!response) return;
      if (response->status != (ranged ? 206 : 200))
        test_.Mistake("a read was answered " + std::to_string(response->status));
      CheckBytes(response->body, contents_[key].substr(begin, end - begin));
    }
    void List() {
      const auto response = SendRequest("GET", "/bucket?list-type=2&prefix=key");
      if (response && !response->body.ends_with("</ListBucketResult>"))
        test_.Mistake("a listing: " + response->body);
    }
    void Upload(std::size_t key) {
      const string target = "/bucket/key-" + std::to_string(key);
      const auto begun = SendRequest("POST", target + "?uploads=");
      if (!begun) return;
      const string upload = begun->Element("UploadId");
      const auto part =
          SendRequest("PUT", target + "?partNumber=1&uploadId=" + upload, contents_[key]);
      if (!part) {
        SendRequest("DELETE", target + "?uploadId=" + upload);
        return;
      }
      SendRequest("POST", target + "?uploadId=" + upload,
                  "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                      part->Header("ETag") + "</ETag></Part></CompleteMultipartUpload>");
    }
    void Round(std::size_t round) {
      const std::size_t key = round % kSizes.size();
      Put(key);
      Get(key);
      Get((key + 1) % kSizes.size(), 100 + round, 900);
      List();
      if (round % 3 == 0) Upload(key);
    }

   private:
    // One byte may differ because of the fault "flip".
    void CheckBytes(const string& body, const string& expected) {
      std::size_t wrong = body.size() == expected.size() ? 0 : 2;
      for (std::size_t i = 0; wrong == 0 && i < body.size(); ++i) {
        if (body[i] == expected[i]) continue;
        wrong = body.compare(i + 1, string::npos, expected, i + 1, string::npos) == 0 ? 1 : 2;
        break;
      }
      if (wrong > 1) test_.Mistake(space_ + " reads what it did not store: " + body.substr(0, 60));
    }

    AllTogetherTest& test_;
    const string space_;
    const AccessKey key_;
    std::vector<string> contents_;
    std::unique_ptr<Wire> wire_;
    std::uint64_t asked_ = 0;
  };

  // Calls `work` until `done`, each time after a client has sent another request, or at once while
  // `hurry_` is set.
  void Turns(const std::function<void(std::size_t turn)>& work) {
    for (std::size_t turn = 0; !done_; ++turn) {
      const std::uint64_t seen = asked_.load();
      work(turn);
      if (!hurry_ && !done_) asked_.wait(seen);
    }
  }
  void CheckAccount(const string& json, bool quiet) {
    const auto account = nlohmann::json::parse(json);
    std::uint64_t sum = 0;
    for (const auto& rule : account.at("rules")) {
      const std::uint64_t matched = rule.at("matched"), fired = rule.at("fired"),
                          under_way = rule.at("under_way");
      sum += fired;
      const bool more_than_asked = quiet && matched > account.at("requests");
      if (fired + under_way > matched || more_than_asked || (quiet && under_way > 0))
        Mistake("account: " + json);
    }
    if (account.at("fired") != sum) Mistake("account: " + json);
  }

  void ChangeFaults(std::size_t turn) {
    const string space = kSpaces[turn % 2];
    const std::size_t which = turn / 2 % (std::size(kScenarios) + 1);
    const auto changed = which < std::size(kScenarios)
                             ? emulator_->SetFaults(space, kScenarios[which])
                             : emulator_->ClearFaults(space);
    if (!changed.ok() && !hurry_) Mistake(changed.error().message);
    if (const auto account = emulator_->FaultAccount(space); account.ok())
      CheckAccount(*account, /*quiet=*/false);
    const std::size_t at_accept = turn % (std::size(kAtAccept) * 8);
    const auto fault = at_accept < std::size(kAtAccept)
                           ? emulator_->SetFaults("default", kAtAccept[at_accept])
                           : emulator_->ClearFaults("default");
    if (!fault.ok() && !hurry_) Mistake(fault.error().message);
  }
  void ChangeLimitsAndClocks(std::size_t turn) {
    const string space = kSpaces[turn % 2];
    const auto set = emulator_->SetLimits(space, kLimits[turn / 2 % std::size(kLimits)]);
    if (!set.ok() && !hurry_) Mistake(set.error().message);
    if (const auto report = emulator_->LimitsReport(space); report.ok()) {
      if (!nlohmann::json::parse(*report).is_object()) Mistake(*report);
    }
    switch (turn % 5) {
      case 0: (void)emulator_->ChangeClock(space, {.advance = seconds(20)}); break;
      case 1: (void)emulator_->ChangeClock(space, {.rate = 50}); break;
      case 2: (void)emulator_->ChangeClock(space, {.frozen = true}); break;
      default: (void)emulator_->RestoreClock(space); break;
    }
  }
  void UseJournal(std::size_t turn) {
    const string space = kSpaces[turn % 2];
    const auto reading = emulator_->ReadJournal(space);
    if (!reading.ok()) return;
    if (hurry_ || turn % 3 == 0)
      (void)emulator_->AwaitJournal(space, reading->last(),
                                    hurry_ ? seconds(3600) : milliseconds(20));
    std::uint64_t last = 0;
    reading->ForEach([&](const JournalEntryView& entry) {
      const bool wrong = entry.number <= last || entry.ended < entry.began || entry.method.empty();
      if (wrong) Mistake("journal: entry " + std::to_string(entry.number));
      last = entry.number;
      return true;
    });
    if (turn % 4 == 0 && reading->MaxConcurrency({.status = 2}) > kClients + 4)
      Mistake("more requests under way than clients");
    if (turn % 16 == 5) (void)emulator_->ClearJournal(space);
  }
  // Creates, uses and deletes a retry test while other threads reset its namespace.
  void UseRetryTest(Client& client, std::size_t turn) {
    const string space = kSpaces[0];
    const auto test = emulator_->CreateRetryTest(
        space, R"({"ListBuckets": ["slow_down", {"reset": {}, "at": "after_commit"}]})");
    if (!test.ok()) return;
    for (int i = 0; i < 3; ++i)
      (void)client.SendRequest("GET", "/", {}, "x-penstock-retry-test: " + *test + "\r\n");
    if (const auto account = emulator_->RetryTestAccount(space, *test); account.ok())
      CheckAccount(*account, /*quiet=*/false);
    if (turn % 8 != 0) (void)emulator_->DeleteRetryTest(space, *test);
    (void)emulator_->RetryTests(space);
  }
  void ChangeSpaces(std::size_t turn) {
    if (const auto key = emulator_->CreateNamespace("passing"); key.ok()) {
      Client client(*this, "passing", *key);
      if (!hurry_) client.Round(turn);
      const auto deleted = emulator_->DeleteNamespace("passing");
      if (!deleted.ok() && !hurry_) Mistake(deleted.error().message);
    }
    if (hurry_ || turn % 4 == 3) (void)emulator_->ResetNamespace(kSpaces[turn / 4 % 2]);
    (void)emulator_->Namespaces();
    (void)emulator_->stats();
  }
  // Starts everything that changes the emulator, until done_.
  std::vector<std::jthread> StartChanges() {
    std::vector<std::jthread> threads;
    threads.emplace_back([this] { Turns([this](std::size_t turn) { ChangeFaults(turn); }); });
    threads.emplace_back(
        [this] { Turns([this](std::size_t turn) { ChangeLimitsAndClocks(turn); }); });
    threads.emplace_back([this] { Turns([this](std::size_t turn) { UseJournal(turn); }); });
    threads.emplace_back([this] { Turns([this](std::size_t turn) { ChangeSpaces(turn); }); });
    threads.emplace_back([this] {
      Client client(*this, kSpaces[0], keys_[0]);
      Turns([&](std::size_t turn) { UseRetryTest(client, turn); });
    });
    return threads;
  }
  void End(std::vector<std::jthread>& changes) {
    done_ = true;
    asked_.fetch_add(1);
    asked_.notify_all();
    changes.clear();
  }
  // Runs the clients. Returns the number of requests per namespace.
  std::array<std::uint64_t, 2> RunClients(const std::function<void(Client&)>& work) {
    std::array<std::atomic<std::uint64_t>, 2> asked{};
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < kClients; ++i) {
        threads.emplace_back([this, i, &work, &asked] {
          Client client(*this, kSpaces[i % 2], keys_[i % 2]);
          work(client);
          asked[i % 2] += client.asked();
        });
      }
    }
    return {asked[0], asked[1]};
  }
  // Returns the counters once no request is in progress, or after 10 s.
  string QuietAccount(const string& space) {
    const auto until = Time::now() + seconds(10);
    for (;;) {
      string json = emulator_->FaultAccount(space).value();
      std::uint64_t under_way = 0;
      const auto account = nlohmann::json::parse(json);
      for (const auto& rule : account.at("rules"))
        under_way += rule.at("under_way").get<std::uint64_t>();
      if (under_way == 0 || Time::now() > until) return json;
      std::this_thread::yield();
    }
  }
  void RunRounds() {
    RunClients([](Client& client) {
      for (int round = 0; round < Rounds(); ++round) client.Round(static_cast<std::size_t>(round));
    });
  }

  const std::unique_ptr<Emulator> emulator_;
  const string endpoint_ = emulator_->endpoint();
  std::array<AccessKey, 2> keys_;
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<std::uint64_t> served_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<int> mistakes_{0};
  std::atomic<bool> hurry_{false};
  std::atomic<bool> done_{false};
};

TEST_F(AllTogetherTest, ResponsesAreWellFormedAndObjectsUnchanged) {
  auto changes = StartChanges();
  RunRounds();
  End(changes);
  EXPECT_EQ(mistakes_, 0);
  EXPECT_GT(served_, kClients * 20);
  EXPECT_GT(refused_, kClients);
}

TEST_F(AllTogetherTest, CountersAndJournalsAgreeWithTheRequests) {
  auto changes = StartChanges();
  RunClients([](Client& client) { client.Round(0); });
  End(changes);
  ASSERT_TRUE(emulator_->Reset().ok());
  for (const string space : kSpaces) ASSERT_TRUE(emulator_->SetFaults(space, kEverything).ok());
  const auto asked = RunClients([](Client& client) {
    for (std::size_t round = 0; round < 30; ++round) client.Round(round);
  });
  for (std::size_t i = 0; i < kSpaces.size(); ++i) {
    // A client whose connection was cut may be ahead of the emulator's counters.
    ASSERT_TRUE(emulator_->AwaitJournal(kSpaces[i], asked[i] - 1, seconds(10)).ok());
    const JournalReading journal = emulator_->ReadJournal(kSpaces[i]).value();
    const string json = QuietAccount(kSpaces[i]);
    const auto account = nlohmann::json::parse(json);
    CheckAccount(json, /*quiet=*/true);
    EXPECT_EQ(account.at("requests"), asked[i]);
    EXPECT_EQ(journal.last(), asked[i]);
    EXPECT_GT(account.at("fired"), asked[i] / 10);
    std::uint64_t named = 0;  // faults named in the entries
    journal.ForEach([&](const JournalEntryView& entry) {
      if (!entry.faults.empty())
        named += 1 + static_cast<std::uint64_t>(
                         std::count(entry.faults.begin(), entry.faults.end(), ','));
      return true;
    });
    EXPECT_EQ(journal.dropped(), 0U);
    EXPECT_EQ(named, account.at("fired"));
  }
  EXPECT_EQ(mistakes_, 0);
}

TEST_F(AllTogetherTest, StopEndsRequestsInBoundedTime) {
  auto changes = StartChanges();
  std::jthread clients([this] {
    RunClients([this](Client& client) {
      for (std::size_t round = 0; !done_; ++round) client.Round(round);
    });
  });
  for (std::uint64_t seen = asked_; seen < kClients * 20; seen = asked_) asked_.wait(seen);
  hurry_ = true;  // changes and journal readers do not pause
  const auto began = Time::now();
  emulator_->Stop();
  EXPECT_LT(Time::now() - began, seconds(10));
  End(changes);
  clients.join();
  EXPECT_FALSE(emulator_->ReadJournal("default").ok());
}

}  // namespace
}  // namespace penstock::emulator::server
