#include "emulator/store/records/codec.h"

#include <gtest/gtest.h>

namespace penstock::emulator::store {
namespace {

TEST(Codec, RoundTripsAttributesInOrderWithAnyBytes) {
  const Attributes attributes = {{"b", "2"}, {"a", std::string("\0x\xFF", 3)}, {"", ""}};
  EXPECT_EQ(DecodeAttributes(EncodeAttributes(attributes)), attributes);
}

TEST(Codec, RoundTripsParts) {
  PartRecord part{10000, 5ULL << 30, ETag("abc"), "c2Vj",
                  FromNanoseconds(1'700'000'000'123'456'789)};
  PartRecord internal = part;
  internal.checksum_is_internal = true;
  const auto parts = DecodeParts(EncodeParts({internal, part}));
  ASSERT_TRUE(parts.has_value());
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[1].number, 10000);
  EXPECT_EQ((*parts)[1].size, 5ULL << 30);
  EXPECT_EQ((*parts)[1].etag.value, "abc");
  EXPECT_EQ((*parts)[1].checksum, "c2Vj");
  EXPECT_EQ((*parts)[1].last_modified, part.last_modified);
  EXPECT_TRUE((*parts)[0].checksum_is_internal);
  EXPECT_FALSE((*parts)[1].checksum_is_internal);
}

TEST(Codec, ConcatenatedSlicesAreOneList) {
  const SliceReference a{1, {0, 10}};
  const SliceReference b{1LL << 40, {5, 1ULL << 42}};
  const auto both = DecodeSlices(EncodeSlices({a}) + EncodeSlices({b}));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(*both, (std::vector<SliceReference>{a, b}));
}

TEST(Codec, RejectsTruncatedInput) {
  const std::string packed = EncodeAttributes({{"name", "value"}});
  for (std::size_t size = 1; size < packed.size(); ++size) {
    EXPECT_EQ(DecodeAttributes(packed.substr(0, size)), std::nullopt) << size;
  }
  const std::string slices = EncodeSlices({{300, {200, 400}}});
  EXPECT_EQ(DecodeSlices(slices.substr(0, slices.size() - 1)), std::nullopt);
}

TEST(Codec, RejectsARangeThatEndsBeforeItBegins) {
  EXPECT_EQ(DecodeSlices(EncodeSlices({{1, {9, 3}}})), std::nullopt);
}

}  // namespace
}  // namespace penstock::emulator::store
