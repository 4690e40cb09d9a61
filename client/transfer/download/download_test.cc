#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

struct Downloaded {
  Result<DownloadResponse> result;
  Bytes bytes;
  int destinations = 0;
};

DownloadRequest Request(std::uint64_t part_size = 10) {
  DownloadRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.options.part_size_bytes = part_size;
  request.options.max_parallel_parts = 3;
  return request;
}

Downloaded DownloadFrom(ObjectStore& store, DownloadRequest request,
                        const Interrupt& interrupt = {}) {
  Bytes memory;
  std::atomic<int> destinations = 0;
  request.destination = [&](std::uint64_t size) -> Result<MutableByteView> {
    ++destinations;
    memory.resize(size);
    return MutableByteView(memory);
  };
  auto result = Download(store, std::move(request), interrupt);
  return {std::move(result), std::move(memory), destinations};
}

class DownloadTest : public ::testing::TestWithParam<Completion> {
 protected:
  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
};

TEST_P(DownloadTest, DownloadsTheWholeObjectInParts) {
  const Bytes content = MakeContent(95);
  const ETag etag = Put(*inner_, content);
  FaultyObjectStore store(inner_, nullptr);
  const Downloaded got = DownloadFrom(store, Request());
  ASSERT_TRUE(got.result.ok()) << got.result.error().ToString();
  EXPECT_EQ(got.bytes, content);
  EXPECT_EQ(got.result->bytes, 95u);
  EXPECT_EQ(got.result->metadata.etag, etag);
  EXPECT_EQ(got.destinations, 1);
  // The front may get past its own part before the other requests start.
  EXPECT_LE(store.count("GetObject"), 10u);
  EXPECT_EQ(store.count("HeadObject"), 0u);
}

TEST_P(DownloadTest, SmallObjectIsOneRequest) {
  const Bytes content = MakeContent(10);
  Put(*inner_, content);
  FaultyObjectStore store(inner_, nullptr);
  EXPECT_EQ(DownloadFrom(store, Request()).bytes, content);
  EXPECT_EQ(store.count("GetObject"), 1u);
}

TEST_P(DownloadTest, EmptyObjectIsZeroBytes) {
  Put(*inner_, {});
  const Downloaded got = DownloadFrom(*inner_, Request());
  ASSERT_TRUE(got.result.ok());
  EXPECT_EQ(got.result->bytes, 0u);
  EXPECT_EQ(got.destinations, 1);
}

// Provides the memory when the test asks for it, and owns it.
struct LateMemory {
  std::function<void(std::uint64_t, GiveMemory)> ask() {
    return [this](std::uint64_t size, GiveMemory give) {
      ++asked;
      bytes.resize(size);
      given = std::move(give);
      is_asked.set_value();
    };
  }
  void Give() { std::exchange(given, nullptr)(MutableByteView(bytes)); }

  Bytes bytes;
  GiveMemory given;
  std::promise<void> is_asked;
  std::atomic<int> asked = 0;
};

Result<DownloadResponse> DownloadLate(const std::shared_ptr<ObjectStore>& store,
                                      DownloadRequest request, LateMemory& memory) {
  request.ask_memory = memory.ask();
  auto download = DownloadAsync(store, std::move(request));
  memory.is_asked.get_future().wait();
  memory.Give();
  return download.Get();
}

TEST_P(DownloadTest, LateMemoryGetsEveryByte) {
  // Sizes within one step, within the staged bytes, and beyond, with one and several parts.
  const std::uint64_t sizes[] = {1, 10, 256 << 10, (256 << 10) + 1, 700'001, 3'000'003};
  for (const std::uint64_t part_size :
       {std::uint64_t{64} << 10, std::uint64_t{512} << 10, std::uint64_t{8} << 20}) {
    for (const std::uint64_t size : sizes) {
      const Bytes content = MakeContent(size);
      Put(*inner_, content);
      LateMemory memory;
      const auto result = DownloadLate(inner_, Request(part_size), memory);
      ASSERT_TRUE(result.ok()) << result.error().ToString();
      EXPECT_EQ(result->bytes, size);
      EXPECT_TRUE(memory.bytes == content) << size << " in parts of " << part_size;
      EXPECT_EQ(memory.asked, 1);
    }
  }
}

TEST_P(DownloadTest, ImmediateMemoryGetsEveryByte) {
  const Bytes content = MakeContent(3'000'003);
  Put(*inner_, content);
  Bytes bytes;
  DownloadRequest request = Request(512 << 10);
  request.ask_memory = [&](std::uint64_t size, const GiveMemory& give) {
    bytes.resize(size);
    give(MutableByteView(bytes));
  };
  ASSERT_TRUE(Download(*inner_, std::move(request)).ok());
  EXPECT_TRUE(bytes == content);
}

TEST_P(DownloadTest, FailedMemoryRequestEndsTheDownload) {
  for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{3'000'003}}) {
    Put(*inner_, MakeContent(size));
    DownloadRequest request = Request(512 << 10);
    request.ask_memory = [](std::uint64_t, const GiveMemory& give) {
      give(Error::Make(ErrorKind::kResourceExhausted, "full"));
    };
    EXPECT_EQ(Download(*inner_, std::move(request)).error().message, "full");
    request = Request(512 << 10);
    request.ask_memory = [](std::uint64_t, const GiveMemory& give) { give(MutableByteView()); };
    EXPECT_EQ(Download(*inner_, std::move(request)).error().kind, ErrorKind::kInvalidArgument);
    request = Request(512 << 10);
    request.ask_memory = [](std::uint64_t, const GiveMemory&) {
      throw std::runtime_error("broken");
    };
    EXPECT_EQ(Download(*inner_, std::move(request)).error().kind, ErrorKind::kInternal);
  }
}

TEST_P(DownloadTest, FailureBeforeTheMemoryArrivesEndsTheDownload) {
  Put(*inner_, MakeContent(3'000'003));
  const auto store = std::make_shared<FaultyObjectStore>(inner_, [](const CallPoint&) {
    return MakeFault(ErrorKind::kAccessDenied, Fault::Moment::kMidBody, 300'000);
  });
  LateMemory memory;
  DownloadRequest request = Request(8 << 20);
  request.ask_memory = memory.ask();
  const auto result = Download(*store, std::move(request));
  EXPECT_EQ(result.error().kind, ErrorKind::kAccessDenied);
  memory.Give();  // too late, and harmless
}

TEST_P(DownloadTest, EmptyObjectNeedsNoMemory) {
  Put(*inner_, {});
  LateMemory memory;
  DownloadRequest request = Request();
  request.ask_memory = memory.ask();
  ASSERT_TRUE(Download(*inner_, std::move(request)).ok());
  EXPECT_EQ(memory.asked, 0);
}

TEST_P(DownloadTest, ThrowingDestinationEndsTheDownload) {
  Put(*inner_, MakeContent(95));
  DownloadRequest request = Request();
  request.destination = [](std::uint64_t) -> Result<MutableByteView> { throw std::bad_alloc(); };
  EXPECT_EQ(Download(*inner_, std::move(request)).error().kind, ErrorKind::kResourceExhausted);
}

TEST_P(DownloadTest, ThrowingProgressCallbackEndsTheDownload) {
  Put(*inner_, MakeContent(95));
  DownloadRequest request = Request();
  request.options.progress = [](const TransferProgress&) { throw std::runtime_error("broken"); };
  EXPECT_EQ(DownloadFrom(*inner_, std::move(request)).result.error().kind, ErrorKind::kInternal);
}

TEST_P(DownloadTest, RangesAreClippedToTheObject) {
  const Bytes content = MakeContent(95);
  Put(*inner_, content);
  DownloadRequest request = Request();
  request.begin = 33;
  request.end = 1000;
  EXPECT_EQ(DownloadFrom(*inner_, request).bytes, Bytes(content.begin() + 33, content.end()));
  request.end = 47;
  EXPECT_EQ(DownloadFrom(*inner_, request).bytes,
            Bytes(content.begin() + 33, content.begin() + 47));
}

TEST_P(DownloadTest, StartAfterTheEndIsZeroBytes) {
  Put(*inner_, MakeContent(5));
  DownloadRequest request = Request();
  request.begin = 6;
  const Downloaded got = DownloadFrom(*inner_, std::move(request));
  ASSERT_TRUE(got.result.ok());
  EXPECT_EQ(got.result->bytes, 0u);
  EXPECT_EQ(got.result->metadata.size, 5u);
}

TEST_P(DownloadTest, KnownSizeAndETagStartAllPartsImmediately) {
  const Bytes content = MakeContent(30);
  const ETag etag = Put(*inner_, content);
  FaultyObjectStore store(inner_, nullptr);
  DownloadRequest request = Request();
  request.known_size = 30;
  request.known_etag = etag;
  EXPECT_EQ(DownloadFrom(store, std::move(request)).bytes, content);
  EXPECT_LE(store.count("GetObject"), 3u);
}

TEST_P(DownloadTest, KnownETagOfAnotherVersionFails) {
  Put(*inner_, MakeContent(30));
  DownloadRequest request = Request();
  request.known_size = 30;
  request.known_etag = ETag("other");
  EXPECT_EQ(DownloadFrom(*inner_, std::move(request)).result.error().kind,
            ErrorKind::kPreconditionFailed);
}

TEST_P(DownloadTest, WrongKnownSizeFails) {
  const ETag etag = Put(*inner_, MakeContent(30));
  DownloadRequest request = Request();
  request.known_size = 29;
  EXPECT_EQ(DownloadFrom(*inner_, request).result.error().kind, ErrorKind::kPreconditionFailed);
  request.known_etag = etag;
  EXPECT_EQ(DownloadFrom(*inner_, request).result.error().kind, ErrorKind::kDataLoss)
      << "one ETag has one size";
  Put(*inner_, {});
  request.known_etag.reset();
  EXPECT_EQ(DownloadFrom(*inner_, request).result.error().kind, ErrorKind::kPreconditionFailed);
}

TEST_P(DownloadTest, ObjectReplacedBetweenPartsFails) {
  Put(*inner_, MakeContent(100));
  FaultyObjectStore store(inner_, [&](const CallPoint& point) -> std::optional<Fault> {
    if (point.ordinal == 1) Put(*inner_, MakeContent(100, 2));
    return std::nullopt;
  });
  EXPECT_EQ(DownloadFrom(store, Request()).result.error().kind, ErrorKind::kPreconditionFailed);
}

TEST_P(DownloadTest, FailedPartFailsTheDownloadAfterAllPartsEnded) {
  Put(*inner_, MakeContent(200));
  FaultyObjectStore store(inner_, [](const CallPoint& point) -> std::optional<Fault> {
    if (point.ordinal == 1) return MakeFault(ErrorKind::kAccessDenied);
    return std::nullopt;
  });
  const Downloaded got = DownloadFrom(store, Request());
  ASSERT_FALSE(got.result.ok());
  EXPECT_EQ(got.result.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(got.result.error().key, kKey.value);
  EXPECT_LT(store.count("GetObject"), 20u);
}

TEST_P(DownloadTest, RetriedPartsAreComplete) {
  const Bytes content = MakeContent(95);
  Put(*inner_, content);
  FaultyObjectStore store(inner_, [](const CallPoint& point) -> std::optional<Fault> {
    if (point.ordinal % 2 == 0)
      return MakeFault(ErrorKind::kUnavailable, Fault::Moment::kRetried, 3);
    return std::nullopt;
  });
  const Downloaded got = DownloadFrom(store, Request());
  ASSERT_TRUE(got.result.ok()) << got.result.error().ToString();
  EXPECT_EQ(got.bytes, content);
}

TEST_P(DownloadTest, MissingKeyIsNotFoundAndRequestsNoMemory) {
  const Downloaded got = DownloadFrom(*inner_, Request());
  EXPECT_EQ(got.result.error().code, "NoSuchKey");
  EXPECT_EQ(got.destinations, 0);
}

TEST_P(DownloadTest, ReturnsTheErrorOfTheDestination) {
  Put(*inner_, MakeContent(30));
  DownloadRequest request = Request();
  request.destination = [](std::uint64_t) -> Result<MutableByteView> {
    return Error::Make(ErrorKind::kResourceExhausted, "no memory");
  };
  EXPECT_EQ(Download(*inner_, std::move(request)).error().kind, ErrorKind::kResourceExhausted);
}

TEST_P(DownloadTest, ErrorsNameInvalidOptions) {
  DownloadRequest request = Request(0);
  EXPECT_EQ(DownloadFrom(*inner_, request).result.error().kind, ErrorKind::kInvalidArgument);
  request = Request();
  request.begin = 5;
  request.end = 4;
  EXPECT_EQ(DownloadFrom(*inner_, request).result.error().kind, ErrorKind::kInvalidArgument);
}

TEST_P(DownloadTest, CancelledBeforehandSendsNoRequest) {
  Put(*inner_, MakeContent(30));
  std::stop_source stop;
  stop.request_stop();
  DownloadRequest request = Request();
  request.options.call.cancel = stop.get_token();
  EXPECT_EQ(DownloadFrom(*inner_, std::move(request)).result.error().kind, ErrorKind::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Completions, DownloadTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

TEST(DownloadPlan, ObjectOfEightMebibytesIsOneRequestAndALargerOneIsSplit) {
  penstock::testing::MemoryObjectStoreOptions options;
  options.completion = Completion::kInline;
  auto inner = std::make_shared<penstock::testing::MemoryObjectStore>(options);
  CreateBucketRequest bucket;
  bucket.bucket = kBucket;
  ASSERT_TRUE(inner->Call(std::move(bucket)).ok());
  for (const auto& [size, requests] :
       {std::pair<std::uint64_t, std::uint64_t>{8 << 20, 1}, {40 << 20, 5}}) {
    const Bytes content(size, std::byte{static_cast<unsigned char>(requests)});
    Put(*inner, content);
    FaultyObjectStore store(inner, nullptr);
    DownloadRequest request = Request();
    request.options = {.max_parallel_parts = 4};
    const Downloaded got = DownloadFrom(store, std::move(request));
    ASSERT_TRUE(got.result.ok()) << got.result.error().ToString();
    EXPECT_TRUE(got.bytes == content);
    EXPECT_EQ(store.count("GetObject"), requests);
  }
}

// Holds every GET until it is cancelled.
class StuckStore final : public FaultyObjectStore {
 public:
  StuckStore() : FaultyObjectStore(MakeStore(), nullptr) {}
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    auto held = std::make_shared<Held>();
    held->done = std::move(done);
    held_ = held;
    held->on_stop.emplace(request.options.cancel, std::function<void()>([held = held.get()] {
                            held->done(Error::Make(ErrorKind::kCancelled, "stopped"));
                          }));
  }

 private:
  struct Held {
    Callback<ObjectMetadata> done;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
  };
  std::shared_ptr<Held> held_;
};

TEST(DownloadInterrupt, EndsAStuckDownload) {
  StuckStore store;
  EXPECT_EQ(DownloadFrom(store, Request(), [] { return true; }).result.error().kind,
            ErrorKind::kCancelled);
}

}  // namespace
}  // namespace penstock::transfer
