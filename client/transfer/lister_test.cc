#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

class ListerTest : public ::testing::TestWithParam<Completion> {
 protected:
  ListerTest() {
    for (const char* key : {"a", "b", "c", "d", "e"}) Put(*inner_, {}, ObjectKey(key));
  }

  static ListObjectsRequest InPagesOfTwo() {
    ListObjectsRequest request;
    request.bucket = kBucket;
    request.max_keys = 2;
    return request;
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
};

std::string Keys(const ListObjectsResponse& page) {
  std::string keys;
  for (const auto& object : page.objects) keys += object.key.value;
  return keys;
}

TEST_P(ListerTest, DeliversAllPagesInOrder) {
  const auto lister = Lister::Create(inner_, InPagesOfTwo());
  EXPECT_EQ(Keys(lister->Next().value().value()), "ab");
  EXPECT_EQ(Keys(lister->Next().value().value()), "cd");
  EXPECT_EQ(Keys(lister->Next().value().value()), "e");
  EXPECT_FALSE(lister->Next().value().has_value());
  EXPECT_FALSE(lister->Next().value().has_value());
}

TEST_P(ListerTest, EmptyListingHasOnePage) {
  ListObjectsRequest request = InPagesOfTwo();
  request.prefix = "none";
  const auto lister = Lister::Create(inner_, request);
  const auto page = lister->Next();
  ASSERT_TRUE(page.ok() && page->has_value());
  EXPECT_TRUE((*page)->objects.empty());
  EXPECT_FALSE(lister->Next().value().has_value());
}

TEST_P(ListerTest, FetchesOnePageAhead) {
  const auto store = std::make_shared<FaultyObjectStore>(inner_, nullptr);
  const auto lister = Lister::Create(store, InPagesOfTwo());
  EXPECT_EQ(store->count("ListObjectsV2"), 0u);
  ASSERT_TRUE(lister->Next().ok());
  EXPECT_EQ(store->count("ListObjectsV2"), 2u);
}

TEST_P(ListerTest, StartAsksForTheFirstPageOnce) {
  const auto store = std::make_shared<FaultyObjectStore>(inner_, nullptr);
  const auto lister = Lister::Create(store, InPagesOfTwo());
  lister->Start();
  lister->Start();
  EXPECT_EQ(store->count("ListObjectsV2"), 1u);
  EXPECT_EQ(Keys(lister->Next().value().value()), "ab");
}

TEST_P(ListerTest, AFailedPageIsAskedForAgain) {
  const auto store = std::make_shared<FaultyObjectStore>(inner_, [](const CallPoint& point) -> std::optional<Fault> {
    if (point.ordinal == 1) return MakeFault(ErrorKind::kUnavailable);
    return std::nullopt;
  });
  const auto lister = Lister::Create(store, InPagesOfTwo());
  EXPECT_EQ(Keys(lister->Next().value().value()), "ab");
  EXPECT_FALSE(lister->Next().ok());
  EXPECT_EQ(Keys(lister->Next().value().value()), "cd");
}

TEST_P(ListerTest, MissingBucketIsNotFound) {
  ListObjectsRequest request;
  request.bucket = BucketName("none");
  EXPECT_EQ(Lister::Create(inner_, request)->Next().error().code, "NoSuchBucket");
}

TEST_P(ListerTest, DroppedMidwayIsCancelled) {
  for (int i = 0; i < 50; ++i) {
    const auto lister = Lister::Create(inner_, InPagesOfTwo());
    ASSERT_TRUE(lister->Next().ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Completions, ListerTest, ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
