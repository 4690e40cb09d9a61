#include "penstock/base/blocking.h"

#include <gtest/gtest.h>

#include <thread>

namespace penstock {
namespace {

TEST(Blocking, IsRejectedOnAnIoThread) {
  EXPECT_TRUE(CheckMayBlock("Call").ok());
  {
    const IoThreadScope scope;
    const Result<void> refused = CheckMayBlock("Call");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("Call was called on an I/O thread"), std::string::npos);
    bool other_refused = true;
    std::thread([&] { other_refused = OnIoThread(); }).join();
    EXPECT_FALSE(other_refused);
  }
  EXPECT_TRUE(CheckMayBlock("Call").ok());
}

}  // namespace
}  // namespace penstock
