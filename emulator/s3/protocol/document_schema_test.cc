#include "emulator/s3/protocol/document_schema.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

constexpr Field kInner[] = {{"Number", Occurs::kAtMostOnce, FieldType::kInteger},
                            {"Flag", Occurs::kAtMostOnce, FieldType::kFlag},
                            {"Day", Occurs::kAtMostOnce, FieldType::kDate},
                            {"Choice", Occurs::kAtMostOnce, FieldType::kChoice, {}, "one two"},
                            {"New", Occurs::kAtMostOnce, FieldType::kNotImplemented}};
constexpr Field kOuter[] = {{"Text", Occurs::kOnce},
                            {"Many", Occurs::kAnyNumber},
                            {"Group", Occurs::kAtMostOnce, FieldType::kGroup, kInner}};
constexpr Field kRoot{"Root", Occurs::kOnce, FieldType::kGroup, kOuter};

std::string Read(std::string_view content) {
  const auto read = ReadBySchema("<Root>" + std::string(content) + "</Root>", kRoot);
  return read.ok() ? WriteDocument(*read, Prolog::kNo) : read.error().code;
}
std::string Written(std::string_view content) {
  return "<Root xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + std::string(content) +
         "</Root>";
}

TEST(DocumentSchemaTest, ElementsAreReturnedInSchemaOrder) {
  EXPECT_EQ(Read("<Many>1</Many><Text> a&amp;b </Text><Many>2</Many>"),
            Written("<Text> a&amp;b </Text><Many>1</Many><Many>2</Many>"));
  EXPECT_EQ(Read("<Text/><Group/>"), Written("<Text/><Group/>"));
}

TEST(DocumentSchemaTest, MissingRepeatedAndUnknownElementsAreMalformed) {
  for (const char* content : {"", "<Text/><Text/>", "<Text/><Else/>", "<Text/>words",
                              "<Text><Deep/></Text>", "<Text/><Group/><Group/>"}) {
    EXPECT_EQ(Read(content), "MalformedXML") << content;
  }
  EXPECT_FALSE(ReadBySchema("<Other><Text/></Other>", kRoot).ok());
  EXPECT_FALSE(ReadBySchema("<Root><Text/>", kRoot).ok());
}

TEST(DocumentSchemaTest, TypesAreChecked) {
  const auto group = [](std::string_view content) {
    return "<Text/><Group>" + std::string(content) + "</Group>";
  };
  EXPECT_EQ(
      Read(group(
          "<Number> -7 "
          "</Number><Flag>\n\tTRUE\r\n</Flag><Day>2030-01-01T00:00:00Z</Day><Choice>two</Choice>")),
      Written(group("<Number>-7</Number><Flag>true</Flag><Day>2030-01-01T00:00:00Z</"
                    "Day><Choice>two</Choice>")));
  for (const char* content :
       {"<Number>1.5</Number>", "<Number/>", "<Number>99999999999999999999</Number>",
        "<Flag>yes</Flag>", "<Day>tomorrow</Day>", "<Choice>three</Choice>",
        "<Choice>one two</Choice>", "<Choice/>"}) {
    EXPECT_EQ(Read(group(content)), "MalformedXML") << content;
  }
}

// The error has precedence over what the document lacks: an element of AWS may make others
// optional.
TEST(DocumentSchemaTest, ElementsThatAreNotImplementedAreNamed) {
  for (const char* content : {"<Text/><Group><New/></Group>", "<Text/><Group><New>x</New></Group>",
                              "<Text/><Group><New/><New/></Group>"}) {
    EXPECT_EQ(Read(content), "NotImplemented") << content;
  }
  const auto read = ReadBySchema("<Root><Text/><Group><New/></Group></Root>", kRoot);
  EXPECT_EQ(read.error().message, "The element 'New' is not implemented by this emulator");
}

// The second namespace is from the sample request of PutBucketLogging in the Amazon S3 API
// Reference.
TEST(DocumentSchemaTest, ElementsOfOtherNamespacesAreMalformed) {
  const auto read = [](std::string_view attributes, std::string_view of_text = "") {
    const std::string text =
        "<Root " + std::string(attributes) + "><Text " + std::string(of_text) + "/></Root>";
    return ReadBySchema(text, kRoot).ok();
  };
  for (const char* good : {"", "xmlns=\"\"", "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"",
                           "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01\"",
                           "xmlns=\"http://doc.s3.amazonaws.com/2006-03-01\"",
                           "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""}) {
    EXPECT_TRUE(read(good)) << good;
    EXPECT_TRUE(read("", good)) << good;
  }
  for (const char* bad :
       {"xmlns=\"urn:other\"", "xmlns=\"http://s3.amazonaws.com/doc/2006-03-02/\"",
        "xmlns=\"http://awss3control.amazonaws.com/doc/2018-08-20/\""}) {
    EXPECT_FALSE(read(bad)) << bad;
    EXPECT_FALSE(read("", bad)) << bad;
  }
}

TEST(DocumentSchemaTest, LooksUpByName) {
  const Element read =
      ReadBySchema("<Root><Text>t</Text><Many>1</Many><Many>2</Many></Root>", kRoot).value();
  EXPECT_EQ(read.TextOf("Text"), "t");
  EXPECT_EQ(read.TextOf("Group"), "");
  EXPECT_FALSE(read.Has("Group"));
  ASSERT_EQ(read.All("Many").size(), 2u);
  EXPECT_EQ(read.All("Many")[1]->text, "2");
}

}  // namespace
}  // namespace penstock::emulator::s3
