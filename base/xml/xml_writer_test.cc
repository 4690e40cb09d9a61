#include <gtest/gtest.h>

#include "base/xml/xml.h"

namespace penstock {
namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  AppendXmlEscaped(out, text);
  return out;
}

TEST(AppendXmlEscapedTest, PlainTextIsUnchanged) {
  EXPECT_EQ(Escaped(""), "");
  EXPECT_EQ(Escaped("a/b 'c' \u20ac\x7f"), "a/b 'c' \u20ac\x7f");
}

TEST(AppendXmlEscapedTest, EscapesMarkupAndQuotes) {
  EXPECT_EQ(Escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
  EXPECT_EQ(Escaped("&&x"), "&amp;&amp;x");
}

TEST(AppendXmlEscapedTest, ControlCharactersBecomeReferences) {
  EXPECT_EQ(Escaped("a\x01\r\n\t\x1f"), "a&#x1;&#xd;&#xa;&#x9;&#x1f;");
  EXPECT_EQ(Escaped(std::string_view("\0", 1)), "&#x0;");
}

TEST(AppendXmlEscapedTest, NoncharactersBecomeReferences) {
  EXPECT_EQ(Escaped("a\xEF\xBF\xBE\xEF\xBF\xBF"
                    "b"),
            "a&#xfffe;&#xffff;b");
  EXPECT_EQ(Escaped("\uFFFD\uF000\uFEFF"), "\uFFFD\uF000\uFEFF");
}

TEST(AppendXmlEscapedTest, AppendsToExistingText) {
  std::string out = "<k>";
  AppendXmlEscaped(out, "a&b");
  EXPECT_EQ(out, "<k>a&amp;b");
}

TEST(AppendXmlEscapedTest, ParsesBackToTheSameText) {
  std::string every;
  for (int c = 1; c < 128; ++c) every += static_cast<char>(c);
  const auto document =
      XmlDocument::Parse("<a b=\"" + Escaped(every) + "\">" + Escaped(every) + "</a>");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->root().text(), every);
}

TEST(XmlWriterTest, WritesADocument) {
  XmlWriter xml;
  xml.Open("A", "xmlns=\"urn:x\"");
  xml.Element("B", "1 < 2");
  xml.Element("C", "");
  xml.Empty("D");
  xml.Empty("E", "f=\"g\"");
  xml.Open("G");
  xml.Close("G");
  xml.Close("A");
  EXPECT_EQ(xml.Take(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<A xmlns=\"urn:x\"><B>1 &lt; 2</B><C></C><D/><E f=\"g\"/><G></G></A>");
}

}  // namespace
}  // namespace penstock
