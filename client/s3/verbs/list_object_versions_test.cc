#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

const ListObjectVersionsRequest kRequest{.bucket = BucketName("b")};

TEST(ListObjectVersionsTest, RequestsUrlEncodedNames) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())),
            "GET /b?versions=&encoding-type=url&max-keys=1000\n\n");
}

TEST(ListObjectVersionsTest, SendsPrefixDelimiterAndBothMarkers) {
  ListObjectVersionsRequest request = kRequest;
  request.prefix = "a b/";
  request.delimiter = "/";
  request.key_marker = "a b/c";
  request.max_keys = 7;
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "GET "
            "/b?versions=&encoding-type=url&max-keys=7&prefix=a%20b%2F&delimiter=%2F&key-marker=a%"
            "20b%2Fc\n\n");
  request.version_id_marker = VersionId("v.1");
  EXPECT_EQ(
      Golden(BuildRequest(request, Context())),
      "GET "
      "/b?versions=&encoding-type=url&max-keys=7&prefix=a%20b%2F&delimiter=%2F&key-marker=a%20b%2Fc"
      "&version-id-marker=v.1\n\n");
}

TEST(ListObjectVersionsTest, RejectsAVersionMarkerWithoutItsKeyAndNegativePages) {
  ListObjectVersionsRequest request = kRequest;
  request.version_id_marker = VersionId("v");
  const auto refused = BuildRequest(request, Context());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(refused.error().message, "version_id_marker 'v' has no key_marker; give its key");
  request = kRequest;
  request.max_keys = -1;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

// The form of S3's response: versions and delete markers interleaved, keys ascending, newest first.
TEST(ListObjectVersionsTest, VersionsAndDeleteMarkersKeepTheirOrder) {
  const auto page = ParseResponse(
      kRequest,
      ResponseOf(
          "<ListVersionsResult "
          "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><Prefix/><KeyMarker/>"
          "<VersionIdMarker/><NextKeyMarker>a+b%2Fc</NextKeyMarker><NextVersionIdMarker>null</"
          "NextVersionIdMarker>"
          "<MaxKeys>3</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
          "<DeleteMarker><Key>a+b%2Fc</Key><VersionId>v3</VersionId><IsLatest>true</IsLatest>"
          "<LastModified>2026-01-02T03:04:06.000Z</LastModified><Owner><ID>i</ID></Owner></"
          "DeleteMarker>"
          "<Version><Key>a+b%2Fc</Key><VersionId>v2</VersionId><IsLatest>false</IsLatest>"
          "<LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;e1&quot;</ETag>"
          "<ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><Size>5368709120</Size><Owner><ID>i</"
          "ID></Owner>"
          "<StorageClass>STANDARD</StorageClass></Version>"
          "<Version><Key>a+b%2Fc</Key><VersionId>null</VersionId><IsLatest>false</"
          "IsLatest><ETag>e0</ETag>"
          "<Size>0</Size><StorageClass>GLACIER</StorageClass></Version>"
          "<CommonPrefixes><Prefix>p+q/</Prefix></CommonPrefixes></ListVersionsResult>"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->versions.size(), 3u);
  for (const ObjectVersionSummary& version : page->versions) EXPECT_EQ(version.key.value, "a b/c");
  EXPECT_TRUE(page->versions[0].is_delete_marker);
  EXPECT_TRUE(page->versions[0].is_latest);
  EXPECT_EQ(page->versions[0].version_id.value, "v3");
  EXPECT_EQ(page->versions[0].last_modified, WallTime(std::chrono::seconds(1767323046)));
  EXPECT_FALSE(page->versions[1].is_delete_marker);
  EXPECT_FALSE(page->versions[1].is_latest);
  EXPECT_EQ(page->versions[1].size, 5368709120u);
  EXPECT_EQ(page->versions[1].etag.value, "e1");
  EXPECT_EQ(page->versions[1].storage_class, "");
  EXPECT_EQ(page->versions[2].version_id.value, "null");
  EXPECT_EQ(page->versions[2].storage_class, "GLACIER");
  EXPECT_EQ(page->common_prefixes, std::vector<std::string>{"p q/"});
  EXPECT_EQ(page->next_key_marker, "a b/c");
  EXPECT_EQ(page->next_version_id_marker.value, "null");
}

TEST(ListObjectVersionsTest, MarkersOfTheLastPageAreIgnored) {
  const auto page = ParseResponse(
      kRequest,
      ResponseOf("<ListVersionsResult><NextKeyMarker>k</NextKeyMarker><NextVersionIdMarker>v"
                 "</NextVersionIdMarker><IsTruncated>false</IsTruncated></ListVersionsResult>"));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->next_key_marker, "");
  EXPECT_EQ(page->next_version_id_marker.value, "");
}

TEST(ListObjectVersionsTest, WithoutIsTruncatedTheMarkersContinue) {
  const auto response = ResponseOf(
      "<ListVersionsResult><NextKeyMarker>k</NextKeyMarker><NextVersionIdMarker>v"
      "</NextVersionIdMarker></ListVersionsResult>");
  ListObjectVersionsRequest request = kRequest;
  EXPECT_EQ(ParseResponse(request, response)->next_key_marker, "k");
  EXPECT_EQ(ParseResponse(request, response)->next_version_id_marker.value, "v");
  EXPECT_EQ(ParseResponse(request, ResponseOf("<ListVersionsResult/>"))->next_key_marker, "");
  request.key_marker = "k";
  request.version_id_marker = VersionId("u");
  EXPECT_EQ(ParseResponse(request, response)->next_key_marker, "k");
  request.version_id_marker = VersionId("v");
  EXPECT_EQ(ParseResponse(request, response)->next_key_marker, "");
}

TEST(ListObjectVersionsTest, APageThatEndsWithAPrefixContinuesAfterItWithoutAVersion) {
  const auto page = ParseResponse(
      kRequest,
      ResponseOf(
          "<ListVersionsResult><NextKeyMarker>p/</NextKeyMarker><IsTruncated>true</IsTruncated>"
          "<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes></ListVersionsResult>"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->next_key_marker, "p/");
  EXPECT_TRUE(page->next_version_id_marker.empty());
}

TEST(ListObjectVersionsTest, TheFirstOfRepeatedMembersIsUsed) {
  const auto page = ParseResponse(
      kRequest,
      ResponseOf(
          "<ListVersionsResult><Version><Key>first</Key><Key>second</Key><VersionId>v</VersionId>"
          "<VersionId>w</VersionId><Size>1</Size><Size>x</Size></Version></ListVersionsResult>"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->versions[0].key.value, "first");
  EXPECT_EQ(page->versions[0].version_id.value, "v");
  EXPECT_EQ(page->versions[0].size, 1u);
}

TEST(ListObjectVersionsTest, AnIncompletePageIsOneError) {
  const std::string whole =
      "<?xml "
      "version=\"1.0\"?><ListVersionsResult><IsTruncated>false</IsTruncated><Version><Key>k</Key>"
      "<VersionId>v</VersionId><ETag>&quot;e&quot;</ETag><Size>1</Size></Version></"
      "ListVersionsResult>";
  ASSERT_TRUE(ParseResponse(kRequest, ResponseOf(whole)).ok());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto page = ParseResponse(kRequest, ResponseOf(whole.substr(0, length)));
    ASSERT_FALSE(page.ok()) << length;
    EXPECT_EQ(page.error().kind, ErrorKind::kUnavailable) << length;
    EXPECT_NE(page.error().message.find("should contain a <ListVersionsResult> document, but"),
              std::string::npos)
        << page.error().message;
  }
}

TEST(ListObjectVersionsTest, AnErrorAfterTheStatusIsThatError) {
  const auto page = ParseResponse(
      kRequest, ResponseOf("<Error><Code>SlowDown</Code><Message>m</Message></Error>"));
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().code, "SlowDown");
}

TEST(ListObjectVersionsTest, UnreadableResponsesAreRetried) {
  for (const char* body :
       {"", "<ListVersionsResult>",
        "<ListVersionsResult><IsTruncated>true</IsTruncated></ListVersionsResult>",
        "<ListVersionsResult><Version><Key>k</Key><VersionId>v</VersionId><Size>x</Size></"
        "Version></ListVersionsResult>",
        "<ListVersionsResult><Version><Key>k</Key><VersionId>v</VersionId></Version></"
        "ListVersionsResult>",
        "<ListVersionsResult><Version><Key>k</Key><Size>1</Size></Version></ListVersionsResult>",
        "<ListVersionsResult><DeleteMarker><VersionId>v</VersionId></DeleteMarker></"
        "ListVersionsResult>",
        "<ListVersionsResult><IsTruncated>maybe</IsTruncated></ListVersionsResult>",
        "<ListVersionsResult><DeleteMarker><Key>k</Key><VersionId/></DeleteMarker></"
        "ListVersionsResult>",
        "<ListVersionsResult><EncodingType>url</EncodingType><DeleteMarker><Key>%zz</"
        "Key><VersionId>v</VersionId>"
        "</DeleteMarker></ListVersionsResult>"}) {
    EXPECT_EQ(ParseResponse(kRequest, ResponseOf(body)).error().kind, ErrorKind::kUnavailable)
        << body;
  }
}

}  // namespace
}  // namespace penstock::s3
