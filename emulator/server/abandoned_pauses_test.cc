// Pauses during which the client closes the connection, over real sockets.
#include <chrono>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeout{10'000};

// Each action pauses for an hour.
const std::vector<std::string> kBeforeTheCommit{
    R"({"stall": {"ms": 3600000}, "at": "headers"})",
    R"({"stall": {"ms": 3600000}, "at": "body_in@5"})",
    R"({"stall": {"ms": 3600000}, "at": "before_commit"})",
    R"({"latency": {"ms": 3600000}, "at": "before_commit"})",
    R"({"expect_100": {"mode": "late", "ms": 3600000}})",
    R"({"drip": {"bytes": 4, "every_ms": 3600000}, "at": "body_in"})",
    R"({"bandwidth": {"bytes_per_second": 1}, "at": "body_in"})",
};
const std::vector<std::string> kInTheResponse{
    R"({"stall": {"ms": 3600000}, "at": "after_commit"})",
    R"({"stall": {"ms": 3600000}, "at": "status"})",
    R"({"stall": {"ms": 3600000}, "at": "body_out@5"})",
    R"({"stall": {"ms": 3600000}, "at": "trailer"})",
    R"({"latency": {"ms": 3600000}, "at": "after_commit"})",
    R"({"drip": {"bytes": 1, "every_ms": 3600000}})",
    R"({"late_error": {"after_ms": 3600000}})",
};
const std::vector<std::string> kBlackHoles{
    R"({"black_hole": {"ms": 3600000}, "at": "headers"})",
    R"({"black_hole": {"ms": 3600000}, "at": "before_commit"})",
    R"({"black_hole": {"ms": 3600000}, "at": "body_out@5"})",
};

class AbandonedPausesTest : public FaultsTest {
 protected:
  // Returns a rule per action, for requests whose key is the number of the rule.
  static std::string RulesOf(const std::vector<std::string>& actions) {
    std::string rules;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      rules += (i == 0 ? "[" : ",") +
               (R"({"when": {"key": ")" + std::to_string(i) + R"("}, "do": )" + actions[i] + "}");
    }
    return rules + "]";
  }
  static std::string Head(const std::string& method, const std::string& key, std::size_t length,
                          const std::string& headers) {
    return method + " /bucket/" + key + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
           "Content-Length: " + std::to_string(length) + "\r\n\r\n";
  }
  // Waits until `count` rules have fired. Returns false on a timeout.
  bool AwaitFired(std::uint64_t count) const {
    const auto until = std::chrono::steady_clock::now() + kTimeout;
    while (Fired() < count && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(1));
    return Fired() >= count;
  }
  // Returns the journal's entries after number `after`, when there are `count` or the time is over.
  std::vector<JournalEntry> AwaitEntries(std::uint64_t after, std::size_t count) const {
    const auto until = std::chrono::steady_clock::now() + kTimeout;
    std::uint64_t last = after;
    while (last < after + count && std::chrono::steady_clock::now() < until) {
      last = emulator_
                 ->AwaitJournal(
                     "default", last,
                     std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now()))
                 .value()
                 .last();
    }
    return emulator_->ReadJournal("default").value().Entries({.after = after});
  }
  // Returns whether the entry after number `after` becomes kBroken. An entry is written before the
  // last bytes of its response are sent.
  bool AwaitBroken(std::uint64_t after) const {
    const auto until = std::chrono::steady_clock::now() + kTimeout;
    while (std::chrono::steady_clock::now() < until) {
      const std::vector<JournalEntry> entries = AwaitEntries(after, 1);
      if (!entries.empty() && entries.front().ending == Ending::kBroken) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }
  std::uint64_t last_entry() const { return emulator_->ReadJournal("default").value().last(); }
  // Sends `request` and closes the connection once the rule has fired. Returns whether it has
  // fired.
  bool SendThenDisconnect(const std::string& request, std::uint64_t fired = 1) const {
    const Wire wire(emulator_->endpoint());
    wire.Send(request);
    return AwaitFired(fired);
  }
};

TEST_F(AbandonedPausesTest, DisconnectBeforeTheCommitEndsThePauseAndCommits) {
  Set(RulesOf(kBeforeTheCommit));
  const std::uint64_t before = last_entry();
  {
    std::list<Wire> clients;
    for (std::size_t i = 0; i < kBeforeTheCommit.size(); ++i) {
      const bool expects = kBeforeTheCommit[i].find("expect_100") != std::string::npos;
      clients.emplace_back(emulator_->endpoint())
          .Send(Head("PUT", std::to_string(i), 10, expects ? "Expect: 100-continue\r\n" : "") +
                "9876543210");
    }
    ASSERT_TRUE(AwaitFired(kBeforeTheCommit.size()));
  }
  EXPECT_EQ(AwaitEntries(before, kBeforeTheCommit.size()).size(), kBeforeTheCommit.size());
  ASSERT_TRUE(emulator_->ClearFaults("default").ok());
  for (std::size_t i = 0; i < kBeforeTheCommit.size(); ++i) {
    EXPECT_TRUE(
        SendRequest("GET", "/bucket/" + std::to_string(i)).text.ends_with("\r\n\r\n9876543210"))
        << kBeforeTheCommit[i];
  }
}

TEST_F(AbandonedPausesTest, DisconnectDuringTheResponseEndsThePause) {
  std::vector<std::string> actions = kInTheResponse;
  actions.insert(actions.end(), kBlackHoles.begin(), kBlackHoles.end());
  for (std::size_t i = 0; i < actions.size(); ++i)
    SendRequest("PUT", "/bucket/" + std::to_string(i), "0123456789");
  Set(RulesOf(actions));
  const std::uint64_t before = last_entry();
  {
    std::list<Wire> clients;
    for (std::size_t i = 0; i < actions.size(); ++i)
      clients.emplace_back(emulator_->endpoint()).Send(Head("GET", std::to_string(i), 0, ""));
    ASSERT_TRUE(AwaitFired(actions.size()));
  }
  const std::vector<JournalEntry> entries = AwaitEntries(before, actions.size());
  EXPECT_EQ(entries.size(), actions.size());
}

TEST_F(AbandonedPausesTest, AbandonedAttemptHasFailed) {
  for (const std::string at : {"headers", "before_commit", "after_commit", "body_out@5"}) {
    for (const std::string invocation : {"", "amz-sdk-invocation-id: one\r\n"}) {
      Set(R"([{"when": {"operation": "GetObject", "unless_failed": 1}, "do": {"stall": {"ms": 3600000}, "at": ")" +
          at + "\"}}]");
      const std::uint64_t before = last_entry();
      ASSERT_TRUE(SendThenDisconnect(Head("GET", "key", 0, invocation))) << at;
      const bool in_response = at == "after_commit" || at == "body_out@5";
      ASSERT_TRUE(in_response ? AwaitBroken(before) : AwaitEntries(before, 1).size() == 1) << at;
      EXPECT_TRUE(SendRequest("GET", "/bucket/key", {}, invocation).text.ends_with("0123456789"))
          << at << ' ' << invocation;
      EXPECT_EQ(Fired(), 1U) << at << ' ' << invocation;
    }
  }
}

TEST_F(AbandonedPausesTest, UndeliveredResponseIsBrokenInTheJournal) {
  SetAction(R"({"stall": {"ms": 3600000}, "at": "body_out@5"})");
  const std::uint64_t before = last_entry();
  ASSERT_TRUE(SendThenDisconnect(Head("GET", "key", 0, "")));
  EXPECT_TRUE(AwaitBroken(before));
}

// RFC 9112 section 9.6: a client can still read from a half-closed connection.
TEST_F(AbandonedPausesTest, HalfClosedClientGetsItsWholeResponse) {
  SendRequest("PUT", "/bucket/key", std::string(300, 'x'));
  for (const std::string action : {R"({"stall": {"ms": 3600000}, "at": "before_commit"})",
                                   R"({"stall": {"ms": 3600000}, "at": "body_out@5"})",
                                   R"({"drip": {"bytes": 1, "every_ms": 3600000}})"}) {
    SetAction(action);
    const Wire wire(emulator_->endpoint());
    wire.Send(Head("GET", "key", 0, "Connection: close\r\n"));
    wire.EndSending();
    const std::string response = wire.Finish().text;
    EXPECT_TRUE(response.ends_with("\r\n\r\n" + std::string(300, 'x'))) << action << '\n'
                                                                        << response;
    EXPECT_EQ(Fired(), 1U);
  }
}

}  // namespace
}  // namespace penstock::emulator::server
