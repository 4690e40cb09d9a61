#include "client/s3/endpoint/endpoint_url.h"

#include <string>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

TEST(EndpointUrlTest, DefaultsToThePortOfTheScheme) {
  EXPECT_EQ(ParseEndpointUrl("http://minio.example")->port, 80);
  EXPECT_EQ(ParseEndpointUrl("https://minio.example")->port, 443);
}

TEST(EndpointUrlTest, ParsesHostPortAndPrefix) {
  const auto url = ParseEndpointUrl("HTTPS://Store.Example:9000/a/b/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "store.example");
  EXPECT_EQ(url->port, 9000);
  EXPECT_EQ(url->path, "/a/b");
  EXPECT_FALSE(url->is_ip);
}

TEST(EndpointUrlTest, RecognisesIpAddressLiterals) {
  EXPECT_TRUE(ParseEndpointUrl("http://127.0.0.1:9")->is_ip);
  const auto v6 = ParseEndpointUrl("http://[::1]:9000");
  ASSERT_TRUE(v6.ok());
  EXPECT_TRUE(v6->is_ip);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, 9000);
  EXPECT_FALSE(ParseEndpointUrl("http://127.0.0.256")->is_ip);
}

TEST(EndpointUrlTest, RejectsUrlsThatAreNotHttp) {
  for (const char* bad :
       {"INVALID", "ftp://h", "http://", "http:///p", "http://h:0", "http://h:65536", "http://h:x",
        "http://h?q=1", "http://h#f", "http://[::1", "http://[zz]", "http://a..b", "http://a b",
        "http://[::1]x"}) {
    const auto url = ParseEndpointUrl(bad);
    ASSERT_FALSE(url.ok()) << bad;
    EXPECT_EQ(url.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(
        url.error().message.find(std::string("Custom endpoint `") + bad + "` was not a valid URI"),
        std::string::npos)
        << url.error().message;
  }
}

TEST(EndpointUrlTest, NeverRepeatsUserInfo) {
  const auto url = ParseEndpointUrl("https://alice:hunter2@store.example");
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().message.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace penstock::s3
