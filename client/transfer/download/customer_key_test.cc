// The SSE-C key of downloads.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/transfer/transfer_test_support.h"
#include "penstock/base/pending.h"
#include "penstock/files.h"
#include "penstock/range_reader.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultHook;
using penstock::testing::FaultyObjectStore;

// Counts the reads, and those without a key.
class KeyedStore final : public FaultyObjectStore {
 public:
  KeyedStore(std::shared_ptr<ObjectStore> inner, FaultHook hook = nullptr)
      : FaultyObjectStore(std::move(inner), std::move(hook)) {}
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    ++gets;
    without_key += request.customer_key.empty() ? 1 : 0;
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override {
    ++heads;
    without_key += request.customer_key.empty() ? 1 : 0;
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  using FaultyObjectStore::Start;
  std::atomic<int> gets = 0;
  std::atomic<int> heads = 0;
  std::atomic<int> without_key = 0;
};

CustomerKey Key() { return CustomerKey::Create(AsBytes(std::string(32, 'k'))).value(); }

class CustomerKeyTest : public ::testing::Test {
 protected:
  CustomerKeyTest() { Put(*inner_, content_); }
  const std::shared_ptr<ObjectStore> inner_ = MakeStore();
  const Bytes content_ = MakeContent(95);
};

TEST_F(CustomerKeyTest, OfADownload) {
  const auto store = std::make_shared<KeyedStore>(inner_);
  Bytes memory;
  DownloadRequest request{.bucket = kBucket, .key = kKey};
  request.destination = [&memory](std::uint64_t size) -> Result<MutableByteView> {
    memory.resize(size);
    return MutableByteView(memory);
  };
  request.known_size = content_.size();
  request.options.part_size_bytes = 10;
  request.options.max_parallel_parts = 3;
  request.options.customer_key = Key();
  ASSERT_TRUE(Download(*store, std::move(request)).ok());
  EXPECT_EQ(memory, content_);
  EXPECT_GT(store->gets, 1);
  EXPECT_EQ(store->without_key, 0);
}

TEST_F(CustomerKeyTest, OfAStream) {
  const auto store = std::make_shared<KeyedStore>(inner_);
  const auto stream = ObjectStream::Open(store, {.bucket = kBucket, .key = kKey},
                                         {.part_size_bytes = 10, .customer_key = Key()});
  std::uint64_t bytes = 0;
  for (;;) {
    const auto block = stream->Next();
    ASSERT_TRUE(block.ok()) << block.error().ToString();
    if (!*block) break;
    bytes += (*block)->size;
  }
  EXPECT_EQ(bytes, content_.size());
  EXPECT_GT(store->gets, 1);
  EXPECT_EQ(store->without_key, 0);
}

TEST_F(CustomerKeyTest, OfRanges) {
  const auto store = std::make_shared<KeyedStore>(inner_);
  const auto reader = RangeReader::Create(store, {.max_request_bytes = 10, .customer_key = Key()});
  Bytes memory(content_.size());
  auto call = MakePending<RangesRead>();
  reader->Start({kBucket, kKey, {{0, MutableByteView(memory)}}, {}}, std::move(call.done));
  ASSERT_TRUE(call.pending.Get().ok());
  EXPECT_EQ(memory, content_);
  EXPECT_GT(store->gets, 1);
  EXPECT_EQ(store->without_key, 0);
}

TEST_F(CustomerKeyTest, OfAFile) {
  const auto store = std::make_shared<KeyedStore>(inner_);
  const std::string path = ::testing::TempDir() + "penstock_customer_key_test";
  ASSERT_TRUE(DownloadFile(store, kBucket, kKey, path, {.customer_key = Key()}).ok());
  EXPECT_EQ(std::filesystem::file_size(path), content_.size());
  std::filesystem::remove(path);
  EXPECT_GT(store->gets, 0);
  EXPECT_EQ(store->without_key, 0);
}

TEST_F(CustomerKeyTest, OfTheQuestionForTheSize) {
  // A server that refuses a range and does not name the size.
  const auto store =
      std::make_shared<KeyedStore>(inner_, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.operation != "GetObject") return std::nullopt;
        Fault fault = MakeFault(ErrorKind::kInvalidArgument);
        fault.error.code = "InvalidRange";
        fault.error.http_status = 416;
        return fault;
      });
  DownloadRequest request{.bucket = kBucket, .key = kKey, .begin = 1000};
  request.destination = [](std::uint64_t) -> Result<MutableByteView> { return MutableByteView(); };
  request.options.customer_key = Key();
  EXPECT_TRUE(Download(*store, std::move(request)).ok());
  EXPECT_EQ(store->heads, 1);
  EXPECT_EQ(store->without_key, 0);
}

}  // namespace
}  // namespace penstock::transfer
