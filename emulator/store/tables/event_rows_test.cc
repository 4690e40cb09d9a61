#include "emulator/store/tables/event_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

TEST(EventRowsTest, KeepsTheNewestAndNeverUsesANumberAgain) {
  const auto connection = OpenDatabase(":memory:", Durability::kRelaxed).value();
  WriteTransaction transaction(*connection);
  ChangeSignal signal;
  const std::vector<Event> many(1000, Event{"arn", "{}"});
  for (std::uint64_t added = 0; added <= kMostEvents; added += many.size())
    ASSERT_TRUE(AddEvents(transaction, many, signal).ok());
  const auto find = [&] { return FindEvents(*connection, EventFilter::kAll, 0, 2).value(); };
  auto found = find();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].number, 1001u);
  EXPECT_EQ(found[1].number, 1002u);
  ASSERT_TRUE(RemoveEventRows(*connection, UINT64_MAX).ok());
  EXPECT_TRUE(find().empty());
  ASSERT_TRUE(AddEvents(transaction, std::vector<Event>{{"arn:b", "{\"a\":1}"}}, signal).ok());
  found = find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, kMostEvents + 1001);
  EXPECT_EQ(found[0].event.destination, "arn:b");
  EXPECT_EQ(found[0].event.message, "{\"a\":1}");
}

TEST(EventRowsTest, DeliveredEventsAreKeptAndFoundOnlyOnRequest) {
  const auto connection = OpenDatabase(":memory:", Durability::kRelaxed).value();
  WriteTransaction transaction(*connection);
  ChangeSignal signal;
  ASSERT_TRUE(AddEvents(transaction, std::vector<Event>(3, Event{"arn", "{}"}), signal).ok());
  ASSERT_TRUE(MarkDeliveredRow(*connection, 2).ok());
  ASSERT_TRUE(MarkDeliveredRow(*connection, 9).ok());
  const auto left = FindEvents(*connection, EventFilter::kUndelivered, 0, 9).value();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].number, 1u);
  EXPECT_EQ(left[1].number, 3u);
  const auto all = FindEvents(*connection, EventFilter::kAll, 1, 9).value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].delivered);
  EXPECT_FALSE(all[1].delivered);
}

}  // namespace
}  // namespace penstock::emulator::store
