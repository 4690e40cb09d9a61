// Changes bytes of a closed store, and of the log of an open one. Later reads return correct data
// or an error, never wrong data.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/store/blobs/block_checksums.h"
#include "emulator/store/checks/fsck.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: test helpers

void Flip(const fs::path& path, std::uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get());
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(static_cast<char>(byte ^ 0x21));
  ASSERT_TRUE(file.good());
}

ErrorKind KindOf(const Result<void>& result) {
  return result.ok() ? ErrorKind::kNotModified : result.error().kind;
}

class DamagedBlobTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kSize = 3 * kBlockBytes + 1000;

  void SetUp() override {
    const auto store = OpenStore({.directory = directory_.path()});
    MakeBucket(*store);
    ASSERT_TRUE(PutText(*store, "file", Body(kSize)).ok());
  }
  fs::path File() const {
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() + "/blobs")) {
      if (entry.is_regular_file()) return entry.path();
    }
    return {};
  }
  Result<void> Read(Store& store, ByteRange range) {
    const auto object = store.FindObject(kBucket, ObjectKey("file"));
    if (!object.ok()) return object.error();
    std::string bytes(range.size(), '\0');
    PENSTOCK_TRY(ReadContent((*object)->content, range.begin,
                             {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}));
    EXPECT_TRUE(bytes == Body(kSize).substr(range.begin, range.size()));
    return Ok();
  }
  const TemporaryDirectory directory_;
};

TEST_F(DamagedBlobTest, ADamagedBlockIsNotRead) {
  Flip(File(), kBlockBytes + 77);
  const auto store = OpenStore({.directory = directory_.path()});
  EXPECT_EQ(KindOf(Read(*store, {0, kSize})), ErrorKind::kDataLoss);
  EXPECT_EQ(KindOf(Read(*store, {2 * kBlockBytes - 1, 2 * kBlockBytes + 1})), ErrorKind::kDataLoss);
  EXPECT_TRUE(Read(*store, {0, kBlockBytes}).ok());
  EXPECT_TRUE(Read(*store, {2 * kBlockBytes, kSize}).ok());
  const Error error = Read(*store, {0, kSize}).error();
  EXPECT_NE(error.message.find(File().string()), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("offset 1048576"), std::string::npos) << error.message;
}

TEST_F(DamagedBlobTest, TheFirstReadAfterAWriteIsVerified) {
  const auto store = OpenStore({.directory = directory_.path()});
  ASSERT_TRUE(PutText(*store, "file", Body(kSize)).ok());
  ASSERT_TRUE(WaitForBlobFiles(directory_, 1));
  Flip(File(), kSize - 1);
  EXPECT_EQ(KindOf(Read(*store, {3 * kBlockBytes, kSize})), ErrorKind::kDataLoss);
}

TEST_F(DamagedBlobTest, CheckContentAnewReadsVerifiedBlocksAgain) {
  const auto store = OpenStore({.directory = directory_.path()});
  ASSERT_TRUE(Read(*store, {0, kSize}).ok());
  const auto object = store->FindObject(kBucket, ObjectKey("file"));
  EXPECT_TRUE(CheckContentAnew((*object)->content, {0, kSize}).ok());
  Flip(File(), 2 * kBlockBytes);
  EXPECT_TRUE(CheckContent((*object)->content, {0, kSize}).ok()) << "verified once per process";
  EXPECT_EQ(KindOf(CheckContentAnew((*object)->content, {0, kSize})), ErrorKind::kDataLoss);
  EXPECT_TRUE(CheckContentAnew((*object)->content, {0, kBlockBytes}).ok());
}

// Whether the file was open since it was verified or was opened again, and whether it is closed and
// opened again after the damage was found.
TEST_F(DamagedBlobTest, KnownDamageIsNotServed) {
  const auto store = OpenStore({.directory = directory_.path()});
  const auto close_file = [&] {  // the object is evicted from the cache
    return store->SetTags(kBucket, ObjectKey("file"), std::nullopt, {{"a", "b"}}).ok();
  };
  const auto check_anew = [&] {
    const auto object = store->FindObject(kBucket, ObjectKey("file"));
    return KindOf(CheckContentAnew((*object)->content, {0, kSize}));
  };
  for (const bool opened_again : {false, true}) {
    ASSERT_TRUE(PutText(*store, "file", Body(kSize)).ok());
    ASSERT_TRUE(WaitForBlobFiles(directory_, 1));
    ASSERT_TRUE(Read(*store, {0, kSize}).ok());
    ASSERT_TRUE(!opened_again || close_file());
    Flip(File(), 2 * kBlockBytes);
    ASSERT_EQ(check_anew(), ErrorKind::kDataLoss);
    for (const bool closed : {false, true}) {
      ASSERT_TRUE(!closed || close_file());
      EXPECT_EQ(KindOf(Read(*store, {0, kSize})), ErrorKind::kDataLoss) << opened_again << closed;
      EXPECT_TRUE(Read(*store, {0, 2 * kBlockBytes}).ok()) << "other blocks are served";
    }
    Flip(File(), 2 * kBlockBytes);
    EXPECT_TRUE(Read(*store, {0, kSize}).ok()) << "the file was restored";
    EXPECT_EQ(check_anew(), ErrorKind::kNotModified);
  }
}

TEST_F(DamagedBlobTest, VerificationOutlivesTheOpenFile) {
  const auto store = OpenStore({.directory = directory_.path()});
  ASSERT_TRUE(Read(*store, {0, kSize}).ok());
  // The object is evicted from the cache, and its file is closed.
  ASSERT_TRUE(store->SetTags(kBucket, ObjectKey("file"), std::nullopt, {{"a", "b"}}).ok());
  Flip(File(), 0);
  const auto object = store->FindObject(kBucket, ObjectKey("file"));
  EXPECT_TRUE(CheckContent((*object)->content, {0, kSize}).ok())
      << "verified blocks are not read again";
}

TEST_F(DamagedBlobTest, PartsAndCopiesKeepTheChecksumsOfTheirBlobs) {
  {
    const auto store = OpenStore({.directory = directory_.path()});
    UploadRecord record;
    record.bucket = kBucket;
    record.key = ObjectKey("joined");
    const UploadId id = (*store->CreateUpload(record))->id;
    const auto source = store->FindObject(kBucket, ObjectKey("file"));
    const ByteRange tail{kBlockBytes + 5, kSize};
    PutPart part{kBucket,
                 record.key,
                 id,
                 {1, tail.size(), ETag("part"), "", {}},
                 (*source)->content.Sub(tail)};
    ASSERT_TRUE(store->Put(std::move(part)).ok());
    CompleteUpload complete;
    complete.bucket = kBucket;
    complete.key = record.key;
    complete.upload_id = id;
    complete.parts = {{1, ETag("part")}};
    ASSERT_TRUE(store->Complete(complete).ok());
    ASSERT_TRUE(Remove(*store, "file").ok());
  }
  Flip(File(), 3 * kBlockBytes + 1);
  const auto store = OpenStore({.directory = directory_.path()});
  const auto object = store->FindObject(kBucket, ObjectKey("joined"));
  const std::uint64_t size = kSize - kBlockBytes - 5;
  EXPECT_EQ(KindOf(CheckContent((*object)->content, {0, size})), ErrorKind::kDataLoss);
  EXPECT_TRUE(CheckContent((*object)->content, {0, kBlockBytes}).ok());
}

TEST_F(DamagedBlobTest, DeepFsckNamesTheBlockAndTheObject) {
  Flip(File(), 2 * kBlockBytes + 9);
  EXPECT_TRUE(Fsck({directory_.path(), false})->clean());
  const auto report = Fsck({directory_.path(), true});
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].code, "blob");
  EXPECT_EQ(report->findings[0].subject, File().string());
  EXPECT_NE(report->findings[0].message.find("2097152"), std::string::npos);
}

// A store with rows of every table.
const BucketName kVersioned("versioned");

class DamagedDatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = OpenStore({.directory = directory_.path()});
    Fill(*store);
  }
  void Fill(Store& store) {
    MakeBucket(store);
    MakeBucket(store, kVersioned, Versioning::kEnabled);
    ASSERT_TRUE(store.SetConfiguration(kBucket, "cors", "<CORS/>").ok());
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(PutText(store, Key(i), Body(50 + 300 * i, i)).ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(PutText(store, Key(i), Body(50, i), kVersioned).ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(PutText(store, Key(i), Body(60, i), kVersioned).ok());
    UploadRecord record;
    record.bucket = kBucket;
    record.key = ObjectKey("upload");
    record.initiator = "arn";
    const UploadId id = (*store.CreateUpload(record))->id;
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(store
                      .Put(PutPart{kBucket,
                                   record.key,
                                   id,
                                   {i, 100, ETag("part"), "c", {}},
                                   MakeContent(store, Body(100))})
                      .ok());
    }
    expected_ = AllResults(store);
    ASSERT_EQ(expected_.find("[damaged]"), std::string::npos);
  }
  static std::string Key(int i) { return "key-" + std::to_string(100 + i); }

  template <class T>
  static bool Damaged(const Result<T>& result, std::vector<std::string>& lines) {
    if (result.ok()) return false;
    lines.push_back(result.error().kind == ErrorKind::kDataLoss
                        ? "[damaged]"
                        : "[" + result.error().ToString() + "]");
    return true;
  }

  // The results of all queries, one line each.
  static std::string AllResults(Store& store) {
    std::vector<std::string> lines;
    const auto buckets = store.ListBuckets();
    for (const BucketPtr& bucket : *buckets) {
      lines.push_back(bucket->name.value + " " + bucket->owner_id + " " +
                      std::to_string(bucket->configuration.size()));
    }
    for (const BucketName& bucket : {kBucket, kVersioned}) {
      for (int i = 0; i < 31; ++i) {  // the last one does not exist
        const auto found = store.FindObject(bucket, ObjectKey(Key(i)));
        if (Damaged(found, lines)) continue;
        const ObjectRecord& object = **found;
        std::string body(object.size, '\0');
        const auto read = ReadContent(object.content, 0,
                                      {reinterpret_cast<std::byte*>(body.data()), body.size()});
        if (Damaged(read, lines)) continue;
        lines.push_back(object.etag.value + " " + object.owner_id + " " +
                        HexEncode(Md5(AsBytes(body))) +
                        std::to_string(object.last_modified.time_since_epoch().count()));
      }
      if (const auto page = store.List(ListObjects{.bucket = bucket}); !Damaged(page, lines)) {
        std::string line;
        for (const ListEntry& entry : page->entries)
          line += std::string(entry.key) + std::string(entry.etag) + std::to_string(entry.size);
        lines.push_back(line);
      }
      if (const auto page = store.List(ListVersions{.bucket = bucket}); !Damaged(page, lines)) {
        std::string line;
        for (const ListEntry& entry : page->entries)
          line += std::string(entry.key) + std::string(entry.version_id);
        lines.push_back(line);
      }
    }
    const auto uploads = store.List(ListUploads{.bucket = kBucket});
    if (!Damaged(uploads, lines)) {
      for (const UploadListEntry& entry : uploads->entries) {
        lines.push_back(entry.upload->id.value + entry.upload->initiator);
        const auto parts = store.ListParts(kBucket, entry.upload->key, entry.upload->id, 0, 100);
        if (!Damaged(parts, lines)) {
          for (const StoredPart& part : *parts)
            lines.push_back(part.part.etag.value + Text(part.content));
        }
      }
    }
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }

  // Whether every line of `found` equals the expected line or reports damage. Results that depend
  // on a failed query may be missing.
  static bool IsExpectedOrDamaged(const std::string& found, const std::string& right) {
    std::istringstream a(found);
    std::istringstream b(right);
    std::string line;
    std::string expected;
    while (std::getline(a, line)) {
      if (!std::getline(b, expected)) return false;
      if (line != expected && line != "[damaged]") return false;
    }
    return true;
  }

  const TemporaryDirectory directory_;
  const std::string database_ = directory_.path() + "/penstock.db";
  std::string expected_;
};

TEST_F(DamagedDatabaseTest, NoDamagedDatabaseByteCausesAWrongResult) {
  ASSERT_EQ(fs::exists(database_ + "-wal") ? fs::file_size(database_ + "-wal") : 0, 0u);
  const std::uint64_t size = fs::file_size(database_);
  std::ifstream sound(database_, std::ios::binary);
  const std::string before{std::istreambuf_iterator<char>(sound), {}};
  std::uint64_t tried = 0;
  std::uint64_t detected = 0;
  for (std::uint64_t offset = 0; offset < size; offset += offset < 100 ? 3 : 1009) {
    ++tried;
    Flip(database_, offset);
    const auto report = Fsck({directory_.path(), false});
    EXPECT_FALSE(report.ok() && report->clean()) << offset;
    auto store = Store::Open({.directory = directory_.path()});
    if (!store.ok()) {
      ++detected;
      EXPECT_EQ(store.error().kind, ErrorKind::kDataLoss)
          << offset << " " << store.error().ToString();
    } else {
      const std::string found = AllResults(**store);
      detected += found != expected_ ? 1 : 0;
      ASSERT_TRUE(IsExpectedOrDamaged(found, expected_)) << "offset " << offset << "\n" << found;
      store->reset();
    }
    std::ofstream(database_, std::ios::binary | std::ios::trunc) << before;
    std::error_code ignored;
    fs::remove(database_ + "-wal", ignored);
    fs::remove(database_ + "-shm", ignored);
  }
  EXPECT_GT(detected, tried / 2);
}

const BucketName kLate("late");  // written after the damage

// Damages the log while the store is open. All changes are in the log, and no page and no object is
// in a cache.
class DamagedLogTest : public DamagedDatabaseTest {
 protected:
  static constexpr std::uint64_t kLogHeader = 32;
  static constexpr std::uint64_t kFrameHeader = 24;
  static constexpr std::uint64_t kFrame = kFrameHeader + 4096;

  void SetUp() override {
    const auto store = OpenStore({.directory = directory_.path()});
    MakeBucket(*store, kLate);
    Fill(*store);
    Copy(directory_.path(), killed_.path());
    log_size_ = fs::file_size(LogOf(killed_.path()));
    ASSERT_GT(log_size_, kLogHeader + 100 * kFrame);
  }
  static fs::path LogOf(const std::string& directory) { return directory + "/penstock.db-wal"; }
  static void Copy(const std::string& from, const std::string& to) {
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  std::uint64_t FrameAt(std::uint64_t number) const {
    return kLogHeader + (number - 1) * kFrame;  // the first is 1
  }
  std::uint64_t frames() const { return (log_size_ - kLogHeader) / kFrame; }

  // Opens the store of a directory. It is refused, or has every acknowledged write.
  void CheckNextStart(const std::string& directory, bool has_late, const std::string& what) {
    auto store = Store::Open({.directory = directory});
    if (!store.ok()) {
      EXPECT_EQ(store.error().kind, ErrorKind::kDataLoss) << what << store.error().ToString();
      return;
    }
    const std::string found = AllResults(**store);
    ASSERT_TRUE(IsExpectedOrDamaged(found, expected_)) << what << "\n" << found;
    if (!has_late) return;
    const auto late = (*store)->FindObject(kLate, ObjectKey("key"));
    ASSERT_TRUE(late.ok() || late.error().kind == ErrorKind::kDataLoss)
        << what << late.error().ToString();
    const std::string text = late.ok() ? Text((*late)->content) : "late";
    EXPECT_EQ(text, "late") << what;
  }
  // Returns whether a read found the damage.
  template <class Change>
  bool Try(const std::string& what, const Change& change) {
    const TemporaryDirectory running;
    Copy(killed_.path(), running.path());
    auto store = OpenStore({.directory = running.path()});
    change(LogOf(running.path()));
    const std::string found = AllResults(*store);
    EXPECT_TRUE(IsExpectedOrDamaged(found, expected_)) << what << "\n" << found;
    const auto late = PutText(*store, "key", "late", kLate);
    EXPECT_TRUE(late.ok() || late.error().kind == ErrorKind::kDataLoss) << what;
    const TemporaryDirectory killed;
    Copy(running.path(), killed.path());
    CheckNextStart(killed.path(), late.ok(), what + ", killed: ");
    store.reset();
    CheckNextStart(running.path(), late.ok(), what + ", closed: ");
    return found != expected_;
  }
  bool TryFlip(std::uint64_t offset) {
    return Try("flipped at " + std::to_string(offset),
               [&](const fs::path& log) { Flip(log, offset); });
  }
  bool TryCut(std::uint64_t size) {
    return Try("cut at " + std::to_string(size),
               [&](const fs::path& log) { fs::resize_file(log, size); });
  }

  const TemporaryDirectory killed_;
  std::uint64_t log_size_ = 0;
};

TEST_F(DamagedLogTest, NoFlippedByteOfAHeaderCausesAWrongResult) {
  for (std::uint64_t at = 0; at < kLogHeader; at += 3) TryFlip(at);
  for (const std::uint64_t frame : {std::uint64_t{1}, frames() / 2, frames()}) {
    for (std::uint64_t at = 0; at < kFrameHeader; at += 3) TryFlip(FrameAt(frame) + at);
  }
}

TEST_F(DamagedLogTest, NoFlippedByteOfAPageCausesAWrongResult) {
  std::ifstream file(LogOf(killed_.path()), std::ios::binary);
  const std::string log{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, std::uint64_t> last_frames;  // by page: the one that reads need
  for (std::uint64_t frame = 1; frame <= frames(); ++frame)
    last_frames[log.substr(FrameAt(frame), 4)] = frame;
  int detected = 0;
  for (const auto& [page_number, frame] : last_frames) {
    const std::uint64_t page = FrameAt(frame) + kFrameHeader;
    const std::uint64_t record = log.find("owner", page);  // a field of an object or a bucket
    detected += TryFlip(record < page + 4096 ? record : page + frame * 997 % 4096) ? 1 : 0;
  }
  EXPECT_GT(detected, 20) << "of " << last_frames.size();
  for (std::uint64_t frame = 1; frame <= frames(); frame += 20)  // most were replaced
    TryFlip(FrameAt(frame) + kFrameHeader + frame * 997 % 4096);
  for (const std::uint64_t at : {0, 3, 7, 100, 4000, 4087, 4088, 4095})
    TryFlip(FrameAt(frames()) + kFrameHeader + at);
}

TEST_F(DamagedLogTest, NoCutOfTheLogCausesAWrongResult) {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, kLogHeader, FrameAt(1) + 10, FrameAt(2),
        FrameAt(frames() / 2), FrameAt(frames() / 2) + 1000, FrameAt(frames()), log_size_ - 1})
    TryCut(size);
  Try("removed", [](const fs::path& log) { fs::remove(log); });
}

}  // namespace
}  // namespace penstock::emulator::store
