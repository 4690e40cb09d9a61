#include "base/text/redact.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(RedactTest, PlainTextIsUnchanged) {
  for (const char* text :
       {"", "GET /bucket/key?list-type=2&continuation-token=abc", "NextContinuationToken=abc",
        "The request signature we calculated does not match the signature you provided.",
        "The authorization header is malformed", "s3://bucket/key", "http://127.0.0.1:9000/a@b",
        "x-amz-server-side-encryption-customer-key-MD5: abc=",
        "<SignatureDoesNotMatch>x</SignatureDoesNotMatch>"}) {
    EXPECT_EQ(Redact(text), text);
  }
}

TEST(RedactTest, RedactsHeaders) {
  EXPECT_EQ(Redact("GET / HTTP/1.1\r\nAuthorization: AWS4-HMAC-SHA256 "
                   "Credential=AKID/20130524/us-east-1/s3/aws4_request, "
                   "SignedHeaders=host, Signature=f0e8\r\nHost: h\r\n"),
            "GET / HTTP/1.1\r\nAuthorization: ***\r\nHost: h\r\n");
  EXPECT_EQ(Redact("x-amz-security-token:SECRET\nnext: 1"), "x-amz-security-token:***\nnext: 1");
  EXPECT_EQ(Redact("x-amz-s3session-token: SECRET"), "x-amz-s3session-token: ***");
  EXPECT_EQ(Redact("proxy-authorization: Basic SECRET"), "proxy-authorization: ***");
  EXPECT_EQ(Redact("x-amz-server-side-encryption-customer-key: SECRET=="),
            "x-amz-server-side-encryption-customer-key: ***");
  EXPECT_EQ(Redact("x-amz-copy-source-server-side-encryption-customer-key: SECRET=="),
            "x-amz-copy-source-server-side-encryption-customer-key: ***");
}

TEST(RedactTest, RedactsAuthorizationValueWithoutItsName) {
  EXPECT_EQ(
      Redact("AWS4-HMAC-SHA256 Credential=AKID/x/aws4_request, SignedHeaders=host, Signature=f0e8"),
      "AWS4-HMAC-SHA256 Credential=***, SignedHeaders=host, Signature=***");
  EXPECT_EQ(Redact("10000;chunk-signature=f0e8\r\n"), "10000;chunk-signature=***\r\n");
}

TEST(RedactTest, RedactsQueryParameters) {
  EXPECT_EQ(Redact("/k?X-Amz-Algorithm=A&X-Amz-Credential=AKID%2F2013&X-Amz-Date=D&X-Amz-Security-"
                   "Token=T%2B&X-Amz-Signature=abc&x-id=1"),
            "/k?X-Amz-Algorithm=A&X-Amz-Credential=***&X-Amz-Date=D&X-Amz-Security-Token=***&X-Amz-"
            "Signature=***&x-id=1");
  EXPECT_EQ(Redact("url=http%3A%2F%2Fh%2F%3FX-Amz-Signature%3Dabc"),
            "url=http%3A%2F%2Fh%2F%3FX-Amz-Signature%3D***");
  EXPECT_EQ(Redact("/k?x-amz-signature=ABC"), "/k?x-amz-signature=***");
}

TEST(RedactTest, RedactsXmlElements) {
  EXPECT_EQ(Redact("<Credentials><SecretAccessKey>SECRET</SecretAccessKey><SessionToken>T</"
                   "SessionToken></Credentials>"),
            "<Credentials><SecretAccessKey>***</SecretAccessKey><SessionToken>***</SessionToken></"
            "Credentials>");
  EXPECT_EQ(Redact("<s3:SecretAccessKey xmlns:s3=\"u\">SECRET</s3:SecretAccessKey>"),
            "<s3:SecretAccessKey xmlns:s3=\"u\">***</s3:SecretAccessKey>");
  EXPECT_EQ(Redact("<SignatureProvided>f0e8</SignatureProvided>"),
            "<SignatureProvided>***</SignatureProvided>");
  EXPECT_EQ(Redact("<SecretAccessKey>SECRET"), "<SecretAccessKey>***");
}

TEST(RedactTest, RedactsKeyValuePairs) {
  EXPECT_EQ(Redact("aws_secret_access_key = SE/CR+ET=\nregion = x"),
            "aws_secret_access_key = ***\nregion = x");
  EXPECT_EQ(Redact("AWS_SESSION_TOKEN=SECRET other=1"), "AWS_SESSION_TOKEN=*** other=1");
  EXPECT_EQ(Redact("--secret-key=SECRET"), "--secret-key=***");
  EXPECT_EQ(Redact("secret_key='SE CR ET' x"), "secret_key='***' x");
  EXPECT_EQ(Redact("Authorization=AWS AKID:SECRET, more"), "Authorization=***");
}

TEST(RedactTest, RedactsJsonMembers) {
  EXPECT_EQ(Redact(R"({"AccessKeyId":"A","SecretAccessKey" : "SE\"CRET","Token":"T","x":1})"),
            R"({"AccessKeyId":"A","SecretAccessKey" : "***","Token":"***","x":1})");
  EXPECT_EQ(Redact(R"({"SessionToken": "SECRET)"), R"({"SessionToken": "***)");
  const std::string nested = Redact(R"("{\"SecretAccessKey\": \"SECRET\", \"x\": 1}")");
  EXPECT_EQ(nested.find("SECRET"), std::string::npos) << nested;
}

TEST(RedactTest, RedactsUserInfoOfUrls) {
  EXPECT_EQ(Redact("proxy http://user:SECRET@proxy:3128/x failed"),
            "proxy http://***@proxy:3128/x failed");
}

// An unfinished element must not hide a header that follows it.
TEST(RedactTest, BracketsDoNotHideSecrets) {
  EXPECT_EQ(Redact("a<x-amz-signature: SECRET"), "a<x-amz-signature: ***");
  EXPECT_EQ(Redact("<a><SessionToken>T</SessionToken>\n  <b>1</b></a>"),
            "<a><SessionToken>***</SessionToken>\n  <b>1</b></a>");
}

TEST(RedactTest, RedactsEverySecretOfALine) {
  EXPECT_EQ(Redact("SecretAccessKey=a SecretAccessKey=b"),
            "SecretAccessKey=*** SecretAccessKey=***");
}

std::string WithoutValue(std::string text, std::string_view secret) {
  internal::RedactValue(text, secret);
  return text;
}

TEST(RedactValueTest, ReplacesASecretInEveryEncodingOfAUrl) {
  const std::string secret = "SEC/ret+123";
  EXPECT_EQ(WithoutValue("a SEC/ret+123SEC/ret+123 b", secret), "a ****** b");
  EXPECT_EQ(WithoutValue("SEC%2Fret%2B123", secret), "***");
  EXPECT_EQ(WithoutValue("SEC%2fret+123, x", secret), "***, x");
  EXPECT_EQ(WithoutValue("%53%45%43/ret%2b12%33%", secret), "***%");
  EXPECT_EQ(WithoutValue("100%25ofit;100%ofit.", "100%ofit"), "***;***.");
}

TEST(RedactValueTest, OtherTextIsUnchanged) {
  for (const char* text : {"", "%", "SEC", "SEC%2Fret%2B12", "SEC%2Gret%2B123", "sec/ret+123"})
    EXPECT_EQ(WithoutValue(text, "SEC/ret+123"), text);
  EXPECT_EQ(WithoutValue("text", ""), "text");
}

TEST(RedactValueTest, AShortSecretIsReplacedOnlyIfItStandsAlone) {
  EXPECT_EQ(WithoutValue("user:hunter2@p hunter2", "hunter2"), "user:***@p ***");
  EXPECT_EQ(WithoutValue("the hunter2s, ahunter2, 1hunter2", "hunter2"),
            "the hunter2s, ahunter2, 1hunter2");
}

TEST(RedactTest, RecognizesNamesByTheirEnding) {
  for (const char* name :
       {"Authorization", "x-amz-security-token", "X-Amz-Signature", "SecretAccessKey",
        "AWS_SECRET_ACCESS_KEY", "sessionToken", "x-amz-s3session-token", "password", "Token"}) {
    EXPECT_TRUE(internal::NamesSecret(name)) << name;
  }
  for (const char* name :
       {"", "-", "key", "bucket", "continuation-token", "AccessKeyId", "signature-version"}) {
    EXPECT_FALSE(internal::NamesSecret(name)) << name;
  }
}

}  // namespace
}  // namespace penstock
