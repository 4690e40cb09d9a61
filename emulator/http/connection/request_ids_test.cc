#include "emulator/http/connection/request_ids.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

TEST(RequestIds, HaveTheFormatOfS3) {
  RequestIdSource source(7);
  for (int i = 0; i < 1000; ++i) {
    const RequestIds ids = source.Next();
    ASSERT_EQ(ids.request_id.size(), 16u);
    ASSERT_EQ(ids.request_id.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
              std::string::npos);
    ASSERT_EQ(ids.host_id.size(), 76u);
    ASSERT_EQ(ids.host_id.find('='), 75u);
    ASSERT_EQ(ids.host_id.find_first_not_of(
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
              std::string::npos);
  }
}

TEST(RequestIds, DoNotRepeat) {
  RequestIdSource source(7);
  std::set<std::string> seen;
  for (int i = 0; i < 20'000; ++i) EXPECT_TRUE(seen.insert(source.Next().request_id).second);
}

TEST(RequestIds, DependOnTheSeed) {
  EXPECT_EQ(RequestIdSource(1).Next().request_id, RequestIdSource(1).Next().request_id);
  EXPECT_NE(RequestIdSource(1).Next().request_id, RequestIdSource(2).Next().request_id);
}

}  // namespace
}  // namespace penstock::emulator::http
