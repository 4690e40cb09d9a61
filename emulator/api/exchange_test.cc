#include "emulator/api/exchange.h"

#include <gtest/gtest.h>

namespace penstock::emulator::api {
namespace {

TEST(ExchangeTest, FindsTheFirstRequestHeaderWhateverItsCase) {
  RequestHead head;
  head.headers = {{"X-A", "1"}, {"x-a", "2"}};
  EXPECT_EQ(head.Find("x-A"), "1");
  EXPECT_FALSE(head.Find("x-b").has_value());
}

TEST(ExchangeTest, ResponseKeepsDuplicatesInOrder) {
  Response response;
  response.Add("Vary", "a");
  response.Add("Vary", "b");
  EXPECT_EQ(response.headers.size(), 2u);
  EXPECT_EQ(response.Find("vary"), "a");
  EXPECT_FALSE(response.Find("x").has_value());
}

}  // namespace
}  // namespace penstock::emulator::api
