// Opening, crashes, damage, a full disk, and many concurrent threads.
#include "emulator/store/sqlite_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "emulator/store/full_disk_testing.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

TEST(SqliteStore, ASecondOpenIsRejected) {
  const TemporaryDirectory directory;
  const auto first = OpenStore({.directory = directory.path()});
  const auto second = Store::Open({.directory = directory.path()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(second.error().message.find(directory.path()), std::string::npos);
}

TEST(SqliteStore, CanBeOpenedAgainAfterClosing) {
  const TemporaryDirectory directory;
  OpenStore({.directory = directory.path()}).reset();
  EXPECT_TRUE(Store::Open({.directory = directory.path()}).ok());
}

TEST(SqliteStore, TheErrorNamesAnUnusableDirectory) {
  const auto store = Store::Open({.directory = "/dev/null/store"});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(store.error().message.find("/dev/null/store"), std::string::npos);
}

TEST(SqliteStore, AFileThatIsNotADatabaseIsDataLoss) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/penstock.db") << std::string(8192, 'x');
  const auto store = Store::Open({.directory = directory.path()});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(store.error().message.find("penstock.db"), std::string::npos);
}

// A start does not detect the damage, because it must not read all of a large database.
TEST(SqliteStore, ADamagedDatabaseIsDataLossWhenItIsRead) {
  const TemporaryDirectory directory;
  {
    const auto store = OpenStore({.directory = directory.path()});
    MakeBucket(*store);
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(500)).ok());
  }
  std::fstream file(directory.path() + "/penstock.db",
                    std::ios::in | std::ios::out | std::ios::binary);
  for (int page = 12; page < 60; ++page) {  // after the root pages of the tables
    file.seekp(page * 4096);
    file << std::string(2048, '\x5A');
  }
  file.close();
  const auto store = Store::Open({.directory = directory.path()});
  ASSERT_TRUE(store.ok()) << store.error().ToString();
  const auto page = (*store)->List(ListObjects{.bucket = kBucket});
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(page.error().message.find("penstock.db"), std::string::npos);
}

TEST(SqliteStore, AnUnknownSchemaVersionIsRejected) {
  const TemporaryDirectory directory;
  OpenStore({.directory = directory.path()}).reset();
  {
    auto connection = Connection::Open(directory.path() + "/penstock.db");
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->Execute("PRAGMA user_version=99").ok());
  }
  const auto store = Store::Open({.directory = directory.path()});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(store.error().message.find("99"), std::string::npos);
}

TEST(SqliteStore, LeftoversOfACrashAreRemoved) {
  const TemporaryDirectory directory;
  OpenStore({.directory = directory.path()}).reset();
  const std::string temporary = directory.path() + "/tmp/0000000000000001";
  const std::string orphan = directory.path() + "/blobs/07/0000000000000007";
  std::filesystem::create_directories(directory.path() + "/blobs/07");
  std::ofstream(temporary) << "half";
  std::ofstream(orphan) << "complete";
  const auto store = OpenStore({.directory = directory.path()});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while ((std::filesystem::exists(temporary) || std::filesystem::exists(orphan)) &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(std::filesystem::exists(temporary));
  EXPECT_FALSE(std::filesystem::exists(orphan));
}

TEST(SqliteStore, AMissingBlobFileIsDataLoss) {
  const TemporaryDirectory directory;
  {
    const auto store = OpenStore({.directory = directory.path()});
    MakeBucket(*store);
    ASSERT_TRUE(PutText(*store, "key", Body(100'000)).ok());
  }
  std::filesystem::remove_all(directory.path() + "/blobs");
  const auto store = OpenStore({.directory = directory.path()});
  const auto found = store->FindObject(kBucket, ObjectKey("key"));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kDataLoss);
}

// Runs in the child: writes objects and reports each acknowledged one until the process is killed.
[[noreturn]] void WriteUntilKilled(const std::string& directory, Durability durability,
                                   int report) {
  auto store = Store::Open({.directory = directory, .durability = durability});
  BucketRecord bucket;
  bucket.name = kBucket;
  if (!store.ok() || !(*store)->CreateBucket(bucket).ok()) ::_exit(1);
  for (unsigned i = 0;; ++i) {
    if (!PutText(**store, "key" + std::to_string(i), Body(i % 3 == 0 ? 50'000 : 500, i)).ok())
      ::_exit(2);
    if (::write(report, &i, sizeof(i)) != sizeof(i)) ::_exit(3);
  }
}

void KillAndReopen(Durability durability, unsigned acknowledged_before_kill) {
  const TemporaryDirectory directory;
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) WriteUntilKilled(directory.path(), durability, pipe_ends[1]);
  ::close(pipe_ends[1]);
  unsigned last = 0;
  while (last < acknowledged_before_kill &&
         ::read(pipe_ends[0], &last, sizeof(last)) == sizeof(last)) {
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  // Reads the objects that were acknowledged before the kill took effect.
  while (::read(pipe_ends[0], &last, sizeof(last)) == sizeof(last)) {
  }
  ::close(pipe_ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_GE(last, acknowledged_before_kill);
  const auto store = OpenStore({.directory = directory.path()});
  ASSERT_NE(store, nullptr);
  for (unsigned i = 0; i <= last; ++i) {
    ASSERT_EQ(Get(*store, "key" + std::to_string(i)), Body(i % 3 == 0 ? 50'000 : 500, i)) << i;
  }
}

TEST(SqliteStore, RelaxedKeepsAcknowledgedWritesAfterAKill) {
  KillAndReopen(Durability::kRelaxed, 300);
}

TEST(SqliteStore, StrictKeepsAcknowledgedWritesAfterAKill) {
  KillAndReopen(Durability::kStrict, 10);
}

TEST(SqliteStore, AFullDiskRejectsWritesAndServesReads) {
  const TemporaryDirectory directory;
  const auto store = OpenStore({.directory = directory.path()});
  MakeBucket(*store);
  const std::string body = Body(40'000);
  ASSERT_TRUE(PutText(*store, "before", body).ok());
  {
    const FullDisk full(256 << 10);
    auto writer = store->NewBlob(0);
    ASSERT_TRUE(writer.ok());
    Result<void> appended = Ok();
    for (int i = 0; i < 10 && appended.ok(); ++i)
      appended = (*writer)->Append(AsBytes(Body(100'000)));
    ASSERT_FALSE(appended.ok());
    EXPECT_EQ(appended.error().kind, ErrorKind::kResourceExhausted);
    Result<PutOutcome> put = PutText(*store, "small", "x");
    for (int i = 0; i < 200 && put.ok(); ++i)
      put = PutText(*store, "fill" + std::to_string(i), Body(8'000));
    ASSERT_FALSE(put.ok()) << "the database outgrew the limit";
    EXPECT_EQ(put.error().kind, ErrorKind::kResourceExhausted) << put.error().ToString();
    EXPECT_EQ(Get(*store, "before"), body);
    EXPECT_TRUE(store->List(ListObjects{.bucket = kBucket}).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() + "/tmp"));
  EXPECT_TRUE(PutText(*store, "after", body).ok());
  EXPECT_EQ(Get(*store, "after"), body);
}

// Each body names its key and its write. Readers must see only bodies of their key, and a writer
// must see its own acknowledged write.
void ReadAndWriteConcurrently(StoreOptions options) {
  const auto store = OpenStore(std::move(options));
  MakeBucket(*store);
  constexpr int kWriters = 3;
  constexpr int kRounds = 60;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  const auto body = [](int writer, int round) {
    return std::to_string(writer) + ":" + std::to_string(round) + ":" +
           std::string(round % 5 == 0 ? 40'000 : 10, 'x');
  };
  const auto write = [&](int writer) {
    const std::string key = "key" + std::to_string(writer);
    for (int round = 0; round < kRounds; ++round) {
      if (!PutText(*store, key, body(writer, round)).ok()) ++wrong;
      if (Get(*store, key) != body(writer, round)) ++wrong;
      if (round % 7 == 0 && (!Remove(*store, key).ok() || Get(*store, key) != "[NoSuchKey]"))
        ++wrong;
    }
  };
  const auto read = [&] {
    for (int i = 0; !stop; ++i) {
      const std::string got = Get(*store, "key" + std::to_string(i % kWriters));
      if (got != "[NoSuchKey]" && !got.starts_with(std::to_string(i % kWriters) + ":")) ++wrong;
      if (i % 8 == 0 && !store->List(ListObjects{.bucket = kBucket}).ok()) ++wrong;
    }
  };
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) writers.emplace_back(write, i);
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(read);
  for (std::thread& thread : writers) thread.join();
  stop = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(wrong, 0);
  for (int i = 0; i < kWriters; ++i) {
    EXPECT_EQ(Get(*store, "key" + std::to_string(i)), body(i, kRounds - 1));
  }
}

TEST(SqliteStore, SupportsConcurrentReadersAndWritersInMemory) { ReadAndWriteConcurrently({}); }

TEST(SqliteStore, SupportsConcurrentReadersAndWritersInADirectory) {
  const TemporaryDirectory directory;
  ReadAndWriteConcurrently({.directory = directory.path()});
}

}  // namespace
}  // namespace penstock::emulator::store
