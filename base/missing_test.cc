#include "base/missing.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(MissingTest, EachCodeNamesWhatIsMissing) {
  Error error = Error::Make(ErrorKind::kNotFound, "not found");
  EXPECT_FALSE(IsMissingKey(error));
  EXPECT_FALSE(IsMissingBucket(error));
  error.code = "NoSuchKey";
  EXPECT_TRUE(IsMissingKey(error));
  EXPECT_FALSE(IsMissingBucket(error));
  error.code = "NoSuchBucket";
  EXPECT_FALSE(IsMissingKey(error));
  EXPECT_TRUE(IsMissingBucket(error));
  error.code = "NoSuchVersion";
  EXPECT_FALSE(IsMissingKey(error));
  EXPECT_FALSE(IsMissingBucket(error));
}

}  // namespace
}  // namespace penstock
