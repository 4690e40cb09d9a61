#include "emulator/s3/dispatch/query_headers.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

Target TargetOf(std::vector<QueryParameter> query, const char* signature) {
  Target target;
  target.query = std::move(query);
  target.query.push_back({signature, "s"});
  return target;
}

// Returns the value that the query gives a header, or "<absent>".
std::string ValueOf(std::string_view name, const std::vector<QueryParameter>& query,
                    const char* signature = "X-Amz-Signature") {
  const auto headers = HeadersInQuery({}, TargetOf(query, signature));
  if (!headers.ok()) return headers.error().code;
  for (const QueryHeader& header : *headers) {
    if (header.name == name) return header.value;
  }
  return "<absent>";
}

TEST(QueryHeadersTest, ConditionsAndContentHeadersCountInAnyCase) {
  for (const char* name :
       {"If-Match", "if-none-match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
        "Range", "Content-Type", "Content-MD5", "Cache-Control", "CONTENT-DISPOSITION",
        "Content-Encoding", "Content-Language", "Expires", "x-amz-acl"}) {
    EXPECT_EQ(ValueOf(name, {{name, "v"}}), "v") << name;
  }
  for (const char* name : {"X-Amz-Acl", "x-amz-tagging", "x-amz-", "prefix", "versionId", "Host",
                           "Content-Length", "Authorization", "Origin"}) {
    EXPECT_EQ(ValueOf(name, {{name, "v"}}), "<absent>") << name;
  }
}

// Signature Version 2 does not sign the others (Amazon S3 REST Authentication).
TEST(QueryHeadersTest, OnlySignedHeadersCountInVersionTwo) {
  for (const char* name : {"content-type", "Content-MD5", "x-amz-acl"})
    EXPECT_EQ(ValueOf(name, {{name, "v"}}, "Signature"), "v") << name;
  for (const char* name : {"Expires", "If-None-Match", "Range", "Cache-Control"})
    EXPECT_EQ(ValueOf(name, {{name, "v"}}, "Signature"), "<absent>") << name;
}

TEST(QueryHeadersTest, AHeaderOfTheRequestHasPrecedence) {
  message::RequestHead head;
  head.headers = {{"content-type", "a/b"}};
  const auto headers = HeadersInQuery(head, TargetOf({{"Content-Type", "c/d"}}, "X-Amz-Signature"));
  EXPECT_TRUE(headers->empty());
}

TEST(QueryHeadersTest, ValuesAreUtf8) {
  EXPECT_EQ(ValueOf("x-amz-meta-a", {{"x-amz-meta-a", "\xC3\xA9"}}), "=?UTF-8?B?w6k=?=");
  EXPECT_EQ(ValueOf("Content-Disposition", {{"Content-Disposition", "\xC3\xA9 \xE2\x82\xAC"}}),
            "\xE9  ");
  EXPECT_EQ(ValueOf("x-amz-copy-source", {{"x-amz-copy-source", "b/\xC3\xA9"}}), "b/\xC3\xA9");
}

TEST(QueryHeadersTest, ControlCharactersAreRefused) {
  EXPECT_EQ(ValueOf("Content-Type", {{"Content-Type", "a\r\nSet-Cookie: x"}}), "InvalidArgument");
  EXPECT_EQ(
      ValueOf("x-amz-website-redirect-location", {{"x-amz-website-redirect-location", "/a\nb"}}),
      "InvalidArgument");
}

}  // namespace
}  // namespace penstock::emulator::s3
