// Random objects, part sizes and failures, compared with the reference bytes. Despite any failure,
// a transfer either delivers exactly the object or reports an error. An upload either publishes
// exactly its bytes or leaves nothing.
//
// PENSTOCK_PROPERTY_RUNS sets the number of sequences, PENSTOCK_PROPERTY_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultHook;
using penstock::testing::FaultyObjectStore;
using Random = std::mt19937_64;

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t Below(Random& random, std::uint64_t limit) { return random() % limit; }

// Several kinds of faults at every moment, at a rate drawn per sequence. The hook is called one
// call at a time.
FaultHook RandomFaults(std::uint64_t seed) {
  auto random = std::make_shared<Random>(seed);
  const std::uint64_t percent = std::vector<std::uint64_t>{0, 2, 10, 30}[Below(*random, 4)];
  return [random, percent](const CallPoint&) -> std::optional<Fault> {
    if (Below(*random, 100) >= percent) return std::nullopt;
    constexpr ErrorKind kKinds[] = {ErrorKind::kUnavailable, ErrorKind::kThrottled,
                                    ErrorKind::kTimeout, ErrorKind::kUnavailable,
                                    ErrorKind::kAccessDenied};
    constexpr Fault::Moment kMoments[] = {Fault::Moment::kBefore, Fault::Moment::kAfter,
                                          Fault::Moment::kMidBody, Fault::Moment::kMidBody,
                                          Fault::Moment::kRetried};
    return MakeFault(kKinds[Below(*random, 5)], kMoments[Below(*random, 5)], Below(*random, 60));
  };
}

// Runs one sequence per seed. The trace prints the failing seed.
template <class Sequence>
void ForEachSeed(Sequence sequence) {
  const std::uint64_t first = FromEnvironment("PENSTOCK_PROPERTY_SEED", 1);
  const std::uint64_t runs = FromEnvironment("PENSTOCK_PROPERTY_RUNS", 300);
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    SCOPED_TRACE("PENSTOCK_PROPERTY_SEED=" + std::to_string(seed));
    Random random(seed);
    sequence(seed, random);
    if (::testing::Test::HasFailure()) return;
  }
}

// One store of each kind for all sequences, so that threads are not started and joined per
// sequence.
struct Stores {
  std::shared_ptr<ObjectStore> inline_store = MakeStore(Completion::kInline);
  std::shared_ptr<ObjectStore> threaded_store = MakeStore(Completion::kThreaded);
  const std::shared_ptr<ObjectStore>& Pick(Random& random) const {
    return Below(random, 2) == 0 ? inline_store : threaded_store;
  }
};

Bytes Expected(const Bytes& content, std::uint64_t begin, std::optional<std::uint64_t> end) {
  const std::uint64_t last = std::min<std::uint64_t>(end.value_or(content.size()), content.size());
  if (begin >= last) return {};
  return Bytes(content.begin() + static_cast<std::ptrdiff_t>(begin),
               content.begin() + static_cast<std::ptrdiff_t>(last));
}

TEST(TransferProperties, DownloadDeliversExactlyTheRangeOrFails) {
  const Stores stores;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  ForEachSeed([&](std::uint64_t seed, Random& random) {
    const auto inner = stores.Pick(random);
    const Bytes content = MakeContent(Below(random, 400), seed);
    const ETag etag = Put(*inner, content);
    FaultyObjectStore store(inner, RandomFaults(seed));
    DownloadRequest request;
    request.bucket = kBucket;
    request.key = kKey;
    request.begin = Below(random, 3) == 0 ? Below(random, 450) : 0;
    if (Below(random, 3) == 0) request.end = request.begin + Below(random, 450);
    if (Below(random, 2) == 0) request.known_size = content.size();
    if (Below(random, 2) == 0) request.known_etag = etag;
    request.options.part_size_bytes = 1 + Below(random, 120);
    request.options.max_parallel_parts = 1 + static_cast<int>(Below(random, 6));
    Bytes memory;
    int destinations = 0;
    request.destination = [&](std::uint64_t size) -> Result<MutableByteView> {
      ++destinations;
      memory.resize(size);
      return MutableByteView(memory);
    };
    const Bytes expected = Expected(content, request.begin, request.end);
    const auto result = Download(store, std::move(request));
    ++(result.ok() ? succeeded : failed);
    EXPECT_LE(destinations, 1);
    if (!result.ok()) return;
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(result->bytes, expected.size());
  });
  EXPECT_GT(succeeded, 0u);
  EXPECT_TRUE(failed > 0 || succeeded < 100);  // otherwise no fault was injected
}

TEST(TransferProperties, StreamDeliversAPrefixOfTheRangeThenEndsOrFails) {
  const Stores stores;
  ForEachSeed([&](std::uint64_t seed, Random& random) {
    const auto inner = stores.Pick(random);
    const Bytes content = MakeContent(Below(random, 400), seed);
    const ETag etag = Put(*inner, content);
    ObjectStream::Source source{kBucket, kKey, Below(random, 3) == 0 ? Below(random, 450) : 0,
                                {},      {},   {}};
    if (Below(random, 3) == 0) source.end = source.begin + Below(random, 450);
    if (Below(random, 2) == 0) source.known_size = content.size();
    if (Below(random, 2) == 0) source.known_etag = etag;
    StreamOptions options;
    options.part_size_bytes = 1 + Below(random, 120);
    options.read_ahead_parts = static_cast<int>(Below(random, 5));
    const Bytes expected = Expected(content, source.begin, source.end);
    auto store = std::make_shared<FaultyObjectStore>(inner, RandomFaults(seed));
    const auto stream = ObjectStream::Open(store, source, options);
    Bytes got;
    for (;;) {
      if (Below(random, 40) == 0) return;  // destroyed midway
      const auto block = stream->Next();
      if (!block.ok()) break;
      if (!*block) {
        EXPECT_EQ(got, expected);
        return;
      }
      EXPECT_EQ((*block)->offset, source.begin + got.size());
      got.insert(got.end(), (*block)->data.get(), (*block)->data.get() + (*block)->size);
    }
    ASSERT_LE(got.size(), expected.size());
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin()));
  });
}

UploadOptions RandomOptions(Random& random) {
  UploadOptions options;
  options.single_put_limit_bytes = Below(random, 100);
  options.min_part_size_bytes = 1;
  options.part_size_bytes = 1 + Below(random, 60);
  options.max_parallel_parts = 1 + static_cast<int>(Below(random, 4));
  return options;
}

// Checks the state after any upload. A success means exactly the new bytes. A failure that S3 can
// have seen as one keeps the old object. No parts remain unless the aborts failed too.
void ExpectSettled(ObjectStore& inner, const Result<UploadResponse>& result, const Bytes& content,
                   const Bytes& before, const ETag& before_etag) {
  const auto stored = Stored(inner);
  ASSERT_TRUE(stored.has_value());
  if (result.ok()) {
    EXPECT_EQ(*stored, content);
    EXPECT_EQ(result->bytes, content.size());
    HeadObjectRequest head;
    head.bucket = kBucket;
    head.key = kKey;
    const auto metadata = inner.Call(std::move(head));
    ASSERT_TRUE(metadata.ok());
    EXPECT_EQ(metadata->etag, result->etag);
    EXPECT_NE(metadata->etag, before_etag);
  } else {
    EXPECT_TRUE(*stored == before || *stored == content);
  }
}

TEST(TransferProperties, WriterPublishesExactlyItsBytesOrNothing) {
  const Stores stores;
  std::uint64_t succeeded = 0;
  ForEachSeed([&](std::uint64_t seed, Random& random) {
    const auto inner = stores.Pick(random);
    const Bytes before = MakeContent(33, seed + 1'000'000);
    const ETag before_etag = Put(*inner, before);
    const Bytes content = MakeContent(Below(random, 500), seed);
    auto store = std::make_shared<FaultyObjectStore>(inner, RandomFaults(seed));
    const auto writer = ObjectWriter::Create(store, kBucket, kKey, RandomOptions(random));
    std::size_t at = 0;
    Result<void> written = Ok();
    while (at < content.size() && written.ok()) {
      const std::size_t piece = std::min<std::size_t>(1 + Below(random, 90), content.size() - at);
      written = writer->Write(ByteView(content).subspan(at, piece));
      at += piece;
    }
    if (Below(random, 10) == 0) {
      static_cast<void>(writer->Abort());
      EXPECT_EQ(Stored(*inner), before);
      return;
    }
    const auto result = writer->Finish();
    if (!written.ok()) {
      EXPECT_FALSE(result.ok());
    }
    if (result.ok()) ++succeeded;
    ExpectSettled(*inner, result, content, before, before_etag);
  });
  EXPECT_GT(succeeded, 0u);
}

TEST(TransferProperties, UploadPublishesExactlyItsBytesOrNothing) {
  const Stores stores;
  ForEachSeed([&](std::uint64_t seed, Random& random) {
    const auto inner = stores.Pick(random);
    const Bytes before = MakeContent(33, seed + 1'000'000);
    const ETag before_etag = Put(*inner, before);
    const Bytes content = MakeContent(Below(random, 500), seed);
    auto store = std::make_shared<FaultyObjectStore>(inner, RandomFaults(seed));
    const auto result = Upload(store, kBucket, kKey, content, RandomOptions(random));
    ExpectSettled(*inner, result, content, before, before_etag);
  });
}

TEST(TransferProperties, LostResponsesNeverHideAPublishedUpload) {
  // Only responses of uploads are lost, so the object exists and must be reported as published.
  const Stores stores;
  ForEachSeed([&](std::uint64_t seed, Random& random) {
    const auto inner = stores.Pick(random);
    const Bytes content = MakeContent(Below(random, 300), seed);
    auto store = std::make_shared<FaultyObjectStore>(
        inner, [](const CallPoint& point) -> std::optional<Fault> {
          if (point.operation != "PutObject" && point.operation != "CompleteMultipartUpload")
            return std::nullopt;
          return MakeFault(ErrorKind::kTimeout, Fault::Moment::kAfter);
        });
    const auto result = Upload(store, kBucket, kKey, content, RandomOptions(random));
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    EXPECT_EQ(Stored(*inner), content);
  });
}

}  // namespace
}  // namespace penstock::transfer
