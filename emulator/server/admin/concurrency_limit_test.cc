#include "emulator/server/admin/concurrency_limit.h"

#include <gtest/gtest.h>

#include <utility>

namespace penstock::emulator::server {
namespace {

TEST(ConcurrencyLimitTest, LimitsConcurrentUses) {
  ConcurrencyLimit limit(2);
  std::shared_ptr<void> first = limit.Take();
  const std::shared_ptr<void> second = limit.Take();
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(limit.Take(), nullptr);
  std::shared_ptr<void> copy = first;
  first.reset();
  EXPECT_EQ(limit.Take(), nullptr) << "a copy still exists";
  copy.reset();
  EXPECT_NE(limit.Take(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::server
