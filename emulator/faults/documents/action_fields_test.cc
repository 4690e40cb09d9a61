#include "emulator/faults/documents/action_fields.h"

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

TEST(ActionFieldsTest, ReadsNamesAndValues) {
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

TEST(ActionFieldsTest, NamesAreTokens) {
  for (const std::string name : {"a b", "x:y", "", "\u00e4", "a\\r"}) {
    EXPECT_NE(Problem(R"({"set": {")" + name + R"(": "v"}})").find("is not a header name"),
              std::string::npos)
        << name;
    EXPECT_NE(Problem(R"({"drop": [")" + name + R"("]})").find("is not a header name"),
              std::string::npos)
        << name;
  }
}

TEST(ActionFieldsTest, ValuesHaveNoLineBreaks) {
  EXPECT_EQ(Problem(R"({"set": {"a": "b\nc"}})"), "at.set.a: must be a string without line breaks");
  EXPECT_EQ(Problem(R"({"set": {"a": 1}})"), "at.set.a: must be a string without line breaks");
  EXPECT_EQ(Problem(R"({"set": []})"), "at.set: must be an object of header names and values");
  EXPECT_EQ(Problem(R"({"drop": [1]})"), "at.drop: must be a list of header names");
  EXPECT_TRUE(IsHeaderText("a b"));
  EXPECT_FALSE(IsHeaderText("a\r"));
}

TEST(ActionFieldsTest, TimesAreWholeMillisecondsUpToAnHour) {
  const auto read = [](std::string_view text) {
    const Json json = ParseJson(text).value();
    const JsonFields fields = JsonFields::Read(json, "at", {"ms"}).value();
    std::chrono::milliseconds time{7};
    const auto done = NeedMs(fields, "ms", time);
    return done.ok() ? std::to_string(time.count()) : done.error().message;
  };
  EXPECT_EQ(read(R"({"ms": 3600000})"), "3600000");
  EXPECT_EQ(read(R"({"ms": 3600001})"),
            "at.ms: must be at most 3600000 milliseconds, an hour, not 3600001");
  EXPECT_EQ(read("{}"), "at.ms: is missing: set the time in milliseconds");
}

TEST(ActionFieldsTest, ErrorsListTheKinds) {
  const Json json = ParseJson(R"({"mode": "c"})").value();
  const JsonFields fields = JsonFields::Read(json, "at", {"mode"}).value();
  constexpr std::array<std::pair<std::string_view, int>, 2> kKinds{{{"a", 1}, {"b", 2}}};
  int kind = 0;
  EXPECT_EQ(ReadKind(fields, "mode", kKinds, kind).error().message,
            "at.mode: must be one of a, b, not 'c'");
}

}  // namespace
}  // namespace penstock::emulator::faults
