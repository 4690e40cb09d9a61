#include "penstock/testing/memory_object_store.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "client/testing/test_bodies.h"

namespace penstock::testing {
namespace {

const BucketName kBucket("b");

MemoryObjectStoreOptions With(MemoryObjectStoreOptions::Completion completion) {
  MemoryObjectStoreOptions options;
  options.completion = completion;
  return options;
}

class MemoryObjectStoreTest
    : public ::testing::TestWithParam<MemoryObjectStoreOptions::Completion> {
 protected:
  MemoryObjectStore store_{With(GetParam())};
};

TEST_P(MemoryObjectStoreTest, PutsAndGets) {
  ASSERT_TRUE(store_.Call(CreateBucketRequest{kBucket, {}}).ok());
  TextSource source("hello");
  PutObjectRequest put;
  put.bucket = kBucket;
  put.key = ObjectKey("k");
  put.body = &source;
  ASSERT_TRUE(store_.Call(std::move(put)).ok());
  TextSink sink;
  GetObjectRequest get;
  get.bucket = kBucket;
  get.key = ObjectKey("k");
  get.sink = &sink;
  ASSERT_TRUE(store_.Call(std::move(get)).ok());
  EXPECT_EQ(sink.text(), "hello");
}

TEST_P(MemoryObjectStoreTest, ACallbackMayDestroyTheStore) {
  auto store = std::make_shared<MemoryObjectStore>(With(GetParam()));
  MemoryObjectStore& target = *store;
  std::promise<void> destroyed;
  target.Start(ListBucketsRequest{}, [&, owned = std::move(store)](const auto&) mutable {
    owned.reset();
    destroyed.set_value();
  });
  destroyed.get_future().wait();
}

TEST_P(MemoryObjectStoreTest, ErrorsNameOperationBucketAndKey) {
  HeadObjectRequest head;
  head.bucket = BucketName("none");
  head.key = ObjectKey("k");
  const auto result = store_.Call(std::move(head));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().operation, "HeadObject");
  EXPECT_EQ(result.error().bucket, "none");
  EXPECT_EQ(result.error().key, "k");
}

TEST_P(MemoryObjectStoreTest, ACancelledCallHasNoEffect) {
  std::stop_source stop;
  stop.request_stop();
  CreateBucketRequest create{kBucket, {}};
  create.options.cancel = stop.get_token();
  EXPECT_EQ(store_.Call(std::move(create)).error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(store_.Call(ListBucketsRequest{}).value().buckets.empty());
}

INSTANTIATE_TEST_SUITE_P(Completions, MemoryObjectStoreTest,
                         ::testing::Values(MemoryObjectStoreOptions::Completion::kInline,
                                           MemoryObjectStoreOptions::Completion::kThreaded));

TEST(MemoryObjectStore, InlineCompletesBeforeStartReturns) {
  MemoryObjectStore store(With(MemoryObjectStoreOptions::Completion::kInline));
  bool done = false;
  store.Start(ListBucketsRequest{}, [&done](auto) { done = true; });
  EXPECT_TRUE(done);
}

TEST(MemoryObjectStore, DestructionCompletesStartedCalls) {
  int done = 0;
  {
    MemoryObjectStoreOptions options;
    options.threads = 1;
    MemoryObjectStore store(options);
    for (int i = 0; i < 100; ++i) store.Start(ListBucketsRequest{}, [&done](auto) { ++done; });
  }
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace penstock::testing
