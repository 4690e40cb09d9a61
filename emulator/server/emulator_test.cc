// The whole emulator in one process, over real sockets.
#include "penstock/emulator.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator {
namespace {

using server::Plain;
using server::ReadFile;
using server::Send;
using server::SignedRequest;
using server::TemporaryFolder;

std::unique_ptr<Emulator> Start(EmulatorOptions options = {}) {
  auto emulator = Emulator::Start(std::move(options));
  EXPECT_TRUE(emulator.ok()) << (emulator.ok() ? "" : emulator.error().ToString());
  return emulator.ok() ? std::move(emulator).value() : nullptr;
}

int Put(const Emulator& emulator, const std::string& target, const std::string& body = {}) {
  return Send(emulator.endpoint(), {.method = "PUT", .target = target, .body = body}).status;
}

TEST(EmulatorTest, StoresAnObject) {
  const auto emulator = Start();
  EXPECT_EQ(Put(*emulator, "/bucket"), 200);
  EXPECT_EQ(Put(*emulator, "/bucket/key", "hello"), 200);
  const auto response = Send(emulator->endpoint(), {.target = "/bucket/key"});
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.text.ends_with("\r\n\r\nhello")) << response.text;
}

// Regression: every user of the machine could read the database, its log and the blobs.
TEST(EmulatorTest, FilesAreReadableOnlyByTheirOwner) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string data = folder.path() + "/data";
  const mode_t before = ::umask(0022);
  {
    const auto emulator =
        Start({.data_directory = data, .log_path = folder.path() + "/requests.log"});
    ASSERT_TRUE(emulator->CreateNamespace("other").ok());
    EXPECT_EQ(Put(*emulator, "/bucket"), 200);
    EXPECT_EQ(Put(*emulator, "/bucket/small", "hello"), 200);
    EXPECT_EQ(Put(*emulator, "/bucket/large", std::string(4 << 20, 'x')), 200);
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (!entry.is_regular_file()) continue;
      ++files;
      EXPECT_EQ(entry.status().permissions() & ~(fs::perms::owner_read | fs::perms::owner_write),
                fs::perms::none)
          << entry.path();
    }
    EXPECT_GE(files, 6) << "databases, their logs, users, a blob, the request log";
    EXPECT_EQ(fs::status(data).permissions(), fs::perms::owner_all);
  }
  ::umask(before);
}

TEST(EmulatorTest, ReportsFullMemoryAndContinues) {
  const auto emulator = Start({.memory_limit_bytes = 8 << 20});
  ASSERT_EQ(Put(*emulator, "/bucket"), 200);
  ASSERT_EQ(Put(*emulator, "/bucket/large", std::string(5 << 20, 'x')), 200);
  const auto refused =
      Send(emulator->endpoint(),
           {.method = "PUT", .target = "/bucket/more", .body = std::string(5 << 20, 'y')});
  EXPECT_EQ(refused.status, 507) << refused.text;
  EXPECT_NE(refused.text.find("<Code>InsufficientStorage</Code>"), std::string::npos)
      << refused.text;
  EXPECT_NE(refused.text.find("limit of 8.0 MiB"), std::string::npos) << refused.text;
  EXPECT_EQ(Send(emulator->endpoint(), {.target = "/bucket/more"}).status, 404);
  ASSERT_EQ(Send(emulator->endpoint(), {.method = "DELETE", .target = "/bucket/large"}).status,
            204);
  EXPECT_EQ(Put(*emulator, "/bucket/more", std::string(5 << 20, 'y')), 200);
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(emulator->Reset().ok());
    ASSERT_EQ(Put(*emulator, "/bucket"), 200);
    EXPECT_EQ(Put(*emulator, "/bucket/large", std::string(5 << 20, 'x')), 200)
        << "dropped objects must not count";
  }
}

TEST(EmulatorTest, RefusesAWrongSecret) {
  const auto emulator = Start();
  const auto response = Send(emulator->endpoint(), {.target = "/", .secret = "guessed"});
  EXPECT_EQ(response.status, 403);
  EXPECT_NE(response.text.find("<Code>SignatureDoesNotMatch</Code>"), std::string::npos);
}

TEST(EmulatorTest, RefusesAnonymousRequests) {
  const auto emulator = Start();
  EXPECT_EQ(Plain(emulator->endpoint(), "PUT", "/bucket").status, 403);
}

TEST(EmulatorTest, AcceptsSeveralKeys) {
  const auto emulator = Start({.access_keys = {{"one", "secret-1"}, {"two", "secret-2"}}});
  EXPECT_EQ(Send(emulator->endpoint(), {.access_key = "one", .secret = "secret-1"}).status, 200);
  EXPECT_EQ(Send(emulator->endpoint(), {.access_key = "two", .secret = "secret-2"}).status, 200);
  EXPECT_EQ(Send(emulator->endpoint(), {.access_key = "two", .secret = "secret-1"}).status, 403);
  EXPECT_EQ(Send(emulator->endpoint(), {}).status, 403)
      << "the default key must not exist if others are given";
}

TEST(EmulatorTest, ResetRemovesEverything) {
  for (const bool in_directory : {false, true}) {
    const TemporaryFolder folder;
    const auto emulator = Start({.data_directory = in_directory ? folder.path() + "/data" : ""});
    Put(*emulator, "/bucket");
    Put(*emulator, "/bucket/key", std::string(100000, 'x'));
    ASSERT_TRUE(emulator->Reset().ok());
    EXPECT_EQ(Send(emulator->endpoint(), {.target = "/bucket/key"}).status, 404);
    EXPECT_EQ(Put(*emulator, "/bucket"), 200) << "the name must be free";
    EXPECT_EQ(Put(*emulator, "/bucket/key", "new"), 200);
  }
}

TEST(EmulatorTest, DataSurvivesARestart) {
  const TemporaryFolder folder;
  for (const bool reset_before : {false, true}) {
    {
      const auto emulator = Start({.data_directory = folder.path()});
      if (reset_before) {
        ASSERT_TRUE(emulator->Reset().ok());
      }
      ASSERT_EQ(Put(*emulator, "/bucket"), 200);
      ASSERT_EQ(Put(*emulator, "/bucket/key", "kept"), 200);
    }
    const auto again = Start({.data_directory = folder.path()});
    EXPECT_TRUE(Send(again->endpoint(), {.target = "/bucket/key"}).text.ends_with("kept"));
  }
}

TEST(EmulatorTest, ResetsWhileRequestsRun) {
  const auto emulator = Start();
  std::vector<int> failures(3, 0);
  {
    std::vector<std::jthread> threads;
    for (int& failed : failures) {
      threads.emplace_back([&emulator, &failed] {
        for (int i = 0; i < 30; ++i) {
          Put(*emulator, "/bucket");
          const int status = Put(*emulator, "/bucket/key", std::string(50000, 'x'));
          if (status != 200 && status != 404) ++failed;  // 404: the reset removed the bucket
        }
      });
    }
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(emulator->Reset().ok());
  }
  EXPECT_EQ(failures, std::vector<int>(3, 0));
}

TEST(EmulatorTest, CountsRequestsStatusesAndBytes) {
  const auto emulator = Start();
  Put(*emulator, "/bucket");
  Put(*emulator, "/bucket/key", "hello");
  Send(emulator->endpoint(), {.target = "/bucket/none"});
  emulator->Stop();  // bytes are counted when a response has been sent
  const EmulatorStats stats = emulator->stats();
  EXPECT_EQ(stats.requests.at("CreateBucket"), 1u);
  EXPECT_EQ(stats.requests.at("PutObject"), 1u);
  EXPECT_EQ(stats.requests.at("GetObject"), 1u);
  EXPECT_EQ(stats.statuses.at(200), 2u);
  EXPECT_EQ(stats.statuses.at(404), 1u);
  EXPECT_EQ(stats.bytes_in, 5u);
  EXPECT_GT(stats.bytes_out, 100u);  // the error document
}

TEST(EmulatorTest, CountsRequestsRefusedByTheHttpServer) {
  const auto emulator = Start();
  const auto response = server::Exchange(emulator->endpoint(), "nonsense\r\n\r\n");
  emulator->Stop();
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(emulator->stats().requests.at("Unknown"), 1u);
}

TEST(EmulatorTest, LogsEveryRequestWithoutASecret) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  const auto emulator =
      Start({.access_keys = {{"somebody", "very-secret-word"}}, .log_path = path});
  Send(emulator->endpoint(),
       {.method = "PUT",
        .target = "/bucket",
        .access_key = "somebody",
        .secret = "very-secret-word",
        .more_headers = "User-Agent: a \"quoted\" agent\r\namz-sdk-request: attempt=2; max=3\r\n"});
  Send(emulator->endpoint(),
       {.target = "/bucket/none", .access_key = "somebody", .secret = "wrong"});
  Plain(emulator->endpoint(), "GET",
        "/bucket/key?X-Amz-Signature=abcdef0123&X-Amz-Security-Token=tokentoken");
  emulator->Stop();
  const std::string log = ReadFile(path);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
  EXPECT_NE(log.find("\"operation\":\"CreateBucket\",\"bucket\":\"bucket\""), std::string::npos)
      << log;
  EXPECT_NE(
      log.find(
          "\"access_key_id\":\"somebody\",\"user_agent\":\"a \\\"quoted\\\" agent\",\"attempt\":2"),
      std::string::npos);
  EXPECT_NE(log.find("\"status\":403,\"error\":\"SignatureDoesNotMatch\""), std::string::npos);
  for (const char* secret :
       {"very-secret-word", "abcdef0123", "tokentoken", "Signature=", "Credential"}) {
    EXPECT_EQ(log.find(secret), std::string::npos) << secret;
  }
}

TEST(EmulatorTest, FailRateIsReproducible) {
  std::vector<std::string> patterns;
  for (int run = 0; run < 2; ++run) {
    const auto emulator = Start({.fail_rate = 0.3, .fail_seed = 42});
    std::string pattern;
    for (int i = 0; i < 100; ++i) {
      pattern +=
          Send(emulator->endpoint(), {.target = "/bucket/" + std::to_string(i)}).status == 503
              ? 'x'
              : '.';
    }
    EXPECT_EQ(emulator->stats().injected_failures,
              static_cast<std::uint64_t>(std::count(pattern.begin(), pattern.end(), 'x')));
    EXPECT_EQ(emulator->stats().statuses.at(503), emulator->stats().injected_failures)
        << "failures must be counted as responses too";
    patterns.push_back(pattern);
  }
  EXPECT_EQ(patterns[0], patterns[1]);
  const auto failed = std::count(patterns[0].begin(), patterns[0].end(), 'x');
  EXPECT_GT(failed, 10);
  EXPECT_LT(failed, 50);
}

TEST(EmulatorTest, InjectedFailureLooksLikeS3) {
  const auto emulator = Start({.fail_rate = 1});
  const auto response = Send(emulator->endpoint(), {});
  EXPECT_TRUE(response.text.starts_with("HTTP/1.1 503 Slow Down\r\n")) << response.text;
  EXPECT_NE(response.text.find("<Code>SlowDown</Code>"), std::string::npos);
  EXPECT_NE(response.text.find("x-amz-request-id: "), std::string::npos);
}

TEST(EmulatorTest, DelaysReadsByTheGivenTime) {
  const auto emulator = Start({.first_byte_delay_ms = 30});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Send(emulator->endpoint(), {}).status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
}

TEST(EmulatorTest, AdminListenerServesHealthStatsAndReset) {
  const auto emulator = Start();
  Put(*emulator, "/bucket");
  EXPECT_NE(
      Plain(emulator->admin_endpoint(), "GET", "/_penstock/health").text.find("\"status\":\"ok\""),
      std::string::npos);
  EXPECT_NE(
      Plain(emulator->admin_endpoint(), "GET", "/_penstock/stats").text.find("\"CreateBucket\":1"),
      std::string::npos);
  EXPECT_EQ(Plain(emulator->admin_endpoint(), "POST", "/_penstock/reset").status, 200);
  EXPECT_EQ(Send(emulator->endpoint(), {.target = "/bucket?list-type=2"}).status, 404);
}

TEST(EmulatorTest, WorksWithoutAnAdminListener) {
  const auto emulator = Start({.admin_port = -1});
  EXPECT_EQ(emulator->admin_endpoint(), "");
  EXPECT_EQ(Put(*emulator, "/bucket"), 200);
}

TEST(EmulatorTest, MayBeStoppedTwice) {
  const auto emulator = Start();
  emulator->Stop();
  emulator->Stop();
  EXPECT_EQ(Send(emulator->endpoint(), {}).status, 0);
}

TEST(EmulatorStartTest, NamesATakenPort) {
  const auto first = Start();
  const auto second = Emulator::Start({.port = first->options().port});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(second.error().message.find(std::to_string(first->options().port)), std::string::npos)
      << second.error().message;
}

TEST(EmulatorStartTest, NamesABadCertificate) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/cert.pem";
  std::ofstream(path) << "not a certificate";
  const auto emulator = Emulator::Start({.tls_certificate_path = path, .tls_key_path = path});
  ASSERT_FALSE(emulator.ok());
  EXPECT_EQ(emulator.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(emulator.error().message.find(path), std::string::npos) << emulator.error().message;
}

TEST(EmulatorStartTest, NamesAnUnusableDirectory) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "in the way";
  const auto emulator = Emulator::Start({.data_directory = path + "/data"});
  ASSERT_FALSE(emulator.ok());
  EXPECT_NE(emulator.error().message.find(path), std::string::npos) << emulator.error().message;
}

TEST(EmulatorStartTest, NamesADirectoryInUse) {
  const TemporaryFolder folder;
  const auto first = Start({.data_directory = folder.path()});
  const auto second = Emulator::Start({.data_directory = folder.path()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(second.error().message.find("in use by another emulator"), std::string::npos)
      << second.error().message;
}

TEST(EmulatorStartTest, NamesACorruptDatabase) {
  const TemporaryFolder folder;
  {
    const auto emulator = Start({.data_directory = folder.path()});
    Put(*emulator, "/bucket");
  }
  int damaged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file() || !ReadFile(entry.path()).starts_with("SQLite format 3"))
      continue;
    std::ofstream(entry.path(), std::ios::trunc) << std::string(8192, 'x');
    ++damaged;
  }
  ASSERT_EQ(damaged, 2) << "those of the store and of the users";
  const auto emulator = Emulator::Start({.data_directory = folder.path()});
  ASSERT_FALSE(emulator.ok());
  EXPECT_EQ(emulator.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(emulator.error().message.find(folder.path()), std::string::npos)
      << emulator.error().message;
}

TEST(EmulatorStartTest, NamesAnUnwritableLog) {
  const auto emulator = Emulator::Start({.log_path = "/nonexistent/log"});
  ASSERT_FALSE(emulator.ok());
  EXPECT_NE(emulator.error().message.find("/nonexistent/log"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator
