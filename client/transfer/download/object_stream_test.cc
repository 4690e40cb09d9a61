#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "client/transfer/transfer_test_support.h"
#include "penstock/memory.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

StreamOptions Options(int read_ahead = 3) {
  StreamOptions options;
  options.part_size_bytes = 10;
  options.read_ahead_parts = read_ahead;
  return options;
}

ObjectStream::Source Whole() {
  ObjectStream::Source source;
  source.bucket = kBucket;
  source.key = kKey;
  return source;
}

Result<Bytes> ReadAll(ObjectStream& stream) {
  Bytes all;
  std::uint64_t expected_offset = 0;
  bool first = true;
  for (;;) {
    PENSTOCK_ASSIGN(const std::optional<StreamBlock> block, stream.Next());
    if (!block) return all;
    if (!first && block->offset != expected_offset)
      return Error::Make(ErrorKind::kInternal, "blocks out of order");
    first = false;
    expected_offset = block->offset + block->size;
    all.insert(all.end(), block->data.get(), block->data.get() + block->size);
  }
}

class ObjectStreamTest : public ::testing::TestWithParam<Completion> {
 protected:
  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
};

TEST_P(ObjectStreamTest, DeliversBlocksInOrder) {
  const Bytes content = MakeContent(95);
  const ETag etag = Put(*inner_, content);
  const auto stream = ObjectStream::Open(inner_, Whole(), Options());
  EXPECT_FALSE(stream->metadata().has_value());
  EXPECT_EQ(ReadAll(*stream).value(), content);
  ASSERT_TRUE(stream->metadata().has_value());
  EXPECT_EQ(stream->metadata()->etag, etag);
}

TEST_P(ObjectStreamTest, EndIsRepeatable) {
  Put(*inner_, MakeContent(5));
  const auto stream = ObjectStream::Open(inner_, Whole(), Options());
  ASSERT_TRUE(ReadAll(*stream).ok());
  EXPECT_FALSE(stream->Next().value().has_value());
}

TEST_P(ObjectStreamTest, EmptyObjectHasNoBlocks) {
  Put(*inner_, {});
  const auto stream = ObjectStream::Open(inner_, Whole(), Options());
  EXPECT_FALSE(stream->Next().value().has_value());
  ASSERT_TRUE(stream->metadata().has_value());
  EXPECT_EQ(stream->metadata()->size, 0u);
}

TEST_P(ObjectStreamTest, ReadsARangeOfAKnownObject) {
  const Bytes content = MakeContent(95);
  ObjectStream::Source source = Whole();
  source.known_etag = Put(*inner_, content);
  source.known_size = 95;
  source.begin = 12;
  source.end = 90;
  const auto stream = ObjectStream::Open(inner_, source, Options());
  EXPECT_EQ(ReadAll(*stream).value(), Bytes(content.begin() + 12, content.begin() + 90));
}

TEST_P(ObjectStreamTest, ReadsRangesInTheOrderGiven) {
  const Bytes content = MakeContent(95);
  ObjectStream::Source source = Whole();
  source.known_etag = Put(*inner_, content);
  source.known_size = 95;
  source.ranges = {{50, 71}, {0, 3}, {3, 9}, {94, 95}};
  const auto stream = ObjectStream::Open(inner_, source, Options());
  std::vector<std::uint64_t> offsets;
  while (const std::optional<StreamBlock> block = stream->Next().value()) {
    offsets.push_back(block->offset);
    EXPECT_TRUE(std::equal(block->data.get(), block->data.get() + block->size,
                           content.begin() + block->offset));
  }
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{50, 60, 70, 0, 3, 94}));
}

TEST_P(ObjectStreamTest, RejectsInvalidRanges) {
  ObjectStream::Source source = Whole();
  source.ranges = {{0, 3}};
  EXPECT_EQ(ObjectStream::Open(inner_, source, Options())->Next().error().kind,
            ErrorKind::kInvalidArgument);
  source.known_etag = Put(*inner_, MakeContent(95));
  source.known_size = 95;
  for (const ByteRange wrong : {ByteRange{3, 3}, ByteRange{90, 96}}) {
    source.ranges = {{0, 3}, wrong};
    EXPECT_EQ(ObjectStream::Open(inner_, source, Options())->Next().error().kind,
              ErrorKind::kInvalidArgument);
  }
}

TEST_P(ObjectStreamTest, ReadAheadIsBounded) {
  const Bytes content = MakeContent(200);
  ObjectStream::Source source = Whole();
  source.known_etag = Put(*inner_, content);
  source.known_size = 200;
  const auto store = std::make_shared<FaultyObjectStore>(inner_, nullptr);
  const auto stream = ObjectStream::Open(store, source, Options(3));
  EXPECT_EQ(store->count("GetObject"), 0u);  // opening sends no request
  ASSERT_TRUE(stream->Next().ok());
  EXPECT_LE(store->count("GetObject"), 4u);  // one returned, three ahead
  ASSERT_TRUE(stream->Next().ok());
  EXPECT_LE(store->count("GetObject"), 5u);
}

TEST_P(ObjectStreamTest, StoppingEarlySendsFewRequests) {
  constexpr std::uint64_t kMiB = 1 << 20;
  Put(*inner_, MakeContent(3 * kMiB));
  const auto store = std::make_shared<FaultyObjectStore>(inner_, nullptr);
  StreamOptions options;
  options.part_size_bytes = 2 * kMiB;
  options.first_part_bytes = 100;
  const auto stream = ObjectStream::Open(store, Whole(), options);
  EXPECT_EQ(stream->Next().value()->size, 100u);
  EXPECT_EQ(store->count("GetObject"), 1u);  // no read-ahead before the second block is requested
  EXPECT_EQ(stream->Next().value()->size, 100u);
  // The second block, and enough blocks for four times the bytes read.
  EXPECT_LE(store->count("GetObject"), 4u);
  ASSERT_TRUE(ReadAll(*stream).ok());
}

TEST_P(ObjectStreamTest, SkippedBytesDoNotCountAsRead) {
  const Bytes content = MakeContent(1000);
  ObjectStream::Source source = Whole();
  source.known_etag = Put(*inner_, content);
  source.known_size = 1000;
  source.begin = 10;
  source.end = 1000;
  for (const std::uint64_t used : {0u, 3u, 10u}) {
    StreamOptions options = Options(4);
    options.part_size_bytes = 100;
    options.first_part_bytes = 10;
    const auto stream = ObjectStream::Open(inner_, source, options);
    std::uint64_t given = 0;
    for (std::uint64_t block = 0; block < 4; ++block) {
      given += stream->Next({}, 1, used * block).value()->size;
      EXPECT_LE(stream->asked_until() - source.begin,
                std::max<std::uint64_t>(4 * (used * block + 1), given));
    }
    EXPECT_EQ(given > 40, used == 10) << "read-ahead grows with the bytes used";
  }
}

TEST_P(ObjectStreamTest, BlocksInFlightCountTowardsTheMemoryBudget) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const Bytes content = MakeContent(4 * kMiB);
  Put(*inner_, content);
  const std::uint64_t before = MemoryBudget::PerProcess().usage().held;
  StreamOptions options;
  options.part_size_bytes = kMiB;
  auto stream = ObjectStream::Open(inner_, Whole(), options);
  const StreamBlock kept = stream->Next().value().value();
  EXPECT_GE(MemoryBudget::PerProcess().usage().held, before + kMiB);
  EXPECT_EQ(ReadAll(*stream).value(), Bytes(content.begin() + kMiB, content.end()));
  stream.reset();
  // Memory of the block that the test keeps: pooled memory has a granularity of 2 MiB.
  EXPECT_EQ(MemoryBudget::PerProcess().usage().held, before + 2 * kMiB);
  EXPECT_EQ(MemoryBudget::PerProcess().usage().in_flight, 0u);
}

TEST_P(ObjectStreamTest, WorksWithoutReadAhead) {
  const Bytes content = MakeContent(95);
  Put(*inner_, content);
  const auto stream = ObjectStream::Open(inner_, Whole(), Options(0));
  EXPECT_EQ(ReadAll(*stream).value(), content);
}

TEST_P(ObjectStreamTest, ErrorsAreFinal) {
  Put(*inner_, MakeContent(95));
  const auto store = std::make_shared<FaultyObjectStore>(
      inner_, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.ordinal == 2) return MakeFault(ErrorKind::kAccessDenied);
        return std::nullopt;
      });
  const auto stream = ObjectStream::Open(store, Whole(), Options());
  EXPECT_EQ(ReadAll(*stream).error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(stream->Next().error().kind, ErrorKind::kAccessDenied);
}

TEST_P(ObjectStreamTest, ReplacedObjectFails) {
  Put(*inner_, MakeContent(95));
  const auto stream = ObjectStream::Open(inner_, Whole(), Options(1));
  ASSERT_TRUE(stream->Next().ok());
  Put(*inner_, MakeContent(95, 2));
  Result<void> ended = Ok();
  for (int i = 0; i < 12 && ended.ok(); ++i) {
    if (auto next = stream->Next(); !next.ok()) ended = next.error();
  }
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().kind, ErrorKind::kPreconditionFailed);
}

TEST_P(ObjectStreamTest, BlocksOutliveTheStream) {
  const Bytes content = MakeContent(10);
  Put(*inner_, content);
  auto stream = ObjectStream::Open(inner_, Whole(), Options());
  const StreamBlock block = stream->Next().value().value();
  stream.reset();
  EXPECT_EQ(Bytes(block.data.get(), block.data.get() + block.size), content);
}

TEST_P(ObjectStreamTest, DestructionWaitsForRequestsInFlight) {
  Put(*inner_, MakeContent(5000));
  for (int i = 0; i < 50; ++i) {
    auto stream = ObjectStream::Open(inner_, Whole(), Options(8));
    ASSERT_TRUE(stream->Next().ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Completions, ObjectStreamTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

// Holds GETs until Release.
class GateStore final : public FaultyObjectStore {
 public:
  explicit GateStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    if (open_) return FaultyObjectStore::Start(std::move(request), std::move(done));
    held_ = [this, request, done] { FaultyObjectStore::Start(request, done); };
  }
  void Release() {
    open_ = true;
    held_();
  }

 private:
  bool open_ = false;
  std::function<void()> held_;
};

TEST(ObjectStreamInterrupt, KeepsEveryBlock) {
  const auto inner = MakeStore(Completion::kInline);
  const Bytes content = MakeContent(25);
  Put(*inner, content);
  const auto store = std::make_shared<GateStore>(inner);
  const auto stream = ObjectStream::Open(store, Whole(), Options());
  EXPECT_EQ(stream->Next([] { return true; }).error().kind, ErrorKind::kCancelled);
  store->Release();
  EXPECT_EQ(ReadAll(*stream).value(), content);
}

// Sends the first read on, and holds the others. A stop request ends a held read at once, as if
// another I/O thread were faster than the thread that requests the stop.
class PromptlyCancelledStore final : public FaultyObjectStore {
 public:
  explicit PromptlyCancelledStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    if (!request.if_match) return FaultyObjectStore::Start(std::move(request), std::move(done));
    held_.push_back(std::make_unique<Held>(std::move(done), request.options.cancel));
  }
  std::size_t held() const { return held_.size(); }
  void EndFirst(Error error) { held_.front()->End(std::move(error)); }

 private:
  struct Held {
    Held(Callback<ObjectMetadata> callback, const std::stop_token& cancel)
        : done(std::move(callback)),
          stop(cancel, [this] { End(Error::Make(ErrorKind::kCancelled, "stopped")); }) {}
    void End(Error error) {
      if (const auto once = std::exchange(done, nullptr)) once(std::move(error));
    }
    Callback<ObjectMetadata> done;
    std::stop_callback<std::function<void()>> stop;
  };
  std::vector<std::unique_ptr<Held>> held_;
};

TEST(ObjectStreamFailure, CancellationOfOtherBlocksDoesNotHideTheCause) {
  const auto inner = MakeStore(Completion::kInline);
  Put(*inner, MakeContent(50));
  const auto store = std::make_shared<PromptlyCancelledStore>(inner);
  const auto stream = ObjectStream::Open(store, Whole(), Options());
  ASSERT_TRUE(stream->Next().ok());
  ASSERT_GE(store->held(), 2u);
  store->EndFirst(Error::Make(ErrorKind::kPreconditionFailed, "the object changed"));
  EXPECT_EQ(stream->Next().error().kind, ErrorKind::kPreconditionFailed);
}

}  // namespace
}  // namespace penstock::transfer
