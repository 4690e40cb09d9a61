// A reset of a large namespace while clients read another one: no read waits for the deletion of
// files.
//
// By default it resets a few hundred files and checks that every read succeeds. PENSTOCK_LONG=1
// resets 32,768 files of 32 KiB (1 GiB) while 64 clients read until the files are gone. The 99th
// percentile of their reads may then exceed that before the reset by at most 5 ms.
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
const int kReads = kLong ? 500 : 50;  // minimum per client and phase
constexpr std::chrono::seconds kTimeout{120};

Time::duration Percentile99(std::vector<Time::duration> times) {
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

class ResetUnderLoadTest : public testing::Test {
 protected:
  ResetUnderLoadTest() {
    emulator_ =
        Emulator::Start({.data_directory = folder_.path(), .auth = AuthMode::kParse}).value();
    const std::string directory = folder_.path() + "-files";
    std::filesystem::create_directory(directory);
    for (int i = 0; i < kFiles; ++i)
      std::ofstream(directory + "/" + std::to_string(i)) << std::string(33'000, 'x');
    key_ = emulator_->CreateNamespace("large").value();
    Fill(directory, "large");
    std::filesystem::create_directory(directory + "/one");
    std::ofstream(directory + "/one/key") << std::string(1'000, 'y');
    Fill(directory + "/one", "default");
    std::filesystem::remove_all(directory);
  }
  void Fill(const std::string& directory, const std::string& name_space) {
    EXPECT_TRUE(
        emulator_->Seed({.bucket = "bucket", .directory = directory, .name_space = name_space})
            .ok());
  }

  // Reads the small object in the default namespace, each client on its own connection. Returns the
  // durations: at least kReads, and more until `done` is set.
  std::vector<Time::duration> Read(const std::atomic<bool>& done) {
    std::vector<std::vector<Time::duration>> times(static_cast<std::size_t>(kClients));
    {
      std::vector<std::jthread> clients;
      for (auto& own : times) {
        clients.emplace_back([this, &own, &done] {
          const std::string request = SignedText(emulator_->endpoint(), {.target = "/bucket/key"});
          for (int i = 0; i < kReads || !done; ++i) {
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

  // Number of the namespace's stores on disk: two until the reset one is removed.
  std::ptrdiff_t Stores() const {
    using Entries = std::filesystem::directory_iterator;
    return std::count_if(Entries(folder_.path() + "/namespaces/large"), Entries(),
                         [](const auto& entry) { return entry.is_directory(); });
  }

  const TemporaryFolder folder_;
  std::unique_ptr<Emulator> emulator_;
  AccessKey key_;
};

TEST_F(ResetUnderLoadTest, ReadersOfAnotherNamespaceDoNotWait) {
  const auto quiet = Percentile99(Read(true));
  // This request holds the last reference to the reset store, and ends with RST.
  ASSERT_TRUE(
      emulator_
          ->SetFaults(
              "large",
              R"([{"do": [{"stall": {"ms": 200}, "at": "status"}, {"reset": {}, "at": "status"}]}])")
          .ok());
  std::jthread held([this] {
    Send(emulator_->endpoint(),
         {.target = "/bucket/1", .access_key = key_.id, .secret = key_.secret});
  });
  std::atomic<bool> gone = false;
  const auto begun = Time::now();
  Time::duration taken{};
  std::jthread reset([&] {
    EXPECT_TRUE(emulator_->ResetNamespace("large").ok());
    while (Stores() > 1 && Time::now() - begun < kTimeout)
      std::this_thread::sleep_for(milliseconds(5));
    taken = Time::now() - begun;
    EXPECT_LT(taken, kTimeout);
    gone = true;
  });
  const auto loaded = Percentile99(Read(gone));
  reset.join();
  held.join();
  const auto added = std::chrono::duration<double, std::milli>(loaded - quiet).count();
  RecordProperty("p99_added_ms", std::to_string(added));
  std::printf("p99 of reads: %.2f ms, %.2f ms while the namespace was reset, which took %.2f s\n",
              std::chrono::duration<double, std::milli>(quiet).count(),
              std::chrono::duration<double, std::milli>(loaded).count(),
              std::chrono::duration<double>(taken).count());
  if (kLong) {
    EXPECT_LE(added, 5.0);
  }
}

}  // namespace
}  // namespace penstock::emulator::server
