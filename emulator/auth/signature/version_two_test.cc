#include "emulator/auth/signature/version_two.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "base/encoding.h"
#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

// Made with HmacV1QueryAuth of botocore 1.44.5, one hour before they expire. The clock is set to
// 2013-05-24 00:00:00.
constexpr std::string_view kPlain =
    "/bucket/"
    "a%20b%2Bc?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=L0znFvaDSgMStjHUsc2Mo8QHhaM%3D&"
    "Expires=1369357200";
constexpr std::string_view kSubresources =
    "/bucket/"
    "k?versionId=abc&response-content-type=text%2Fcss&x-id=GetObject&AWSAccessKeyId="
    "AKIAIOSFODNN7EXAMPLE"
    "&Signature=A6SwOEBcvGrhkxPLRcCE2RAkmak%3D&Expires=1369357200";
constexpr std::string_view kAmzParameters =
    "/bucket/"
    "k?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=ePOKAExNqvUoquWd30h2ePcy44E%3D&x-amz-meta-b=1"
    "&x-amz-acl=private&content-type=text%2Fplain&Expires=1369357200";
constexpr std::string_view kVirtualHosted =
    "/k?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=bvEPbt%2FirSWgRaQ2W%2BtraQG09FA%3D&Expires="
    "1369357200";
constexpr std::string_view kWithToken =
    "/bucket/k?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=eNQFjLHukXHV0kTFHki6GUbqjCI%3D"
    "&x-amz-security-token=TESTTOKEN%3D%3D&Expires=1369357200";

constexpr std::string_view kBucket =
    "/bucket?list-type=2&encoding-type=url&AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature="
    "yKu3coAPevCxwTl5RaphIKOHyWY%3D"
    "&Expires=1369357200";
constexpr std::string_view kBucketSubresource =
    "/bucket?versioning&AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=tTAihKYedWFNtzSi5kLgDuXzYXk%"
    "3D&Expires=1369357200";

// Made with Python's hmac over "/bucket" and "/bucket?versioning".
constexpr std::string_view kBucketAsSent =
    "/bucket?list-type=2&AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature="
    "fEn5rAL4UrQIwGFVm11uGC7iVUA%3D&Expires=1369357200";
constexpr std::string_view kBucketSubresourceAsSent =
    "/bucket?versioning&AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature="
    "wZRUrpqTYdrHVH8OrN9XqoO6Kdo%3D&Expires=1369357200";

// Over "//" and, for a virtual-hosted request, over "/bucket/bucket/".
constexpr std::string_view kRootWithSlash =
    "/?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=26ULgOabUaDsnUE9maQjMYqlfgc%3D&Expires="
    "1369357200";
constexpr std::string_view kKeyWithSlash =
    "/bucket?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=Viv8V6xI0vQbz%2BKzWk0qTjdvbak%3D&"
    "Expires=1369357200";

class VersionTwoTest : public ::testing::Test {
 protected:
  // Returns the code of the response; "ok" if the router was called.
  std::string SendRequest(std::string_view method, std::string_view target,
                          std::string host = "127.0.0.1:9000") {
    const int before = router_.calls;
    const auto auth = AuthChain(ExampleOptions(), users_, router_);
    TestExchange request(TestRequest{.method = std::string(method),
                                     .target = std::string(target),
                                     .headers = {{"Host", std::move(host)}},
                                     .body = {}});
    auth->Handle(request.exchange);
    if (router_.calls > before) return "ok";
    body_ = std::get<std::string>(request.exchange.response.body);
    return Element("Code");
  }
  std::string Element(const std::string& name) const {
    const std::size_t begin = body_.find("<" + name + ">");
    if (begin == std::string::npos) return "<absent>";
    const std::size_t text = begin + name.size() + 2;
    return body_.substr(text, body_.find("</", text) - text);
  }
  static std::string Replaced(std::string_view target, std::string_view from, std::string_view to) {
    std::string changed(target);
    return changed.replace(changed.find(from), from.size(), to);
  }

  OneUser users_;
  RecordingRouter router_;
  std::string body_;
};

// The example of AWS's documentation of Signature Version 2 ("johnsmith/photos/puppy.jpg"),
// recomputed.
TEST_F(VersionTwoTest, MatchesTheDocumentedExample) {
  const TestExchange request(TestRequest{});
  const auto target = s3::ParseTarget("/photos/puppy.jpg", "johnsmith.s3.amazonaws.com",
                                      s3::HostRules::Default("us-east-1"));
  ASSERT_TRUE(target.ok());
  const std::string text = VersionTwoStringToSign(request.exchange.request, *target,
                                                  {.in_query = true, .date_line = "1175139620"});
  EXPECT_EQ(text, "GET\n\n\n1175139620\n/johnsmith/photos/puppy.jpg");
}

TEST_F(VersionTwoTest, AdmitsWhatBotocoreSigned) {
  EXPECT_EQ(SendRequest("GET", kPlain), "ok");
  EXPECT_EQ(router_.identity.access_key_id, kExampleKey);
  EXPECT_EQ(SendRequest("GET", kSubresources), "ok");
  EXPECT_EQ(SendRequest("GET", kVirtualHosted, "examplebucket.s3.amazonaws.com"), "ok");
  EXPECT_EQ(SendRequest("PUT", kAmzParameters), "ok");
  const std::pair<std::string, std::string> forwarded{"x-amz-meta-b", "1"};
  EXPECT_EQ(std::count(router_.headers.begin(), router_.headers.end(), forwarded), 1);
}

// botocore sends "/bucket" and signs "/bucket/", also with path-style addressing.
TEST_F(VersionTwoTest, BucketIsSignedWithATrailingSlash) {
  EXPECT_EQ(SendRequest("GET", kBucket), "ok");
  EXPECT_EQ(SendRequest("GET", kBucketSubresource), "ok");
  EXPECT_EQ(SendRequest("GET", Replaced(kBucket, "/bucket?", "/bucket/?")), "ok");
  EXPECT_EQ(SendRequest("GET", Replaced(kBucket, "/bucket?", "/bucke?")), "SignatureDoesNotMatch");
  EXPECT_TRUE(Element("StringToSign").ends_with("/bucke"));
}

// "Signing and authenticating REST requests": the resource is the path of the request as sent.
TEST_F(VersionTwoTest, BucketIsSignedAsSent) {
  EXPECT_EQ(SendRequest("GET", kBucketAsSent), "ok");
  EXPECT_EQ(SendRequest("GET", kBucketSubresourceAsSent), "ok");
  for (const std::string_view path : {"/bucket/?", "//bucket?", "/bucket//?", "/bucket/k?", "/?",
                                      "/bucke?", "/bucket%2F?", "/%62ucket?"}) {
    EXPECT_NE(SendRequest("GET", Replaced(kBucketAsSent, "/bucket?", path)), "ok") << path;
  }
  EXPECT_EQ(SendRequest("GET", Replaced(kBucketAsSent, "list-type", "versioning&list-type")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("PUT", kBucketAsSent), "SignatureDoesNotMatch");
  EXPECT_EQ(
      SendRequest("GET", Replaced(kBucketAsSent, "/bucket?", "/?"), "bucket.s3.amazonaws.com"),
      "SignatureDoesNotMatch")
      << "the resource of a virtual-hosted request is /bucket/";
}

// Only a bucket's path may be signed with another slash than the request has.
TEST_F(VersionTwoTest, NoOtherPathIsSignedWithATrailingSlash) {
  for (const std::string_view path : {"/bucket//?", "/bucket/k?", "/bucket%2F?", "/?"})
    EXPECT_NE(SendRequest("GET", Replaced(kBucket, "/bucket?", path)), "ok") << path;
  EXPECT_EQ(SendRequest("GET", kRootWithSlash), "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("GET", kKeyWithSlash, "bucket.s3.amazonaws.com"), "SignatureDoesNotMatch");
}

TEST_F(VersionTwoTest, RefusesEveryChange) {
  EXPECT_EQ(SendRequest("PUT", kPlain), "SignatureDoesNotMatch");
  EXPECT_EQ(Element("StringToSign"), "PUT&#xa;&#xa;&#xa;1369357200&#xa;/bucket/a%20b%2Bc");
  EXPECT_EQ(Element("CanonicalRequest"), "<absent>");
  EXPECT_EQ(SendRequest("GET", Replaced(kPlain, "a%20b", "b%20b")), "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("GET", Replaced(kPlain, "Expires=1369357200", "Expires=1369357201")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("GET", Replaced(kPlain, "Signature=L", "Signature=M")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("GET", std::string(kPlain) + "&versionId=abc"), "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("GET", std::string(kPlain) + "&x-amz-acl=private"),
            "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("GET", Replaced(kSubresources, "versionId=abc", "versionId=abd")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("PUT", Replaced(kAmzParameters, "private", "public-read")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("PUT", Replaced(kAmzParameters, "plain", "other")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(SendRequest("GET", Replaced(kPlain, "EXAMPLE&", "NOBODY&")), "InvalidAccessKeyId");
}

TEST_F(VersionTwoTest, UnsignedListParametersMayBeAdded) {
  EXPECT_EQ(SendRequest("GET", std::string(kPlain) + "&x-id=GetObject&prefix=a"), "ok");
}

// Regression: botocore and S3's documentation do not sign these, so a URL for an object worked for
// its retention too.
TEST_F(VersionTwoTest, RefusesSubresourcesThatItDoesNotSign) {
  for (const std::string name : {"abac", "attributes", "id", "intelligent-tiering", "legal-hold",
                                 "metadataTable", "ownershipControls", "policyStatus",
                                 "publicAccessBlock", "renameObject", "retention", "session"}) {
    for (const std::string& spelling :
         {name, "%" + HexEncode(AsBytes(name.substr(0, 1))) + name.substr(1)}) {
      EXPECT_EQ(SendRequest("GET", std::string(kPlain) + "&" + spelling), "AccessDenied")
          << spelling;
      EXPECT_EQ(Element("ParametersNotSigned"), name);
    }
  }
  EXPECT_EQ(SendRequest("GET", std::string(kPlain) + "&unknown=1"), "ok")
      << "unknown parameters are ignored";
}

TEST_F(VersionTwoTest, RefusesASecondSignature) {
  for (const std::string second : {"Signature=AAAA", "AWSAccessKeyId=NOBODY", "Expires=1",
                                   "signature=AAAA", "X-Amz-Signature=AAAA"}) {
    EXPECT_EQ(SendRequest("GET", std::string(kPlain) + "&" + second), "InvalidArgument") << second;
  }
}

TEST_F(VersionTwoTest, ExpiresAtTheExactSecond) {
  users_.clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(SendRequest("GET", kPlain), "ok");
  users_.clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(SendRequest("GET", kPlain), "AccessDenied");
  EXPECT_EQ(Element("Message"), "Request has expired");
  EXPECT_TRUE(Element("Expires").starts_with("2013-05-24T01:00:00"));
  EXPECT_TRUE(Element("ServerTime").starts_with("2013-05-24T01:00:01"));
}

TEST_F(VersionTwoTest, NeedsAllThreeParameters) {
  for (const std::string_view missing :
       {"&Signature=L0znFvaDSgMStjHUsc2Mo8QHhaM%3D", "&Expires=1369357200"}) {
    EXPECT_EQ(SendRequest("GET", Replaced(kPlain, missing, "")), "AccessDenied");
    EXPECT_EQ(Element("Message"),
              "Query-string authentication requires the Signature, Expires and AWSAccessKeyId "
              "parameters");
  }
  for (const std::string_view when :
       {"Expires=soon", "Expires=-1", "Expires=99999999999999", "Expires=1e9"}) {
    EXPECT_EQ(SendRequest("GET", Replaced(kPlain, "Expires=1369357200", when)), "AccessDenied")
        << when;
    EXPECT_TRUE(Element("Message").starts_with("Invalid date (should be seconds since epoch): "))
        << when;
  }
}

TEST_F(VersionTwoTest, TemporaryKeyNeedsItsToken) {
  EXPECT_EQ(SendRequest("GET", kWithToken), "InvalidToken");
  users_.user.session_token = "TESTTOKEN==";
  EXPECT_EQ(SendRequest("GET", kWithToken), "ok");
  EXPECT_EQ(SendRequest("GET", kPlain), "InvalidAccessKeyId");
}

// A version 2 URL names no region, so it is valid in its bucket's region.
TEST_F(VersionTwoTest, RegionIsTheBucketsOrTheHomeRegion) {
  const auto auth = AuthChain(ExampleOptions(), users_, router_);
  TestExchange request(TestRequest{.method = "GET",
                                   .target = std::string(kPlain),
                                   .headers = {{"Host", "127.0.0.1:9000"}},
                                   .body = {}});
  auth->Handle(request.exchange);
  EXPECT_EQ(request.exchange.signing_region, "us-east-1");
}

TEST_F(VersionTwoTest, AcceptsAnExpiryBeyondTheClock) {
  EXPECT_EQ(SendRequest("GET", Replaced(kPlain, "Expires=1369357200", "Expires=253402300799")),
            "SignatureDoesNotMatch");
}

TEST_F(VersionTwoTest, ParsingChecksOnlyTheExpiry) {
  AuthOptions options = ExampleOptions();
  options.mode = Mode::kParse;
  users_.user.secret_access_key = "another";
  const auto auth = AuthChain(options, users_, router_);
  const TestRequest sent{.method = "GET",
                         .target = std::string(kPlain),
                         .headers = {{"Host", "127.0.0.1:9000"}},
                         .body = {}};
  TestExchange request(sent);
  auth->Handle(request.exchange);
  EXPECT_EQ(router_.calls, 1);
  users_.clock.Advance(std::chrono::hours(2));
  TestExchange late(sent);
  auth->Handle(late.exchange);
  EXPECT_EQ(late.exchange.response.error_code, "AccessDenied");
}

// Signed with HmacV1Auth of botocore 1.44.5.
class VersionTwoHeaderTest : public VersionTwoTest {
 protected:
  static TestRequest Put() {
    return {.method = "PUT",
            .target = "/bucket/k?acl",
            .headers = {{"Host", "127.0.0.1:9000"},
                        {"Content-Type", "text/plain"},
                        {"x-amz-meta-b", "1"},
                        {"x-amz-acl", "private"},
                        {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                        {"Authorization", "AWS AKIAIOSFODNN7EXAMPLE:1GNpXbozId/N7MFWc2S5ViJ6DZM="}},
            .body = {}};
  }
  // Dated like requests of s3cmd: x-amz-date replaces Date, whose line in the string stays empty.
  static TestRequest GetWithAmzDate() {
    return {.method = "GET",
            .target = "/bucket/k",
            .headers = {{"Host", "127.0.0.1:9000"},
                        {"x-amz-date", "Fri, 24 May 2013 00:00:00 +0000"},
                        {"Date", "Sat, 25 May 2013 00:00:00 GMT"},
                        {"Authorization", "AWS AKIAIOSFODNN7EXAMPLE:B9lysw2GpTbNKJdt/A3hoBRzOTQ="}},
            .body = {}};
  }
  // Returns the code of the response; "ok" if the router was called.
  std::string Send(TestRequest sent) {
    const int before = router_.calls;
    const auto auth = AuthChain(options_, users_, router_);
    const TestExchange request(std::move(sent));
    s3::Exchange exchange{request.exchange.request, request.exchange.connection,
                          request.exchange.body};
    auth->Handle(exchange);
    region_ = exchange.signing_region;
    if (router_.calls > before) return "ok";
    body_ = std::get<std::string>(exchange.response.body);
    return Element("Code");
  }
  std::string WithAuthorization(const std::string& value) {
    TestRequest request = Put();
    *request.Header("Authorization") = value;
    return Send(request);
  }

  AuthOptions options_ = ExampleOptions();
  std::string region_;
};

TEST_F(VersionTwoHeaderTest, AdmitsWhatBotocoreSigned) {
  EXPECT_EQ(Send(Put()), "ok");
  EXPECT_EQ(router_.identity.access_key_id, kExampleKey);
  EXPECT_EQ(region_, "us-east-1");
  EXPECT_EQ(Send(GetWithAmzDate()), "ok");
}

TEST_F(VersionTwoHeaderTest, RefusesEveryChange) {
  for (const char* header : {"Content-Type", "x-amz-meta-b", "x-amz-acl"}) {
    TestRequest request = Put();
    *request.Header(header) += "x";
    EXPECT_EQ(Send(request), "SignatureDoesNotMatch") << header;
  }
  TestRequest later = Put();
  *later.Header("Date") = "Fri, 24 May 2013 00:00:01 GMT";
  EXPECT_EQ(Send(later), "SignatureDoesNotMatch");
  TestRequest other = Put();
  other.target = "/bucket/l?acl";
  EXPECT_EQ(Send(other), "SignatureDoesNotMatch");
  EXPECT_EQ(WithAuthorization("AWS NOBODY:c2ln"), "InvalidAccessKeyId");
}

TEST_F(VersionTwoHeaderTest, NeedsOneKeyAndOneSignature) {
  for (const char* value : {"AWS garbage", "AWS AK:", "AWS AK:a:b", "AWS  AK:a"}) {
    EXPECT_EQ(WithAuthorization(value), "InvalidArgument") << value;
    EXPECT_EQ(Element("ArgumentValue"), value);
  }
}

// Regression: the query is signed only in a presigned URL, so a copy source in it changed the
// operation.
TEST_F(VersionTwoHeaderTest, RefusesHeadersInTheQuery) {
  for (const std::string parameter :
       {"x-amz-acl=private", "x-amz-copy-source=%2Fbucket%2Fother", "X-Amz-Meta-A=1"}) {
    TestRequest request = Put();
    request.target += "&" + parameter;
    EXPECT_EQ(Send(request), "AccessDenied") << parameter;
  }
}

TEST_F(VersionTwoHeaderTest, RequiresACurrentDate) {
  TestRequest undated = Put();
  undated.Header("Date")->clear();
  EXPECT_EQ(Send(undated), "AccessDenied");
  users_.clock.Advance(std::chrono::minutes(15));
  EXPECT_EQ(Send(Put()), "ok");
  users_.clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Send(Put()), "RequestTimeTooSkewed");
  EXPECT_EQ(Element("RequestTime"), "Fri, 24 May 2013 00:00:00 GMT");
  EXPECT_EQ(Element("ServerTime"), "2013-05-24T00:15:01Z");
}

TEST_F(VersionTwoHeaderTest, NewerRegionsRefuseVersionTwo) {
  options_.region = "eu-central-1";
  EXPECT_EQ(Send(Put()), "InvalidRequest");
  EXPECT_EQ(Element("Message"),
            "The authorization mechanism you have provided is not supported. Please use "
            "AWS4-HMAC-SHA256.");
  EXPECT_EQ(Send({.method = "GET",
                  .target = std::string(kPlain),
                  .headers = {{"Host", "127.0.0.1:9000"}},
                  .body = {}}),
            "InvalidRequest");
  options_.region = "eu-west-1";
  EXPECT_EQ(Send(Put()), "ok");
}

}  // namespace
}  // namespace penstock::emulator::auth
