#include "emulator/s3/core/body_size.h"

#include "gtest/gtest.h"

namespace penstock::emulator::s3 {
namespace {

TEST(BodySizeTest, ReturnsTheSizeOfTheBodyNotOfTheHeaders) {
  Response response;
  response.content_length = 9;
  EXPECT_EQ(BodySize(response), 0U);
  response.body = std::string("four");
  EXPECT_EQ(BodySize(response), 4U);
  response.body = store::Content{
      .slices = {{.blob = nullptr, .range = {0, 3}}, {.blob = nullptr, .range = {5, 9}}}};
  EXPECT_EQ(BodySize(response), 7U);
}

}  // namespace
}  // namespace penstock::emulator::s3
