#include "penstock/base/pending.h"

#include <gtest/gtest.h>

#include <vector>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

class StorePendingTest : public ::testing::TestWithParam<Completion> {
 protected:
  std::shared_ptr<ObjectStore> store_ = MakeStore(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Completions, StorePendingTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

TEST_P(StorePendingTest, ConcurrentOperationsGetTheirOwnResults) {
  for (const std::uint64_t size : {1u, 2u, 3u})
    Put(*store_, MakeContent(size), ObjectKey(std::to_string(size)));
  std::vector<Pending<ObjectMetadata>> heads;
  for (const char* key : {"1", "2", "3", "missing"}) {
    heads.push_back(store_->CallAsync(HeadObjectRequest{.bucket = kBucket, .key = ObjectKey(key)}));
  }
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(heads[i].Get()->size, i + 1);
  const auto missing = heads[3].Get();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
}

// Returns the sizes of all keys, with the requests in flight at the same time.
Pending<std::vector<std::uint64_t>> Sizes(ObjectStore& store, std::vector<std::string> keys) {
  std::vector<Pending<ObjectMetadata>> heads;
  for (const std::string& key : keys)
    heads.push_back(store.CallAsync(HeadObjectRequest{.bucket = kBucket, .key = ObjectKey(key)}));
  std::vector<std::uint64_t> sizes;
  for (Pending<ObjectMetadata>& head : heads) {
    const Result<ObjectMetadata> result = co_await std::move(head);
    if (!result.ok()) co_return result.error();
    sizes.push_back(result->size);
  }
  co_return sizes;
}

TEST_P(StorePendingTest, CoroutineAwaitsCalls) {
  Put(*store_, MakeContent(1), ObjectKey("a"));
  Put(*store_, MakeContent(2), ObjectKey("b"));
  EXPECT_EQ(Sizes(*store_, {"a", "b"}).Get().value(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(Sizes(*store_, {"a", "none"}).Get().error().kind, ErrorKind::kNotFound);
}

// The call starts in its own statement: g++ 12 destroys a temporary with braces twice if it is part
// of the awaited expression.
Pending<std::uint64_t> SizeOf(ObjectStore& store, std::string key) {
  auto pending = store.CallAsync(HeadObjectRequest{.bucket = kBucket, .key = ObjectKey(key)});
  const auto head = co_await std::move(pending);
  if (!head.ok()) co_return head.error();
  co_return head->size;
}

TEST_P(StorePendingTest, AwaitsACallThatWasStartedBefore) {
  const std::string key = "a key that is longer than a short string";
  Put(*store_, MakeContent(3), ObjectKey(key));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(SizeOf(*store_, key).Get().value(), 3u);
}

TEST_P(StorePendingTest, DownloadReturnsAPending) {
  const Bytes content = MakeContent(95);
  Put(*store_, content);
  Bytes memory;
  DownloadRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.destination = [&memory](std::uint64_t size) -> Result<MutableByteView> {
    memory.resize(size);
    return MutableByteView(memory);
  };
  const auto result = DownloadAsync(store_, std::move(request)).Get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->bytes, 95u);
  EXPECT_EQ(memory, content);
}

}  // namespace
}  // namespace penstock::transfer
