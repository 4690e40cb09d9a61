#include "emulator/message/response.h"

#include <gtest/gtest.h>

namespace penstock::emulator::message {
namespace {

TEST(ResponseTest, KeepsDuplicatesInOrder) {
  Response response;
  response.Add("Vary", "a");
  response.Add("Vary", "b");
  EXPECT_EQ(response.headers.size(), 2u);
  EXPECT_EQ(response.Find("vary"), "a");
  EXPECT_FALSE(response.Find("x").has_value());
}

TEST(BodySizeTest, ReturnsTheSizeOfTheBodyNotOfTheHeaders) {
  Response response;
  response.content_length = 9;
  EXPECT_EQ(BodySize(response), 0U);
  response.body = std::string("four");
  EXPECT_EQ(BodySize(response), 4U);
  response.body =
      Content{.slices = {{.blob = nullptr, .range = {0, 3}}, {.blob = nullptr, .range = {5, 9}}}};
  EXPECT_EQ(BodySize(response), 7U);
}

}  // namespace
}  // namespace penstock::emulator::message
