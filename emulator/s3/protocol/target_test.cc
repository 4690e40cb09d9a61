#include "emulator/s3/protocol/target.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

struct Case {
  const char* target;
  const char* host;
  const char* bucket;
  const char* key;
};

Result<Target> Parse(std::string_view target, std::string_view host) {
  return ParseTarget(target, host, HostRules::Default("eu-west-1"));
}

TEST(TargetTest, RoutesPathAndHost) {
  const Case cases[] = {
      {"/", "127.0.0.1:9000", "", ""},
      {"/bucket", "127.0.0.1:9000", "bucket", ""},
      {"/bucket/", "127.0.0.1:9000", "bucket", ""},
      {"/bucket/a/b", "127.0.0.1:9000", "bucket", "a/b"},
      {"/bucket//a//b/", "localhost", "bucket", "/a//b/"},
      {"/bucket/a/../b/./c", "localhost:80", "bucket", "a/../b/./c"},
      {"/bucket/a%2Fb%20c%2B%C3%A9", "x", "bucket", "a/b c+\xC3\xA9"},
      {"/bucket/a+b", "x", "bucket", "a b"},
      {"/key/x", "bucket.localhost:9000", "bucket", "key/x"},
      {"/", "my.bucket.localhost", "my.bucket", ""},
      {"//k", "b.localhost", "b", "/k"},
      {"/k", "b.s3.amazonaws.com", "b", "k"},
      {"/k", "b.s3.eu-west-1.amazonaws.com:443", "b", "k"},
      {"/k", "b.S3.localhost.LOCALSTACK.cloud", "b", "k"},
      {"/b/k", "s3.localhost.localstack.cloud", "b", "k"},
      {"/k", "bucket.s3.localhost:9000", "bucket", "k"},
      {"/k", "my.bucket.s3.localhost", "my.bucket", "k"},
      {"/b/k", "s3.localhost:9000", "b", "k"},
      {"/k", "bucket.s3.us-west-2.localhost:9000", "bucket", "k"},
      {"/b/k", "s3.us-west-2.localhost", "b", "k"},
      {"/k", "bucket.s3.us-west-2.localhost.localstack.cloud:4566", "bucket", "k"},
      {"/b/k", "[::1]:9000", "b", "k"},
      {"http://b.localhost:9000/k?x", "ignored", "b", "k"},
      {"http://127.0.0.1", "ignored", "", ""},
  };
  for (const Case& c : cases) {
    const auto target = Parse(c.target, c.host);
    ASSERT_TRUE(target.ok()) << c.target;
    EXPECT_EQ(target->bucket.value, c.bucket) << c.target << " at " << c.host;
    EXPECT_EQ(target->key.value, c.key) << c.target << " at " << c.host;
  }
}

TEST(TargetTest, RegionalHostNamesHaveARegion) {
  const std::pair<const char*, const char*> cases[] = {
      {"s3.us-west-2.amazonaws.com", "us-west-2"},
      {"b.s3.us-west-2.amazonaws.com:443", "us-west-2"},
      {"b.s3.dualstack.us-west-2.amazonaws.com", "us-west-2"},
      {"s3-us-west-2.amazonaws.com", "us-west-2"},
      {"my.bucket.s3-us-west-2.amazonaws.com", "us-west-2"},
      {"s3.amazonaws.com", ""},
      {"b.s3.amazonaws.com", ""},
      {"b.s3.mars-1.amazonaws.com", ""},
      {"us-west-2.amazonaws.com", ""},
      {"ec2.us-west-2.amazonaws.com", ""},
      {"localhost:9000", ""},
      {"127.0.0.1", ""},
      {"b.s3.us-west-2.localhost:9000", "us-west-2"},
      {"s3.us-west-2.localhost", "us-west-2"},
      {"b.s3.us-west-2.localhost.localstack.cloud", "us-west-2"},
      {"b.s3.localhost", ""},
      {"s3.localhost.localstack.cloud", ""}};
  for (const auto& [host, region] : cases) {
    const auto target = Parse("/x/y", host);
    ASSERT_TRUE(target.ok()) << host;
    EXPECT_EQ(target->host_region, region) << host;
    if (*region == '\0') continue;
    const std::string_view name(host);
    const std::string bucket(name.starts_with("b.")    ? "b"
                             : name.starts_with("my.") ? "my.bucket"
                                                       : "x");
    EXPECT_EQ(target->bucket.value, bucket) << host;
    EXPECT_EQ(target->key.value, bucket == "x" ? "y" : "x/y") << host;
  }
}

// The emulator's region may be one that AWS does not have.
TEST(TargetTest, UnknownRegionsWorkInHostNames) {
  for (const char* host : {"b.s3.here.localhost", "b.s3.here.localhost.localstack.cloud:4566",
                           "b.s3.here.amazonaws.com"}) {
    const auto target = ParseTarget("/k", host, HostRules::Default("here"));
    ASSERT_TRUE(target.ok()) << host;
    EXPECT_EQ(target->bucket.value, "b") << host;
  }
}

TEST(TargetTest, KeepsRawPathAndQuery) {
  const auto target = Parse("/b/a%2fb?prefix=a/b&x", "h");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->raw_path, "/b/a%2fb");
  EXPECT_EQ(target->raw_query, "prefix=a/b&x");
  EXPECT_FALSE(target->virtual_hosted);
}

TEST(TargetTest, DecodesTheQueryInOrderAndKeepsPlus) {
  const auto target = Parse("/b?uploads&a=1%2B2+3&&a=b=c&%41=", "h");
  ASSERT_TRUE(target.ok());
  ASSERT_EQ(target->query.size(), 4u);
  EXPECT_EQ(target->Get("uploads"), "");
  EXPECT_EQ(target->Get("a"), "1+2+3");
  EXPECT_EQ(target->query[2].value, "b=c");
  EXPECT_TRUE(target->Has("A"));
  EXPECT_FALSE(target->Has("missing"));
}

TEST(TargetTest, MalformedTargetsAreInvalidUriWithoutTheQuery) {
  for (const char* bad : {"/b/%", "/b/%zz", "/%2", "/b?x=%", "/b?%G1", "*", "b/k", "//k"}) {
    const auto target = Parse(bad, "h");
    ASSERT_FALSE(target.ok()) << bad;
    EXPECT_EQ(target.error().code, "InvalidURI") << bad;
    EXPECT_EQ(target.error().http_status, 400) << bad;
  }
  const auto target = Parse("/b/%?X-Amz-Signature=secret", "h");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.error().details[0].second, "/b/%");
}

// Keys: recorded against Amazon S3. Other fields: decision 0026.
TEST(TargetTest, TargetsThatAreNotUtf8AreInvalidUri) {
  for (const char* bad : {"/b/%FF", "/b/a%C3", "/b/%ED%A0%80", "/b/%C0%AF", "/b/\xFF", "/%FF",
                          "/%FF/k", "/b?prefix=%FF", "/b?x&%FE=1", "/b?delimiter=\x80",
                          "/b/k?versionId=%C3", "/b/k?uploadId=a%F5"}) {
    const auto target = Parse(bad, "h");
    ASSERT_FALSE(target.ok()) << bad;
    EXPECT_EQ(target.error().code, "InvalidURI") << bad;
  }
  EXPECT_EQ(Parse("/b/a\xFF%\x80?x", "h").error().details[0].second, "/b/a%FF%%80");
  EXPECT_EQ(Parse("/k", "\xFF.localhost").error().code, "InvalidURI");
  const auto raw = Parse("/b/\xC3\xA9?prefix=\xE2\x82\xAC%EF%BF%BF", "h");
  ASSERT_TRUE(raw.ok());
  EXPECT_EQ(raw->key.value, "\u00E9");
  EXPECT_EQ(raw->Get("prefix"), "\u20AC\xEF\xBF\xBF");
}

TEST(TargetTest, ReadPlusAsSpaceDecodesQueryValues) {
  Target target = ParseTarget("/b?&a=1+2&&b=%2B&c+d&e=x+%2B+y", "h", {}).value();
  EXPECT_EQ(target.Get("a"), "1+2");
  target.ReadPlusAsSpace();
  EXPECT_EQ(target.Get("a"), "1 2");
  EXPECT_EQ(target.Get("b"), "+");
  EXPECT_EQ(target.Get("c+d"), "");
  EXPECT_EQ(target.Get("e"), "x + y");
}

}  // namespace
}  // namespace penstock::emulator::s3
