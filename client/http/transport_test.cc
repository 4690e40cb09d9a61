#include "client/http/transport.h"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

TEST(ResponseHead, FindsAHeaderIgnoringCase) {
  const ResponseHead head{200, {{"ETag", "\"a\""}, {"Content-Length", "3"}}};
  EXPECT_EQ(head.Find("etag"), "\"a\"");
  EXPECT_EQ(head.Find("CONTENT-LENGTH"), "3");
}

TEST(ResponseHead, FindsTheFirstOfSeveral) {
  const ResponseHead head{200, {{"x", "1"}, {"X", "2"}}};
  EXPECT_EQ(head.Find("X"), "1");
}

TEST(ResponseHead, ReturnsNulloptForAMissingHeader) {
  const ResponseHead head{200, {{"ETag", "a"}}};
  EXPECT_FALSE(head.Find("ETa").has_value());
  EXPECT_FALSE(head.Find("ETagg").has_value());
}

}  // namespace
}  // namespace penstock::http
