#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;
using Names = std::vector<std::string>;

class ListUploadsTest : public ::testing::Test {
 protected:
  ListUploadsTest() { s3_.Send("PUT /bucket"); }
  std::string Create(const std::string& key, const std::string& headers = "") {
    return s3_.Send("POST /bucket/" + key + "?uploads" + headers).Element("UploadId");
  }
  Harness s3_;
};

// Recorded against Amazon S3.
TEST_F(ListUploadsTest, NextMarkersAreAlwaysPresent) {
  const Reply none = s3_.Send("GET /bucket?uploads");
  EXPECT_EQ(none.Element("NextKeyMarker"), "");
  EXPECT_EQ(none.Element("NextUploadIdMarker"), "");
  Create("a");
  const std::string last = Create("b", "\nx-amz-checksum-algorithm: CRC32");
  const Reply two = s3_.Send("GET /bucket?uploads");
  EXPECT_EQ(two.Elements("Key"), (Names{"a", "b"}));
  EXPECT_EQ(two.Element("NextKeyMarker"), "b");
  EXPECT_EQ(two.Element("NextUploadIdMarker"), last);
  EXPECT_EQ(two.Element("IsTruncated"), "false");
  EXPECT_EQ(two.Elements("ChecksumAlgorithm"), Names{"CRC32"});
  EXPECT_EQ(two.Elements("ChecksumType"), Names{"COMPOSITE"});
  EXPECT_EQ(two.Element("Initiated"), "2026-01-02T03:04:05.000Z");
}

TEST_F(ListUploadsTest, InitiatorIsAUserArnOrACanonicalId) {
  const auto initiator = [this](const std::string& request) {
    const std::string text = s3_.Send(request).body;
    const std::size_t at = text.find("<Initiator><ID>") + 15;
    return text.substr(at, text.find("</ID>", at) - at);
  };
  const std::string arn = "arn:aws:iam::123456789012:user/people/ann";
  Create("by-root");
  s3_.identity().arn = arn;
  s3_.identity().user_name = "ann";
  const std::string by_ann = Create("by-ann");
  EXPECT_EQ(initiator("GET /bucket?uploads&prefix=by-root"), std::string(64, 'a'));
  EXPECT_EQ(initiator("GET /bucket?uploads&prefix=by-ann"), arn);
  s3_.identity().user_name = "bob";  // The user who lists has no effect.
  EXPECT_EQ(initiator("GET /bucket/by-ann?uploadId=" + by_ann), arn);
  const std::string text = s3_.Send("GET /bucket/by-ann?uploadId=" + by_ann).body;
  EXPECT_NE(text.find("<Owner><ID>" + std::string(64, 'a') + "</ID></Owner>"), std::string::npos)
      << "the account owns the upload";
  EXPECT_NE(text.find("<ID>" + arn + "</ID><DisplayName>ann</DisplayName>"), std::string::npos)
      << text;
}

// Recorded against Amazon S3 in 2026: owners no longer have display names, initiators do.
TEST_F(ListUploadsTest, InitiatorsHaveDisplayNames) {
  const std::string id = Create("a");
  for (const std::string& target : {std::string("/bucket?uploads"), "/bucket/a?uploadId=" + id}) {
    const std::string body = s3_.Send("GET " + target).body;
    const std::string owner = "<ID>" + s3_.identity().owner_id + "</ID>";
    const std::string name = "<DisplayName>" + s3_.identity().display_name + "</DisplayName>";
    EXPECT_NE(body.find("<Initiator>" + owner + name + "</Initiator><Owner>" + owner + "</Owner>"),
              std::string::npos)
        << body;
  }
}

TEST_F(ListUploadsTest, PagesByMarkers) {
  const std::string a = Create("a");
  Create("b");
  Create("d/1");
  const Reply page = s3_.Send("GET /bucket?uploads&max-uploads=1");
  EXPECT_EQ(page.Elements("Key"), Names{"a"});
  EXPECT_EQ(page.Element("IsTruncated"), "true");
  EXPECT_EQ(s3_.Send("GET /bucket?uploads&key-marker=a&upload-id-marker=" + a).Elements("Key"),
            (Names{"b", "d/1"}));
  EXPECT_EQ(s3_.Send("GET /bucket?uploads&delimiter=/").Elements("Prefix"), Names{"d/"});
  EXPECT_EQ(s3_.Send("GET /bucket?uploads&upload-id-marker=ignored").Elements("Key").size(), 3u);
  EXPECT_EQ(s3_.Send("GET /bucket?uploads&key-marker=a&upload-id-marker=nope").Element("Message"),
            "Invalid uploadId marker");
  s3_.Send("DELETE /bucket/a?uploadId=" + a);
  EXPECT_EQ(s3_.Send("GET /bucket?uploads&key-marker=a&upload-id-marker=" + a).Elements("Key"),
            (Names{"b", "d/1"}));
}

// S3 does the same (minio/minio#1805), so that a client that aborts each page sees every upload.
TEST_F(ListUploadsTest, MarkersStayValidAfterTheUploadIsAborted) {
  for (const char* key : {"a", "b", "b", "b", "c"}) Create(key);
  std::size_t aborted = 0;
  std::string markers;
  for (int page = 0; page < 10; ++page) {
    const Reply reply = s3_.Send("GET /bucket?uploads&max-uploads=2" + markers);
    ASSERT_EQ(reply.status, 200) << reply.body;
    const Names keys = reply.Elements("Key");
    const Names ids = reply.Elements("UploadId");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(s3_.Send("DELETE /bucket/" + keys[i] + "?uploadId=" + ids[i]).status, 204);
      ++aborted;
    }
    if (reply.Element("IsTruncated") == "false") break;
    markers = "&key-marker=" + reply.Element("NextKeyMarker") +
              "&upload-id-marker=" + reply.Element("NextUploadIdMarker");
    if (page == 0) {
      EXPECT_EQ(s3_.Send("GET /bucket?uploads" + markers).Element("KeyMarker"),
                reply.Element("NextKeyMarker"));
    }
  }
  EXPECT_EQ(aborted, 5u);
}

TEST_F(ListUploadsTest, PartsPageByNumber) {
  const std::string id = Create("a", "\nx-amz-checksum-algorithm: CRC32");
  const std::string target = "/bucket/a?uploadId=" + id;
  EXPECT_EQ(s3_.Send("GET " + target).Element("NextPartNumberMarker"), "0");
  for (const char* number : {"3", "1", "7"}) {
    s3_.Send("PUT " + target + "&partNumber=" + number + "\nx-amz-checksum-crc32: NhCmhg==",
             "hello");
  }
  const Reply page = s3_.Send("GET " + target + "&max-parts=2");
  EXPECT_EQ(page.Elements("PartNumber"), (Names{"1", "3"}));
  EXPECT_EQ(page.Element("PartNumberMarker"), "0");
  EXPECT_EQ(page.Element("NextPartNumberMarker"), "3");
  EXPECT_EQ(page.Element("IsTruncated"), "true");
  EXPECT_EQ(page.Element("ChecksumAlgorithm"), "CRC32");
  EXPECT_EQ(page.Elements("ChecksumCRC32"), (Names{"NhCmhg==", "NhCmhg=="}));
  const Reply rest = s3_.Send("GET " + target + "&part-number-marker=3");
  EXPECT_EQ(rest.Elements("PartNumber"), Names{"7"});
  EXPECT_EQ(rest.Element("IsTruncated"), "false");
  EXPECT_EQ(s3_.Send("GET " + target + "&part-number-marker=x").Outcome(), "400 InvalidArgument");
}

TEST_F(ListUploadsTest, PartsOfAnUploadWithoutAlgorithmShowNoChecksum) {
  const std::string target = "/bucket/a?uploadId=" + Create("a");
  s3_.Send("PUT " + target + "&partNumber=1", "hello");
  const Reply reply = s3_.Send("GET " + target);
  EXPECT_EQ(reply.Elements("PartNumber"), Names{"1"});
  EXPECT_EQ(reply.body.find("Checksum"), std::string::npos);
  EXPECT_EQ(s3_.Send("GET /bucket/a?uploadId=nope").Outcome(), "404 NoSuchUpload");
}

}  // namespace
}  // namespace penstock::emulator::s3
