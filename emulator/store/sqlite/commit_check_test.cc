// The state that a killed process leaves behind, with damage added: rejected by the store and by
// fsck. A power failure may lose commits that were not synced.
#include "emulator/store/sqlite/commit_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/log/log.h"
#include "emulator/store/checks/fsck.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: test helpers

constexpr int kObjects = 100;

void FlipByte(const std::string& path, std::uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const auto byte = static_cast<char>(file.get() ^ 0x20);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

class CommitCheckTest : public ::testing::TestWithParam<Durability> {
 protected:
  // Creates a store with a bucket and small objects, all in the log, and copies it as if the
  // process had been killed.
  void SetUp() override {
    const TemporaryDirectory running;
    const auto store = OpenStore({.directory = running.path(), .durability = GetParam()});
    MakeBucket(*store);
    for (int i = 0; i < kObjects; ++i)
      ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(100)).ok());
    fs::copy(running.path(), killed_.path(), fs::copy_options::recursive);
    ASSERT_GT(fs::file_size(log_), 100'000u);
  }
  // Makes a copy of the killed store.
  std::string Copy() {
    const std::string path = copies_.path() + "/" + std::to_string(++number_);
    fs::copy(killed_.path(), path, fs::copy_options::recursive);
    return path;
  }
  static void ExpectRejected(const std::string& directory, const std::string& file,
                             const std::string& what) {
    ExpectRejected(directory, file, "--accept-loss", what);
  }
  // The message must name the file and the fix.
  static void ExpectRejected(const std::string& directory, const std::string& file,
                             const std::string& fix, const std::string& what) {
    const auto fsck = Fsck({directory, false});
    EXPECT_TRUE(!fsck.ok() || !fsck->clean()) << what << ": fsck finds nothing";
    const auto store = Store::Open({.directory = directory});
    ASSERT_FALSE(store.ok()) << what << ": the store opens";
    EXPECT_EQ(store.error().kind, ErrorKind::kDataLoss) << what;
    EXPECT_NE(store.error().message.find(file), std::string::npos) << store.error().message;
    EXPECT_NE(store.error().message.find(fix), std::string::npos) << store.error().message;
  }
  // No start would accept a store without a database, so the error must not advise --accept-loss.
  static void ExpectNotAccepted(const std::string& directory) {
    const auto before = CommitMark::Inspect(directory + "/penstock.db-mark");
    const auto accepted = AcceptCommitLoss(directory + "/penstock.db");
    ASSERT_FALSE(accepted.ok());
    EXPECT_EQ(accepted.error().message.find("--accept-loss"), std::string::npos)
        << accepted.error().message;
    const auto after = CommitMark::Inspect(directory + "/penstock.db-mark");
    EXPECT_EQ(after->state, before->state) << "nothing was changed";
  }

  const TemporaryDirectory killed_;
  const TemporaryDirectory copies_;
  const std::string log_ = killed_.path() + "/penstock.db-wal";
  int number_ = 0;
};

TEST_P(CommitCheckTest, AKilledStoreIsIntact) {
  const auto report = Fsck({killed_.path(), true});
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_TRUE(report->clean());
  const auto store = OpenStore({.directory = killed_.path()});
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < kObjects; ++i) EXPECT_EQ(Get(*store, "key" + std::to_string(i)), Body(100));
}

TEST_P(CommitCheckTest, ADamagedLogHeaderIsRejected) {
  for (std::uint64_t offset = 0; offset < 32; offset += 5) {
    const std::string directory = Copy();
    FlipByte(directory + "/penstock.db-wal", offset);
    ExpectRejected(directory, "penstock.db-wal", "byte " + std::to_string(offset));
  }
}

TEST_P(CommitCheckTest, ADamagedFrameIsRejected) {
  const std::uint64_t size = fs::file_size(log_);
  for (const std::uint64_t offset :
       {std::uint64_t{32}, std::uint64_t{60}, size / 2, size - 4120, size - 1}) {
    const std::string directory = Copy();
    FlipByte(directory + "/penstock.db-wal", offset);
    ExpectRejected(directory, "penstock.db-wal", "byte " + std::to_string(offset));
  }
}

TEST_P(CommitCheckTest, ATruncatedOrMissingLogIsRejected) {
  const std::uint64_t size = fs::file_size(log_);
  for (const std::uint64_t left :
       {std::uint64_t{0}, std::uint64_t{31}, std::uint64_t{32}, size / 2, size - 1}) {
    const std::string directory = Copy();
    fs::resize_file(directory + "/penstock.db-wal", left);
    ExpectRejected(directory, "penstock.db-wal", std::to_string(left) + " bytes");
  }
  const std::string directory = Copy();
  fs::remove(directory + "/penstock.db-wal");
  ExpectRejected(directory, "penstock.db-wal", "no log");
}

TEST_P(CommitCheckTest, AnEmptyOrMissingDatabaseIsRejected) {
  std::string directory = Copy();
  fs::resize_file(directory + "/penstock.db", 0);
  ExpectRejected(directory, "penstock.db", "restore the data directory", "empty");
  ExpectNotAccepted(directory);
  directory = Copy();
  fs::remove(directory + "/penstock.db");
  ExpectRejected(directory, "penstock.db", "restore the data directory", "missing");
  ExpectNotAccepted(directory);
}

TEST_P(CommitCheckTest, ObjectsWithoutADatabaseAreRejectedEvenWithoutAMark) {
  const std::string directory = Copy();
  fs::create_directories(directory + "/blobs/07");
  std::ofstream(directory + "/blobs/07/0000000000000007") << "an object";
  for (const char* file : {"/penstock.db", "/penstock.db-wal", "/penstock.db-mark"})
    fs::remove(directory + file);
  const auto store = Store::Open({.directory = directory});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().kind, ErrorKind::kDataLoss);
  EXPECT_TRUE(fs::exists(directory + "/blobs/07/0000000000000007"));
}

TEST_P(CommitCheckTest, ATruncatedDatabaseOfAClosedStoreIsRejected) {
  OpenStore({.directory = killed_.path()}).reset();
  ASSERT_FALSE(fs::exists(log_));
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{4096}}) {
    const std::string directory = Copy();
    fs::resize_file(directory + "/penstock.db", left);
    ExpectRejected(directory, "penstock.db has ", "restore", std::to_string(left) + " bytes");
  }
}

// For example a backup of a closed store, copied over a store that was killed.
TEST_P(CommitCheckTest, TheLogOfAnotherStateBesideAClosedStoreIsRejected) {
  const std::string closed = Copy();
  ASSERT_NE(OpenStore({.directory = closed, .durability = GetParam()}), nullptr);
  ASSERT_FALSE(fs::exists(closed + "/penstock.db-wal"));
  const std::string later = closed + "-later";
  fs::copy(closed, later, fs::copy_options::recursive);
  {
    const auto store = OpenStore({.directory = later, .durability = GetParam()});
    ASSERT_TRUE(Remove(*store, "key7").ok());
    fs::copy(later + "/penstock.db-wal", closed + "/penstock.db-wal");
  }
  ExpectRejected(closed, "penstock.db-wal", "the log of a later state");
  const auto accepted = AcceptCommitLoss(closed + "/penstock.db");
  ASSERT_TRUE(accepted.ok() && accepted->has_value());
  EXPECT_TRUE(fs::exists(closed + "/penstock.db-wal.damaged"));
  const auto store = OpenStore({.directory = closed, .durability = GetParam()});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key7"), Body(100));
}

// A kill between the last update of the mark and the deletion of the log.
TEST_P(CommitCheckTest, TheOwnLogBesideAClosedStoreIsIntact) {
  const std::string closed = Copy();
  const std::string log = closed + "/penstock.db-wal";
  {
    const auto running = OpenStore({.directory = closed, .durability = GetParam()});
    ASSERT_NE(running, nullptr);
    fs::copy(log, log + "-kept");
  }
  ASSERT_FALSE(fs::exists(log));
  fs::rename(log + "-kept", log);
  const auto store = OpenStore({.directory = closed, .durability = GetParam()});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key7"), Body(100));
}

// For example a copy of a running store that was made again over the first copy, after the store
// was closed.
TEST_P(CommitCheckTest, AnEarlierLogBesideAClosedStoreIsRejected) {
  const std::string closed = Copy();
  const std::string log = closed + "/penstock.db-wal";
  {
    const auto running = OpenStore({.directory = closed, .durability = GetParam()});
    ASSERT_NE(running, nullptr);
    fs::copy(log, log + "-kept");
    ASSERT_TRUE(PutText(*running, "key7", Body(200)).ok());
  }
  ASSERT_FALSE(fs::exists(log));
  fs::rename(log + "-kept", log);
  ExpectRejected(closed, "penstock.db-wal", "an earlier state of the log");
  ASSERT_TRUE(AcceptCommitLoss(closed + "/penstock.db").ok());
  const auto store = OpenStore({.directory = closed, .durability = GetParam()});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key7"), Body(200));
}

TEST_P(CommitCheckTest, TheLogOfAnotherStoreIsRejectedWithoutAMark) {
  const std::string closed = Copy();
  ASSERT_NE(OpenStore({.directory = closed, .durability = GetParam()}), nullptr);
  fs::remove(closed + "/penstock.db-mark");
  const TemporaryDirectory other;
  const auto running = OpenStore({.directory = other.path(), .durability = GetParam()});
  MakeBucket(*running);
  // The log has the first page once the database has grown.
  for (int i = 0; i < kObjects; ++i)
    ASSERT_TRUE(PutText(*running, "other" + std::to_string(i), Body(100)).ok());
  fs::copy(other.path() + "/penstock.db-wal", closed + "/penstock.db-wal");
  ExpectRejected(closed, "penstock.db-wal", "another store's log");
}

TEST_P(CommitCheckTest, AStoreThatWasKilledAfterItWasClosedIsIntact) {
  const std::string closed = Copy();
  ASSERT_NE(OpenStore({.directory = closed, .durability = GetParam()}), nullptr);
  const auto running = OpenStore({.directory = closed, .durability = GetParam()});
  ASSERT_TRUE(PutText(*running, "new", Body(100)).ok());
  const std::string again = closed + "-killed";
  fs::copy(closed, again, fs::copy_options::recursive);
  const auto store = OpenStore({.directory = again, .durability = GetParam()});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "new"), Body(100));
}

TEST_P(CommitCheckTest, AStoreWithoutAMarkOpensAndGetsOne) {
  const std::string directory = Copy();
  fs::remove(directory + "/penstock.db-mark");
  const auto store = OpenStore({.directory = directory});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key99"), Body(100));
  EXPECT_TRUE(CommitMark::Inspect(directory + "/penstock.db-mark")->state.has_value());
}

TEST_P(CommitCheckTest, AStoreWithADamagedMarkOpens) {
  const std::string directory = Copy();
  for (const std::uint64_t offset : {16, 2048 + 16})
    FlipByte(directory + "/penstock.db-mark", offset);
  const auto store = OpenStore({.directory = directory});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key99"), Body(100));
}

TEST_P(CommitCheckTest, APowerFailureMayLoseOnlyUnsyncedCommits) {
  const std::string directory = Copy();
  const std::string database = directory + "/penstock.db";
  fs::resize_file(database + "-wal", fs::file_size(log_) - 1);
  const auto killed = *FindCommitLoss(database, BootId());
  ASSERT_TRUE(killed.has_value());
  EXPECT_FALSE(killed->is_permitted);
  const auto power_failure = *FindCommitLoss(database, "another boot");
  ASSERT_TRUE(power_failure.has_value());
  EXPECT_EQ(power_failure->is_permitted, GetParam() == Durability::kRelaxed);
  EXPECT_GT(power_failure->frames, 0u);
  // The header was on disk before the first frame, whatever the durability.
  FlipByte(database + "-wal", 0);
  EXPECT_FALSE((*FindCommitLoss(database, "another boot"))->is_permitted);
}

TEST_P(CommitCheckTest, ThePermittedLossIsRecorded) {
  const std::string directory = Copy();
  const std::string database = directory + "/penstock.db";
  {
    const auto mark = CommitMark::Open(database + "-mark");
    ASSERT_TRUE(mark.ok());
    CommitState state = (*mark)->state();
    state.boot_id = "another boot";
    ASSERT_TRUE((*mark)->Store(state).ok());
  }
  fs::resize_file(database + "-wal", fs::file_size(log_) - 1);
  if (GetParam() == Durability::kStrict)
    return ExpectRejected(directory, "penstock.db-wal", "strict");
  EXPECT_TRUE(Fsck({directory, false})->clean());
  const auto store = OpenStore({.directory = directory});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key99"), "[NoSuchKey]");
  EXPECT_EQ(Get(*store, "key50"), Body(100));
  EXPECT_GT(CommitMark::Inspect(database + "-mark")->state->lost_frames, 0u);
}

TEST_P(CommitCheckTest, TheStoreOpensAfterTheLossIsAccepted) {
  std::string directory = Copy();
  EXPECT_EQ(*AcceptCommitLoss(directory + "/penstock.db"), std::nullopt) << "nothing is lost";
  FlipByte(directory + "/penstock.db-wal", 60'000);
  ASSERT_TRUE((*AcceptCommitLoss(directory + "/penstock.db")).has_value());
  {
    const auto store = OpenStore({.directory = directory});
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(Get(*store, "key99"), "[NoSuchKey]");
    EXPECT_EQ(Get(*store, "key0"), Body(100));
    ASSERT_TRUE(PutText(*store, "key99", "again").ok());
  }
  EXPECT_EQ(Get(*OpenStore({.directory = directory}), "key99"), "again");

  directory = Copy();
  FlipByte(directory + "/penstock.db-wal", 0);
  ASSERT_TRUE((*AcceptCommitLoss(directory + "/penstock.db")).has_value());
  EXPECT_TRUE(fs::exists(directory + "/penstock.db-wal.damaged"));
  EXPECT_EQ(Get(*OpenStore({.directory = directory}), "key0"), "[NoSuchBucket]")
      << "the tables were in the database file";
}

// Small objects in the database file, and a few in the log. SQLite takes the size of the database
// from the log.
class TruncatedDatabaseTest : public CommitCheckTest {
 protected:
  void SetUp() override {
    const TemporaryDirectory running;
    {
      const auto store = OpenStore({.directory = running.path(), .durability = GetParam()});
      MakeBucket(*store);
      for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(30'000, i)).ok());
    }
    const auto store = OpenStore({.directory = running.path(), .durability = GetParam()});
    ASSERT_TRUE(PutText(*store, "in the log", Body(100)).ok());
    fs::copy(running.path(), killed_.path(), fs::copy_options::recursive);
    ASSERT_GT(fs::file_size(log_), 0u);
  }
  static void ExpectTruncatedIsRejected(const std::string& directory, const std::string& what) {
    ExpectRejected(directory, "penstock.db has ",
                   "restore the data directory from a backup; the rest", what);
  }
};

TEST_P(TruncatedDatabaseTest, ATruncatedFileIsRejectedEvenIfTheLogHasFrames) {
  EXPECT_EQ(*FindCommitLoss(killed_.path() + "/penstock.db", BootId()), std::nullopt);
  const std::uint64_t size = fs::file_size(killed_.path() + "/penstock.db");
  for (const char* mark : {"with its mark", "without its mark"}) {
    for (const std::uint64_t left : {size - 1, size - 4096, size / 2, std::uint64_t{4096}}) {
      const std::string directory = Copy();
      if (std::string_view(mark) == "without its mark") fs::remove(directory + "/penstock.db-mark");
      fs::resize_file(directory + "/penstock.db", left);
      ExpectTruncatedIsRejected(directory, std::to_string(left) + " bytes, " + mark);
    }
  }
}

TEST_P(TruncatedDatabaseTest, ATruncatedFileOfAClosedStoreIsRejectedWithoutAMark) {
  OpenStore({.directory = killed_.path()}).reset();
  ASSERT_FALSE(fs::exists(log_));
  const std::uint64_t size = fs::file_size(killed_.path() + "/penstock.db");
  for (const std::uint64_t left : {size - 1, size - 4096, std::uint64_t{4096}}) {
    const std::string directory = Copy();
    fs::remove(directory + "/penstock.db-mark");
    fs::resize_file(directory + "/penstock.db", left);
    ExpectTruncatedIsRejected(directory, std::to_string(left) + " bytes");
  }
}

// The pages cannot be restored, and SQLite cannot read the rest of the file without them.
TEST_P(TruncatedDatabaseTest, TheLossOfATruncatedFileCannotBeAccepted) {
  const std::string database = killed_.path() + "/penstock.db";
  fs::resize_file(database, fs::file_size(database) - 4096);
  const auto accepted = AcceptCommitLoss(database);
  ASSERT_FALSE(accepted.ok());
  EXPECT_NE(accepted.error().message.find("penstock.db has "), std::string::npos)
      << accepted.error().message;
  EXPECT_EQ(accepted.error().message.find("--accept-loss"), std::string::npos)
      << accepted.error().message;
}

// Pages that are only in the log are not lost. A process that is killed while the database grows
// leaves this state behind.
TEST_P(TruncatedDatabaseTest, PagesInTheLogMayBeMissingFromTheFile) {
  const TemporaryDirectory running;
  const auto store = OpenStore({.directory = running.path(), .durability = GetParam()});
  MakeBucket(*store);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(30'000, i)).ok());
  const std::string killed = copies_.path() + "/grown";
  fs::copy(running.path(), killed, fs::copy_options::recursive);
  EXPECT_EQ(*FindCommitLoss(killed + "/penstock.db", BootId()), std::nullopt);
  fs::remove(killed + "/penstock.db-mark");
  EXPECT_EQ(*FindCommitLoss(killed + "/penstock.db", BootId()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Both, TruncatedDatabaseTest,
                         ::testing::Values(Durability::kRelaxed, Durability::kStrict),
                         [](const auto& durability) {
                           return durability.param == Durability::kStrict ? "Strict" : "Relaxed";
                         });

INSTANTIATE_TEST_SUITE_P(Both, CommitCheckTest,
                         ::testing::Values(Durability::kRelaxed, Durability::kStrict),
                         [](const auto& durability) {
                           return durability.param == Durability::kStrict ? "Strict" : "Relaxed";
                         });

// The process may be killed between any two commits while the log is checkpointed, restarts and is
// truncated.
TEST(CommitCheck, NothingIsMissingAfterAnyCommit) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  const auto writer = Connection::Open(path);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(
      (*writer)
          ->Execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE t(a, b)")
          .ok());
  for (int i = 0; i < 200; ++i) {
    const std::string rows = std::to_string(i % 40 == 39 ? 300 : 3);
    ASSERT_TRUE((*writer)
                    ->Execute("INSERT INTO t SELECT " + std::to_string(i) +
                              ", randomblob(3000) FROM (WITH RECURSIVE"
                              " n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" +
                              rows + ") SELECT i FROM n)")
                    .ok());
    if (i % 7 == 6) {
      ASSERT_TRUE((*writer)->Checkpoint().ok());
    }
    if (i % 50 == 49) {
      ASSERT_TRUE(
          (*writer)
              ->Execute("PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM t WHERE a % 2; VACUUM")
              .ok());
    }
    ASSERT_EQ(FindCommitLoss(path, BootId())->has_value(), false) << i;
    ASSERT_EQ(FindCommitLoss(path, "another boot")->has_value(), false) << i;
    if (i % 10 != 9) continue;
    const std::string unmarked = directory.path() + "/unmarked";
    for (const char* file : {"", "-wal"}) {
      fs::copy_file(path + file, unmarked + file, fs::copy_options::overwrite_existing);
    }
    ASSERT_EQ(FindCommitLoss(unmarked, BootId())->has_value(), false) << i;
  }
  const auto mark = CommitMark::Inspect(path + "-mark")->state;
  ASSERT_TRUE(mark.has_value());
  EXPECT_GT(mark->frames, 0u);
}

TEST_P(CommitCheckTest, AMissingOrDamagedMarkIsANoteAndLogged) {
  for (const char* damage : {"missing", "zeros", "short", "flipped"}) {
    const std::string directory = Copy();
    const std::string mark = directory + "/penstock.db-mark";
    if (damage == std::string("missing")) fs::remove(mark);
    if (damage == std::string("zeros")) std::ofstream(mark) << std::string(4096, '\0');
    if (damage == std::string("short")) fs::resize_file(mark, 2000);
    if (damage == std::string("flipped")) FlipByte(mark, 20), FlipByte(mark, 2048 + 20);
    const auto report = Fsck({directory, false});
    ASSERT_TRUE(report.ok()) << damage;
    EXPECT_TRUE(report->clean()) << damage;
    ASSERT_EQ(report->findings.size(), 1u) << damage;
    EXPECT_EQ(report->findings[0].code, "mark") << damage;
    std::string logged;
    SetLogSink(LogLevel::kWarning,
               [&logged](LogLevel, const std::string& line) { logged += line; });
    EXPECT_TRUE(Store::Open({.directory = directory}).ok()) << damage;
    SetLogSink(LogLevel::kOff, {});
    EXPECT_NE(logged.find("store.commit_mark_damaged"), std::string::npos)
        << damage << ": " << logged;
    EXPECT_TRUE(Fsck({directory, false})->findings.empty())
        << damage << ": the start wrote a new one";
  }
}

// The valid slot is older than a damaged one. The log that it describes is deleted, or another one
// was begun.
TEST_P(CommitCheckTest, ADamagedSlotRequiresNothingOfALaterLog) {
  const std::string closed = Copy();
  ASSERT_NE(OpenStore({.directory = closed, .durability = GetParam()}), nullptr);
  ASSERT_FALSE(fs::exists(closed + "/penstock.db-wal"));
  const std::string begun = closed + "-begun";
  fs::copy(closed, begun, fs::copy_options::recursive);
  const auto running = OpenStore({.directory = begun, .durability = GetParam()});
  ASSERT_TRUE(PutText(*running, "new", Body(100)).ok());
  for (const std::string& directory : {closed, begun}) {
    for (const std::uint64_t slot : {0, 2048}) {
      const std::string damaged = directory + "-" + std::to_string(slot);  // also a kill
      fs::copy(directory, damaged, fs::copy_options::recursive);
      FlipByte(damaged + "/penstock.db-mark", slot + 20);
      const auto report = Fsck({damaged, false});
      ASSERT_TRUE(report.ok()) << damaged;
      EXPECT_TRUE(report->clean()) << damaged << ": " << report->findings[0].message;
      ASSERT_EQ(report->findings.size(), 1u) << damaged;
      EXPECT_EQ(report->findings[0].code, "mark") << damaged;
      auto store = OpenStore({.directory = damaged, .durability = GetParam()});
      ASSERT_NE(store, nullptr) << damaged;
      EXPECT_EQ(Get(*store, "new"), directory == closed ? "[NoSuchKey]" : Body(100)) << damaged;
      store.reset();
      EXPECT_TRUE(Fsck({damaged, false})->findings.empty()) << damaged << ": a new mark";
    }
  }
}

// A log with fewer commits than the valid slot requires is damaged, whatever the other slot had.
TEST_P(CommitCheckTest, ADamagedSlotHidesNoShorterLog) {
  const std::string database = Copy() + "/penstock.db";
  FlipByte(database + "-mark", 20);
  fs::resize_file(database + "-wal", fs::file_size(log_) / 2);
  EXPECT_NE(*FindCommitLoss(database, BootId()), std::nullopt);
  FlipByte(database + "-wal", 0);
  EXPECT_NE(*FindCommitLoss(database, BootId()), std::nullopt) << "damaged header";
}

// The mark of an earlier state of the log that was on disk when the power failed.
TEST(CommitCheck, AMarkOlderThanTheLogRequiresNoFrames) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  const auto writer = Connection::Open(path);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)
                  ->Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)")
                  .ok());
  fs::copy_file(path + "-mark", path + "-mark.old");
  ASSERT_TRUE((*writer)->Checkpoint().ok());
  ASSERT_TRUE((*writer)->Execute("INSERT INTO t VALUES(2)").ok());  // the log restarts
  fs::remove(path + "-mark");
  fs::copy_file(path + "-mark.old", path + "-mark");
  EXPECT_EQ(*FindCommitLoss(path, "another boot"), std::nullopt);
  EXPECT_NE(*FindCommitLoss(path, BootId()), std::nullopt)
      << "without a power failure the mark is never older";
}

}  // namespace
}  // namespace penstock::emulator::store
