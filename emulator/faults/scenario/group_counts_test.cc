#include "emulator/faults/scenario/group_counts.h"

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

void TakeAndFinish(GroupCounts& counts, const std::string& group) {
  counts.Take(group);
  counts.Finish(group, /*happened=*/true);
}

TEST(GroupCountsTest, CountsEachGroupSeparately) {
  GroupCounts counts;
  TakeAndFinish(counts, "a");
  TakeAndFinish(counts, "a");
  TakeAndFinish(counts, "b");
  EXPECT_EQ(counts.Taken("a"), 2U);
  EXPECT_EQ(counts.Taken("b"), 1U);
  EXPECT_EQ(counts.Taken("c"), 0U);
}

TEST(GroupCountsTest, ReturnedUsesTakeNoMemory) {
  GroupCounts counts;
  counts.Take("a");
  EXPECT_EQ(counts.Taken("a"), 1U) << "the use is in progress";
  counts.Finish("a", /*happened=*/false);
  EXPECT_EQ(counts.Taken("a"), 0U);
  EXPECT_EQ(counts.size(), 0U);
}

TEST(GroupCountsTest, EvictsTheLeastRecentlyUsedGroup) {
  GroupCounts counts(3);
  for (const char* group : {"a", "b", "c"}) TakeAndFinish(counts, group);
  EXPECT_EQ(counts.Taken("a"), 1U);  // Marks the group as used.
  TakeAndFinish(counts, "d");
  EXPECT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts.Taken("b"), 0U);
  for (const char* group : {"a", "c", "d"}) EXPECT_EQ(counts.Taken(group), 1U) << group;
}

TEST(GroupCountsTest, DoesNotEvictGroupsInUse) {
  GroupCounts counts(2);
  counts.Take("a");
  counts.Take("b");
  counts.Take("c");
  EXPECT_EQ(counts.size(), 3U);
  counts.Finish("b", /*happened=*/true);
  TakeAndFinish(counts, "d");
  EXPECT_EQ(counts.Taken("a"), 1U);
  EXPECT_EQ(counts.Taken("b"), 0U);
  counts.Finish("a", /*happened=*/true);
  EXPECT_EQ(counts.Taken("a"), 1U);
}

TEST(GroupCountsTest, GroupIsInUseUntilAllUsesAreFinished) {
  GroupCounts counts(1);
  counts.Take("a");
  counts.Take("a");
  counts.Finish("a", /*happened=*/false);
  TakeAndFinish(counts, "b");
  EXPECT_EQ(counts.Taken("a"), 1U);
  counts.Finish("a", /*happened=*/true);
  TakeAndFinish(counts, "c");
  EXPECT_EQ(counts.Taken("b"), 0U);
  EXPECT_EQ(counts.size(), 1U) << "the bound holds again";
}

}  // namespace
}  // namespace penstock::emulator::faults
