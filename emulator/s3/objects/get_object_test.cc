#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class GetObjectTest : public ::testing::Test {
 protected:
  GetObjectTest() {
    s3_.Send("PUT /bucket");
    s3_.Send(
        "PUT /bucket/ten\nContent-Type: text/plain\nCache-Control: no-cache\nX-Amz-Meta-Name: "
        "Value",
        "0123456789");
    s3_.Send("PUT /bucket/empty", "");
  }
  Harness s3_;
};

TEST_F(GetObjectTest, ReturnsBytesAndHeaders) {
  const Reply reply = s3_.Send("GET /bucket/ten");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "0123456789");
  EXPECT_EQ(reply.Header("ETag"), "\"781e5e245d69b566979b86e28d23f2c7\"");  // MD5 of "0123456789".
  EXPECT_EQ(reply.Header("Last-Modified"), "Fri, 02 Jan 2026 03:04:05 GMT");
  EXPECT_EQ(reply.Header("Accept-Ranges"), "bytes");
  EXPECT_EQ(reply.Header("Content-Type"), "text/plain");
  EXPECT_EQ(reply.Header("Cache-Control"), "no-cache");
  EXPECT_EQ(reply.Header("x-amz-meta-name"), "Value");
  EXPECT_EQ(reply.Header("x-amz-server-side-encryption"), "AES256");
  EXPECT_EQ(reply.Header("x-amz-storage-class"), "<absent>");
  EXPECT_EQ(reply.Header("x-amz-version-id"), "<absent>");
  EXPECT_EQ(reply.Header("x-amz-checksum-crc64nvme"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/empty").Header("Content-Type"), "binary/octet-stream");
}

TEST_F(GetObjectTest, HeadHasTheLengthAndNoBody) {
  const Reply whole = s3_.Send("HEAD /bucket/ten");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.content_length, 10u);
  EXPECT_EQ(whole.body, "");
  const Reply part = s3_.Send("HEAD /bucket/ten\nRange: bytes=2-4");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.content_length, 3u);
  EXPECT_EQ(part.Header("Content-Range"), "bytes 2-4/10");
}

// RFC 9110, section 13.1.5: If-Range with another validator returns the whole object.
TEST_F(GetObjectTest, IfRangeOfAnotherObjectReturnsTheWholeObject) {
  const std::string get = "GET /bucket/ten\nRange: bytes=2-4\nIf-Range: ";
  const char* const same[] = {"\"781e5e245d69b566979b86e28d23f2c7\"",
                              "781e5e245d69b566979b86e28d23f2c7", "Fri, 02 Jan 2026 03:04:05 GMT"};
  for (const char* const validator : same) {
    const Reply reply = s3_.Send(get + validator);
    EXPECT_EQ(reply.status, 206) << validator;
    EXPECT_EQ(reply.body, "234") << validator;
  }
  const char* const other[] = {"\"0\"", "W/\"781e5e245d69b566979b86e28d23f2c7\"",
                               "Fri, 02 Jan 2026 03:04:04 GMT", "Fri, 02 Jan 2026 03:04:06 GMT",
                               "*"};
  for (const char* const validator : other) {
    const Reply reply = s3_.Send(get + validator);
    EXPECT_EQ(reply.status, 200) << validator;
    EXPECT_EQ(reply.body, "0123456789") << validator;
    EXPECT_EQ(reply.Header("Content-Range"), "<absent>") << validator;
  }
  // Not 416.
  EXPECT_EQ(s3_.Send("GET /bucket/ten\nRange: bytes=20-\nIf-Range: \"0\"").status, 200);
  EXPECT_EQ(s3_.Send("GET /bucket/ten\nIf-Range: \"0\"").body, "0123456789");
}

// Recorded against Amazon S3.
TEST_F(GetObjectTest, RangesAndTheirChecksums) {
  struct Case {
    const char* range;
    int status;
    const char* body;
    const char* content_range;
    bool checksum;
  };
  const Case cases[] = {
      {"bytes=0-8", 206, "012345678", "bytes 0-8/10", false},
      {"bytes=-2", 206, "89", "bytes 8-9/10", false},
      {"bytes=1-", 206, "123456789", "bytes 1-9/10", false},
      {"bytes=-15", 206, "0123456789", "bytes 0-9/10", true},
      {"bytes=0-100", 206, "0123456789", "bytes 0-9/10", true},
      {"bytes=1-0", 200, "0123456789", "<absent>", true},
      {"bytes=0-1,3-4", 200, "0123456789", "<absent>", true},
  };
  for (const Case& c : cases) {
    const Reply reply =
        s3_.Send(std::string("GET /bucket/ten\nx-amz-checksum-mode: ENABLED\nRange: ") + c.range);
    EXPECT_EQ(reply.status, c.status) << c.range;
    EXPECT_EQ(reply.body, c.body) << c.range;
    EXPECT_EQ(reply.Header("Content-Range"), c.content_range) << c.range;
    EXPECT_EQ(reply.Header("x-amz-checksum-crc64nvme") != "<absent>", c.checksum) << c.range;
    EXPECT_EQ(reply.Header("x-amz-checksum-type"), c.checksum ? "FULL_OBJECT" : "<absent>")
        << c.range;
  }
  const Reply none = s3_.Send("GET /bucket/ten\nRange: bytes=100-200");
  EXPECT_EQ(none.Outcome(), "416 InvalidRange");
  EXPECT_EQ(none.Element("RangeRequested"), "bytes=100-200");
  EXPECT_EQ(none.Element("ActualObjectSize"), "10");
}

// s3torchconnector reads empty objects with partNumber=1.
TEST_F(GetObjectTest, PartNumbersOfSinglePartObjects) {
  const Reply one = s3_.Send("GET /bucket/ten?partNumber=1");
  EXPECT_EQ(one.status, 206);
  EXPECT_EQ(one.Header("Content-Range"), "bytes 0-9/10");
  EXPECT_EQ(one.Header("x-amz-mp-parts-count"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/empty\nRange: bytes=0-8388607").Outcome(), "416 InvalidRange");
  EXPECT_EQ(s3_.Send("GET /bucket/empty?partNumber=1").Outcome(), "200");
  const Reply two = s3_.Send("GET /bucket/ten?partNumber=2");
  EXPECT_EQ(two.Outcome(), "416 InvalidPartNumber");
  EXPECT_EQ(two.Element("ActualPartCount"), "1");
  EXPECT_EQ(two.Element("PartNumberRequested"), "2");
  for (const char* bad : {"0", "10001", "x"}) {
    EXPECT_EQ(s3_.Send(std::string("GET /bucket/ten?partNumber=") + bad).Outcome(),
              "400 InvalidArgument")
        << bad;
  }
  EXPECT_EQ(s3_.Send("GET /bucket/ten?partNumber=1\nRange: bytes=0-1").Element("Message"),
            "Cannot specify both Range header and partNumber query parameter");
}

TEST_F(GetObjectTest, ResponseOverridesReplaceStoredHeaders) {
  const Reply reply = s3_.Send(
      "GET "
      "/bucket/ten?response-content-type=a%2Fb&response-content-language=de&response-expires=never&"
      "response-cache-control=c&response-content-disposition=d&response-content-encoding=e");
  EXPECT_EQ(reply.Header("Content-Type"), "a/b");
  EXPECT_EQ(reply.Header("Content-Language"), "de");
  EXPECT_EQ(reply.Header("Expires"), "never");
  EXPECT_EQ(reply.Header("Cache-Control"), "c");
  EXPECT_EQ(reply.Header("Content-Disposition"), "d");
  EXPECT_EQ(reply.Header("Content-Encoding"), "e");
  EXPECT_EQ(s3_.Send("GET /bucket/ten?response-content-type=%E2%82%AC").Element("Message"),
            "Header value cannot be represented using ISO-8859-1.");
  EXPECT_EQ(s3_.Send("GET /bucket/ten?response-content-type=a%0D%0Ab").Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(
      s3_.Send("GET /bucket/ten?response-content-disposition=%C3%A9").Header("Content-Disposition"),
      "\xE9");
  s3_.identity().access_key_id.clear();
  EXPECT_EQ(s3_.Send("GET /bucket/ten?response-content-type=a").Outcome(), "400 InvalidRequest");
}

TEST_F(GetObjectTest, ArchivedObjectsCannotBeRead) {
  s3_.Send("PUT /bucket/cold\nx-amz-storage-class: GLACIER", "x");
  const Reply reply = s3_.Send("GET /bucket/cold");
  EXPECT_EQ(reply.Outcome(), "403 InvalidObjectState");
  EXPECT_EQ(reply.Element("StorageClass"), "GLACIER");
  EXPECT_EQ(s3_.Send("HEAD /bucket/cold").Header("x-amz-storage-class"), "GLACIER");
}

TEST_F(GetObjectTest, VersionsAreAddressable) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string second = s3_.Send("PUT /bucket/ten", "new").Header("x-amz-version-id");
  EXPECT_EQ(s3_.Send("GET /bucket/ten").Header("x-amz-version-id"), second);
  const Reply old = s3_.Send("GET /bucket/ten?versionId=null");
  EXPECT_EQ(old.body, "0123456789");
  EXPECT_EQ(old.Header("x-amz-version-id"), "null");
}

TEST_F(GetObjectTest, MissingKeyIsReturnedInTheError) {
  const Reply reply = s3_.Send("GET /bucket/absent%20key");
  EXPECT_EQ(reply.Outcome(), "404 NoSuchKey");
  EXPECT_EQ(reply.Element("Key"), "absent key");
}

}  // namespace
}  // namespace penstock::emulator::s3
