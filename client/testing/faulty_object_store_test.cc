#include "penstock/testing/faulty_object_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/testing/test_bodies.h"
#include "penstock/testing/memory_object_store.h"

namespace penstock::testing {
namespace {

const BucketName kBucket("b");
const ObjectKey kKey("k");

class FaultyObjectStoreTest : public ::testing::Test {
 protected:
  FaultyObjectStoreTest() {
    EXPECT_TRUE(inner_->Call(CreateBucketRequest{kBucket, {}}).ok());
    EXPECT_TRUE(Put(*inner_, "hello world").ok());
  }

  static Result<PutObjectResponse> Put(ObjectStore& store, const std::string& text) {
    TextSource source(text);
    PutObjectRequest put;
    put.bucket = kBucket;
    put.key = kKey;
    put.body = &source;
    return store.Call(std::move(put));
  }

  static Result<ObjectMetadata> Get(ObjectStore& store, TextSink& sink) {
    GetObjectRequest get;
    get.bucket = kBucket;
    get.key = kKey;
    get.sink = &sink;
    return store.Call(std::move(get));
  }

  FaultyObjectStore WithFault(Fault::Moment moment, std::uint64_t body_bytes = 0) {
    return FaultyObjectStore(inner_, [=](const CallPoint& point) -> std::optional<Fault> {
      if (point.ordinal > 0) return std::nullopt;
      return Fault{Error::Make(ErrorKind::kUnavailable, "planted"), moment, body_bytes};
    });
  }

  std::shared_ptr<ObjectStore> inner_ = std::make_shared<MemoryObjectStore>();
};

TEST_F(FaultyObjectStoreTest, WithoutAFaultItIsTransparent) {
  FaultyObjectStore store(inner_, nullptr);
  TextSink sink;
  EXPECT_TRUE(Get(store, sink).ok());
  EXPECT_EQ(sink.text(), "hello world");
}

TEST_F(FaultyObjectStoreTest, CountsAndFailsListingsOfVersions) {
  FaultyObjectStore store = WithFault(Fault::Moment::kAfter);
  ListObjectVersionsRequest list;
  list.bucket = kBucket;
  EXPECT_EQ(store.Call(list).error().message, "planted");
  EXPECT_EQ(store.Call(list)->versions.at(0).key, kKey);
  EXPECT_EQ(store.count("ListObjectVersions"), 2u);
}

TEST_F(FaultyObjectStoreTest, ABeforeFaultHasNoEffectOnTheStore) {
  FaultyObjectStore store = WithFault(Fault::Moment::kBefore);
  EXPECT_FALSE(Put(store, "new").ok());
  TextSink sink;
  ASSERT_TRUE(Get(*inner_, sink).ok());
  EXPECT_EQ(sink.text(), "hello world");
}

TEST_F(FaultyObjectStoreTest, AnAfterFaultLosesTheResponse) {
  FaultyObjectStore store = WithFault(Fault::Moment::kAfter);
  EXPECT_EQ(Put(store, "new").error().kind, ErrorKind::kUnavailable);
  TextSink sink;
  ASSERT_TRUE(Get(*inner_, sink).ok());
  EXPECT_EQ(sink.text(), "new");
}

TEST_F(FaultyObjectStoreTest, AMidBodyFaultDeliversTheGivenBytes) {
  for (const std::uint64_t count : {0, 1, 5, 10}) {
    FaultyObjectStore store = WithFault(Fault::Moment::kMidBody, count);
    TextSink sink;
    EXPECT_EQ(Get(store, sink).error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(sink.text(), std::string("hello world").substr(0, count));
  }
}

TEST_F(FaultyObjectStoreTest, ARetriedBodyStartsAgain) {
  FaultyObjectStore store = WithFault(Fault::Moment::kRetried, 4);
  TextSink sink;
  ASSERT_TRUE(Get(store, sink).ok());
  EXPECT_EQ(sink.begins(), 2);
  EXPECT_EQ(sink.text(), "hello world");
}

TEST_F(FaultyObjectStoreTest, TheHookReceivesOperationPlaceAndOrdinal) {
  std::vector<CallPoint> seen;
  FaultyObjectStore store(inner_, [&seen](const CallPoint& point) {
    seen.push_back(point);
    return std::nullopt;
  });
  TextSink sink;
  ASSERT_TRUE(Get(store, sink).ok());
  ASSERT_TRUE(Get(store, sink).ok());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].operation, "GetObject");
  EXPECT_EQ(seen[1].bucket, "b");
  EXPECT_EQ(seen[1].key, "k");
  EXPECT_EQ(seen[1].ordinal, 1u);
  EXPECT_EQ(store.count("GetObject"), 2u);
  EXPECT_EQ(store.count("PutObject"), 0u);
}

}  // namespace
}  // namespace penstock::testing
