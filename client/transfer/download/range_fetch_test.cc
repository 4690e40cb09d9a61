#include "client/transfer/download/range_fetch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

struct Fetch {
  Result<RangeFetched> result;
  Bytes bytes;
  int placements = 0;
};

Fetch FetchFrom(ObjectStore& store, RangeFetchSpec spec) {
  Bytes memory;
  int placements = 0;
  spec.bucket = kBucket;
  spec.key = kKey;
  spec.place = [&](const ObjectMetadata&, std::uint64_t length) -> Result<Placement> {
    ++placements;
    memory.resize(length);
    return Placement{MutableByteView(memory), Crc::kCrc64Nvme};
  };
  auto call = MakePending<RangeFetched>();
  StartRangeFetch(store, std::move(spec), call.done);
  auto result = call.pending.Get();
  return {std::move(result), std::move(memory), placements};
}

RangeFetchSpec Range(std::uint64_t begin, std::uint64_t end) {
  RangeFetchSpec spec;
  spec.range = {begin, end};
  return spec;
}

Bytes Slice(const Bytes& bytes, std::size_t begin, std::size_t end) {
  return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
               bytes.begin() + static_cast<std::ptrdiff_t>(end));
}

class RangeFetchTest : public ::testing::Test {
 protected:
  std::shared_ptr<ObjectStore> inner_ = MakeStore(Completion::kInline);
  const Bytes content_ = MakeContent(100);
  const ETag etag_ = Put(*inner_, content_);
};

TEST_F(RangeFetchTest, FetchesTheRangeClippedToTheObject) {
  const Fetch fetch = FetchFrom(*inner_, Range(90, 200));
  ASSERT_TRUE(fetch.result.ok());
  EXPECT_EQ(fetch.bytes, Slice(content_, 90, 100));
  EXPECT_EQ(fetch.result->metadata.size, 100u);
}

TEST_F(RangeFetchTest, RequestsTheGivenVersion) {
  RangeFetchSpec spec = Range(0, 100);
  // The memory store gives every object this version id.
  spec.version_id = VersionId("null");
  EXPECT_EQ(FetchFrom(*inner_, spec).bytes, content_);
  spec.version_id = VersionId("another");
  const Fetch other = FetchFrom(*inner_, spec);
  ASSERT_FALSE(other.result.ok());
  EXPECT_EQ(other.result.error().code, "NoSuchVersion");
}

TEST_F(RangeFetchTest, LeavesRetriesToTheStore) {
  FaultyObjectStore store(inner_, [](const CallPoint&) {
    return MakeFault(ErrorKind::kUnavailable, Fault::Moment::kMidBody, 10);
  });
  EXPECT_EQ(FetchFrom(store, Range(0, 50)).result.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(store.count("GetObject"), 1u);
}

TEST_F(RangeFetchTest, RetryInTheStoreRestartsTheBody) {
  FaultyObjectStore store(inner_, [](const CallPoint&) {
    return MakeFault(ErrorKind::kUnavailable, Fault::Moment::kRetried, 33);
  });
  const Fetch fetch = FetchFrom(store, Range(0, 100));
  ASSERT_TRUE(fetch.result.ok());
  EXPECT_EQ(fetch.bytes, content_);
  EXPECT_EQ(fetch.placements, 1);
}

TEST_F(RangeFetchTest, FailsIfTheVersionDiffersFromThePinnedETag) {
  RangeFetchSpec spec = Range(0, 10);
  spec.etag = ETag("other");
  EXPECT_EQ(FetchFrom(*inner_, std::move(spec)).result.error().kind,
            ErrorKind::kPreconditionFailed);
}

TEST_F(RangeFetchTest, RejectsMemoryOfTheWrongSize) {
  RangeFetchSpec spec = Range(0, 10);
  spec.bucket = kBucket;
  spec.key = kKey;
  Bytes memory(9);
  spec.place = [&](const ObjectMetadata&, std::uint64_t) -> Result<Placement> {
    return Placement{MutableByteView(memory)};
  };
  auto call = MakePending<RangeFetched>();
  StartRangeFetch(*inner_, std::move(spec), call.done);
  EXPECT_EQ(call.pending.Get().error().kind, ErrorKind::kInvalidArgument);
}

// A store whose GET reports success but delivers `bytes` bytes with a given declared length.
class WrongLengthStore {
 public:
  static Result<RangeFetched> Feed(std::uint64_t delivered, std::optional<std::uint64_t> declared) {
    class Store final : public penstock::testing::FaultyObjectStore {
     public:
      Store(std::shared_ptr<ObjectStore> inner, std::uint64_t delivered_bytes,
            std::optional<std::uint64_t> length)
          : FaultyObjectStore(std::move(inner), nullptr),
            delivered_(delivered_bytes),
            declared_(length) {}
      void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
        ObjectMetadata metadata;
        metadata.size = 100;
        metadata.etag = ETag("e");
        if (auto begun = request.sink->Begin(metadata, declared_); !begun.ok())
          return done(begun.error());
        if (auto taken = request.sink->Commit(
                std::min<std::uint64_t>(delivered_, request.sink->Window().size()));
            !taken.ok()) {
          return done(taken.error());
        }
        done(metadata);
      }

     private:
      std::uint64_t delivered_;
      std::optional<std::uint64_t> declared_;
    };
    Store store(MakeStore(Completion::kInline), delivered, declared);
    return FetchFrom(store, Range(0, 50)).result;
  }
};

TEST(RangeFetchLength, ShortBodyIsDataLossEvenIfTheStoreReportsSuccess) {
  EXPECT_EQ(WrongLengthStore::Feed(49, std::nullopt).error().kind, ErrorKind::kDataLoss);
  EXPECT_TRUE(WrongLengthStore::Feed(50, std::nullopt).ok());
}

TEST(RangeFetchLength, ResponseOfAnotherLengthIsDataLoss) {
  // A server that ignores Range sends the whole object.
  EXPECT_EQ(WrongLengthStore::Feed(50, 100).error().kind, ErrorKind::kDataLoss);
}

// Sends a response of each of `sizes` to the same GET, as a store that reads again does. The bodies
// of all but the last response fail.
class OtherSizesStore final : public FaultyObjectStore {
 public:
  OtherSizesStore(std::shared_ptr<ObjectStore> inner, std::vector<std::uint64_t> sizes)
      : FaultyObjectStore(std::move(inner), nullptr), sizes_(std::move(sizes)) {}
  using FaultyObjectStore::Start;
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    ObjectMetadata metadata;
    metadata.etag = ETag("e");
    Result<void> begun = Ok();
    for (const std::uint64_t size : sizes_) {
      metadata.size = size;
      begun = request.sink->Begin(metadata, size);
      if (!begun.ok() && begun.error().kind != ErrorKind::kDataLoss) break;
    }
    if (!begun.ok()) return done(begun.error());
    while (!request.sink->Window().empty()) {
      Result<void> taken = request.sink->Commit(request.sink->Window().size());
      if (!taken.ok()) return done(taken.error());
    }
    done(metadata);
  }

 private:
  const std::vector<std::uint64_t> sizes_;
};

Fetch FetchSizes(std::vector<std::uint64_t> sizes) {
  OtherSizesStore store(MakeStore(Completion::kInline), std::move(sizes));
  return FetchFrom(store, Range(0, UINT64_MAX));
}

TEST(RangeFetchSizes, AResponseOfAnotherSizeIsRefusedAndReadAgain) {
  const Fetch refused = FetchSizes({100, 50});
  EXPECT_EQ(refused.result.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(refused.result.error().message.find("50 bytes instead of 100 for the same ETag e"),
            std::string::npos)
      << refused.result.error().message;
  const Fetch again = FetchSizes({100, 50, 100});
  ASSERT_TRUE(again.result.ok()) << again.result.error().ToString();
  EXPECT_EQ(again.result->bytes, 100u);
  EXPECT_EQ(again.placements, 1);
  EXPECT_FALSE(FetchSizes({100, 50, 100, 50}).result.ok()) << "they do not follow each other";
}

TEST(RangeFetchSizes, TwoResponsesThatAgreeOutweighTheFirst) {
  const Fetch fetch = FetchSizes({50, 100, 100});
  ASSERT_TRUE(fetch.result.ok()) << fetch.result.error().ToString();
  EXPECT_EQ(fetch.result->metadata.size, 100u);
  EXPECT_EQ(fetch.bytes.size(), 100u);
  EXPECT_EQ(fetch.placements, 2);
}

// Responds to every GET with a 416, with this size of the object or, as some servers do, without.
class Always416Store final : public FaultyObjectStore {
 public:
  explicit Always416Store(std::shared_ptr<ObjectStore> inner, std::string size = "")
      : FaultyObjectStore(std::move(inner), nullptr), size_(std::move(size)) {}
  using FaultyObjectStore::Start;
  void Start(GetObjectRequest, Callback<ObjectMetadata> done) override {
    Error error = Error::Make(ErrorKind::kInvalidArgument, "range");
    error.http_status = 416;
    if (!size_.empty()) error.details.emplace_back("ActualObjectSize", size_);
    done(std::move(error));
  }

 private:
  const std::string size_;
};

TEST_F(RangeFetchTest, RequestsTheSizeAfterA416WithoutASize) {
  Always416Store store(inner_);
  const Fetch start = FetchFrom(store, Range(0, 200));
  EXPECT_FALSE(BeyondTheEnd(start.result.error(), 0).has_value()) << "the object has 100 bytes";
  const auto beyond = BeyondTheEnd(FetchFrom(store, Range(100, 200)).result.error(), 100);
  ASSERT_TRUE(beyond.has_value());
  EXPECT_EQ(beyond->size, 100u);
}

// Symptom: the object was read as empty.
TEST_F(RangeFetchTest, A416ToARequestWithoutARangeIsAnError) {
  Always416Store store(inner_, "0");
  const Fetch whole = FetchFrom(store, Range(0, UINT64_MAX));
  ASSERT_FALSE(whole.result.ok());
  EXPECT_FALSE(BeyondTheEnd(whole.result.error(), 0).has_value());
  EXPECT_EQ(whole.result.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(whole.result.error().message.find("had no Range header"), std::string::npos)
      << whole.result.error().message;
  EXPECT_TRUE(BeyondTheEnd(FetchFrom(store, Range(0, 200)).result.error(), 0).has_value())
      << "an empty object";
}

TEST(BeyondTheEnd, ReturnsTheSizeInTheError) {
  Error error = Error::Make(ErrorKind::kInvalidArgument, "range");
  EXPECT_FALSE(BeyondTheEnd(error, 20).has_value());
  error.code = "InvalidRange";
  EXPECT_FALSE(BeyondTheEnd(error, 20).has_value());
  error.details.emplace_back("ActualObjectSize", "17");
  ASSERT_TRUE(BeyondTheEnd(error, 20).has_value());
  EXPECT_EQ(BeyondTheEnd(error, 20)->size, 17u);
  EXPECT_TRUE(BeyondTheEnd(error, 17).has_value());
  EXPECT_FALSE(BeyondTheEnd(error, 16).has_value()) << "byte 16 exists";
}

}  // namespace
}  // namespace penstock::transfer
