#include "emulator/server/admin/places.h"

#include <gtest/gtest.h>

#include <utility>

namespace penstock::emulator::server {
namespace {

TEST(PlacesTest, LimitsConcurrentUses) {
  Places places(2);
  std::shared_ptr<void> first = places.Take();
  const std::shared_ptr<void> second = places.Take();
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(places.Take(), nullptr);
  std::shared_ptr<void> copy = first;
  first.reset();
  EXPECT_EQ(places.Take(), nullptr) << "a copy still holds the place";
  copy.reset();
  EXPECT_NE(places.Take(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::server
