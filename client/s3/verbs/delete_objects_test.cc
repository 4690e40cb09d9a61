#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(DeleteObjectTest, SendsKeyAndVersion) {
  DeleteObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("a/b")};
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/a/b\n\n");
  request.version_id = VersionId("v");
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/a/b?versionId=v\n\n");
}

TEST(DeleteObjectTest, SendsIfMatch) {
  DeleteObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k")};
  request.if_match = ETag("e1");
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/k\nIf-Match: \"e1\"\n\n");
}

TEST(DeleteObjectTest, AnEmptyKeyNeverBecomesDeleteBucket) {
  const DeleteObjectRequest request{.bucket = BucketName("b")};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(DeleteObjectTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(DeleteObjectRequest{}, ResponseOf("", {}, 204)).ok());
}

DeleteObjectsRequest DeleteObjectsOf(std::vector<ObjectKey> keys) {
  return {.bucket = BucketName("b"), .keys = std::move(keys)};
}

constexpr const char* kDeleteObjectsDocument =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Delete "
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    "<Object><Key>a&amp;b</Key></Object><Object><Key>c</Key></Object><Quiet>true</Quiet></Delete>";

TEST(DeleteObjectsTest, ListsTheKeysQuietlyWithTheRequiredDigest) {
  const auto wire = BuildRequest(DeleteObjectsOf({ObjectKey("a&b"), ObjectKey("c")}), Context());
  ASSERT_TRUE(wire.ok());
  EXPECT_EQ(wire->document, kDeleteObjectsDocument);
  EXPECT_EQ(Golden(wire).substr(0, 16), "POST /b?delete=\n");
  ASSERT_NE(wire->FindHeader("x-amz-checksum-crc64nvme"), nullptr);
  EXPECT_EQ(wire->FindHeader("Content-MD5"), nullptr);
}

TEST(DeleteObjectsTest, DirectoryBucketsGetNoMd5) {
  DeleteObjectsRequest request = DeleteObjectsOf({ObjectKey("a")});
  request.bucket = BucketName("b--usw2-az1--x-s3");
  const auto wire = BuildRequest(request, WithoutChecksums());
  ASSERT_TRUE(wire.ok());
  EXPECT_EQ(wire->FindHeader("Content-MD5"), nullptr);
  EXPECT_NE(wire->FindHeader("x-amz-checksum-crc64nvme"), nullptr);
}

TEST(DeleteObjectsTest, FallsBackToContentMd5WithoutChecksums) {
  const auto wire =
      BuildRequest(DeleteObjectsOf({ObjectKey("a&b"), ObjectKey("c")}), WithoutChecksums());
  ASSERT_TRUE(wire.ok());
  EXPECT_EQ(wire->FindHeader("x-amz-checksum-crc64nvme"), nullptr);
  // printf of kDeleteObjectsDocument | openssl md5 -binary | base64
  ASSERT_NE(wire->FindHeader("Content-MD5"), nullptr);
  EXPECT_EQ(*wire->FindHeader("Content-MD5"), "hyJ7b680Yo+ZRwPAk07xeQ==");
}

TEST(DeleteObjectsTest, RejectsListsThatS3WouldReject) {
  EXPECT_FALSE(BuildRequest(DeleteObjectsOf({}), Context()).ok());
  EXPECT_FALSE(BuildRequest(DeleteObjectsOf({ObjectKey("")}), Context()).ok());
  EXPECT_TRUE(
      BuildRequest(DeleteObjectsOf(std::vector<ObjectKey>(1000, ObjectKey("k"))), Context()).ok());
  EXPECT_NE(
      Golden(BuildRequest(DeleteObjectsOf(std::vector<ObjectKey>(1001, ObjectKey("k"))), Context()))
          .find("1001"),
      std::string::npos);
}

TEST(DeleteObjectsTest, ReportsTheKeysThatWereNotDeleted) {
  const auto response = ParseResponse(
      DeleteObjectsOf({ObjectKey("x")}),
      ResponseOf("<DeleteResult "
                 "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Deleted><Key>y</Key></Deleted>"
                 "<Error><Key>x</Key><Code>AccessDenied</Code><Message>Access "
                 "Denied</Message></Error></DeleteResult>"));
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->failures.size(), 1u);
  EXPECT_EQ(response->failures[0].key.value, "x");
  EXPECT_EQ(response->failures[0].code, "AccessDenied");
  EXPECT_EQ(response->failures[0].message, "Access Denied");
}

TEST(DeleteObjectsTest, KeysThatTheListDoesNotNameAreFailures) {
  DeleteObjectsRequest request = DeleteObjectsOf({ObjectKey("a"), ObjectKey("b\x01")});
  request.objects = {{.key = ObjectKey("c"), .version_id = VersionId("v")}, {ObjectKey("d")}};
  const WireResponse wire = ResponseOf(
      "<DeleteResult><Deleted><Key>d</Key></Deleted><Deleted><Key>other</Key></Deleted>"
      "<Error><Key>c</Key><Code>AccessDenied</Code></Error></DeleteResult>");
  EXPECT_EQ(ParseResponse(request, wire)->failures.size(), 1u) << "S3 names failures only";
  request.list_deleted = true;
  const auto response = ParseResponse(request, wire);
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->failures.size(), 2u);
  EXPECT_EQ(response->failures[1].key.value, "a");
  EXPECT_EQ(response->failures[1].code, "NotConfirmed");
}

TEST(DeleteObjectsTest, SecretsThatAServerRepeatsForAKeyAreRedacted) {
  const Credentials credentials{"AKID", "TOPSECRETKEY", "TOPSECRETTOKEN", std::nullopt};
  WireResponse echo = ResponseOf(
      "<DeleteResult><Error><Key>x</Key><Code>Bad-TOPSECRETTOKEN</Code>"
      "<Message>TOPSECRETKEY Signature=0123abcdef, y 0123abcdef</Message></Error></DeleteResult>");
  echo.secrets = {&credentials, "0123abcdef"};
  const auto response = ParseResponse(DeleteObjectsOf({ObjectKey("x")}), echo);
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->failures.size(), 1u);
  EXPECT_EQ(response->failures[0].code, "Bad-***");
  EXPECT_EQ(response->failures[0].message, "*** Signature=***, y ***");
}

TEST(DeleteObjectsTest, AnErrorDocumentInA200IsAnError) {
  const auto response = ParseResponse(
      DeleteObjectsOf({ObjectKey("x")}),
      ResponseOf("<Error><Code>InternalError</Code><Message>We encountered</Message></Error>"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(response.error().code, "InternalError");
}

// The request of botocore 1.44.8 for the same input.
TEST(DeleteObjectTest, SendsConditionsAsBotocore) {
  constexpr WallTime kYear2030{std::chrono::seconds(1893801600)};
  DeleteObjectRequest request{.bucket = BucketName("b--usw2-az1--x-s3"), .key = ObjectKey("k")};
  request.version_id = VersionId("v");
  request.if_match = ETag("e");
  request.bypass_governance_retention = true;
  request.if_match_size = 3;
  request.if_match_last_modified = kYear2030;
  EXPECT_EQ(HeadersOf(BuildRequest(request, Context()).value()),
            (std::map<std::string, std::string>{
                {"if-match", "\"e\""},
                {"x-amz-bypass-governance-retention", "true"},
                {"x-amz-if-match-size", "3"},
                {"x-amz-if-match-last-modified-time", "Sat, 05 Jan 2030 00:00:00 GMT"}}));
  request.bucket = BucketName("b");
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kUnsupported);
}

TEST(DeleteObjectTest, ReturnsVersionAndDeleteMarker) {
  const auto marked = ParseResponse(
      DeleteObjectRequest{},
      ResponseOf("", {{"x-amz-version-id", "v"}, {"x-amz-delete-marker", "true"}}, 204));
  EXPECT_EQ(marked->version_id.value, "v");
  EXPECT_TRUE(marked->delete_marker);
  EXPECT_FALSE(ParseResponse(DeleteObjectRequest{}, ResponseOf("", {}, 204))->delete_marker);
}

// The document of botocore 1.44.8 for the same input.
TEST(DeleteObjectsTest, SendsVersionsAndConditionsAsBotocore) {
  DeleteObjectsRequest request = DeleteObjectsOf({ObjectKey("a&b")});
  request.bucket = BucketName("b--usw2-az1--x-s3");
  request.objects = {{.key = ObjectKey("k"),
                      .version_id = VersionId("v"),
                      .if_match = ETag("e"),
                      .if_match_last_modified = WallTime(std::chrono::seconds(1893801600)),
                      .if_match_size = 3}};
  request.list_deleted = true;
  request.bypass_governance_retention = true;
  const auto wire = BuildRequest(request, Context());
  ASSERT_TRUE(wire.ok()) << wire.error().message;
  // XmlWriter writes quotes as references.
  EXPECT_EQ(XmlDocument::Parse(wire->document)->root().Children("Object")[1].Child("ETag").text(),
            "\"e\"");
  const std::string rest = wire->document.substr(wire->document.find("<LastModifiedTime>"));
  EXPECT_EQ(rest,
            "<LastModifiedTime>Sat, 05 Jan 2030 00:00:00 GMT</LastModifiedTime><Size>3</Size>"
            "</Object></Delete>");
  EXPECT_NE(wire->FindHeader("x-amz-bypass-governance-retention"), nullptr);
}

TEST(DeleteObjectsTest, CountsAndChecksBothLists) {
  DeleteObjectsRequest request = DeleteObjectsOf(std::vector<ObjectKey>(999, ObjectKey("k")));
  request.objects = {{.key = ObjectKey("a")}};
  EXPECT_TRUE(BuildRequest(request, Context()).ok());
  request.objects.push_back({.key = ObjectKey("b")});
  EXPECT_FALSE(BuildRequest(request, Context()).ok());
  request = DeleteObjectsOf({});
  request.objects = {{.key = ObjectKey("")}};
  EXPECT_FALSE(BuildRequest(request, Context()).ok());
}

// "DeleteObjects" in the Amazon S3 API Reference.
TEST(DeleteObjectsTest, ReturnsWhatWasDeleted) {
  const auto response = ParseResponse(
      DeleteObjectsRequest{},
      ResponseOf(
          "<DeleteResult><Deleted><Key>a</Key><DeleteMarker>true</DeleteMarker>"
          "<DeleteMarkerVersionId>m</DeleteMarkerVersionId></Deleted><Deleted><Key>b</Key>"
          "<VersionId>v</VersionId></Deleted><Error><Key>c</Key><VersionId>w</VersionId><Code>"
          "AccessDenied</Code><Message>no</Message></Error></DeleteResult>"));
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->deleted.size(), 2U);
  EXPECT_TRUE(response->deleted[0].delete_marker);
  EXPECT_EQ(response->deleted[0].delete_marker_version_id.value, "m");
  EXPECT_EQ(response->deleted[1].version_id.value, "v");
  ASSERT_EQ(response->failures.size(), 1U);
  EXPECT_EQ(response->failures[0].version_id.value, "w");
}

}  // namespace
}  // namespace penstock::s3
