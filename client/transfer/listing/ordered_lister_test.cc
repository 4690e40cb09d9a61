#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "client/transfer/transfer_test_support.h"
#include "penstock/object_list.h"

namespace penstock::transfer {
namespace {

using penstock::testing::FaultyObjectStore;

// Lists in arbitrary order, as directory buckets do.
class UnorderedStore final : public FaultyObjectStore {
 public:
  explicit UnorderedStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), {}) {}
  using FaultyObjectStore::Start;
  void Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) override {
    ++pages;
    FaultyObjectStore::Start(std::move(request),
                             [done = std::move(done)](Result<ListObjectsResponse> page) {
                               if (page.ok()) std::ranges::reverse(page->objects);
                               done(std::move(page));
                             });
  }
  int pages = 0;
};

struct OrderedListerTest {
  explicit OrderedListerTest(const std::string& name) : bucket(name) {
    const auto memory = std::make_shared<penstock::testing::MemoryObjectStore>();
    EXPECT_TRUE(memory->Call(CreateBucketRequest{bucket, {}}).ok());
    for (const char* key : {"a", "b/1", "b/2", "c", "d"}) {
      const Bytes content = MakeContent(1);
      EXPECT_TRUE(Upload(memory, bucket, ObjectKey(key), content, {}).ok());
    }
    store = std::make_shared<UnorderedStore>(memory);
  }
  std::vector<std::string> Keys(Lister& lister) {
    std::vector<std::string> keys;
    for (;;) {
      auto page = lister.Next();
      EXPECT_TRUE(page.ok());
      if (!page.ok() || !*page) return keys;
      for (const ObjectSummary& object : (*page)->objects) keys.push_back(object.key.value);
    }
  }
  ListObjectsRequest Request() const {
    ListObjectsRequest request;
    request.bucket = bucket;
    request.max_keys = 2;
    return request;
  }
  BucketName bucket;
  std::shared_ptr<UnorderedStore> store;
};

const std::vector<std::string> kKeys = {"a", "b/1", "b/2", "c", "d"};

TEST(OrderedLister, SortsADirectoryBucket) {
  OrderedListerTest test("b--usw2-az1--x-s3");
  EXPECT_EQ(test.Keys(*Lister::CreateOrdered(test.store, test.Request())), kKeys);
  EXPECT_NE(test.Keys(*Lister::Create(test.store, test.Request())), kKeys);
}

TEST(OrderedLister, StreamsAGeneralPurposeBucketPageByPage) {
  OrderedListerTest test("plain");
  const auto lister = Lister::CreateOrdered(test.store, test.Request());
  ASSERT_TRUE(lister->Next().ok());
  EXPECT_LT(test.store->pages, 3);
}

TEST(OrderedLister, WholeListIsSortedWithAndWithoutADelimiter) {
  OrderedListerTest test("b--usw2-az1--x-s3");
  for (const char* delimiter : {"", "/"}) {
    const auto list = ListAll(test.store, test.Request(), {.delimiter = delimiter});
    ASSERT_TRUE(list.ok());
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < list->size(); ++i) keys.push_back((*list)[i].key.value);
    EXPECT_EQ(keys, kKeys) << delimiter;
  }
}

}  // namespace
}  // namespace penstock::transfer
