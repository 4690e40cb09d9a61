#include "emulator/s3/config/cors.h"

#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Reply;

class CorsTest : public ConfigurationTest {
 protected:
  void Configure() {
    Put("cors",
        "<CORSConfiguration><CORSRule><AllowedOrigin>https://*.example.com</"
        "AllowedOrigin><AllowedMethod>PUT</AllowedMethod>"
        "<AllowedMethod>GET</AllowedMethod><AllowedHeader>x-amz-*</"
        "AllowedHeader><ExposeHeader>ETag</ExposeHeader>"
        "<ExposeHeader>x-amz-request-id</ExposeHeader><MaxAgeSeconds>3000</MaxAgeSeconds></"
        "CORSRule><CORSRule>"
        "<AllowedOrigin>*</AllowedOrigin><AllowedMethod>HEAD</AllowedMethod></CORSRule></"
        "CORSConfiguration>");
    s3_.Send("PUT /bucket/k", "x");
  }
};

constexpr std::string_view kVary =
    "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";

TEST_F(CorsTest, PreflightUsesTheFirstRuleThatAllowsTheRequest) {
  Configure();
  s3_.identity() = {};
  const Reply reply = s3_.Send(
      "OPTIONS /bucket/k\nOrigin: https://www.example.com\nAccess-Control-Request-Method: PUT\n"
      "Access-Control-Request-Headers: X-Amz-Date, x-amz-acl");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(reply.Header("Access-Control-Allow-Origin"), "https://www.example.com");
  EXPECT_EQ(reply.Header("Access-Control-Allow-Methods"), "PUT, GET");
  EXPECT_EQ(reply.Header("Access-Control-Allow-Headers"), "x-amz-date, x-amz-acl");
  EXPECT_EQ(reply.Header("Access-Control-Expose-Headers"), "ETag, x-amz-request-id");
  EXPECT_EQ(reply.Header("Access-Control-Max-Age"), "3000");
  EXPECT_EQ(reply.Header("Access-Control-Allow-Credentials"), "true");
  EXPECT_EQ(reply.Header("Vary"), kVary);
  const Reply any =
      s3_.Send("OPTIONS /bucket/k\nOrigin: http://elsewhere\nAccess-Control-Request-Method: HEAD");
  EXPECT_EQ(any.Header("Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(any.Header("Access-Control-Allow-Credentials"), "<absent>");
}

TEST_F(CorsTest, PreflightErrors) {
  const std::string ask = "\nOrigin: http://elsewhere\nAccess-Control-Request-Method: PUT";
  const Reply nowhere = s3_.Send("OPTIONS /absent/k" + ask);
  EXPECT_EQ(nowhere.Outcome(), "403 AccessForbidden");
  EXPECT_EQ(nowhere.Element("Message"), "CORSResponse: Bucket not found");
  EXPECT_EQ(s3_.Send("OPTIONS /bucket/k" + ask).Element("Message"),
            "CORSResponse: CORS is not enabled for this bucket.");
  const Reply nothing_asked = s3_.Send("OPTIONS /bucket/k\nOrigin: http://elsewhere");
  EXPECT_EQ(nothing_asked.Outcome(), "403 AccessForbidden");
  EXPECT_EQ(nothing_asked.Element("Method"), "OPTIONS");
  EXPECT_EQ(nothing_asked.Element("ResourceType"), "BUCKET");
  Configure();
  EXPECT_EQ(s3_.Send("OPTIONS /bucket/k\nOrigin: http://elsewhere").Outcome(), "400 BadRequest");
  const Reply refused = s3_.Send("OPTIONS /bucket/k" + ask);
  EXPECT_EQ(refused.Outcome(), "403 AccessForbidden");
  EXPECT_EQ(refused.Element("Message"),
            "CORSResponse: This CORS request is not allowed. This is usually because the evalution "
            "of Origin, request "
            "method / Access-Control-Request-Method or Access-Control-Request-Headers are not "
            "whitelisted by the "
            "resource's CORS spec.");
  EXPECT_EQ(refused.Element("Method"), "PUT");
  EXPECT_EQ(refused.Element("ResourceType"), "OBJECT");
  EXPECT_EQ(s3_.Send("OPTIONS /bucket/k\nOrigin: "
                     "https://a.example.com\nAccess-Control-Request-Method: PUT\n"
                     "Access-Control-Request-Headers: content-type")
                .Outcome(),
            "403 AccessForbidden");
  const Reply no_origin = s3_.Send("OPTIONS /bucket/k");
  EXPECT_EQ(no_origin.Outcome(), "400 BadRequest");
  EXPECT_EQ(no_origin.Element("Message"),
            "Insufficient information. Origin request header needed.");
}

TEST_F(CorsTest, SuccessAndErrorResponsesHaveCorsHeaders) {
  Configure();
  const Reply got = s3_.Send("GET /bucket/k\nOrigin: https://www.example.com");
  EXPECT_EQ(got.body, "x");
  EXPECT_EQ(got.Header("Access-Control-Allow-Origin"), "https://www.example.com");
  EXPECT_EQ(got.Header("Access-Control-Expose-Headers"), "ETag, x-amz-request-id");
  EXPECT_EQ(got.Header("Vary"), kVary);
  const Reply missing = s3_.Send("GET /bucket/absent\nOrigin: https://www.example.com");
  EXPECT_EQ(missing.Outcome(), "404 NoSuchKey");
  EXPECT_EQ(missing.Header("Access-Control-Allow-Origin"), "https://www.example.com");
  EXPECT_EQ(
      s3_.Send("GET /bucket/k\nOrigin: http://elsewhere").Header("Access-Control-Allow-Origin"),
      "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/k").Header("Vary"), "<absent>");
  const std::string origin = "\nOrigin: https://www.example.com\n";
  EXPECT_EQ(
      s3_.Send("GET /bucket/k" + origin + "Access-Control-Request-Method: DELETE").Header("Vary"),
      "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/k" + origin + "Access-Control-Request-Headers: content-type")
                .Header("Vary"),
            "<absent>");
}

}  // namespace
}  // namespace penstock::emulator::s3
