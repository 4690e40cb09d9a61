#include "emulator/store/checks/fsck.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store_testing.h"
#include "emulator/store/system/directory_lock.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: test helpers

class FsckTest : public ::testing::Test {
 protected:
  // Creates and closes a store with an inline object, one in a file, versions, a marker, an open
  // upload and a completed one.
  void SetUp() override {
    auto store = OpenStore({.directory = directory_.path()});
    MakeBucket(*store);
    PutTrue(*store, "inline", Body(1000));
    PutTrue(*store, "file", Body(100'000));
    PutTrue(*store, "empty", "");
    ASSERT_TRUE(store->SetVersioning(kBucket, Versioning::kEnabled).ok());
    PutTrue(*store, "inline", Body(2000));
    ASSERT_TRUE(Remove(*store, "inline").ok());
    const UploadId finished = Upload(*store, "joined", 50'000);
    CompleteUpload complete;
    complete.bucket = kBucket;
    complete.key = ObjectKey("joined");
    complete.upload_id = finished;
    complete.parts = {{1, ETag("part")}};
    ASSERT_TRUE(store->Complete(complete).ok());
    Upload(*store, "unfinished", 60'000);
  }

  static void PutTrue(Store& store, std::string key, const std::string& body) {
    PutObject put = MakePut(store, std::move(key), body);
    put.record.etag = ETag(HexEncode(Md5(AsBytes(body))));
    ASSERT_TRUE(store.Put(std::move(put)).ok());
  }

  static UploadId Upload(Store& store, const std::string& key, std::size_t size) {
    UploadRecord record;
    record.bucket = kBucket;
    record.key = ObjectKey(key);
    const UploadId id = (*store.CreateUpload(record))->id;
    PutPart part{
        kBucket, record.key, id, {1, size, ETag("part"), "", {}}, MakeContent(store, Body(size))};
    EXPECT_TRUE(store.Put(std::move(part)).ok());
    return id;
  }

  FsckReport Check(bool deep = false) {
    auto report = Fsck({directory_.path(), deep});
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return report.ok() ? std::move(report).value() : FsckReport{};
  }
  // The distinct codes of the findings.
  std::string Codes(bool deep = false) {
    std::vector<std::string> codes;
    for (const FsckFinding& finding : Check(deep).findings) codes.push_back(finding.code);
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    std::string joined;
    for (const std::string& code : codes) joined += (joined.empty() ? "" : " ") + code;
    return joined;
  }
  void Sql(const std::string& sql) {
    const auto connection = Connection::Open(directory_.path() + "/penstock.db");
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->Execute(sql).ok()) << sql;
  }
  fs::path BlobFileOf(std::uint64_t size) {
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() + "/blobs")) {
      if (entry.is_regular_file() && entry.file_size() == size) return entry.path();
    }
    return {};
  }

  const TemporaryDirectory directory_;
};

TEST_F(FsckTest, AnIntactStoreIsCleanAndCounted) {
  const FsckReport report = Check(true);
  EXPECT_TRUE(report.clean());
  EXPECT_TRUE(report.findings.empty())
      << report.findings.front().subject << " " << report.findings.front().message;
  EXPECT_EQ(report.buckets, 1u);
  EXPECT_EQ(report.versions, 6u);  // inline twice and its marker, file, empty, joined
  EXPECT_EQ(report.uploads, 1u);
  EXPECT_EQ(report.parts, 1u);
  EXPECT_GE(report.bytes_read, 203'000u);
}

TEST_F(FsckTest, ChangesNothing) {
  const auto state = [&] {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      files.push_back(entry.path().string() + std::string(std::istreambuf_iterator<char>(in), {}));
    }
    std::sort(files.begin(), files.end());
    return files;
  };
  const auto before = state();
  Check(true);
  EXPECT_TRUE(state() == before);
}

TEST_F(FsckTest, FindsMissingAndTruncatedFiles) {
  const fs::path file = BlobFileOf(100'000);
  fs::resize_file(file, 99'999);
  EXPECT_EQ(Codes(), "blob");
  fs::remove(file);
  const FsckReport report = Check();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].subject, file.string());
  EXPECT_FALSE(report.clean());
}

TEST_F(FsckTest, DeepCheckFindsChangedBytes) {
  std::fstream file(BlobFileOf(100'000), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5000);
  file.put('\0').put('\0').put('\0');
  file.close();
  EXPECT_EQ(Codes(), "");
  const FsckReport report = Check(true);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].code, "blob");
  EXPECT_EQ(report.findings[1].code, "content");
  EXPECT_EQ(report.findings[1].subject, "s3://bucket/file");
}

TEST_F(FsckTest, FindsWrongReferenceCounts) {
  Sql("UPDATE blobs SET refs = refs + 1 WHERE size = 1000");
  EXPECT_EQ(Codes(), "references");
}

TEST_F(FsckTest, FindsAMissingBlobRow) {
  Sql("DELETE FROM blobs WHERE size = 1000");
  EXPECT_EQ(Codes(), "record");
}

TEST_F(FsckTest, FindsTruncatedInlineBytes) {
  Sql("UPDATE blobs SET bytes = zeroblob(10) WHERE size = 1000");
  EXPECT_EQ(Codes(), "blob");
}

TEST_F(FsckTest, FindsInconsistentRecords) {
  Sql("UPDATE current SET size = size + 1 WHERE CAST(key AS TEXT) = 'file'");
  EXPECT_EQ(Codes(), "record");
  Sql("UPDATE current SET size = size - 1, tags = x'ff' WHERE CAST(key AS TEXT) = 'file'");
  EXPECT_EQ(Codes(), "record");
}

TEST_F(FsckTest, FindsPartsWithoutTheirUpload) {
  Sql("DELETE FROM uploads");
  EXPECT_EQ(Codes(), "upload");
}

TEST_F(FsckTest, FindsRecordsWithoutTheirBucket) {
  Sql("DELETE FROM buckets");
  EXPECT_EQ(Codes(), "record");
}

// The name identifies a directory bucket (Amazon S3 User Guide, "Directory bucket naming rules").
TEST_F(FsckTest, ADirectoryBucketHasOpaqueETagsAndNoVersions) {
  ASSERT_EQ(Codes(true), "");
  Sql("UPDATE current SET etag = '00000000000000000000000000000000' WHERE CAST(key AS TEXT) = "
      "'file'");
  EXPECT_EQ(Codes(true), "content");
  Sql("UPDATE buckets SET name = CAST('logs--use1-az4--x-s3' AS BLOB)");
  EXPECT_EQ(Codes(true), "record") << "it has versions";
  Sql("DELETE FROM versions; UPDATE current SET version_id = 'null'");
  for (const FsckFinding& finding : Check(true).findings)
    EXPECT_EQ(finding.code, "references") << finding.message;
}

TEST_F(FsckTest, OrphansAreNotesOnly) {
  fs::create_directories(directory_.path() + "/blobs/ee");
  std::ofstream(directory_.path() + "/blobs/ee/00000000000000ee") << "left behind";
  std::ofstream(directory_.path() + "/tmp/00000000000000ef") << "half";
  const FsckReport report = Check();
  EXPECT_EQ(report.findings.size(), 2u);
  EXPECT_TRUE(report.clean());
}

TEST_F(FsckTest, FindsADamagedDatabase) {
  std::fstream file(directory_.path() + "/penstock.db",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(0, std::ios::end);
  const auto size = static_cast<std::int64_t>(file.tellp());
  for (std::int64_t page = 12 * 4096; page < size; page += 4096) {
    file.seekp(page);
    file << std::string(1024, '\x5A');
  }
  file.close();
  const FsckReport report = Check();
  EXPECT_FALSE(report.clean());
  EXPECT_EQ(report.findings.front().code, "database");
  EXPECT_EQ(report.findings.front().message, "page 13 does not match its checksum");
}

TEST_F(FsckTest, AStoreInUseIsNotChecked) {
  const auto store = OpenStore({.directory = directory_.path()});
  const auto report = Fsck({directory_.path(), false});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("in use"), std::string::npos);
}

// A check that starts while the last connection empties the log would see files of different
// points in time.
TEST_F(FsckTest, AClosingStoreIsInUseUntilItsLogIsDeleted) {
  const TemporaryDirectory directory;
  auto store = OpenStore({.directory = directory.path()});
  MakeBucket(*store);
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(PutText(*store, "key" + std::to_string(i), Body(30'000)).ok());
  std::thread closing([&store] { store.reset(); });
  EXPECT_TRUE(WaitUntil([&] { return DirectoryLock::Share(directory.path()).ok(); }));
  EXPECT_FALSE(fs::exists(directory.path() + "/penstock.db-wal"));
  closing.join();
  const auto report = Fsck({directory.path(), false});
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_TRUE(report->clean());
}

TEST_F(FsckTest, ADirectoryWithoutAStoreIsRejected) {
  const TemporaryDirectory empty;
  EXPECT_EQ(Fsck({empty.path(), false}).error().kind, ErrorKind::kInvalidArgument);
  std::ofstream(empty.path() + "/penstock.db") << std::string(8192, 'x');
  EXPECT_EQ(Fsck({empty.path(), false}).error().kind, ErrorKind::kDataLoss);
}

TEST_F(FsckTest, ANewerStoreIsRejected) {
  Sql("PRAGMA user_version=99");
  const auto report = Fsck({directory_.path(), false});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("99"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::store
