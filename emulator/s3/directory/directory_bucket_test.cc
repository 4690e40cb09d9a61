#include "emulator/s3/directory/directory_bucket.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

const std::string kBucket = "b--use1-az4--x-s3";

class DirectoryBucketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(s3_.MakeDirectoryBucket(kBucket).status, 200);
    ASSERT_EQ(s3_.Send("PUT /plain-bucket").status, 200);
  }
  std::string Begin(const std::string& key, const std::string& headers = {}) {
    return s3_.Send("POST /" + kBucket + "/" + key + "?uploads" + headers).Element("UploadId");
  }
  std::string PutPart(const std::string& key, const std::string& id, int number,
                      const std::string& body) {
    return s3_
        .Send("PUT /" + kBucket + "/" + key + "?partNumber=" + std::to_string(number) +
                  "&uploadId=" + id,
              Body(body))
        .Header("ETag");
  }
  Reply Complete(const std::string& key, const std::string& id,
                 const std::vector<std::pair<int, std::string>>& parts) {
    std::string document = "<CompleteMultipartUpload>";
    for (const auto& [number, etag] : parts) {
      document += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" + etag +
                  "</ETag></Part>";
    }
    return s3_.Send("POST /" + kBucket + "/" + key + "?uploadId=" + id,
                    Body(document + "</CompleteMultipartUpload>"));
  }
  static testing::Body Body(std::string text) { return testing::Body{std::move(text)}; }
  Harness s3_{{.min_part_size_bytes = 1}};
};

TEST_F(DirectoryBucketTest, ETagsAreNotDigests) {
  const std::string md5 = "\"" + HexEncode(Md5(AsBytes(std::string_view("hello")))) + "\"";
  const std::string first = s3_.Send("PUT /" + kBucket + "/k", "hello").Header("ETag");
  const std::string second = s3_.Send("PUT /" + kBucket + "/k", "hello").Header("ETag");
  EXPECT_NE(first, md5);
  EXPECT_NE(first, second);
  EXPECT_EQ(s3_.Send("GET /" + kBucket + "/k").Header("ETag"), second);
  EXPECT_EQ(s3_.Send("PUT /plain-bucket/k", "hello").Header("ETag"), md5);
  const std::string id = Begin("m");
  EXPECT_NE(PutPart("m", id, 1, "hello"), md5);
}

TEST_F(DirectoryBucketTest, CopiesGetTheETagKindOfTheDestination) {
  s3_.Send("PUT /plain-bucket/k", "hello");
  s3_.Send("PUT /" + kBucket + "/k", "hello");
  const std::string md5 = HexEncode(Md5(AsBytes(std::string_view("hello"))));
  const Reply in = s3_.Send("PUT /" + kBucket + "/copy\nx-amz-copy-source: plain-bucket/k");
  EXPECT_EQ(in.status, 200);
  EXPECT_EQ(in.body.find(md5), std::string::npos);
  const Reply out = s3_.Send("PUT /plain-bucket/copy\nx-amz-copy-source: " + kBucket + "/k");
  EXPECT_NE(out.body.find(md5), std::string::npos);
}

TEST_F(DirectoryBucketTest, ThereIsOneStorageClass) {
  EXPECT_EQ(s3_.Send("PUT /" + kBucket + "/k\nx-amz-storage-class: EXPRESS_ONEZONE", "x").Outcome(),
            "200");
  EXPECT_EQ(s3_.Send("HEAD /" + kBucket + "/k").Header("x-amz-storage-class"), "EXPRESS_ONEZONE");
  EXPECT_EQ(s3_.Send("PUT /" + kBucket + "/k\nx-amz-storage-class: STANDARD", "x").Outcome(),
            "400 InvalidStorageClass");
  EXPECT_EQ(s3_.Send("PUT /plain-bucket/k\nx-amz-storage-class: EXPRESS_ONEZONE", "x").Outcome(),
            "400 InvalidStorageClass");
}

TEST_F(DirectoryBucketTest, PartNumbersMustNotHaveGaps) {
  const std::string id = Begin("m");
  const std::string one = PutPart("m", id, 1, "a");
  const std::string three = PutPart("m", id, 3, "c");
  EXPECT_EQ(Complete("m", id, {{1, one}, {3, three}}).Outcome(), "400 InvalidPartOrder");
  EXPECT_EQ(Complete("m", id, {{3, three}}).Outcome(), "400 InvalidPartOrder");
  const std::string two = PutPart("m", id, 2, "b");
  EXPECT_EQ(Complete("m", id, {{1, one}, {2, two}, {3, three}}).Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /" + kBucket + "/m").body, "abc");
}

TEST_F(DirectoryBucketTest, MultipartObjectsHaveTheTimeOfCompletion) {
  const std::string id = Begin("m");
  const std::string one = PutPart("m", id, 1, "a");
  s3_.clock().Advance(std::chrono::minutes(10));
  ASSERT_EQ(Complete("m", id, {{1, one}}).Outcome(), "200");
  EXPECT_EQ(s3_.Send("HEAD /" + kBucket + "/m").Header("Last-Modified"),
            "Fri, 02 Jan 2026 03:14:05 GMT");
}

TEST_F(DirectoryBucketTest, AttributesAlwaysContainTheParts) {
  const std::string id =
      Begin("m", "\nx-amz-checksum-algorithm: CRC32\nx-amz-checksum-type: FULL_OBJECT");
  const std::string one = PutPart("m", id, 1, "aa");
  const std::string two = PutPart("m", id, 2, "b");
  ASSERT_EQ(Complete("m", id, {{1, one}, {2, two}}).Outcome(), "200");
  const Reply attributes =
      s3_.Send("GET /" + kBucket + "/m?attributes\nx-amz-object-attributes: ObjectParts");
  EXPECT_EQ(attributes.Elements("Size"), (std::vector<std::string>{"2", "1"}));
}

TEST_F(DirectoryBucketTest, DeletesCanBeConditionalOnSizeAndDate) {
  const std::string at = "DELETE /" + kBucket + "/k";
  s3_.Send("PUT /" + kBucket + "/k", "hello");
  EXPECT_EQ(s3_.Send(at + "\nx-amz-if-match-size: 4").Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(
      s3_.Send(at + "\nx-amz-if-match-last-modified-time: Fri, 02 Jan 2026 03:04:06 GMT").Outcome(),
      "412 PreconditionFailed");
  EXPECT_EQ(s3_.Send(at + "\nIf-Match: \"no\"").Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(s3_.Send(at + "\nx-amz-if-match-size: x").Outcome(), "400 InvalidArgument");
  EXPECT_EQ(s3_.Send(at + "\nx-amz-if-match-size: 5\nx-amz-if-match-last-modified-time: Fri, 02 "
                          "Jan 2026 03:04:05 GMT")
                .Outcome(),
            "204");
  EXPECT_EQ(s3_.Send(at + "\nx-amz-if-match-size: 5").Outcome(), "204")
      << "an absent object meets the conditions";
  EXPECT_EQ(s3_.Send("DELETE /plain-bucket/k\nx-amz-if-match-size: 5").Outcome(),
            "501 NotImplemented");
}

TEST_F(DirectoryBucketTest, DeleteObjectsCanBeConditionalOnSizeAndDate) {
  for (const char* key : {"a", "b", "c"}) s3_.Send("PUT /" + kBucket + "/" + key, "hello");
  const auto remove = [&](const std::string& objects) {
    const std::string document = "<Delete>" + objects + "</Delete>";
    return s3_.Send("POST /" + kBucket + "?delete\nx-amz-checksum-sha256: " +
                        Base64Encode(Sha256(AsBytes(document))),
                    Body(document));
  };
  const Reply reply = remove(
      "<Object><Key>a</Key><Size>5</Size></Object><Object><Key>b</Key><Size>6</Size></Object>"
      "<Object><Key>c</Key><LastModifiedTime>Fri, 02 Jan 2026 03:04:05 "
      "GMT</LastModifiedTime></Object>");
  EXPECT_EQ(reply.Elements("Key"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(reply.Elements("Code"), std::vector<std::string>{"PreconditionFailed"});
  EXPECT_EQ(remove("<Object><Key>b</Key></Object><Object><Key> </Key></Object>").Outcome(),
            "400 InvalidRequest");
  EXPECT_EQ(s3_.Send("HEAD /" + kBucket + "/b").status, 200)
      << "an invalid key fails the whole request";
}

TEST_F(DirectoryBucketTest, AbortCanBeConditionalOnTheInitiationTime) {
  const std::string id = Begin("m");
  const std::string at = "DELETE /" + kBucket + "/m?uploadId=" + id +
                         "\nx-amz-if-match-initiated-time: Fri, 02 Jan 2026 ";
  EXPECT_EQ(s3_.Send(at + "03:04:06 GMT").Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(s3_.Send(at + "03:04:05 GMT").Outcome(), "204");
}

TEST_F(DirectoryBucketTest, CopiesOfTaggedObjectsMustReplaceTheTags) {
  s3_.Send("PUT /plain-bucket/k\nx-amz-tagging: a=b", "x");
  const std::string copy = "PUT /" + kBucket + "/copy\nx-amz-copy-source: plain-bucket/k";
  EXPECT_EQ(s3_.Send(copy).Outcome(), "501 NotImplemented");
  EXPECT_EQ(s3_.Send(copy + "\nx-amz-tagging-directive: REPLACE").Outcome(), "200");
}

TEST_F(DirectoryBucketTest, UploadListingsUseOneOpaqueMarker) {
  std::vector<std::string> begun;
  for (const char* key : {"a/1", "a/2", "b/1"}) begun.push_back(Begin(key));
  const std::string list = "GET /" + kBucket + "?uploads";
  EXPECT_EQ(s3_.Send(list + "&prefix=a").Outcome(), "400 InvalidRequest");
  EXPECT_EQ(s3_.Send(list + "&key-marker=a&upload-id-marker=x").Outcome(), "501 NotImplemented");
  EXPECT_EQ(s3_.Send(list + "&key-marker=a").Outcome(), "400 InvalidArgument");
  std::vector<std::string> found;
  std::string marker;
  for (int pages = 0; pages < 5; ++pages) {
    const Reply page =
        s3_.Send(list + "&max-uploads=2" + (marker.empty() ? "" : "&key-marker=" + marker));
    for (const std::string& id : page.Elements("UploadId")) found.push_back(id);
    if (page.Element("IsTruncated") == "false") break;
    marker = page.Element("NextKeyMarker");
  }
  std::sort(found.begin(), found.end());
  std::sort(begun.begin(), begun.end());
  EXPECT_EQ(found, begun);
  const Reply first = s3_.Send(list + "&max-uploads=1");
  const std::string key = first.Element("Key");
  EXPECT_EQ(s3_.Send("DELETE /" + kBucket + "/" + key + "?uploadId=" + first.Element("UploadId"))
                .Outcome(),
            "204");
  EXPECT_EQ(s3_.Send(list + "&key-marker=" + first.Element("NextKeyMarker")).Elements("Key").size(),
            2U)
      << "the marker's upload no longer exists";
  Begin("c/1");
  EXPECT_EQ(s3_.Send(list).Elements("ID"), std::vector<std::string>(6, "123456789012"))
      << "initiators and owners are account ids";
}

}  // namespace
}  // namespace penstock::emulator::s3
