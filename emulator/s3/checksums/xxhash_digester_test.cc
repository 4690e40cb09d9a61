#include "emulator/s3/checksums/xxhash_digester.h"

#include <gtest/gtest.h>

#include "base/encoding.h"

namespace penstock::emulator::s3 {
namespace {

std::string Hex(XxhashKind kind, std::string_view text, std::size_t cut = 0) {
  XxhashDigester digester(kind);
  digester.Update(AsBytes(text.substr(0, cut)));
  digester.Update(AsBytes(text.substr(cut)));
  return HexEncode(AsBytes(digester.Finish()));
}

// The values of the empty input in the xxHash specification and its test programs.
TEST(XxhashDigesterTest, EmptyInputGivesThePublishedValues) {
  EXPECT_EQ(Hex(XxhashKind::kXxh64, ""), "ef46db3751d8e999");
  EXPECT_EQ(Hex(XxhashKind::kXxh3, ""), "2d06800538d394c2");
  EXPECT_EQ(Hex(XxhashKind::kXxh128, ""), "99aa06d3014798d86001c324468d497f");
}

TEST(XxhashDigesterTest, SplittingTheInputDoesNotChangeTheDigest) {
  std::string text(5000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>('a' + i % 26);
  for (const auto kind : {XxhashKind::kXxh64, XxhashKind::kXxh3, XxhashKind::kXxh128}) {
    const std::string whole = Hex(kind, text);
    for (const std::size_t cut : {1u, 31u, 240u, 256u, 1024u, 4999u})
      EXPECT_EQ(Hex(kind, text, cut), whole) << cut;
    EXPECT_NE(Hex(kind, text.substr(1)), whole);
  }
}

TEST(XxhashDigesterTest, MovedDigestersContinue) {
  XxhashDigester first(XxhashKind::kXxh3);
  first.Update(AsBytes("1234"));
  XxhashDigester second(std::move(first));
  second.Update(AsBytes("56789"));
  // Computed with awscrt 0.38.1.
  EXPECT_EQ(Base64Encode(AsBytes(second.Finish())), "ctyxi2ehff8=");
}

}  // namespace
}  // namespace penstock::emulator::s3
