#include "emulator/store/system/memory_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGiB = 1024 * kMiB;

std::uint64_t DefaultFor(std::uint64_t machine, const std::string& group) {
  return DefaultMemoryLimitFor({machine, [&](const std::string& path) {
                                  return path == "/sys/fs/cgroup/memory.max" ? std::optional(group)
                                                                             : std::nullopt;
                                }});
}

TEST(DefaultMemoryLimit, IsHalfOfAMachineWithoutALimit) {
  EXPECT_EQ(DefaultFor(8 * kGiB, "max\n"), 4 * kGiB);
}

TEST(DefaultMemoryLimit, IsThreeQuartersOfTheControlGroup) {
  EXPECT_EQ(DefaultFor(8 * kGiB, "1073741824\n"), 768 * kMiB);
}

TEST(DefaultMemoryLimit, IsPositiveOnThisMachine) {
  EXPECT_GE(DefaultMemoryLimitBytes(), 16 * kMiB);
}

TEST(DocumentCharge, AWriteThatWouldFitWithoutDocumentsIsToBeSentAgain) {
  MemoryLimit limit(64 * kMiB);
  DocumentCharge document(&limit);
  ASSERT_TRUE(document.GrowTo(kMiB).ok());
  MemoryCharge object(&limit);
  const auto later = object.GrowTo(30 * kMiB);
  ASSERT_FALSE(later.ok());
  EXPECT_EQ(later.error().code, "SlowDown");
  EXPECT_EQ(later.error().kind, ErrorKind::kThrottled);
  const auto never = object.GrowTo(65 * kMiB);
  ASSERT_FALSE(never.ok());
  EXPECT_EQ(never.error().code, "InsufficientStorage");
  document.Release();
  EXPECT_TRUE(object.GrowTo(30 * kMiB).ok());
}

// One of the documents is the request that adds it.
TEST(LastingCharge, DoesNotCountRequestDocuments) {
  const auto limit = std::make_shared<MemoryLimit>(64 * kMiB);
  DocumentCharge document(limit.get());
  ASSERT_TRUE(document.GrowTo(kMiB).ok());  // 40 MiB
  LastingCharge scenario(limit);
  EXPECT_TRUE(scenario.GrowTo(60 * kMiB).ok());
  EXPECT_EQ(limit->used_bytes(), 100 * kMiB);
  const auto refused = LastingCharge(limit).GrowTo(5 * kMiB);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "InsufficientStorage");
  EXPECT_NE(refused.error().message.find("limit of 64.0 MiB"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("5.0 MiB more are needed. Delete objects, namespaces, "
                                         "retry tests, fault scenarios or limits"),
            std::string::npos)
      << refused.error().message;
}

TEST(LastingCharge, KeepsItsLimitAliveAndIsReleasedByItsDestructor) {
  auto limit = std::make_shared<MemoryLimit>(64 * kMiB);
  {
    LastingCharge scenario(limit);
    ASSERT_TRUE(scenario.GrowTo(60 * kMiB).ok());
    EXPECT_EQ(limit.use_count(), 2);
  }
  EXPECT_EQ(limit->used_bytes(), 0U);
}

// The counters of all memory and of documents change one after the other.
TEST(DocumentCharge, DocumentsInProgressDoNotRefuseAWritePermanently) {
  MemoryLimit limit(64 * kMiB);
  std::atomic<bool> done{false};
  std::jthread documents([&] {
    while (!done.load(std::memory_order_relaxed)) {
      DocumentCharge document(&limit);
      EXPECT_TRUE(document.GrowTo(kMiB).ok());
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end) {
    MemoryCharge object(&limit);
    const auto grown = object.GrowTo(30 * kMiB);
    if (grown.ok()) continue;
    EXPECT_EQ(grown.error().code, "SlowDown");
    if (grown.error().code != "SlowDown") break;
  }
  done = true;
}

TEST(DocumentCharge, RecordsAreAdmittedBesideADocumentBeyondTheLimit) {
  MemoryLimit limit(64 * kMiB);
  {
    DocumentCharge document(&limit);
    ASSERT_TRUE(document.GrowTo(2 * kMiB).ok());
    EXPECT_EQ(limit.used_bytes(), 80 * kMiB);
    EXPECT_TRUE(limit.HasRoomForRecords(0));
    EXPECT_FALSE(limit.HasRoomFor(0));
  }
  EXPECT_EQ(limit.used_bytes(), 0U);
  MemoryCharge objects(&limit);
  objects.SetAnyway(65 * kMiB);
  EXPECT_FALSE(limit.HasRoomForRecords(0));
}

TEST(DocumentCharge, ThePlaceBeyondTheLimitIsFreeAgainAfterwards) {
  MemoryLimit limit(kMiB);
  for (int round = 0; round < 2; ++round) {
    DocumentCharge first(&limit);
    DocumentCharge second(&limit);
    ASSERT_TRUE(first.GrowTo(kMiB).ok());
    EXPECT_TRUE(first.GrowTo(2 * kMiB).ok()) << "the charge that has the place may grow";
    EXPECT_EQ(second.GrowTo(kMiB).error().code, "SlowDown");
    EXPECT_EQ(limit.used_bytes(), 80 * kMiB);
  }
  EXPECT_EQ(limit.used_bytes(), 0U);
}

struct LimitedStore {
  explicit LimitedStore(std::uint64_t bytes, Versioning versioning = Versioning::kNever)
      : limit(std::make_shared<MemoryLimit>(bytes)), store(OpenStore({.memory_limit = limit})) {
    MakeBucket(*store, kBucket, versioning);
  }

  // Returns the S3 code of the error; empty: stored.
  std::string Put(const std::string& key, std::size_t size, std::uint64_t hint,
                  Attributes attributes = {}) {
    auto writer = store->NewBlob(hint);
    if (!writer.ok()) return writer.error().code;
    const std::string piece(std::min<std::size_t>(size, 64 << 10), 'x');
    for (std::size_t left = size; left > 0; left -= std::min(left, piece.size())) {
      const auto appended = (*writer)->Append(AsBytes(std::string_view(piece).substr(0, left)));
      if (!appended.ok()) return appended.error().code;
    }
    auto content = (*writer)->Finish();
    if (!content.ok()) return content.error().code;
    PutObject put;
    put.bucket = kBucket;
    put.record.key = ObjectKey(key);
    put.record.size = size;
    put.record.etag = ETag("e");
    put.record.content = std::move(*content);
    put.record.attributes = std::move(attributes);
    const auto stored = store->Put(std::move(put));
    return stored.ok() ? "" : stored.error().code;
  }

  // Puts objects until one is rejected. Returns the number of stored objects.
  int Fill(std::size_t size, std::uint64_t hint, int most = 100'000) {
    for (int i = 0; i < most; ++i) {
      if (Put("fill-" + std::to_string(i), size, hint) == "InsufficientStorage") return i;
    }
    return most;
  }

  std::shared_ptr<MemoryLimit> limit;
  std::unique_ptr<Store> store;
};

class BodiesOf : public ::testing::TestWithParam<std::pair<std::size_t, bool>> {};

TEST_P(BodiesOf, AreRejectedOverTheLimitWithoutLeftovers) {
  const auto [size, announced] = GetParam();
  LimitedStore limited(32 * kMiB);
  const int stored = limited.Fill(size, announced ? size : 0);
  EXPECT_GE(stored, static_cast<int>(24 * kMiB / (size + 16384)));
  EXPECT_LE(stored, static_cast<int>(32 * kMiB / size));
  const std::uint64_t used = limited.limit->used_bytes();
  EXPECT_LE(used, 32 * kMiB);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(limited.Put("more", 32 * kMiB, 0), "InsufficientStorage");
  EXPECT_EQ(limited.limit->used_bytes(), used) << "rejected uploads are still charged";
  EXPECT_EQ(Get(*limited.store, "more"), "[NoSuchKey]");
}

TEST_P(BodiesOf, AreStoredAgainAfterDeletions) {
  const auto [size, announced] = GetParam();
  LimitedStore limited(32 * kMiB);
  const int stored = limited.Fill(size, announced ? size : 0);
  for (int i = 0; i < stored; ++i)
    ASSERT_TRUE(Remove(*limited.store, "fill-" + std::to_string(i)).ok());
  EXPECT_GE(limited.Fill(size, announced ? size : 0), stored - 1);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BodiesOf,
                         ::testing::Values(std::pair<std::size_t, bool>(20 << 10, true),
                                           std::pair<std::size_t, bool>(20 << 10, false),
                                           std::pair<std::size_t, bool>(3 << 20, true),
                                           std::pair<std::size_t, bool>(3 << 20, false)),
                         [](const auto& tested) {
                           return std::to_string(tested.param.first) +
                                  (tested.param.second ? "Announced" : "Unannounced");
                         });

TEST(MemoryLimit, RejectsAnAnnouncedBodyBeforeItsFirstByte) {
  LimitedStore limited(32 * kMiB);
  const auto writer = limited.store->NewBlob(33 * kMiB);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_NE(writer.error().message.find("33.0 MiB more are needed"), std::string::npos)
      << writer.error().message;
  EXPECT_NE(writer.error().message.find("limit of 32.0 MiB"), std::string::npos)
      << writer.error().message;
  EXPECT_NE(writer.error().message.find("--memory-limit"), std::string::npos)
      << writer.error().message;
}

TEST(MemoryLimit, CountsRowsOfEmptyObjects) {
  LimitedStore limited(4 * kMiB);
  const int stored = limited.Fill(0, 0);
  EXPECT_LT(stored, 100'000);
  EXPECT_LE(limited.limit->used_bytes(), 4 * kMiB);
  for (int i = 0; i < stored; ++i)
    ASSERT_TRUE(Remove(*limited.store, "fill-" + std::to_string(i)).ok());
  EXPECT_EQ(limited.Put("again", 0, 0), "") << "deleted rows free space for others";
}

struct Records {
  std::string name;
  std::size_t key_bytes;
  std::size_t attribute_bytes;
};

class RecordsOf : public ::testing::TestWithParam<Records> {
 protected:
  static constexpr std::uint64_t kLimit = 8 * kMiB;

  // Keys are in the order of the numbers, or scattered.
  std::string Key(int number) const {
    const auto place = scattered_ ? static_cast<std::uint32_t>(number) * 2654435761U : number;
    std::string digits = std::to_string(place);
    return std::string(GetParam().key_bytes, 'k') + std::string(10 - digits.size(), '0') + digits;
  }
  bool Store(int number) {
    const std::string code =
        limited_.Put(Key(number), 1, 1, {{"a", std::string(GetParam().attribute_bytes, 'v')}});
    EXPECT_TRUE(code.empty() || code == "InsufficientStorage") << code;
    EXPECT_LE(limited_.limit->used_bytes(), kLimit);
    return code.empty();
  }
  int FillWithRecords() {
    int count = 0;
    while (count < 100'000 && Store(count)) ++count;
    EXPECT_GT(count, 100);
    EXPECT_LT(count, 100'000);
    return count;
  }
  void DeleteRecord(int number) {
    EXPECT_TRUE(Remove(*limited_.store, Key(number)).ok());
    EXPECT_LE(limited_.limit->used_bytes(), kLimit);
  }

  LimitedStore limited_{kLimit};
  bool scattered_ = false;
};

// Pages of the database that are partly empty count whole.
TEST_P(RecordsOf, AreStoredAgainAfterAFewDeletions) {
  for (const bool scattered : {false, true}) {
    SCOPED_TRACE(scattered);
    scattered_ = scattered;
    LimitedStore fresh(kLimit);
    std::swap(limited_, fresh);
    const int stored = FillWithRecords();
    for (int i = 0; i < 20; ++i) DeleteRecord(i * 5);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(Store(stored + i)) << i;
  }
}

// The memory of a half is much more than the reserve.
TEST_P(RecordsOf, AreStoredAgainAfterManyDeletions) {
  const int stored = FillWithRecords();
  for (const auto& [end, step] : {std::pair(stored, 10), {stored, 2}, {stored / 2, 1}}) {
    int refused = 0;
    for (int i = 0; i < end; i += step) DeleteRecord(i);
    for (int i = 0; i < end; i += step) refused += Store(i) ? 0 : 1;
    EXPECT_EQ(refused, 0) << "every " << step << ". of " << end;
  }
}

// Each record replaces an older one, as in a queue.
TEST_P(RecordsOf, CanReplaceTheOldestOnesForEver) {
  const int stored = FillWithRecords();
  for (int i = 0; i < stored; ++i) {
    DeleteRecord(i);
    ASSERT_TRUE(Store(stored + i)) << i;
  }
}

TEST_P(RecordsOf, LeaveTheirMemoryToABody) {
  const int stored = FillWithRecords();
  for (int i = 0; i < stored; ++i) DeleteRecord(i);
  EXPECT_EQ(limited_.Put("body", 7 * kMiB, 7 * kMiB), "");
}

INSTANTIATE_TEST_SUITE_P(Sizes, RecordsOf,
                         ::testing::Values(Records{"Short", 20, 40}, Records{"LongKeys", 1000, 10},
                                           Records{"LongAttributes", 1000, 6000}),
                         [](const auto& tested) { return tested.param.name; });

// As DeleteObjectTagging.
TEST(MemoryLimit, TagsCanBeRemovedFromAFullStore) {
  LimitedStore limited(4 * kMiB);
  ASSERT_GT(limited.Fill(0, 0), 0);
  EXPECT_TRUE(
      limited.store->SetTags(kBucket, ObjectKey("fill-0"), std::nullopt, Attributes{}).ok());
}

TEST(MemoryLimit, CountsDeleteMarkers) {
  LimitedStore limited(4 * kMiB, Versioning::kEnabled);
  int made = 0;
  while (made < 200'000 && Remove(*limited.store, "key").ok()) ++made;
  EXPECT_LT(made, 200'000);
}

TEST(MemoryLimit, CountsPartsUntilTheUploadIsAborted) {
  LimitedStore limited(16 * kMiB);
  UploadRecord record;
  record.bucket = kBucket;
  record.key = ObjectKey("whole");
  const auto upload = limited.store->CreateUpload(std::move(record));
  ASSERT_TRUE(upload.ok());
  int parts = 0;
  for (; parts < 100; ++parts) {
    auto writer = limited.store->NewBlob(kMiB);
    if (!writer.ok()) break;
    if (!(*writer)->Append(AsBytes(std::string(kMiB, 'p'))).ok()) break;
    PutPart part{.bucket = kBucket,
                 .key = ObjectKey("whole"),
                 .upload_id = (*upload)->id,
                 .part = {},
                 .content = *(*writer)->Finish()};
    part.part.number = parts + 1;
    part.part.size = kMiB;
    ASSERT_TRUE(limited.store->Put(std::move(part)).ok());
  }
  EXPECT_EQ(parts, 15);
  ASSERT_TRUE(limited.store->AbortUpload(kBucket, ObjectKey("whole"), (*upload)->id).ok());
  EXPECT_EQ(limited.Put("after", 8 * kMiB, 0), "");
}

TEST(MemoryLimit, IsSharedByStores) {
  const auto limit = std::make_shared<MemoryLimit>(16 * kMiB);
  const auto first = OpenStore({.memory_limit = limit});
  auto second = OpenStore({.memory_limit = limit});
  MakeBucket(*first);
  MakeBucket(*second);
  ASSERT_TRUE(PutText(*second, "key", Body(12 * kMiB)).ok());
  EXPECT_FALSE(first->NewBlob(12 * kMiB).ok());
  second.reset();
  EXPECT_TRUE(first->NewBlob(12 * kMiB).ok()) << "the other store is destroyed";
}

TEST(MemoryLimit, ReclaimsTheSpareMemoryOfOtherStores) {
  const auto limit = std::make_shared<MemoryLimit>(16 * kMiB);
  const auto first = OpenStore({.memory_limit = limit});
  const auto second = OpenStore({.memory_limit = limit});
  MakeBucket(*first);
  MakeBucket(*second);
  ASSERT_TRUE(PutText(*second, "key", Body(12 * kMiB)).ok());
  ASSERT_TRUE(Remove(*second, "key").ok());
  EXPECT_GE(limit->used_bytes(), 12 * kMiB) << "its pages are kept for reuse";
  EXPECT_TRUE(first->NewBlob(12 * kMiB).ok());
}

TEST(MemoryLimit, WaitsForAStoreThatIsBeingDestroyed) {
  const auto limit = std::make_shared<MemoryLimit>(16 * kMiB);
  const auto first = OpenStore({.memory_limit = limit});
  auto second = OpenStore({.memory_limit = limit});
  MakeBucket(*second);
  ASSERT_TRUE(PutText(*second, "key", Body(12 * kMiB)).ok());
  limit->BeginRelease();
  const std::jthread destroyer([&] {
    second.reset();
    limit->EndRelease();
  });
  EXPECT_TRUE(first->NewBlob(12 * kMiB).ok());
}

TEST(MemoryLimit, IsEnforcedUnderConcurrentPuts) {
  LimitedStore limited(32 * kMiB);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        static_cast<void>(limited.Put(std::to_string(thread) + "-" + std::to_string(i),
                                      i % 2 == 0 ? 20 << 10 : 700 << 10, 0));
        EXPECT_LE(limited.limit->used_bytes(), 33 * kMiB);
      }
    });
  }
}

}  // namespace
}  // namespace penstock::emulator::store
