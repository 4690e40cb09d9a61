// What a kill leaves behind, damaged: refused by the store and by fsck alike. A power failure may
// cost what was not synced.
#include "emulator/store/checks/commit_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/log.h"
#include "emulator/store/checks/fsck.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: the helpers of this folder's tests

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
  // A store with a bucket and small objects, all of them in the log, copied as if the process had
  // been killed.
  void SetUp() override {
    const TemporaryDirectory living;
    const auto store = OpenStore({.directory = living.path(), .durability = GetParam()});
    MakeBucket(*store);
    for (int i = 0; i < kObjects; ++i)
      ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(100)).ok());
    fs::copy(living.path(), killed_.path(), fs::copy_options::recursive);
    ASSERT_GT(fs::file_size(log_), 100'000u);
  }
  // A fresh copy of it.
  std::string Copy() {
    const std::string path = copies_.path() + "/" + std::to_string(++number_);
    fs::copy(killed_.path(), path, fs::copy_options::recursive);
    return path;
  }
  static void ExpectRefused(const std::string& directory, const std::string& file,
                            const std::string& what) {
    ExpectRefused(directory, file, "--accept-loss", what);
  }
  // The message names the file and the fix.
  static void ExpectRefused(const std::string& directory, const std::string& file,
                            const std::string& fix, const std::string& what) {
    const auto fsck = Fsck({directory, false});
    EXPECT_TRUE(!fsck.ok() || !fsck->clean()) << what << ": fsck finds nothing";
    const auto store = Store::Open({.directory = directory});
    ASSERT_FALSE(store.ok()) << what << ": the store opens";
    EXPECT_EQ(store.error().kind, ErrorKind::kDataLoss) << what;
    EXPECT_NE(store.error().message.find(file), std::string::npos) << store.error().message;
    EXPECT_NE(store.error().message.find(fix), std::string::npos) << store.error().message;
  }

  const TemporaryDirectory killed_;
  const TemporaryDirectory copies_;
  const std::string log_ = killed_.path() + "/penstock.db-wal";
  int number_ = 0;
};

TEST_P(CommitCheckTest, WhatAKillLeavesBehindIsWhole) {
  const auto report = Fsck({killed_.path(), true});
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_TRUE(report->clean());
  const auto store = OpenStore({.directory = killed_.path()});
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < kObjects; ++i) EXPECT_EQ(Get(*store, "key" + std::to_string(i)), Body(100));
}

TEST_P(CommitCheckTest, ADamagedByteOfTheLogsHeaderIsRefused) {
  for (std::uint64_t offset = 0; offset < 32; offset += 5) {
    const std::string directory = Copy();
    FlipByte(directory + "/penstock.db-wal", offset);
    ExpectRefused(directory, "penstock.db-wal", "byte " + std::to_string(offset));
  }
}

TEST_P(CommitCheckTest, ADamagedFrameIsRefused) {
  const std::uint64_t size = fs::file_size(log_);
  for (const std::uint64_t offset :
       {std::uint64_t{32}, std::uint64_t{60}, size / 2, size - 4120, size - 1}) {
    const std::string directory = Copy();
    FlipByte(directory + "/penstock.db-wal", offset);
    ExpectRefused(directory, "penstock.db-wal", "byte " + std::to_string(offset));
  }
}

TEST_P(CommitCheckTest, ACutOrMissingLogIsRefused) {
  const std::uint64_t size = fs::file_size(log_);
  for (const std::uint64_t left :
       {std::uint64_t{0}, std::uint64_t{31}, std::uint64_t{32}, size / 2, size - 1}) {
    const std::string directory = Copy();
    fs::resize_file(directory + "/penstock.db-wal", left);
    ExpectRefused(directory, "penstock.db-wal", std::to_string(left) + " bytes");
  }
  const std::string directory = Copy();
  fs::remove(directory + "/penstock.db-wal");
  ExpectRefused(directory, "penstock.db-wal", "no log");
}

TEST_P(CommitCheckTest, AnEmptiedOrMissingDatabaseIsRefused) {
  std::string directory = Copy();
  fs::resize_file(directory + "/penstock.db", 0);
  ExpectRefused(directory, "penstock.db", "empty");
  directory = Copy();
  fs::remove(directory + "/penstock.db");
  ExpectRefused(directory, "penstock.db", "missing");
}

TEST_P(CommitCheckTest, ObjectsWithoutADatabaseAreRefusedWithoutAMarkToo) {
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

TEST_P(CommitCheckTest, AClosedStoreNeedsItsDatabaseWhole) {
  OpenStore({.directory = killed_.path()}).reset();
  ASSERT_FALSE(fs::exists(log_));
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{4096}}) {
    const std::string directory = Copy();
    fs::resize_file(directory + "/penstock.db", left);
    ExpectRefused(directory, "penstock.db has ", left == 0 ? "--accept-loss" : "restore",
                  std::to_string(left) + " bytes");
  }
}

TEST_P(CommitCheckTest, AStoreOfABuildWithoutMarksOpensAndGetsOne) {
  const std::string directory = Copy();
  fs::remove(directory + "/penstock.db-mark");
  const auto store = OpenStore({.directory = directory});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key99"), Body(100));
  EXPECT_TRUE(CommitMark::Read(directory + "/penstock.db-mark").has_value());
}

TEST_P(CommitCheckTest, ADamagedMarkAloneLosesNothing) {
  const std::string directory = Copy();
  for (const std::uint64_t offset : {16, 2048 + 16})
    FlipByte(directory + "/penstock.db-mark", offset);
  const auto store = OpenStore({.directory = directory});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key99"), Body(100));
}

TEST_P(CommitCheckTest, APowerFailureMayCostWhatWasNotSyncedAndNothingElse) {
  const std::string directory = Copy();
  const std::string database = directory + "/penstock.db";
  fs::resize_file(database + "-wal", fs::file_size(log_) - 1);
  const auto killed = FindCommitLoss(database, BootId());
  ASSERT_TRUE(killed.has_value());
  EXPECT_FALSE(killed->is_permitted);
  const auto power_failure = FindCommitLoss(database, "another boot");
  ASSERT_TRUE(power_failure.has_value());
  EXPECT_EQ(power_failure->is_permitted, GetParam() == Durability::kRelaxed);
  EXPECT_GT(power_failure->frames, 0u);
  // The header was on the disk before the first frame, whatever the durability.
  FlipByte(database + "-wal", 0);
  EXPECT_FALSE(FindCommitLoss(database, "another boot")->is_permitted);
}

TEST_P(CommitCheckTest, WhatAPowerFailureCostIsRemembered) {
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
    return ExpectRefused(directory, "penstock.db-wal", "strict");
  EXPECT_TRUE(Fsck({directory, false})->clean());
  const auto store = OpenStore({.directory = directory});
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(Get(*store, "key99"), "[NoSuchKey]");
  EXPECT_EQ(Get(*store, "key50"), Body(100));
  EXPECT_GT(CommitMark::Read(database + "-mark")->lost_frames, 0u);
}

TEST_P(CommitCheckTest, AnAcceptedLossLetsTheStoreOpen) {
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

// Small objects in the database file, then a few in the log: SQLite takes the size of the database
// from the log.
class CutDatabaseTest : public CommitCheckTest {
 protected:
  void SetUp() override {
    const TemporaryDirectory living;
    {
      const auto store = OpenStore({.directory = living.path(), .durability = GetParam()});
      MakeBucket(*store);
      for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(30'000, i)).ok());
    }
    const auto store = OpenStore({.directory = living.path(), .durability = GetParam()});
    ASSERT_TRUE(PutText(*store, "in the log", Body(100)).ok());
    fs::copy(living.path(), killed_.path(), fs::copy_options::recursive);
    ASSERT_GT(fs::file_size(log_), 0u);
  }
  static void ExpectCutIsRefused(const std::string& directory, const std::string& what) {
    ExpectRefused(directory, "penstock.db has ", "restore the data directory from a copy; the rest",
                  what);
  }
};

TEST_P(CutDatabaseTest, ACutFileIsRefusedAlsoWhileTheLogHasFrames) {
  EXPECT_EQ(FindCommitLoss(killed_.path() + "/penstock.db", BootId()), std::nullopt);
  const std::uint64_t size = fs::file_size(killed_.path() + "/penstock.db");
  for (const char* mark : {"with its mark", "without its mark"}) {
    for (const std::uint64_t left : {size - 1, size - 4096, size / 2, std::uint64_t{4096}}) {
      const std::string directory = Copy();
      if (std::string_view(mark) == "without its mark") fs::remove(directory + "/penstock.db-mark");
      fs::resize_file(directory + "/penstock.db", left);
      ExpectCutIsRefused(directory, std::to_string(left) + " bytes, " + mark);
    }
  }
}

TEST_P(CutDatabaseTest, ACutFileOfAClosedStoreIsRefusedWithoutAMark) {
  OpenStore({.directory = killed_.path()}).reset();
  ASSERT_FALSE(fs::exists(log_));
  const std::uint64_t size = fs::file_size(killed_.path() + "/penstock.db");
  for (const std::uint64_t left : {size - 1, size - 4096, std::uint64_t{4096}}) {
    const std::string directory = Copy();
    fs::remove(directory + "/penstock.db-mark");
    fs::resize_file(directory + "/penstock.db", left);
    ExpectCutIsRefused(directory, std::to_string(left) + " bytes");
  }
}

// Nothing brings the pages back, and without them SQLite reads nothing of the rest.
TEST_P(CutDatabaseTest, TheLossOfACutFileCannotBeAccepted) {
  const std::string database = killed_.path() + "/penstock.db";
  fs::resize_file(database, fs::file_size(database) - 4096);
  const auto accepted = AcceptCommitLoss(database);
  ASSERT_FALSE(accepted.ok());
  EXPECT_NE(accepted.error().message.find("penstock.db has "), std::string::npos)
      << accepted.error().message;
  EXPECT_EQ(accepted.error().message.find("--accept-loss"), std::string::npos)
      << accepted.error().message;
}

// Pages that only the log has yet are no loss: a process that is killed while the database grows
// leaves that behind.
TEST_P(CutDatabaseTest, PagesThatTheLogHasMayBeMissingFromTheFile) {
  const TemporaryDirectory living;
  const auto store = OpenStore({.directory = living.path(), .durability = GetParam()});
  MakeBucket(*store);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(30'000, i)).ok());
  const std::string killed = copies_.path() + "/grown";
  fs::copy(living.path(), killed, fs::copy_options::recursive);
  EXPECT_EQ(FindCommitLoss(killed + "/penstock.db", BootId()), std::nullopt);
  fs::remove(killed + "/penstock.db-mark");
  EXPECT_EQ(FindCommitLoss(killed + "/penstock.db", BootId()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Both, CutDatabaseTest,
                         ::testing::Values(Durability::kRelaxed, Durability::kStrict),
                         [](const auto& durability) {
                           return durability.param == Durability::kStrict ? "Strict" : "Relaxed";
                         });

INSTANTIATE_TEST_SUITE_P(Both, CommitCheckTest,
                         ::testing::Values(Durability::kRelaxed, Durability::kStrict),
                         [](const auto& durability) {
                           return durability.param == Durability::kStrict ? "Strict" : "Relaxed";
                         });

// A kill between any two commits, while the log is checkpointed, begins anew and is truncated.
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
    ASSERT_EQ(FindCommitLoss(path, BootId()).has_value(), false) << i;
    ASSERT_EQ(FindCommitLoss(path, "another boot").has_value(), false) << i;
    if (i % 10 != 9) continue;
    const std::string unmarked = directory.path() + "/unmarked";
    for (const char* file : {"", "-wal"}) {
      fs::copy_file(path + file, unmarked + file, fs::copy_options::overwrite_existing);
    }
    ASSERT_EQ(FindCommitLoss(unmarked, BootId()).has_value(), false) << i;
  }
  const auto mark = CommitMark::Read(path + "-mark");
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

// A mark that an earlier state of the log left on the disk when the power failed.
TEST(CommitCheck, AMarkThatIsOlderThanTheLogRequiresNothing) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  const auto writer = Connection::Open(path);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)
                  ->Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)")
                  .ok());
  fs::copy_file(path + "-mark", path + "-mark.old");
  ASSERT_TRUE((*writer)->Checkpoint().ok());
  ASSERT_TRUE((*writer)->Execute("INSERT INTO t VALUES(2)").ok());  // the log begins anew
  fs::remove(path + "-mark");
  fs::copy_file(path + "-mark.old", path + "-mark");
  EXPECT_EQ(FindCommitLoss(path, "another boot"), std::nullopt);
  EXPECT_NE(FindCommitLoss(path, BootId()), std::nullopt)
      << "without a power failure the mark is never older";
}

}  // namespace
}  // namespace penstock::emulator::store
