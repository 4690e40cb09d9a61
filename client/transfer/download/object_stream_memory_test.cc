// Streams that share a small memory budget.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "client/transfer/checksummed_store_test_support.h"
#include "client/transfer/transfer_test_support.h"
#include "penstock/memory.h"

namespace penstock::transfer {
namespace {

using penstock::testing::FaultyObjectStore;

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kBlock = 64 * kKiB;  // the smallest block size of StreamPlan

class ObjectStreamMemoryTest : public ::testing::Test {
 protected:
  ObjectStreamMemoryTest() { budget_.SetLimit(8 * kBlock); }
  ~ObjectStreamMemoryTest() override {
    EXPECT_EQ(budget_.usage().held, before_.held);
    EXPECT_EQ(budget_.usage().in_flight, before_.in_flight);
    // No waiter timed out: a waiter that times out may exceed the limit.
    EXPECT_EQ(budget_.usage().beyond_limit, before_.beyond_limit);
    EXPECT_LE(budget_.usage().peak_held, std::max<std::uint64_t>(before_.peak_held, 8 * kBlock));
    budget_.SetLimit(before_.limit);
  }

  std::unique_ptr<ObjectStream> Open(const std::shared_ptr<ObjectStore>& store,
                                     bool known = true) const {
    ObjectStream::Source source;
    source.bucket = kBucket;
    source.key = kKey;
    if (known) source.known_size = content_.size();
    if (known) source.known_etag = etag_;
    StreamOptions options;
    options.part_size_bytes = kBlock;
    options.read_ahead_parts = 4;
    return ObjectStream::Open(store, source, options);
  }

  // Reads `count` bytes and returns the rest of their block.
  bool ReadOn(ObjectStream& stream, std::uint64_t& position, std::size_t count) const {
    while (count > 0) {
      auto next = stream.Next();
      if (!next.ok()) ADD_FAILURE() << next.error().ToString();
      if (!next.ok() || !*next) return false;
      EXPECT_EQ((**next).offset, position);
      const std::uint64_t used = Use(stream, **std::move(next), count);
      position += used;
      count -= used;
    }
    return true;
  }

  // Uses `most` bytes of a block and returns the rest.
  std::uint64_t Use(ObjectStream& stream, StreamBlock block, std::uint64_t most) const {
    const std::uint64_t used = std::min<std::uint64_t>(block.size, most);
    EXPECT_TRUE(std::equal(block.data.get(), block.data.get() + used,
                           content_.begin() + static_cast<std::ptrdiff_t>(block.offset)));
    block.data = {block.data, block.data.get() + used};
    block.offset += used;
    block.size -= used;
    stream.Unread(std::move(block));
    return used;
  }

  MemoryBudget& budget_ = MemoryBudget::PerProcess();
  const MemoryBudget::Usage before_ = budget_.usage();
  std::shared_ptr<ObjectStore> store_ = MakeStore();
  const Bytes content_ = MakeContent(20 * kBlock + 5);
  const ETag etag_ = Put(*store_, content_);
};

TEST_F(ObjectStreamMemoryTest, EvictsUnreadBlocksForAWaitingReader) {
  std::vector<std::unique_ptr<ObjectStream>> streams;
  for (int i = 0; i < 40; ++i) {
    std::uint64_t position = 0;
    streams.push_back(Open(store_, i % 2 == 0));
    EXPECT_TRUE(ReadOn(*streams.back(), position, 100));
  }
  EXPECT_GT(budget_.usage().taken_back, before_.taken_back);
}

TEST_F(ObjectStreamMemoryTest, ManyInterleavedReadersGetTheirBytes) {
  std::vector<std::pair<std::unique_ptr<ObjectStream>, std::uint64_t>> streams;
  for (int i = 0; i < 20; ++i) streams.emplace_back(Open(store_, i % 2 == 0), 0);
  for (bool more = true; more;) {
    for (auto& [stream, position] : streams) more = ReadOn(*stream, position, 90'000);
  }
  for (auto& [stream, position] : streams) EXPECT_EQ(position, content_.size());
}

TEST_F(ObjectStreamMemoryTest, ReadersOnManyThreadsGetTheirBytes) {
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([this, seed] {
      std::mt19937 random(seed);
      std::vector<std::pair<std::unique_ptr<ObjectStream>, std::uint64_t>> streams;
      for (int i = 0; i < 5; ++i) streams.emplace_back(Open(store_, random() % 2 == 0), 0);
      for (int i = 0; i < 60; ++i) {
        auto& [stream, position] = streams[random() % streams.size()];
        if (!ReadOn(*stream, position, 1 + random() % 100'000)) {
          EXPECT_EQ(position, content_.size());
          stream = Open(store_);
          position = 0;
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(budget_.usage().waiting, 0u);
}

TEST_F(ObjectStreamMemoryTest, ReadersShareEvenlyFromTheSecondRoundOn) {
  std::vector<std::pair<std::unique_ptr<ObjectStream>, std::uint64_t>> streams;
  for (int i = 0; i < 4; ++i) streams.emplace_back(Open(store_), 0);
  for (int round = 0; round < 4; ++round) {
    for (auto& [stream, position] : streams) EXPECT_TRUE(ReadOn(*stream, position, kBlock));
  }
  const std::uint64_t taken_back = budget_.usage().taken_back;
  for (int round = 0; round < 8; ++round) {
    for (auto& [stream, position] : streams) EXPECT_TRUE(ReadOn(*stream, position, kBlock));
  }
  EXPECT_EQ(budget_.usage().taken_back, taken_back);
  for (auto& [stream, position] : streams)
    EXPECT_GT(stream->asked_until(), position) << "every stream fetches ahead";
}

// Holds every request from `from` on until it is cancelled.
class StallingStore final : public FaultyObjectStore {
 public:
  StallingStore(std::shared_ptr<ObjectStore> inner, std::uint64_t from)
      : FaultyObjectStore(std::move(inner), nullptr), from_(from) {}
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    if (!request.range || *request.range->begin < from_)
      return FaultyObjectStore::Start(std::move(request), std::move(done));
    ++stalled;
    auto call = std::make_shared<Stalled>();
    call->done = std::move(done);
    call->stop.emplace(request.options.cancel, [call_of = std::weak_ptr(call)] {
      const auto held = call_of.lock();
      if (held && held->done)
        std::exchange(held->done, nullptr)(Error::Make(ErrorKind::kCancelled, "given up"));
    });
    calls_.push_back(std::move(call));
  }
  std::atomic<int> stalled = 0;

 private:
  struct Stalled {
    Callback<ObjectMetadata> done;
    std::optional<std::stop_callback<std::function<void()>>> stop;
  };
  const std::uint64_t from_;
  std::vector<std::shared_ptr<Stalled>> calls_;
};

TEST_F(ObjectStreamMemoryTest, CancelsReadAheadForAWaitingReader) {
  const auto stalling = std::make_shared<StallingStore>(MakeStore(Completion::kInline), kBlock);
  ASSERT_EQ(Put(*stalling, content_), etag_);
  std::uint64_t position = 0;
  const auto ahead = Open(stalling);
  EXPECT_TRUE(ReadOn(*ahead, position, 10));
  EXPECT_GT(stalling->stalled, 0);
  std::vector<std::unique_ptr<ObjectStream>> others;
  for (int i = 0; i < 8; ++i) {
    position = 0;
    others.push_back(Open(store_));
    EXPECT_TRUE(ReadOn(*others.back(), position, 10));
  }
  EXPECT_GT(budget_.usage().taken_back, before_.taken_back);
}

TEST_F(ObjectStreamMemoryTest, EvictsReadAheadForAWaitingWriter) {
  const auto stream = Open(store_);
  std::uint64_t position = 0;
  EXPECT_TRUE(ReadOn(*stream, position, 10));
  EXPECT_TRUE(budget_.Take(8 * kBlock).ok());
  EXPECT_TRUE(ReadOn(*stream, position, content_.size() - 10));
}

TEST_F(ObjectStreamMemoryTest, ReturnedBytesNeedNoNewRequest) {
  const auto counted = std::make_shared<FaultyObjectStore>(store_, nullptr);
  const auto stream = Open(counted);
  std::uint64_t position = 0;
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(ReadOn(*stream, position, 10'000));
  EXPECT_LE(counted->count("GetObject"), 5u);
  EXPECT_GE(stream->asked_until(), kBlock);
}

// Takes all memory for a moment, so that the streams lose their blocks.
void Squeeze(MemoryBudget& budget) { EXPECT_TRUE(budget.Take(budget.limit()).ok()); }

TEST_F(ObjectStreamMemoryTest, VerifiesBlocksThatWereEvictedAndFetchedAgain) {
  // In one block, and in several.
  for (const std::uint64_t size : {std::uint64_t{50'000}, 3 * kBlock + 7}) {
    const Bytes content(content_.begin(), content_.begin() + static_cast<std::ptrdiff_t>(size));
    const auto inner = MakeStore();
    Put(*inner, content);
    for (const std::uint64_t step : {std::uint64_t{1'000}, std::uint64_t{30'000}, kBlock}) {
      for (const bool flipped : {false, true}) {
        const auto store = std::make_shared<ChecksummedStore>(inner, Crc64Text(content));
        const auto stream = Open(store, false);
        std::uint64_t position = 0;
        bool wrong = false;
        while (position < size && !wrong) {
          Result<std::optional<StreamBlock>> next = stream->Next();
          wrong = !next.ok();
          if (wrong) {
            EXPECT_EQ(next.error().kind, ErrorKind::kDataLoss);
            break;
          }
          ASSERT_TRUE(next->has_value());
          position += Use(*stream, **std::move(next), step);
          Squeeze(budget_);
          if (flipped) store->flip = size - 1;  // bytes that arrive from now on
        }
        // If the first block was the whole object and was used at once, nothing was fetched again.
        EXPECT_EQ(wrong, flipped && step < size) << size << " in steps of " << step;
      }
    }
  }
}

}  // namespace
}  // namespace penstock::transfer
