#include "emulator/json/json_fields.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/dates.h"

namespace penstock::emulator {
namespace {

TEST(JsonFieldsTest, SyntaxErrorDoesNotQuoteTheText) {
  const auto json = ParseJson(R"({"secret_access_key": "hush)");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(json.error().message.find("hush"), std::string::npos);
}

TEST(JsonFieldsTest, NulIsASyntaxError) {
  const std::string_view hidden("{\"a\": 1}\0 hidden", 16);
  for (const std::string_view text :
       {hidden, std::string_view("1\0", 2), std::string_view("\0", 1)}) {
    const auto json = ParseJson(text);
    ASSERT_FALSE(json.ok()) << text.size();
    EXPECT_TRUE(json.error().message.starts_with("invalid JSON")) << json.error().message;
  }
  EXPECT_NE(ParseJson(std::string_view("1\0", 2)).error().message.find("at byte 2 of 2"),
            std::string::npos);
}

TEST(JsonFieldsTest, NamesADuplicateMemberWithItsPlace) {
  // Regression: the last one was used silently.
  const auto message = [](const char* text) {
    const auto json = ParseJson(text);
    return json.ok() ? std::string("accepted") : json.error().message;
  };
  EXPECT_EQ(message(R"({"a": 1, "a": 1})"), "the member 'a' is given twice; name each once");
  EXPECT_EQ(message(R"({"x": [1, {}, {"b": [{"a": "hush", "c": {}, "a": "hush"}]}]})"),
            "x[2].b[0]: the member 'a' is given twice; name each once");
  EXPECT_EQ(message(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}], "c": {"a": 1}})"), "accepted");
}

TEST(JsonFieldsTest, SyntaxErrorTakesPrecedenceOverADuplicate) {
  EXPECT_TRUE(ParseJson(R"({"a": 1, "a": )").error().message.starts_with("invalid JSON"));
}

TEST(JsonFieldsTest, NamesAnUnknownFieldAndTheKnownOnes) {
  const Json json = Json::parse(R"({"nmae": "x"})");
  const auto fields = JsonFields::Read(json, "users[0]", {"name", "path"});
  ASSERT_FALSE(fields.ok());
  EXPECT_EQ(fields.error().message, "users[0]: unknown field 'nmae'; known fields: name, path");
}

TEST(JsonFieldsTest, ChecksEveryType) {
  const Json json = Json::parse(R"({"a": 1, "b": "x", "c": "2026-13-01", "d": {}})");
  const auto fields = JsonFields::Read(json, "", {"a", "b", "c", "d"});
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(fields->Text("a").error().message, "a: must be a string");
  EXPECT_EQ(fields->Flag("b").error().message, "b: must be true or false");
  EXPECT_EQ(fields->Number("b").error().message, "b: must be a number");
  EXPECT_FALSE(fields->Time("c").ok());
  EXPECT_EQ(fields->List("d").error().message, "d: must be a list");
  EXPECT_EQ(fields->Number("a").value(), 1.0);
}

TEST(JsonFieldsTest, MissingFieldsAreOptionalUnlessRequired) {
  const Json json = Json::parse(R"({"empty": ""})");
  const auto fields = JsonFields::Read(json, "top", {"empty", "gone"});
  ASSERT_TRUE(fields.ok());
  EXPECT_FALSE(fields->Text("gone").value().has_value());
  EXPECT_FALSE(fields->Has("gone"));
  EXPECT_EQ(fields->RequiredText("gone").error().message, "top: the field 'gone' is missing");
  EXPECT_EQ(fields->RequiredText("empty").error().message, "top.empty: must not be empty");
}

TEST(JsonFieldsTest, ReadsDates) {
  const Json json = Json::parse(R"({"at": "2026-01-02T03:04:05Z"})");
  const auto fields = JsonFields::Read(json, "", {"at"});
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(FormatIso8601(**fields->Time("at")), "2026-01-02T03:04:05.000Z");
}

TEST(JsonFieldsTest, RefusesOtherTypesThanObjects) {
  EXPECT_FALSE(JsonFields::Read(Json::parse("[]"), "", {}).ok());
}

TEST(JsonFieldsTest, ChecksTheRangesOfIntegersAndSeconds) {
  const Json json =
      ParseJson(R"({"n": 7, "half": 0.5, "minus": -1, "large": 9007199254740993000, "long": 2e9})")
          .value();
  const JsonFields fields =
      JsonFields::Read(json, "at", {"n", "half", "minus", "large", "long"}).value();
  EXPECT_EQ(fields.Whole("n").value(), 7U);
  EXPECT_EQ(fields.Whole("none").value(), std::nullopt);
  for (const char* name : {"half", "minus"}) {
    EXPECT_EQ(fields.Whole(name).error().message, "at." + std::string(name) +
                                                      ": must be a non-negative integer, not " +
                                                      (*fields.Find(name)).dump());
  }
  EXPECT_EQ(fields.Whole("large").error().message,
            "at.large: must be at most 9007199254740991, not 9007199254740993000");
  EXPECT_EQ(fields.Whole("large", 7).error().message,
            "at.large: must be at most 7, not 9007199254740993000");
  EXPECT_EQ(fields.Seconds("half").value(), std::chrono::milliseconds(500));
  EXPECT_EQ(fields.Seconds("none").value(), std::nullopt);
  for (const char* name : {"minus", "long"}) {
    EXPECT_EQ(fields.Seconds(name).error().message, "at." + std::string(name) +
                                                        ": must be 0 to 1000000000 seconds, not " +
                                                        (*fields.Find(name)).dump());
  }
}

std::string Members(std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i)
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  return text + "}";
}

// Regression: building the document took minutes, because each new member was compared with all
// members before it.
TEST(JsonFieldsTest, RefusesTooManyMembersWithinASecond) {
  const auto begin = std::chrono::steady_clock::now();
  const auto json = ParseJson("{\"faults\": [" + Members(300'000) + "]}");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().message, "faults[0]: the object has more than 256 members; remove some");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_TRUE(ParseJson(Members(kMaxJsonMembers)).ok());
  EXPECT_FALSE(ParseJson(Members(kMaxJsonMembers + 1)).ok());
}

TEST(JsonFieldsTest, LimitsNesting) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJson(nested(kMaxJsonDepth)).ok());
  for (const std::size_t depth : {kMaxJsonDepth + 1, std::size_t{4} << 20}) {
    EXPECT_EQ(ParseJson(nested(depth)).error().message,
              "objects and lists are nested more than 64 deep; flatten the document");
  }
}

TEST(JsonFieldsTest, LimitsTheNumberOfValues) {
  const auto list = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  };
  EXPECT_TRUE(ParseJson(list(kMaxJsonValues - 1)).ok());
  EXPECT_EQ(ParseJson(list(kMaxJsonValues)).error().message,
            "the document has more than 1000000 values; send it in several parts");
}

TEST(JsonFieldsTest, RefusesANumberOutOfRange) {
  EXPECT_EQ(ParseJson("[1e999]").error().message, "invalid JSON: a number is out of range");
}

TEST(JsonFieldsTest, ReportsTheLastByteOfAnIncompleteText) {
  EXPECT_EQ(ParseJson("{").error().message,
            "invalid JSON: syntax error or unexpected end at byte 1 of 1");
}

}  // namespace
}  // namespace penstock::emulator
