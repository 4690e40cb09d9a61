#include "emulator/message/request.h"

#include <gtest/gtest.h>

namespace penstock::emulator::message {
namespace {

TEST(RequestHeadTest, FindIgnoresCaseAndReturnsTheFirstHeader) {
  RequestHead head;
  head.headers = {{"X-A", "1"}, {"x-a", "2"}};
  EXPECT_EQ(head.Find("x-A"), "1");
  EXPECT_FALSE(head.Find("x-b").has_value());
}

}  // namespace
}  // namespace penstock::emulator::message
