#include "base/xml/xml.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <pugixml.hpp>

namespace penstock {
namespace {

XmlDocument MustParse(std::string_view text) {
  auto document = XmlDocument::Parse(text);
  EXPECT_TRUE(document.ok()) << document.error().message;
  return std::move(document).value();
}

TEST(XmlDocumentTest, ReadsNestedElements) {
  const XmlDocument document =
      MustParse("<?xml version=\"1.0\"?>\n<List><Key>a</Key><Key>b</Key><Size>7</Size></List>\n");
  EXPECT_EQ(document.root().name(), "List");
  EXPECT_EQ(document.root().Child("Size").text(), "7");
  ASSERT_EQ(document.root().Children("Key").size(), 2U);
  EXPECT_EQ(document.root().Children("Key")[1].text(), "b");
  EXPECT_EQ(document.root().Children().size(), 3U);
}

// Running out of memory does not make a document malformed.
TEST(XmlDocumentTest, OutOfMemoryIsNotAMalformedDocument) {
  pugi::set_memory_management_functions([](std::size_t) -> void* { return nullptr; },
                                        pugi::get_memory_deallocation_function());
  EXPECT_THROW(static_cast<void>(XmlDocument::Parse("<List/>")), std::bad_alloc);
  pugi::set_memory_management_functions(std::malloc, std::free);
  EXPECT_TRUE(XmlDocument::Parse("<List/>").ok());
}

TEST(XmlDocumentTest, PrefixesAndNamespacesAreIgnored) {
  const XmlDocument document = MustParse(
      "<s3:Grant xmlns:s3=\"http://s3\" xmlns:xsi=\"http://xsi\" xsi:type=\"Group\" "
      "plain=\"p\"><s3:Key>k</s3:Key></s3:Grant>");
  EXPECT_EQ(document.root().name(), "Grant");
  EXPECT_EQ(document.root().Child("Key").text(), "k");
  EXPECT_EQ(document.root().Attribute("type"), "Group");
  EXPECT_EQ(document.root().Attribute("xsi:type"), "Group");
  EXPECT_EQ(document.root().Attribute("plain"), "p");
  EXPECT_EQ(document.root().Attribute("s3"), std::nullopt);
}

TEST(XmlDocumentTest, AbsentElementsAreFalseAndEmpty) {
  const XmlDocument document = MustParse("<a/>");
  const XmlElement absent = document.root().Child("b").Child("c");
  EXPECT_FALSE(absent);
  EXPECT_EQ(absent.text(), "");
  EXPECT_EQ(absent.name(), "");
  EXPECT_TRUE(absent.Children().empty());
  EXPECT_EQ(absent.Attribute("x"), std::nullopt);
  EXPECT_TRUE(document.root());
}

TEST(XmlDocumentTest, TextResolvesReferencesAndKeepsWhiteSpace) {
  const XmlDocument document = MustParse(
      "<a><k> </k><l>  x &amp;&#x1;&lt;&#13;&#x20AC; </l><m>1<!-- c "
      "--><![CDATA[<&>]]>2</m><n></n></a>");
  EXPECT_EQ(document.root().Child("k").text(), " ");
  EXPECT_EQ(document.root().Child("l").text(), "  x &\x01<\r\u20ac ");
  EXPECT_EQ(document.root().Child("m").text(), "1<&>2");
  EXPECT_EQ(document.root().Child("n").text(), "");
}

TEST(XmlDocumentTest, TextExcludesTheTextOfChildren) {
  const XmlDocument document = MustParse("<a>x<b>y</b>z</a>");
  EXPECT_EQ(document.root().text(), "xz");
}

TEST(XmlDocumentTest, AcceptsAByteOrderMark) {
  EXPECT_EQ(MustParse("\xEF\xBB\xBF<a>1</a>").root().text(), "1");
}

TEST(XmlDocumentTest, RejectsMalformedDocuments) {
  for (const char* text : {"",
                           " ",
                           "x",
                           "<",
                           "<a",
                           "<a>",
                           "<a></b>",
                           "</a>",
                           "<a/><b/>",
                           "<a/>x",
                           "x<a/>",
                           "<a><b></a></b>",
                           "<a b=c/>",
                           "<a b/>",
                           "<!-- only -->",
                           "<?xml version=\"1.0\"?>",
                           "<a>&</a>",
                           "<a>&nope;</a>",
                           "<a>\x01</a>",
                           "<a><!-- </a>",
                           "<a><![CDATA[</a>",
                           "<![CDATA[x]]><a/>",
                           "{\"json\": true}"}) {
    const auto document = XmlDocument::Parse(text);
    ASSERT_FALSE(document.ok()) << text;
    EXPECT_EQ(document.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_EQ(document.error().code, "MalformedXML");
    EXPECT_NE(document.error().message.find("at byte "), std::string::npos)
        << document.error().message;
  }
}

TEST(XmlDocumentTest, CanRejectCharactersThatXmlDoesNotAllow) {
  for (const char* text : {"<a>&#x1;</a>", "<a>\xEF\xBF\xBF</a>", "<a>\xFF</a>"}) {
    EXPECT_TRUE(XmlDocument::Parse(text).ok()) << text;
    const auto strict = XmlDocument::Parse(text, XmlCharacters::kXml10);
    ASSERT_FALSE(strict.ok()) << text;
    EXPECT_NE(strict.error().message.find("at byte 3"), std::string::npos)
        << strict.error().message;
  }
  EXPECT_TRUE(XmlDocument::Parse("<a>\u00E9&#xd;</a>", XmlCharacters::kXml10).ok());
}

TEST(XmlDocumentTest, CanRejectElementsThatHaveAnAttributeTwice) {
  for (const char* text : {"<a x='1' x='2'/>", "<a><b/><c y='' x='1' y=''>t</c></a>"}) {
    EXPECT_TRUE(XmlDocument::Parse(text).ok()) << text;
    const auto strict = XmlDocument::Parse(text, XmlCharacters::kXml10);
    ASSERT_FALSE(strict.ok()) << text;
    EXPECT_NE(strict.error().message.find("an attribute twice"), std::string::npos);
  }
  EXPECT_TRUE(XmlDocument::Parse("<a x='1' y='1'><b x='1'/></a>", XmlCharacters::kXml10).ok());
}

TEST(XmlDocumentTest, ReportsTheByteOffset) {
  EXPECT_EQ(XmlDocument::Parse("<a>&nope;</a>").error().message,
            "The XML is not well-formed at byte 3: '&' that does not start a known reference.");
  EXPECT_NE(XmlDocument::Parse("<a></b>").error().message.find("at byte 5"), std::string::npos);
}

TEST(XmlDocumentTest, RejectsDocumentTypesAndTheirEntities) {
  EXPECT_FALSE(
      XmlDocument::Parse("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>")
          .ok());
  EXPECT_FALSE(XmlDocument::Parse("<!DOCTYPE a [<!ENTITY x \"ha\">]><a/>").ok());
}

TEST(XmlDocumentTest, DeepNestingDoesNotExhaustTheStack) {
  constexpr int kDepth = 200'000;
  std::string text;
  for (int i = 0; i < kDepth; ++i) text += "<a>";
  EXPECT_FALSE(XmlDocument::Parse(text).ok());
  for (int i = 0; i < kDepth; ++i) text += "</a>";
  EXPECT_TRUE(XmlDocument::Parse(text).ok());
}

TEST(XmlDocumentTest, ElementsSurviveAMoveOfTheDocument) {
  XmlDocument first = MustParse("<a><b>1</b></a>");
  const XmlElement b = first.root().Child("b");
  const XmlDocument second = std::move(first);
  EXPECT_EQ(b.text(), "1");
  EXPECT_EQ(second.root().name(), "a");
}

}  // namespace
}  // namespace penstock
