// What S3 stores beside an object. Requests of the tests named ...AsBotocore are those that
// botocore 1.44.8 sends for the same input.
#include <gtest/gtest.h>

#include "client/s3/configuration/configuration.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

const BucketName kBucket("b");
const ObjectKey kKey("k");
const VersionId kVersion("v");
using Kind = ObjectConfigurationKind;

std::string FirstLine(const Result<WireRequest>& wire) {
  const std::string text = Golden(wire);
  return text.substr(0, text.find('\n'));
}

constexpr const char* kTagging =
    "<Tagging xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><TagSet><Tag><Key>a</Key><Value>b"
    "</Value></Tag></TagSet></Tagging>";

TEST(ObjectTaggingTest, AddressesTheVersionAsBotocore) {
  const auto put =
      BuildRequest(PutObjectTaggingRequest{kBucket, kKey, {{"a", "b"}}, kVersion, {}}, Context());
  EXPECT_EQ(FirstLine(put), "PUT /b/k?tagging=&versionId=v");
  EXPECT_EQ(put->document, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + std::string(kTagging));
  EXPECT_EQ(put->operation_name, "PutObjectTagging");
  EXPECT_EQ(FirstLine(BuildRequest(GetObjectTaggingRequest{kBucket, kKey, {}, {}}, Context())),
            "GET /b/k?tagging=");
  const auto remove =
      BuildRequest(DeleteObjectTaggingRequest{kBucket, kKey, kVersion, {}}, Context());
  EXPECT_EQ(FirstLine(remove), "DELETE /b/k?tagging=&versionId=v");
  EXPECT_EQ(remove->operation_name, "DeleteObjectTagging");
}

TEST(ObjectTaggingTest, ReadsTagsAndVersion) {
  const auto tags = ParseResponse(GetObjectTaggingRequest{kBucket, kKey, {}, {}},
                                  ResponseOf(kTagging, {{"x-amz-version-id", "v"}}));
  EXPECT_EQ(tags->tags, (std::vector<Tag>{{"a", "b"}}));
  EXPECT_EQ(tags->version_id, kVersion);
  EXPECT_EQ(ParseResponse(DeleteObjectTaggingRequest{kBucket, kKey, {}, {}},
                          ResponseOf("", {{"x-amz-version-id", "v"}}, 204))
                ->version_id,
            kVersion);
}

TEST(ObjectConfigurationTest, ACannedAclIsAHeaderAsBotocore) {
  PutObjectConfigurationRequest request{.bucket = kBucket, .key = kKey};
  request.canned_acl = "private";
  const auto wire = BuildRequest(request, Context());
  EXPECT_EQ(FirstLine(wire), "PUT /b/k?acl=");
  // botocore sends the CRC32 of the empty body.
  EXPECT_EQ(HeadersOf(*wire),
            (std::map<std::string, std::string>{{"x-amz-acl", "private"},
                                                {"x-amz-checksum-crc64nvme", "AAAAAAAAAAA="}}));
}

TEST(ObjectConfigurationTest, SendsADocumentUnchanged) {
  PutObjectConfigurationRequest request{
      .bucket = kBucket, .key = kKey, .kind = Kind::kRetention, .document = "<Retention/>"};
  request.bypass_governance_retention = true;
  const auto wire = BuildRequest(request, WithoutChecksums());
  EXPECT_EQ(wire->document, "<Retention/>");
  EXPECT_EQ(wire->operation_name, "PutObjectRetention");
  EXPECT_NE(wire->FindHeader("x-amz-bypass-governance-retention"), nullptr);
  EXPECT_NE(wire->FindHeader("Content-MD5"), nullptr);
  EXPECT_EQ(
      FirstLine(BuildRequest(
          GetObjectConfigurationRequest{kBucket, kKey, Kind::kLegalHold, kVersion, {}}, Context())),
      "GET /b/k?legal-hold=&versionId=v");
}

TEST(ObjectConfigurationTest, AnIncompleteConfigurationIsAnError) {
  const GetObjectConfigurationRequest request{kBucket, kKey, Kind::kAcl, {}, {}};
  const std::string document = "<AccessControlPolicy><Owner/></AccessControlPolicy>";
  EXPECT_EQ(ParseResponse(request, ResponseOf(document))->document, document);
  for (const std::size_t bytes : {std::size_t{0}, document.size() / 2, document.size() - 1}) {
    const auto parsed = ParseResponse(request, ResponseOf(document.substr(0, bytes)));
    ASSERT_FALSE(parsed.ok()) << bytes;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUnavailable) << bytes;
  }
}

TEST(ObjectConfigurationTest, RefusesBothOrNoContent) {
  PutObjectConfigurationRequest request{.bucket = kBucket, .key = kKey};
  EXPECT_FALSE(BuildRequest(request, Context()).ok());
  request.canned_acl = "private";
  request.document = "<AccessControlPolicy/>";
  EXPECT_FALSE(BuildRequest(request, Context()).ok());
  request.document = "";
  request.kind = Kind::kLegalHold;
  EXPECT_FALSE(BuildRequest(request, Context()).ok());
}

TEST(RestoreObjectTest, SendsDaysAndTierAsBotocore) {
  RestoreObjectRequest request{.bucket = kBucket, .key = kKey, .days = 2, .tier = "Bulk"};
  request.version_id = kVersion;
  const auto wire = BuildRequest(request, Context());
  EXPECT_EQ(FirstLine(wire), "POST /b/k?restore=&versionId=v");
  EXPECT_EQ(wire->document,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<RestoreRequest "
            "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Days>2</Days><GlacierJobParameters>"
            "<Tier>Bulk</Tier></GlacierJobParameters></RestoreRequest>");
  EXPECT_FALSE(ParseResponse(request, ResponseOf("", {}, 202))->already_restored);
  EXPECT_TRUE(ParseResponse(request, ResponseOf("", {}, 200))->already_restored);
}

TEST(GetObjectAttributesTest, SendsHeadersAsBotocore) {
  GetObjectAttributesRequest request{.bucket = kBucket, .key = kKey, .version_id = kVersion};
  request.part_number_marker = 1;
  request.max_parts = 2;
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "GET /b/k?attributes=&versionId=v\n"
            "x-amz-object-attributes: ETag,Checksum,ObjectParts,StorageClass,ObjectSize\n"
            "x-amz-max-parts: 2\nx-amz-part-number-marker: 1\n\n");
  request.max_parts = 0;
  EXPECT_FALSE(BuildRequest(request, Context()).ok());
}

// The elements of "GetObjectAttributes" in the Amazon S3 API Reference.
TEST(GetObjectAttributesTest, ReadsPartsAndChecksums) {
  const auto read = ParseResponse(
      GetObjectAttributesRequest{.bucket = kBucket, .key = kKey},
      ResponseOf(
          "<GetObjectAttributesResponse xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
          "<ETag>e-2</ETag><Checksum><ChecksumSHA256>s-2</ChecksumSHA256>"
          "<ChecksumType>COMPOSITE</ChecksumType></Checksum><ObjectParts>"
          "<IsTruncated>true</IsTruncated><MaxParts>1</MaxParts>"
          "<NextPartNumberMarker>1</NextPartNumberMarker><PartNumberMarker>0</PartNumberMarker>"
          "<Part><ChecksumSHA256>s1</ChecksumSHA256><PartNumber>1</PartNumber><Size>5242880"
          "</Size></Part><PartsCount>2</PartsCount></ObjectParts>"
          "<StorageClass>STANDARD</StorageClass><ObjectSize>5242881</ObjectSize>"
          "</GetObjectAttributesResponse>",
          {{"Last-Modified", "Sat, 05 Jan 2030 00:00:00 GMT"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->etag.value, "e-2");
  EXPECT_EQ(read->size, 5242881U);
  EXPECT_EQ(read->storage_class, "STANDARD");
  EXPECT_EQ(read->checksum_type, "COMPOSITE");
  EXPECT_EQ(read->checksums, (NameValueList{{"sha256", "s-2"}}));
  EXPECT_EQ(read->parts_count, 2);
  EXPECT_EQ(read->next_part_number_marker, 1);
  ASSERT_EQ(read->parts.size(), 1U);
  EXPECT_EQ(read->parts[0].size, 5242880U);
  EXPECT_EQ(read->parts[0].checksums, (NameValueList{{"sha256", "s1"}}));
  EXPECT_EQ(read->last_modified, WallTime(std::chrono::seconds(1893801600)));
}

}  // namespace
}  // namespace penstock::s3
