#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

const CreateMultipartUploadRequest kCreateMultipartUpload{.bucket = BucketName("b"),
                                                          .key = ObjectKey("k")};

TEST(CreateMultipartUploadTest, DeclaresTheChecksumOfTheWholeObject) {
  EXPECT_EQ(Golden(BuildRequest(kCreateMultipartUpload, Context())),
            "POST /b/k?uploads=\nx-amz-checksum-algorithm: CRC64NVME\nx-amz-checksum-type: "
            "FULL_OBJECT\n\n");
}

TEST(CreateMultipartUploadTest, SendsTheAttributes) {
  CreateMultipartUploadRequest request = kCreateMultipartUpload;
  request.attributes = {.content_type = "text/plain", .user_metadata = {{"a", "1"}}};
  EXPECT_EQ(Golden(BuildRequest(request, WithoutChecksums())),
            "POST /b/k?uploads=\nContent-Type: text/plain\nx-amz-meta-a: 1\n\n");
}

TEST(CreateMultipartUploadTest, ReadsTheUploadId) {
  const auto response = ParseResponse(
      kCreateMultipartUpload, ResponseOf("<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</"
                                         "Key><UploadId>u.1_2-3</UploadId>"
                                         "</InitiateMultipartUploadResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->upload_id.value, "u.1_2-3");
}

TEST(CreateMultipartUploadTest, TheKeyMayContainANul) {
  const auto response = ParseResponse(
      kCreateMultipartUpload, ResponseOf("<InitiateMultipartUploadResult><Key>a&#x0;b</Key>"
                                         "<UploadId>u</UploadId></InitiateMultipartUploadResult>"));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->upload_id.value, "u");
}

TEST(CreateMultipartUploadTest, ChecksumOfTheWholeObjectNeedsConfirmation) {
  const std::string document =
      "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
  const auto keeps = [&](std::vector<http::Header> headers) {
    return ParseResponse(kCreateMultipartUpload, ResponseOf(document, std::move(headers)))
        .value()
        .keeps_crc64nvme;
  };
  EXPECT_TRUE(
      keeps({{"x-amz-checksum-algorithm", "CRC64NVME"}, {"x-amz-checksum-type", "FULL_OBJECT"}}));
  EXPECT_FALSE(keeps({}));
  EXPECT_FALSE(keeps({{"x-amz-checksum-algorithm", "CRC32"}}));
}

TEST(CreateMultipartUploadTest, ReadsTheUploadIdFromOtherRootNames) {
  const auto response = ParseResponse(
      kCreateMultipartUpload,
      ResponseOf("<InitiateMultipartUpload><UploadId>u</UploadId></InitiateMultipartUpload>"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->upload_id.value, "u");
}

TEST(CreateMultipartUploadTest, AResponseWithoutAnIdIsRetried) {
  EXPECT_EQ(ParseResponse(kCreateMultipartUpload, ResponseOf("<InitiateMultipartUploadResult/>"))
                .error()
                .kind,
            ErrorKind::kUnavailable);
}

UploadPartRequest UploadPartOf(BodySource& body) {
  return {.bucket = BucketName("b"),
          .key = ObjectKey("k"),
          .upload_id = UploadId("u"),
          .part_number = 7,
          .body = &body};
}

TEST(UploadPartTest, SendsPartNumberUploadIdAndChecksum) {
  StringSource body("123456789");
  EXPECT_EQ(Golden(BuildRequest(UploadPartOf(body), Context())),
            "PUT /b/k?partNumber=7&uploadId=u\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  EXPECT_EQ(Golden(BuildRequest(UploadPartOf(body), WithoutChecksums())),
            "PUT /b/k?partNumber=7&uploadId=u\n\n");
}

TEST(UploadPartTest, SendsAKnownChecksumWithoutReadingTheBody) {
  StringSource body("123456789");
  body.known_crc64nvme = 0xae8b14860a799888;
  EXPECT_EQ(Golden(BuildRequest(UploadPartOf(body), Context())),
            "PUT /b/k?partNumber=7&uploadId=u\nx-amz-checksum-crc64nvme: rosUhgp5mIg=\n\n");
  EXPECT_EQ(body.rewinds, 0);
}

TEST(UploadPartTest, SendsNoChecksumIfTheOwnerFollowsIt) {
  StringSource body("123456789");
  body.follows_checksum = true;
  EXPECT_EQ(Golden(BuildRequest(UploadPartOf(body), Context())),
            "PUT /b/k?partNumber=7&uploadId=u\n\n");
  EXPECT_EQ(body.rewinds, 0);
}

TEST(UploadPartTest, RejectsInvalidPartNumbersAndIds) {
  StringSource body("x");
  for (const int number : {0, -1, 10'001}) {
    UploadPartRequest request = UploadPartOf(body);
    request.part_number = number;
    EXPECT_NE(Golden(BuildRequest(request, Context())).find("is not within 1 to 10000"),
              std::string::npos);
  }
  UploadPartRequest request = UploadPartOf(body);
  request.upload_id = UploadId();
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(UploadPartTest, KeepsTheChecksumOnlyIfS3ConfirmedIt) {
  StringSource body("x");
  auto part = ParseResponse(
      UploadPartOf(body), ResponseOf("", {{"ETag", "\"e\""}, {"x-amz-checksum-crc64nvme", "c="}}));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->part_number, 7);
  EXPECT_EQ(part->etag.value, "e");
  EXPECT_EQ(part->checksum_crc64nvme, "c=");
  part = ParseResponse(UploadPartOf(body), ResponseOf("", {{"ETag", "\"e\""}}));
  EXPECT_EQ(part->checksum_crc64nvme, "");
}

TEST(UploadPartTest, APartWithoutAnETagIsNotStored) {
  StringSource body("x");
  EXPECT_EQ(
      ParseResponse(UploadPartOf(body), ResponseOf("", {{"Content-Length", "0"}})).error().kind,
      ErrorKind::kUnsupported);
  EXPECT_EQ(ParseResponse(UploadPartOf(body), ResponseOf("")).error().kind, ErrorKind::kUnavailable)
      << "the head may be incomplete";
}

UploadPartCopyRequest UploadPartCopyOf() {
  return {.source_bucket = BucketName("src"),
          .source_key = ObjectKey("s k"),
          .bucket = BucketName("b"),
          .key = ObjectKey("k"),
          .upload_id = UploadId("u"),
          .part_number = 2};
}

TEST(UploadPartCopyTest, SendsSourceRangeAndCondition) {
  UploadPartCopyRequest request = UploadPartCopyOf();
  request.source_range = ByteRange{10, 20};
  request.source_if_match = ETag("e");
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k?partNumber=2&uploadId=u\nx-amz-copy-source: "
            "src/s%20k\nx-amz-copy-source-range: bytes=10-19\n"
            "x-amz-copy-source-if-match: \"e\"\n\n");
}

TEST(UploadPartCopyTest, RejectsAnEmptyRange) {
  UploadPartCopyRequest request = UploadPartCopyOf();
  request.source_range = ByteRange{10, 10};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(UploadPartCopyTest, ReadsETagAndChecksum) {
  const auto part = ParseResponse(
      UploadPartCopyOf(), ResponseOf("<CopyPartResult><LastModified>2026-01-02T03:04:05.000Z</"
                                     "LastModified><ETag>&quot;e&quot;</ETag>"
                                     "<ChecksumCRC64NVME>c=</ChecksumCRC64NVME></CopyPartResult>"));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->part_number, 2);
  EXPECT_EQ(part->etag.value, "e");
  EXPECT_EQ(part->checksum_crc64nvme, "c=");
}

TEST(UploadPartCopyTest, ReadsTheChecksumOfTheUpload) {
  const auto part = ParseResponse(
      UploadPartCopyOf(), ResponseOf("<CopyPartResult><ETag>&quot;e&quot;</ETag>"
                                     "<ChecksumSHA256>s=</ChecksumSHA256></CopyPartResult>"));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->checksum_crc64nvme, "");
  EXPECT_EQ(part->checksum_algorithm, "sha256");
  EXPECT_EQ(part->checksum_value, "s=");
}

TEST(UploadPartCopyTest, AnErrorDocumentInA200IsAnError) {
  const auto part =
      ParseResponse(UploadPartCopyOf(),
                    ResponseOf("<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>"));
  ASSERT_FALSE(part.ok());
  EXPECT_EQ(part.error().kind, ErrorKind::kNotFound);
}

TEST(UploadPartCopyTest, SendsTheSourceVersion) {
  UploadPartCopyRequest request{BucketName("src"),
                                ObjectKey("s"),
                                ByteRange{0, 10},
                                {},
                                BucketName("b"),
                                ObjectKey("k"),
                                UploadId("u"),
                                1,
                                {},
                                VersionId("v")};
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b/k?partNumber=1&uploadId=u\nx-amz-copy-source: "
            "src/s?versionId=v\nx-amz-copy-source-range: bytes=0-9\n\n");
}

CompleteMultipartUploadRequest CompleteMultipartUploadOf(std::vector<CompletedPart> parts) {
  return {.bucket = BucketName("b"),
          .key = ObjectKey("k"),
          .upload_id = UploadId("u"),
          .parts = std::move(parts),
          .object_size = 42};
}

TEST(CompleteMultipartUploadTest, ListsPartsWithConfirmedChecksums) {
  auto request = CompleteMultipartUploadOf({{1, ETag("e1"), "c1="}, {5, ETag("e5"), ""}});
  request.if_none_match_any = true;
  EXPECT_EQ(
      Golden(BuildRequest(request, Context())),
      "POST /b/k?uploadId=u\nContent-Type: application/xml\nx-amz-checksum-type: FULL_OBJECT\n"
      "x-amz-mp-object-size: 42\nIf-None-Match: *\n\n"
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Part><PartNumber>1</PartNumber><ETag>&quot;e1&quot;</ETag><ChecksumCRC64NVME>c1=</"
      "ChecksumCRC64NVME></Part>"
      "<Part><PartNumber>5</PartNumber><ETag>&quot;e5&quot;</ETag></Part></"
      "CompleteMultipartUpload>");
}

TEST(CompleteMultipartUploadTest, SendsIfMatch) {
  auto request = CompleteMultipartUploadOf({{1, ETag("e1"), ""}});
  request.if_match = ETag("old");
  const auto wire = BuildRequest(request, Context());
  ASSERT_TRUE(wire.ok());
  ASSERT_NE(wire->FindHeader("If-Match"), nullptr);
  EXPECT_EQ(*wire->FindHeader("If-Match"), "\"old\"");
  request.if_none_match_any = true;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(CompleteMultipartUploadTest, SendsTheChecksumOfTheWholeObject) {
  auto request = CompleteMultipartUploadOf({{1, ETag("e1"), ""}});
  request.crc64nvme = 0xae8b14860a799888;  // Of "123456789".
  const auto wire = BuildRequest(request, Context());
  ASSERT_TRUE(wire.ok());
  ASSERT_NE(wire->FindHeader("x-amz-checksum-crc64nvme"), nullptr);
  EXPECT_EQ(*wire->FindHeader("x-amz-checksum-crc64nvme"), "rosUhgp5mIg=");
  EXPECT_EQ(BuildRequest(request, WithoutChecksums())->FindHeader("x-amz-checksum-crc64nvme"),
            nullptr);
}

TEST(CompleteMultipartUploadTest, RefusesAValueWithoutAnAlgorithm) {
  auto request = CompleteMultipartUploadOf({{1, ETag("e1"), ""}});
  request.checksum_value = "c=";
  for (const char* algorithm : {"", "none"}) {
    request.checksum_algorithm = algorithm;
    const auto wire = BuildRequest(request, Context());
    ASSERT_FALSE(wire.ok()) << algorithm;
    EXPECT_EQ(wire.error().kind, ErrorKind::kInvalidArgument);
  }
}

TEST(CompleteMultipartUploadTest, SendsNoChecksumTypeWithoutChecksums) {
  const auto wire =
      BuildRequest(CompleteMultipartUploadOf({{1, ETag("e1"), ""}}), WithoutChecksums());
  ASSERT_TRUE(wire.ok());
  EXPECT_EQ(wire->FindHeader("x-amz-checksum-type"), nullptr);
}

TEST(CompleteMultipartUploadTest, RejectsListsThatS3WouldReject) {
  EXPECT_FALSE(BuildRequest(CompleteMultipartUploadOf({}), Context()).ok());
  EXPECT_FALSE(
      BuildRequest(CompleteMultipartUploadOf({{2, ETag("e"), ""}, {1, ETag("e"), ""}}), Context())
          .ok());
  EXPECT_FALSE(
      BuildRequest(CompleteMultipartUploadOf({{1, ETag("e"), ""}, {1, ETag("e"), ""}}), Context())
          .ok());
  EXPECT_FALSE(BuildRequest(CompleteMultipartUploadOf({{1, ETag(""), ""}}), Context()).ok());
  EXPECT_FALSE(BuildRequest(CompleteMultipartUploadOf({{10'001, ETag("e"), ""}}), Context()).ok());
}

TEST(CompleteMultipartUploadTest, ReadsETagAndVersion) {
  const auto response =
      ParseResponse(CompleteMultipartUploadOf({}),
                    ResponseOf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n  \n  "
                               "<CompleteMultipartUploadResult><ETag>&quot;x-2&quot;</ETag>"
                               "</CompleteMultipartUploadResult>",
                               {{"x-amz-version-id", "v"}}));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->etag.value, "x-2");
  EXPECT_EQ(response->version_id.value, "v");
}

TEST(CompleteMultipartUploadTest, ReadsChecksumsAndTheKmsKey) {
  const auto checksums = [](const std::string& elements) {
    const auto response =
        ParseResponse(CompleteMultipartUploadOf({}),
                      ResponseOf("<CompleteMultipartUploadResult><ETag>&quot;x-2&quot;</ETag>" +
                                     elements + "</CompleteMultipartUploadResult>",
                                 {{"x-amz-server-side-encryption", "aws:kms"},
                                  {"x-amz-server-side-encryption-aws-kms-key-id", "arn"}}));
    EXPECT_TRUE(response.ok());
    EXPECT_EQ(response->encryption, EncryptionKind::kKms);
    EXPECT_EQ(response->kms_key_id, "arn");
    return response->checksums;
  };
  using Checksums = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(checksums("<ChecksumCRC64NVME>c=</ChecksumCRC64NVME>"
                      "<ChecksumType>FULL_OBJECT</ChecksumType>"),
            (Checksums{{"crc64nvme", "c="}}));
  EXPECT_EQ(checksums("<ChecksumSHA256>s=-2</ChecksumSHA256>"
                      "<ChecksumType>COMPOSITE</ChecksumType>"),
            Checksums{});
}

TEST(CompleteMultipartUploadTest, AnotherChecksumThanTheOneSentIsDataLoss) {
  const auto parse = [](CompleteMultipartUploadRequest request, const std::string& type) {
    return ParseResponse(request,
                         ResponseOf("<CompleteMultipartUploadResult><ETag>e-2</ETag>"
                                    "<ChecksumCRC64NVME>AAAAAAAAAAA=</ChecksumCRC64NVME>"
                                    "<ChecksumType>" +
                                    type + "</ChecksumType></CompleteMultipartUploadResult>"));
  };
  auto request = CompleteMultipartUploadOf({});
  EXPECT_TRUE(parse(request, "FULL_OBJECT").ok());
  request.crc64nvme = 0xae8b14860a799888;  // Of "123456789".
  EXPECT_EQ(parse(request, "FULL_OBJECT").error().kind, ErrorKind::kDataLoss);
  EXPECT_TRUE(parse(request, "COMPOSITE").ok());
  request.crc64nvme = 0;
  EXPECT_TRUE(parse(request, "FULL_OBJECT").ok());
  request.checksum_algorithm = "crc64nvme";
  request.checksum_value = "rosUhgp5mIg=";
  EXPECT_EQ(parse(request, "FULL_OBJECT").error().kind, ErrorKind::kDataLoss);
  request.checksum_algorithm = "crc32c";
  EXPECT_TRUE(parse(request, "FULL_OBJECT").ok());
}

TEST(CompleteMultipartUploadTest, WithoutAnETagNothingWasStored) {
  const auto response =
      ParseResponse(CompleteMultipartUploadOf({}),
                    ResponseOf("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kUnsupported);
}

TEST(CompleteMultipartUploadTest, AnErrorInA200IsClassifiedByItsCode) {
  const auto parse = [](const std::string& code) {
    return ParseResponse(CompleteMultipartUploadOf({}),
                         ResponseOf("<Error><Code>" + code + "</Code><Message>m</Message></Error>"))
        .error()
        .kind;
  };
  EXPECT_EQ(parse("InternalError"), ErrorKind::kUnavailable);
  EXPECT_EQ(parse("SlowDown"), ErrorKind::kThrottled);
  EXPECT_EQ(parse("PreconditionFailed"), ErrorKind::kPreconditionFailed);
  EXPECT_EQ(parse("SomethingNew"), ErrorKind::kUnavailable);
}

TEST(AbortMultipartUploadTest, SendsTheUploadId) {
  const AbortMultipartUploadRequest request{
      .bucket = BucketName("b"), .key = ObjectKey("k"), .upload_id = UploadId("u/1")};
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/k?uploadId=u%2F1\n\n");
}

TEST(AbortMultipartUploadTest, WithoutAnIdItNeverBecomesDeleteObject) {
  const AbortMultipartUploadRequest request{.bucket = BucketName("b"), .key = ObjectKey("k")};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(AbortMultipartUploadTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(AbortMultipartUploadRequest{}, ResponseOf("", {}, 204)).ok());
}

}  // namespace
}  // namespace penstock::s3
