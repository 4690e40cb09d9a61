#include "base/xml/xml_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/xml/xml.h"

namespace penstock {
namespace {

// Returns every element with its direct text, in the order of the end tags, as "a/b=text". Elements
// with children are read by Text() too.
std::vector<std::string> Leaves(XmlReader& xml, const std::string& path) {
  std::vector<std::string> leaves;
  while (xml.NextChild()) {
    const std::string child = path + "/" + std::string(xml.name());
    leaves.push_back(child + "=" + std::string(xml.Text()));
  }
  return leaves;
}

std::string RootText(std::string_view text) {
  XmlReader xml(text);
  xml.Root();
  std::string out(xml.Text());
  const auto finished = xml.Finish();
  return finished.ok() ? out : finished.error().message;
}

// Reads a whole document and returns "" or the error message.
std::string Fault(std::string_view text) {
  XmlReader xml(text);
  if (!xml.Root().empty()) xml.Skip();
  const auto finished = xml.Finish();
  return finished.ok() ? "" : finished.error().message;
}

TEST(XmlReaderTest, WalksChildrenInOrder) {
  XmlReader xml(
      "<?xml version=\"1.0\"?>\n<List a='1'> <Key>a</Key><!-- c --><Key>b</Key>\n<None/><s3:Size "
      "x=\"&lt;\" >7</s3:Size ></List>\n");
  EXPECT_EQ(xml.Root(), "List");
  EXPECT_EQ(Leaves(xml, ""), (std::vector<std::string>{"/Key=a", "/Key=b", "/None=", "/Size=7"}));
  EXPECT_TRUE(xml.Finish().ok());
}

TEST(XmlReaderTest, WalksIntoChildrenAndSkipsThem) {
  XmlReader xml("<r><a><x>1</x><y><z/></y></a><b><x>2</x></b></r>");
  EXPECT_EQ(xml.Root(), "r");
  ASSERT_TRUE(xml.NextChild());
  xml.Skip();
  ASSERT_TRUE(xml.NextChild());
  EXPECT_EQ(xml.name(), "b");
  EXPECT_EQ(Leaves(xml, "b"), std::vector<std::string>{"b/x=2"});
  EXPECT_FALSE(xml.NextChild());
  EXPECT_TRUE(xml.Finish().ok());
}

TEST(XmlReaderTest, TextEqualsTheTextOfTheTree) {
  for (const std::string_view text :
       {"<a>plain</a>", "<a> kept </a>", "<a>&quot;e&quot;&#65;&#x20AC;&#x1F600;&#x1;&amp;lt;</a>",
        "<a>x<!-- c -->y<?p q?>z</a>", "<a>x<b>not this<c/></b>y</a>",
        "<a><![CDATA[<&amp;>]]>!</a>", "<a>1\r\n2\r3</a>", "<a><![CDATA[1\r\n2\r3]]></a>", "<a/>",
        "<a></a>", "<a>]]></a>", "\xEF\xBB\xBF<a>\xE2\x82\xAC</a>",
        "<a x = \"1\"\n y='&#10;'>t</a\n>", "<?p?><!--c--><a>t</a><!--d--> <?e f?>"}) {
    const auto tree = XmlDocument::Parse(text);
    ASSERT_TRUE(tree.ok()) << text << ": " << tree.error().message;
    EXPECT_EQ(RootText(text), tree->root().text()) << text;
  }
}

TEST(XmlReaderTest, TextWithoutReferencesIsNotCopied) {
  const std::string document = "<a>0123456789</a>";
  XmlReader xml(document);
  xml.Root();
  EXPECT_EQ(xml.Text().data(), document.data() + 3);
}

TEST(XmlReaderTest, RejectsTheSameDocumentsAsTheTree) {
  for (const std::string_view text : {"",
                                      " ",
                                      "x",
                                      "<",
                                      "<a",
                                      "<a>",
                                      "<a><b></a>",
                                      "<a></b>",
                                      "<a></ab>",
                                      "<a></a",
                                      "<a></a>x",
                                      "<a/><b/>",
                                      "<a/><![CDATA[]]>",
                                      "</a>",
                                      "<1/>",
                                      "<a b></a>",
                                      "<a b=></a>",
                                      "<a b=1></a>",
                                      "<a b=\"1></a>",
                                      "<a>&xxe;</a>",
                                      "<a b=\"&\"/>",
                                      "<a>\x01</a>",
                                      "<a><!-- </a>",
                                      "<a><![CDATA[</a>",
                                      "<a><?p </a>",
                                      "<!DOCTYPE a><a/>",
                                      "<a><!DOCTYPE b></a>",
                                      "<a><!b></a>",
                                      "<? ?><a/>",
                                      "<a>&#0;</a>",
                                      "<a>x"}) {
    EXPECT_FALSE(XmlDocument::Parse(text).ok()) << text;
    EXPECT_NE(Fault(text), "") << text;
  }
}

TEST(XmlReaderTest, TruncationAnywhereIsAnError) {
  const std::string_view whole =
      "<?xml version=\"1.0\"?><r a=\"b\"><k>x&amp;y</k><!-- c --><e/><![CDATA[d]]></r>";
  ASSERT_EQ(Fault(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(Fault(whole.substr(0, length)), "") << length;
    EXPECT_NE(RootText(whole.substr(0, length)).find("not well-formed at byte"), std::string::npos)
        << length;
  }
}

TEST(XmlReaderTest, ReportsTheFirstErrorAndItsOffset) {
  XmlReader xml("<a><b>1</b>\x01</a>");
  xml.Root();
  EXPECT_TRUE(xml.NextChild());
  EXPECT_EQ(xml.Text(), "1");
  EXPECT_FALSE(xml.NextChild());
  EXPECT_FALSE(xml.NextChild());
  EXPECT_EQ(xml.Text(), "");
  const auto finished = xml.Finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().message,
            "The XML is not well-formed at byte 11: a raw control character.");
  EXPECT_EQ(finished.error().code, "MalformedXML");
}

TEST(XmlReaderTest, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "<a>";
    for (std::size_t i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  EXPECT_EQ(Fault(nested(XmlReader::kMaxDepth)), "");
  EXPECT_NE(Fault(nested(XmlReader::kMaxDepth + 1)).find("nested deeper than 32"),
            std::string::npos);
}

TEST(XmlReaderTest, UnclosedRootIsAnErrorEvenIfItIsNotRead) {
  XmlReader xml("<a><b/></a>");
  xml.Root();
  EXPECT_FALSE(xml.Finish().ok());
}

}  // namespace
}  // namespace penstock
