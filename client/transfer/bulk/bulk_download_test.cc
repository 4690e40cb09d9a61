#include "penstock/bulk_download.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "client/transfer/forked_child_test_support.h"
#include "client/transfer/held_store_test_support.h"
#include "client/transfer/transfer_test_support.h"
#include "penstock/memory.h"

namespace penstock::transfer {
namespace {

namespace fs = std::filesystem;
using penstock::testing::CallPoint;
using penstock::testing::Fault;

class BulkDownloadTest : public ::testing::Test {
 protected:
  BulkDownloadTest() { fs::create_directories(folder_); }
  ~BulkDownloadTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  Bytes Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const ByteView bytes = AsBytes(text);
    return {bytes.begin(), bytes.end()};
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
  // Puts an object, and returns it as a listing has it, with a file of the same name.
  BulkFile Object(const std::string& name, std::uint64_t size) {
    const ETag etag = Put(*inner_, MakeContent(size, size), ObjectKey(name));
    return {kBucket, ObjectKey(name), size, etag, Path(name)};
  }
  static std::unique_ptr<BulkDownload> Create(std::shared_ptr<ObjectStore> store,
                                              BulkDownloadOptions options = {}) {
    auto made = BulkDownload::Create(std::move(store), std::move(options));
    PENSTOCK_CHECK(made.ok());
    return std::move(made).value();
  }
  // Returns all results by number.
  static std::map<std::uint64_t, Result<ObjectMetadata>> Finish(BulkDownload& downloads) {
    std::map<std::uint64_t, Result<ObjectMetadata>> results;
    while (downloads.pending() > 0) {
      auto taken = downloads.Take();
      EXPECT_TRUE(taken.ok());
      for (BulkFileResult& file : *taken) results.emplace(file.number, std::move(file.result));
    }
    return results;
  }
  Error ErrorOf(BulkFile file) {
    const auto downloads = Create(store_);
    EXPECT_TRUE(downloads->Add(std::move(file)).ok());
    const auto results = Finish(*downloads);
    return results.at(0).ok() ? Error::Make(ErrorKind::kInternal, "no error")
                              : results.at(0).error();
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / ("bulk" + std::to_string(::getpid()));
  const std::shared_ptr<ObjectStore> inner_ = MakeStore();
  std::function<std::optional<Fault>(const CallPoint&)> hook_;
  const std::shared_ptr<penstock::testing::FaultyObjectStore> store_ =
      std::make_shared<penstock::testing::FaultyObjectStore>(
          inner_, [this](const CallPoint& point) { return hook_ ? hook_(point) : std::nullopt; });
};

TEST_F(BulkDownloadTest, FilesOfEverySizeArriveByOneRequestEach) {
  const auto downloads =
      Create(store_, {.max_parallel_requests = 3, .keep_modification_time = true});
  constexpr std::uint64_t kFiles = 200;
  for (std::uint64_t i = 0; i < kFiles; ++i)
    EXPECT_EQ(downloads->Add(Object("f" + std::to_string(i), i * i)).value(), i);
  const auto results = Finish(*downloads);
  ASSERT_EQ(results.size(), kFiles);
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    const Result<ObjectMetadata>& result = results.at(i);
    ASSERT_TRUE(result.ok()) << result.error().message;
    const std::string name = "f" + std::to_string(i);
    EXPECT_TRUE(Read(name) == MakeContent(i * i, i * i)) << name;
    struct ::stat status {};
    ASSERT_EQ(::stat(Path(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mtime, std::chrono::system_clock::to_time_t(result->last_modified));
  }
  EXPECT_EQ(store_->count("GetObject"), kFiles);
  EXPECT_EQ(Names().size(), kFiles) << "no temporary file is left";
}

TEST_F(BulkDownloadTest, TheFailureOfOneFileDoesNotEndTheOthers) {
  hook_ = [](const CallPoint& point) -> std::optional<Fault> {
    if (point.key != "bad") return std::nullopt;
    return MakeFault(ErrorKind::kAccessDenied, Fault::Moment::kMidBody, 10);
  };
  std::ofstream(Path("bad")) << "earlier";
  const auto downloads = Create(store_);
  for (const char* name : {"a", "bad", "c"}) ASSERT_TRUE(downloads->Add(Object(name, 100)).ok());
  const auto results = Finish(*downloads);
  EXPECT_TRUE(results.at(0).ok() && results.at(2).ok());
  const Error error = results.at(1).error();
  EXPECT_EQ(error.kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(error.key, "bad");
  EXPECT_EQ(Names(), (std::set<std::string>{"a", "bad", "c"}));
  EXPECT_EQ(Read("bad").size(), 7u) << "the earlier file is unchanged";
}

TEST_F(BulkDownloadTest, ChangedObjectIsNotDownloaded) {
  BulkFile changed = Object("changed", 10);
  Put(*inner_, MakeContent(11), ObjectKey("changed"));
  EXPECT_EQ(ErrorOf(changed).kind, ErrorKind::kPreconditionFailed);
  BulkFile other_size = Object("size", 10);
  other_size.size = 9;
  EXPECT_EQ(ErrorOf(other_size).kind, ErrorKind::kDataLoss);
  EXPECT_EQ(ErrorOf({kBucket, ObjectKey("none"), 1, ETag("e"), Path("none")}).kind,
            ErrorKind::kNotFound);
  EXPECT_TRUE(Names().empty());
}

TEST_F(BulkDownloadTest, ErrorsOfFilesNameThePath) {
  BulkFile file = Object("object", 10);
  file.path = Path("missing/object");
  EXPECT_NE(ErrorOf(file).message.find(Path("missing")), std::string::npos);
  file.path = Path("");
  EXPECT_EQ(ErrorOf(file).kind, ErrorKind::kInvalidArgument);
  fs::create_directories(folder_ / "folder/inner");
  file.path = Path("folder");
  EXPECT_NE(ErrorOf(file).message.find(Path("folder")), std::string::npos);
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  file.path = Path("fifo");
  EXPECT_EQ(ErrorOf(file).kind, ErrorKind::kInvalidArgument);
  file.path = "/dev/full";
  EXPECT_EQ(ErrorOf(file).kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(Names(), (std::set<std::string>{"fifo", "folder"}));
}

TEST_F(BulkDownloadTest, AFileThatAppearsAfterAddIsKept) {
  const auto held = std::make_shared<HeldStore>(inner_);
  const auto downloads = Create(held, {.sync = true, .replace = false});
  for (const char* const name : {"a", "b"}) ASSERT_TRUE(downloads->Add(Object(name, 10)).ok());
  std::ofstream(Path("a")) << "of another program";
  held->Release();
  const auto results = Finish(*downloads);
  EXPECT_EQ(results.at(0).error().kind, ErrorKind::kAlreadyExists);
  EXPECT_TRUE(results.at(1).ok());
  EXPECT_TRUE(std::ranges::equal(Read("a"), AsBytes("of another program")));
  EXPECT_EQ(Names(), (std::set<std::string>{"a", "b"}));
}

TEST_F(BulkDownloadTest, LimitsRequestsAndMemory) {
  const auto held = std::make_shared<HeldStore>(inner_);
  const auto downloads = Create(held, {.max_parallel_requests = 3, .max_memory_bytes = 1000});
  const std::vector<std::uint64_t> sizes = {400, 400, 400, 5000, 1, 1, 1, 1};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    ASSERT_TRUE(downloads->Add(Object("f" + std::to_string(i), sizes[i])).ok());
  EXPECT_EQ(held->held(), 2u) << "the third would exceed 1000 bytes";
  downloads->SetMaxParallelRequests(1);
  held->Release();
  for (const auto& [number, result] : Finish(*downloads)) EXPECT_TRUE(result.ok()) << number;
  EXPECT_EQ(Names().size(), sizes.size());
}

TEST_F(BulkDownloadTest, ContinuesIfOtherTransfersUseAllMemory) {
  const std::uint64_t limit = MemoryLimit();
  auto taken = MemoryBudget::PerProcess().TryTake(limit);
  ASSERT_TRUE(taken);
  const auto downloads = Create(store_);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(downloads->Add(Object("f" + std::to_string(i), 99)).ok());
  for (const auto& [number, result] : Finish(*downloads)) EXPECT_TRUE(result.ok()) << number;
}

TEST_F(BulkDownloadTest, CancelEndsWhatIsLeft) {
  const auto held = std::make_shared<HeldStore>(inner_);
  const auto downloads = Create(held, {.max_parallel_requests = 2});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(downloads->Add(Object("f" + std::to_string(i), 9)).ok());
  downloads->Cancel();
  EXPECT_EQ(downloads->TakeReady().size(), 8u) << "those without a request end at once";
  held->Release();
  for (const auto& [number, result] : Finish(*downloads))
    EXPECT_EQ(result.error().kind, ErrorKind::kCancelled) << number;
  EXPECT_TRUE(Names().empty());
}

// Files are complete or absent, wherever a cancellation hits.
TEST_F(BulkDownloadTest, CancelAtAnyPointLeavesWholeFilesOnly) {
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  constexpr int kFiles = 40;
  std::vector<BulkFile> files;
  for (int i = 0; i < kFiles; ++i) files.push_back(Object("f" + std::to_string(i), 3000));
  for (int round = 0; round < 25; ++round) {
    const unsigned at = random() % kFiles;
    std::stop_source stop;
    std::atomic<unsigned> requests = 0;
    hook_ = [&](const CallPoint&) -> std::optional<Fault> {
      if (requests++ == at) stop.request_stop();
      return std::nullopt;
    };
    BulkDownloadOptions options{.max_parallel_requests = 8};
    options.call.cancel = stop.get_token();
    std::size_t done = 0;
    {
      const auto downloads = Create(store_, options);
      for (const BulkFile& file : files) ASSERT_TRUE(downloads->Add(file).ok());
      if (round % 2 == 0) {
        for (const auto& [number, result] : Finish(*downloads)) done += result.ok() ? 1 : 0;
      }
    }
    const std::set<std::string> names = Names();
    for (const std::string& name : names) {
      EXPECT_TRUE(Read(name) == MakeContent(3000, 3000)) << name << ", seed " << seed;
      fs::remove(folder_ / name);
    }
    if (round % 2 == 0) {
      EXPECT_EQ(names.size(), done) << "seed " << seed;
    }
  }
}

TEST_F(BulkDownloadTest, TakeEndsByItsInterrupt) {
  const auto held = std::make_shared<HeldStore>(inner_);
  const auto downloads = Create(held);
  ASSERT_TRUE(downloads->Add(Object("f", 9)).ok());
  EXPECT_EQ(downloads->Take([] { return true; }).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(downloads->pending(), 1u);
  held->Release();
  EXPECT_TRUE(Finish(*downloads).at(0).ok());
  EXPECT_TRUE(downloads->Take()->empty());
}

TEST_F(BulkDownloadTest, RefusesOptionsOutOfRange) {
  for (const BulkDownloadOptions& options :
       {BulkDownloadOptions{.max_parallel_requests = 0}, BulkDownloadOptions{.writer_threads = 0},
        BulkDownloadOptions{.writer_threads = 257}}) {
    EXPECT_EQ(BulkDownload::Create(store_, options).error().kind, ErrorKind::kInvalidArgument);
  }
}

TEST_F(BulkDownloadTest, IsRefusedInAForkedChild) {
  auto downloads = Create(store_);
  ASSERT_TRUE(downloads->Add(Object("f", 9)).ok());
  EXPECT_EQ(StatusOfChild([&] {
              const bool refused = MentionsFork(downloads->Add({}).error()) &&
                                   MentionsFork(downloads->Take().error());
              downloads.reset();
              return refused ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(Finish(*downloads).at(0).ok());
}

}  // namespace
}  // namespace penstock::transfer
