#include "emulator/store/records/ids.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string_view>

namespace penstock::emulator::store {
namespace {

constexpr std::string_view kAllowed =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";

TEST(Ids, VersionIdsHave32AllowedCharacters) {
  const VersionId id = MakeVersionId(7);
  EXPECT_EQ(id.value.size(), 32u);
  EXPECT_EQ(id.value.find_first_not_of(kAllowed), std::string::npos);
}

TEST(Ids, VersionIdsContainTheirSequence) {
  for (const std::int64_t sequence : {std::int64_t{0}, std::int64_t{63}, std::int64_t{1} << 40,
                                      std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(SequenceOf(MakeVersionId(sequence)), sequence);
  }
}

TEST(Ids, OtherVersionIdsHaveNoSequence) {
  EXPECT_EQ(SequenceOf(VersionId("null")), std::nullopt);
  EXPECT_EQ(SequenceOf(VersionId(std::string(32, '!'))), std::nullopt);
}

TEST(Ids, DetectsForeignVersionIds) {
  const VersionId id = MakeVersionId(7);
  EXPECT_TRUE(IsIssued(id));
  EXPECT_TRUE(IsIssued(VersionId("null")));
  EXPECT_FALSE(IsIssued(VersionId("HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD")));
  EXPECT_FALSE(IsIssued(VersionId("short")));
  for (std::size_t i = 0; i < id.value.size(); ++i) {
    VersionId other = id;
    other.value[i] = other.value[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(IsIssued(other)) << "character " << i;
  }
}

TEST(Ids, UploadIdsHave128AllowedCharactersAndDiffer) {
  std::set<UploadId> seen;
  for (int i = 0; i < 100; ++i) {
    const UploadId id = MakeUploadId(7);
    EXPECT_EQ(SequenceOf(id), 7);
    EXPECT_EQ(id.value.size(), 128u);
    EXPECT_EQ(id.value.find_first_not_of(kAllowed), std::string::npos);
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(SequenceOf(UploadId(std::string(128, 'A'))), std::nullopt);
  EXPECT_EQ(SequenceOf(UploadId("short")), std::nullopt);
}

}  // namespace
}  // namespace penstock::emulator::store
