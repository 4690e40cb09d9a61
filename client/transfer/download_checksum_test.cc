// Downloads in several requests against the checksum of the whole object.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/crc.h"
#include "base/encoding.h"
#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

std::string Crc64Text(ByteView bytes) {
  const std::uint64_t value = Crc64Nvme(bytes);
  std::vector<std::byte> big_endian;
  for (int shift = 56; shift >= 0; shift -= 8) big_endian.push_back(static_cast<std::byte>(value >> shift));
  return Base64Encode(big_endian);
}

// Adds a checksum to the answers that cover a whole object, as S3 does, and can turn a bit of what it delivers.
class ChecksummedStore final : public FaultyObjectStore {
 public:
  ChecksummedStore(std::shared_ptr<ObjectStore> inner, std::string checksum, penstock::testing::FaultHook hook = nullptr)
      : FaultyObjectStore(std::move(inner), std::move(hook)), checksum_(std::move(checksum)) {}

  std::optional<std::uint64_t> flip;   // a byte of the object, wherever it is first delivered
  std::atomic<int> followed = 0;       // answers whose checksum the caller follows by itself

  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    const std::uint64_t begin = request.range ? *request.range->begin : 0;
    auto sink = std::make_shared<Sink>(*this, *request.sink, begin, !request.range.has_value());
    request.sink = sink.get();
    FaultyObjectStore::Start(std::move(request), [sink, done = std::move(done)](Result<ObjectMetadata> result) {
      done(std::move(result));
    });
  }

 private:
  class Sink final : public BodySink {
   public:
    Sink(ChecksummedStore& store, BodySink& inner, std::uint64_t begin, bool whole)
        : store_(store), inner_(inner), begin_(begin), whole_(whole) {}
    Result<void> Begin(const ObjectMetadata& metadata, std::optional<std::uint64_t> length) override {
      position_ = begin_;
      ObjectMetadata with = metadata;
      if (whole_) with.checksums = {{"crc64nvme", store_.checksum_}};
      auto begun = inner_.Begin(with, length);
      if (whole_ && inner_.FollowsChecksum()) ++store_.followed;
      return begun;
    }
    bool FollowsChecksum() const override { return inner_.FollowsChecksum(); }
    MutableByteView Window() override { return window_ = inner_.Window(); }
    Result<void> Commit(std::size_t count) override {
      if (store_.flip && *store_.flip >= position_ && *store_.flip < position_ + count) {
        window_[*store_.flip - position_] ^= std::byte{1};
      }
      position_ += count;
      return inner_.Commit(count);
    }

   private:
    ChecksummedStore& store_;
    BodySink& inner_;
    const std::uint64_t begin_;
    const bool whole_;
    std::uint64_t position_ = 0;
    MutableByteView window_;
  };

  const std::string checksum_;
};

class DownloadChecksumTest : public ::testing::TestWithParam<Completion> {
 protected:
  Result<DownloadResponse> Get(ObjectStore& store, DownloadRequest request = {}) {
    request.bucket = kBucket;
    request.key = kKey;
    request.options.part_size_bytes = 10;
    request.options.max_parallel_parts = 3;
    request.destination = [this](std::uint64_t size) -> Result<MutableByteView> {
      memory_.assign(size, std::byte{0});
      return MutableByteView(memory_);
    };
    return Download(store, std::move(request));
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
  const Bytes content_ = MakeContent(1005);
  const ETag etag_ = Put(*inner_, content_);
  const std::string checksum_ = Crc64Text(content_);
  Bytes memory_;
};

TEST_P(DownloadChecksumTest, ManyPartsAmountToTheObjectsChecksum) {
  ChecksummedStore store(inner_, checksum_);
  const auto result = Get(store);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(memory_, content_);
  EXPECT_EQ(store.followed, 1);
  EXPECT_GT(store.count("GetObject"), 1u);
}

TEST_P(DownloadChecksumTest, AFlippedBitAnywhereIsDataLossThatNamesBoth) {
  for (const std::uint64_t where : {0u, 9u, 10u, 500u, 1004u}) {
    ChecksummedStore store(inner_, checksum_);
    store.flip = where;
    const auto result = Get(store);
    ASSERT_FALSE(result.ok()) << where;
    EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
    EXPECT_EQ(result.error().key, kKey.value);
    EXPECT_NE(result.error().message.find(checksum_), std::string::npos) << result.error().message;
    EXPECT_NE(result.error().message.find(Crc64Text(memory_)), std::string::npos) << result.error().message;
  }
}

TEST_P(DownloadChecksumTest, ResumedPartsCountOnce) {
  for (const Fault::Moment moment : {Fault::Moment::kMidBody, Fault::Moment::kRetried}) {
    ChecksummedStore store(inner_, checksum_, [moment](const CallPoint& point) -> std::optional<Fault> {
      // Few enough for one piece to survive them all, should it be the one that meets them.
      if (point.ordinal % 2 == 0 && point.ordinal < 10) return MakeFault(ErrorKind::kUnavailable, moment, 3);
      return std::nullopt;
    });
    const auto result = Get(store);
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    EXPECT_EQ(memory_, content_);
  }
}

TEST_P(DownloadChecksumTest, PartsThatStartBeforeTheChecksumIsKnownAreVerifiedToo) {
  DownloadRequest request;
  request.known_size = content_.size();
  request.known_etag = etag_;
  ChecksummedStore store(inner_, checksum_);
  ASSERT_TRUE(Get(store, request).ok());
  EXPECT_EQ(memory_, content_);
  store.flip = 1000;
  EXPECT_EQ(Get(store, request).error().kind, ErrorKind::kDataLoss);
}

TEST_P(DownloadChecksumTest, APieceOfTheObjectIsNotHeldAgainstTheWhole) {
  DownloadRequest request;
  request.begin = 1;
  ChecksummedStore store(inner_, checksum_);
  EXPECT_TRUE(Get(store, request).ok());
}

TEST_P(DownloadChecksumTest, OneAnswerIsLeftToTheStoreToVerify) {
  const Bytes small = MakeContent(10);
  Put(*inner_, small);
  ChecksummedStore store(inner_, Crc64Text(small));
  ASSERT_TRUE(Get(store).ok());
  EXPECT_EQ(memory_, small);
  EXPECT_EQ(store.followed, 0);
}

INSTANTIATE_TEST_SUITE_P(Completions, DownloadChecksumTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
