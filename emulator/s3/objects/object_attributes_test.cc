#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class ObjectAttributesTest : public ::testing::Test {
 protected:
  ObjectAttributesTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k", "hello");
  }
  Reply Get(const std::string& headers) { return s3_.Send("GET /bucket/k?attributes\n" + headers); }
  Harness s3_;
};

// Elements in order, unquoted ETag, STANDARD shown, and no ObjectParts for a single-part object.
TEST_F(ObjectAttributesTest, ReturnsElementsInOrder) {
  const Reply reply =
      Get("x-amz-object-attributes: ObjectSize,StorageClass, ObjectParts,Checksum,ETag");
  EXPECT_TRUE(reply.body.ends_with(
      "<ETag>5d41402abc4b2a76b9719d911017c592</ETag><Checksum><ChecksumCRC64NVME>M3eFcAZSQlc=</"
      "ChecksumCRC64NVME>"
      "<ChecksumType>FULL_OBJECT</ChecksumType></Checksum><StorageClass>STANDARD</"
      "StorageClass><ObjectSize>5</ObjectSize>"
      "</GetObjectAttributesResponse>"))
      << reply.body;
  EXPECT_EQ(reply.Header("Last-Modified"), "Fri, 02 Jan 2026 03:04:05 GMT");
}

TEST_F(ObjectAttributesTest, HeadersCanRepeatAndUnknownNamesAreRefused) {
  const Reply two = Get("x-amz-object-attributes: ETag\nx-amz-object-attributes: ObjectSize");
  EXPECT_NE(two.Element("ETag"), "<absent>");
  EXPECT_EQ(two.Element("ObjectSize"), "5");
  EXPECT_EQ(Get("x-amz-object-attributes: Etag").Element("Message"),
            "Invalid attribute name specified.");
  const Reply missing = s3_.Send("GET /bucket/k?attributes");
  EXPECT_EQ(missing.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(missing.Element("Message"),
            "The x-amz-object-attributes header specifying the attributes to be retrieved is "
            "either missing or empty");
  EXPECT_EQ(s3_.Send("GET /bucket/absent?attributes\nx-amz-object-attributes: ETag").Outcome(),
            "404 NoSuchKey");
}

}  // namespace
}  // namespace penstock::emulator::s3
