#include "client/checkpoint/safetensors.h"

#include <gtest/gtest.h>

namespace penstock::checkpoint {
namespace {

using namespace std::string_literals;

// {"w": float32 [2], "b": bool []} and 9 bytes of data.
const std::string kJson =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BOOL","shape":[],"data_offsets":[8,9]},)"
    R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

TEST(SafetensorsTest, ReadsTensorsInTheOrderOfTheirBytes) {
  const auto header = ReadSafetensorsHeader(kJson, 9);
  ASSERT_TRUE(header.ok()) << header.error().message;
  ASSERT_EQ(header->tensors.size(), 2U);
  EXPECT_EQ(header->tensors[0], (SafetensorsTensor{"w", "float32", {2}, 0, 8}));
  EXPECT_EQ(header->tensors[1], (SafetensorsTensor{"b", "bool", {}, 8, 1}));
  EXPECT_EQ(header->metadata.at("format"), "pt");
}

TEST(SafetensorsTest, WhatIsWrittenIsReadBack) {
  SafetensorsHeader header{
      {{"b", "bool", {3}}, {"w\"ü", "float64", {2, 2}}, {"e", "bfloat16", {0, 5}}},
      {{"key", "value\n"}}};
  const auto text = WriteSafetensorsHeader(header);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->size() % 8, 0U);
  const auto bytes = SafetensorsHeaderBytes(*text, text->size() + 35);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, text->size() - 8);
  const auto read = ReadSafetensorsHeader(std::string_view(*text).substr(8), 35);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, header);
  EXPECT_EQ(header.tensors[0].name, "w\"ü");  // the largest elements first: aligned
}

TEST(SafetensorsTest, RefusesWhatTheFormatForbids) {
  const auto error = [](const std::string& json, std::uint64_t data = 8) {
    const auto header = ReadSafetensorsHeader(json, data);
    return header.ok() ? "" : header.error().message;
  };
  const std::string w = R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_EQ(error("{" + w + "}"), "");
  EXPECT_NE(error("{" + w + "," + w + "}").find("'w' occurs twice"), std::string::npos);
  EXPECT_NE(error("{" + w + "}", 9).find("9 bytes follow"), std::string::npos);
  EXPECT_NE(error("{" + w + "}", 7).find("7 bytes follow"), std::string::npos);
  EXPECT_NE(error(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})", 9).find("begins"),
            std::string::npos);
  EXPECT_NE(error(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})").find("require 12"),
            std::string::npos);
  EXPECT_NE(error("{" + w + R"(,"v":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"), "");
  EXPECT_NE(error(R"({"w":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})").find("F33"),
            std::string::npos);
  for (const std::string& json :
       {""s, "[]"s, "{"s, "{} x"s, R"({"w":1})"s, R"({"w":{"dtype":"F32","shape":[2]}})"s,
        R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"s,
        R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})"s,
        R"({"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,8]}})"s,
        R"({"__metadata__":{"a":1}})"s, "{\"\xff\":1}"s, std::string(100'000, '[')}) {
    EXPECT_NE(error(json), "") << json.substr(0, 100);
  }
}

TEST(SafetensorsTest, LimitsTheLengthOfTheHeader) {
  EXPECT_FALSE(SafetensorsHeaderBytes("1234567", 100).ok());
  EXPECT_EQ(*SafetensorsHeaderBytes("\x02\0\0\0\0\0\0\0{}"s, 10), 2U);
  EXPECT_FALSE(SafetensorsHeaderBytes("\x03\0\0\0\0\0\0\0{}"s, 10).ok());
  EXPECT_NE(SafetensorsHeaderBytes("\xff\xff\xff\xff\xff\xff\xff\xff"s, UINT64_MAX)
                .error()
                .message.find("100000000"),
            std::string::npos);
}

TEST(SafetensorsTest, RefusesToWriteWhatItCouldNotRead) {
  for (SafetensorsHeader header :
       {SafetensorsHeader{{{"a", "complex128", {1}}}},
        SafetensorsHeader{{{"a", "bool"}, {"a", "bool"}}}, SafetensorsHeader{{{"\xff", "bool"}}},
        SafetensorsHeader{{{"__metadata__", "bool"}}}, SafetensorsHeader{{{"a", "bool", {-1}}}}}) {
    EXPECT_EQ(WriteSafetensorsHeader(header).error().kind, ErrorKind::kInvalidArgument);
  }
}

TEST(SafetensorsTest, ReadsTheIndexOfShards) {
  const auto files =
      ReadSafetensorsIndex(R"({"metadata":{"total_size":8,"x":[1,{"weight_map":{"a":"b"}}]},)"
                           R"("weight_map":{"w":"1.safetensors","v":"2.safetensors"}})");
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[1], (std::pair<std::string, std::string>("v", "2.safetensors")));
  for (const std::string& json :
       {"{}"s, "[]"s, R"({"weight_map":{"w":1}})"s, R"({"weight_map":{"w":{"x":"y"}}})"s,
        R"({"weight_map":{"w":"a","w":"b"}})"s, R"({"weight_map":{"w":["a"]}})"s,
        R"({"weight_map":{},"weight_map":{}})"s, R"({"weight_map":{"w":""}})"s, "\"x\""s,
        R"({"weight_map":["w"]})"s}) {
    EXPECT_FALSE(ReadSafetensorsIndex(json).ok()) << json;
  }
}

}  // namespace
}  // namespace penstock::checkpoint
