#include "client/s3/verbs/document.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/verbs.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(DocumentTest, AcceptsTheExpectedRootOnly) {
  EXPECT_TRUE(ReadDocument(ResponseOf("<Root/>"), "Root").ok());
  EXPECT_TRUE(ReadDocument(ResponseOf("<Also/>"), "Root", "Also").ok());
  EXPECT_EQ(ReadDocument(ResponseOf(""), "Root").error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(ReadDocument(ResponseOf("<Root>"), "Root").error().kind, ErrorKind::kUnavailable);
}

TEST(DocumentTest, NamesTheUnexpectedDocument) {
  const std::pair<const char*, const char*> documents[] = {
      {"<Other/>", "its root is <Other>"},
      {"<html><body>a<br></body></html>", "its root is <html>"},
      {"\xEF\xBB\xBF<!DOCTYPE html>\n<!-- <Root> -->\n<html lang=\"en\">", "its root is <html>"},
      {"<?xml version=\"1.0\"?>\n<s:Other", nullptr},  // Ends within its name.
      {"<?xml version=\"1.0\"?>\n<s:Other ", "its root is <Other>"},
      {"{\"ok\": true}", "it is not XML"},
      {"  \n", nullptr},
      {"<!-- never ends", nullptr},
      {"<Root><A></Root>", nullptr},
      {"<Error><Code>x", nullptr},
  };
  for (const auto& [body, why] : documents) {
    auto read = ReadDocument(ResponseOf(body), "Root");
    ASSERT_FALSE(read.ok()) << body;
    Error& error = read.error();
    EXPECT_EQ(error.kind, why == nullptr ? ErrorKind::kUnavailable : ErrorKind::kUnsupported)
        << body;
    if (why != nullptr) {
      EXPECT_NE(error.message.find(why), std::string::npos) << error.message;
    }
    error.http_status = 200;
    EXPECT_EQ(IsNotFromS3(error), why != nullptr) << body;
  }
}

TEST(DocumentTest, AnErrorRootIsThatError) {
  const auto document = ReadDocument(
      ResponseOf(
          "<Error><Code>NoSuchBucket</Code><Message>m</Message><BucketName>b</BucketName></Error>"),
      "Root");
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().code, "NoSuchBucket");
  EXPECT_EQ(document.error().kind, ErrorKind::kNotFound);
}

TEST(DocumentTest, WithoutADocumentAnErrorCountsAndAPageIsNotFromS3) {
  for (const char* body : {"", " \r\n", "<CreateBucketResponse/>"})
    EXPECT_TRUE(CheckNoDocument(ResponseOf(body)).ok()) << body;
  const auto error = CheckNoDocument(
      ResponseOf("<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>"));
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.error().code, "AccessDenied");
  EXPECT_EQ(error.error().kind, ErrorKind::kAccessDenied);
  const auto slow = CheckNoDocument(ResponseOf("<Error><Code>InternalError</Code></Error>"));
  EXPECT_EQ(slow.error().kind, ErrorKind::kUnavailable) << "retried";
  for (const char* body : {"<!DOCTYPE html><html><br>", "<HTML>", "Welcome"}) {
    auto page = CheckNoDocument(ResponseOf(body));
    ASSERT_FALSE(page.ok()) << body;
    page.error().http_status = 200;
    EXPECT_TRUE(IsNotFromS3(page.error())) << page.error().message;
  }
  for (const char* body : {"<Error><Code>x", "<Err", "<!-- "}) {
    EXPECT_EQ(CheckNoDocument(ResponseOf(body)).error().kind, ErrorKind::kUnavailable) << body;
  }
}

// Symptom: a 200 with an <Error> document counted as success.
TEST(DocumentTest, EveryOperationWithoutADocumentChecksForAnError) {
  const WireResponse response = ResponseOf("<Error><Code>InternalError</Code></Error>",
                                           {{"ETag", "\"e\""}, {"Content-Length", "41"}});
  const auto code_of = [](const auto& result) {
    return result.ok() ? std::string("done") : result.error().code;
  };
  EXPECT_EQ(code_of(ParseResponse(AbortMultipartUploadRequest{}, response)), "InternalError");
  EXPECT_EQ(code_of(ParseResponse(CreateBucketRequest{}, response)), "InternalError");
  EXPECT_EQ(code_of(ParseResponse(DeleteBucketRequest{}, response)), "InternalError");
  EXPECT_EQ(code_of(ParseResponse(DeleteObjectRequest{}, response)), "InternalError");
  EXPECT_EQ(code_of(ParseResponse(PutObjectRequest{}, response)), "InternalError");
  EXPECT_EQ(code_of(ParseResponse(RenameObjectRequest{}, response)), "InternalError");
  EXPECT_EQ(code_of(ParseResponse(UploadPartRequest{}, response)), "InternalError");
}

TEST(DocumentTest, NumbersMustBePresentAndComplete) {
  const auto document = ReadDocument(ResponseOf("<R><A>12</A><B>12x</B><C></C><D>-1</D></R>"), "R");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(ReadNumber(document->root(), "A").value(), 12u);
  for (const char* name : {"B", "C", "D", "E"})
    EXPECT_FALSE(ReadNumber(document->root(), name).ok()) << name;
}

TEST(DocumentTest, FlagsAndTimesHaveDefaults) {
  const auto document = ReadDocument(ResponseOf("<R><A>true</A><B>yes</B><T>junk</T></R>"), "R");
  ASSERT_TRUE(document.ok());
  EXPECT_TRUE(ReadFlag(document->root(), "A"));
  EXPECT_FALSE(ReadFlag(document->root(), "B"));
  EXPECT_EQ(ReadTime(document->root(), "T"), WallTime{});
}

TEST(DocumentTest, DecodesBothFormsOfASpaceOnlyIfDeclared) {
  const auto encoded = ReadDocument(ResponseOf("<R><EncodingType>url</EncodingType></R>"), "R");
  const auto plain = ReadDocument(ResponseOf("<R/>"), "R");
  EXPECT_EQ(NameDecoder(encoded->root()).Decode("a+b%20c%2Bd%7E*").value(), "a b c+d~*");
  EXPECT_EQ(NameDecoder(plain->root()).Decode("a+b%20c").value(), "a+b%20c");
  for (const char* broken : {"%4", "%", "a%zz", "a b+%2"}) {
    const auto decoded = NameDecoder(encoded->root()).Decode(broken);
    ASSERT_FALSE(decoded.ok()) << broken;
    EXPECT_EQ(decoded.error().kind, ErrorKind::kUnavailable);
  }
}

}  // namespace
}  // namespace penstock::s3
