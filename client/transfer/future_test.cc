#include "penstock/future.h"

#include <gtest/gtest.h>

#include <vector>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

class FutureTest : public ::testing::TestWithParam<Completion> {
 protected:
  std::shared_ptr<ObjectStore> store_ = MakeStore(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Completions, FutureTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

TEST_P(FutureTest, ConcurrentOperationsGetTheirOwnResults) {
  for (const std::uint64_t size : {1u, 2u, 3u})
    Put(*store_, MakeContent(size), ObjectKey(std::to_string(size)));
  std::vector<std::future<Result<ObjectMetadata>>> heads;
  for (const char* key : {"1", "2", "3", "missing"}) {
    heads.push_back(StartFuture(*store_, HeadObjectRequest{kBucket, ObjectKey(key), {}, {}}));
  }
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(heads[i].get()->size, i + 1);
  const auto missing = heads[3].get();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
}

TEST_P(FutureTest, DownloadsReturnAFuture) {
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
  const auto result = StartFuture(store_, std::move(request)).get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->bytes, 95u);
  EXPECT_EQ(memory, content);
}

}  // namespace
}  // namespace penstock::transfer
