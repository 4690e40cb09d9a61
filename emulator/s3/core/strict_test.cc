#include "emulator/s3/core/strict.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class StrictTest : public ::testing::Test {
 protected:
  StrictTest() { s3_.Send("PUT /bucket"); }
  Harness s3_;
};

TEST_F(StrictTest, UnknownAmzHeadersAreRefusedByName) {
  for (const char* header :
       {"x-amz-frobnicate", "X-Amz-Write-Offset-Bytes", "x-amz-server-side-encryption-foo",
        "x-amz-object-lock-event-hold", "x-amz-bypass-governance-retention", "x-amz-if-match-size",
        "x-amz-grant-foo", "x-amz-rename-source"}) {
    const Reply reply = s3_.Send(std::string("PUT /bucket/k\n") + header + ": 1", "x");
    EXPECT_EQ(reply.Outcome(), "501 NotImplemented") << header;
    EXPECT_EQ(reply.Element("Header"), header);
    EXPECT_EQ(reply.Element("Message"),
              "A header you provided implies functionality that is not implemented");
  }
  EXPECT_EQ(s3_.Send("GET /bucket/k").status, 404);
}

TEST_F(StrictTest, HeaderSectionsAreLimitedToEightKibibytes) {
  EXPECT_EQ(
      s3_.Send("PUT /bucket/k\nContent-Disposition: " + std::string(7900, 'd'), "x").Outcome(),
      "200");
  const Reply reply =
      s3_.Send("PUT /bucket/k\nContent-Disposition: " + std::string(8192, 'd'), "x");
  EXPECT_EQ(reply.Outcome(), "400 RequestHeaderSectionTooLarge");
  EXPECT_EQ(reply.Element("MaxSizeAllowed"), "8192");
}

TEST_F(StrictTest, ReturnsTheHeaderFamiliesOfARequest) {
  RequestHead head;
  head.headers = {{"Host", "h"}, {"X-Amz-Grant-Read", "id=1"}};
  EXPECT_TRUE(RefuseUnknown(head, {}, false)->acl);
  EXPECT_FALSE(RefuseUnknown(head, {}, false)->encryption);
  head.headers = {{"x-amz-checksum-crc32", "x"}};
  EXPECT_TRUE(RefuseUnknown(head, {}, false)->checksum);
  head.headers = {{"x-amz-trailer", "x"}, {"x-amz-meta-a", "1"}, {"x-amz-copy-source", "b/k"}};
  EXPECT_TRUE(RefuseUnknown(head, {}, false)->checksum);
  EXPECT_TRUE(RefuseUnknown(head, {}, false)->metadata);
  EXPECT_TRUE(RefuseUnknown(head, {}, false)->copy_source);
  head.headers = {{"x-amz-checksum-mode", "ENABLED"},
                  {"x-amz-checksum-type", "COMPOSITE"},
                  {"x-amz-date", "d"}};
  EXPECT_FALSE(RefuseUnknown(head, {}, false)->checksum);
  head.headers = {{"x-amz-server-side-encryption-customer-key-MD5", "x"}};
  EXPECT_TRUE(RefuseUnknown(head, {}, false)->encryption);
  Target target;
  target.query = {{"x-amz-object-lock-mode", "COMPLIANCE"}};
  head.headers.clear();
  EXPECT_TRUE(RefuseUnknown(head, target, true)->object_lock);
  EXPECT_FALSE(RefuseUnknown(head, target, false)->object_lock);
}

// Headers that real clients send and that need no effect.
TEST_F(StrictTest, HeadersOfRealClientsAreAccepted) {
  const Reply put = s3_.Send(
      "PUT /bucket/k?x-id=PutObject\namz-sdk-invocation-id: 1\namz-sdk-request: "
      "attempt=1\nX-Amz-Date: 20260102T030405Z\n"
      "X-Amz-Content-SHA256: UNSIGNED-PAYLOAD\nX-Amz-Security-Token: t\nx-amz-user-agent: "
      "a\nx-amz-request-payer: requester\n"
      "x-amz-sdk-checksum-algorithm: CRC32\nx-amz-checksum-crc32: "
      "NhCmhg==\nx-amz-decoded-content-length: 5\n"
      "x-amz-expected-bucket-owner: 123456789012\nX-Amzn-Trace-Id: x\nx-amz-meta-a: 1\nx-amz-acl: "
      "private",
      "hello");
  EXPECT_EQ(put.Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /bucket/k\nx-amz-checksum-mode: ENABLED").Outcome(), "200");
  EXPECT_EQ(
      s3_.Send("GET /bucket?list-type=2&delimiter=&prefix=\nx-amz-optional-object-attributes: "
               "RestoreStatus")
          .Outcome(),
      "200");
  // s3fs: CreateMultipartUpload of a rename.
  EXPECT_EQ(s3_.Send("POST /bucket/k?uploads\nx-amz-metadata-directive: REPLACE").Outcome(), "200");
}

TEST_F(StrictTest, HeadersOfOneBucketOperationAreRefusedElsewhere) {
  for (const char* header :
       {"x-amz-object-ownership", "x-amz-bucket-namespace",
        "x-amz-transition-default-minimum-object-size", "x-amz-skip-destination-validation",
        "x-amz-confirm-remove-self-bucket-access", "x-amz-bucket-object-lock-token"}) {
    const Reply reply = s3_.Send(std::string("PUT /bucket/k\n") + header + ": 1", "x");
    EXPECT_EQ(reply.Outcome(), "501 NotImplemented") << header;
    EXPECT_EQ(reply.Element("Header"), header);
  }
}

TEST_F(StrictTest, UnknownSubResourcesAreRefusedAndOtherParametersIgnored) {
  EXPECT_EQ(s3_.Send("GET /bucket?frobnicate").Outcome(), "501 NotImplemented");
  EXPECT_EQ(s3_.Send("GET /bucket?frobnicate=1").Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /bucket/k?object-lock").Outcome(), "501 NotImplemented");
}

TEST_F(StrictTest, PresignedQueriesFollowTheSameRule) {
  const std::string signed_query =
      "?X-Amz-Algorithm=A&X-Amz-Credential=C&X-Amz-Date=D&X-Amz-Expires=1&X-Amz-SignedHeaders="
      "host&X-Amz-Signature=s";
  EXPECT_EQ(s3_.Send("PUT /bucket/k" + signed_query, "x").Outcome(), "200");
  EXPECT_EQ(
      s3_.Send("PUT /bucket/k" + signed_query + "&x-amz-meta-a=1&x-amz-storage-class=STANDARD_IA",
               "x")
          .Outcome(),
      "200");
  const Reply head = s3_.Send("HEAD /bucket/k");
  EXPECT_EQ(head.Header("x-amz-meta-a"), "1");
  EXPECT_EQ(head.Header("x-amz-storage-class"), "STANDARD_IA");
  // S3 ignores these in a query (IsHeaderInQuery).
  const std::string ignored = "&X-Amz-Meta-A=1&X-Amz-Storage-Class=STANDARD_IA&x-amz-tagging=a%3D1";
  EXPECT_EQ(s3_.Send("PUT /bucket/other" + signed_query + ignored, "x").Outcome(), "200");
  const Reply other = s3_.Send("HEAD /bucket/other");
  EXPECT_EQ(other.Header("x-amz-meta-a"), "<absent>");
  EXPECT_EQ(other.Header("x-amz-storage-class"), "<absent>");
  EXPECT_EQ(s3_.Send("HEAD /bucket/other").Header("x-amz-tagging-count"), "<absent>");
  EXPECT_EQ(s3_.Send("PUT /bucket/k" + signed_query + "&X-Amz-Write-Offset-Bytes=1", "x").Outcome(),
            "501 NotImplemented");
  EXPECT_EQ(s3_.Send("PUT /bucket/k" + signed_query + "&x-amz-write-offset-bytes=1", "x").Outcome(),
            "501 NotImplemented");
}

}  // namespace
}  // namespace penstock::emulator::s3
