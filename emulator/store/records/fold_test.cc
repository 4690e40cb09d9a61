#include "emulator/store/records/fold.h"

#include <gtest/gtest.h>

namespace penstock::emulator::store {
namespace {

TEST(Successor, IncrementsTheLastByteBelow0xFF) {
  EXPECT_EQ(Successor("a/"), "a0");
  EXPECT_EQ(Successor("a\xFF"), "b");
  EXPECT_EQ(Successor("\x7F"), "\x80");
}

TEST(Successor, IsAbsentForTheGreatestStrings) {
  EXPECT_EQ(Successor(""), std::nullopt);
  EXPECT_EQ(Successor("\xFF\xFF"), std::nullopt);
}

TEST(KeyFold, GroupsAtTheFirstDelimiterAfterThePrefix) {
  const KeyFold fold("a/", "/");
  EXPECT_EQ(fold.GroupOf("a/b/c/d"), "a/b/");
  EXPECT_EQ(fold.GroupOf("a/b"), "");
  EXPECT_EQ(KeyFold("", "").GroupOf("a/b"), "");
}

TEST(KeyFold, GroupsAtDelimitersOfSeveralBytes) {
  EXPECT_EQ(KeyFold("", "::").GroupOf("a:b::c"), "a:b::");
}

TEST(KeyFold, StartsAtThePrefix) {
  EXPECT_EQ(KeyFold("p", "").LowerBound(""), "p");
  EXPECT_EQ(KeyFold("p", "").LowerBound("a"), "p");
}

TEST(KeyFold, ResumesAfterAKey) {
  EXPECT_EQ(KeyFold("p", "/").LowerBound("pa"), std::string("pa\0", 3));
  // A marker that equals the prefix is not inside a group.
  EXPECT_EQ(KeyFold("p/", "/").LowerBound("p/"), std::string("p/\0", 3));
}

TEST(KeyFold, SkipsTheWholeGroupOfAMarkerInsideIt) {
  const KeyFold fold("folder/", "/");
  EXPECT_EQ(fold.LowerBound("folder/aSubfolder/subFile1"), "folder/aSubfolder0");
  EXPECT_EQ(fold.LowerBound("folder/aSubfolder/"), "folder/aSubfolder0");
}

TEST(KeyFold, EndsAfterThePrefix) {
  EXPECT_EQ(KeyFold("p", "").LowerBound("q"), std::nullopt);
  EXPECT_EQ(KeyFold("", "\xFF").LowerBound("\xFF"), std::nullopt);
}

}  // namespace
}  // namespace penstock::emulator::store
