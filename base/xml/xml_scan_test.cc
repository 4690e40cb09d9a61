#include "base/xml/xml_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::internal {
namespace {

std::optional<std::size_t> FaultOffset(std::string_view text) {
  const auto fault = FindXmlFault(text);
  if (!fault) return std::nullopt;
  return fault->offset;
}

TEST(XmlScanTest, AcceptsKnownReferences) {
  EXPECT_EQ(FaultOffset("<a b=\"&quot;\">&amp;&lt;&gt;&apos;&#65;&#x41;&#x1F600;&#x1;&#13;</a>"),
            std::nullopt);
}

TEST(XmlScanTest, ReportsTheOffsetOfABadReference) {
  for (const char* reference :
       {"&", "&;", "&xxe;", "&amp", "& amp;", "&#;", "&#x;", "&#xG;", "&#-1;", "&#0;", "&#xD800;",
        "&#x110000;", "&#99999999999;", "&#x1", "&AMP;"}) {
    EXPECT_EQ(FaultOffset(std::string("<a>") + reference + "</a>"), 3U) << reference;
  }
}

TEST(XmlScanTest, ResolvesReferencesToUtf8) {
  for (const auto& [reference, expected] :
       std::vector<std::pair<std::string, std::string>>{{"&amp;", "&"},
                                                        {"&lt;", "<"},
                                                        {"&gt;", ">"},
                                                        {"&quot;", "\""},
                                                        {"&apos;", "'"},
                                                        {"&#65;", "A"},
                                                        {"&#x41;", "A"},
                                                        {"&#x7F;", "\x7F"},
                                                        {"&#x80;", "\xC2\x80"},
                                                        {"&#xE9;", "\xC3\xA9"},
                                                        {"&#x20AC;", "\xE2\x82\xAC"},
                                                        {"&#x1F600;", "\xF0\x9F\x98\x80"},
                                                        {"&#x1;", "\x01"}}) {
    std::string out = "-";
    EXPECT_EQ(AppendReference(out, reference + "rest"), reference.size()) << reference;
    EXPECT_EQ(out, "-" + expected) << reference;
  }
  std::string out;
  for (const char* none : {"&", "&xxe;", "&#0;", "amp;", "&#xD800;"})
    EXPECT_EQ(AppendReference(out, none), 0U) << none;
  EXPECT_EQ(out, "");
}

// XML 1.0 section 2.2. Each character is at byte 3 of the document.
TEST(XmlScanTest, FindsCharactersThatXmlDoesNotAllow) {
  const auto offset = [](const std::string& text) {
    const auto fault = FindForeignCharacter(text);
    return fault ? std::optional<std::size_t>(fault->offset) : std::nullopt;
  };
  for (const char* foreign : {"\xFF", "\xC3", "\xED\xA0\x80", "\xEF\xBF\xBE", "\xEF\xBF\xBF",
                              "&#1;", "&#x1f;", "&#xfffe;", "&#65535;"}) {
    EXPECT_EQ(offset(std::string("<a>") + foreign + "</a>"), 3U) << foreign;
  }
  for (const char* fine : {"", "\t", "&#x9;&#10;&#xd;", "&amp;&#x20;", "\xEF\xBF\xBD", "&#x10FFFF;",
                           "<![CDATA[&#x1;]]>", "<!-- &#x1; -->"}) {
    EXPECT_EQ(offset(std::string("<a>") + fine + "</a>"), std::nullopt) << fine;
  }
}

TEST(XmlScanTest, FindsCharactersOfTextThatXmlDoesNotAllow) {
  EXPECT_EQ(FindForeignCharacterInText("a\x01 \xEF\xBF\xBF"), 0x01U);
  EXPECT_EQ(FindForeignCharacterInText("a\xEF\xBF\xBE"), 0xFFFEU);
  EXPECT_EQ(FindForeignCharacterInText("\xEF\xBF\xBF\x02"), 0xFFFFU);
  EXPECT_EQ(FindForeignCharacterInText("\t\r\n<a> &#1; \x7F \xEF\xBF\xBD"), std::nullopt);
}

TEST(XmlScanTest, IgnoresReferencesInSections) {
  EXPECT_EQ(FaultOffset("<?x &y?><!-- & --><a><![CDATA[&&&]]></a>"), std::nullopt);
  EXPECT_EQ(FaultOffset("<a><![CDATA[&]]>&</a>"), 16U);
}

TEST(XmlScanTest, RejectsDocumentTypes) {
  EXPECT_EQ(FaultOffset("<?xml version=\"1.0\"?><!DOCTYPE a><a/>"), 21U);
}

TEST(XmlScanTest, RejectsRawControlCharactersEverywhere) {
  EXPECT_EQ(FaultOffset("<a>\x01</a>"), 3U);
  EXPECT_EQ(FaultOffset(std::string_view("<a>\0</a>", 8)), 3U);
  EXPECT_EQ(FaultOffset("<a><![CDATA[\x02]]></a>"), 12U);
  EXPECT_EQ(FaultOffset("<a>\t\r\n</a>"), std::nullopt);
}

TEST(XmlScanTest, UnfinishedSectionsAreLeftToTheParser) {
  EXPECT_EQ(FaultOffset("<!-- & "), std::nullopt);
  EXPECT_EQ(FaultOffset("<![CDATA["), std::nullopt);
  EXPECT_EQ(FaultOffset("<?"), std::nullopt);
  EXPECT_EQ(FaultOffset("<"), std::nullopt);
}

}  // namespace
}  // namespace penstock::internal
