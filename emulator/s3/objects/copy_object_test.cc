#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class CopyObjectTest : public ::testing::Test {
 protected:
  CopyObjectTest() : s3_({.min_part_size_bytes = 1}) {
    s3_.Send("PUT /bucket");
    s3_.Send(
        "PUT /bucket/k\nContent-Type: a/b\nx-amz-meta-m: 1\nx-amz-tagging: "
        "t=1\nx-amz-storage-class: STANDARD_IA\n"
        "x-amz-website-redirect-location: /x",
        "hello");
  }
  Reply Copy(const std::string& to, const std::string& headers = "") {
    return s3_.Send("PUT /bucket/" + to + "\nx-amz-copy-source: /bucket/k" + headers);
  }
  Harness s3_;
};

TEST_F(CopyObjectTest, CopyKeepsTheSourcesMetadata) {
  const Reply reply = Copy("to", "\nContent-Type: c/d\nx-amz-meta-m: 2\nx-amz-meta-n: 3");
  EXPECT_EQ(reply.Outcome(), "200");
  EXPECT_EQ(reply.Element("ETag"), "&quot;5d41402abc4b2a76b9719d911017c592&quot;");
  EXPECT_EQ(reply.Element("LastModified"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(reply.Element("ChecksumCRC64NVME"), "M3eFcAZSQlc=");
  EXPECT_EQ(reply.Element("ChecksumType"), "FULL_OBJECT");
  const Reply to = s3_.Send("GET /bucket/to");
  EXPECT_EQ(to.body, "hello");
  EXPECT_EQ(to.Header("Content-Type"), "a/b");
  EXPECT_EQ(to.Header("x-amz-meta-m"), "1");
  EXPECT_EQ(to.Header("x-amz-meta-n"), "<absent>");
  EXPECT_EQ(to.Header("x-amz-tagging-count"), "1");
  EXPECT_EQ(to.Header("x-amz-storage-class"), "<absent>");
  EXPECT_EQ(to.Header("x-amz-website-redirect-location"), "<absent>");
}

TEST_F(CopyObjectTest, ReplaceUsesTheRequestsMetadata) {
  Copy("to",
       "\nx-amz-metadata-directive: REPLACE\nx-amz-meta-n: 3\nx-amz-tagging-directive: REPLACE");
  const Reply to = s3_.Send("GET /bucket/to");
  EXPECT_EQ(to.Header("Content-Type"), "binary/octet-stream");
  EXPECT_EQ(to.Header("x-amz-meta-m"), "<absent>");
  EXPECT_EQ(to.Header("x-amz-meta-n"), "3");
  EXPECT_EQ(to.Header("x-amz-tagging-count"), "<absent>");
  EXPECT_EQ(Copy("to", "\nx-amz-metadata-directive: MERGE").Element("Message"),
            "Unknown metadata directive.");
  EXPECT_EQ(Copy("to", "\nx-amz-tagging-directive: MERGE").Outcome(), "400 InvalidArgument");
}

TEST_F(CopyObjectTest, CopyToItselfMustChangeSomething) {
  const Reply refused = Copy("k");
  EXPECT_EQ(refused.Outcome(), "400 InvalidRequest");
  EXPECT_TRUE(refused.Element("Message").starts_with(
      "This copy request is illegal because it is trying to copy"));
  for (const char* headers :
       {"\nx-amz-metadata-directive: REPLACE", "\nx-amz-storage-class: STANDARD",
        "\nx-amz-website-redirect-location: /y", "\nx-amz-server-side-encryption: AES256"}) {
    EXPECT_EQ(Copy("k", headers).Outcome(), "200") << headers;
  }
  EXPECT_EQ(s3_.Send("PUT /bucket/k\nx-amz-copy-source: /bucket/k?versionId=null").Outcome(),
            "200");
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "hello");
}

TEST_F(CopyObjectTest, ChecksumAlgorithmCanBeChosen) {
  EXPECT_EQ(Copy("to", "\nx-amz-checksum-algorithm: SHA1").Element("ChecksumSHA1"),
            "qvTGHdzF6KLavt4PO0gs2a6pQ00=");
  EXPECT_EQ(Copy("to", "\nx-amz-checksum-algorithm: FOO").Outcome(), "400 InvalidRequest");
}

TEST_F(CopyObjectTest, CopiesOfMultipartObjectsHaveAPlainETagAndAFullChecksum) {
  const std::string id =
      s3_.Send("POST /bucket/mp?uploads\nx-amz-checksum-algorithm: SHA256").Element("UploadId");
  const Reply part =
      s3_.Send("PUT /bucket/mp?partNumber=1&uploadId=" + id +
                   "\nx-amz-checksum-sha256: LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
               "hello");
  s3_.Send("POST /bucket/mp?uploadId=" + id,
           "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" + part.Header("ETag") +
               "</ETag><ChecksumSHA256>" + part.Header("x-amz-checksum-sha256") +
               "</ChecksumSHA256></Part></CompleteMultipartUpload>");
  // MD5 of the part's MD5.
  ASSERT_EQ(s3_.Send("HEAD /bucket/mp").Header("ETag"), "\"62109206880d38a4010a98e11243924a-1\"");
  const Reply copy = s3_.Send("PUT /bucket/to\nx-amz-copy-source: /bucket/mp");
  EXPECT_EQ(copy.Element("ETag"), "&quot;5d41402abc4b2a76b9719d911017c592&quot;");
  EXPECT_EQ(copy.Element("ChecksumSHA256"), "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=");
  EXPECT_EQ(copy.Element("ChecksumType"), "FULL_OBJECT");
}

TEST_F(CopyObjectTest, CopiesShareBytes) {
  Copy("to");
  const auto from = s3_.store().FindObject(BucketName("bucket"), ObjectKey("k"));
  const auto to = s3_.store().FindObject(BucketName("bucket"), ObjectKey("to"));
  ASSERT_TRUE(from.ok() && to.ok());
  ASSERT_EQ((*to)->content.slices.size(), 1u);
  EXPECT_EQ((*to)->content.slices[0].blob->size(), (*from)->content.slices[0].blob->size());
  s3_.Send("DELETE /bucket/k");
  EXPECT_EQ(s3_.Send("GET /bucket/to").body, "hello");
}

TEST_F(CopyObjectTest, VersionedBucketsReturnBothVersions) {
  s3_.SetVersioning("bucket", "Enabled");
  const Reply reply = Copy("to");
  EXPECT_EQ(reply.Header("x-amz-copy-source-version-id"), "<absent>") << "recorded for null";
  EXPECT_EQ(reply.Header("x-amz-version-id").size(), 32u);
  const std::string version = s3_.Send("PUT /bucket/k", "new").Header("x-amz-version-id");
  EXPECT_EQ(Copy("to").Header("x-amz-copy-source-version-id"), version);
}

// Recorded against Amazon S3 with a copy of an object to itself, in a bucket that went from no
// versioning to suspended.
TEST_F(CopyObjectTest, SuspendedBucketsReturnOnlyTheNewNullVersion) {
  s3_.SetVersioning("bucket", "Suspended");
  const Reply reply = Copy("to");
  EXPECT_EQ(reply.Header("x-amz-version-id"), "null");
  EXPECT_EQ(reply.Header("x-amz-copy-source-version-id"), "<absent>");
}

// Recorded against Amazon S3: any configured default encryption counts as a change, even if it
// equals the previous one.
TEST_F(CopyObjectTest, CopyToItselfWithADefaultEncryption) {
  ASSERT_EQ(Copy("k").Outcome(), "400 InvalidRequest");
  ASSERT_EQ(s3_.SendDocument("PUT /bucket?encryption",
                             "<ServerSideEncryptionConfiguration><Rule><"
                             "ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256"
                             "</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></"
                             "ServerSideEncryptionConfiguration>")
                .Outcome(),
            "200");
  EXPECT_EQ(Copy("k").Outcome(), "200");
  s3_.Send("DELETE /bucket?encryption");
  EXPECT_EQ(Copy("k").Outcome(), "400 InvalidRequest");
}

// Recorded against Amazon S3.
TEST_F(CopyObjectTest, CopyToItselfRemovesTheEncryptionByKms) {
  s3_.Send("PUT /bucket/k\nx-amz-server-side-encryption: aws:kms", "hello");
  const Reply reply = Copy("k");
  EXPECT_EQ(reply.Outcome(), "200");
  EXPECT_EQ(reply.Header("x-amz-server-side-encryption"), "AES256");
  EXPECT_EQ(Copy("k").Outcome(), "400 InvalidRequest") << "unchanged now";
}

TEST_F(CopyObjectTest, DestinationConditionsAreChecked) {
  EXPECT_EQ(Copy("to", "\nIf-None-Match: *").Outcome(), "200");
  EXPECT_EQ(Copy("to", "\nIf-None-Match: *").Outcome(), "412 PreconditionFailed");
}

TEST(CopyArchivedTest, ArchivedSourcesCannotBeCopied) {
  testing::Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/cold\nx-amz-storage-class: DEEP_ARCHIVE", "x");
  const auto reply = s3.Send("PUT /bucket/copy\nx-amz-copy-source: /bucket/cold");
  EXPECT_EQ(reply.Outcome(), "403 InvalidObjectState");
  EXPECT_EQ(reply.Element("StorageClass"), "DEEP_ARCHIVE");
  EXPECT_EQ(s3.Send("HEAD /bucket/cold").Header("x-amz-storage-class"), "DEEP_ARCHIVE");
}

}  // namespace
}  // namespace penstock::emulator::s3
