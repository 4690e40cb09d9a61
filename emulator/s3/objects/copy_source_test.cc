#include "emulator/s3/objects/copy_source.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;

constexpr const char* kVersion = "0123456789abcdefABCDEF._01234567";

TEST(CopySourceTest, AcceptedForms) {
  const std::pair<std::string, std::string> cases[] = {
      {"/bucket/key", "key"},
      {"bucket/key", "key"},
      {"bucket%2Fa%2Fb", "a/b"},
      {"%2Fbucket/a", "a"},
      {"bucket/a+b%2Bc", "a b+c"},
      {"bucket/dir/", "dir/"},
      {"bucket//a", "/a"},
      {"https://s3.amazonaws.com/bucket/k%20y", "k y"},
      {"bucket/what%3FversionId=x", "what?versionId=x"},
  };
  for (const auto& [header, key] : cases) {
    const auto source = ParseCopySource(header);
    ASSERT_TRUE(source.ok()) << header;
    EXPECT_EQ(source->bucket.value, "bucket") << header;
    EXPECT_EQ(source->key.value, key) << header;
    EXPECT_FALSE(source->version.has_value()) << header;
  }
  const auto version = ParseCopySource(std::string("/bucket/key?versionId=") + kVersion);
  ASSERT_TRUE(version.ok());
  EXPECT_EQ(version->version->value, kVersion);
}

TEST(CopySourceTest, RefusedForms) {
  const std::pair<const char*, const char*> cases[] = {
      {"bucket", "Invalid copy source object key"},
      {"/bucket/", "Invalid copy source object key"},
      {"", "Invalid copy source bucket name"},
      {"/UPPER/k", "Invalid copy source bucket name"},
      {"bucket/%zz", "Invalid copy source encoding"},
      {"bucket/k?versionId=x", "Invalid version id specified"}};
  for (const auto& [header, message] : cases) {
    const auto source = ParseCopySource(header);
    ASSERT_FALSE(source.ok()) << header;
    EXPECT_EQ(source.error().code, "InvalidArgument") << header;
    EXPECT_EQ(source.error().message, message) << header;
  }
  EXPECT_EQ(ParseCopySource("arn:aws:s3:us-east-1:1:accesspoint/x/object/k").error().code,
            "NotImplemented");
}

// As for every other key (put_object_test.cc).
TEST(CopySourceTest, KeyMustBeUtf8) {
  EXPECT_EQ(ParseCopySource("bucket/%ff").error().code, "InvalidURI");
  EXPECT_EQ(ParseCopySource("bucket/a%C3").error().code, "InvalidURI");
  EXPECT_EQ(ParseCopySource("bucket/\xff").error().code, "InvalidURI");
  EXPECT_TRUE(ParseCopySource("bucket/%C3%A9").ok());
}

class OpenCopySourceTest : public ::testing::Test {
 protected:
  OpenCopySourceTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k", "hello");
    s3_.clock().Advance(std::chrono::hours(1));
  }
  std::string Copy(const std::string& headers) {
    return s3_.Send("PUT /bucket/to\n" + headers).Outcome();
  }
  Harness s3_;
};

TEST_F(OpenCopySourceTest, MissingSourcesAreReturnedInTheError) {
  EXPECT_EQ(Copy("x-amz-copy-source: /absent/k"), "404 NoSuchBucket");
  EXPECT_EQ(s3_.Send("PUT /bucket/to\nx-amz-copy-source: /absent/k").Element("BucketName"),
            "absent");
  EXPECT_EQ(s3_.Send("PUT /bucket/to\nx-amz-copy-source: /bucket/absent").Element("Key"), "absent");
  EXPECT_EQ(Copy("x-amz-copy-source: /bucket/k?versionId=" + store::MakeVersionId(1).value),
            "404 NoSuchVersion");
  EXPECT_EQ(Copy(std::string("x-amz-copy-source: /bucket/k?versionId=") + kVersion),
            "400 InvalidArgument");
}

TEST_F(OpenCopySourceTest, DeleteMarkersCannotBeCopied) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string marker = s3_.Send("DELETE /bucket/k").Header("x-amz-version-id");
  EXPECT_EQ(Copy("x-amz-copy-source: /bucket/k"), "404 NoSuchKey");
  const auto by_id = s3_.Send("PUT /bucket/to\nx-amz-copy-source: /bucket/k?versionId=" + marker);
  EXPECT_EQ(by_id.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(
      by_id.Element("Message"),
      "The source of a copy request may not specifically refer to a delete marker by version id.");
}

// All failed source conditions are 412.
TEST_F(OpenCopySourceTest, FailedSourceConditionsReturn412) {
  const std::string etag = "5d41402abc4b2a76b9719d911017c592";
  const std::tuple<std::string, const char*, const char*> cases[] = {
      {"if-match: " + etag, "200", "<absent>"},
      {"if-match: x", "412 PreconditionFailed", "x-amz-copy-source-If-Match"},
      {"if-none-match: " + etag, "412 PreconditionFailed", "x-amz-copy-source-If-None-Match"},
      {"if-none-match: x", "200", "<absent>"},
      {"if-modified-since: Fri, 02 Jan 2026 03:04:05 GMT", "412 PreconditionFailed",
       "x-amz-copy-source-If-Modified-Since"},
      {"if-unmodified-since: Fri, 02 Jan 2026 03:04:04 GMT", "412 PreconditionFailed",
       "x-amz-copy-source-If-Unmodified-Since"},
  };
  for (const auto& [condition, outcome, element] : cases) {
    const auto reply =
        s3_.Send("PUT /bucket/to\nx-amz-copy-source: /bucket/k\nx-amz-copy-source-" + condition);
    EXPECT_EQ(reply.Outcome(), outcome) << condition;
    EXPECT_EQ(reply.Element("Condition"), element) << condition;
  }
}

TEST(RefuseCopySourceTest, CopySourceIsRefusedOnOtherOperations) {
  testing::Harness s3;
  s3.Send("PUT /bucket");
  for (const char* target : {"POST /bucket/k?uploads", "POST /bucket/k?uploadId=u", "GET /bucket/k",
                             "DELETE /bucket/k"}) {
    const auto reply = s3.Send(std::string(target) + "\nx-amz-copy-source: /bucket/a");
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << target;
    EXPECT_EQ(reply.Element("Message"),
              "You can only specify a copy source header for copy requests.");
    EXPECT_EQ(reply.Element("ArgumentName"), "x-amz-copy-source");
  }
}

TEST(RefuseCopySourceTest, RangeIsOnlyForPartCopies) {
  testing::Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/a", "hello");
  for (const char* request : {"PUT /bucket/k\nx-amz-copy-source: /bucket/a", "PUT /bucket/k"}) {
    const auto reply = s3.Send(std::string(request) + "\nx-amz-copy-source-range: bytes=1-2");
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << request;
    EXPECT_EQ(reply.Element("Message"), "The specified header is not valid in this context");
    EXPECT_EQ(reply.Element("ArgumentName"), "x-amz-copy-source-range");
    EXPECT_EQ(reply.Element("ArgumentValue"), "bytes=1-2");
    EXPECT_EQ(s3.Send("GET /bucket/k").Outcome(), "404 NoSuchKey") << request;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
