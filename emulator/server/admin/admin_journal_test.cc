#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

using nlohmann::json;

class AdminJournalTest : public testing::Test {
 protected:
  explicit AdminJournalTest(EmulatorOptions options = {})
      : emulator_(Emulator::Start(std::move(options)).value()) {}

  HttpResponse SendRequest(const std::string& method, const std::string& path,
                           const std::string& body = "") {
    return Exchange(emulator_->admin_endpoint(),
                    method + " /_penstock/" + path +
                        " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  static std::string Body(const HttpResponse& response) {
    return response.text.substr(response.text.find("\r\n\r\n") + 4);
  }
  json Get(const std::string& path) { return json::parse(Body(SendRequest("GET", path))); }
  json Query(const std::string& question) {
    return json::parse(Body(SendRequest("POST", "journal-query", question)));
  }
  int Put(const std::string& target, const std::string& body = "") {
    return Send(emulator_->endpoint(), {.method = "PUT", .target = target, .body = body}).status;
  }
  // Creates the bucket "bucket" with "a/1" and "b/2" of five bytes each, in three requests.
  void Fill() {
    ASSERT_EQ(Put("/bucket"), 200);
    ASSERT_EQ(Put("/bucket/a/1", "hello"), 200);
    ASSERT_EQ(Put("/bucket/b/2", "there"), 200);
  }

  const std::unique_ptr<Emulator> emulator_;
};

TEST_F(AdminJournalTest, EntryExistsWhenTheClientHasTheResponse) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Plain(emulator_->endpoint(), "GET", "/bucket/k").status, 404);
    ASSERT_EQ(emulator_->ReadJournal("default").value().size(), static_cast<std::uint64_t>(i) + 1);
  }
}

TEST_F(AdminJournalTest, GenerationShowsAReset) {
  Fill();
  const json before = Get("journal-tail?after=0&wait_ms=0");
  const std::string generation = before.value("generation", json()).dump();
  EXPECT_EQ(Get("journal").value("generation", json()).dump(), generation);
  EXPECT_EQ(Query(R"({"question": "count"})").value("generation", json()).dump(), generation);
  ASSERT_TRUE(emulator_->ClearJournal("default").ok());
  EXPECT_EQ(Get("journal").value("generation", json()).dump(), generation)
      << "numbering must continue";
  ASSERT_TRUE(emulator_->Reset().ok());
  Fill();
  Fill();  // more entries than before the reset
  const json without = Get("journal-tail?after=3&wait_ms=0");
  EXPECT_NE(without.value("generation", json()).dump(), generation);
  EXPECT_EQ(without.at("entries").size(), 3u);
  const json with = Get("journal-tail?after=3&wait_ms=0&generation=" + generation);
  EXPECT_EQ(with.value("entries", json::array()).size(), 6u) << with;
  EXPECT_EQ(with.value("generation", json()), without.value("generation", json()));
}

TEST_F(AdminJournalTest, ParametersSelectEntries) {
  Fill();
  const json all = Get("journal");
  EXPECT_EQ(all.at("size"), 3);
  EXPECT_EQ(all.at("last"), 3);
  EXPECT_EQ(all.at("dropped"), 0);
  ASSERT_EQ(all.at("entries").size(), 3u);
  const json& put = all.at("entries")[1];
  EXPECT_EQ(put.at("operation"), "PutObject");
  EXPECT_EQ(put.at("target"), "/bucket/a/1");
  EXPECT_EQ(put.at("bucket"), "bucket");
  EXPECT_EQ(put.at("key"), "a/1");
  EXPECT_EQ(put.at("bytes_in"), 5);
  EXPECT_EQ(put.at("status"), 200);
  EXPECT_EQ(put.at("access_key"), "penstock");
  EXPECT_EQ(put.at("payload"), "signed");
  EXPECT_EQ(put.at("ending"), "answered");
  EXPECT_EQ(Get("journal?operations=PutObject,GetObject").at("entries").size(), 2u);
  EXPECT_EQ(Get("journal/default?key=b%2F2&status=2").at("entries").size(), 1u);
  EXPECT_EQ(Get("journal?key_prefix=a/&method=GET").at("entries").size(), 0u);
  EXPECT_EQ(Get("journal?retried=true").at("entries").size(), 0u);
  EXPECT_EQ(Get("journal?after=2").at("entries")[0].at("number"), 3);
  EXPECT_EQ(Get("journal?limit=1").at("entries")[0].at("number"), 1);
  EXPECT_EQ(Get("journal?newest=1").at("entries")[0].at("number"), 3);
}

TEST_F(AdminJournalTest, WaitsForEntriesDelayNoOtherRequest) {
  constexpr int kTails = 64;
  std::vector<std::unique_ptr<Wire>> tails;
  for (int i = 0; i < kTails; ++i) {
    tails.push_back(std::make_unique<Wire>(emulator_->admin_endpoint()));
    tails.back()->Send(
        "GET /_penstock/journal-tail?after=0&wait_ms=30000 HTTP/1.1\r\nHost: "
        "localhost\r\nConnection: close\r\n\r\n");
  }
  EXPECT_EQ(SendRequest("GET", "health").status, 200);
  EXPECT_EQ(SendRequest("GET", "stats").status, 200);
  // When one more request is refused, all places are taken.
  HttpResponse further;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (further.status != 503 && std::chrono::steady_clock::now() < end)
    further = SendRequest("GET", "journal-tail?wait_ms=0");
  EXPECT_EQ(further.status, 503);
  EXPECT_NE(further.text.find("Retry-After: 1\r\n"), std::string::npos) << further.text;
  ASSERT_EQ(Put("/bucket"), 200);
  int waited = 0;
  for (const auto& tail : tails) {
    const HttpResponse response = tail->Finish();
    EXPECT_TRUE(response.status == 200 || response.status == 503) << response.text;
    waited += response.status == 200 ? 1 : 0;
  }
  EXPECT_GE(waited, 24);
  EXPECT_EQ(Get("journal-tail?after=0").at("entries").size(), 1u)
      << "the places must be free again";
}

// Regression: each place stayed taken until the end of wait_ms.
TEST_F(AdminJournalTest, AClientThatLeavesFreesItsPlace) {
  constexpr std::size_t kPlaces = 24;
  std::vector<std::unique_ptr<Wire>> tails;
  const auto add_tail = [&] {
    tails.push_back(std::make_unique<Wire>(emulator_->admin_endpoint()));
    tails.back()->Send(
        "GET /_penstock/journal-tail?wait_ms=60000 HTTP/1.1\r\nHost: localhost\r\n"
        "Connection: close\r\n\r\n");
  };
  const auto status_becomes = [&](int wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < end) {
      if (SendRequest("GET", "journal-tail?wait_ms=0").status == wanted) return true;
    }
    return false;
  };
  while (tails.size() < kPlaces) add_tail();
  // A request of status_becomes may have taken the place of a tail, which was then refused.
  bool full = status_becomes(503);
  for (; !full && tails.size() < 2 * kPlaces; full = status_becomes(503)) add_tail();
  ASSERT_TRUE(full) << "all places are taken";
  int left = 503;
  for (std::size_t i = 0; left == 503 && i < tails.size(); ++i) {
    tails[i]->EndSending();
    left = tails[i]->Finish().status;
  }
  EXPECT_EQ(left, 200);
  EXPECT_TRUE(status_becomes(200)) << "a place is free";
  tails.clear();
}

TEST_F(AdminJournalTest, LargeJournalIsTheSameInEveryFormat) {
  const std::string key(800, 'k');
  constexpr int kConnections = 15;
  constexpr int kRequests = 100 * kConnections;  // more than 1 MiB of JSON
  for (int i = 0; i < kConnections; ++i) {
    const Wire wire(emulator_->endpoint());
    for (int j = 0; j < 99; ++j) wire.Send("GET /bucket/" + key + " HTTP/1.1\r\nHost: h\r\n\r\n");
    wire.Send("GET /bucket/last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    wire.Finish();
  }
  const JournalReading reading = emulator_->ReadJournal("default").value();
  ASSERT_EQ(reading.size(), static_cast<std::uint64_t>(kRequests));
  EXPECT_EQ(Body(SendRequest("GET", "journal")),
            reading.QueryJson(R"({"question": "entries"})").value() + "\n");
  EXPECT_EQ(Body(SendRequest("POST", "journal-query", R"({"question": "entries"})")),
            Body(SendRequest("GET", "journal")));
  EXPECT_EQ(Body(SendRequest("GET", "journal?format=jsonl")), reading.JsonLines());
  EXPECT_EQ(Body(SendRequest("GET", "journal?format=har")), reading.Har(emulator_->endpoint()));
  EXPECT_EQ(Get("journal-tail?after=0").at("entries").size(), static_cast<std::size_t>(kRequests));
  const std::string head = SendRequest("HEAD", "journal").text;
  EXPECT_NE(head.find("Content-Length: " +
                      std::to_string(Body(SendRequest("GET", "journal")).size()) + "\r\n"),
            std::string::npos)
      << head;
}

TEST_F(AdminJournalTest, NamesInvalidParameters) {
  const auto refused = [this](const std::string& path, const std::string& word) {
    const auto response = SendRequest("GET", path);
    EXPECT_EQ(response.status, 400) << path;
    EXPECT_NE(response.text.find(word), std::string::npos) << response.text;
  };
  refused("journal?operation=GetObject", "operation");
  refused("journal?status=many", "status");
  refused("journal?retried=maybe", "retried");
  refused("journal?after=-1", "after");
  refused("journal?bucket=a&bucket=b", "bucket");
  refused("journal?format=xml", "format");
  refused("journal?format=har&limit=1", "format");
  refused("journal?limit=1&newest=1", "newest");
  refused("journal-tail?wait_ms=60001", "wait_ms");
  EXPECT_EQ(SendRequest("GET", "journal/nobody").status, 404);
  EXPECT_EQ(SendRequest("POST", "journal-query", "{}").status, 400);
  EXPECT_EQ(SendRequest("POST", "journal-query/nobody", R"({"question": "count"})").status, 404);
}

TEST_F(AdminJournalTest, ExportsLinesAndHar) {
  Fill();
  std::istringstream lines(Body(SendRequest("GET", "journal?format=jsonl&operations=PutObject")));
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count)
    EXPECT_EQ(json::parse(line).at("operation"), "PutObject");
  EXPECT_EQ(count, 2);
  const json log = Get("journal?format=har").at("log");
  EXPECT_EQ(log.at("entries").size(), 3u);
  EXPECT_EQ(log.at("entries")[0].at("request").at("url"), emulator_->endpoint() + "/bucket");
}

TEST_F(AdminJournalTest, CapturesHeadersWithoutSecrets) {
  EXPECT_EQ(Get("journal-capture"), json({{"until", nullptr}}));
  const json capture =
      json::parse(Body(SendRequest("POST", "journal-capture/default", R"({"seconds": 60})")));
  EXPECT_TRUE(capture.at("until").is_string());
  EXPECT_TRUE(Get("journal-capture").at("until").is_string());
  const HttpResponse response = Send(
      emulator_->endpoint(), {.method = "PUT",
                              .target = "/bucket",
                              .more_headers = "X-Twice: b\r\nX-Twice: a\r\nCookie: hidden\r\n"});
  ASSERT_EQ(response.status, 200);
  EXPECT_EQ(json::parse(Body(SendRequest("POST", "journal-capture", R"({"seconds": 0})"))),
            json({{"until", nullptr}}));
  ASSERT_EQ(Put("/bucket/key", "text"), 200);
  const json entries = Get("journal").at("entries");
  const json& captured = entries.at(0);
  const json& request = captured.at("request_headers");
  EXPECT_EQ(request.at(0).at(0), "Host");
  const std::string text = request.dump();
  EXPECT_NE(text.find(R"(["X-Twice","b"],["X-Twice","a"],["Cookie","***"])"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Signature=***"), std::string::npos) << text;
  EXPECT_NE(text.find("Credential=penstock/"), std::string::npos) << text;
  // The headers of the response are those that the client has received.
  std::string received;
  for (const json& header : captured.at("response_headers"))
    received += header.at(0).get<std::string>() + ": " + header.at(1).get<std::string>() + "\r\n";
  EXPECT_EQ(received,
            response.text.substr(response.text.find("\r\n") + 2,
                                 response.text.find("\r\n\r\n") - response.text.find("\r\n")));
  EXPECT_EQ(captured.at("signature"), json({{"version", "v4"}, {"verdict", "valid"}}));
  EXPECT_FALSE(entries.at(1).contains("request_headers")) << "the capture had ended";
  EXPECT_EQ(SendRequest("GET", "journal?format=har").text.find("hidden"), std::string::npos);
}

TEST_F(AdminJournalTest, NamesInvalidCaptures) {
  const auto refused = [&](const std::string& body) {
    const HttpResponse response = SendRequest("POST", "journal-capture", body);
    EXPECT_EQ(response.status, 400) << body;
    return json::parse(Body(response)).at("error").get<std::string>();
  };
  EXPECT_EQ(refused(R"({"seconds": 3601})"),
            "seconds: must be 0, which ends a capture, to 3600, not 3601");
  EXPECT_EQ(refused("{}"), "seconds: is missing: give 1 to 3600, or 0 to end a capture");
  EXPECT_NE(refused(R"({"second": 1})").find("second"), std::string::npos);
  EXPECT_NE(refused(R"({"seconds": -1})").find("seconds"), std::string::npos);
  EXPECT_EQ(SendRequest("POST", "journal-capture/nobody", R"({"seconds": 1})").status, 404);
}

TEST_F(AdminJournalTest, AResetEndsACapture) {
  ASSERT_TRUE(emulator_->CaptureHeaders("default", std::chrono::seconds(60)).value());
  ASSERT_TRUE(emulator_->Reset().ok());
  EXPECT_FALSE(emulator_->HeaderCapture("default").value());
}

TEST_F(AdminJournalTest, ReturnsResultsOfQuestions) {
  Fill();
  ASSERT_EQ(
      Send(emulator_->endpoint(), {.target = "/bucket/a/1", .more_headers = "Range: bytes=1-2\r\n"})
          .status,
      206);
  EXPECT_EQ(Query(R"({"question": "count", "filter": {"method": "PUT"}})").at("count"), 3);
  const json report = Query(
      R"({"question": "ranges", "filter": {"bucket": "bucket", "key": "a/1"}, "wanted": [[0, 2]]})");
  EXPECT_EQ(report.at("covered"), json::parse("[[1, 3]]"));
  EXPECT_EQ(report.at("missing"), json::parse("[[0, 1]]"));
  EXPECT_EQ(report.at("over_read_bytes"), 1);
  EXPECT_EQ(
      Query(R"({"question": "in_order", "filter": {"method": "PUT"}, "then": {"method": "GET"}})")
          .at("in_order"),
      true);
}

TEST_F(AdminJournalTest, TailWaitsForTheNextSelectedEntry) {
  Fill();
  EXPECT_EQ(Get("journal-tail?after=1&wait_ms=0").at("entries").size(), 2u);
  EXPECT_EQ(Get("journal-tail?wait_ms=0").at("entries").size(), 0u)
      << "without a number it must begin now";
  json tail;
  std::jthread waiting([&] { tail = Get("journal-tail?after=3&key=wanted&wait_ms=60000"); });
  EXPECT_EQ(Put("/bucket/other"), 200);
  EXPECT_EQ(Put("/bucket/wanted"), 200);
  waiting.join();
  ASSERT_EQ(tail.at("entries").size(), 1u);
  EXPECT_EQ(tail.at("entries")[0].at("key"), "wanted");
  EXPECT_EQ(tail.at("last"), 5);
}

TEST_F(AdminJournalTest, TailReturnsNothingBeforeANumberInTheFuture) {
  Fill();
  const std::string generation = Get("journal").at("generation").dump();
  for (const std::string after : {"3", "4", "999"}) {
    for (const std::string& query :
         {"journal?after=" + after, "journal-tail?wait_ms=0&after=" + after,
          "journal-tail?wait_ms=0&after=" + after + "&generation=" + generation})
      EXPECT_EQ(Get(query).at("entries").size(), 0u) << query;
  }
  EXPECT_EQ(Get("journal-tail?wait_ms=0&after=999&generation=1").at("entries").size(), 3u)
      << "the number belongs to another journal";
  json tail;
  std::jthread waiting([&] { tail = Get("journal-tail?after=4&wait_ms=60000"); });
  EXPECT_EQ(Put("/bucket/fourth"), 200);
  EXPECT_EQ(Put("/bucket/fifth"), 200);
  waiting.join();
  ASSERT_EQ(tail.at("entries").size(), 1u);
  EXPECT_EQ(tail.at("entries")[0].at("key"), "fifth");
}

TEST_F(AdminJournalTest, TailContinuesAfterAResetAndEndsWithTheEmulator) {
  Fill();
  json tail;
  const std::string generation = Get("journal").at("generation").dump();
  std::jthread waiting(
      [&] { tail = Get("journal-tail?after=3&wait_ms=60000&generation=" + generation); });
  ASSERT_TRUE(emulator_->Reset().ok());
  EXPECT_EQ(Put("/after-the-reset"), 200);
  waiting.join();
  ASSERT_EQ(tail.at("entries").size(), 1u);
  EXPECT_EQ(tail.at("entries")[0].at("target"), "/after-the-reset");
  std::jthread stopped([&] {
    const auto reading = emulator_->AwaitJournal("default", 1, std::chrono::minutes(10));
    EXPECT_TRUE(!reading.ok() || reading->size() == 0);
  });
  emulator_->Stop();
}

TEST_F(AdminJournalTest, DeletingANamespaceEndsItsTails) {
  ASSERT_TRUE(emulator_->CreateNamespace("suite").ok());
  EXPECT_EQ(Get("journal/suite").at("size"), 0);
  std::jthread waiting(
      [&] { (void)emulator_->AwaitJournal("suite", 0, std::chrono::minutes(10)); });
  EXPECT_TRUE(emulator_->DeleteNamespace("suite").ok());
}

TEST_F(AdminJournalTest, ClearKeepsTheNumbering) {
  Fill();
  EXPECT_EQ(SendRequest("DELETE", "journal").status, 200);
  const json empty = Get("journal");
  EXPECT_EQ(empty.at("size"), 0);
  EXPECT_EQ(empty.at("last"), 3);
  EXPECT_EQ(Put("/bucket/more"), 200);
  EXPECT_EQ(Get("journal").at("entries")[0].at("number"), 4);
  EXPECT_EQ(SendRequest("DELETE", "journal/nobody").status, 404);
}

TEST_F(AdminJournalTest, ResetBeginsANewJournal) {
  Fill();
  EXPECT_EQ(SendRequest("POST", "reset", R"({"namespace": "default"})").status, 200);
  EXPECT_EQ(Get("journal").at("last"), 0);
}

class WithoutAJournal : public AdminJournalTest {
 protected:
  WithoutAJournal() : AdminJournalTest({.journal_bytes = 0}) {}
};

TEST_F(WithoutAJournal, ErrorExplainsHowToEnableIt) {
  const auto response = SendRequest("GET", "journal");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.text.find("journal_bytes"), std::string::npos);
  EXPECT_EQ(Put("/bucket"), 200);
}

}  // namespace
}  // namespace penstock::emulator::server
