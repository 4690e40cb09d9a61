#include "client/s3/verbs/error_document.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

Error Read(int status, std::string body, std::vector<http::Header> headers = {}) {
  return ReadErrorResponse({status, std::move(headers)}, body);
}

TEST(ErrorDocumentTest, ReadsAllMembersOfTheDocument) {
  const Error error =
      Read(404,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code>"
           "<Message>The specified key does not exist.</Message><Key>k</Key>"
           "<RequestId>R</RequestId><HostId>H</HostId></Error>");
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_EQ(error.code, "NoSuchKey");
  EXPECT_EQ(error.message, "The specified key does not exist.");
  EXPECT_EQ(error.http_status, 404);
  EXPECT_EQ(error.request_id, "R");
  EXPECT_EQ(error.host_id, "H");
  EXPECT_EQ(error.details, (std::vector<std::pair<std::string, std::string>>{{"Key", "k"}}));
}

TEST(ErrorDocumentTest, TheKeyMayContainANul) {
  for (const char* nul : {"&#0;", "&#000;", "&#x0;", "&#x00;"}) {
    const Error error = Read(404, std::string("<Error><Code>NoSuchUpload</Code><Key>a") + nul +
                                      "b&#x01;c</Key></Error>");
    EXPECT_EQ(error.code, "NoSuchUpload") << nul;
    EXPECT_EQ(error.details, (std::vector<std::pair<std::string, std::string>>{{"Key",
                                                                                "a\xEF\xBF\xBD"
                                                                                "b\x01"
                                                                                "c"}}));
  }
  for (const char* text :
       {"&#", "&#x", "&#;", "&#x;", "&#0", "&#x0", "&#10;", "&#x0A;", "&amp;#0;"})
    EXPECT_EQ(WithoutNulReferences(text), text);
}

TEST(ErrorDocumentTest, HeadersOfTheRequestIdTakePrecedence) {
  const Error error =
      Read(500, "<Error><Code>InternalError</Code><RequestId>body</RequestId></Error>",
           {{"x-amz-request-id", "head"}, {"x-amz-id-2", "host"}});
  EXPECT_EQ(error.request_id, "head");
  EXPECT_EQ(error.host_id, "host");
}

TEST(ErrorDocumentTest, WithoutADocumentTheStatusIsTheCode) {
  const Error error = Read(404, "");
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_EQ(error.code, "404");
  EXPECT_EQ(Read(502, "<html>bad gateway</html>").code, "502");
  EXPECT_EQ(Read(503, "not xml <").kind, ErrorKind::kThrottled);
}

TEST(ErrorDocumentTest, KindsFollowFromTheCode) {
  const auto kind = [](int status, const std::string& code) {
    return Read(status, "<Error><Code>" + code + "</Code></Error>").kind;
  };
  EXPECT_EQ(kind(403, "AccessDenied"), ErrorKind::kAccessDenied);
  EXPECT_EQ(kind(403, "SignatureDoesNotMatch"), ErrorKind::kUnauthenticated);
  EXPECT_EQ(kind(403, "InvalidAccessKeyId"), ErrorKind::kUnauthenticated);
  EXPECT_EQ(kind(400, "ExpiredToken"), ErrorKind::kUnauthenticated);
  EXPECT_EQ(kind(404, "NoSuchUpload"), ErrorKind::kNotFound);
  EXPECT_EQ(kind(409, "BucketAlreadyOwnedByYou"), ErrorKind::kAlreadyExists);
  EXPECT_EQ(kind(409, "BucketNotEmpty"), ErrorKind::kConflict);
  EXPECT_EQ(kind(412, "PreconditionFailed"), ErrorKind::kPreconditionFailed);
  EXPECT_EQ(kind(503, "SlowDown"), ErrorKind::kThrottled);
  EXPECT_EQ(kind(503, "ServiceUnavailable"), ErrorKind::kUnavailable);
  EXPECT_EQ(kind(400, "RequestTimeout"), ErrorKind::kUnavailable);
  EXPECT_EQ(kind(400, "BadDigest"), ErrorKind::kDataLoss);
  EXPECT_EQ(kind(501, "NotImplemented"), ErrorKind::kUnsupported);
  EXPECT_EQ(kind(400, "NobodyKnows"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind(599, "NobodyKnows"), ErrorKind::kUnavailable);
}

TEST(ErrorDocumentTest, ReadsTheRightRegion) {
  const Error error = Read(
      400,
      "<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region 'a' is wrong</Message>"
      "<Region>eu-west-1</Region></Error>");
  EXPECT_EQ(error.kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(error.region, "eu-west-1");
  EXPECT_EQ(Read(400, "<Error><Code>AuthorizationHeaderMalformed</Code></Error>").kind,
            ErrorKind::kUnauthenticated);
  EXPECT_EQ(Read(301, "", {{"x-amz-bucket-region", "r"}}).region, "r");
}

TEST(ErrorDocumentTest, AnInvalidRangeHasTheObjectSize) {
  const std::vector<std::pair<std::string, std::string>> size = {{"ActualObjectSize", "7"}};
  const Error from_body =
      Read(416, "<Error><Code>InvalidRange</Code><ActualObjectSize>7</ActualObjectSize></Error>");
  EXPECT_EQ(from_body.code, "InvalidRange");
  EXPECT_EQ(from_body.kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(from_body.details, size);
  const Error from_header = Read(416, "", {{"Content-Range", "bytes */7"}});
  EXPECT_EQ(from_header.code, "InvalidRange");
  EXPECT_EQ(from_header.details, size);
}

TEST(ErrorDocumentTest, OmitsSignatureMaterialAndTokens) {
  const Error error =
      Read(403,
           "<Error><Code>SignatureDoesNotMatch</Code><StringToSign>s</StringToSign>"
           "<SignatureProvided>s</SignatureProvided><CanonicalRequest>s</CanonicalRequest>"
           "<Token-0>s</Token-0><AWSAccessKeyId>AKID</AWSAccessKeyId></Error>");
  EXPECT_EQ(error.details,
            (std::vector<std::pair<std::string, std::string>>{{"AWSAccessKeyId", "AKID"}}));
}

TEST(ErrorDocumentTest, ReadsEveryFormOfARetryHint) {
  using std::chrono::milliseconds;
  EXPECT_EQ(Read(503, "", {{"x-amz-retry-after", "1500"}}).retry_after, milliseconds(1500));
  EXPECT_EQ(Read(503, "", {{"Retry-After", "2"}}).retry_after, milliseconds(2000));
  EXPECT_EQ(Read(503, "",
                 {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                  {"Retry-After", "Fri, 24 May 2013 00:00:03 GMT"}})
                .retry_after,
            milliseconds(3000));
  EXPECT_EQ(Read(503, "", {{"Retry-After", "soon"}}).retry_after, std::nullopt);
}

TEST(ErrorDocumentTest, TextsAreShortEnoughForALog) {
  const std::string huge(1 << 20, 'a');
  Error error = Read(403,
                     "<Error><Code>" + huge + "</Code><Message>" + huge + "</Message><Extra>" +
                         huge + "</Extra></Error>",
                     {{"x-amz-request-id", huge}});
  LimitTexts(error, {});
  EXPECT_LT(error.ToString().size(), 4096u);
  ASSERT_EQ(error.details.size(), 1u);
  EXPECT_LT(error.details[0].second.size(), 4096u);
}

TEST(ErrorDocumentTest, CredentialsThatAServerRepeatsAreRedacted) {
  const Credentials credentials{"AKID", "TOPSECRETKEY", "TOPSECRETTOKEN", std::nullopt};
  const std::string echo =
      "x TOPSECRETKEY,TOPSECRETTOKENTOPSECRETTOKEN Credential=AKID, Signature=0123abcdef, y "
      "TOP%53ECRETKEY 0123abcdef";
  Error error = Read(403,
                     "<Error><Code>" + echo + "</Code><Message>" + echo + "</Message><Extra>" +
                         echo + "</Extra><Region>" + echo + "</Region></Error>",
                     {{"x-amz-request-id", echo}, {"x-amz-id-2", std::string(2100, ' ') + echo}});
  LimitTexts(error, {&credentials, "0123abcdef"});
  EXPECT_EQ(error.request_id, "x ***,****** Credential=***, Signature=***, y *** ***");
  std::string all = error.ToString() + error.host_id + error.region;
  for (const auto& [name, text] : error.details) all += name + text;
  EXPECT_EQ(all.find("TOPSECRET"), std::string::npos) << all;
  EXPECT_EQ(all.find("0123abcdef"), std::string::npos) << all;
}

TEST(ErrorDocumentTest, CredentialsThatAProxyRepeatsAreRedacted) {
  ASSERT_EQ(::setenv("http_proxy", "http://user:hunter2@127.0.0.1:1", 1), 0);
  // printf user:hunter2 | base64
  const std::string echo = "denied: Basic dXNlcjpodW50ZXIy user:hunter2";
  Error error = Read(403, "<Error><Code>C</Code><Message>" + echo + "</Message></Error>",
                     {{"x-amz-request-id", echo}});
  LimitTexts(error, {});
  ASSERT_EQ(::unsetenv("http_proxy"), 0);
  EXPECT_EQ(error.request_id, "denied: Basic *** ***");
  EXPECT_EQ(error.message, "denied: Basic *** ***");
}

TEST(ErrorDocumentTest, AnUnknownCodeInA200IsTransient) {
  const auto document = XmlDocument::Parse("<Error><Code>New</Code></Error>");
  EXPECT_EQ(ReadErrorElement({200, {}}, document->root()).kind, ErrorKind::kUnavailable);
  EXPECT_EQ(KindOfCode("New"), std::nullopt);
}

}  // namespace
}  // namespace penstock::s3
