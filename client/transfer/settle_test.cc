#include "client/transfer/settle.h"

#include <gtest/gtest.h>

#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

TEST(OutcomeUnknown, DependsOnWhetherAnAnswerCanHaveBeenLost) {
  EXPECT_TRUE(OutcomeUnknown(Error::Make(ErrorKind::kTimeout, "")));
  EXPECT_TRUE(OutcomeUnknown(Error::Make(ErrorKind::kUnavailable, "")));
  EXPECT_TRUE(OutcomeUnknown(Error::Make(ErrorKind::kCancelled, "")));
  Error refused = Error::Make(ErrorKind::kPreconditionFailed, "");
  refused.http_status = 412;
  refused.attempts = 1;
  EXPECT_FALSE(OutcomeUnknown(refused));
  refused.attempts = 2;  // the first attempt may have been the one that created the object
  EXPECT_TRUE(OutcomeUnknown(refused));
}

TEST(MultipartETag, IsMd5OfMd5s) {
  // python: a, b = md5(b"hello ").digest(), md5(b"world").digest(); md5(a + b).hexdigest() + "-2"
  const CompletedPart first{1, ContentETag(AsBytes("hello ")), {}};
  const CompletedPart second{2, ContentETag(AsBytes("world")), {}};
  EXPECT_EQ(MultipartETag({first, second})->value, "e09e4fd6265b36115fe3db32df945d84-2");
}

TEST(MultipartETag, IsUnknownWhenPartsAreNotMd5) {
  EXPECT_FALSE(MultipartETag({CompletedPart{1, ETag("not-hex"), {}}}).has_value());
  EXPECT_FALSE(MultipartETag({CompletedPart{1, ETag("abcd"), {}}}).has_value());
}

TEST(IsPublished, NeedsETagAndSize) {
  const auto store = MakeStore(Completion::kInline);
  const Bytes content = MakeContent(10);
  const ETag etag = Put(*store, content);
  EXPECT_EQ(ContentETag(content), etag);
  EXPECT_TRUE(IsPublished(*store, kBucket, kKey, etag, 10, {}));
  EXPECT_FALSE(IsPublished(*store, kBucket, kKey, etag, 11, {}));
  EXPECT_FALSE(IsPublished(*store, kBucket, kKey, ETag("x"), 10, {}));
  EXPECT_FALSE(IsPublished(*store, kBucket, ObjectKey("none"), etag, 10, {}));
}

TEST(CleanupOptions, AreShortForWhoeverInterrupted) {
  const auto left = [](bool interrupted) { return CleanupOptions(interrupted).deadline.Left(SystemClock()); };
  EXPECT_LE(left(true), kInterruptedCleanupLimit);
  EXPECT_LE(left(false), kCleanupLimit);
  EXPECT_GT(left(false), kInterruptedCleanupLimit);
  EXPECT_FALSE(CleanupOptions(true).cancel.stop_possible());
}

}  // namespace
}  // namespace penstock::transfer
