#include "client/transfer/listed_object.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::transfer {
namespace {

TEST(ListedObjectTest, OneETagHasOneSize) {
  ObjectMetadata response;
  response.etag = ETag("one");
  response.size = 8;
  EXPECT_TRUE(CheckListed(response, {8, ETag("one")}).ok());
  EXPECT_TRUE(CheckListed(response, {9, ETag("two")}).ok()) << "another version";
  for (const std::uint64_t size : {0u, 7u, 9u}) {
    const Result<void> checked = CheckListed(response, {size, ETag("one")});
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().kind, ErrorKind::kDataLoss);
    const std::string& text = checked.error().message;
    EXPECT_NE(text.find(std::to_string(size) + " bytes in the listing"), std::string::npos) << text;
    EXPECT_NE(text.find("ETag one has 8"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace penstock::transfer
