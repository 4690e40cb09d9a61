#include <gtest/gtest.h>

#include <memory>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

UploadOptions Options() {
  UploadOptions options;
  options.single_put_limit_bytes = 20;
  options.part_size_bytes = 10;
  options.min_part_size_bytes = 1;
  options.max_parallel_parts = 2;
  return options;
}

TEST(Upload, SmallMemoryIsOnePut) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<FaultyObjectStore>(inner, nullptr);
  const Bytes content = MakeContent(20);
  ASSERT_TRUE(Upload(store, kBucket, kKey, content, Options()).ok());
  EXPECT_EQ(Stored(*inner), content);
  EXPECT_EQ(store->count("PutObject"), 1u);
}

TEST(Upload, LargeMemoryIsSentInParts) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<FaultyObjectStore>(inner, nullptr);
  const Bytes content = MakeContent(95);
  const auto done = Upload(store, kBucket, kKey, content, Options());
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->bytes, 95u);
  EXPECT_EQ(Stored(*inner), content);
  EXPECT_EQ(store->count("UploadPart"), 10u);
}

// Records the memory of part bodies.
class BodyRecorder final : public FaultyObjectStore {
 public:
  explicit BodyRecorder(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    addresses.push_back(request.body->Next(1).data());
    request.body->Rewind();
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  std::vector<const std::byte*> addresses;
};

TEST(Upload, SendsFromTheCallersMemory) {
  const auto store = std::make_shared<BodyRecorder>(MakeStore());
  const Bytes content = MakeContent(30);
  ASSERT_TRUE(Upload(store, kBucket, kKey, content, Options()).ok());
  ASSERT_EQ(store->addresses.size(), 3u);
  EXPECT_EQ(store->addresses[0], content.data());
  EXPECT_EQ(store->addresses[2], content.data() + 20);
}

TEST(Upload, FailureLeavesNothing) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<FaultyObjectStore>(
      inner, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.part_number == 3) return MakeFault(ErrorKind::kAccessDenied);
        return std::nullopt;
      });
  EXPECT_EQ(Upload(store, kBucket, kKey, MakeContent(95), Options()).error().kind,
            ErrorKind::kAccessDenied);
  EXPECT_EQ(OpenUploads(*inner), 0u);
  EXPECT_FALSE(Stored(*inner).has_value());
}

TEST(Upload, CancelledBeforehandUploadsNothing) {
  const auto inner = MakeStore();
  std::stop_source stop;
  stop.request_stop();
  UploadOptions options = Options();
  options.call.cancel = stop.get_token();
  EXPECT_EQ(Upload(inner, kBucket, kKey, MakeContent(95), options).error().kind,
            ErrorKind::kCancelled);
  EXPECT_FALSE(Stored(*inner).has_value());
}

}  // namespace
}  // namespace penstock::transfer
