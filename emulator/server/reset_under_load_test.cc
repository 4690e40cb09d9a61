// A reset of a large namespace while clients read another one: nobody waits for its files to be deleted.
//
// The gate resets a few hundred files and checks that every read succeeds. PENSTOCK_LONG=1 resets 32,768 files of 32 KiB and
// more (1 GiB) while 64 clients read, and holds their 99th percentile to 5 ms above what it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;

const bool kLong = std::getenv("PENSTOCK_LONG") != nullptr;
const int kFiles = kLong ? 32'768 : 300;
const int kClients = kLong ? 64 : 4;
const int kReads = kLong ? 2'000 : 50;  // of each client and phase

Time::duration Percentile99(std::vector<Time::duration> times) {
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

class ResetUnderLoadTest : public testing::Test {
 protected:
  ResetUnderLoadTest() {
    emulator_ = Emulator::Start({.data_directory = folder_.path(), .auth = AuthMode::kParse}).value();
    const std::string directory = folder_.path() + "-files";
    std::filesystem::create_directory(directory);
    for (int i = 0; i < kFiles; ++i) std::ofstream(directory + "/" + std::to_string(i)) << std::string(33'000, 'x');
    key_ = emulator_->CreateNamespace("large").value();
    Fill(directory, "large");
    std::filesystem::create_directory(directory + "/one");
    std::ofstream(directory + "/one/key") << std::string(1'000, 'y');
    Fill(directory + "/one", "default");
    std::filesystem::remove_all(directory);
  }
  void Fill(const std::string& directory, const std::string& name_space) {
    EXPECT_TRUE(emulator_->Seed({.bucket = "bucket", .directory = directory, .name_space = name_space}).ok());
  }

  // Each client's reads of the small object in the default namespace, on connections of their own.
  std::vector<Time::duration> Read() {
    std::vector<std::vector<Time::duration>> times(static_cast<std::size_t>(kClients));
    {
      std::vector<std::jthread> clients;
      for (auto& own : times) {
        clients.emplace_back([this, &own] {
          const std::string request = SignedText(emulator_->endpoint(), {.target = "/bucket/key"});
          for (int i = 0; i < kReads; ++i) {
            const auto begin = Time::now();
            EXPECT_EQ(Exchange(emulator_->endpoint(), request).status, 200);
            own.push_back(Time::now() - begin);
          }
        });
      }
    }
    std::vector<Time::duration> all;
    for (const auto& own : times) all.insert(all.end(), own.begin(), own.end());
    return all;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<Emulator> emulator_;
  AccessKey key_;
};

TEST_F(ResetUnderLoadTest, ReadersOfAnotherNamespaceDoNotWait) {
  const auto quiet = Percentile99(Read());
  // A request that holds the last reference to what is reset, and ends with RST.
  ASSERT_TRUE(emulator_->SetFaults("large", R"([{"do": [{"stall": {"ms": 200}, "at": "status"}, {"reset": {}, "at": "status"}]}])").ok());
  std::jthread held([this] {
    Send(emulator_->endpoint(), {.target = "/bucket/1", .access_key = key_.id, .secret = key_.secret});
  });
  std::jthread reset([this] { EXPECT_TRUE(emulator_->ResetNamespace("large").ok()); });
  const auto loaded = Percentile99(Read());
  reset.join();
  held.join();
  const auto added = std::chrono::duration<double, std::milli>(loaded - quiet).count();
  RecordProperty("p99_added_ms", std::to_string(added));
  std::printf("p99 of reads: %.2f ms, %.2f ms while the namespace was reset\n",
              std::chrono::duration<double, std::milli>(quiet).count(), std::chrono::duration<double, std::milli>(loaded).count());
  if (kLong) {
    EXPECT_LE(added, 5.0);
  }
}

}  // namespace
}  // namespace penstock::emulator::server
