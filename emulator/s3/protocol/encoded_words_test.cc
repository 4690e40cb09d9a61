#include "emulator/s3/protocol/encoded_words.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

std::string Stored(std::string_view value) { return NormaliseMetadataValue(value); }

TEST(EncodedWordsTest, AsciiWordsAreDecoded) {
  EXPECT_EQ(Stored("plain"), "plain");
  EXPECT_EQ(Stored("=?UTF-8?B?aGVsbG8=?="), "hello");
  EXPECT_EQ(Stored("=?utf-8?q?a=20b_c=25?="), "a b c%");
  EXPECT_EQ(Stored("=?US-ASCII?Q?100%?="), "100%");
  EXPECT_EQ(Stored("say =?UTF-8?B?aGVsbG8=?= twice"), "say hello twice");
  EXPECT_EQ(Stored("=?UTF-8?B?aGVs?= =?UTF-8?B?bG8=?="), "hello");  // RFC 2047, section 6.2.
}

TEST(EncodedWordsTest, OtherValuesAreUnchanged) {
  for (const char* value : {"=?UTF-8?B?w6k=?=", "=?x?=", "=?", "a=?b",
                            "=?UTF-8?X?aGVs?=", "=?UTF-8?B?a?=", "=?UTF-8?B?aGVs",
                            "=?UTF-8?B?aGVs?= =?UTF-8?B?w6k=?=", "=?UTF-8?Q?=4?=", "?=", "=?a?b"}) {
    EXPECT_EQ(Stored(value), value);
  }
}

TEST(EncodedWordsTest, NonAsciiBytesAreReadAsLatin1) {
  EXPECT_EQ(Stored("\xE9"), "=?UTF-8?B?w6k=?=");
  // The example of the Amazon S3 User Guide, "Working with object metadata". S3 reads the bytes as
  // ISO-8859-1 although they were UTF-8.
  EXPECT_EQ(Stored("\xC3\x84M\xC3\x84Z\xC3\x95\xC3\x91 S3"),
            "=?UTF-8?B?w4PChE3Dg8KEWsODwpXDg8KRIFMz?=");
}

// Recorded against Amazon S3.
TEST(EncodedWordsTest, ControlCharactersStayEncoded) {
  EXPECT_EQ(Stored("x =?UTF-8?B?YQ0KYjog?="), "=?UTF-8?B?eCBhDQpiOiA=?=");  // "x a\r\nb: "
  EXPECT_EQ(Stored("=?UTF-8?Q?=7F?="), "=?UTF-8?B?fw==?=");
  EXPECT_EQ(Stored("=?UTF-8?Q?a=09b?="), "a\tb");
}

// Recorded against Amazon S3.
TEST(EncodedWordsTest, TextIsEncodedIfAHeaderCannotHoldIt) {
  EXPECT_EQ(EncodeMetadataText("100% of a.b\tc"), "100% of a.b\tc");
  EXPECT_EQ(EncodeMetadataText("100% of \xC3\xA9.b"), "=?UTF-8?Q?100%_of_=C3=A9.b?=");
  EXPECT_EQ(EncodeMetadataText("\xC3\xA9"), "=?UTF-8?B?w6k=?=");
  EXPECT_EQ(EncodeMetadataText("a\r\nb"), "=?UTF-8?B?YQ0KYg==?=");
}

TEST(EncodedWordsTest, DecodedBytesCountsTheDecodedText) {
  EXPECT_EQ(DecodedBytes("plain"), 5u);
  EXPECT_EQ(DecodedBytes("=?UTF-8?B?w6k=?="), 2u);
  EXPECT_EQ(DecodedBytes("a =?UTF-8?B?w6k=?= b"), 6u);
  EXPECT_EQ(DecodedBytes("=?x?="), 5u);
}

}  // namespace
}  // namespace penstock::emulator::s3
