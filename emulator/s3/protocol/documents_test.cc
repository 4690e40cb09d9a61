#include "emulator/s3/protocol/documents.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kProlog = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

// S3 refuses control characters in request documents with MalformedXML (decision 0026; boto3#2005,
// aws-sdk-java#333).
TEST(DocumentsTest, CharactersInvalidInXmlAreRefused) {
  EXPECT_TRUE(ParseRequestDocument("<a>\u00E9&#xd;</a>").ok());
  for (const char* text : {"", "<a>", "<a>\xFF</a>", "<a>\x01</a>", "<a>&#x1;</a>",
                           "<a>\xEF\xBF\xBF</a>", "<a>&#xfffe;</a>"}) {
    const auto document = ParseRequestDocument(text);
    ASSERT_FALSE(document.ok()) << text;
    EXPECT_EQ(document.error().code, "MalformedXML") << text;
  }
}

TEST(DocumentsTest, DocumentsMustBeWellFormed) {
  EXPECT_TRUE(ParseRequestDocument("\n <a/>").ok());
  EXPECT_TRUE(ParseRequestDocument("\xEF\xBB\xBF<?xml version='1.0'?><a/>").ok());
  for (const char* text : {"\n<?xml version='1.0'?><a/>", " <?xml version='1.0'?><a/>",
                           "<a xmlns='x' xmlns='x'/>", "<a><b c='' c=''/></a>"}) {
    EXPECT_FALSE(ParseRequestDocument(text).ok()) << text;
  }
}

// XML 1.0, section 4.3.3: text must be in the declared encoding.
TEST(DocumentsTest, TextMustHaveTheDeclaredEncoding) {
  const auto is_accepted = [](std::string_view declaration, std::string_view text = "<a>b</a>") {
    return ParseRequestDocument(std::string(declaration) + std::string(text)).ok();
  };
  for (const char* good :
       {"", "<?xml version=\"1.0\"?>", "<?xml version='1.0' encoding='utf-8' standalone='yes'?>",
        "<?xml version=\"1.0\" encoding = \"UTF-8\"?>\n",
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>",
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"}) {
    EXPECT_TRUE(is_accepted(good)) << good;
  }
  for (const char* bad :
       {"<?xml version=\"1.0\" encoding=\"UTF-16\"?>",
        "<?xml version=\"1.0\" encoding=\"UTF-8x\"?>", "<?xml version=\"1.0\" encoding=\"\"?>",
        "<?xml version=\"1.0\" encoding=UTF-8?>", "<?xml version=\"1.0\" encoding=\"UTF-8?>",
        "<?xml version=\"1.0\" encoding?>", "\n<?xml\tencoding='UTF-16LE' ?>"}) {
    EXPECT_FALSE(is_accepted(bad)) << bad;
  }
  EXPECT_TRUE(is_accepted("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<a>\u00E9</a>"));
  EXPECT_FALSE(is_accepted("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>", "<a>\u00E9</a>"));
  EXPECT_TRUE(is_accepted("", "<a>encoding=\"UTF-16\"</a>"));
}

TEST(DocumentsTest, DatesHaveWholeSeconds) {
  EXPECT_EQ(XmlDate(WallTime(std::chrono::milliseconds(1767323045999))),
            "2026-01-02T03:04:05.000Z");
}

TEST(DocumentsTest, OwnerHasOnlyAnId) {
  XmlWriter xml;
  WriteOwner(xml, "Owner", "abc");
  EXPECT_EQ(xml.Take(), std::string(kProlog) + "<Owner><ID>abc</ID></Owner>");
}

TEST(DocumentsTest, FlagsAndNumbersAreElements) {
  XmlWriter xml;
  xml.Open("R");
  WriteFlag(xml, "F", true);
  WriteNumber(xml, "N", 7);
  xml.Close("R");
  EXPECT_EQ(xml.Take(), std::string(kProlog) + "<R><F>true</F><N>7</N></R>");
}

TEST(DocumentsTest, QuotesETags) { EXPECT_EQ(Quoted("abc-2"), "\"abc-2\""); }

}  // namespace
}  // namespace penstock::emulator::s3
