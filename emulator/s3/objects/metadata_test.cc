#include "emulator/s3/objects/metadata.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class MetadataTest : public ::testing::Test {
 protected:
  MetadataTest() { s3_.Send("PUT /bucket"); }
  Reply Put(const std::string& headers) { return s3_.Send("PUT /bucket/k\n" + headers, "x"); }
  Reply Head() { return s3_.Send("HEAD /bucket/k"); }
  Harness s3_;
};

TEST_F(MetadataTest, ContentHeadersAreReturned) {
  Put("Content-Type: a/b\nContent-Disposition: attachment; x=\"\xE9\"\nContent-Language: "
      "de\nExpires: later\n"
      "x-amz-website-redirect-location: /there");
  const Reply head = Head();
  EXPECT_EQ(head.Header("Content-Type"), "a/b");
  EXPECT_EQ(head.Header("Content-Disposition"), "attachment; x=\"\xE9\"");  // Raw bytes.
  EXPECT_EQ(head.Header("Content-Language"), "de");
  EXPECT_EQ(head.Header("Expires"), "later");
  EXPECT_EQ(head.Header("x-amz-website-redirect-location"), "/there");
}

TEST_F(MetadataTest, AwsChunkedIsNotStored) {
  Put("Content-Encoding: aws-chunked,gzip");
  EXPECT_EQ(Head().Header("Content-Encoding"), "gzip");
  Put("Content-Encoding: gzip,  br ,");
  EXPECT_EQ(Head().Header("Content-Encoding"), "gzip,  br ,") << "recorded against Amazon S3";
  Put("Content-Encoding: aws-chunked");
  EXPECT_EQ(Head().Header("Content-Encoding"), "<absent>");
}

TEST_F(MetadataTest, UserMetadataNamesAreLowerCaseAndValuesRfc2047) {
  Put("X-AMZ-Meta-Name: Plain\nx-amz-meta-word: =?UTF-8?B?aGVsbG8=?=\nx-amz-meta-q: "
      "=?UTF-8?Q?a=20b_c?=\n"
      "x-amz-meta-utf: \xC3\xA9\nx-amz-meta-dup: 1\nx-amz-meta-dup: 2");
  const Reply head = Head();
  EXPECT_EQ(head.Header("x-amz-meta-name"), "Plain");
  EXPECT_EQ(head.Header("x-amz-meta-word"), "hello");
  EXPECT_EQ(head.Header("x-amz-meta-q"), "a b c");
  // U+00E9 in UTF-8, read as ISO-8859-1.
  EXPECT_EQ(head.Header("x-amz-meta-utf"), "=?UTF-8?B?w4PCqQ==?=");
  EXPECT_EQ(head.Header("x-amz-meta-dup"), "1,2");
}

// Recorded against Amazon S3. "a\r\nb: " would split the header.
TEST_F(MetadataTest, ControlCharactersAreReturnedEncoded) {
  Put("x-amz-meta-evil: =?UTF-8?B?YQ0KYjog?=\nx-amz-meta-bell: =?UTF-8?Q?=07?=\nx-amz-meta-fine: "
      "yes");
  const Reply head = Head();
  EXPECT_EQ(head.Header("x-amz-meta-evil"), "=?UTF-8?B?YQ0KYjog?=");
  EXPECT_EQ(head.Header("x-amz-meta-bell"), "=?UTF-8?B?Bw==?=");
  EXPECT_EQ(head.Header("x-amz-meta-fine"), "yes");
  s3_.Send("PUT /bucket/copy\nx-amz-copy-source: /bucket/k");
  EXPECT_EQ(s3_.Send("HEAD /bucket/copy").Header("x-amz-meta-bell"), "=?UTF-8?B?Bw==?=");
}

// Regression: a presigned PUT with x-amz-meta-a=1 in its query stored "1,1".
TEST_F(MetadataTest, QueryParametersThatAreAlsoHeadersCountOnce) {
  const std::string query =
      "?x-amz-meta-a=1&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=c&X-Amz-Date=d&X-Amz-"
      "Expires=1"
      "&X-Amz-SignedHeaders=host&X-Amz-Signature=s";
  EXPECT_EQ(s3_.Send("PUT /bucket/k" + query + "\nx-amz-meta-a: 1").Outcome(), "200");
  EXPECT_EQ(Head().Header("x-amz-meta-a"), "1");
  EXPECT_EQ(s3_.Send("PUT /bucket/k" + query).Outcome(), "200");
  EXPECT_EQ(Head().Header("x-amz-meta-a"), "1");
}

// Query parameters are UTF-8, headers ISO-8859-1 (recorded against Amazon S3).
TEST_F(MetadataTest, MetadataInAQueryIsUtf8) {
  const std::string presigned = "?X-Amz-Signature=s";
  EXPECT_EQ(s3_.Send("PUT /bucket/k" + presigned + "&x-amz-meta-a=%C3%A9").Outcome(), "200");
  EXPECT_EQ(Head().Header("x-amz-meta-a"), "=?UTF-8?B?w6k=?=");
  EXPECT_EQ(s3_.Send("PUT /bucket/k" + presigned + "&x-amz-meta-a=a%20%07").Outcome(), "200");
  EXPECT_EQ(Head().Header("x-amz-meta-a"), "=?UTF-8?B?YSAH?=");
}

// The limit is 2 KB for the sum of names and values.
TEST_F(MetadataTest, UserMetadataIsLimited) {
  EXPECT_EQ(Put("x-amz-meta-a: " + std::string(2047, 'v')).Outcome(), "200");
  const Reply reply = Put("x-amz-meta-a: " + std::string(2048, 'v'));
  EXPECT_EQ(reply.Outcome(), "400 MetadataTooLarge");
  EXPECT_EQ(reply.Element("Size"), "2049");
  EXPECT_EQ(reply.Element("MaxSizeAllowed"), "2048");
  // 1023 letters of two bytes each, whatever the size of their encoding.
  std::string umlauts(1023, '\xE4');
  EXPECT_EQ(Put("x-amz-meta-a: " + umlauts).Outcome(), "200");
  EXPECT_EQ(Put("x-amz-meta-ab: " + umlauts + "xx").Element("Size"), "2050");
}

TEST_F(MetadataTest, StorageClassAclAndEncryptionAreChecked) {
  EXPECT_EQ(Put("x-amz-storage-class: STANDARD_IA").Outcome(), "200");
  EXPECT_EQ(Head().Header("x-amz-storage-class"), "STANDARD_IA");
  const Reply unknown = Put("x-amz-storage-class: COLD");
  EXPECT_EQ(unknown.Outcome(), "400 InvalidStorageClass");
  EXPECT_EQ(unknown.Element("StorageClassRequested"), "COLD");
  EXPECT_EQ(Put("x-amz-acl: bucket-owner-full-control").Outcome(), "200");
  EXPECT_EQ(Put("x-amz-acl: public-read").Outcome(), "400 AccessControlListNotSupported");
}

// BucketOwnerEnforced is the default.
TEST_F(MetadataTest, GrantsAreRefusedWhereAclsAreDisabled) {
  const Reply grant = Put("x-amz-grant-read: id=\"" + std::string(64, 'b') + "\"");
  EXPECT_EQ(grant.Outcome(), "400 AccessControlListNotSupported");
  EXPECT_EQ(grant.Element("Message"), "The bucket does not allow ACLs");
  const Reply both = Put("x-amz-grant-read: id=\"a\"\nx-amz-acl: private");
  EXPECT_EQ(both.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(both.Element("Message"),
            "Specifying both Canned ACLs and Header Grants is not allowed");
}

TEST_F(MetadataTest, WebsiteRedirectsNeedAPathOrAUrl) {
  const Reply reply = Put("x-amz-website-redirect-location: there");
  EXPECT_EQ(reply.Outcome(), "400 InvalidRedirectLocation");
  EXPECT_EQ(reply.Element("Message"),
            "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.");
  EXPECT_EQ(Put("x-amz-website-redirect-location: https://host/x").Outcome(), "200");
  EXPECT_EQ(Put("x-amz-website-redirect-location: /" + std::string(2048, 'x')).Outcome(),
            "400 InvalidRedirectLocation");
}

TEST(NewObjectTest, PutAndPostCreateEqualObjects) {
  Harness s3;
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
