#include "emulator/store/tables/event_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

TEST(EventRowsTest, KeepsTheNewestAndNeverUsesANumberAgain) {
  const auto connection = OpenDatabase(":memory:", Durability::kRelaxed).value();
  const std::vector<Event> many(1000, Event{"arn", "{}"});
  for (std::uint64_t added = 0; added <= kMostEvents; added += many.size())
    ASSERT_TRUE(AddEvents(*connection, many).ok());
  auto found = FindEvents(*connection, 0, 2).value();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].number, 1001u);
  EXPECT_EQ(found[1].number, 1002u);
  ASSERT_TRUE(RemoveEventRows(*connection, UINT64_MAX).ok());
  EXPECT_TRUE(FindEvents(*connection, 0, 2).value().empty());
  ASSERT_TRUE(AddEvents(*connection, std::vector<Event>{{"arn:b", "{\"a\":1}"}}).ok());
  found = FindEvents(*connection, 0, 2).value();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, kMostEvents + 1001);
  EXPECT_EQ(found[0].event.destination, "arn:b");
  EXPECT_EQ(found[0].event.message, "{\"a\":1}");
}

}  // namespace
}  // namespace penstock::emulator::store
