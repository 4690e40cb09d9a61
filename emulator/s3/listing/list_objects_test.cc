#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;
using Names = std::vector<std::string>;

class ListObjectsTest : public ::testing::Test {
 protected:
  ListObjectsTest() { s3_.Send("PUT /bucket"); }
  void Put(std::initializer_list<const char*> keys) {
    for (const char* key : keys) s3_.Send(std::string("PUT /bucket/") + key, "hello");
  }
  Harness s3_;
};

TEST_F(ListObjectsTest, ElementsAreInS3Order) {
  Put({"a"});
  const std::string contents =
      "<Contents><Key>a</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;"
      "5d41402abc4b2a76b9719d911017c592&quot;</ETag><ChecksumAlgorithm>CRC64NVME</"
      "ChecksumAlgorithm><ChecksumType>"
      "FULL_OBJECT</ChecksumType><Size>5</Size>";
  const std::string owner = "<Owner><ID>" + std::string(64, 'a') + "</ID></Owner>";
  const std::string root =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  EXPECT_EQ(s3_.Send("GET /bucket").body,
            root +
                "<Name>bucket</Name><Prefix></Prefix><Marker></Marker><MaxKeys>1000</"
                "MaxKeys><IsTruncated>false"
                "</IsTruncated>" +
                contents + owner +
                "<StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>");
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=2").body,
            root +
                "<Name>bucket</Name><Prefix></Prefix><KeyCount>1</KeyCount><MaxKeys>1000</"
                "MaxKeys><IsTruncated>false"
                "</IsTruncated>" +
                contents + "<StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>");
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=2&fetch-owner=true").Element("ID"),
            std::string(64, 'a'));
  EXPECT_EQ(s3_.Send("GET /bucket").Header("x-amz-bucket-region"), "us-east-1");
  EXPECT_EQ(s3_.Send("GET /bucket").Header("Content-Type"), "application/xml");
}

// Recorded against Amazon S3: keys and prefixes are merged in byte order, and a marker inside a
// prefix skips the whole group.
TEST_F(ListObjectsTest, KeysAndPrefixesAreMergedInOrder) {
  Put({"dir1/subdir.ext", "dir1/subdir/file.txt", "dir1/zzz"});
  const Reply page = s3_.Send("GET /bucket?prefix=dir1/&delimiter=/&max-keys=2");
  EXPECT_EQ(page.Elements("Key"), Names{"dir1/subdir.ext"});
  EXPECT_EQ(page.Elements("Prefix"), (Names{"dir1/", "dir1/subdir/"}));
  EXPECT_EQ(page.Element("NextMarker"), "dir1/subdir/");
  EXPECT_EQ(page.Element("IsTruncated"), "true");
  EXPECT_EQ(
      s3_.Send("GET /bucket?prefix=dir1/&delimiter=/&marker=dir1/subdir/file.txt").Elements("Key"),
      Names{"dir1/zzz"});
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=2&prefix=dir1/&delimiter=/&start-after=dir1/subdir/")
                .Elements("Key"),
            Names{"dir1/zzz"});
}

TEST_F(ListObjectsTest, V1ReturnsNextMarkerOnlyWithADelimiter) {
  Put({"a", "b"});
  const Reply page = s3_.Send("GET /bucket?max-keys=1");
  EXPECT_EQ(page.Element("IsTruncated"), "true");
  EXPECT_EQ(page.Element("NextMarker"), "<absent>");
  const Reply rest = s3_.Send("GET /bucket?max-keys=1&marker=a");
  EXPECT_EQ(rest.Elements("Key"), Names{"b"});
  EXPECT_EQ(rest.Element("Marker"), "a");
  EXPECT_EQ(rest.Element("IsTruncated"), "false");  // The page ends exactly at the last key.
}

TEST_F(ListObjectsTest, V2TokenTakesPrecedenceOverStartAfter) {
  Put({"a", "b", "c"});
  const Reply first = s3_.Send("GET /bucket?list-type=2&max-keys=1&start-after=a");
  EXPECT_EQ(first.Elements("Key"), Names{"b"});
  EXPECT_EQ(first.Element("StartAfter"), "a");
  std::string token = first.Element("NextContinuationToken");
  for (auto at = token.find('='); at != std::string::npos; at = token.find('=', at + 3))
    token.replace(at, 1, "%3D");
  const Reply second =
      s3_.Send("GET /bucket?list-type=2&max-keys=1&start-after=a&continuation-token=" + token);
  EXPECT_EQ(second.Elements("Key"), Names{"c"});
  EXPECT_EQ(second.Element("StartAfter"), "<absent>");
  EXPECT_EQ(second.Element("ContinuationToken"), first.Element("NextContinuationToken"));
  EXPECT_EQ(second.Element("NextContinuationToken"), "<absent>");
  const Reply bad = s3_.Send("GET /bucket?list-type=2&continuation-token=nonsense");
  EXPECT_EQ(bad.Element("Message"), "The continuation token provided is incorrect");
  EXPECT_EQ(bad.Element("ArgumentName"), "continuation-token");
  EXPECT_EQ(bad.Element("ArgumentValue"), "<absent>");
  const Reply empty = s3_.Send("GET /bucket?list-type=2&continuation-token=");
  EXPECT_EQ(empty.Element("Message"), bad.Element("Message"));
  EXPECT_EQ(empty.Element("ArgumentValue"), "<absent>") << "recorded against Amazon S3";
}

TEST_F(ListObjectsTest, KeyCountCountsPrefixes) {
  Put({"a", "d/1", "d/2", "e/1"});
  const Reply reply = s3_.Send("GET /bucket?list-type=2&delimiter=/");
  EXPECT_EQ(reply.Element("KeyCount"), "3");
  EXPECT_EQ(reply.Element("Delimiter"), "/");
}

TEST_F(ListObjectsTest, EmptyDelimiterIsIgnored) {
  Put({"d/1"});
  const Reply reply = s3_.Send("GET /bucket?list-type=2&delimiter=&prefix=");
  EXPECT_EQ(reply.Elements("Key"), Names{"d/1"});
  EXPECT_EQ(reply.Element("Delimiter"), "<absent>");
}

TEST_F(ListObjectsTest, ZeroMaxKeysReturnsAnEmptyUntruncatedPage) {
  Put({"a"});
  const Reply reply = s3_.Send("GET /bucket?list-type=2&max-keys=0");
  EXPECT_EQ(reply.Element("KeyCount"), "0");
  EXPECT_EQ(reply.Element("IsTruncated"), "false");
}

// A double-encoded delimiter is returned encoded.
TEST_F(ListObjectsTest, UrlEncodingAppliesToNames) {
  Put({"a%20b%2Bc", "%01"});
  const Reply reply = s3_.Send("GET /bucket?encoding-type=url&delimiter=%252F&prefix=&marker=");
  EXPECT_EQ(reply.Elements("Key"), (Names{"%01", "a+b%2Bc"}));
  EXPECT_EQ(reply.Element("Delimiter"), "%252F");
  EXPECT_EQ(reply.Element("EncodingType"), "url");
  EXPECT_EQ(s3_.Send("GET /bucket").Elements("Key")[0], "&#x1;");
}

// Recorded against Amazon S3.
TEST_F(ListObjectsTest, FetchOwnerIgnoresCaseAndAnEmptyStartIsReturned) {
  Put({"a"});
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=2&fetch-owner=TRUE").Element("ID"),
            std::string(64, 'a'));
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=2&start-after=").Element("StartAfter"), "");
}

// Recorded against Amazon S3.
TEST_F(ListObjectsTest, OtherListTypesAreVersionOne) {
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=3").Element("KeyCount"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=2\nx-amz-optional-object-attributes: Foo").Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(s3_.Send("GET /absent?list-type=2").Outcome(), "404 NoSuchBucket");
}

}  // namespace
}  // namespace penstock::emulator::s3
