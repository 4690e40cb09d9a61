#include "emulator/s3/encryption/json_map.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

TEST(JsonMapTest, AcceptsObjectsOfStrings) {
  for (const char* text : {"{}", " { } ", R"({"a":"b"})", R"( {"a" : "b" , "c":"" } )",
                           R"({"\u00e9\n\"":"\\\/"})", "{\"ä\":\"ö\"}"}) {
    EXPECT_TRUE(IsJsonStringMap(text)) << text;
  }
}

TEST(JsonMapTest, RefusesOtherText) {
  for (const char* text : {"", "{", "[]", "\"a\"", R"({"a":1})", R"({"a":"b",})", R"({"a":"b"} x)",
                           R"({"a"})", R"({"a":{"b":"c"}})", R"({"a":"\x"})", R"({"a":"\u12g4"})",
                           R"({"a":"b)", R"({"a":null})", "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}"}) {
    EXPECT_FALSE(IsJsonStringMap(text)) << text;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
