#include "emulator/store/checks/scrubber.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/log/diagnostics.h"
#include "base/log/log.h"
#include "emulator/store/blobs/blob_file.h"
#include "emulator/store/store_testing.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers
using std::chrono::nanoseconds;

// A closed store whose directory the scrubber reads.
class ScrubberTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SetLogSink(LogLevel::kError, [this](LogLevel, const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_.push_back(line);
    });
    const auto store = OpenStore({.directory = directory_.path()});
    MakeBucket(*store);
    ASSERT_TRUE(PutText(*store, "inline", Body(1000)).ok());
    ASSERT_TRUE(PutText(*store, "small", Body(100'000)).ok());
    ASSERT_TRUE(PutText(*store, "large", Body(kSize)).ok());
  }
  void TearDown() override { SetLogSink(LogLevel::kOff, {}); }
  Scrubber MakeScrubber(std::uint64_t rate) {
    return Scrubber({database_, rate,
                     [this](std::int64_t id, const std::string& checksums) {
                       adopted_[id] = checksums;
                       return Ok();
                     }},
                    registry_);
  }
  // Runs steps until the pause. Returns the sum of the requested delays.
  static nanoseconds Pass(Scrubber& scrubber) {
    nanoseconds waited{0};
    for (;;) {
      const nanoseconds wait = scrubber.Step();
      if (wait == Scrubber::kPause) return waited;
      waited += wait;
    }
  }
  std::string FileOf(std::uint64_t size) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(directory_.path() + "/blobs")) {
      if (entry.is_regular_file() && entry.file_size() == size) return entry.path();
    }
    return {};
  }

  static constexpr std::size_t kSize = 3 * kBlockBytes + 10;
  const TemporaryDirectory directory_;
  const std::string database_ = directory_.path() + "/penstock.db";
  const std::shared_ptr<BlobRegistry> registry_ =
      std::make_shared<BlobRegistry>(directory_.path(), std::int64_t{1} << 50);
  std::map<std::int64_t, std::string> adopted_;
  std::mutex mutex_;
  std::vector<std::string> log_;
};

TEST_F(ScrubberTest, ReadsEveryBlockOnceAtTheConfiguredRate) {
  Scrubber scrubber = MakeScrubber(kBlockBytes);
  const nanoseconds waited = Pass(scrubber);
  EXPECT_GE(waited, std::chrono::seconds(3));
  EXPECT_LE(waited, std::chrono::milliseconds(3200));
  EXPECT_EQ(Pass(scrubber).count(), 0) << "a second pass has nothing to read";
  EXPECT_TRUE(log_.empty()) << log_.front();
  EXPECT_TRUE(adopted_.empty());
}

TEST_F(ScrubberTest, LogsAndCountsADamagedBlockAndContinues) {
  const std::uint64_t counted = DiagnosticCounts()["store.scrub_failed"];
  const std::string path = FileOf(kSize);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(kBlockBytes + 5).put('\0').put('\0');
  file.seekp(3 * kBlockBytes + 5).put('\0').put('\0');
  file.close();
  Scrubber scrubber = MakeScrubber(1 << 30);
  Pass(scrubber);
  ASSERT_EQ(log_.size(), 2u);
  EXPECT_NE(log_[0].find(path + " is damaged at offset 1048576"), std::string::npos) << log_[0];
  EXPECT_NE(log_[1].find("offset 3145728"), std::string::npos) << log_[1];
  EXPECT_EQ(DiagnosticCounts()["store.scrub_failed"], counted + 2);
}

TEST_F(ScrubberTest, AfterItFindsDamageNoBlockOfTheFileIsTrusted) {
  const std::string path = FileOf(kSize);
  const auto id = std::stoll(std::filesystem::path(path).filename().string(), nullptr, 16);
  const auto connection = OpenReader(database_).value();
  Query query(*connection, "SELECT checksums FROM blobs WHERE id=?");
  ASSERT_TRUE(query.Bind(id).Step().ok());
  const StoredBlobPtr blob =
      registry_->AddLoaded(*FileBlob::Open(registry_, id, kSize, query.Text(0)));
  ASSERT_TRUE(blob->Checked({0, kBlockBytes}).ok());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (const std::uint64_t block : {0, 1}) {
    file.seekp(static_cast<std::streamoff>(block * kBlockBytes + 5)).put('\0').put('\0');
  }
  file.close();
  ASSERT_TRUE(blob->Checked({0, kBlockBytes}).ok()) << "the block was verified before the damage";
  Scrubber scrubber = MakeScrubber(1 << 30);
  Pass(scrubber);
  EXPECT_EQ(log_.size(), 1u);
  EXPECT_FALSE(blob->Checked({0, kBlockBytes}).ok());
}

TEST_F(ScrubberTest, ComputesMissingChecksumsOfOlderBlobs) {
  const auto connection = Connection::Open(database_);
  ASSERT_TRUE((*connection)->Execute("UPDATE blobs SET checksums = NULL WHERE size > 100000").ok());
  Scrubber scrubber = MakeScrubber(1 << 30);
  Pass(scrubber);
  ASSERT_EQ(adopted_.size(), 1u);
  EXPECT_TRUE(Matches(adopted_.begin()->second, AsBytes(Body(kSize))));
}

TEST_F(ScrubberTest, SkipsMissingFiles) {
  std::filesystem::remove(FileOf(100'000));
  Scrubber scrubber = MakeScrubber(kBlockBytes);
  EXPECT_GE(Pass(scrubber), std::chrono::seconds(3));
}

}  // namespace
}  // namespace penstock::emulator::store
