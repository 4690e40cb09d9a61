#include "emulator/s3/protocol/tags.h"

#include <gtest/gtest.h>

#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

std::string Document(std::string_view inner) {
  return "<Tagging><TagSet>" + std::string(inner) + "</TagSet></Tagging>";
}
std::string Tag(std::string_view key, std::string_view value) {
  return "<Tag><Key>" + std::string(key) + "</Key><Value>" + std::string(value) + "</Value></Tag>";
}
std::string Refusal(std::string_view document) {
  const auto tags = ParseTagDocument(document);
  return tags.ok() ? "accepted" : tags.error().code + ": " + tags.error().message;
}

TEST(TagsTest, HeaderIsAUrlQuery) {
  const auto tags = ParseTagHeader("a=1&b%20c=d+e&f");
  ASSERT_TRUE(tags.ok());
  EXPECT_EQ(*tags, (store::Attributes{{"a", "1"}, {"b c", "d e"}, {"f", ""}}));
  for (const char* bad : {"a=1&a=2", "=1", "a=%zz", "%FF=1", "a=1,b=2"}) {
    const auto refused = ParseTagHeader(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code, "InvalidArgument") << bad;
    EXPECT_TRUE(
        refused.error().message.starts_with("The header 'x-amz-tagging' shall be encoded as UTF-8"))
        << bad;
  }
  const auto gaps = ParseTagHeader("&&a=x%3Dy&");
  ASSERT_TRUE(gaps.ok());
  EXPECT_EQ(*gaps, (store::Attributes{{"a", "x=y"}}));
  const auto many = ParseTagHeader("a&b&c&d&e&f&g&h&i&j&k");
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().code, "BadRequest");
  EXPECT_EQ(many.error().message, "Object tags cannot be greater than 10");
}

TEST(TagsTest, DocumentsAreCheckedAgainstTheTagRules) {
  EXPECT_EQ(Refusal(Document(Tag("k", "v"))), "accepted");
  EXPECT_EQ(Refusal(Document("")), "accepted");
  EXPECT_EQ(Refusal(Document(Tag("k", "1") + Tag("k", "2"))),
            "InvalidTag: Cannot provide multiple Tags with the same key");
  EXPECT_EQ(Refusal(Document(Tag("aws:x", "1"))),
            "InvalidTag: Your TagKey cannot be prefixed with aws:");
  EXPECT_EQ(Refusal(Document(Tag(std::string(129, 'k'), "1"))),
            "InvalidTag: The TagKey you have provided is invalid");
  EXPECT_EQ(Refusal(Document(Tag("k!", "1"))),
            "InvalidTag: The TagKey you have provided is invalid");
  EXPECT_EQ(Refusal(Document(Tag("", "1"))), "InvalidTag: The TagKey you have provided is invalid");
  EXPECT_EQ(Refusal(Document(Tag("k", std::string(257, 'v')))),
            "InvalidTag: The TagValue you have provided is invalid");
  EXPECT_EQ(Refusal("<Tagging/>"), "accepted") << "recorded against Amazon S3";
  EXPECT_TRUE(Refusal("<Tagging>").starts_with("MalformedXML"));
  EXPECT_TRUE(Refusal(Document("<Tag><Key>k</Key></Tag>")).starts_with("MalformedXML"));
  EXPECT_TRUE(
      Refusal(Document("<Tag><Key>k</Key><Value/><Bogus/></Tag>")).starts_with("MalformedXML"));
  EXPECT_TRUE(
      Refusal(Document("<Tag><Key>k</Key><Key>l</Key><Value/></Tag>")).starts_with("MalformedXML"));
  EXPECT_TRUE(
      Refusal("<Tagging xmlns=\"urn:other\"><TagSet/></Tagging>").starts_with("MalformedXML"));
}

// Recorded against Amazon S3: TagValue is present only if the value is invalid.
TEST(TagsTest, ErrorsContainTheTag) {
  const auto details = [](std::string_view document) {
    return ParseTagDocument(document).error().details;
  };
  const ErrorDetails key{{"TagKey", "a"}};
  EXPECT_EQ(details(Document(Tag("a", "1") + Tag("b", "2") + Tag("a", "3"))), key);
  EXPECT_EQ(details(Document(Tag("a,b", "1"))), (ErrorDetails{{"TagKey", "a,b"}}));
  EXPECT_EQ(details(Document(Tag("aws:a", "1"))), (ErrorDetails{{"TagKey", "aws:a"}}));
  EXPECT_EQ(details(Document(Tag("a", "1,2"))),
            (ErrorDetails{{"TagKey", "a"}, {"TagValue", "1,2"}}));
}

TEST(TagsTest, LimitsCountCharactersNotBytes) {
  std::string key;
  for (int i = 0; i < 128; ++i) key += "\xC3\xA9";
  EXPECT_EQ(Refusal(Document(Tag(key, "v"))), "accepted");
}

// Letters, separators and numbers of any script are allowed, symbols are not.
TEST(TagsTest, LettersOfAnyScriptAreAllowedAndSymbolsAreNot) {
  for (const char* text : {"\xC3\xA9", "\xE6\x97\xA5\xE6\x9C\xAC", "\xD0\x96", "\xD9\xA3",
                           "\xC2\xA0", "\xE3\x80\x80"}) {
    EXPECT_EQ(Refusal(Document(Tag(std::string("k") + text, text))), "accepted") << text;
  }
  // Emoji, euro, copyright, zero-width space.
  for (const char* text : {"\xF0\x9F\x98\x80", "\xE2\x82\xAC", "\xC2\xA9", "\xE2\x80\x8B"}) {
    EXPECT_EQ(Refusal(Document(Tag("k", text))),
              "InvalidTag: The TagValue you have provided is invalid")
        << text;
  }
}

TEST(TagsTest, DocumentKeepsOrder) {
  EXPECT_TRUE(TagDocument({{"b", "1"}, {"a", "<"}})
                  .ends_with("<TagSet><Tag><Key>b</Key><Value>1</Value></Tag><Tag><Key>a</"
                             "Key><Value>&lt;</Value></Tag>"
                             "</TagSet></Tagging>"));
}

}  // namespace
}  // namespace penstock::emulator::s3
