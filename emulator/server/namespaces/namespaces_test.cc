#include "emulator/server/namespaces/namespaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

std::unique_ptr<Namespaces> OpenIn(const std::string& directory) {
  auto spaces = Namespaces::Open({.directory = directory, .clock = &SystemClock()});
  EXPECT_TRUE(spaces.ok());
  return spaces.ok() ? std::move(spaces).value() : nullptr;
}

void MakeBucket(NamespaceStore& namespace_store, const char* name) {
  store::BucketRecord bucket;
  bucket.name = BucketName(name);
  ASSERT_TRUE(namespace_store.Current()->store->CreateBucket(bucket).ok());
}

bool HasBucket(NamespaceStore& namespace_store, const char* name) {
  return namespace_store.Current()->store->FindBucket(BucketName(name)).ok();
}

class NamespacesTest : public testing::TestWithParam<bool> {
 protected:
  const TemporaryFolder folder_;
  const std::string directory_ = GetParam() ? folder_.path() : std::string();
};
INSTANTIATE_TEST_SUITE_P(MemoryAndDirectory, NamespacesTest, testing::Bool());

TEST_P(NamespacesTest, AreIsolated) {
  const auto spaces = OpenIn(directory_);
  const auto one = spaces->Create("one");
  ASSERT_TRUE(one.ok());
  MakeBucket(**one, "bucket");
  EXPECT_FALSE(HasBucket(*spaces->Default(), "bucket"));
  EXPECT_FALSE(HasBucket(**spaces->FindOrCreate("two"), "bucket"));
  EXPECT_TRUE(HasBucket(**spaces->Find("one"), "bucket"));
  EXPECT_EQ(spaces->Names(), (std::vector<std::string>{"default", "one", "two"}));
}

TEST_P(NamespacesTest, DeletedNamespaceIsEmptyWhenCreatedAgain) {
  const auto spaces = OpenIn(directory_);
  ASSERT_TRUE(spaces->Create("one").ok());
  {
    const auto held = (*spaces->Find("one"))->Current();  // a request in progress
    MakeBucket(**spaces->Find("one"), "bucket");
    ASSERT_TRUE(spaces->Delete("one").ok());
    EXPECT_TRUE(held->store->FindBucket(BucketName("bucket")).ok());
    ASSERT_TRUE(spaces->Create("one").ok());
    EXPECT_FALSE(HasBucket(**spaces->Find("one"), "bucket"));
  }
  EXPECT_TRUE((*spaces->Find("one"))->Current()->store->ListBuckets().ok());
}

TEST_P(NamespacesTest, RefusesInvalidRequests) {
  const auto spaces = OpenIn(directory_);
  EXPECT_EQ(spaces->Find("x").error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(spaces->Create("y").ok());
  EXPECT_EQ(spaces->Find("x").error().message,
            "there is no namespace 'x'; existing namespaces: default, y");
  EXPECT_EQ(spaces->Delete("x").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(spaces->Delete("default").error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(spaces->Create("default").error().kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(spaces->Create("../x").error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(spaces->Create(".hidden").error().kind, ErrorKind::kInvalidArgument);
}

TEST_P(NamespacesTest, ResetAllEmptiesEveryNamespace) {
  const auto spaces = OpenIn(directory_);
  MakeBucket(*spaces->Default(), "bucket");
  MakeBucket(**spaces->Create("one"), "bucket");
  ASSERT_TRUE(spaces->ResetAll().ok());
  EXPECT_FALSE(HasBucket(*spaces->Default(), "bucket"));
  EXPECT_FALSE(HasBucket(**spaces->Find("one"), "bucket"));
}

// A clock that blocks the first caller after Arm until Open.
class GateClock final : public Clock {
 public:
  WallTime Now() const override {
    if (armed_.exchange(false)) {
      reached_.set_value();
      open_.wait();
    }
    return SystemClock().Now();
  }
  MonotonicTime Monotonic() const override { return SystemClock().Monotonic(); }
  void Arm() { armed_ = true; }
  void AwaitCaller() { reached_.get_future().wait(); }
  void Open() { opener_.set_value(); }

 private:
  mutable std::atomic<bool> armed_{false};
  mutable std::promise<void> reached_;
  std::promise<void> opener_;
  const std::shared_future<void> open_ = opener_.get_future().share();
};

// Every request looks up its namespace.
TEST_P(NamespacesTest, OthersAreFoundWhileOneIsOpened) {
  GateClock clock;
  const auto spaces =
      Namespaces::Open({.directory = directory_,
                        .clock = &clock,
                        .controls = {.scenario = std::make_shared<const faults::Scenario>()}})
          .value();
  ASSERT_TRUE(spaces->Create("one").ok());
  clock.Arm();
  auto created = std::async(std::launch::async, [&] { return spaces->Create("two").ok(); });
  clock.AwaitCaller();
  auto found = std::async(std::launch::async,
                          [&] { return spaces->Find("one").ok() && spaces->Has("one"); });
  EXPECT_EQ(found.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  clock.Open();
  EXPECT_TRUE(created.get());
  EXPECT_TRUE(found.get());
}

TEST_P(NamespacesTest, OneOfSeveralCreatorsSucceeds) {
  const auto spaces = OpenIn(directory_);
  std::atomic<int> made{0};
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const auto created = spaces->Create("one");
        if (created.ok()) ++made;
        if (!created.ok() && created.error().kind == ErrorKind::kAlreadyExists) ++refused;
        const auto found = spaces->FindOrCreate("two");
        ASSERT_TRUE(found.ok());
        EXPECT_TRUE((*found)->Current()->store->ListBuckets().ok());
      });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused, 7);
}

int OpenDescriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<int>(std::distance(begin(entries), end(entries)));
}

TEST(NamespacesOnDiskTest, IdleNamespacesUseNoDescriptors) {
  const TemporaryFolder folder;
  constexpr int kSpaces = 40;
  constexpr int kOpen = 4;
  const auto spaces =
      Namespaces::Open({.directory = folder.path(), .clock = &SystemClock(), .max_open = kOpen})
          .value();
  const int before = OpenDescriptors();
  for (int i = 0; i < kSpaces; ++i) MakeBucket(**spaces->Create("n" + std::to_string(i)), "bucket");
  EXPECT_LE(OpenDescriptors(), before + 16 * kOpen);
  for (int i = 0; i < kSpaces; ++i)
    EXPECT_TRUE(HasBucket(**spaces->Find("n" + std::to_string(i)), "bucket")) << i;
  EXPECT_LE(OpenDescriptors(), before + 16 * kOpen);
}

TEST(NamespacesOnDiskTest, SurviveARestart) {
  const TemporaryFolder folder;
  {
    const auto spaces = OpenIn(folder.path());
    MakeBucket(**spaces->Create("one"), "bucket");
    ASSERT_TRUE(spaces->Create("gone").ok());
    ASSERT_TRUE(spaces->Delete("gone").ok());
  }
  const auto spaces = OpenIn(folder.path());
  EXPECT_EQ(spaces->Names(), (std::vector<std::string>{"default", "one"}));
  EXPECT_TRUE(HasBucket(**spaces->Find("one"), "bucket"));
}

TEST(NamespacesOnDiskTest, NextStartRemovesAnUnfinishedNamespace) {
  const TemporaryFolder folder;
  OpenIn(folder.path());  // creates the default namespace's store, which precedes all others
  const std::string path = folder.path() + "/namespaces/one";
  std::filesystem::create_directories(path + "/generation-7");
  std::ofstream(path + "/penstock.lock");
  std::ofstream(path + "/generation-7/penstock.db");
  const auto spaces = OpenIn(folder.path());
  EXPECT_EQ(spaces->Names(), std::vector<std::string>{"default"});
  EXPECT_EQ(spaces->AtStart("one"), identity::NamespaceState::kMissing);
  spaces->RemoveLeftovers();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(spaces->Create("one").ok());
}

TEST(NamespacesOnDiskTest, IgnoresOtherFilesAndFolders) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string there = folder.path() + "/namespaces/";
  ASSERT_TRUE(OpenIn(folder.path())->Create("one").ok());
  std::ofstream(there + "notes.txt");
  fs::create_directories(there + "backup/old");
  fs::create_directory_symlink(folder.path() + "/nothing", there + "link");
  fs::create_directory(there + "empty");
  const auto spaces = OpenIn(folder.path());
  EXPECT_EQ(spaces->Names(), (std::vector<std::string>{"default", "one"}));
  ASSERT_EQ(spaces->notices().size(), 1u);
  for (const char* name : {"notes.txt", "backup", "link"}) {
    EXPECT_NE(spaces->notices()[0].find("'namespaces/" + std::string(name) + "'"),
              std::string::npos)
        << spaces->notices()[0];
    EXPECT_EQ(spaces->Create(name).error().kind, ErrorKind::kInvalidArgument) << name;
    EXPECT_EQ(spaces->AtStart(name), identity::NamespaceState::kMissing) << name;
  }
  spaces->RemoveLeftovers();
  EXPECT_TRUE(spaces->ResetAll().ok());
  EXPECT_TRUE(fs::exists(there + "notes.txt") && fs::is_symlink(there + "link"));
  EXPECT_TRUE(fs::exists(there + "empty"));
  EXPECT_EQ(std::distance(fs::directory_iterator(there + "backup"), {}), 1);
  EXPECT_TRUE(spaces->Create("empty").ok());
}

TEST(NamespacesOnDiskTest, DirectoryThatAnotherEmulatorUsesIsUnavailable) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  const auto user = OpenIn(folder.path());
  const auto one = user->Create("one");
  MakeBucket(**one, "bucket");
  std::filesystem::create_directory(other.path() + "/namespaces");
  ASSERT_NE(OpenIn(other.path()), nullptr);
  std::filesystem::create_directory_symlink(folder.path() + "/namespaces/one",
                                            other.path() + "/namespaces/one");
  const auto spaces = OpenIn(other.path());
  for (const auto& refused : {spaces->Delete("one"), spaces->ResetAll()}) {
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(refused.error().message,
              "the directory of namespace 'one' is in use by another emulator; stop it and repeat "
              "the request");
  }
  EXPECT_TRUE(HasBucket(**one, "bucket"));
}

TEST(NamespacesOnDiskTest, InterruptedResetKeepsTheOldStore) {
  const TemporaryFolder folder;
  {
    const auto spaces = OpenIn(folder.path());
    MakeBucket(**spaces->Create("one"), "bucket");
  }
  const std::string unfinished = folder.path() + "/namespaces/one/generation-1000";
  std::filesystem::create_directory(unfinished);
  std::ofstream(unfinished + "/penstock.db");
  const auto spaces = OpenIn(folder.path());
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  EXPECT_TRUE(HasBucket(**spaces->Find("one"), "bucket"));
}

TEST(NamespacesOnDiskTest, DeletedNamespaceIsGoneAfterACrash) {
  const TemporaryFolder folder;
  const std::string one = folder.path() + "/namespaces/one";
  {
    const auto spaces = OpenIn(folder.path());
    MakeBucket(**spaces->Create("one"), "bucket");
  }
  // Simulates kill -9 while requests used it.
  std::ofstream(one + "/deleted-" + std::to_string(1u << 30));
  std::filesystem::create_directories(folder.path() + "/namespaces/.deleted-1/generation-1");
  const auto spaces = OpenIn(folder.path());
  EXPECT_EQ(spaces->Names(), std::vector<std::string>{"default"});
  EXPECT_EQ(spaces->AtStart("one"), identity::NamespaceState::kDeleted);
  EXPECT_TRUE(std::filesystem::exists(one)) << "until its keys are removed";
  spaces->RemoveLeftovers();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/namespaces"));
  EXPECT_FALSE(HasBucket(**spaces->Create("one"), "bucket"));
}

}  // namespace
}  // namespace penstock::emulator::server
