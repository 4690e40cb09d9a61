#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

// Recorded against Amazon S3: no xmlns, and code-specific elements between Message and RequestId.
TEST(ErrorResponseTest, DocumentMatchesS3) {
  Harness s3;
  const Reply reply = s3.Send("GET /bucket/key");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body,
            "<?xml version=\"1.0\" "
            "encoding=\"UTF-8\"?>\n<Error><Code>NoSuchBucket</Code><Message>The specified bucket "
            "does not "
            "exist</Message><BucketName>bucket</BucketName><RequestId>0123456789ABCDEF</"
            "RequestId><HostId>"
            "aG9zdA==</HostId></Error>");
  EXPECT_EQ(reply.Header("Content-Type"), "application/xml");
  EXPECT_TRUE(reply.chunked);
  EXPECT_EQ(reply.Header("x-amz-request-id"), "0123456789ABCDEF");
  EXPECT_EQ(reply.Header("x-amz-id-2"), "aG9zdA==");
}

// Recorded against Amazon S3.
TEST(ErrorResponseTest, HeadHasHeadersOnly) {
  Harness s3;
  const Reply reply = s3.Send("HEAD /bucket/key");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(reply.Header("Content-Type"), "application/xml");
}

TEST(ErrorResponseTest, TextIsEscaped) {
  Harness s3;
  s3.Send("PUT /bucket");
  const Reply reply = s3.Send("GET /bucket/a%3Cb%26");
  EXPECT_EQ(reply.Element("Key"), "a&lt;b&amp;");
}

// Header values are arbitrary bytes, but the document is UTF-8.
TEST(ErrorResponseTest, QuotedBytesThatAreNotUtf8AreReplaced) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "x");
  const Reply reply = s3.Send("PUT /bucket/k\nx-amz-server-side-encryption: a\xFF\u00E9", "x");
  EXPECT_EQ(reply.Outcome(), "400 InvalidEncryptionAlgorithmError");
  EXPECT_EQ(reply.Element("ArgumentValue"), "a\uFFFD\u00E9");
}

// As S3 writes them, although XML 1.0 does not allow such characters
// (docs/explanation/emulator/requests.md, "Keys").
TEST(ErrorResponseTest, CharactersInvalidInXmlBecomeReferences) {
  Harness s3;
  s3.Send("PUT /bucket");
  EXPECT_EQ(s3.Send("GET /bucket/%01%EF%BF%BF").Element("Key"), "&#x1;&#xffff;");
}

Response Respond(const Error& error, std::vector<HeaderView> headers = {},
                 std::string_view method = "GET") {
  RequestHead head;
  head.method = method;
  head.headers = std::move(headers);
  testing::TextBody body("", 0, {});
  Connection connection;
  Exchange exchange{head, connection, &body};
  RespondWithError(exchange, error);
  return std::move(exchange.response);
}

// Recorded against Amazon S3: "HTTP/1.1 503 Slow Down", connection: close.
TEST(ErrorResponseTest, SlowDownHasItsReasonAndClosesTheConnection) {
  const Response response = Respond(MakeError("SlowDown"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.reason, "Slow Down");
  EXPECT_TRUE(response.close);
}

TEST(ErrorResponseTest, FailedUploadsCloseTheConnectionAndReadsDoNot) {
  EXPECT_TRUE(Respond(MakeError("BadDigest"), {{"Content-Length", "5"}}, "PUT").close);
  EXPECT_TRUE(Respond(MakeError("BadDigest"), {{"Transfer-Encoding", "chunked"}}, "PUT").close);
  EXPECT_FALSE(Respond(MakeError("BadDigest"), {{"Content-Length", "0"}}, "PUT").close);
  EXPECT_FALSE(Respond(NoSuchKey("k")).close);
}

TEST(ErrorResponseTest, RegionOfAnErrorIsSentAsHeader) {
  Error error = MakeError("PermanentRedirect");
  error.region = "eu-west-1";
  EXPECT_EQ(Respond(error).Find("x-amz-bucket-region"), "eu-west-1");
}

TEST(ErrorResponseTest, ErrorsWithoutACodeGetOne) {
  EXPECT_EQ(Respond(Error::Make(ErrorKind::kInternal, "x")).status, 500);
  EXPECT_EQ(Respond(Error::Make(ErrorKind::kUnavailable, "x")).status, 503);
  EXPECT_NE(std::get<std::string>(Respond(Error::Make(ErrorKind::kInvalidArgument, "why")).body)
                .find("why"),
            std::string::npos);
}

// Only uploads get 507. Reads and deletions get 500.
TEST(ErrorResponseTest, OnlyUploadsGetInsufficientStorage) {
  const Error full =
      Error::Make(ErrorKind::kResourceExhausted, "no space left for /data/objects.db");
  EXPECT_EQ(Respond(full, {}, "PUT").error_code, "InsufficientStorage");
  EXPECT_EQ(Respond(full, {}, "PUT").status, 507);
  EXPECT_EQ(Respond(full, {}, "POST").status, 507);
  for (const char* method : {"DELETE", "GET", "HEAD"}) {
    EXPECT_EQ(Respond(full, {}, method).error_code, "InternalError") << method;
    EXPECT_EQ(Respond(full, {}, method).status, 500) << method;
  }
}

// File paths of the server appear in the log only.
TEST(ErrorResponseTest, ServerFailuresGiveTheReasonOnlyToTheLog) {
  for (const ErrorKind kind : {ErrorKind::kResourceExhausted, ErrorKind::kInternal,
                               ErrorKind::kDataLoss, ErrorKind::kUnavailable}) {
    const Response response = Respond(Error::Make(kind, "/data/objects.db failed"), {}, "DELETE");
    EXPECT_EQ(std::get<std::string>(response.body).find("/data"), std::string::npos);
    EXPECT_EQ(response.error_detail, "/data/objects.db failed");
  }
  const Response full =
      Respond(Error::Make(ErrorKind::kResourceExhausted, "/data is full"), {}, "DELETE");
  EXPECT_NE(std::get<std::string>(full.body).find("has run out of disk space"), std::string::npos);
  EXPECT_EQ(Respond(NoSuchKey("k")).error_detail, "");
}

TEST(ErrorResponseTest, CodeIsKeptForTheLog) {
  EXPECT_EQ(Respond(NoSuchKey("k"), {}, "HEAD").error_code, "NoSuchKey");
  EXPECT_EQ(Respond(Error::Make(ErrorKind::kInternal, "x")).error_code, "InternalError");
}

TEST(ErrorResponseTest, NotModifiedHasNoBody) {
  const Response response = Respond(MakeError("NotModified"));
  EXPECT_EQ(response.status, 304);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(response.body));
  EXPECT_FALSE(response.Find("Content-Type").has_value());
}

}  // namespace
}  // namespace penstock::emulator::s3
