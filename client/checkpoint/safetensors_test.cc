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
  for (const std::string& json :
       {""s,
        "[]"s,
        "{"s,
        "{} x"s,
        R"({"w":1})"s,
        R"({"w":{"dtype":"F32","shape":[2]}})"s,
        R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"s,
        R"({"w":{"x":1,"dtype":"F32","shape":[2]}})"s,
        R"({"w":null})"s,
        R"({"w":{"x":[},"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":null,"shape":[2],"data_offsets":[0,8]}})"s,
        R"({"__metadata__":1})"s,
        R"({"__metadata__":{"a":null}})"s,
        R"({"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})"s,
        R"({"w":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,8]}})"s,
        R"({"__metadata__":{"a":1}})"s,
        "{\"\xff\":1}"s,
        std::string(100'000, '[')}) {
    EXPECT_NE(error(json), "") << json.substr(0, 100);
  }
}

// The package safetensors 0.8 does so too.
TEST(SafetensorsTest, IgnoresUnknownMembersAndNoMetadata) {
  const auto header = ReadSafetensorsHeader(
      R"({"__metadata__":null,"w":{"a":{"dtype":["F8",{}],"b":null},"dtype":"F32","c":[[1],-1],)"
      R"("shape":[2],"d":0.5,"data_offsets":[0,8],"e":"text","f":true,"g":null}})",
      8);
  ASSERT_TRUE(header.ok()) << header.error().message;
  ASSERT_EQ(header->tensors.size(), 1U);
  EXPECT_EQ(header->tensors[0], (SafetensorsTensor{"w", "float32", {2}, 0, 8}));
  EXPECT_TRUE(header->metadata.empty());
}

TEST(SafetensorsTest, AnUnknownDtypeIsNoErrorOfTheFile) {
  for (const std::string dtype : {"F33", "float32"}) {
    const auto header = ReadSafetensorsHeader(
        R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[7,11]},"w":{"dtype":")" + dtype +
            R"(","shape":[2],"data_offsets":[0,7]}})",
        11);
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(header->tensors[0].dtype, "safetensors:" + dtype);
    EXPECT_EQ(header->tensors[1].dtype, "float32");
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
