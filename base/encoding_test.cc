#include "base/encoding.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock {
namespace {

TEST(HexTest, EncodesLowerCase) {
  EXPECT_EQ(HexEncode(AsBytes(std::string_view("\x00\xAB\x0f\xff", 4))), "00ab0fff");
}

TEST(HexTest, DecodesEitherCase) { EXPECT_EQ(HexDecode("aBCd09"), std::string("\xab\xcd\x09")); }

TEST(HexTest, EmptyIsEmpty) {
  EXPECT_EQ(HexEncode({}), "");
  EXPECT_EQ(HexDecode(""), "");
}

TEST(HexTest, RejectsMalformed) {
  for (const char* text : {"a", "abc", "0g", "g0", "0x", " 0", "0 ", "\xff\xff"}) {
    EXPECT_EQ(HexDecode(text), std::nullopt) << text;
  }
}

// RFC 4648 section 10.
TEST(Base64Test, MatchesPublishedVectors) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(Base64Encode(AsBytes(plain)), encoded);
    EXPECT_EQ(Base64Decode(encoded), plain);
  }
}

TEST(Base64Test, UsesPlusAndSlash) {
  EXPECT_EQ(Base64Encode(AsBytes("\xfb\xff\xfe")), "+//+");
  EXPECT_EQ(Base64Decode("+//+"), std::string("\xfb\xff\xfe"));
}

TEST(Base64Test, RejectsMalformed) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "=", "==", "===", "====", "Z===", "Zg==Zg==", "Zm9v\n", " Zm9",
        "Zm-_", "Zm9=v", "Z=9v", "\xff\xff\xff\xff", "Zm9vYg==\n"}) {
    EXPECT_EQ(Base64Decode(text), std::nullopt) << text;
  }
}

TEST(Base64Test, RejectsNonZeroUnusedBits) {
  EXPECT_EQ(Base64Decode("Zh=="), std::nullopt);
  EXPECT_EQ(Base64Decode("Zm9="), std::nullopt);
}

TEST(EncodingTest, RoundTripsAnyBytes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (std::size_t length = 0; length < 200; ++length) {
    std::string plain(length, '\0');
    for (char& c : plain) c = static_cast<char>(random());
    EXPECT_EQ(HexDecode(HexEncode(AsBytes(plain))), plain);
    EXPECT_EQ(Base64Decode(Base64Encode(AsBytes(plain))), plain);
  }
}

}  // namespace
}  // namespace penstock
