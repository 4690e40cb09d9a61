#include "emulator/s3/objects/new_object.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

TEST(NewObjectTest, PutAndPostCreateEqualObjects) {
  testing::Harness s3;
  s3.Send("PUT /bucket");
  s3.Send(
      "PUT /bucket/put\nContent-Type: text/plain\nx-amz-meta-a: b\nx-amz-storage-class: "
      "STANDARD_IA",
      "body");
  const std::string field = "--b\r\nContent-Disposition: form-data; name=";
  s3.Send("POST /bucket\nContent-Type: multipart/form-data; boundary=b",
          field + "key\r\n\r\npost\r\n" + field + "content-type\r\n\r\ntext/plain\r\n" + field +
              "x-amz-meta-A\r\n\r\nb\r\n" + field + "x-amz-storage-class\r\n\r\nSTANDARD_IA\r\n" +
              field + "file\r\n\r\nbody\r\n--b--\r\n");
  const auto put = s3.Send("GET /bucket/put\nx-amz-checksum-mode: ENABLED");
  const auto post = s3.Send("GET /bucket/post\nx-amz-checksum-mode: ENABLED");
  ASSERT_EQ(put.status, 200);
  EXPECT_EQ(post.body, put.body);
  for (const char* header :
       {"ETag", "x-amz-checksum-crc64nvme", "x-amz-checksum-type", "Content-Type", "x-amz-meta-a",
        "x-amz-storage-class", "x-amz-server-side-encryption"}) {
    EXPECT_EQ(post.Header(header), put.Header(header)) << header;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
