#include "client/transfer/upload/upload_outcome.h"

#include <gtest/gtest.h>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

TEST(OutcomeUnknown, DependsOnWhetherAResponseMayHaveBeenLost) {
  EXPECT_TRUE(OutcomeUnknown(Error::Make(ErrorKind::kTimeout, "")));
  EXPECT_TRUE(OutcomeUnknown(Error::Make(ErrorKind::kUnavailable, "")));
  EXPECT_TRUE(OutcomeUnknown(Error::Make(ErrorKind::kCancelled, "")));
  Error refused = Error::Make(ErrorKind::kPreconditionFailed, "");
  refused.http_status = 412;
  refused.attempts = 1;
  EXPECT_FALSE(OutcomeUnknown(refused));
  refused.attempts = 2;  // the first attempt may have created the object
  EXPECT_TRUE(OutcomeUnknown(refused));
}

TEST(MultipartETag, IsMd5OfMd5s) {
  // python: a, b = md5(b"hello ").digest(), md5(b"world").digest(); md5(a + b).hexdigest() + "-2"
  const CompletedPart first{1, ContentETag(AsBytes("hello ")), {}};
  const CompletedPart second{2, ContentETag(AsBytes("world")), {}};
  EXPECT_EQ(MultipartETag({first, second})->value, "e09e4fd6265b36115fe3db32df945d84-2");
}

TEST(MultipartETag, IsUnknownIfPartETagsAreNotMd5) {
  EXPECT_FALSE(MultipartETag({CompletedPart{1, ETag("not-hex"), {}}}).has_value());
  EXPECT_FALSE(MultipartETag({CompletedPart{1, ETag("abcd"), {}}}).has_value());
}

TEST(ContentETag, ReadsAndRewindsASource) {
  const Bytes content = MakeContent(10);
  penstock::testing::TextSource source{std::string(AsText(content))};
  source.Next(3);
  EXPECT_EQ(ContentETag(source), ContentETag(content));
  EXPECT_EQ(source.Next(100).size(), 10u);
}

TEST(FindPublished, NeedsETagAndSize) {
  const auto store = MakeStore(Completion::kInline);
  const Bytes content = MakeContent(10);
  const ETag etag = Put(*store, content);
  EXPECT_EQ(ContentETag(content), etag);
  EXPECT_EQ(FindPublished(*store, kBucket, kKey, {10, etag, {}}, {}, {}), etag);
  EXPECT_FALSE(FindPublished(*store, kBucket, kKey, {11, etag, {}}, {}, {}));
  EXPECT_FALSE(FindPublished(*store, kBucket, kKey, {10, ETag("x"), {}}, {}, {}));
  EXPECT_FALSE(FindPublished(*store, kBucket, kKey, {10, {}, {}}, {}, {}));
  EXPECT_FALSE(FindPublished(*store, kBucket, ObjectKey("none"), {10, etag, {}}, {}, {}));
}

TEST(FindPublished, ComparesTheChecksumIfETagsAreNotMd5) {
  // As with SSE-KMS, where only S3 knows the ETag.
  class Encrypted final : public penstock::testing::FaultyObjectStore {
   public:
    explicit Encrypted(std::shared_ptr<ObjectStore> inner)
        : FaultyObjectStore(std::move(inner), nullptr) {}
    using FaultyObjectStore::Start;
    void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override {
      FaultyObjectStore::Start(std::move(request),
                               [done = std::move(done)](Result<ObjectMetadata> result) {
                                 if (result.ok())
                                   result->checksums = {{"crc64nvme", "rosUhgp5mIg="}};
                                 if (result.ok()) result->etag = ETag("opaque");
                                 done(std::move(result));
                               });
    }
  };
  const auto inner = MakeStore(Completion::kInline);
  Put(*inner, MakeContent(9));
  Encrypted store(inner);
  const Fingerprint sent{9, ETag("never-this"), 0xae8b14860a799888};
  EXPECT_EQ(FindPublished(store, kBucket, kKey, sent, {}, {}), ETag("opaque"));
  EXPECT_FALSE(FindPublished(store, kBucket, kKey, {9, ETag("never-this"), 1}, {}, {}));
  EXPECT_FALSE(FindPublished(store, kBucket, kKey, {9, ETag("never-this"), {}}, {}, {}));
}

TEST(CleanupOptions, AreShortAfterAnInterrupt) {
  const auto left = [](bool interrupted) {
    return CleanupOptions({}, interrupted).deadline.Left(SystemClock());
  };
  EXPECT_LE(left(true), kInterruptedCleanupLimit);
  EXPECT_LE(left(false), kCleanupLimit);
  EXPECT_GT(left(false), kInterruptedCleanupLimit);
  CallOptions of_caller;
  of_caller.cancel = std::stop_source().get_token();
  of_caller.deadline = Deadline::After(SystemClock(), std::chrono::hours(1));
  EXPECT_FALSE(CleanupOptions(of_caller, true).cancel.stop_possible());
  EXPECT_LE(CleanupOptions(of_caller, true).deadline.Left(SystemClock()), kInterruptedCleanupLimit);
}

}  // namespace
}  // namespace penstock::transfer
