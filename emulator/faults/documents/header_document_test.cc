#include "emulator/faults/documents/header_document.h"

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

std::string Problem(std::string_view text) {
  const Json json = ParseJson(text).value();
  const JsonFields fields = JsonFields::Read(json, "at", {"set", "drop"}).value();
  Headers headers;
  std::vector<std::string> names;
  const auto read = ReadHeaders(fields, "set", headers);
  if (!read.ok()) return read.error().message;
  const auto read_names = ReadHeaderNames(fields, "drop", names);
  return read_names.ok() ? "" : read_names.error().message;
}

TEST(HeaderDocumentTest, ReadsNamesAndValues) {
  const Json json = ParseJson(R"({"set": {"x-a": "b c"}, "drop": ["Date", "x_1"]})").value();
  const JsonFields fields = JsonFields::Read(json, "", {"set", "drop", "none"}).value();
  Headers headers;
  std::vector<std::string> names;
  ASSERT_TRUE(ReadHeaders(fields, "set", headers).ok());
  ASSERT_TRUE(ReadHeaderNames(fields, "drop", names).ok());
  ASSERT_TRUE(ReadHeaders(fields, "none", headers).ok());
  EXPECT_EQ(headers, (Headers{{"x-a", "b c"}}));
  EXPECT_EQ(names, (std::vector<std::string>{"Date", "x_1"}));
}

TEST(HeaderDocumentTest, NamesAreTokens) {
  for (const std::string name : {"a b", "x:y", "", "\u00e4", "a\\r"}) {
    EXPECT_NE(Problem(R"({"set": {")" + name + R"(": "v"}})").find("is not a header name"),
              std::string::npos)
        << name;
    EXPECT_NE(Problem(R"({"drop": [")" + name + R"("]})").find("is not a header name"),
              std::string::npos)
        << name;
  }
}

TEST(HeaderDocumentTest, ValuesHaveNoLineBreaks) {
  EXPECT_EQ(Problem(R"({"set": {"a": "b\nc"}})"), "at.set.a: must be a string without line breaks");
  EXPECT_EQ(Problem(R"({"set": {"a": 1}})"), "at.set.a: must be a string without line breaks");
  EXPECT_EQ(Problem(R"({"set": []})"), "at.set: must be an object of header names and values");
  EXPECT_EQ(Problem(R"({"drop": [1]})"), "at.drop: must be a list of header names");
  EXPECT_TRUE(IsHeaderText("a b"));
  EXPECT_FALSE(IsHeaderText("a\r"));
}

}  // namespace
}  // namespace penstock::emulator::faults
