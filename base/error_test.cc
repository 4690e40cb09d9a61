#include "penstock/base/error.h"

#include <gtest/gtest.h>

#include "penstock/base/result.h"

namespace penstock {
namespace {

TEST(ErrorTest, ToStringContainsAllKnownFields) {
  Error error = Error::Make(ErrorKind::kNotFound, "The specified key does not exist.")
                    .At("GetObject", "b", "k/1");
  error.code = "NoSuchKey";
  error.http_status = 404;
  error.request_id = "ABC";
  error.attempts = 3;
  EXPECT_EQ(error.ToString(),
            "GetObject s3://b/k/1: NoSuchKey (404): The specified key does not exist. [request id "
            "ABC, 3 attempts]");
}

TEST(ErrorTest, ToStringWithoutResponseNamesTheKind) {
  EXPECT_EQ(Error::Make(ErrorKind::kTimeout, "no answer").ToString(), "timeout: no answer");
}

TEST(ErrorTest, ToStringNamesTheSettingOnce) {
  const auto text = [](std::string message) {
    return Error(Error::Make(ErrorKind::kTimeout, std::move(message)).About("idle_timeout"))
        .ToString();
  };
  EXPECT_EQ(text("no byte moved for 30 ms"), "timeout: no byte moved for 30 ms (idle_timeout)");
  EXPECT_EQ(text("idle_timeout is 0 ms"), "timeout: idle_timeout is 0 ms");
}

TEST(ErrorTest, ToStringEscapesControlCharacters) {
  Error error = Error::Make(ErrorKind::kInvalidArgument, "region `us\r\neast`");
  error.At("GetObject", "b", "a\tk\x01\x7f\xc3\xa9");
  EXPECT_EQ(error.ToString(),
            "GetObject s3://b/a\\tk\\x01\\x7f\xc3\xa9: invalid_argument: region `us\\r\\neast`");
}

TEST(ErrorTest, AtKeepsFieldsThatAreSet) {
  Error error = Error::Make(ErrorKind::kInternal, "x").At("GetObject", "b", "k");
  error.At("Download", "other");
  EXPECT_EQ(error.operation, "GetObject");
  EXPECT_EQ(error.bucket, "b");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return Error::Make(ErrorKind::kInvalidArgument, "odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  PENSTOCK_ASSIGN(const int half, Half(value));
  return Half(half);
}

TEST(ResultTest, AssignTakesTheValueOrReturnsTheError) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).error().message, "odd");
}

TEST(ResultDeathTest, ValueOfAnErrorAborts) {
  EXPECT_DEATH(static_cast<void>(Half(3).value()), "check failed");
}

}  // namespace
}  // namespace penstock
