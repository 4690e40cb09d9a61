// Multipart uploads verified part by part and as a whole.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "client/transfer/transfer_test_support.h"
#include "client/transfer/upload/multipart_upload.h"

namespace penstock::transfer {
namespace {

using penstock::testing::FaultyObjectStore;

// Returns a wrong checksum `times` times, and counts the parts.
class DamagingStore final : public FaultyObjectStore {
 public:
  DamagingStore(std::shared_ptr<ObjectStore> inner, int times)
      : FaultyObjectStore(std::move(inner), nullptr), left_(times) {}
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    FaultyObjectStore::Start(std::move(request),
                             [this, done = std::move(done)](Result<CompletedPart> result) {
                               if (result.ok() && left_-- > 0)
                                 result->checksum_crc64nvme = "AAAAAAAAAAA=";
                               done(std::move(result));
                             });
  }
  bool may_repeat() const override { return repeats; }
  bool repeats = true;  // whether max_attempts is more than 1

 private:
  std::atomic<int> left_;
};

TEST(MultipartUploadChecksum, SendsADamagedPartAgain) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<DamagingStore>(inner, 2);
  MultipartUpload upload(store, kBucket, kKey, {});
  const Bytes content = MakeContent(100);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  ASSERT_TRUE(upload.Complete({}).ok());
  EXPECT_EQ(store->count("UploadPart"), 3u);
  EXPECT_EQ(Stored(*inner), content);
}

TEST(MultipartUploadChecksum, RepeatedlyDamagedPartFailsTheUpload) {
  const auto inner = MakeStore();
  MultipartUpload upload(std::make_shared<DamagingStore>(inner, 1000), kBucket, kKey, {});
  const Bytes content = MakeContent(100);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  const auto done = upload.Complete({});
  EXPECT_EQ(done.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(done.error().message.find("part 1 arrived damaged 3 times"), std::string::npos);
  EXPECT_EQ(OpenUploads(*inner), 0u);
  EXPECT_FALSE(Stored(*inner).has_value());
}

TEST(MultipartUploadChecksum, DamagedPartIsNotSentAgainToAStoreWithoutRepeats) {
  const auto store = std::make_shared<DamagingStore>(MakeStore(), 1);
  store->repeats = false;
  MultipartUpload upload(store, kBucket, kKey, {});
  const Bytes content = MakeContent(100);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  const auto done = upload.Complete({});
  EXPECT_EQ(done.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(done.error().message.find("part 1 arrived damaged once: its CRC64NVME"),
            std::string::npos)
      << done.error().message;
  EXPECT_EQ(store->count("UploadPart"), 1u);
}

TEST(MultipartUploadChecksum, DoesNotPublishDataThatChangedWhileItWasSent) {
  // The store verifies the whole object by the CRC of the bytes sent. Here a part changes after its
  // CRC was computed.
  const auto inner = MakeStore(Completion::kInline);
  class Changing final : public FaultyObjectStore {
   public:
    Changing(std::shared_ptr<ObjectStore> store, Bytes& content)
        : FaultyObjectStore(std::move(store), nullptr), content_(content) {}
    void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
      while (!request.body->Next(7).empty()) {
      }
      content_[3] ^= std::byte{1};
      FaultyObjectStore::Start(std::move(request),
                               [done = std::move(done)](Result<CompletedPart> result) {
                                 // So that only the CRC of the whole object detects it.
                                 if (result.ok()) result->checksum_crc64nvme.clear();
                                 done(std::move(result));
                               });
    }

   private:
    Bytes& content_;
  };
  Bytes content = MakeContent(30);
  MultipartUpload upload(std::make_shared<Changing>(inner, content), kBucket, kKey, {});
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  EXPECT_EQ(upload.Complete({}).error().code, "BadDigest");
  EXPECT_FALSE(Stored(*inner).has_value());
  EXPECT_EQ(OpenUploads(*inner), 0u);
}

TEST(MultipartUploadChecksum, SendsAChecksumPerPartIfTheStoreKeepsNone) {
  class Plain final : public FaultyObjectStore {
   public:
    explicit Plain(std::shared_ptr<ObjectStore> store)
        : FaultyObjectStore(std::move(store), nullptr) {}
    void Start(CreateMultipartUploadRequest request,
               Callback<CreateMultipartUploadResponse> done) override {
      FaultyObjectStore::Start(
          std::move(request),
          [done = std::move(done)](Result<CreateMultipartUploadResponse> result) {
            if (result.ok()) result->keeps_crc64nvme = false;
            done(std::move(result));
          });
    }
    void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
      follows = follows || request.body->FollowsChecksum();
      FaultyObjectStore::Start(std::move(request), std::move(done));
    }
    void Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) override {
      whole = request.crc64nvme;
      FaultyObjectStore::Start(std::move(request), std::move(done));
    }
    bool follows = false;
    std::optional<std::uint64_t> whole;
  };
  const auto inner = MakeStore();
  const auto store = std::make_shared<Plain>(inner);
  MultipartUpload upload(store, kBucket, kKey, {});
  const Bytes content = MakeContent(30);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  ASSERT_TRUE(upload.Complete({}).ok());
  EXPECT_FALSE(store->follows);
  EXPECT_EQ(store->whole, std::nullopt);
  EXPECT_EQ(Stored(*inner), content);
}

}  // namespace
}  // namespace penstock::transfer
