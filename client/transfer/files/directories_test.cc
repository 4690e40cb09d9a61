// UploadDirectory and DownloadDirectory.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "client/transfer/transfer_test_support.h"
#include "penstock/files.h"
#include "penstock/memory.h"

namespace penstock::transfer {
namespace {

namespace fs = std::filesystem;
using Tree = std::map<std::string, std::string>;

class DirectoriesTest : public ::testing::Test {
 protected:
  ~DirectoriesTest() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  void PutText(const std::string& key, const std::string& text) const {
    Put(*store_, AsBytes(text), ObjectKey(key));
  }
  Tree Objects() const {
    Tree tree;
    const auto pages = Lister::Create(store_, {.bucket = kBucket});
    while (const auto page = pages->Next().value()) {
      for (const ObjectSummary& object : page->objects) {
        const Bytes bytes = Stored(*store_, object.key).value();
        tree[object.key.value] = AsText(bytes);
      }
    }
    return tree;
  }
  Tree Files(const std::string& folder) const {
    Tree tree;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      tree[fs::relative(entry.path(), root_ / folder)] = {std::istreambuf_iterator<char>(file), {}};
    }
    return tree;
  }

  const fs::path root_ = fs::path(::testing::TempDir()) / ("tree" + std::to_string(::getpid()));
  const std::shared_ptr<penstock::testing::MemoryObjectStore> store_ = MakeStore();
};

TEST_F(DirectoriesTest, TreeIsUploadedAndDownloaded) {
  Tree tree;
  for (int i = 0; i < 40; ++i)
    tree["d" + std::to_string(i % 3) + "/e/f" + std::to_string(i)] = std::string(i * 10, 'x');
  tree["top"] = "top";
  for (const auto& [name, text] : tree) Write("in/" + name, text);
  fs::create_directories(root_ / "in/empty");
  const auto sent = UploadDirectory(store_, root_ / "in", kBucket, "run", {});
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(sent->files, tree.size());
  EXPECT_TRUE(sent->failures.empty());
  EXPECT_EQ(Objects().size(), tree.size());
  EXPECT_EQ(Objects().at("run/top"), "top");
  PutText("runs/other", "not below the prefix");
  const auto got = DownloadDirectory(store_, kBucket, "run", root_ / "out/new");
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->files, tree.size());
  EXPECT_EQ(got->bytes, sent->bytes);
  EXPECT_EQ(Files("out/new"), tree);
}

// A store whose listings have wrong sizes.
class WrongListings final : public penstock::testing::FaultyObjectStore {
 public:
  using FaultyObjectStore::FaultyObjectStore;
  using FaultyObjectStore::Start;
  void Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) override {
    FaultyObjectStore::Start(std::move(request),
                             [done = std::move(done)](Result<ListObjectsResponse> listed) {
                               if (listed.ok() && !listed->objects.empty())
                                 listed->objects.front().size += 7;
                               done(std::move(listed));
                             });
  }
};

TEST_F(DirectoriesTest, ASizeThatContradictsTheListingIsAFailure) {
  PutText("p/a", "text");
  PutText("p/b", "text");
  Write("out/a", "earlier");
  const auto store = std::make_shared<WrongListings>(store_, nullptr);
  const auto got = DownloadDirectory(store, kBucket, "p", root_ / "out");
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->files, 1u);
  ASSERT_EQ(got->failures.size(), 1u);
  EXPECT_EQ(got->failures[0].key.value, "p/a");
  EXPECT_EQ(got->failures[0].error.kind, ErrorKind::kDataLoss) << got->failures[0].error.message;
  EXPECT_EQ(Files("out"), (Tree{{"a", "earlier"}, {"b", "text"}}));
}

TEST_F(DirectoriesTest, KeysThatLeaveTheFolderAreFailures) {
  fs::create_directories(root_ / "out");
  for (const char* const key : {"p/../evil", "p/a/../../evil", "p//evil", "p/./evil", "p/good"})
    PutText(key, "text");
  const auto got = DownloadDirectory(store_, kBucket, "p/", root_ / "out");
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->files, 1u);
  EXPECT_EQ(got->failures.size(), 4u);
  for (const FileFailure& failure : got->failures)
    EXPECT_EQ(failure.error.kind, ErrorKind::kInvalidArgument) << failure.key.value;
  EXPECT_EQ(Files(""), (Tree{{"out/good", "text"}}));
}

TEST_F(DirectoriesTest, ACancelledDownloadIsResumedWithoutTheFilesThatExist) {
  for (int i = 0; i < 6; ++i) PutText("p/" + std::to_string(i), "new");
  for (const char* name : {"0", "1", "2"}) Write(std::string("out/") + name, "old");
  const auto counting = std::make_shared<penstock::testing::FaultyObjectStore>(
      store_, [](const penstock::testing::CallPoint&) { return std::nullopt; });
  DirectoryOptions options{.max_parallel_files = 1, .max_failures = 2};
  options.download.replace = false;
  const auto got = DownloadDirectory(counting, kBucket, "p", root_ / "out", options);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->files, 3u);
  EXPECT_TRUE(got->failures.empty());
  EXPECT_EQ(got->skipped.size(), 3u);
  EXPECT_EQ(counting->count("GetObject"), 3u);
  EXPECT_EQ(Files("out").at("0"), "old");
  EXPECT_EQ(Files("out").at("5"), "new");
}

TEST_F(DirectoriesTest, LinksInTheTargetAreNotFollowed) {
  fs::create_directories(root_ / "out");
  fs::create_directories(root_ / "outside");
  fs::create_directory_symlink(root_ / "outside", root_ / "out/link");
  PutText("p/link/evil", "text");
  PutText("p/good", "text");
  const auto got = DownloadDirectory(store_, kBucket, "p", root_ / "out");
  ASSERT_EQ(got->failures.size(), 1u);
  EXPECT_EQ(got->failures[0].key.value, "p/link/evil");
  const std::string& message = got->failures[0].error.message;
  EXPECT_NE(message.find("symbolic link"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_empty(root_ / "outside"));
}

TEST_F(DirectoriesTest, FolderMarkersAndClashes) {
  PutText("p/", "");
  PutText("p/folder/", "");
  PutText("p/content/", "text");
  PutText("p/../", "");
  PutText("p/file", "x");
  PutText("p/file/below", "the file is in the way");
  const auto got =
      DownloadDirectory(store_, kBucket, "p", root_ / "out", {.max_parallel_files = 1});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(fs::is_directory(root_ / "out/folder"));
  EXPECT_EQ(got->files, 1u) << "an empty folder is not a file";
  std::set<std::string> failed;
  for (const FileFailure& failure : got->failures) {
    failed.insert(failure.key.value);
    EXPECT_EQ(failure.error.kind, ErrorKind::kInvalidArgument) << failure.error.message;
  }
  EXPECT_EQ(failed, (std::set<std::string>{"p/../", "p/content/", "p/file/below"}));
}

TEST_F(DirectoriesTest, ContentOfThePrefixItselfIsAFailure) {
  PutText("p/", "text");
  const auto got = DownloadDirectory(store_, kBucket, "p", root_ / "out");
  ASSERT_TRUE(got.ok());
  ASSERT_EQ(got->failures.size(), 1u);
  EXPECT_EQ(got->failures[0].key.value, "p/");
  EXPECT_TRUE(fs::is_empty(root_ / "out"));
}

TEST_F(DirectoriesTest, DeadlineEndsAWaitForMemory) {
  PutText("p/file", "text");
  MemoryBudget& budget = MemoryBudget::PerProcess();
  const std::uint64_t before = budget.usage().limit;
  budget.SetLimit(1 << 20);
  MemoryBudget::Share all = budget.Take(1 << 20, {}).value();
  all.SetInFlight(true);  // So no waiter may exceed the limit.
  std::binary_semaphore ended(0);
  std::atomic<bool> released = false;
  std::jthread watchdog([&] {
    if (ended.try_acquire_for(std::chrono::seconds(20))) return;
    released = true;
    all.Release();
  });
  DirectoryOptions options;
  options.call.deadline = Deadline::After(SystemClock(), std::chrono::milliseconds(50));
  const auto got = DownloadDirectory(store_, kBucket, "p", root_ / "out", options);
  ended.release();
  watchdog.join();
  EXPECT_FALSE(released) << "the wait did not end at the deadline";
  budget.SetLimit(before);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kTimeout) << got.error().message;
}

TEST_F(DirectoriesTest, LinksAndPipesAreSkippedOrFollowed) {
  Write("in/file", "text");
  Write("elsewhere/linked", "linked text");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "in/link");
  fs::create_directory_symlink(root_ / "in", root_ / "in/loop");
  ASSERT_EQ(::mkfifo((root_ / "in/pipe").c_str(), 0600), 0);
  const auto skipped = UploadDirectory(store_, root_ / "in", kBucket, "a");
  EXPECT_EQ(skipped->files, 1u);
  EXPECT_EQ(skipped->skipped.size(), 3u);
  EXPECT_EQ(Objects(), (Tree{{"a/file", "text"}}));
  const auto followed =
      UploadDirectory(store_, root_ / "in", kBucket, "a", {.symlinks = Symlinks::kFollow});
  EXPECT_EQ(followed->files, 2u);
  ASSERT_EQ(followed->failures.size(), 1u) << "the loop";
  EXPECT_EQ(Objects().at("a/link/linked"), "linked text");
}

// Holds the first upload until Release.
class HeldUploadStore final : public penstock::testing::FaultyObjectStore {
 public:
  explicit HeldUploadStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  using FaultyObjectStore::Start;
  void Start(PutObjectRequest request, Callback<PutObjectResponse> done) override {
    if (!began_.exchange(true)) released_.acquire();
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  bool began() const { return began_; }
  void Release() { released_.release(); }

 private:
  std::atomic<bool> began_ = false;
  std::binary_semaphore released_{0};
};

TEST_F(DirectoriesTest, AFileThatALinkReplacesIsNotFollowed) {
  Write("outside", "secret");
  for (const char* const name : {"in/a", "in/b", "in/c", "in/d"}) Write(name, "text");
  const auto store = std::make_shared<HeldUploadStore>(store_);
  // The walk has seen three files when it waits: the first one is held.
  bool replaced = false;
  const auto sent =
      UploadDirectory(store, root_ / "in", kBucket, "", {.max_parallel_files = 1}, [&] {
        if (!store->began() || std::exchange(replaced, true)) return false;
        for (const auto& entry : fs::directory_iterator(root_ / "in")) {
          fs::remove(entry.path());
          fs::create_symlink(root_ / "outside", entry.path());
        }
        store->Release();
        return false;
      });
  ASSERT_TRUE(replaced);
  EXPECT_EQ(sent->files, 1u);
  EXPECT_EQ(sent->files + sent->failures.size() + sent->skipped.size(), 4u);
  EXPECT_GE(sent->failures.size(), 2u);
  for (const FileFailure& failure : sent->failures)
    EXPECT_NE(failure.error.message.find("is a symbolic link now"), std::string::npos);
  for (const auto& [key, text] : Objects()) EXPECT_EQ(text, "text") << key;
}

TEST_F(DirectoriesTest, UnreadableFileIsOneFailure) {
  if (::geteuid() == 0) {
    Write("in/good", "text");
    fs::create_symlink("/nonexistent", root_ / "in/broken");
    const auto sent =
        UploadDirectory(store_, root_ / "in", kBucket, "", {.symlinks = Symlinks::kFollow});
    EXPECT_EQ(sent->files, 1u);
    ASSERT_EQ(sent->failures.size(), 1u);
    EXPECT_EQ(sent->failures[0].error.kind, ErrorKind::kNotFound);
    return;
  }
  Write("in/good", "text");
  Write("in/secret", "text");
  fs::permissions(root_ / "in/secret", fs::perms::none);
  const auto sent = UploadDirectory(store_, root_ / "in", kBucket, "");
  EXPECT_EQ(sent->files, 1u);
  ASSERT_EQ(sent->failures.size(), 1u);
  EXPECT_EQ(sent->failures[0].error.kind, ErrorKind::kAccessDenied);
}

TEST_F(DirectoriesTest, WholeErrors) {
  for (const std::string& folder : {std::string(root_ / "none"), std::string()}) {
    const auto sent = UploadDirectory(store_, folder, kBucket, "");
    ASSERT_FALSE(sent.ok()) << folder;
    EXPECT_EQ(sent.error().kind, ErrorKind::kNotFound);
  }
  EXPECT_EQ(DownloadDirectory(store_, BucketName("no-bucket"), "", root_ / "out").error().kind,
            ErrorKind::kNotFound);
  EXPECT_EQ(
      DownloadDirectory(store_, kBucket, "", root_ / "out", {.max_parallel_files = 0}).error().kind,
      ErrorKind::kInvalidArgument);
  Write("in/file", "text");
  std::stop_source stop;
  stop.request_stop();
  DirectoryOptions options;
  options.call.cancel = stop.get_token();
  EXPECT_EQ(UploadDirectory(store_, root_ / "in", kBucket, "", options).error().kind,
            ErrorKind::kCancelled);
}

}  // namespace
}  // namespace penstock::transfer
