#include "penstock/range_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

class RangeReaderTest : public ::testing::TestWithParam<Completion> {
 protected:
  RangeBatch Batch(Bytes& memory,
                   const std::vector<std::pair<std::uint64_t, std::uint64_t>>& extents,
                   ObjectKey key = kKey) {
    RangeBatch batch;
    batch.bucket = kBucket;
    batch.key = std::move(key);
    for (const auto& [begin, size] : extents)
      batch.pieces.push_back({begin, MutableByteView(memory).subspan(begin, size)});
    return batch;
  }

  Result<RangesRead> Read(RangeReader& reader, RangeBatch batch) {
    auto call = MakePending<RangesRead>();
    reader.Start(std::move(batch), call.done);
    return call.pending.Get();
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
  std::shared_ptr<FaultyObjectStore> store_ = std::make_shared<FaultyObjectStore>(inner_, nullptr);
};

TEST_P(RangeReaderTest, WritesEachPieceToItsMemory) {
  const Bytes content = MakeContent(300'000);
  const ETag etag = Put(*inner_, content);
  Bytes memory(content.size());
  const auto reader =
      RangeReader::Create(store_, {.max_gap_bytes = 0, .max_request_bytes = 20'000});
  const auto read = Read(
      *reader,
      Batch(memory, {{0, 10}, {10, 100'000}, {150'000, 0}, {200'000, 5'000}, {299'000, 1'000}}));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->bytes, 106'010u);
  EXPECT_EQ(read->etag, etag);
  EXPECT_TRUE(std::equal(memory.begin(), memory.begin() + 100'010, content.begin()));
  EXPECT_TRUE(
      std::equal(memory.begin() + 200'000, memory.begin() + 205'000, content.begin() + 200'000));
  EXPECT_TRUE(std::equal(memory.begin() + 299'000, memory.end(), content.begin() + 299'000));
  EXPECT_TRUE(std::all_of(memory.begin() + 100'010, memory.begin() + 200'000,
                          [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_EQ(reader->usage().requests, 8u);
  EXPECT_EQ(reader->usage().bytes_asked, 106'010u);
  EXPECT_EQ(store_->count("GetObject"), 8u);
  EXPECT_EQ(store_->count("HeadObject"), 0u);
}

TEST_P(RangeReaderTest, ReadsThroughSmallGaps) {
  const Bytes content = MakeContent(100'000);
  Put(*inner_, content);
  Bytes memory(content.size());
  const auto reader = RangeReader::Create(store_, {});
  ASSERT_TRUE(Read(*reader, Batch(memory, {{0, 40'000}, {60'000, 40'000}})).ok());
  EXPECT_EQ(reader->usage().requests, 1u);
  EXPECT_EQ(reader->usage().bytes_asked, 100'000u);
  EXPECT_EQ(reader->usage().bytes_wanted, 80'000u);
}

TEST_P(RangeReaderTest, ReadsManyObjectsWithinTheParallelLimit) {
  std::vector<Bytes> contents;
  std::vector<Bytes> memory;
  for (int i = 0; i < 12; ++i) {
    contents.push_back(MakeContent(30'000, i));
    Put(*inner_, contents.back(), ObjectKey("o" + std::to_string(i)));
    memory.emplace_back(30'000);
  }
  const auto reader =
      RangeReader::Create(store_, {.max_request_bytes = 7'000, .max_parallel_requests = 3});
  std::vector<Pending<RangesRead>> reads;
  for (int i = 0; i < 12; ++i) {
    auto call = MakePending<RangesRead>();
    reader->Start(Batch(memory[i], {{0, 30'000}}, ObjectKey("o" + std::to_string(i))), call.done);
    reads.push_back(std::move(call.pending));
  }
  for (auto& read : reads) ASSERT_TRUE(read.Get().ok());
  EXPECT_EQ(memory, contents);
  EXPECT_LE(reader->usage().peak_parallel, 3);
}

TEST_P(RangeReaderTest, NeverMixesVersionsOfAReplacedObject) {
  Put(*inner_, MakeContent(50'000, 1));
  Bytes memory(50'000);
  const auto reader = RangeReader::Create(store_, {});
  ASSERT_TRUE(Read(*reader, Batch(memory, {{0, 10'000}})).ok());
  Put(*inner_, MakeContent(50'000, 2));
  const auto second = Read(*reader, Batch(memory, {{20'000, 10'000}}));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kPreconditionFailed);
}

TEST_P(RangeReaderTest, ReadsTheKnownVersion) {
  const ETag old = Put(*inner_, MakeContent(5'000, 1));
  Put(*inner_, MakeContent(5'000, 2));
  Bytes memory(5'000);
  const auto reader = RangeReader::Create(store_, {});
  RangeBatch batch = Batch(memory, {{0, 5'000}});
  batch.known_etag = old;
  const auto read = Read(*reader, std::move(batch));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kPreconditionFailed);
}

TEST_P(RangeReaderTest, TooShortObjectIsDataLoss) {
  Put(*inner_, MakeContent(1'000));
  Bytes memory(5'000);
  for (const auto& [begin, size] :
       {std::pair<std::uint64_t, std::uint64_t>{500, 1'000}, {2'000, 100}}) {
    const auto reader = RangeReader::Create(store_, {});
    const auto read = Read(*reader, Batch(memory, {{begin, size}}));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss) << read.error().ToString();
    EXPECT_NE(read.error().ToString().find("1000 bytes"), std::string::npos)
        << read.error().ToString();
  }
}

TEST_P(RangeReaderTest, FailureEndsOnlyItsBatch) {
  const Bytes content = MakeContent(40'000);
  Put(*inner_, content);
  Bytes memory(40'000);
  const auto reader =
      RangeReader::Create(store_, {.max_request_bytes = 1'000, .max_parallel_requests = 2});
  auto missing = MakePending<RangesRead>();
  auto there = MakePending<RangesRead>();
  Bytes elsewhere(40'000);
  reader->Start(Batch(elsewhere, {{0, 40'000}}, ObjectKey("missing")), missing.done);
  reader->Start(Batch(memory, {{0, 40'000}}), there.done);
  const auto failed = missing.pending.Get();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(there.pending.Get().ok());
  EXPECT_EQ(memory, content);
  EXPECT_LE(store_->count("GetObject"),
            43u);  // the remaining requests of the missing object were dropped
}

TEST_P(RangeReaderTest, DestructionCancelsAllBatches) {
  Put(*inner_, MakeContent(100'000));
  Bytes memory(100'000);
  std::atomic<int> ended = 0;
  {
    const auto reader = RangeReader::Create(store_, {.max_request_bytes = 100});
    for (int i = 0; i < 20; ++i)
      reader->Start(Batch(memory, {{0, 5'000}}), [&](Result<RangesRead>) { ++ended; });
    reader->Cancel();
  }
  EXPECT_EQ(ended, 20);
}

TEST_P(RangeReaderTest, EmptyBatchCompletesImmediately) {
  const auto reader = RangeReader::Create(store_, {});
  Bytes memory(10);
  const auto read = Read(*reader, Batch(memory, {{0, 0}, {5, 0}}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bytes, 0u);
  EXPECT_EQ(store_->count("GetObject"), 0u);
}

TEST_P(RangeReaderTest, RejectsInvalidPiecesAndOptions) {
  Bytes memory(10);
  RangeBatch beyond = Batch(memory, {{0, 10}});
  beyond.pieces[0].begin = INT64_MAX;
  EXPECT_EQ(Read(*RangeReader::Create(store_, {}), std::move(beyond)).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(Read(*RangeReader::Create(store_, {.max_request_bytes = 0}), Batch(memory, {{0, 5}}))
                .error()
                .kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(
      Read(*RangeReader::Create(store_, {.max_parallel_requests = 0}), Batch(memory, {{0, 5}}))
          .error()
          .kind,
      ErrorKind::kInvalidArgument);
}

// The store retries after a body breaks off in the middle of any piece.
TEST_P(RangeReaderTest, RetriedRangeFillsItsPieces) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 40; ++round) {
    const Bytes content = MakeContent(60'000, round);
    Put(*inner_, content);
    auto faulty = std::make_shared<FaultyObjectStore>(
        inner_,
        [cut = 1 + random() % 50'000,
         done = false](const CallPoint& point) mutable -> std::optional<Fault> {
          if (std::exchange(done, true) || point.operation != "GetObject") return std::nullopt;
          return MakeFault(ErrorKind::kUnavailable, Fault::Moment::kRetried, cut);
        });
    Bytes memory(60'000);
    const auto reader = RangeReader::Create(faulty, {});
    const auto read =
        Read(*reader, Batch(memory, {{0, 900}, {900, 30'000}, {30'900, 10}, {31'000, 29'000}}));
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    std::fill(memory.begin() + 30'910, memory.begin() + 31'000, std::byte{0});
    Bytes expected = content;
    std::fill(expected.begin() + 30'910, expected.begin() + 31'000, std::byte{0});
    EXPECT_EQ(memory, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Completions, RangeReaderTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
